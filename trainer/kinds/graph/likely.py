"""Whether a dataset looks like a graph before it is read: good enough to choose what the workers import in advance."""

import re
from collections.abc import Iterable

from trainer.core.input import Input
from trainer.data import names
from trainer.kinds.graph.reading import edge_names

_FILES, _BYTES = 8, 4096  # of the largest tables, and of the beginning of each
_COLUMNS = 6
_TEXTS = ("csv", "tsv", "tab", "txt")
_DELIMITER = re.compile(r"[,;|\t]")
_NUMBERS = re.compile(r"\d+[\s,;]+\d+([\s,;]+[\d.]+)*")


def is_graph(inputs: Iterable[Input]) -> bool:
    """Whether one of the files has the ending of a graph, or begins with the header or the comments of a list of edges."""
    files = [i for i in inputs if not names.is_hidden(i.name)]
    if any(names.extension(i.name) in names.GRAPHS for i in files):
        return True
    tables = sorted((i for i in files if names.extension(i.name) in (*_TEXTS, names.PARQUET)), key=lambda i: -i.size)[:_FILES]
    return any(_has_edges(i) if names.extension(i.name) == names.PARQUET else _lists_edges(i) for i in tables)


def _has_edges(source: Input) -> bool:
    """Whether the columns of a Parquet file are called as the ends of edges."""
    import pyarrow
    import pyarrow.parquet

    try:
        columns = pyarrow.parquet.read_schema(source.file).names
    except (pyarrow.ArrowException, OSError):
        return False
    return 2 <= len(columns) <= _COLUMNS and edge_names.pair([c.strip().lower() for c in columns]) is not None


def _lists_edges(source: Input) -> bool:
    try:
        with open(source.file, "rb") as file:
            lines = file.read(_BYTES).decode("utf-8-sig", errors="replace").splitlines()
    except OSError:
        return False
    first = next((line for line in lines if line[:1] not in ("#", "%")), "").strip()
    if lines and lines[0][:1] in ("#", "%"):
        return _NUMBERS.fullmatch(first) is not None
    columns = [c.strip().strip('"').lower() for c in _DELIMITER.split(first)]
    return 2 <= len(columns) <= _COLUMNS and edge_names.pair(columns) is not None
