"""The best earlier version of a model of a graph, on the test edges or test nodes of this run.

It reads the features that it had of each node, and the edges that this run's model sees: no test edge is among them.
"""

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy

from trainer.config.spec import Spec
from trainer.core import registry
from trainer.core.plan import Rows, Saved
from trainer.errors import count
from trainer.kinds.graph import links, store as stores
from trainer.kinds.graph.comparison import node_scores
from trainer.kinds.graph.delivery import scorers, stored
from trainer.kinds.graph.delivery.stored import Stored
from trainer.kinds.graph.graph import LINKS, Graph
from trainer.kinds.graph.links import LinkAnswers
from trainer.kinds.graph.store import Store
from trainer.models import saved_model
from trainer.targets.target import Target

FOLDER = "champion"  # in the folder of this run's graph
_RULE = "; a version of a graph's model is measured on the rows of this run if it knows all nodes and was trained with the same seed"


@dataclass(frozen=True)
class _Tested:
    """What a champion in ``folder`` is tested on: the graph of ``store``. It travels with paths only."""

    folder: Path
    store: Store

    def batch(self, rows: numpy.ndarray, augment=None) -> dict[str, numpy.ndarray]:
        raise TypeError("a table of all nodes answers")

    def table(self, model, device) -> numpy.ndarray:
        from trainer.kinds.graph import inference

        return inference.table(model, self.store, device, inference.Layers(self.store.folder, 0, 1))


@dataclass(frozen=True)
class TestedEdges(_Tested):
    """``count`` test edges, in the files that begin with ``prefix`` (see trainer.kinds.graph.rows)."""

    prefix: Path
    count: int

    @property
    def lengths(self) -> numpy.ndarray:
        return numpy.ones(self.count, numpy.int8)

    def together(self, model, device, rank: int = 0, world: int = 1) -> numpy.ndarray:
        """The outputs for the test edges, as trainer.kinds.graph.rows.Edges gives them."""
        return self.outputs(self.table(model, device))

    def outputs(self, table: numpy.ndarray | None) -> numpy.ndarray:
        """The same from a ``table`` of all nodes; None for a model without a network."""
        source, target, pairs, others = (
            numpy.load(f"{self.prefix}-{name}.npy", allow_pickle=False) for name in ("source", "target", "pairs", "candidates")
        )
        scorer = scorers.load(self.folder, table, self.store)
        every = scorer.scores(source, numpy.concatenate([target[:, None], others], axis=1))
        negative = scorer.scores(pairs[:, 0], pairs[:, 1:])[:, 0]
        columns = [every[:, 0], negative, links.ranks(every[:, 0], every[:, 1:]), source, numpy.full(len(source), others.shape[1])]
        return numpy.stack([numpy.asarray(c, numpy.float64) for c in columns], axis=1)


@dataclass(frozen=True)
class TestedNodes(_Tested):
    """The test ``nodes``."""

    nodes: numpy.ndarray
    classes: int

    @property
    def lengths(self) -> numpy.ndarray:
        return numpy.ones(len(self.nodes), numpy.int8)

    def together(self, model, device, rank: int = 0, world: int = 1) -> numpy.ndarray:
        """Probabilities (nodes x classes), or numbers."""
        import torch

        with torch.inference_mode():
            logits = model.classified(torch.from_numpy(numpy.ascontiguousarray(self.table(model, device)[self.nodes])).to(device)).float()
            outputs = torch.softmax(logits, dim=1) if self.classes else logits[:, 0].double()
        return self.outputs(outputs.cpu().numpy())

    def outputs(self, network: numpy.ndarray | None) -> numpy.ndarray:
        """The same, from the outputs of the network; None for a model without one."""
        found = node_scores.load(self.folder)
        return numpy.asarray(network) if found is None else found.outputs(self.store, self.nodes, network)


@dataclass(frozen=True)
class Champion:
    """``saved`` is for the workers: without rows where there is no network, or where ``why`` in it says why nothing can be compared. Then
    ``tested`` is None. ``threshold`` is the score from which the champion calls a pair an edge."""

    saved: Saved
    tested: TestedEdges | TestedNodes | None = None
    wanted: numpy.ndarray | None = None
    threshold: float | None = None

    def answers(self, of_network: Any) -> Any:
        """The answers of the champion, from those that a worker gave (None for a model without a network); None if it cannot be compared."""
        if self.tested is None:
            return None
        found = of_network
        if found is None:
            found = self.saved.target.answers(self.tested.outputs(None), self.wanted)
        return replace(found, threshold=self.threshold) if isinstance(found, LinkAnswers) else found


def prepare(
    spec: Spec, graph: Graph, target: Target, seed: int, store: Store, prefix: Path, nodes: numpy.ndarray, wanted: numpy.ndarray
) -> Champion | None:
    """The champion with the test rows of this run, or why the two cannot be compared; None where there is none.

    The files that begin with ``prefix`` have the test edges. Of a model of nodes, ``nodes`` are the test nodes and ``wanted`` their targets.
    """
    if spec.champion is None:
        return None
    folder = spec.champion.folder
    try:
        described = saved_model.description(folder)
        theirs, about = registry.restored(described["target"]), described["graph"]
        if why := _incomparable(described, graph, theirs, target, seed, len(wanted)):
            return Champion(Saved(folder, registry.of("graph"), target, None, why))
        known, left = stored.load(folder / stored.NAME), int(about["left"])
        numbers = _numbers(known, graph, left)
        if missing := int((numbers < 0).sum()):
            return Champion(Saved(folder, registry.of("graph"), target, None, f"it does not know {count(missing, 'node')} of this data{_RULE}"))
        links_only = graph.task == LINKS
        scorers.check(folder, known, bool(about["network"]), None if links_only else len(theirs.labels))
        own = _store(store, known, numbers)
        tested = TestedEdges(folder, own, prefix, len(wanted)) if links_only else TestedNodes(folder, own, nodes, len(theirs.labels))
        saved = Saved(folder, registry.of("graph"), theirs, Rows(tested, wanted) if about["network"] else None)
        return Champion(saved, tested, wanted, float(about["threshold"]) if links_only else None)
    except (OSError, ValueError, KeyError, TypeError) as e:
        return Champion(Saved(folder, registry.of("graph"), target, None, saved_model.unreadable(e)))


def _incomparable(described: dict, graph: Graph, theirs: Target, target: Target, seed: int, tested: int) -> str:
    about = described["graph"]
    if described["task"] != graph.task:
        return f"it was trained for {described['task']}"
    if theirs.labels != target.labels:
        return "it predicts different classes"
    if not tested:
        return "there are no test rows"
    if about["seed"] != seed:
        return f"it was trained with another seed, so it may have learnt from test rows of this run{_RULE}"
    if bool(about["left"]) != bool(graph.left) or bool(about["directed"]) != graph.directed:
        return "it was trained on a graph of another kind"
    return ""


def _numbers(known: Stored, graph: Graph, left: int) -> numpy.ndarray:
    """The number in the champion's graph of each node, -1 where it has none."""
    if not left:
        return known.numbers(graph.ids.to_pylist())
    sources, others = graph.ids.slice(0, graph.left).to_pylist(), graph.ids.slice(graph.left).to_pylist()
    return numpy.concatenate([known.numbers(sources, 0, left), known.numbers(others, left)])


def _store(store: Store, known: Stored, numbers: numpy.ndarray) -> Store:
    """The edges of ``store`` with the features that the champion had of each node."""
    folder = store.folder / FOLDER
    folder.mkdir()
    for name in (stores.INDPTR, stores.INDICES, stores.WEIGHTS):
        if (store.folder / name).exists():
            os.link(store.folder / name, folder / name)
    if known.x is not None:
        numpy.save(folder / stores.X, known.x[numbers])
    return Store(folder)
