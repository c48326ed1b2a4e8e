"""Pairs that are no edges, to measure held-out edges against.

They are drawn once by the seed, and every model of a run is measured on the same. A pair is drawn only if it is an edge of no split.
"""

from dataclasses import dataclass

import numpy

from trainer.kinds.graph.graph import Graph

CANDIDATES = 1000
_FEW = 4  # where there are fewer targets than this times the wanted number, each is drawn at most once
_CELLS = 20_000_000  # random numbers at once: 160 MB
_ROUNDS = 50


@dataclass(frozen=True)
class Negatives:
    """What n held-out edges are measured against. ``edges`` has their numbers. In an undirected graph a coin decides which end of an edge
    is its source, or the times do: see ``draw``. Edges of a source that every node is joined with are left out: ``left_out`` counts them."""

    edges: numpy.ndarray  # int64 (n)
    source: numpy.ndarray  # int32 (n): the end that candidates are drawn for
    target: numpy.ndarray  # int32 (n)
    pairs: numpy.ndarray  # int32 (n, 2): one random pair for each edge; see ``draw``
    targets: numpy.ndarray  # int32 (n, k): the candidates
    left_out: int = 0

    @property
    def k(self) -> int:
        return self.targets.shape[1]

    def __len__(self) -> int:
        return len(self.source)


class Known:
    """The edges of all splits, to look pairs up. Of an undirected graph both directions are known."""

    def __init__(self, graph: Graph):
        self.nodes, self.first = graph.nodes, graph.left
        forth = graph.source.astype(numpy.int64) * graph.nodes + graph.target
        if graph.directed or graph.left:
            self.keys = numpy.sort(forth)
        else:
            self.keys = numpy.sort(numpy.concatenate([forth, graph.target.astype(numpy.int64) * graph.nodes + graph.source]))

    def illegal(self, source: numpy.ndarray, target: numpy.ndarray) -> numpy.ndarray:
        """Which pairs cannot be drawn: edges and loops. The arrays have the same shape."""
        wanted = source.astype(numpy.int64) * self.nodes + target
        place = numpy.minimum(numpy.searchsorted(self.keys, wanted), len(self.keys) - 1)
        return (self.keys[place] == wanted) | (source == target)

    def legal(self, source: numpy.ndarray) -> numpy.ndarray:
        """How many targets each source is not joined with."""
        begin = numpy.searchsorted(self.keys, source.astype(numpy.int64) * self.nodes)
        end = numpy.searchsorted(self.keys, (source.astype(numpy.int64) + 1) * self.nodes)
        return self.nodes - self.first - (0 if self.first else 1) - (end - begin)


def draw(
    graph: Graph, edges: numpy.ndarray, seed: int, count: int = CANDIDATES, known: Known | None = None, joined: numpy.ndarray | None = None
) -> Negatives:
    """What ``edges`` (numbers) are measured against: ``count`` targets for each source, fewer in a graph of fewer nodes.

    A source with fewer legal targets than the others has some of them several times. ``known`` are the edges of ``graph``, if they were
    sorted before. ``joined`` says when each node got its first edge, if the held-out edges are newer than the others. Then the random pair
    of an edge has its source, and the source of an undirected edge is the end that joined later: most of the newest edges join a new node,
    which has no training edge, with an old one, and beside random nodes, most of which are old, that alone would tell them.
    """
    r = numpy.random.default_rng([seed, 0x6E6567])
    known = Known(graph) if known is None else known
    source, target = graph.source[edges], graph.target[edges]
    if not graph.directed and not graph.left:
        turned = r.random(len(edges)) < 0.5
        if joined is not None:
            turned = numpy.where(joined[source] == joined[target], turned, joined[target] > joined[source])
        turned ^= known.legal(numpy.where(turned, target, source)) == 0
        source, target = numpy.where(turned, target, source), numpy.where(turned, source, target)
    legal = known.legal(source)
    kept = legal > 0
    numbers, source, target, legal = edges[kept], source[kept], target[kept], legal[kept]
    k = min(count, int(numpy.quantile(legal, 0.05, method="lower"))) if len(legal) else 0
    few = graph.nodes - graph.left <= _FEW * count
    targets = _each_once(graph, known, source, k, r) if few else _with_repeats(graph, known, source, k, r)
    return Negatives(numbers, source, target, _pairs(graph, known, source, r, joined is not None), targets, int((~kept).sum()))


def _each_once(graph: Graph, known: Known, source: numpy.ndarray, k: int, r: numpy.random.Generator) -> numpy.ndarray:
    """``k`` different targets for each source, as far as it has so many."""
    every = numpy.arange(graph.left, graph.nodes, dtype=numpy.int32)
    found = numpy.empty((len(source), k), numpy.int32)
    step = max(1, _CELLS // len(every))
    for i in range(0, len(source), step):
        some = source[i : i + step, None]
        order = r.random((len(some), len(every)))
        order[known.illegal(*numpy.broadcast_arrays(some, every))] = 2.0
        first = numpy.argsort(order, axis=1, kind="stable")[:, :k]
        usable = numpy.maximum(1, (numpy.take_along_axis(order, first, axis=1) < 1).sum(axis=1, keepdims=True))
        found[i : i + step] = every[numpy.take_along_axis(first, numpy.arange(k) % usable, axis=1)]
    return found


def _with_repeats(graph: Graph, known: Known, source: numpy.ndarray, k: int, r: numpy.random.Generator) -> numpy.ndarray:
    """``k`` targets for each source, drawn one by one: in a large graph hardly any is drawn twice."""
    found = numpy.empty((len(source), k), numpy.int32)
    step = max(1, _CELLS // max(1, k))
    for i in range(0, len(source), step):
        some = numpy.repeat(source[i : i + step], k)
        found[i : i + step] = _redrawn(known, some, lambda n: r.integers(graph.left, graph.nodes, n, numpy.int32), graph).reshape(-1, k)
    return found


def _pairs(graph: Graph, known: Known, source: numpy.ndarray, r: numpy.random.Generator, same_source: bool) -> numpy.ndarray:
    """A random pair for each edge: any two nodes, of a bipartite graph one of each side; or its source and any node."""
    ends = source.copy() if same_source else r.integers(0, graph.left or graph.nodes, len(source), numpy.int32)
    crowded = known.legal(ends) == 0
    ends[crowded] = source[crowded]
    return numpy.stack([ends, _redrawn(known, ends, lambda n: r.integers(graph.left, graph.nodes, n, numpy.int32), graph)], axis=1)


def _redrawn(known: Known, source: numpy.ndarray, drawn, graph: Graph) -> numpy.ndarray:
    """A legal target for each of ``source``, each of which has one. What chance does not find in some rounds is looked for in order."""
    found = drawn(len(source))
    wrong = numpy.flatnonzero(known.illegal(source, found))
    for _ in range(_ROUNDS):
        if not len(wrong):
            return found
        found[wrong] = drawn(len(wrong))
        wrong = wrong[known.illegal(source[wrong], found[wrong])]
    every = numpy.arange(graph.left, graph.nodes, dtype=numpy.int32)
    for i in wrong:
        choices = every[~known.illegal(numpy.full(len(every), source[i]), every)]
        found[i] = choices[int(found[i]) % len(choices)]
    return found
