"""From a graph to the plan of a training: splits, files, and the settings that are still open."""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from trainer.config.digest import digest
from trainer.config.settings import Settings
from trainer.config.spec import Spec
from trainer.core import registry
from trainer.core.example import SPLITS, Dataset, Example
from trainer.core.plan import Plan, Rows
from trainer.data import names
from trainer.data.checks import Checks
from trainer.errors import UserError, some
from trainer.kinds.graph import champion, leaks, memory, negatives, splits as splitting, store as stores, structure
from trainer.kinds.graph.champion import Champion
from trainer.kinds.graph.graph import CLASSES, LINKS, Graph
from trainer.kinds.graph.negatives import Negatives
from trainer.kinds.graph.rows import Drawn, Edges, Nodes
from trainer.kinds.graph.splits import LinkSplits
from trainer.kinds.graph.store import Store
from trainer.launch.capacity import Machine
from trainer.measure.metric import described
from trainer.memory import available
from trainer.models import training_length
from trainer.models.catalogue import Base
from trainer.targets.target import Target
from trainer.training import prepare

FOLDER = "graph"  # in the folder of the start
RATE, DROPOUT = 0.003, 0.3
NODE_RATE, NODE_DROPOUT = 0.01, 0.5
FEW_EDGES, BATCH, LARGE_BATCH = 100_000, 512, 2048  # training edges, up to which a batch is small
EPOCH_EDGES = 2_000_000  # at most, in an epoch
ALL_EDGES, FEWEST_EPOCHS = 20_000_000, 6  # in all epochs together: about 40 minutes of one core
NODE_EPOCHS, NODE_BATCH = 100, 512
FEW_MEASURED, FEW_CANDIDATES = 2000, 100  # training edges that are measured at the end, and the candidates for each
_FROM_EDGES = "No file has features of the nodes, so where a node lies among the training edges describes it."


@dataclass(frozen=True)
class Prepared(prepare.Prepared):
    """The plan, its encoder, and what the driver needs to compare simple models and to write the results.

    ``numbers`` are the edges of each split, or its labelled nodes; ``messages`` those that the model sees. ``measured`` has, for edges,
    what each split is measured against.
    """

    graph: Graph
    data: Dataset
    store: Store
    numbers: dict[str, np.ndarray]
    messages: np.ndarray
    links: LinkSplits | None
    measured: dict[str, Negatives]
    memory: dict
    champion: Champion | None = None


def make(spec: Spec, settings: Settings, graph: Graph, machine: Machine, checks: Checks) -> Prepared:
    """Split the data, write the files that the workers map, and choose the settings that are still open."""
    base = Base(registry.of("graph").shape, "graph")
    links = splitting.links(graph, settings) if graph.task == LINKS else None
    if links is not None:
        numbers, messages = {n: getattr(links, n) for n in SPLITS}, links.train
        checks.events.decision("split", links.counts, links.why)
        leaks.check(graph, links, checks)
    else:
        numbers, messages = splitting.nodes(graph, settings), np.arange(graph.edges)
        numbers = _known_labels(graph, numbers)
    data = _dataset(graph, numbers, checks)
    target = data.kind.target(data)
    settings = _choose(settings, graph, numbers, checks)
    needs = _needs(graph, settings)
    whole = memory.check(needs, machine.workers, machine.memory or available(), checks)
    folder = Path(spec.work) / FOLDER
    weight = None if graph.weight is None else graph.weight[messages]
    store = stores.build(folder, graph.nodes, graph.source[messages], graph.target[messages], weight, graph.x)
    if graph.x is None:
        stores.add_features(store, structure.features(store, settings.seed))
        checks.events.decision("features", structure.width(graph.nodes), _FROM_EDGES)
        graph = replace(graph, x=store.x, told={**graph.told, "feature_source": _FROM_EDGES, "from_edges": True})
    if links is not None:
        measured = _measured(graph, links, settings)
        splits = _edge_rows(graph, store, numbers, measured, settings)
    else:
        measured = {}
        splits = {n: Rows(Nodes(store, _drawn(graph, settings), numbers[n]), target.encode([e.target for e in data.splits[n]])) for n in SPLITS}
    nodes = np.asarray([e.content for e in data.splits["test"]], np.int64)
    wanted = np.zeros(len(measured["test"]), np.int8) if links is not None else splits["test"].targets
    best = champion.prepare(spec, graph, target, settings.seed, store, store.folder / "measured-test", nodes, wanted)
    metric, settings = _metric(settings, data, target, checks)
    shape = _shape(graph, settings, target)
    plan = Plan(
        run=spec.run, attempt=spec.attempt, folder=str(spec.folder), work=str(spec.work), kind=data.kind, task=graph.task, target=target, base=base,
        shape=shape, splits=splits, weights=None, metric=metric, settings=settings,
        digest=digest(settings, data.split_sha256, base, shape), champion=None if best is None else best.saved,
    )  # fmt: skip
    described = {"model": {"columns": list(graph.columns)}, "data": {}, "encoder": graph.encoder}
    told = {"estimate": whole, "files": needs.files}
    return Prepared(plan, _Encoder(described, shape), graph, data, store, numbers, messages, links, measured, told, best)


class _Encoder(prepare.NoEncoder):
    """How the features of nodes were made, for the results: the reading of the graph has made them."""

    def described(self) -> dict:
        return self.model


def _dataset(graph: Graph, numbers: dict[str, np.ndarray], checks: Checks) -> Dataset:
    """The data as the results describe it. A labelled node is an example; edges are too many for that."""
    splits: dict[str, list[Example]] = {name: [] for name in SPLITS}
    labels: tuple[str, ...] = ()
    if graph.task != LINKS:
        found = graph.labels or ()
        splits = {name: [Example("", 0, int(n), found[n], str(graph.ids[int(n)])) for n in numbers[name]] for name in SPLITS}
        if graph.task == CLASSES:
            labels = tuple(sorted({e.target for e in splits["train"]}, key=names.natural))
            checks.events.decision("labels", list(labels[:1000]), f"The model predicts one of {len(labels)} classes: {some(labels)}.")
    return Dataset(
        task=graph.task, kind=registry.of("graph"), splits=splits, files=list(graph.files), columns=graph.columns,
        label_column=graph.label_column, labels=labels, dropped=checks.dropped, not_read=checks.not_read, checks=checks.entries,
        split_sha256=fingerprint(graph, numbers),
    )  # fmt: skip


def _known_labels(graph: Graph, numbers: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """``numbers`` without the held-out nodes of classes that no training node has."""
    if graph.task != CLASSES:
        return numbers
    labels = np.asarray(graph.labels)
    return {name: found[np.isin(labels[found], labels[numbers["train"]])] for name, found in numbers.items()}


def fingerprint(graph: Graph, numbers: dict[str, np.ndarray]) -> str:
    """The sha256 of the graph and of its splits."""
    import hashlib

    found = hashlib.sha256()
    for part in (graph.source, graph.target, graph.weight, *(numbers[n] for n in SPLITS)):
        found.update(b"" if part is None else np.ascontiguousarray(part).data)
    for chunk in range(0, graph.nodes, 1 << 20):
        found.update("\n".join(graph.ids.slice(chunk, 1 << 20).to_pylist()).encode())
    if graph.x is not None:
        for chunk in range(0, graph.nodes, 1 << 16):
            found.update(np.ascontiguousarray(graph.x[chunk : chunk + (1 << 16)]).data)
    found.update("\n".join(graph.labels or ()).encode())
    return found.hexdigest()


def _choose(settings: Settings, graph: Graph, numbers: dict[str, np.ndarray], checks: Checks) -> Settings:
    """The settings with values for the options of the network that nobody has set."""
    rows, predicts = len(numbers["train"]), graph.task == LINKS
    if not settings.learning_rate:
        rate = RATE if predicts else NODE_RATE
        settings = settings.with_chosen(learning_rate=rate)
        checks.events.decision("learning_rate", rate, f"The learning rate is {rate:g}, which suits a small network on a graph.")
    settings = settings.with_default(
        batch_size=NODE_BATCH if not predicts else BATCH if rows < FEW_EDGES else LARGE_BATCH,
        early_stopping_patience=training_length.PATIENCE if predicts else 3 * training_length.PATIENCE,
    )
    if predicts and not settings.edges_per_epoch:
        settings = settings.with_chosen(edges_per_epoch=min(rows, EPOCH_EDGES))
        if rows > EPOCH_EDGES:
            what = f"An epoch trains on {EPOCH_EDGES} of the {rows} training edges, the next one on others. Set graph.edges_per_epoch to change it."
            checks.events.decision("edges_per_epoch", EPOCH_EDGES, what)
    usual = min(registry.of("graph").epochs, max(FEWEST_EPOCHS, ALL_EDGES // max(1, settings.edges_per_epoch)))
    epochs = usual if predicts else NODE_EPOCHS
    why = f"The training runs for up to {epochs} epochs, and stops when it no longer improves."
    return training_length.with_epochs(settings, epochs, why, checks.events)


def fanout(settings: Settings) -> tuple[int, ...]:
    """The neighbours that are drawn for each layer, from the outermost one. Raises UserError for an option that says something else."""
    parts = [p.strip() for p in settings.fanout.replace(";", ",").replace(" ", ",").split(",") if p.strip()]
    if not parts or not all(p.isascii() and p.isdigit() and 1 <= int(p) <= 1000 for p in parts):
        raise UserError(
            "wrong_setting", f"The option fanout must be whole numbers from 1 to 1000 with commas between them, not {settings.fanout[:40]}.",
            "Set graph.fanout to one number for each layer, for example 10,10.",
        )  # fmt: skip
    numbers = [int(p) for p in parts][: settings.layers]
    return (*numbers, *[numbers[-1]] * (settings.layers - len(numbers)))


def _drawn(graph: Graph, settings: Settings) -> Drawn:
    return Drawn(fanout(settings), settings.aggregation, min(settings.negatives, graph.nodes) if graph.task == LINKS else 0, graph.left)


def _measured(graph: Graph, links: LinkSplits, settings: Settings) -> dict[str, Negatives]:
    """What each split is measured against. Of the training edges, few are measured."""
    wanted = settings.eval_negatives
    most = {"train": FEW_MEASURED, "validation": splitting.MEASURED, "test": splitting.MEASURED}
    seeds = {name: settings.seed + i for i, name in enumerate(SPLITS)}
    drawn = {n: splitting.sample(graph, getattr(links, n), settings.seed, most[n]) for n in SPLITS}
    known, joined = negatives.Known(graph), splitting.joined(graph, links)
    return {n: negatives.draw(graph, drawn[n], seeds[n], FEW_CANDIDATES if n == "train" else wanted, known, joined) for n in SPLITS}


def _edge_rows(graph: Graph, store: Store, numbers: dict, measured: dict[str, Negatives], settings: Settings) -> dict[str, Rows]:
    """The rows of each split, and the files behind them."""
    found = {}
    for name in SPLITS:
        place = store.folder / f"{name}.npy"
        ends = np.stack([graph.source[numbers[name]], graph.target[numbers[name]]], axis=1)
        np.save(place, ends)
        prefix = store.folder / f"measured-{name}"
        against = measured[name]
        for part, values in (("source", against.source), ("target", against.target), ("pairs", against.pairs), ("candidates", against.targets)):
            np.save(f"{prefix}-{part}.npy", values)
        rows = Edges(store, _drawn(graph, settings), place, len(ends), prefix)
        found[name] = Rows(rows, np.zeros(len(ends), np.int8), epoch=settings.edges_per_epoch if name == "train" else 0)
    return found


def _metric(settings: Settings, data: Dataset, target: Target, checks: Checks) -> tuple[str, Settings]:
    metric, why = target.choose_metric(settings.metric, data)
    if settings.metric == "auto":
        settings = settings.with_chosen(metric=metric)
    checks.events.decision("metric", metric, why)
    checks.events.metrics(described(target.metrics))
    return metric, settings


def _shape(graph: Graph, settings: Settings, target: Target) -> dict:
    decoder = "dot" if settings.decoder == "dot" else "cosine"
    assert graph.x is not None
    return {
        "fanout": list(fanout(settings)),
        "model": {
            "width": int(graph.x.shape[1]), "hidden": settings.hidden, "layers": settings.layers,
            "aggregation": settings.aggregation, "decoder": decoder, "outputs": 0 if graph.task == LINKS else target.outputs,
             "directed": graph.directed or bool(graph.left), "dropout": DROPOUT if graph.task == LINKS else NODE_DROPOUT,
        },
    }  # fmt: skip


def _needs(graph: Graph, settings: Settings) -> memory.Needs:
    features = structure.width(graph.nodes) if graph.x is None else int(graph.x.shape[1])
    seeds = (2 * settings.batch_size + settings.negatives) if graph.task == LINKS else settings.batch_size
    return memory.Needs(graph.nodes, graph.edges, features, settings.hidden, settings.layers, seeds, fanout(settings))
