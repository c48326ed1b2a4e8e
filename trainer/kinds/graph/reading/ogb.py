"""The raw layout of the Open Graph Benchmark: tables without headers or ids, whose rows are the nodes and edges in order."""

from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy
import pyarrow

from trainer.core.input import Input
from trainer.data.checks import Checks
from trainer.data.sources import Sources
from trainer.errors import UserError
from trainer.kinds.graph.large_arrays import allocate
from trainer.kinds.graph.reading import columns as columns_of, heads
from trainer.kinds.graph.reading.columns import NotReadable
from trainer.kinds.graph.reading.heads import Head
from trainer.kinds.graph.reading.raw import Nodes, Raw

_MARKS = ("num-node-list.csv", "num-edge-list.csv")


@dataclass(frozen=True)
class Layout:
    """The files of a folder by their names without the folder and without .gz."""

    edges: Input
    files: dict[str, Input] = field(default_factory=dict)

    def read(self, source: Input, settings, checks: Checks, work: Path) -> Raw:
        return _read(self, settings, work)


def find(sources: Sources) -> Layout | None:
    """The layout, where edge.csv stands beside the files that say how many nodes and edges there are."""
    plain = {s.name.removesuffix(".gz"): s for s in sources.tables}
    for name, source in plain.items():
        folder, _, base = name.rpartition("/")
        beside = {n.rsplit("/", 1)[-1]: s for n, s in plain.items() if n.rpartition("/")[0] == folder}
        if base == "edge.csv" and any(m in beside for m in _MARKS):
            return Layout(source, beside)
    return None


def _read(layout: Layout, settings, work: Path) -> Raw:
    size = _size(layout, settings)
    ends = _head(layout.edges, settings)
    read = columns_of.read(ends, list(ends.columns[:2]), settings=settings)
    source, target = (read.ids[c] for c in ends.columns[:2])
    nodes = Nodes(layout.edges.name, pyarrow.array(numpy.arange(size)).cast(pyarrow.string()))
    found = Raw((layout.edges.name,), source, target, ("source", "target"), bad=read.bad, nodes=[nodes])
    found.directed, found.direction = True, "the edges of this layout are directed unless both directions are there"
    if "node-feat.csv" in layout.files:
        nodes.dense = _dense(_head(layout.files["node-feat.csv"], settings), size, settings, work)
        nodes.numbers = tuple(f"feature {i}" for i in range(nodes.dense.shape[1]))
    if "node-label.csv" in layout.files:
        nodes.cells["label"] = _column(layout.files["node-label.csv"], size, settings)
    if "edge_weight.csv" in layout.files:
        found.weight = columns_of.numbers(_column(layout.files["edge_weight.csv"], len(source.codes), settings))
    if "edge_year.csv" in layout.files:
        found.time, found.time_column = columns_of.numbers(_column(layout.files["edge_year.csv"], len(source.codes), settings)), "edge_year"
    elif "node_year.csv" in layout.files:
        years = columns_of.numbers(_column(layout.files["node_year.csv"], size, settings))
        numbers = source.numbers if source.numbers is not None else numpy.zeros(len(source.values), int)
        found.time, found.time_column = years[numpy.minimum(numbers, size - 1)][source.codes], "the year of the source in node_year"
    return found


def _size(layout: Layout, settings) -> int:
    """The number of nodes, as the layout states it."""
    if "num-node-list.csv" in layout.files:
        text = layout.files["num-node-list.csv"].file.read_bytes()[:64].split()
        if len(text) == 1 and text[0].isdigit() and int(text[0]) < 2**31:
            return int(text[0])
        raise UserError(
            "unreadable_graph", "num-node-list.csv does not hold one number.", "A dataset may have one graph only: keep the files of one."
        )
    head = _head(layout.edges, settings)
    read = columns_of.read(head, list(head.columns[:2]), settings=settings)
    return 1 + max(int(i.numbers.max()) for i in read.ids.values())


def _head(source: Input, settings) -> Head:
    found = heads.look(source, settings)
    if found is None:
        text = source.file.open("rb").readline(1 << 16).strip().decode("ascii", "replace")
        found = Head(source, ("column 1",), [[text]], has_header=False)
    if found.has_header:
        rows = [list(found.columns), *found.rows]
        found = replace(found, columns=tuple(f"column {i}" for i in range(1, len(rows[0]) + 1)), rows=rows, skip=found.skip - 1, has_header=False)
    return found


def _column(source: Input, rows: int, settings) -> pyarrow.Array:
    head = _head(source, settings)
    parts = [b[head.columns[0]] for b, _ in columns_of.batches(head, [head.columns[0]], settings)]
    whole = pyarrow.concat_arrays([p.cast(pyarrow.large_string()) for p in parts])
    _check_rows(source, len(whole), rows)
    return whole


def _dense(head: Head, rows: int, settings, work: Path) -> numpy.ndarray:
    whole = allocate((rows, len(head.columns)), work)
    place = 0
    try:
        for batch, _ in columns_of.batches(head, list(head.columns), settings, dict.fromkeys(head.columns, pyarrow.float32())):
            part = numpy.stack([numpy.asarray(c.fill_null(numpy.nan)) for c in batch.values()], axis=1)
            _check_rows(head.source, max(rows, place + len(part)), rows)
            whole[place : place + len(part)] = part
            place += len(part)
    except NotReadable as e:
        raise UserError("unreadable_file", f"The file {head.name} has features that are no numbers.", "Correct the file, or remove it.") from e
    _check_rows(head.source, place, rows)
    return whole


def _check_rows(source: Input, found: int, rows: int) -> None:
    if found != rows:
        raise UserError(
            "unknown_nodes", f"The file {source.name} has {found} rows, but {rows} are needed: one for each node or edge.",
            "Add the missing rows, or remove the file.",
        )  # fmt: skip
