"""What gives scores to pairs of nodes: the network by its table of all nodes, or what else is delivered."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy

from trainer.kinds.graph import score
from trainer.kinds.graph.comparison import delivered, node_scores
from trainer.kinds.graph.comparison.neighbours import Neighbours
from trainer.kinds.graph.delivery.likeliest import Scorer
from trainer.run_folder import files


class Arrays(Protocol):
    """The neighbours of each node and its features, as in trainer.kinds.graph.store.Store."""

    @property
    def indptr(self) -> numpy.ndarray: ...

    @property
    def indices(self) -> numpy.ndarray: ...

    @property
    def x(self) -> numpy.ndarray | None: ...


@dataclass(frozen=True)
class ByTable:
    """Scores by the table of all nodes, which the network has made."""

    table: numpy.ndarray

    def scores(self, source: numpy.ndarray, targets: numpy.ndarray) -> numpy.ndarray:
        return score.candidates(self.table, source, targets)


def by_features(x: numpy.ndarray) -> numpy.ndarray:
    """A table of all nodes whose scores are the cosines of their features ``x``: likely pairs where no network was delivered."""
    long = numpy.asarray(x, numpy.float32)
    unit = long / numpy.maximum(numpy.linalg.norm(long, axis=1, keepdims=True), 1e-12)
    return numpy.hstack([unit, numpy.zeros((len(unit), score.EXTRA), numpy.float32)])


def load(folder: Path, table: numpy.ndarray | None, store: Arrays) -> Scorer:
    """What gives scores to pairs in the folder of a model."""
    return delivered.load(folder, Neighbours(store.indptr, store.indices, store.x), table) or ByTable(numpy.asarray(table))


def check(folder: Path, store: Arrays, network: bool, labels: int | None) -> None:
    """Raise OSError, ValueError, KeyError or TypeError unless the model in ``folder`` fits its graph. ``network`` says whether it has one,
    and ``labels`` how many classes it has; None for a model of pairs."""
    width = 0 if store.x is None else store.x.shape[1]
    if network:
        config = files.read_json(folder / "config.json")
        if int(config["width"]) != width or int(config["outputs"]) != (0 if labels is None else max(1, labels)):
            raise ValueError("its network has other inputs or outputs")
    if labels is None:
        found = delivered.load(folder, Neighbours(store.indptr, store.indices, store.x), None)
        takes = True if found is None else found.network
    else:
        simple = node_scores.load(folder)
        takes = True if simple is None else simple.network
        if simple is not None and (simple.classes != labels or any(m.model.weights.shape[0] != width for m in simple.linear.values())):
            raise ValueError("its models read other features")
    if takes and not network:
        raise ValueError("its network is missing")
