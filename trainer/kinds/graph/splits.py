"""Splits the edges or the labelled nodes of a graph into training, validation and test.

Edges are dealt by a hash of the seed and the ids of both ends, so that the same data gives the same split, added edges hardly move others,
and both directions of a pair stay together. Edges with times are cut by time instead: the newest are the test.
"""

import math
from dataclasses import dataclass

import numpy
import pyarrow

from trainer.core.example import SPLITS
from trainer.data import ordered
from trainer.data.splits import BINS
from trainer.errors import UserError
from trainer.kinds.graph.graph import NUMBERS, Graph

MEASURED = 10_000  # edges of a split that are measured: the intervals of more are narrow, and each is ranked among a thousand candidates
_EQUAL = 16  # at least as many rows as have equal hashes: both directions of a pair
_MULTIPLIER = numpy.uint64(0x100000001B3)


@dataclass(frozen=True)
class LinkSplits:
    """The numbers of the edges of each split, in ascending order. ``way`` is random, time or given.

    ``cut`` has the times from which edges are in validation and in the test, where the split is by time. ``unseen`` counts the test edges
    with an end that no training edge has.
    """

    train: numpy.ndarray
    validation: numpy.ndarray
    test: numpy.ndarray
    way: str
    why: str
    unseen: int = 0
    cut: dict | None = None

    @property
    def later(self) -> bool:
        """Whether the test edges are newer than the others: by their times, or, where the data gives the splits, because most are of new nodes."""
        return self.way == "time" or (self.way == "given" and 2 * self.unseen > len(self.test))

    @property
    def counts(self) -> dict[str, int]:
        return {name: len(getattr(self, name)) for name in SPLITS}


def links(graph: Graph, settings) -> LinkSplits:
    """The splits of the edges. Raises UserError if no edges are left for the training or for the validation."""
    shares = {"test": settings.test_fraction, "validation": settings.validation_fraction}
    given = {name: numpy.sort(numpy.asarray((graph.given or {}).get(name, ()), numpy.int64)) for name in SPLITS}
    if graph.given is None:
        given["train"] = numpy.arange(graph.edges, dtype=numpy.int64)
    missing = {name: share for name, share in shares.items() if share > 0 and not len(given[name])}
    found, cut, way = given, None, "given"
    if missing:
        found, cut = (given, None) if settings.split == ordered.RANDOM else _by_time(graph, given, missing)
        if cut is None:
            ordered.check_random(settings.split, "these edges")
        way = "time" if cut else "random"
        found = found if cut else _by_order(given, missing, pair_hashes(graph, given["train"], settings.seed))
    if not len(found["train"]) or not len(found["validation"]):
        raise UserError(
            "no_links_left",
            f"No edges are left for {'the training' if not len(found['train']) else 'the validation'}.",
            "Add edges, or hold fewer out.",
            f"The dataset has {graph.edges} different edges.",
        )
    seen = numpy.zeros(graph.nodes, bool)
    seen[graph.source[found["train"]]] = seen[graph.target[found["train"]]] = True
    unseen = int((~(seen[graph.source[found["test"]]] & seen[graph.target[found["test"]]])).sum())
    return LinkSplits(**found, way=way, why=_why(graph, found, missing, cut), unseen=unseen, cut=cut)


def joined(graph: Graph, found: LinkSplits) -> numpy.ndarray | None:
    """When each node got its first edge (float64), where the test edges are newer than the others: by the times of the edges, else 0 for the nodes
    of training edges and 1 for the others. None where they are not newer."""
    if not found.later:
        return None
    first = numpy.full(graph.nodes, numpy.inf if graph.time is not None else 1.0)
    some = slice(None) if graph.time is not None else found.train
    for ends in (graph.source[some], graph.target[some]):
        numpy.minimum.at(first, ends, 0.0 if graph.time is None else graph.time)
    return first


def nodes(graph: Graph, settings) -> dict[str, numpy.ndarray]:
    """The numbers of the labelled nodes of each split, in ascending order: dealt by a hash of the seed and the id, evenly over the classes,
    or over the range of the numbers. A class of fewer than three nodes stays in train."""
    if graph.labels is None:
        raise ValueError("the nodes have no labels")
    labels = numpy.asarray(graph.labels)
    shares = {"test": settings.test_fraction, "validation": settings.validation_fraction}
    given = {name: numpy.sort(numpy.asarray((graph.given or {}).get(name, ()), numpy.int64)) for name in SPLITS}
    given = {name: numbers[labels[numbers] != ""] for name, numbers in given.items()}
    if graph.given is None:
        given["train"] = numpy.flatnonzero(labels != "")
    missing = {name: share for name, share in shares.items() if share > 0 and not len(given[name])}
    if not missing or not len(given["train"]):
        return given
    ordered.check_random(settings.split, "nodes")
    hashes = _mixed(id_hashes(graph.ids)[given["train"]] ^ _seeded(settings.seed))
    strata = _strata(labels[given["train"]], graph.task == NUMBERS)
    parts: dict[str, list] = {name: [] for name in SPLITS}
    for stratum in range(strata.max() + 1):
        mine = numpy.flatnonzero(strata == stratum)
        cut = _dealt(given["train"][mine], missing if len(mine) >= 3 else {}, hashes[mine])
        for name, numbers in cut.items():
            parts[name].append(numbers)
    dealt = {name: numpy.sort(numpy.concatenate(found)) for name, found in parts.items() if found}
    return {name: dealt[name] if name == "train" or name in missing else given[name] for name in SPLITS}


def sample(graph: Graph, edges: numpy.ndarray, seed: int, most: int = MEASURED) -> numpy.ndarray:
    """At most ``most`` of ``edges``, drawn by a hash, in ascending order."""
    if len(edges) <= most:
        return edges
    return numpy.sort(edges[numpy.argsort(pair_hashes(graph, edges, seed ^ 1), kind="stable")[:most]])


def id_hashes(ids: pyarrow.Array) -> numpy.ndarray:
    """A hash of each id (uint64). It depends on the text alone, not on the machine or on the other ids."""
    whole = ids.cast(pyarrow.large_string()) if not isinstance(ids, pyarrow.ChunkedArray) else ids.combine_chunks().cast(pyarrow.large_string())
    _, starts, content = whole.buffers()
    ends = numpy.frombuffer(starts, numpy.int64)[whole.offset : whole.offset + len(whole) + 1]
    text = numpy.frombuffer(content, numpy.uint8)[ends[0] : ends[-1]] if len(whole) and content is not None else numpy.zeros(0, numpy.uint8)
    lengths = numpy.diff(ends)
    place = numpy.arange(len(text)) - numpy.repeat(ends[:-1] - ends[0], lengths)
    powers = numpy.cumprod(numpy.full(int(lengths.max(initial=0)) + 1, _MULTIPLIER))
    sums = numpy.concatenate([numpy.zeros(1, numpy.uint64), numpy.cumsum((text.astype(numpy.uint64) + numpy.uint64(1)) * powers[place])])
    return _mixed(sums[ends[1:] - ends[0]] - sums[ends[:-1] - ends[0]] + lengths.astype(numpy.uint64))


def pair_hashes(graph: Graph, edges: numpy.ndarray, seed: int) -> numpy.ndarray:
    """A hash of each edge (uint64) of the seed and the ids of both ends; the same in both directions."""
    ends = id_hashes(graph.ids)
    u, v = ends[graph.source[edges]], ends[graph.target[edges]]
    return _mixed(_mixed(numpy.minimum(u, v) ^ _seeded(seed)) + numpy.maximum(u, v))


def _by_order(given: dict, missing: dict[str, float], hashes: numpy.ndarray) -> dict:
    cut = _dealt(given["train"], missing, hashes)
    return {name: cut[name] if name in cut else given[name] for name in SPLITS}


def _dealt(numbers: numpy.ndarray, shares: dict[str, float], hashes: numpy.ndarray) -> dict[str, numpy.ndarray]:
    """``numbers`` in the order of ``hashes``: the first go to the splits of ``shares``, the others train. Equal hashes stay together."""
    held = min(len(numbers), sum(math.ceil(len(numbers) * share) + _EQUAL for share in shares.values()))
    last = numpy.partition(hashes, held - 1)[held - 1] if held else None
    first = numpy.flatnonzero(hashes <= last) if held else numpy.zeros(0, numpy.int64)  # sorting them alone is faster than sorting all
    order = first[numpy.argsort(hashes[first], kind="stable")]
    rising = hashes[order]
    found, begin = {}, 0
    for name, share in shares.items():
        end = min(begin + math.ceil(len(numbers) * share), len(rising))
        while 0 < end < len(rising) and rising[end] == rising[end - 1]:
            end += 1
        found[name] = numpy.sort(numbers[order[begin:end]])
        begin = end
    trains = numpy.ones(len(numbers), bool)
    trains[order[:begin]] = False
    return found | {"train": numpy.sort(numbers[trains])}


def _by_time(graph: Graph, given: dict, missing: dict[str, float]) -> tuple[dict, dict | None]:
    """Cut by time, so that edges of the same time stay together; None for the cut where there are no times, or too few to cut."""
    if graph.time is None or graph.given is not None:
        return given, None
    times, falling = graph.time, numpy.sort(graph.time)[::-1]
    found, below, cut = {}, numpy.inf, {}
    left = 0
    for name, share in missing.items():
        left += math.ceil(len(times) * share)
        first = falling[min(left, len(falling)) - 1]
        later = numpy.unique(times[times > first])
        more, fewer = int((times >= first).sum()), int((times > first).sum())
        start = later[0] if len(later) and left - fewer < more - left and later[0] < below else first
        found[name] = numpy.flatnonzero((times >= start) & (times < below))
        if not len(found[name]):
            return given, None
        cut[name], below = float(start), start
    found["train"] = numpy.flatnonzero(times < below)
    if len(found["train"]) < len(times) // 4:
        return given, None  # most edges have the newest times
    return {name: found.get(name, given[name]) for name in SPLITS}, cut


def _strata(labels: numpy.ndarray, regression: bool) -> numpy.ndarray:
    """The number of the class of each label, or the tenth of the range of its number."""
    if not regression:
        return numpy.unique(labels, return_inverse=True)[1]
    values = labels.astype(numpy.float64)
    return numpy.searchsorted(numpy.unique(numpy.quantile(values, numpy.arange(1, BINS) / BINS)), values, side="right")


def _why(graph: Graph, found: dict, missing: dict, cut: dict | None) -> str:
    if not missing:
        return "The dataset defines the training, validation and test edges."
    parts = " and ".join(f"{len(found[name])} edges for {name}" for name in missing)
    if cut:
        return f"The newest edges are held out: {parts}. The model learns from the older ones."
    unfit = (
        "Their times do not cut the edges, because most of them have one of the latest times. "
        if graph.time is not None and graph.given is None
        else ""
    )
    return f"{unfit}{parts} of {graph.edges} are held out by a hash of the ids of both ends, so that both directions of a pair stay together."


def _seeded(seed: int) -> numpy.uint64:
    return _mixed(numpy.array([seed], numpy.uint64))[0]


def _mixed(values: numpy.ndarray) -> numpy.ndarray:
    """The finaliser of splitmix64: every bit of the result depends on every bit of a value."""
    z = values + numpy.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> numpy.uint64(30))) * numpy.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> numpy.uint64(27))) * numpy.uint64(0x94D049BB133111EB)
    return z ^ (z >> numpy.uint64(31))
