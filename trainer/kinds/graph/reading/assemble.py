"""From edges as the files have them to a graph: numbers for ids, without loops and duplicates, and each count told."""

from dataclasses import dataclass, field

import numpy
import pyarrow
import pyarrow.compute

from trainer.core.example import SPLITS
from trainer.data.checks import Checks
from trainer.errors import count, left_out
from trainer.kinds.graph.graph import LINKS
from trainer.kinds.graph.reading import columns as columns_of, edge_names, refusals, shape
from trainer.kinds.graph.reading.columns import Ids
from trainer.kinds.graph.reading.raw import Raw

SYMMETRIC = 0.9  # reciprocity from which each edge is taken as written twice
MAX_NEGATIVE = 1 / 3  # share of the weights
MIN_TIMES = 10  # different ones, for a split by time


@dataclass
class Edges:
    """The edges of a graph, each once, ordered by source and target."""

    ids: pyarrow.Array
    source: numpy.ndarray
    target: numpy.ndarray
    directed: bool
    left: int = 0
    weight: numpy.ndarray | None = None
    time: numpy.ndarray | None = None
    given: numpy.ndarray | None = None
    told: dict = field(default_factory=dict)
    why: str = ""  # why it is directed or not


def edges(raw: Raw, settings, checks: Checks) -> Edges:
    """The edges without loops, duplicates, negative weights, and edges of unknown nodes. Raises UserError where the weights are signs."""
    told: dict = {"read": len(raw.source.codes), "loops": 0, "duplicates": 0, "reversed": 0, "unknown_nodes": 0, "negative": 0}
    weight = _weights(raw, checks)
    ids, left, (a, b), known = _numbered(raw)
    keep = known & ((a != b) if not left else True)
    told["unknown_nodes"] = int((~known).sum())
    told["loops"] = int((known & (a == b)).sum()) if not left else 0
    if weight is not None:
        told["negative"] = int((keep & ~(weight > 0)).sum())
        keep &= weight > 0
    parts = [None if p is None else p[keep] for p in (weight, raw.time, raw.given)]
    a, b = a[keep], b[keep]
    one_way = shape.distinct(a.astype(numpy.int64) * len(ids) + b)
    told["duplicates"] = len(a) - len(one_way)
    told["reciprocity"] = round(shape.reciprocity(one_way, len(ids)), 4) if not left else 0.0
    directed, why = _direction(raw, a, b, told["reciprocity"], left, settings)
    merged = _merged(a, b, len(ids), directed, left, parts)
    told["reversed"] = len(one_way) - len(merged[0])
    weight, time, given = merged[2:]
    time = None if time is None else _times(time, raw.time_column, checks)
    told["time"] = None if time is None else {"column": raw.time_column, "from": float(time.min()), "to": float(time.max())}
    _report(told, raw, checks)
    return Edges(ids, merged[0], merged[1], directed, left, weight, time, given, told, why)


def _weights(raw: Raw, checks: Checks) -> numpy.ndarray | None:
    """The weights (float64). Missing ones become the mean of the others."""
    if raw.weight is None or not len(raw.weight):
        return None
    missing = numpy.isnan(raw.weight)
    if missing.all():
        return None
    known = raw.weight[~missing]
    negative = float((known < 0).mean())
    if negative > MAX_NEGATIVE:
        raise refusals.signed(raw.files[0], "the column of weights", negative)
    if missing.any():
        mean = float(known[known > 0].mean()) if (known > 0).any() else 1.0
        checks.warning(
            "missing_weights", f"{count(int(missing.sum()), 'edge')} without a weight {'gets' if missing.sum() == 1 else 'get'} the mean, {mean:.3g}."
        )
        return numpy.where(missing, mean, raw.weight)
    return None if (known == known[0]).all() and known[0] > 0 else raw.weight


def _times(time: numpy.ndarray, column: str, checks: Checks) -> numpy.ndarray | None:
    """The times of the edges. Missing ones become the earliest, so that no such edge is held out as a new one; None for too few different times."""
    missing = numpy.isnan(time)
    if len(numpy.unique(time[~missing])) < MIN_TIMES:
        checks.events.decision("time", column, f"{column} has fewer than {MIN_TIMES} different times, so edges are not split by it.")
        return None
    if missing.any():
        one = missing.sum() == 1
        text = f"{count(int(missing.sum()), 'edge')} without a time in {column} {'counts' if one else 'count'} as the oldest{'' if one else ' ones'}."
        checks.warning("missing_times", text)
    return numpy.where(missing, time[~missing].min(), time)


def _numbered(raw: Raw) -> tuple[pyarrow.Array, int, tuple[numpy.ndarray, numpy.ndarray], numpy.ndarray]:
    """The ids of all nodes, the number of sources of a bipartite graph, the node numbers of both ends, and which edges have known nodes."""
    source, target = raw.source, raw.target
    tables = [columns_of.of_texts(n.ids) for n in raw.nodes]
    if not raw.bipartite:
        ids, places = columns_of.union(tables or [source, target])
        if tables:
            places = [columns_of.places(e.values.cast(pyarrow.string()), ids) for e in (source, target)]
        a, b = (p[e.codes] for p, e in zip(places, (source, target)))
        return ids, 0, (a, b), (a >= 0) & (b >= 0)
    left = _side(source, raw, 0)
    right = _side(target, raw, 1)
    ids = pyarrow.concat_arrays([left, right])
    a = columns_of.places(source.values.cast(pyarrow.string()), left)[source.codes]
    b = columns_of.places(target.values.cast(pyarrow.string()), right)[target.codes]
    known = (a >= 0) & (b >= 0)
    return ids, len(left), (a, b + numpy.int32(len(left))), known


def _side(ends: Ids, raw: Raw, side: int) -> pyarrow.Array:
    """The ids of one side of a bipartite graph in natural order: those of its tables of nodes, else those of the edges."""
    own = [n.ids for n in raw.nodes if n.side in (side, None)]
    texts = pyarrow.concat_arrays(own).unique() if own else ends.values.cast(pyarrow.string())
    return columns_of.natural_order(texts)


def _direction(raw: Raw, a: numpy.ndarray, b: numpy.ndarray, reciprocity: float, left: int, settings) -> tuple[bool, str]:
    if left:
        return False, "both ends are things of two kinds"
    if settings.directed != "auto":
        return settings.directed == "yes", "as requested"
    if reciprocity >= SYMMETRIC:
        return False, f"{reciprocity:.0%} of the edges are there in both directions"
    if raw.directed is not None:
        return raw.directed, raw.direction
    by_name = edge_names.says_direction(*raw.ends)
    if by_name is not None:
        return by_name, f"the names {raw.ends[0]} and {raw.ends[1]} say {'a' if by_name else 'no'} direction"
    if len(a) and not reciprocity and (bool((a < b).all())):
        return False, "each pair is there once, with the smaller id first"
    return True, f"{reciprocity:.0%} of the edges are there in both directions"


def _merged(a: numpy.ndarray, b: numpy.ndarray, nodes: int, directed: bool, left: int, parts: list) -> tuple:
    """Each edge once, in order. Of edges that are there several times the earliest time counts, else the largest weight."""
    weight, time, given = parts
    if not directed and not left:
        a, b = numpy.minimum(a, b), numpy.maximum(a, b)
    key = a.astype(numpy.int64) * nodes + b
    if weight is None and time is None and given is None:
        key = shape.distinct(key)
    else:
        order = numpy.lexsort([_or_zero(None if weight is None else -weight, key), _or_zero(given, key), _or_zero(time, key), key])
        first = numpy.ones(len(key), bool)
        first[1:] = key[order][1:] != key[order][:-1]
        kept = order[first]
        key = key[kept]
        weight, time, given = (None if p is None else p[kept] for p in (weight, time, given))
    weight = None if weight is None else weight.astype(numpy.float32)
    return (key // nodes).astype(numpy.int32), (key % nodes).astype(numpy.int32), weight, time, given


def _or_zero(values, like: numpy.ndarray) -> numpy.ndarray:
    return numpy.zeros(len(like), numpy.int8) if values is None else values


def _report(told: dict, raw: Raw, checks: Checks) -> None:
    """Say what was left out, as checks and as dropped rows."""
    reasons = (
        ("unknown_nodes", "of a node that no table of nodes has", "unknown_nodes"), ("loops", "of a node with itself", "loops"),
        ("duplicates", "that the data has already", "duplicate_edges"), ("negative", "without a positive weight", "negative_weights"),
    )  # fmt: skip
    for key, what, code in reasons:
        if told[key]:
            tell = checks.warning if key in ("unknown_nodes", "negative") else checks.ok
            tell(code, f"{left_out(told[key], 'edge')}: {'an edge' if told[key] == 1 else 'edges'} {what}.")
            checks.drop(f"edges {what}", told[key])
    if told["reversed"]:
        text = f"{count(told['reversed'], 'edge')} stood in both directions and count once, so no held-out edge is visible in reverse."
        checks.ok("reversed_edges", text)
    else:
        checks.ok("reversed_edges", "No edge is there a second time in the other direction.")
    if raw.bad:
        checks.warning("bad_rows", f"{left_out(raw.bad, 'row')} of {raw.files[0]}: without two ids.")
        checks.drop("rows without two ids", raw.bad)


def check(found: Edges, task: str, has_features: bool, checks: Checks) -> None:
    """Refuse a graph that nothing can be learnt from, and warn of strange ones. Adds its components and isolated nodes to what is told."""
    nodes, number = len(found.ids), len(found.source)
    if number < refusals.MIN_EDGES[task]:
        raise refusals.too_few_edges(number, nodes, task)
    degrees = numpy.bincount(found.source, minlength=nodes) + numpy.bincount(found.target, minlength=nodes)
    components, largest = shape.components(found.source, found.target, nodes)
    found.told |= {"isolated": int((degrees == 0).sum()), "components": components, "largest_component": largest}
    if task == LINKS:
        if degrees.max() == 1 and not has_features:
            raise refusals.no_links_left(number)
        pairs = found.left * (nodes - found.left) if found.left else nodes * (nodes - 1) // (1 if found.directed else 2)
        if number > 0.5 * pairs:
            raise refusals.complete(nodes, number, number / pairs)
    hub = int(degrees.argmax())
    if not found.left and degrees[hub] > 0.5 * number:
        share = f"{degrees[hub] / number:.0%} of all edges"
        text = f"The node {found.ids[hub].as_py()} is at an end of {share}, so the model learns little else than this node."
        checks.warning("one_node_hub", text)
    if isolated := found.told["isolated"]:
        checks.ok("isolated_nodes", f"{count(isolated, 'node')} {'has' if isolated == 1 else 'have'} no edge: their features alone tell of them.")
    if components > 1:
        text = f"The graph has {components} components; the largest has {largest} of {nodes} nodes."
        checks.ok("components", text)


def given_splits(found: Edges) -> dict[str, numpy.ndarray] | None:
    """The numbers of the edges of each split that the data gives; None where no edge has one, or none trains."""
    if found.given is None or not (found.given >= 0).any() or not (found.given == 0).any():
        return None
    return {name: numpy.flatnonzero(found.given == i) for i, name in enumerate(SPLITS) if (found.given == i).any()}
