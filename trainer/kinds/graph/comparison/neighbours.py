"""What tells without a training whether two nodes are joined: shared neighbours, paths of three edges, degrees, and the likeness of features.

The neighbours are those of the training edges, in both directions.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy

from trainer.kinds.graph.comparison import nodes

_MOST_STEPS = 2_000_000  # two-step walks from one source; the neighbours of hubs are thinned above this
_MOST_NEAR = 1000  # neighbours of a target, from which paths of three edges are counted
_CELLS = 4_000_000  # of features at once: 16 MB
_BLOCK = 65_536  # nodes at once


@dataclass(frozen=True)
class Neighbours:
    """The message edges of a graph by node: the neighbours of node v are ``indices[indptr[v]:indptr[v + 1]]``. ``x`` are the features of
    the nodes, None without any. All may be mapped files."""

    indptr: numpy.ndarray
    indices: numpy.ndarray
    x: numpy.ndarray | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """What is known of pairs. Features that were averaged over the neighbours are left out where they would not fit into the memory."""
        if self.x is None:
            return NAMES
        return (*NAMES, COSINE, *[SPREAD] * nodes.affordable(*self.x.shape))

    @cached_property
    def near(self) -> numpy.ndarray:
        """The features of all nodes, averaged over the neighbours, as unit vectors (nodes x features)."""
        if self.x is None:
            raise ValueError("the nodes have no features")
        return _unit(nodes.spread(self.indptr, self.indices, _centred(self.x)))

    @cached_property
    def lengths(self) -> numpy.ndarray:
        """The length of the features of each node."""
        if self.x is None:
            raise ValueError("the nodes have no features")
        parts = [numpy.linalg.norm(numpy.asarray(self.x[i : i + _BLOCK], numpy.float32), axis=1) for i in range(0, len(self.x), _BLOCK)]
        return numpy.concatenate(parts) if parts else numpy.zeros(0, numpy.float32)

    @cached_property
    def shares(self) -> numpy.ndarray:
        """One over the degree of each node."""
        return (1 / numpy.maximum(numpy.diff(self.indptr), 1)).astype(numpy.float32)

    def degrees(self, wanted: numpy.ndarray) -> numpy.ndarray:
        return self.indptr[wanted + 1] - self.indptr[wanted]

    def columns(self, source: numpy.ndarray, targets: numpy.ndarray, names: tuple[str, ...] = ()) -> numpy.ndarray:
        """Of each source and each of its targets (n x k) a number for each of ``names`` (n x k x names, float32), by default of all.

        All but degrees and cosines are roots, whose largest values weigh less.
        """
        names = names or self.names
        found = numpy.zeros((*targets.shape, len(names)), numpy.float32)
        if walked := [n for n in names if n in _WALKED]:
            places, parts = [names.index(n) for n in walked], [_WALKED.index(n) for n in walked]
            order = numpy.argsort(source, kind="stable")
            walks = _Walks(self)
            for rows in numpy.split(order, numpy.flatnonzero(numpy.diff(source[order])) + 1):
                if len(rows):
                    found[numpy.ix_(rows, numpy.arange(targets.shape[1]), numpy.asarray(places))] = walks.between(
                        int(source[rows[0]]), targets[rows]
                    )[..., parts]
        for place, name in enumerate(names):
            if name == DEGREES:
                theirs = numpy.log1p(self.degrees(targets.ravel())).reshape(targets.shape)
                found[:, :, place] = numpy.log1p(self.degrees(source))[:, None] + theirs
            elif name == COSINE and self.x is not None:
                found[:, :, place] = cosines(self.x, source, targets, self.lengths)
            elif name == SPREAD:
                found[:, :, place] = cosines(self.near, source, targets)
        return found


_WALKED = ("common_neighbours", "adamic_adar", "resource_allocation", "three_steps")
DEGREES, COSINE, SPREAD = "preferential_attachment", "cosine", "spread_cosine"
NAMES = (*_WALKED, DEGREES)
TITLES = {
    "common_neighbours": "number of common neighbours",
    "adamic_adar": "common neighbours, rare ones count more (Adamic-Adar)",
    "resource_allocation": "common neighbours, each shares by its degree (resource allocation)",
    "three_steps": "paths of three edges, each shared by the degrees on its way",
    "preferential_attachment": "product of the degrees (preferential attachment)",
    "cosine": "cosine of the features",
    "spread_cosine": "cosine of the features, averaged over the neighbours twice",
}
_SHARED = 3  # the first of the walked ones, which are sums over shared neighbours


def _centred(x: numpy.ndarray) -> numpy.ndarray:
    """Unit vectors of what the features have more than their mean: what all nodes have in common tells nothing."""
    found = numpy.array(x, numpy.float32)
    found -= found.mean(axis=0)
    return _unit(found)


def _unit(found: numpy.ndarray) -> numpy.ndarray:
    found /= numpy.maximum(numpy.linalg.norm(found, axis=1, keepdims=True), 1e-12)
    return found


class _Walks:
    """Counts walks of two and of three steps from a source. Its arrays have a number for each node; they are cleared after each source."""

    def __init__(self, graph: Neighbours):
        self._graph = graph
        # By the end of the walks of two steps: the shared neighbours in three ways, and what these walks give to each neighbour of their end.
        self._sums = numpy.zeros((_SHARED + 1, len(graph.indptr) - 1), numpy.float32)

    def between(self, source: int, targets: numpy.ndarray) -> numpy.ndarray:
        """Of each of ``targets`` the shared neighbours, in three ways, and the paths of three edges. Walks that many share count little:
        a walk counts one over the product of the degrees on its way."""
        graph = self._graph
        between = graph.indices[graph.indptr[source] : graph.indptr[source + 1]]
        degrees = graph.degrees(between)
        if degrees.sum() > _MOST_STEPS:  # the neighbours with many neighbours tell least
            order = numpy.argsort(degrees, kind="stable")
            between = between[order[: max(1, int((numpy.cumsum(degrees[order]) <= _MOST_STEPS).sum()))]]
            degrees = graph.degrees(between)
        steps = graph.indices[ranges(graph.indptr[between], degrees)]
        each = numpy.stack([numpy.ones(len(between)), 1 / numpy.log(numpy.maximum(degrees, 2)), 1 / numpy.maximum(degrees, 1)])
        weights = numpy.repeat(each.astype(numpy.float32), degrees, axis=1)
        for place in range(_SHARED):
            numpy.add.at(self._sums[place], steps, weights[place])
        numpy.add.at(self._sums[_SHARED], steps, weights[_SHARED - 1] * graph.shares[steps])
        found = numpy.empty((*targets.shape, len(_WALKED)), numpy.float32)
        for place in range(_SHARED):
            found[..., place] = self._sums[place][targets]
        found[..., _SHARED] = self._third(targets.ravel()).reshape(targets.shape)
        for place in range(_SHARED + 1):
            self._sums[place][steps] = 0
        return numpy.sqrt(found)

    def _third(self, targets: numpy.ndarray) -> numpy.ndarray:
        """The walks of two steps that end beside each target, each divided by the degree there. Of a hub, some neighbours are taken."""
        graph = self._graph
        begins = graph.indptr[targets]
        degrees = graph.indptr[targets + 1] - begins
        taken = numpy.minimum(degrees, _MOST_NEAR)
        walks = self._sums[_SHARED][graph.indices[ranges(begins, taken)]]
        found = numpy.zeros(len(targets), numpy.float32)
        some = numpy.flatnonzero(taken)
        if len(some):
            found[some] = numpy.add.reduceat(walks, (numpy.cumsum(taken) - taken)[some])
        return found * (degrees / numpy.maximum(taken, 1))


def ranges(start: numpy.ndarray, length: numpy.ndarray) -> numpy.ndarray:
    """The numbers from each start on, as many as its length, one range after the other."""
    ends = numpy.cumsum(length)
    return numpy.arange(int(ends[-1]) if len(ends) else 0) + numpy.repeat(start - ends + length, length)


def cosines(x: numpy.ndarray, source: numpy.ndarray, targets: numpy.ndarray, lengths: numpy.ndarray | None = None) -> numpy.ndarray:
    """The cosine of the features of each source and each of its targets (n x k); 0 for a node without any. ``lengths`` are those of the features
    of all nodes; None where all have the length 1."""
    found = numpy.zeros(targets.shape, numpy.float32)
    step = max(1, _CELLS // max(1, targets.shape[1] * x.shape[1]))
    for i in range(0, len(source), step):
        some = slice(i, i + step)
        own, theirs = numpy.asarray(x[source[some]], numpy.float32), numpy.asarray(x[targets[some]], numpy.float32)
        found[some] = numpy.matmul(theirs, own[:, :, None])[:, :, 0]
        if lengths is not None:
            found[some] /= numpy.maximum(lengths[source[some], None] * lengths[targets[some]], 1e-12)
    return found
