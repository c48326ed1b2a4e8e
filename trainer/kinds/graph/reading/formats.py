"""Files that hold a whole graph: which of them a dataset has, and how they are read."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from trainer.core.input import Input
from trainer.data import names
from trainer.data.checks import Checks
from trainer.data.sources import Sources
from trainer.errors import UserError
from trainer.kinds.graph.reading import arrays, documents, markup, ogb, refusals
from trainer.kinds.graph.reading.raw import Raw

_PICKLED = re.compile(r"(^|/)ind\.\w+\.(x|y|tx|ty|allx|ally|graph|test\.index)$|\.g?pickle$|\.pkl$|\.p$|\.pt$|\.pth$", re.IGNORECASE)
_TRIPLES = re.compile(rb"\s*(#[^\n]*\n\s*)*(<[^>\n]*>|_:\S+)\s+<[^>\n]*>\s+\S.*\.\s")


@dataclass(frozen=True)
class GraphFile:
    """A graph in a format of its own: ``title`` names the format after "is", ``read`` reads it."""

    source: Input
    title: str
    read: Callable[..., Raw]

    @property
    def name(self) -> str:
        return self.source.name


_BY_ENDING: dict[str, tuple[str, Callable[..., Raw]]] = {
    "graphml": ("a GraphML file", markup.graphml),
    "gexf": ("a GEXF file", markup.gexf),
    "gml": ("a GML file", markup.gml),
    "net": ("a Pajek file", markup.pajek),
    "mtx": ("a Matrix Market file", arrays.matrix_market),
    "npz": ("an npz file", arrays.npz),
}


def find(sources: Sources, settings, wanted: str) -> GraphFile | None:
    """The file that holds the graph, if there is one. Raises UserError where several do, and for triples of RDF."""
    found = [f for s in (*sources.graphs, *sources.tables) if (not wanted or _is_called(s, wanted)) and (f := _graph_file(s, settings))]
    if (whole := ogb.find(sources)) is not None and not found:
        return GraphFile(whole.edges, "the edge list of OGB's raw layout", whole.read)
    if len(found) > 1:
        raise refusals.ambiguous_files([f.name for f in found])
    return found[0] if found else None


def _is_called(source: Input, wanted: str) -> bool:
    return wanted in (source.id, source.name) or source.name.rsplit("/", 1)[-1] == wanted


def _graph_file(source: Input, settings) -> GraphFile | None:
    kind = names.extension(source.name)
    if kind in ("nt", "nq", "ttl", "rdf"):
        raise refusals.knowledge(source.name, "each line", ["RDF"])
    if kind == "npz" and not arrays.is_graph(source):
        return None
    if kind == "net" and not markup.is_pajek(source):
        return None
    if kind in _BY_ENDING:
        return GraphFile(source, *_BY_ENDING[kind])
    if kind == "json" and documents.may_be(source):
        return GraphFile(source, "a JSON file of nodes and links", documents.node_link)
    if kind == "txt" and _head(source).startswith(b"%%MatrixMarket"):
        return GraphFile(source, *_BY_ENDING["mtx"])
    if kind in ("xml",) and b"<graphml" in _head(source):
        return GraphFile(source, *_BY_ENDING["graphml"])
    if kind in ("txt", "tsv") and _TRIPLES.match(_head(source)):
        raise refusals.knowledge(source.name, "each line", ["RDF"])
    return None


def _head(source: Input) -> bytes:
    try:
        with open(source.file, "rb") as f:
            return f.read(4096)
    except OSError:
        return b""


def read(file: GraphFile, settings, checks: Checks, work: Path) -> Raw:
    """The graph in a file. Raises UserError where it is damaged, unsafe, or too large."""
    try:
        return file.read(file.source, settings, checks, work)
    except OSError as e:
        raise UserError(
            "unreadable_file", f"The file {file.name} cannot be read.", "Check that it can be opened in the dataset.", e.strerror or ""
        ) from e


def is_pickled(name: str) -> bool:
    """Whether a file of this name holds a graph as pickled objects."""
    return _PICKLED.search(name) is not None
