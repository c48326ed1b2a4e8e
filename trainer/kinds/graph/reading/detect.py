"""Whether a dataset is a graph, and which of its tables have edges and nodes. What is a close call is asked back."""

from dataclasses import dataclass, field

import numpy
import pyarrow
import pyarrow.compute

from trainer.core.input import Input
from trainer.data import names
from trainer.data.columns import asked
from trainer.data.sources import Sources
from trainer.errors import UserError, some
from trainer.kinds.graph.graph import TASKS
from trainer.kinds.graph.reading import columns as columns_of, edge_names, edge_roles, heads, matching, refusals
from trainer.kinds.graph.reading.columns import Columns, Ids, NotReadable
from trainer.kinds.graph.reading.edge_roles import FIRST, NAMED, NONE, PAIR, SIDES, EdgeRoles
from trainer.kinds.graph.reading.heads import Head
from trainer.kinds.graph.reading.matching import NodeFile

MIN_NODES = 10  # different ids at each end, where names do not tell
MIN_OVERLAP = 0.3  # of the ids of the end that has fewer
MIN_ROWS_PER_ID = 1.2  # nodes occur more than once
MAX_ROWS_PER_ID = 50  # beyond, numbers without telling names are measures
FEW_LABELS = 50
SURE, DOUBTFUL, NO = 2, 1, 0


@dataclass
class Candidate:
    """A table whose rows may be edges."""

    head: Head
    roles: EdgeRoles
    read: Columns
    sure: int

    @property
    def ends(self) -> tuple[pyarrow.Array, pyarrow.Array]:
        return self.read.ids[self.roles.source].values, self.read.ids[self.roles.target].values


@dataclass
class Tables:
    """The tables of a graph: those of edges share their columns."""

    edges: list[Candidate]
    nodes: list[NodeFile] = field(default_factory=list)

    @property
    def roles(self) -> EdgeRoles:
        return self.edges[0].roles

    @property
    def files(self) -> list[str]:
        return [c.head.name for c in self.edges] + [n.head.name for n in self.nodes]


def is_allowed(settings) -> bool:
    """Whether the settings leave it open that the data is a graph."""
    return is_asked(settings) or (settings.task == "auto" and not settings.text_column.strip())


def is_asked(settings) -> bool:
    """Whether the settings say that the data is a graph."""
    columns = settings.edges_file, settings.source_column, settings.target_column
    return settings.task in TASKS or (settings.task == "auto" and any(c.strip() for c in columns))


def find(found: Sources, settings, looked: list[Head]) -> Tables | None:
    """The tables of a graph; None where the dataset is none. Raises UserError where that is a close call, and where a graph was asked for."""
    wanted = settings.edges_file.strip()
    if wanted and not (looked := [h for h in looked if is_called(h.source, wanted)] + [h for h in looked if not is_called(h.source, wanted)]):
        raise refusals.unknown_file("edges_file", wanted, [s.name for s in found.tables])
    if wanted and not is_called(looked[0].source, wanted):
        raise refusals.unknown_file("edges_file", wanted, [h.name for h in looked])
    asked = is_asked(settings)
    candidates = [c for h in looked if (not wanted or is_called(h.source, wanted)) and (c := _candidate(h, settings, asked, bool(wanted)))]
    candidates = _without_nodes_asked(candidates, settings)
    if not candidates:
        if asked:
            raise refusals.no_edges([s.name for s in (*found.tables, *found.graphs)], "")
        return None
    edges = _chosen(candidates)
    nodes = _nodes([h for h in looked if h not in [c.head for c in edges]], edges, settings)
    first = edges[0]
    if not asked and not nodes and not _is_plain(first):
        return None
    if not asked and settings.label_column.strip() and not _has(nodes, settings.label_column):
        return None  # a column of the table is the label, so its rows are examples
    return Tables(edges, nodes)


def is_called(source: Input, wanted: str) -> bool:
    return wanted in (source.id, source.name) or source.name.rsplit("/", 1)[-1] == wanted


def look(found: Sources, settings) -> list[Head]:
    """The heads of the tables that may be part of a graph. Of thousands of text files none is."""
    files = [*found.tables, *(s for s in found.graphs if names.extension(s.name) in names.EDGE_LISTS)]
    if len(files) > heads.MAX_FILES:
        files = [s for s in files if names.extension(s.name) not in names.ANY_CONTENT or edge_names.EDGE_FILE.search(s.name)]
    files = sorted(files, key=lambda s: -s.size)[: heads.MAX_FILES]
    only = () if is_asked(settings) else asked.named(settings)
    return [h for s in sorted(files, key=lambda s: names.natural(s.name)) if (h := heads.look(s, settings, only)) is not None]


def _candidate(head: Head, settings, asked: bool, named: bool) -> Candidate | None:
    try:
        roles = edge_roles.find(head, settings, named)
        if roles is None:
            return None
        read = columns_of.read(head, [roles.source, roles.target], settings=settings)
    except NotReadable:
        return None
    except UserError:
        if named:
            raise
        return None
    sure = SURE if roles.way == edge_roles.ASKED else _judged(head, roles, read, asked)
    return Candidate(head, roles, read, sure) if sure else None


def _judged(head: Head, roles: EdgeRoles, read: Columns, asked: bool) -> int:
    """How sure it is that the rows are edges, by all their ids."""
    source, target = read.ids[roles.source], read.ids[roles.target]
    fewer, more = sorted((len(source.values), len(target.values)))
    shared = overlap(source, target)
    repeated = read.rows >= MIN_ROWS_PER_ID * fewer
    looks_so = shared >= MIN_OVERLAP and repeated
    if roles.way in (FIRST, PAIR) and more >= 0.99 * read.rows and fewer <= max(FEW_LABELS, read.rows // 20):
        return NO  # one label for each id
    if asked and (looks_so or roles.way in (NAMED, SIDES)):
        return SURE
    if roles.way in (NAMED, SIDES) and edge_roles.has_texts(head, roles) and edge_roles.asks_for_label(roles):
        return NO
    if roles.way == SIDES:
        return SURE if repeated and not roles.others else NO
    if roles.way == NAMED:
        return SURE if looks_so or not roles.others else NO
    if not looks_so or fewer < MIN_NODES:
        return SURE if asked and repeated else NO
    if roles.way == FIRST or source.numbers is None or target.numbers is None:
        return SURE
    return DOUBTFUL if fewer >= MIN_NODES and read.rows <= MAX_ROWS_PER_ID * fewer else NO


def overlap(a: Ids, b: Ids) -> float:
    """The share of the values of ``a`` or ``b``, whichever has fewer, that the other one has too."""
    fewer = min(len(a.values), len(b.values))
    if not fewer:
        return 0.0
    if a.numbers is not None and b.numbers is not None:
        return len(numpy.intersect1d(a.numbers, b.numbers, assume_unique=True)) / fewer
    small, large = sorted((a.values, b.values), key=len)
    there = pyarrow.compute.is_in(small.cast(pyarrow.string()), value_set=large.cast(pyarrow.string()))
    return pyarrow.compute.mean(there).as_py()


def _without_nodes_asked(candidates: list[Candidate], settings) -> list[Candidate]:
    nodes = settings.nodes_file.strip()
    return [c for c in candidates if not nodes or nodes.lower() == NONE or not is_called(c.head.source, nodes)]


def _chosen(candidates: list[Candidate]) -> list[Candidate]:
    """The tables of edges: all that have the columns of the best one. Raises UserError where others fit as well."""

    def rank(c: Candidate) -> tuple:
        named = bool(edge_names.EDGE_FILE.search(c.head.name)) - bool(edge_names.NODE_FILE.search(c.head.name))
        return c.sure, c.roles.way in (edge_roles.ASKED, NAMED, SIDES), named

    best = max(candidates, key=rank)
    alike = [c for c in candidates if rank(c) == rank(best)]
    columns = {tuple(c.lower() for c in candidate.head.columns) for candidate in alike}
    splits = {names.split_of(c.head.name) for c in alike}
    if len(columns) > 1 or (len(alike) > 1 and not best.head.has_header and len(splits) == 1):
        raise refusals.ambiguous_files([c.head.name for c in alike])
    return alike


def _nodes(others: list[Head], edges: list[Candidate], settings) -> list[NodeFile]:
    """The tables of nodes. Raises UserError where a table is meant to be one, but lacks many ids."""
    wanted = settings.nodes_file.strip()
    if wanted.lower() == NONE:
        return []
    ends = ends_of(edges)
    named = [h for h in others if is_called(h.source, wanted)] if wanted else others
    if not named and wanted:
        raise refusals.unknown_file("nodes_file", wanted, [h.name for h in others])
    matched = [m for h in named if (m := matching.match(h, ends, settings)) is not None]
    if wanted and not matched:
        raise refusals.no_id_column(named[0].name, named[0].columns)
    good = [m for m in matched if matching.covered(m) >= matching.MATCHES]
    meant = [m for m in matched if wanted or matching.covered(m) >= matching.NEAR or _says_nodes(m)]
    if not good and meant:
        matching.check_unknown(meant, ends, edges[0].head.name, settings)
    return good + [m for m in matched if m not in good and good]


def _says_nodes(file: NodeFile) -> bool:
    return bool(edge_names.NODE_FILE.search(file.head.name)) and names.is_identifier(file.id)


def ends_of(edges: list[Candidate]) -> tuple[pyarrow.Array, pyarrow.Array]:
    """The different ids at each end of the edges of all tables."""
    if len(edges) == 1:
        return edges[0].ends
    source, target = (pyarrow.concat_arrays([c.ends[i].cast(pyarrow.string()) for c in edges]).unique() for i in (0, 1))
    return source, target


def _is_plain(first: Candidate) -> bool:
    """Whether a table alone, without tables of nodes, is a graph. Raises UserError where that is a close call."""
    ends = first.roles.source, first.roles.target
    if first.sure == DOUBTFUL:
        raise refusals.ambiguous_ends(ends, first.head.name)
    if first.roles.way != edge_roles.ASKED and (label := edge_roles.asks_for_label(first.roles)):
        raise refusals.ambiguous_label(ends, first.head.name, label)
    return True


def _has(nodes: list[NodeFile], column: str) -> bool:
    return any(c.lower() == column.strip().lower() for n in nodes for c in n.head.columns)


def reasons(tables: Tables) -> str:
    """Why the dataset is a graph, as a sentence."""
    first, roles = tables.edges[0], tables.roles
    files = some([c.head.name for c in tables.edges], 3)
    what = f"{roles.source} and {roles.target} of {files} are the two ends of edges, {roles.why}{edge_roles.described(roles)}"
    shared = overlap(first.read.ids[roles.source], first.read.ids[roles.target])
    seen = f"; {shared:.0%} of the ids of one are in the other" if first.roles.way in (FIRST, PAIR, NAMED) and shared else ""
    described = (
        f"; {some([n.head.name for n in tables.nodes], 4)} {'describe' if len(tables.nodes) > 1 else 'describes'} the nodes" if tables.nodes else ""
    )
    return f"The dataset is read as a graph: {what}{seen}{described}."
