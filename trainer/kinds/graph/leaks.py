"""What would let a model of edges look held-out edges up: the same pair in training, and features that count all edges of a node."""

import numpy

from trainer.data.checks import Checks
from trainer.errors import some
from trainer.kinds.graph.graph import Graph
from trainer.kinds.graph.splits import LinkSplits

SAME = 0.999  # correlation of a feature and the number of edges
_SAMPLE = 50_000  # nodes that are compared
_FEWEST = 20


def check(graph: Graph, splits: LinkSplits, checks: Checks) -> None:
    """Report held-out pairs that are also among the training edges, in either direction, and features that tell the number of edges."""
    held = numpy.concatenate([splits.validation, splits.test])
    trained = numpy.sort(_keys(graph, splits.train))
    keys = _keys(graph, held)
    place = numpy.minimum(numpy.searchsorted(trained, keys), len(trained) - 1)
    if seen := int((trained[place] == keys).sum()):
        checks.warning(
            "held_out_pair",
            f"{seen} of the {len(held)} held-out edges lead from a node to another that a training edge leads back from, as the dataset splits "
            "them. A model can look them up, so the metrics say too much. Keep both directions of a pair in one split.",
        )
    else:
        checks.ok("held_out_pair", "No held-out edge is among the training edges, in either direction.")
    if found := counting(graph):
        named = len(graph.columns) == graph.x.shape[1] if graph.x is not None else False
        what = some([graph.columns[i] for i in found], 6) if named else f"{len(found)} of the features"
        checks.warning(
            "feature_counts_edges",
            f"{what} {'grows' if len(found) == 1 else 'grow'} with the number of edges of a node, held-out ones included. Leave it out if it was "
            "counted on the whole graph: then it tells of edges that are to be predicted.",
        )


def counting(graph: Graph) -> list[int]:
    """The features that are the number of edges of a node, or its logarithm, in any unit."""
    if graph.x is None or graph.nodes < _FEWEST:
        return []
    step = -(-graph.nodes // _SAMPLE)
    degrees = (numpy.bincount(graph.source, minlength=graph.nodes) + numpy.bincount(graph.target, minlength=graph.nodes))[::step].astype(float)
    x = numpy.asarray(graph.x[::step], numpy.float64)
    x = x - x.mean(axis=0)
    length = numpy.linalg.norm(x, axis=0)
    found = numpy.zeros(x.shape[1], bool)
    for values in (degrees, numpy.log1p(degrees)):
        values = values - values.mean()
        if (size := float(numpy.linalg.norm(values))) > 0:
            found |= numpy.abs(values @ x) > SAME * size * numpy.where(length > 0, length, numpy.inf)
    return [int(i) for i in numpy.flatnonzero(found)]


def _keys(graph: Graph, edges: numpy.ndarray) -> numpy.ndarray:
    """One number for each edge, the same in both directions. The ends of a bipartite graph have one direction alone."""
    u, v = graph.source[edges].astype(numpy.int64), graph.target[edges].astype(numpy.int64)
    return numpy.minimum(u, v) * graph.nodes + numpy.maximum(u, v)
