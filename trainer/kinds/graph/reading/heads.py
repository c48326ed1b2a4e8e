"""The beginning of a table: its columns, how they are separated, and some rows. Enough to tell whether a file may hold edges or nodes."""

import csv
import json
import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from itertools import islice

from trainer.core.input import Input
from trainer.data import names
from trainer.data.formats import delimited, dialect as dialects, tables
from trainer.data.formats.decode import NotText, decode
from trainer.data.formats.objects import cell
from trainer.errors import UserError
from trainer.kinds.graph.reading import edge_names

HEAD_BYTES = 1 << 20
SAMPLE = 300  # rows
_READ_BYTES = 1 << 16  # of a column of a Parquet file at once: else the first of its row groups is read as a whole
MAX_FILES = 40  # of a dataset that are looked at: one of thousands of texts is no graph
BLANKS = ""  # as the delimiter: any number of blanks or tabs
_COMMENT = re.compile(r"[ \t]*([#%])")
_BETWEEN = re.compile(r"[\s,\]]*")
_NO_EDGES = (*names.WORKBOOKS, *names.ARRAYS, "dbf", "geojson")
_JSON = ("json", "jsonl", "ndjson")
_MAX_BLANK_COLUMNS = 6  # beyond, a text with blanks is prose


@dataclass(frozen=True)
class Head:
    """``columns`` are called "column 1" and so on where the file does not name them. ``rows`` are the first ones, with a cell for each column."""

    source: Input
    columns: tuple[str, ...]
    rows: list[list[str]]
    delimiter: str = ","
    quoted: bool = True
    skip: int = 0  # lines before the first row
    has_header: bool = True
    comments: tuple[str, ...] = ()  # lines at the beginning, without their mark
    encoding: str = "utf-8"

    @property
    def name(self) -> str:
        return self.source.name

    @property
    def kind(self) -> str:
        """How the file is read: parquet, json, or delimited."""
        extension = names.extension(self.name)
        return "json" if extension in _JSON else extension if extension == names.PARQUET else "delimited"

    def cells(self, column: str) -> list[str]:
        """The cells of a column in the sample that are not empty."""
        i = self.columns.index(column)
        return [c for row in self.rows if (c := row[i].strip())]


def look(source: Input, settings, only: Collection[str] = ()) -> Head | None:
    """The head of a file; None where it is no table. Of Parquet files the columns in ``only`` are read, in lower case, if any is named."""
    try:
        kind = names.extension(source.name)
        if kind == names.PARQUET:
            return _parquet(source, only)
        if kind in _NO_EDGES:
            return None
        with open(source.file, "rb") as f:
            data = f.read(HEAD_BYTES)
        cut = data.rfind(b"\n")
        complete = len(data) < HEAD_BYTES
        text, encoding = decode(data if complete or cut < 0 else data[: cut + 1], settings.encoding)
    except (NotText, OSError):
        return None
    if kind in _JSON:
        return _objects(source, text)
    try:
        found = _delimited(source, text, settings)
    except csv.Error:
        return None
    return found and replace(found, encoding=settings.encoding or _codec(encoding))


def _codec(name: str) -> str:
    """The codec for the whole file; cp1252 where bytes of it stand among UTF-8."""
    return {"UTF-8": "utf-8", "UTF-8 with a byte order mark": "utf-8-sig", "UTF-16": "utf-16", "UTF-32": "utf-32"}.get(name, "cp1252")


def _delimited(source: Input, text: str, settings) -> Head | None:
    lines = text.splitlines()
    comments: list[str] = []
    while len(comments) < len(lines) and _is_comment(lines, len(comments)):
        comments.append(lines[len(comments)])
    body = "\n".join(lines[len(comments) :])
    if not body.strip():
        return None
    dialect = _dialect(body, names.extension(source.name), settings)
    if dialect is None:
        return None
    delimiter, quoted, width = dialect
    rows = [r for r in islice(_rows(body, delimiter, quoted), SAMPLE + 1) if any(c.strip() for c in r)]
    good = [r for r in rows if len(r) == width]
    if len(good) < 0.9 * len(rows) or not good:
        return None
    header = _has_header(good, settings)
    columns = _named(good[0] if header else [""] * width)
    said = _header_in_comment(comments, width) if not header else None
    first = next(i for i, line in enumerate(lines[len(comments) :]) if line.strip())
    told = tuple(c.strip().lstrip("#%").strip() for c in comments)
    return Head(
        source, said or columns, good[header:], delimiter, quoted, len(comments) + first + header, header or said is not None, told
    )  # fmt: skip


def _is_comment(lines: list[str], i: int) -> bool:
    return not lines[i].strip() or (_COMMENT.match(lines[i]) is not None and not lines[i].lstrip().startswith("%%MatrixMarket"))


def _dialect(body: str, extension: str, settings) -> tuple[str, bool, int] | None:
    """The delimiter, whether quotation marks quote, and the number of columns."""
    try:
        wanted = delimited.delimiter_of(settings.delimiter)
    except UserError:
        wanted = ""
    found = dialects.find(body, extension, wanted if wanted != " " else "")
    if found is not None and found.columns > 1:
        return found.delimiter, found.quoted, found.columns
    lengths = [len(line.split()) for line in body.split("\n")[:SAMPLE] if line.strip()]
    width = max(set(lengths), key=lengths.count, default=0)
    if 2 <= width <= _MAX_BLANK_COLUMNS and lengths.count(width) >= 0.95 * len(lengths):
        return BLANKS, False, width
    return None


def _rows(body: str, delimiter: str, quoted: bool):
    if delimiter == BLANKS:
        return (line.split() for line in body.split("\n"))
    return dialects.rows(body, delimiter, quoted)


def _has_header(rows: list[list[str]], settings) -> bool:
    """Names of ends of edges are a header whatever the cells below are, and so are those that the settings name."""
    first = [c.strip().lower() for c in rows[0]]
    asked = (settings.source_column, settings.target_column, settings.id_column, settings.label_column, settings.time_column)
    wanted = {w.strip().lower() for w in asked if w.strip()}
    if edge_names.pair(first) or wanted & set(first):
        return True
    return dialects.header(rows[0], rows[1:], wanted)[0] if len(rows) > 1 else False


def _header_in_comment(comments: list[str], width: int) -> tuple[str, ...] | None:
    """The names that the last comment has for the columns, as SNAP writes it: "# FromNodeId  ToNodeId"."""
    words = comments[-1].strip().lstrip("#%").split() if comments else []
    return _named(words) if len(words) == width and edge_names.pair([w.lower() for w in words]) else None


def _named(cells) -> tuple[str, ...]:
    return tuple(tables.unique([c.strip() or f"column {i}" for i, c in enumerate(cells, 1)]))


def _objects(source: Input, text: str) -> Head | None:
    """The head of JSON lines, or of a list of objects."""
    rows: list = []
    place, decoder = len(text) - len(text.lstrip("[ \t\r\n")), json.JSONDecoder()
    while place < len(text) and len(rows) < SAMPLE:
        try:
            value, place = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            break
        rows.append(value)
        place = _BETWEEN.match(text, place).end()
    if not rows or not all(isinstance(r, dict) for r in rows) or (len(rows) == 1 and place >= len(text.rstrip()) and text.lstrip()[0] == "{"):
        return None
    columns = tuple(dict.fromkeys(k for r in rows for k in r))
    return Head(source, columns, [[cell(r.get(c)) for c in columns] for r in rows]) if columns else None


def _parquet(source: Input, only: Collection[str]) -> Head | None:
    import pyarrow
    import pyarrow.parquet

    try:
        with pyarrow.parquet.ParquetFile(source.file, pre_buffer=False, buffer_size=_READ_BYTES) as opened:
            names_of = opened.schema_arrow.names
            batch = next(opened.iter_batches(SAMPLE, columns=[n for n in names_of if n.strip().lower() in only] or None), None)
            if batch is None:
                return None
            columns = tuple(batch.schema.names)
            return Head(source, columns, [[cell(row[c]) for c in columns] for row in batch.to_pylist()])
    except (pyarrow.ArrowException, OSError, ValueError):
        return None
