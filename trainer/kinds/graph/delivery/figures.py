"""The figures of a graph for the report: degrees, like labels at both ends of edges, and scores by degree."""

from collections.abc import Sequence
from datetime import UTC, datetime

import numpy

from trainer.kinds.graph.graph import Graph
from trainer.kinds.graph.links import LinkAnswers
from trainer.kinds.graph.splits import LinkSplits
from trainer.measure import intervals
from trainer.measure.predictions import Predictions

DEGREE_BINS, SCORE_BINS = 20, 20
_ROWS = 6  # of a table by degree
_SECONDS = 3e7, 1e10  # from 1971 to 2286: smaller numbers are years or counters
_ENOUGH = 20  # test edges or nodes in each of them
_COUNTS = ("loops", "duplicates", "reversed", "components", "largest_component", "isolated")


def shape(graph: Graph, splits: LinkSplits | dict[str, numpy.ndarray]) -> dict:
    """The counts, the features, the degrees and the split of a graph, from which its section of the report is written.

    ``splits`` are those of the edges, or the numbers of the nodes of each split, whose model sees all edges."""
    told = graph.told
    found = {
        "nodes": graph.nodes,
        "edges": graph.edges,
        "directed": graph.directed,
        **{name: int(told.get(name, 0)) for name in _COUNTS},
        "unknown": int(told.get("unknown_nodes", 0)),
        "features": 0 if graph.x is None or told.get("from_edges") else int(graph.x.shape[1]),
        "weighted": graph.weight is not None,
        "degrees": degree_bins(degrees(graph)),
        "split": _split(graph, splits),
    }
    if graph.directed and "reciprocity" in told:
        found["reciprocity"] = float(told["reciprocity"])
    if told.get("feature_source"):
        found["feature_source"] = str(told["feature_source"])
    if graph.left:
        found["bipartite"] = {"sources": graph.left, "targets": graph.nodes - graph.left}
    if (share := homophily(graph)) is not None:
        found["homophily"] = share
    if isinstance(splits, LinkSplits) and splits.way == "time" and graph.time is not None:
        found["time"] = _time(graph.told.get("time") or {}, graph.time, splits)
    return found


def degrees(graph: Graph, edges: numpy.ndarray | None = None) -> numpy.ndarray:
    """How many of ``edges``, or of all, each node has, in either direction (int64)."""
    source, target = (graph.source, graph.target) if edges is None else (graph.source[edges], graph.target[edges])
    return numpy.bincount(source, minlength=graph.nodes) + numpy.bincount(target, minlength=graph.nodes)


def degree_bins(found: numpy.ndarray) -> dict:
    """How many nodes have a degree in each bin. The widths of the bins grow by a constant factor, as a logarithmic axis needs it."""
    there = found[found > 0]
    if not len(there):
        return {"edges": [], "counts": []}
    edges = numpy.unique(numpy.ceil(numpy.geomspace(1, there.max() + 1, DEGREE_BINS + 1)).astype(numpy.int64))
    counts, _ = numpy.histogram(there, edges)
    return {"edges": edges.tolist(), "counts": counts.tolist()}


def homophily(graph: Graph) -> float | None:
    """The share of edges with the same label at both ends, of those with a label at both; None without labels that are classes."""
    if graph.labels is None or graph.task == "node-regression":
        return None
    _, codes = numpy.unique(numpy.asarray(graph.labels, dtype=object).astype(str), return_inverse=True)
    known = numpy.fromiter((bool(label) for label in graph.labels), bool, graph.nodes)
    both = known[graph.source] & known[graph.target]
    if not both.any():
        return None
    return round(float((codes[graph.source[both]] == codes[graph.target[both]]).mean()), 4)


def links_by_degree(answers: LinkAnswers, found: numpy.ndarray, seed: int) -> dict:
    """The mean reciprocal rank of test edges by the degree of their source; ``found`` are the degrees of all nodes over training edges."""
    return _by_degree("mrr", 1 / answers.ranks, found[answers.sources], seed)


def nodes_by_degree(answers: Predictions, found: numpy.ndarray, seed: int) -> dict:
    """The accuracy, or the mean error, of test nodes by their degrees ``found``."""
    if answers.continuous:
        return _by_degree("mae", numpy.abs(answers.predicted - answers.truth), found, seed)
    return _by_degree("accuracy", (answers.predicted == answers.truth).astype(numpy.float64), found, seed)


def score_bins(positive: numpy.ndarray, negative: numpy.ndarray, threshold: float | None) -> dict:
    """Counts of the probabilities of test edges and of pairs without an edge."""
    edges = numpy.linspace(0, 1, SCORE_BINS + 1)
    found = {
        "edges": [round(e, 6) for e in edges.tolist()],
        "positive": numpy.histogram(positive, edges)[0].tolist(),
        "negative": numpy.histogram(negative, edges)[0].tolist(),
    }
    return found if threshold is None else {**found, "threshold": round(threshold, 6)}


def _by_degree(metric: str, values: numpy.ndarray, found: numpy.ndarray, seed: int) -> dict:
    rows = []
    for low, high in _bounds(found):
        chosen = values[(found >= low) & (found <= high)]
        mean = float(chosen.mean())
        if metric == "accuracy":
            ends: Sequence[float] = intervals.wilson(mean, len(chosen))
        else:
            ends = intervals.percentiles(intervals.resampled_means(chosen[:, None], seed)[:, 0], mean) if len(chosen) > 1 else ()
        named = {name: round(float(end), 6) for name, end in zip(("low", "high"), ends)}
        rows.append({"from": int(low), "to": int(high), "n": len(chosen), "value": round(mean, 6), **named})
    return {"metric": metric, "rows": rows}


def _bounds(found: numpy.ndarray) -> list[tuple[int, int]]:
    """Ranges of degrees, both ends included, with about the same number of rows in each; 0 by itself."""
    if not len(found):
        return []
    ranges = [(0, 0)] if (found == 0).any() else []
    rest = numpy.sort(found[found > 0])
    parts = max(1, min(_ROWS - len(ranges), len(rest) // _ENOUGH))
    begins = numpy.unique(rest[[len(rest) * i // parts for i in range(parts)]]) if len(rest) else rest
    ends = [*(begins[1:] - 1), rest[-1]] if len(rest) else []
    return [*ranges, *((int(a), int(b)) for a, b in zip(begins, ends, strict=True))]


def _split(graph: Graph, splits: LinkSplits | dict[str, numpy.ndarray]) -> dict:
    if not isinstance(splits, LinkSplits):
        by = "given" if (graph.given or {}).keys() & {"validation", "test"} else "random"
        counts = {name: len(splits[name]) for name in ("validation", "test")}
        return {"by": by, "supervision": len(splits["train"]), "messages": graph.edges, **counts}
    train = len(splits.train)
    held = {"validation": len(splits.validation), "test": len(splits.test)}
    return {"by": splits.way, "supervision": train, "messages": train, **held, "unseen_nodes": splits.unseen}


def _time(told: dict, time: numpy.ndarray, splits: LinkSplits) -> dict:
    """Where the times of the splits begin, as dates where the numbers are seconds since 1970."""
    dates = bool(_SECONDS[0] <= time.min() and time.max() <= _SECONDS[1])
    begins = {
        f"{name}_from": time[edges].min() if len(edges) else time.max() for name, edges in (("validation", splits.validation), ("test", splits.test))
    }
    named = {"from": time.min(), "to": time.max(), **begins}
    return {"column": str(told.get("column", "")), **{name: _moment(float(value), dates) for name, value in named.items()}}


def _moment(value: float, date: bool) -> str:
    if not date:
        return f"{value:.15g}"
    try:
        found = datetime.fromtimestamp(value, UTC)
    except (OverflowError, OSError, ValueError):
        return f"{value:.15g}"
    return found.strftime("%Y-%m-%d" if value % 86400 == 0 else "%Y-%m-%d %H:%M:%S")
