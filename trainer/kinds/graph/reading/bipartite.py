"""Whether the two ends of the edges are things of two kinds, such as users and items. Numbers of both kinds overlap, so names must tell."""

import numpy
import pyarrow
import pyarrow.compute

from trainer.kinds.graph.reading import detect, edge_names, refusals, shape
from trainer.kinds.graph.reading.columns import Ids
from trainer.kinds.graph.reading.detect import Tables
from trainer.kinds.graph.reading.edge_roles import SIDES
from trainer.kinds.graph.reading.matching import MATCHES, NodeFile

APART = 0.01  # share of common ids up to which the ends are of two kinds
DENSE = 0.9  # share of the numbers up to the largest that occur
UNLIKE = 1.5  # ratio of the largest numbers of both ends
MIN_MEETINGS = 10.0  # expected by chance, for their number to tell something
BY_CHANCE = 3.0  # at most so many times as often, or as rarely, as by chance


def find(tables: Tables, source: Ids, target: Ids, directed: bool | None, settings) -> tuple[bool, str]:
    """Whether the graph is bipartite, and why, as the end of a sentence; empty where it is as usual. Raises UserError for a close call.

    ``directed`` is what the file says of the direction of its edges, if it does: then both ends are of one kind.
    """
    roles, where = tables.roles, tables.edges[0].head.name
    if settings.bipartite != "auto":
        return settings.bipartite == "yes", "as requested"
    if roles.way == SIDES or edge_names.sides([roles.source.lower(), roles.target.lower()]):
        return True, "the names of its columns say so"
    shared = detect.overlap(source, target)
    ends = len(source.values), len(target.values)
    if shared <= APART and min(ends) >= detect.MIN_NODES and len(source.codes) >= detect.MIN_ROWS_PER_ID * min(ends):
        return True, "no id is at both ends" if not shared else "hardly any id is at both ends"
    if _two_tables(tables.nodes):
        return True, "two tables of nodes describe one end each"
    if not (tables.nodes or directed is not None) and _meet_by_chance(source, target, bool(roles.weight)):
        most = int(source.numbers[-1]), int(target.numbers[-1])
        raise refusals.ambiguous_sides((roles.source, roles.target), where, most)
    return False, ""


def _two_tables(nodes: list[NodeFile]) -> bool:
    """Whether a table has the ids of one end but not those of the other, and another table the reverse."""
    full = [(float(n.found[0].mean()), float(n.found[1].mean())) for n in nodes]
    return any(a >= MATCHES > b for a, b in full) and any(b >= MATCHES > a for a, b in full)


def _meet_by_chance(source: Ids, target: Ids, weighted: bool) -> bool:
    """Whether both ends count from 0 or 1 up to different numbers, and the same number is at both ends of an edge, and edges run both ways
    between two numbers, about as often as were the ends drawn apart from each other. Where too few are expected to tell, weights do."""
    if source.numbers is None or target.numbers is None:
        return False
    largest = [int(e.numbers.max()) for e in (source, target)]
    dense = all(e.numbers.min() <= 1 and len(e.numbers) >= DENSE * (m + 1 - e.numbers.min()) for e, m in zip((source, target), largest))
    if not dense or max(largest) < UNLIKE * min(largest):
        return False
    rows, size = len(source.codes), max(largest) + 1
    a, b = source.numbers[source.codes].astype(numpy.int64), target.numbers[target.codes].astype(numpy.int64)
    p, q = numpy.bincount(a, minlength=size) / rows, numpy.bincount(b, minlength=size) / rows
    loops = rows * float(p @ q)
    forward = shape.distinct(a * size + b)
    both = int(numpy.isin(forward, b * size + a, assume_unique=False).sum())
    expected = len(forward) ** 2 * float(((p * q).sum()) ** 2)
    seen = [(s, e) for s, e in ((int((a == b).sum()), loops), (both, expected)) if e >= MIN_MEETINGS]
    return all(e / BY_CHANCE <= s <= BY_CHANCE * e for s, e in seen) if seen else weighted


def prefixed(ids: Ids, name: str) -> Ids:
    """The ids of one end with a name before each, so that equal ids of both ends stay apart."""
    return Ids(pyarrow.compute.binary_join_element_wise(pyarrow.scalar(prefix(name)), ids.values.cast(pyarrow.string()), ""), ids.codes)


def prefix(name: str) -> str:
    """What stands before the ids of one end: "user:" for the column user_id."""
    return f"{edge_names.plain(name)}:"
