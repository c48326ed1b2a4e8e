"""Figures of a whole graph: how many edges run both ways, and its components."""

import numpy


def reciprocity(source: numpy.ndarray, target: numpy.ndarray, nodes: int) -> float:
    """The share of the different directed edges whose reverse is there, too."""
    if not len(source):
        return 0.0
    forward = numpy.unique(source.astype(numpy.int64) * nodes + target)
    backward = numpy.sort((forward % nodes) * nodes + forward // nodes)
    place = numpy.minimum(numpy.searchsorted(forward, backward), len(forward) - 1)
    return float((forward[place] == backward).mean())


def components(source: numpy.ndarray, target: numpy.ndarray, nodes: int) -> tuple[int, int]:
    """The number of connected components, isolated nodes among them, and the nodes of the largest."""
    from scipy import sparse
    from scipy.sparse import csgraph

    matrix = sparse.coo_matrix((numpy.ones(len(source), numpy.int8), (source, target)), (nodes, nodes)).tocsr()
    number, labels = csgraph.connected_components(matrix, directed=False)
    return int(number), int(numpy.bincount(labels).max()) if nodes else 0
