"""Figures of a whole graph: how many edges run both ways, and its components."""

import numpy


def distinct(keys: numpy.ndarray) -> numpy.ndarray:
    """The different keys in order. numpy.unique takes several times as long for tens of millions."""
    ordered = numpy.sort(keys)
    first = numpy.ones(len(ordered), bool)
    first[1:] = ordered[1:] != ordered[:-1]
    return ordered[first]


def reciprocity(forward: numpy.ndarray, nodes: int) -> float:
    """The share of directed edges whose reverse is there, too. ``forward`` has source * nodes + target of each once, in order."""
    if not len(forward):
        return 0.0
    backward = numpy.sort((forward % nodes) * nodes + forward // nodes)
    place = numpy.minimum(numpy.searchsorted(forward, backward), len(forward) - 1)
    return float((forward[place] == backward).mean())


def components(source: numpy.ndarray, target: numpy.ndarray, nodes: int) -> tuple[int, int]:
    """The number of connected components, isolated nodes among them, and the nodes of the largest. Edges are ordered by ``source``."""
    from scipy import sparse
    from scipy.sparse import csgraph

    begins = numpy.concatenate([[0], numpy.cumsum(numpy.bincount(source, minlength=nodes))]).astype(numpy.int32)
    matrix = sparse.csr_matrix((numpy.ones(len(source)), target, begins), (nodes, nodes))
    number, labels = csgraph.connected_components(matrix, directed=False)
    return int(number), int(numpy.bincount(labels).max()) if nodes else 0
