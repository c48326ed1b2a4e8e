"""What the files of a dataset ask a model of a graph, and what they tell of new nodes."""

from dataclasses import dataclass, field

import numpy
import pyarrow

from trainer.core.input import Input
from trainer.data import names
from trainer.data.formats.decode import NotText, decode
from trainer.errors import UserError, some
from trainer.kinds.graph.delivery.stored import Stored
from trainer.kinds.graph.graph import LINKS
from trainer.kinds.graph.reading import columns, edge_names, heads
from trainer.kinds.graph.reading.columns import NotReadable
from trainer.kinds.graph.reading.heads import Head

KNOWN = 0.5  # share of the cells of a column that are ids of the trained graph, from which it surely holds ids
_UNLIKE = 0.99  # share of the cells of a column of ids that occur once
_LABELS = ("edge", "is_edge", "label", "link", "linked", "exists")  # columns that say which pairs are edges
_EDGE, _NO_EDGE = ("yes", "true", "1", "1.0", "edge"), ("no", "false", "0", "0.0", "no edge")
_NODE_NAMES = ("id", "node", "node_id", "nodeid", "name", "key")


@dataclass(frozen=True)
class Pairs:
    """The rows of a table with two ids."""

    head: Head
    ends: tuple[str, str]
    source: list[str]
    target: list[str]
    rows: numpy.ndarray  # numbers as people count, 0 where a row before could not be read
    label: str = ""  # the column that says which pairs are edges
    edges: numpy.ndarray | None = None  # what it says (int8): 1 for an edge, 0 for none, -1 where the cell is empty


@dataclass(frozen=True)
class Nodes:
    """The rows of a table with a node in each. ``cells`` are the columns beside the id, as texts."""

    head: Head
    id: str
    ids: list[str]
    rows: numpy.ndarray
    cells: dict[str, pyarrow.Array] = field(default_factory=dict)


@dataclass(frozen=True)
class Questions:
    """``asked`` is pairs, links or nodes. ``edges`` are those of new nodes; ``nodes`` describe nodes, new ones among them."""

    asked: str
    pairs: list[Pairs]
    nodes: list[Nodes]
    edges: list[Pairs]
    skipped: int

    @property
    def files(self) -> list[str]:
        parts: list[Pairs | Nodes] = [*self.pairs, *self.nodes, *self.edges]
        return sorted({part.head.name for part in parts}, key=names.natural)


def read(tables: list[Input], settings, described: dict, known: Stored, events) -> Questions:
    """The questions in ``tables``. ``described`` is the description of the model. Raises UserError where no table asks anything."""
    pairs, nodes, skipped = [], [], 0
    settings = _Settings(settings)
    for source in tables:
        head = heads.look(source, settings) or _one_column(source, settings, known)
        if head is None:
            continue
        ends = _ends(head, settings, described, known)
        try:
            if ends is not None:
                label = _label(head, ends, settings)
                found = columns.read(head, list(ends), (label,) if label else (), settings)
                said = _said(found.cells[label]) if label else None
                label = label if said is not None else ""
                pairs.append(Pairs(head, ends, _texts(found.ids[ends[0]]), _texts(found.ids[ends[1]]), _rows(head, found), label, said))
            elif key := _key(head, settings, described, known):
                others = tuple(c for c in head.columns if c != key)
                found = columns.read(head, [key], others, settings)
                nodes.append(Nodes(head, key, _texts(found.ids[key]), _rows(head, found), found.cells))
            else:
                continue
        except NotReadable as e:
            raise UserError("unreadable_file", f"The file {head.name} {e}.", "Correct the file, or set data_file to another one.") from e
        skipped += found.bad
    return _sorted(pairs, nodes, skipped, settings, described, events)


def _one_column(source: Input, settings, known: Stored) -> Head | None:
    """The head of a file with an id in each line; None for another file."""
    try:
        with open(source.file, "rb") as f:
            lines = decode(f.read(heads.HEAD_BYTES), settings.encoding)[0].splitlines()
    except (NotText, OSError):
        return None
    cells = [line.strip() for line in lines[: heads.SAMPLE + 1] if line.strip()]
    if not cells:
        return None
    first = cells[0].lower()
    header = (first in _NODE_NAMES or first == settings.id_column.strip().lower()) and not (known.numbers(cells[:1]) >= 0).any()
    skip = next(i for i, line in enumerate(lines) if line.strip()) + header
    return Head(source, (cells[0] if header else "id",), [[c] for c in cells[header:]], "\t", True, skip, header)


class _Settings:
    """The settings of a prediction, in which the other options that describe a graph are empty."""

    def __init__(self, settings):
        self._settings = settings

    def __getattr__(self, name: str):
        return getattr(self._settings, name, "")


def _sorted(pairs: list[Pairs], nodes: list[Nodes], skipped: int, settings, described: dict, events) -> Questions:
    """Which pairs are asked about and which are edges of new nodes."""
    wanted = settings.edges_file.strip()
    edges = [p for p in pairs if wanted and wanted in (p.head.source.id, p.head.name)]
    if wanted and not edges:
        raise UserError(
            "unknown_file", f"The file {wanted} is no table of edges.", "Set edges_file to a table with two columns of ids, or leave it empty."
        )
    others = [p for p in pairs if p not in edges]
    if not wanted and nodes and others:
        text = f"{some([p.head.name for p in others], 3)} has the edges of the nodes in {some([n.head.name for n in nodes], 3)}."
        events.decision("edges_file", others[0].head.name, text + " To ask whether pairs are edges, leave the table of nodes out, or set edges_file.")
        edges, others = others, []
    if others and described["task"] == LINKS:
        return Questions("pairs", others, nodes, edges, skipped)
    if nodes:
        return Questions("links" if described["task"] == LINKS else "nodes", [], nodes, edges + others, skipped)
    wants = "two ids, or one id" if described["task"] == LINKS else "the id of a node"
    raise UserError(
        "no_data", f"No table of the dataset can be answered: the model needs {wants} in each row.",
        "Add a table with ids as in the training data. Name the columns in source_column and target_column, or in id_column.",
    )  # fmt: skip


def _ends(head: Head, settings, described: dict, known: Stored) -> tuple[str, str] | None:
    """The columns of the two ids of a table of pairs; None for another table."""
    there = {c.strip().lower(): c for c in head.columns}
    trained = described["graph"].get("ends") or ("", "")
    for ends in ((settings.source_column, settings.target_column), trained):
        one, other = (str(e).strip().lower() for e in ends)
        if one and other and one in there and other in there and one != other:
            return there[one], there[other]
    if settings.id_column.strip().lower() in there:
        return None
    if (places := edge_names.pair(list(there))) is not None:
        return head.columns[places[0]], head.columns[places[1]]
    first = [c for c in head.columns[:2] if c not in _read_columns(described)]
    alone = len(head.columns) == 2 and not head.has_header
    if len(first) == 2 and (alone or min(_share(head, c, known) for c in first) >= KNOWN):
        return first[0], first[1]
    return None


def _label(head: Head, ends: tuple[str, str], settings) -> str:
    """The column that says which pairs are edges; empty where there is none."""
    asked = settings.label_column.strip().lower()
    for column in head.columns:
        name = column.strip().lower()
        if column not in ends and (name == asked or (not asked and name in _LABELS)) and _said(pyarrow.array(head.cells(column))) is not None:
            return column
    return ""


def _said(cells: pyarrow.Array) -> numpy.ndarray | None:
    """What the cells say of pairs: 1 for an edge, 0 for none, -1 where a cell is empty; None where they say something else."""
    coded = cells.dictionary_encode()
    texts = [t.strip().lower() for t in coded.dictionary.to_pylist()]
    if not any(texts) or not all(t in _EDGE or t in _NO_EDGE or not t for t in texts):
        return None
    codes = numpy.array([1 if t in _EDGE else 0 if t in _NO_EDGE else -1 for t in texts], numpy.int8)
    return codes[numpy.asarray(coded.indices)]


def _key(head: Head, settings, described: dict, known: Stored) -> str:
    """The column of the ids of a table of nodes; empty for another table."""
    there = {c.strip().lower(): c for c in head.columns}
    for name in (settings.id_column.strip().lower(), str(described["graph"].get("id_column") or "").lower()):
        if name and name in there:
            return there[name]
    reads = _read_columns(described)
    others = [
        c for c in head.columns if c not in reads and c != described["label_column"] and len(set(head.cells(c))) >= _UNLIKE * len(head.cells(c))
    ]
    shares = {c: _share(head, c, known) for c in others}
    best = max(others, key=lambda c: shares[c], default="")
    named = next((c for n in _NODE_NAMES for c in others if c.strip().lower() == n), "")
    if best and shares[best] >= KNOWN:
        return best
    about_nodes = bool(reads & set(head.columns)) or len(head.columns) == 1
    return (
        named if named and (about_nodes or shares[named] > 0) else others[0] if others and about_nodes else best if best and shares[best] > 0 else ""
    )


def _read_columns(described: dict) -> set[str]:
    """The columns that the features of a node are made of."""
    parts = described["graph"]["encoder"].get("parts") or []
    found = {p["column"] for p in parts if "column" in p} | {c for p in parts for c in p.get("columns", ())}
    return found | {c for p in parts if p.get("kind") == "flags" for c in p["vocabulary"]}


def _share(head: Head, column: str, known: Stored) -> float:
    """The share of the first cells of a column that are ids of the trained graph."""
    cells = sorted(set(head.cells(column)))
    return float((known.numbers(cells) >= 0).mean()) if cells else 0.0


def _texts(ids: columns.Ids) -> list[str]:
    return ids.values.cast(pyarrow.string()).take(pyarrow.array(ids.codes)).to_pylist()


def _rows(head: Head, found: columns.Columns) -> numpy.ndarray:
    """The number of each row as people count; 0 where rows were left out, so that nobody knows."""
    if found.bad:
        return numpy.zeros(found.rows, numpy.int64)
    return numpy.arange(found.rows) + head.skip + 1
