"""Graphs in GraphML, GEXF, GML and Pajek, read with networkx. XML that defines entities is refused before it is read."""

import io
import xml.parsers.expat

import numpy
import pyarrow

from trainer.core.input import Input
from trainer.data.formats import tables
from trainer.data.formats.decode import NotText, decode
from trainer.data.formats.objects import cell
from trainer.kinds.graph.reading import columns as columns_of, edge_names, refusals, times
from trainer.kinds.graph.reading.edge_roles import NONE
from trainer.kinds.graph.reading.raw import Nodes, Raw

MAX_EDGES = 1_000_000  # each is several Python objects
MAX_ATTRIBUTES = 2000
_FIRST = 1000  # edges whose attributes are looked at


def graphml(source: Input, settings, checks, work) -> Raw:
    return _xml(source, "GraphML", b"<edge", settings)


def gexf(source: Input, settings, checks, work) -> Raw:
    return _xml(source, "GEXF", b"<edge", settings)


def gml(source: Input, settings, checks, work) -> Raw:
    import networkx

    text = _text(source, "GML", settings)
    _check_size(source, "GML", text.count("edge"))
    lines = [line for line in text.split("\n") if not line.lstrip().startswith("#")]
    return _raw(source, "GML", settings, lambda: networkx.parse_gml(lines, label="id"))


def pajek(source: Input, settings, checks, work) -> Raw:
    import networkx

    text = _text(source, "Pajek", settings)
    _check_size(source, "Pajek", text.count("\n"))
    return _raw(source, "Pajek", settings, lambda: networkx.parse_pajek(text))


def is_pajek(source: Input) -> bool:
    """Whether the first line begins a section, as in *Vertices 10."""
    try:
        with open(source.file, "rb") as f:
            return f.read(512).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"*")
    except OSError:
        return False


def _text(source: Input, kind: str, settings) -> str:
    try:
        return decode(tables.content(source), settings.encoding)[0]
    except NotText as e:
        raise refusals.unreadable(source.name, kind, str(e)) from e


def _check_size(source: Input, kind: str, edges: int) -> None:
    if edges > MAX_EDGES:
        raise refusals.too_large(source.name, edges, MAX_EDGES, kind)


def _xml(source: Input, kind: str, mark: bytes, settings) -> Raw:
    import networkx

    data = tables.content(source)
    _check_size(source, kind, max(data.count(mark), data.count(mark.decode().encode("utf-16-le"))))
    check_xml(source.name, kind, data)
    reader = networkx.read_graphml if kind == "GraphML" else networkx.read_gexf
    return _raw(source, kind, settings, lambda: reader(io.BytesIO(data)))


def check_xml(name: str, kind: str, data: bytes) -> None:
    """Raise UserError for XML that has a document type, and so perhaps entities that expand without end, and for what is no XML.

    expat stops at the document type: nothing of it is expanded, whatever the encoding.
    """
    parser = xml.parsers.expat.ParserCreate()

    def refuse(*_):
        raise refusals.unsafe_xml(name)

    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = parser.ExternalEntityRefHandler = refuse
    try:
        parser.Parse(data, True)
    except xml.parsers.expat.ExpatError as e:
        raise refusals.unreadable(name, kind, f"is not well formed ({e})") from e


def _raw(source: Input, kind: str, settings, read) -> Raw:
    """The graph that networkx reads. Its errors are of many kinds, because the file comes from outside."""
    try:
        graph = read()
    except (MemoryError, RecursionError) as e:
        raise refusals.unreadable(source.name, kind, "is nested too deeply or too large") from e
    except Exception as e:
        raise refusals.unreadable(source.name, kind, f"is damaged ({type(e).__name__}: {e})"[:200]) from e
    nodes = list(graph.nodes(data=True))
    edges = list(graph.edges(data=True))
    return from_objects(source.name, [(str(n), a) for n, a in nodes], [(str(u), str(v), a) for u, v, a in edges], graph.is_directed(), kind, settings)


def from_objects(name: str, nodes: list[tuple[str, dict]], edges: list[tuple[str, str, dict]], directed: bool, kind: str, settings) -> Raw:
    """A graph of nodes and edges with attributes as Python has them. Raises UserError for a column of times that is not there."""
    ids = columns_of.of_texts(pyarrow.array([n for n, _ in nodes], pyarrow.string()))
    source, target = (columns_of.of_texts(pyarrow.array([e[i] for e in edges], pyarrow.string())) for i in (0, 1))
    attributes = [a for *_, a in edges]
    weight = _column(attributes, edge_names.WEIGHTS)
    found = Raw((name,), source, target, ("source", "target"), weight)
    found.time, found.time_column = _times(attributes, settings.time_column.strip())
    times.check(settings, found.time, name, dict.fromkeys(k for a in attributes[:_FIRST] for k in a))
    found.directed, found.direction = directed, f"the {kind} file says so"
    found.nodes = [_nodes(name, ids, [a for _, a in nodes])] if nodes else []
    return found


def _column(attributes: list[dict], usual: frozenset[str]) -> numpy.ndarray | None:
    """The first attribute of the edges with such a name that holds numbers."""
    keys = dict.fromkeys(k for a in attributes[:_FIRST] for k in a)
    for key in (k for k in keys if str(k).lower() in usual):
        values = columns_of.numbers(pyarrow.array([cell(a.get(key)) for a in attributes], pyarrow.string()))
        if not numpy.isnan(values).all():
            return values
    return None


def _times(attributes: list[dict], wanted: str) -> tuple[numpy.ndarray | None, str]:
    """The times of the edges and the attribute that has them: ``wanted``, else the first one with a usual name."""
    if wanted.lower() == NONE:
        return None, ""
    usual = {wanted.lower()} if wanted else edge_names.TIMES
    for key in dict.fromkeys(k for a in attributes[:_FIRST] for k in a if str(k).lower() in usual):
        values = times.of(pyarrow.array([cell(a.get(key)) for a in attributes], pyarrow.string()))
        if not numpy.isnan(values).all():
            return values, str(key)
    return None, ""


def _nodes(name: str, ids: columns_of.Ids, attributes: list[dict]) -> Nodes:
    """A table of nodes of their attributes; positions and colours of a drawing say nothing of a node."""
    drawn = frozenset(("viz", "x", "y", "size", "color", "colour", "r", "g", "b", "shape", "graphics", "id"))
    keys = [k for k in dict.fromkeys(k for a in attributes for k in a) if str(k).lower() not in drawn][:MAX_ATTRIBUTES]
    first = numpy.unique(ids.codes, return_index=True)[1]
    cells = {str(k): pyarrow.array([cell(attributes[i].get(k)).strip() for i in first], pyarrow.large_string()) for k in keys}
    if "label" in cells and "name" not in cells and len(set(cells["label"].to_pylist())) > 0.9 * len(first):
        cells["name"] = cells.pop("label")  # GML and GEXF call the name of a node its label
    found = Nodes(name, ids.values.cast(pyarrow.string()), cells)
    _number_columns(found)
    return found


def _number_columns(table: Nodes) -> None:
    """Move the columns of numbers from the texts to the array, but for labels."""
    from trainer.data import names
    from trainer.kinds.graph.reading.nodes import LABEL_ENDINGS

    found = {}
    for name, cells in list(table.cells.items()):
        low = name.strip().lower()
        if low in names.LABELS or low.endswith(LABEL_ENDINGS) or low in names.SPLIT_COLUMNS:
            continue
        values = columns_of.numbers(cells)
        filled = numpy.array([bool(c) for c in cells.to_pylist()])
        if filled.any() and not numpy.isnan(values[filled]).any():
            found[name] = values.astype(numpy.float32)
            table.cells.pop(name)
    if found:
        table.numbers, table.dense = tuple(found), numpy.stack(list(found.values()), axis=1)
