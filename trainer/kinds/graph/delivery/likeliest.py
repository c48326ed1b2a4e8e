"""The likeliest new links of nodes: pairs that are no edge of the data, in either direction."""

from dataclasses import dataclass
from typing import Protocol

import numpy

from trainer.kinds.graph.comparison.neighbours import ranges
from trainer.kinds.graph.reading.shape import distinct
from trainer.kinds.graph.score import EXTRA

CANDIDATES = 50  # of each node beside the wanted ones, from its vector and from the neighbours of its neighbours
_CELLS = 32_000_000  # scores at once: 128 MB
_SOURCES = 1024  # at once
_WORK = 4e11  # multiplications for all nodes together: about a minute of one core
_HUB = 2000  # a neighbour with more neighbours than this says little of a node
_STEPS = 500_000  # walks of two steps from a node


class Scorer(Protocol):
    """What is delivered for pairs: the greater the score, the likelier the edge."""

    def scores(self, source: numpy.ndarray, targets: numpy.ndarray) -> numpy.ndarray:
        """The scores of each source (n) with each of its targets (n x k)."""


class Neighbourhood(Protocol):
    """The neighbours of each node by all known edges, as in trainer.kinds.graph.store.Store."""

    indptr: numpy.ndarray
    indices: numpy.ndarray


@dataclass(frozen=True)
class Links:
    """The likeliest links of ``source``: targets and scores (n x k), the best first. A target of -1 fills the row of a node without so many."""

    source: numpy.ndarray
    targets: numpy.ndarray
    scores: numpy.ndarray


def affordable(nodes: int, width: int) -> int:
    """For how many nodes all others are compared."""
    return max(1, int(_WORK / (2 * max(1, nodes) * max(1, width))))


def find(scorer: Scorer, known: Neighbourhood, table: numpy.ndarray | None, source: numpy.ndarray, k: int, left: int = 0, end: int = 0) -> Links:
    """The ``k`` likeliest targets of each of ``source``. Candidates are the nodes with the greatest score by the ``table`` of all nodes (see
    trainer.kinds.graph.score; may be None), and those with which a node shares most neighbours; ``scorer`` ranks them. Targets are numbered
    from ``left``, where those of a bipartite graph begin, up to ``end`` (0 for all)."""
    end = end or len(known.indptr) - 1
    targets, scores = numpy.full((len(source), k), -1, numpy.int64), numpy.full((len(source), k), -numpy.inf)
    walks = _Walks(known)
    for start in range(0, len(source), _SOURCES):
        some = source[start : start + _SOURCES]
        parts = [walks.candidates(some, k + CANDIDATES)]
        if table is not None:
            parts.append(_by_table(table, known, some, k + CANDIDATES, left, end))
        candidates = numpy.concatenate(parts, axis=1)
        usable = _new(candidates, some, known, left, end)
        found = numpy.where(usable, scorer.scores(some, numpy.where(usable, candidates, left)), -numpy.inf)
        order = numpy.lexsort((candidates, -found), axis=1)[:, :k]
        there = order.shape[1]
        best = numpy.take_along_axis(found, order, axis=1)
        scores[start : start + _SOURCES, :there] = best
        targets[start : start + _SOURCES, :there] = numpy.where(numpy.isfinite(best), numpy.take_along_axis(candidates, order, axis=1), -1)
    return Links(source, targets, scores)


def _near(known: Neighbourhood, node: int) -> numpy.ndarray:
    return known.indices[known.indptr[node] : known.indptr[node + 1]]


def _by_table(table: numpy.ndarray, known: Neighbourhood, some: numpy.ndarray, count: int, left: int, end: int) -> numpy.ndarray:
    """The nodes with the greatest scores by the table, known neighbours left out; -1 fills a row.

    The table is read once, in blocks. After the first ones, few nodes of a block are among the best of a source."""
    own = numpy.asarray(table[some, :-EXTRA], numpy.float32)
    nodes, scores = numpy.full((len(some), count), -1, numpy.int64), numpy.full((len(some), count), -numpy.inf, numpy.float32)
    neighbours = [_near(known, int(s)) for s in some]
    step = max(count, _CELLS // max(1, len(some)))
    for begin in range(left, end, step):
        block = numpy.asarray(table[begin : min(begin + step, end)], numpy.float32)
        near = own @ block[:, :-EXTRA].T
        near += block[:, -1]
        for row, beside in enumerate(neighbours):
            near[row, beside[(beside >= begin) & (beside < begin + len(block))] - begin] = -numpy.inf
        if begin == left:
            first = numpy.argpartition(-near, min(count, near.shape[1]) - 1, axis=1)[:, :count]
            nodes[:, : first.shape[1]], scores[:, : first.shape[1]] = first + begin, numpy.take_along_axis(near, first, axis=1)
        else:
            rows, columns = numpy.nonzero(near > scores.min(axis=1, keepdims=True))
            _insert(nodes, scores, rows, columns + begin, near[rows, columns])
    return nodes


def _insert(nodes: numpy.ndarray, scores: numpy.ndarray, rows: numpy.ndarray, found: numpy.ndarray, values: numpy.ndarray) -> None:
    """Put the nodes ``found`` with their ``values`` into their rows where they are among the best."""
    count = nodes.shape[1]
    every_row = numpy.concatenate([numpy.repeat(numpy.arange(len(nodes)), count), rows])
    every_node, every_score = numpy.concatenate([nodes.ravel(), found]), numpy.concatenate([scores.ravel(), values])
    order = numpy.lexsort((every_node, -every_score, every_row))
    begins = numpy.searchsorted(every_row[order], numpy.arange(len(nodes)))
    best = order[begins[:, None] + numpy.arange(count)]
    nodes[:], scores[:] = every_node[best], every_score[best]


class _Walks:
    """Finds the nodes that share most neighbours with a source, each neighbour divided among its own."""

    def __init__(self, known: Neighbourhood):
        self._known = known
        self._sums = numpy.zeros(len(known.indptr) - 1, numpy.float32)  # cleared after each source

    def candidates(self, some: numpy.ndarray, count: int) -> numpy.ndarray:
        """The ``count`` nodes for each of ``some``; -1 fills a row. Neighbours with many neighbours of their own tell least, and are left out
        where there are many."""
        known = self._known
        found = numpy.full((len(some), count), -1, numpy.int64)
        for row, source in enumerate(some.tolist()):
            beside = _near(known, source)
            degrees = known.indptr[beside + 1] - known.indptr[beside]
            order = numpy.argsort(degrees, kind="stable")
            kept = order[(degrees[order] <= _HUB) & (numpy.cumsum(degrees[order]) <= _STEPS)]
            steps = known.indices[ranges(known.indptr[beside[kept]], degrees[kept])]
            numpy.add.at(self._sums, steps, numpy.repeat(1 / numpy.maximum(degrees[kept], 1), degrees[kept]).astype(numpy.float32))
            self._sums[beside] = self._sums[source] = 0
            nodes = distinct(steps)
            weights = self._sums[nodes]
            least = numpy.partition(weights, -count)[-count] if len(weights) > count else 0.0
            likely = (weights > 0) & (weights >= least)
            nodes, weights = nodes[likely], weights[likely]
            best = numpy.lexsort((nodes, -weights))[:count]
            found[row, : len(best)] = nodes[best]
            self._sums[steps] = 0
        return found


def _new(candidates: numpy.ndarray, some: numpy.ndarray, known: Neighbourhood, left: int, end: int) -> numpy.ndarray:
    """Which candidates are no known neighbour, not the node itself, on the right side, and there for the first time in their row."""
    usable = (candidates >= left) & (candidates >= 0) & (candidates < end) & (candidates != some[:, None])
    order = numpy.argsort(candidates, axis=1, kind="stable")
    ordered = numpy.take_along_axis(candidates, order, axis=1)
    again = numpy.zeros_like(usable)
    numpy.put_along_axis(again, order[:, 1:], ordered[:, 1:] == ordered[:, :-1], axis=1)
    usable &= ~again
    for row, source in enumerate(some.tolist()):
        usable[row] &= ~numpy.isin(candidates[row], _near(known, source))
    return usable
