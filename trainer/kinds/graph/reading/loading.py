"""Reads the tables or the file of a graph that was found, and makes the graph of it."""

import re
from pathlib import Path

import numpy
import pyarrow
import pyarrow.compute

from trainer.core.example import SPLITS
from trainer.data import names
from trainer.data.checks import Checks
from trainer.errors import UserError, some
from trainer.kinds.graph.reading import bipartite, columns as columns_of, matching, nodes as node_tables, refusals, times
from trainer.kinds.graph.reading.columns import Columns, Ids, NotReadable
from trainer.kinds.graph.reading.detect import Candidate, Tables, ends_of
from trainer.kinds.graph.reading.edge_roles import ASKED, NONE
from trainer.kinds.graph.reading.heads import Head
from trainer.kinds.graph.reading.raw import Nodes, Raw


def raw(tables: Tables, word_lists: list[Nodes], settings, checks: Checks, work: Path) -> Raw:
    """The edges and nodes of tables. Raises UserError for what cannot be trained on."""
    roles = tables.roles
    read = [_read(c, settings) for c in tables.edges]
    _check_relations(tables.edges[0], read, roles)
    source, target = (joined([r.ids[c] for r in read]) for c in (roles.source, roles.target))
    found = Raw(tuple(c.head.name for c in tables.edges), source, target, (roles.source, roles.target))
    found.bad = sum(r.bad for r in read)
    if roles.weight:
        found.weight = numpy.concatenate([columns_of.numbers(r.cells[roles.weight]) for r in read])
    if roles.time:
        found.time, found.time_column = times.of(pyarrow.concat_arrays([r.cells[roles.time] for r in read])), roles.time
        found.time = None if numpy.isnan(found.time).all() else found.time
    head = tables.edges[0].head
    times.check(settings, found.time, head.name, head.columns)
    found.given = _given(tables, read)
    found.directed, found.direction = _direction(tables, read)
    found.nodes = [node_tables.read(n, settings, work) for n in tables.nodes] + word_lists
    ends = ends_of(tables.edges)
    if tables.nodes and settings.nodes_file.strip().lower() != NONE:
        matching.check_unknown(tables.nodes, ends, found.files[0], settings)
    found.bipartite, why = bipartite.find(tables, source, target, found.directed, settings)
    if found.bipartite:
        _split_sides(found, why, checks)
    _check_comment(tables.edges[0].head, found, checks)
    return found


def _read(candidate: Candidate, settings) -> Columns:
    """All columns of a table of edges that are of use. What was read to find them is not read again."""
    roles = candidate.roles
    cells = tuple(c for c in (roles.weight, roles.time, roles.split, roles.relation, roles.type) if c)
    if not cells:
        return candidate.read
    try:
        return columns_of.read(candidate.head, [roles.source, roles.target], cells, settings)
    except NotReadable as e:
        raise UserError("unreadable_file", f"The file {candidate.head.name} {e}.", "Correct the file, then submit again.") from e


def joined(parts: list[Ids]) -> Ids:
    """The rows of several columns of identifiers, one after the other."""
    if len(parts) == 1:
        return parts[0]
    different, places = columns_of.union(parts)
    return columns_of.of_texts(different, numpy.concatenate([p[i.codes] for p, i in zip(places, parts)]))


def _check_relations(first: Candidate, read: list[Columns], roles) -> None:
    if not roles.relation or roles.way == ASKED:
        return
    different = sorted({r for part in read for r in pyarrow.compute.unique(part.cells[roles.relation]).to_pylist() if r}, key=names.natural)
    if len(different) > 1:
        raise refusals.knowledge(first.head.name, names.column(roles.relation).lower(), different)


def _given(tables: Tables, read: list[Columns]) -> numpy.ndarray | None:
    """The split of each edge: by a column, or by the names of the files."""
    roles = tables.roles
    if roles.split:
        return split_codes(pyarrow.concat_arrays([r.cells[roles.split] for r in read]))
    of_files = [names.split_of(c.head.name) for c in tables.edges]
    if any(names.chosen_split(c.head.name) for c in tables.edges):
        of_files = [s or "train" for s in of_files]
    if len(of_files) < 2 or "train" not in of_files or len(set(of_files)) < 2:
        return None
    return numpy.concatenate([numpy.full(r.rows, -1 if s is None else SPLITS.index(s), numpy.int8) for s, r in zip(of_files, read)])


def split_codes(cells: pyarrow.Array) -> numpy.ndarray:
    """Names of splits as places in SPLITS (int8); -1 where a cell is none."""
    coded = cells.dictionary_encode()
    places = [SPLITS.index(s) if (s := names.split_of(t or "")) else -1 for t in coded.dictionary.to_pylist()]
    return numpy.array([*places, -1], numpy.int8)[numpy.asarray(coded.indices.fill_null(len(places)))]


def _direction(tables: Tables, read: list[Columns]) -> tuple[bool | None, str]:
    """What a column or a comment says of the direction of the edges."""
    roles = tables.roles
    if roles.type:
        said = {t.lower() for part in read for t in pyarrow.compute.unique(part.cells[roles.type]).to_pylist() if t}
        if len(said) == 1:
            return "directed" in said, f"the column {roles.type} says {said.pop()}"
    comments = " ".join(tables.edges[0].head.comments).lower()
    if "undirected" in comments:
        return False, "a comment in the file says undirected"
    if "directed" in comments:
        return True, "a comment in the file says directed"
    return None, ""


def _check_comment(head: Head, found: Raw, checks: Checks) -> None:
    """Compare the number of edges that a comment states, as SNAP writes it, with the rows."""
    stated = next((int(m[1]) for c in head.comments if (m := re.search(r"edges:\s*(\d{1,18})", c, re.IGNORECASE))), None)
    rows = len(found.source.codes)
    if stated is not None and stated not in (rows, 2 * rows) and rows != 2 * stated:
        checks.warning("edge_count", f"A comment in {head.name} states {stated} edges, but {rows} rows are read.")


def _split_sides(found: Raw, why: str, checks: Checks) -> None:
    """Keep the ids of both ends apart, and say which end each table of nodes describes."""
    known = [e.values.cast(pyarrow.string()) for e in (found.source, found.target)]
    shared = bool(pyarrow.compute.any(pyarrow.compute.is_in(known[0], value_set=known[1])).as_py())
    for table in found.nodes:
        table.side = _side(table, known, shared)
    if shared:
        for table in found.nodes:
            if table.side is not None:
                table.ids = bipartite.prefixed(columns_of.of_texts(table.ids), found.ends[table.side]).values
        found.source, found.target = (bipartite.prefixed(e, n) for e, n in zip((found.source, found.target), found.ends))
        found.prefixes = (bipartite.prefix(found.ends[0]), bipartite.prefix(found.ends[1]))
    named = f"; their ids begin with {some(found.prefixes)}" if shared else ""
    text = f"{found.ends[0]} and {found.ends[1]} are things of two kinds ({why}): the model ranks {found.ends[1]} for each {found.ends[0]}{named}."
    checks.events.decision("bipartite", True, text)


def _side(table: Nodes, known: list[pyarrow.Array], shared: bool) -> int | None:
    """The end that a table describes: the one it has more of; where it has both, the one whose name its file has, or whose number is nearer."""
    have = [pyarrow.compute.mean(pyarrow.compute.is_in(k, value_set=table.ids)).as_py() for k in known]
    if not shared and min(have) > 0:
        return None
    if abs(have[0] - have[1]) > 0.05:
        return int(have[1] > have[0])
    return int(abs(len(table.ids) - len(known[1])) < abs(len(table.ids) - len(known[0])))
