"""The likeliest new links of nodes: pairs that are no edge of the data, in either direction."""

from dataclasses import dataclass
from typing import Protocol

import numpy

from trainer.graph.score import EXTRA

CANDIDATES = 50  # of each node beside the wanted ones, from its vector and from the neighbours of its neighbours
_CELLS = 100_000_000  # scores at once: 400 MB
_WORK = 4e11  # multiplications for all nodes together: about a minute of one core
_HUB = 2000  # a neighbour with more neighbours than this says little of a node


class Scorer(Protocol):
    """What is delivered for pairs: the greater the score, the likelier the edge."""

    def scores(self, source: numpy.ndarray, targets: numpy.ndarray) -> numpy.ndarray:
        """The scores of each source (n) with each of its targets (n x k)."""


class Neighbourhood(Protocol):
    """The neighbours of each node by all known edges, as in trainer.graph.store.Store."""

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
    trainer.graph.score; may be None), and those with which a node shares most neighbours; ``scorer`` ranks them. Targets are numbered
    from ``left``, where those of a bipartite graph begin, up to ``end`` (0 for all)."""
    from scipy import sparse  # half a second

    nodes = len(known.indptr) - 1
    end = end or nodes
    adjacent = sparse.csr_matrix((numpy.ones(len(known.indices), numpy.float32), known.indices, known.indptr), shape=(nodes, nodes))
    degrees = numpy.diff(known.indptr)
    shared = numpy.where(degrees <= _HUB, 1 / numpy.maximum(degrees, 1), 0).astype(numpy.float32)
    targets, scores = numpy.full((len(source), k), -1, numpy.int64), numpy.full((len(source), k), -numpy.inf)
    step = max(1, min(1024, _CELLS // max(1, nodes)))
    for start in range(0, len(source), step):
        some = source[start : start + step]
        parts = [_by_walks(adjacent, shared, some, k + CANDIDATES)]
        if table is not None:
            parts.append(_by_table(table, adjacent, some, k + CANDIDATES, left, end))
        candidates = numpy.concatenate(parts, axis=1)
        usable = _new(candidates, some, adjacent, left, end)
        found = numpy.where(usable, scorer.scores(some, numpy.where(usable, candidates, left)), -numpy.inf)
        order = numpy.lexsort((candidates, -found), axis=1)[:, :k]
        there = order.shape[1]
        best = numpy.take_along_axis(found, order, axis=1)
        scores[start : start + step, :there] = best
        targets[start : start + step, :there] = numpy.where(numpy.isfinite(best), numpy.take_along_axis(candidates, order, axis=1), -1)
    return Links(source, targets, scores)


def _by_table(table: numpy.ndarray, adjacent, some: numpy.ndarray, count: int, left: int, end: int) -> numpy.ndarray:
    """The nodes with the greatest scores by the table, known neighbours left out."""
    near = numpy.asarray(table[some, :-EXTRA], numpy.float32) @ numpy.asarray(table[left:end, :-EXTRA], numpy.float32).T
    near += table[left:end, -1]
    rows, columns = adjacent[some].nonzero()
    inside = (columns >= left) & (columns < end)
    near[rows[inside], columns[inside] - left] = -numpy.inf
    count = min(count, near.shape[1])
    return numpy.argpartition(-near, count - 1, axis=1)[:, :count] + left


def _by_walks(adjacent, shared: numpy.ndarray, some: numpy.ndarray, count: int) -> numpy.ndarray:
    """The nodes that share most neighbours, each neighbour divided among its own; -1 fills a row."""
    own = adjacent[some]
    own.data = shared[own.indices]
    reached = (own @ adjacent).tocsr()
    reached = reached - reached.multiply(adjacent[some] > 0)
    found = numpy.full((len(some), count), -1, numpy.int64)
    for row in range(len(some)):
        begin, end = reached.indptr[row], reached.indptr[row + 1]
        nodes, weights = reached.indices[begin:end], reached.data[begin:end]
        kept = weights > 0
        nodes, weights = nodes[kept], weights[kept]
        best = numpy.lexsort((nodes, -weights))[:count]
        found[row, : len(best)] = nodes[best]
    return found


def _new(candidates: numpy.ndarray, some: numpy.ndarray, adjacent, left: int, end: int) -> numpy.ndarray:
    """Which candidates are no known neighbour, not the node itself, on the right side, and there for the first time in their row."""
    usable = (candidates >= left) & (candidates >= 0) & (candidates < end) & (candidates != some[:, None])
    order = numpy.argsort(candidates, axis=1, kind="stable")
    ordered = numpy.take_along_axis(candidates, order, axis=1)
    again = numpy.zeros_like(usable)
    numpy.put_along_axis(again, order[:, 1:], ordered[:, 1:] == ordered[:, :-1], axis=1)
    usable &= ~again
    rows, columns = numpy.nonzero(usable)
    known = numpy.asarray(adjacent[some[rows], candidates[rows, columns]]).ravel() > 0
    usable[rows[known], columns[known]] = False
    return usable
