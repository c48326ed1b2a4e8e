"""Which tables describe the nodes of a graph: those that have the ids of its edges in a column, each once."""

from dataclasses import dataclass

import numpy
import pyarrow
import pyarrow.compute

from trainer.data import names
from trainer.data.columns import choices
from trainer.kinds.graph.reading import columns as columns_of, edge_names, edge_roles, refusals
from trainer.kinds.graph.reading.heads import Head

MATCHES = 0.9  # share of the ids of the edges that a table of nodes has
NEAR = 0.5  # share from which a table is surely meant to describe the nodes
_TRIED = 5  # columns
_LOOKED_AT = 20  # columns
_SEEN = 0.2  # share of the ids in the first rows that edges have: nodes may have no edge


@dataclass(frozen=True)
class NodeFile:
    """A table with a row for each node. ``found`` says which of the ids of each end of the edges it has."""

    head: Head
    id: str
    rows: int
    found: tuple[numpy.ndarray, numpy.ndarray]
    repeated: bool = False  # several rows for each node, one for each of its words


def match(head: Head, ends: tuple[pyarrow.Array, pyarrow.Array], settings) -> NodeFile | None:
    """How a table matches the ids of the two ends of the edges, by the column that has most of them; None where no column has some."""
    known = pyarrow.concat_arrays([e.cast(pyarrow.string()) for e in ends])
    best = None
    named, others = _likely(head, settings)
    for column in (*named, *others):
        if best is not None and column not in named:
            break  # numbers that count the rows are not meant as ids beside a column that is called so
        cells = head.cells(column)
        different = set(cells)
        repeated = len(different) < 0.99 * len(cells)
        if not cells or (repeated and not (2 <= len(head.columns) <= 3 and edge_names.NODE_FILE.search(head.name))):
            continue
        shares = pyarrow.compute.mean(pyarrow.compute.is_in(_plain(list(different)), value_set=known)).as_py()
        if shares < _SEEN and not _is_near(list(different), known):
            continue
        try:
            read = columns_of.read(head, [column], settings=settings)
        except columns_of.NotReadable:
            continue
        ids = read.ids[column]
        if not repeated and len(ids.values) < 0.99 * read.rows:
            continue
        one = NodeFile(head, column, read.rows, (_is_in(ends[0], ids.values), _is_in(ends[1], ids.values)), repeated)
        if best is None or covered(one) > covered(best):
            best = one
    return best


def _is_in(ids: pyarrow.Array, known: pyarrow.Array) -> numpy.ndarray:
    return numpy.asarray(pyarrow.compute.is_in(ids.cast(pyarrow.string()), value_set=known.cast(pyarrow.string())))


def _likely(head: Head, settings) -> tuple[list[str], list[str]]:
    """The columns that may have the ids: those that are called so, and others."""
    if settings.id_column.strip() and any(c.lower() == settings.id_column.strip().lower() for c in head.columns):
        return [choices.resolve(settings.id_column, dict.fromkeys(head.columns), "id_column", head.name)], []
    usable = [c for c in head.columns[:_LOOKED_AT] if edge_roles.are_ids(head.cells(c), 6)]
    named = [c for c in usable if names.is_identifier(c) or "node" in c.lower()]
    return named[:_TRIED], [c for c in usable if c not in named][:_TRIED]


def _plain(cells: list[str]) -> pyarrow.Array:
    return columns_of.of_texts(pyarrow.array(cells, pyarrow.string())).values.cast(pyarrow.string())


def covered(file: NodeFile) -> float:
    """The share of the ids of all edges that the table has, by the end of which it has more."""
    whole = numpy.concatenate(file.found)
    return max(float(whole.mean()) if len(whole) else 0.0, *(float(f.mean()) if len(f) else 0.0 for f in file.found))


def covered_by_all(files: list[NodeFile]) -> float:
    """The share of the ids of both ends that the tables have together."""
    ends = [numpy.logical_or.reduce([f.found[end] for f in files]) for end in (0, 1)]
    return float(numpy.concatenate(ends).mean())


def _normal(text: str) -> str:
    return text.strip().lower().removesuffix(".0").lstrip("0")


def _is_near(cells: list[str], known: pyarrow.Array) -> bool:
    """Whether the ids of the edges would be there, were leading zeros and capitals written in the same way."""
    others = {_normal(k) for k in known.to_pylist()} if len(known) < 1_000_000 else set()
    return sum(_normal(c) in others for c in cells) >= NEAR * len(cells)


def check_unknown(files: list[NodeFile], ends: tuple[pyarrow.Array, pyarrow.Array], where: str, settings) -> None:
    """Raise UserError where more than a tenth of the ids of the edges are in no table of nodes."""
    share = covered_by_all(files)
    if share >= MATCHES:
        return
    missing = [e.filter(pyarrow.array(~numpy.logical_or.reduce([f.found[i] for f in files]))) for i, e in enumerate(ends)]
    example = next(m[0].as_py() for m in missing if len(m))
    first = files[0]
    there = columns_of.read(first.head, [first.id], settings=settings).ids[first.id].values
    near = next((t for t in there.slice(0, 1_000_000).to_pylist() if t != example and _normal(t) == _normal(example)), "")
    raise refusals.unknown_nodes(where, first.head.name, 1 - share, example, near)
