"""The vectors of nodes in two dimensions, with the groups that nodes belong to."""

import collections

import numpy

from trainer.core import drawn
from trainer.kinds.graph.graph import Graph

POINTS = 3000
GROUPS = 9
_FITTED = 20_000  # nodes from which the two directions are computed
_MOST_EDGES = 500_000  # for communities, each round of which sorts all edges twice: five seconds
_ROUNDS = 12


def picture(vectors: numpy.ndarray, graph: Graph, seed: int) -> dict:
    """The first two principal components of ``vectors`` (nodes x width) for some nodes, and their groups: labels, the two sides of a
    bipartite graph, or communities."""
    generator = numpy.random.default_rng(seed)
    fitted = drawn.rows(len(vectors), _FITTED, generator)
    sample = numpy.asarray(vectors[fitted], numpy.float64)
    mean = sample.mean(axis=0)
    sizes, directions = numpy.linalg.eigh((sample - mean).T @ (sample - mean))
    two = directions[:, ::-1][:, :2]
    two = two * numpy.where(two[numpy.abs(two).argmax(axis=0), [0, 1][: two.shape[1]]] < 0, -1, 1)  # the sign of a direction is arbitrary
    shown = drawn.rows(len(vectors), POINTS, generator)
    places = (numpy.asarray(vectors[shown], numpy.float64) - mean) @ two
    if two.shape[1] < 2:
        places = numpy.column_stack([places, numpy.zeros(len(places))])
    names, codes, by = groups(graph, seed)
    total = float(sizes.clip(0).sum())
    return {
        "points": [[round(x, 5), round(y, 5), int(g)] for (x, y), g in zip(places.tolist(), codes[shown], strict=True)],
        "groups": names,
        "grouped_by": by,
        "explained": round(float(sizes[::-1][:2].clip(0).sum() / total), 4) if total > 0 else 0.0,
    }


def groups(graph: Graph, seed: int) -> tuple[list[str], numpy.ndarray, str]:
    """The names of the largest groups, the number of each node's group (-1 for none), and what the groups are."""
    if graph.labels is not None and graph.task != "node-regression":
        counts = collections.Counter(label for label in graph.labels if label)
        names = [label for label, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:GROUPS]]
        places = {name: i for i, name in enumerate(names)}
        return names, numpy.fromiter((places.get(label, -1) for label in graph.labels), numpy.int64, graph.nodes), "label"
    if graph.left:
        return ["sources", "targets"], (numpy.arange(graph.nodes) >= graph.left).astype(numpy.int64), "side"
    if not 0 < graph.edges <= _MOST_EDGES:
        return [], numpy.full(graph.nodes, -1), "none"
    found = communities(graph, seed)
    values, counts_of = numpy.unique(found, return_counts=True)
    largest = values[numpy.argsort(-counts_of, kind="stable")][:GROUPS]
    largest = largest[: int((numpy.sort(counts_of)[::-1][:GROUPS] > 1).sum())]
    codes = numpy.full(graph.nodes, -1)
    for i, value in enumerate(largest):
        codes[found == value] = i
    return [f"community {i + 1}" for i in range(len(largest))], codes, "community"


def communities(graph: Graph, seed: int) -> numpy.ndarray:
    """The community of each node, by label propagation: every round a random half of the nodes takes the community that most of its
    neighbours have."""
    generator = numpy.random.default_rng(seed)
    node = numpy.concatenate([graph.source, graph.target]).astype(numpy.int64)
    other = numpy.concatenate([graph.target, graph.source])
    found = numpy.arange(graph.nodes, dtype=numpy.int64)
    for _ in range(_ROUNDS):
        keys, counts = numpy.unique(node * graph.nodes + found[other], return_counts=True)
        owner, community = keys // graph.nodes, keys % graph.nodes
        order = numpy.lexsort((generator.random(len(keys)), counts, owner))  # the last of each owner has the most, ties by chance
        last = order[numpy.append(numpy.flatnonzero(owner[order][1:] != owner[order][:-1]), len(order) - 1)]
        wanted = found.copy()
        wanted[owner[last]] = community[last]
        moved = (wanted != found) & (generator.random(graph.nodes) < 0.5)
        if not (wanted != found).any():
            break
        found[moved] = wanted[moved]
    return found
