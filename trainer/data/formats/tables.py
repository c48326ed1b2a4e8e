"""Reads one file of the dataset as a table, in any supported format."""

import csv
import re

from trainer.core.input import Input
from trainer.data.formats import dialect as dialects, objects, parquet
from trainer.data.formats.decode import NotText, decode
from trainer.data.formats.memory import MEMORY_SHARE, too_large
from trainer.data.formats.table import NotATable, Table
from trainer.data.names import extension
from trainer.errors import UserError
from trainer.memory import memory
from trainer.run_folder import files
from trainer.run_folder.events import Events

_DELIMITERS = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "space": " ", "bar": "|", "pipe": "|"}


def read(source: Input, wanted: set[str], settings, events: Events) -> Table:
    """Read one file. Raises NotATable for a file that is none, UserError for one that cannot be read at all.

    ``wanted`` holds column names that the user gave, in lower case.
    """
    suffix = extension(source.name)
    table = parquet.read(source.name, _there(source).file) if suffix == "parquet" else _text(source, suffix, wanted, settings)
    if not table.rows:
        raise NotATable("has no rows")
    table.columns = unique([c.strip() or f"column {i}" for i, c in enumerate(table.columns, 1)])
    if table.notes:
        events.decision("table", {"file": source.name, "columns": table.columns}, f"{source.name} is read as follows: {'; '.join(table.notes)}.")
    if table.bad_rows:
        what = f"{table.bad_rows} rows of {source.name} {table.fault} and are left out"
        events.warning("bad_rows", f"{what}; the first is row {table.first_bad}.")
    return table


def content(source: Input) -> bytes:
    """The bytes of a file. Raises UserError where they cannot be had, or would fill the memory."""
    limit = memory() // MEMORY_SHARE
    try:
        return files.read_bytes(source.file, limit)
    except OSError as e:
        raise _unreadable(source, e) from e
    except ValueError as e:
        raise too_large(source.name, f"Files of up to {limit / 1e9:.1f} GB fit into its memory.") from e


def _there(source: Input) -> Input:
    try:
        source.file.stat()
    except OSError as e:
        raise _unreadable(source, e) from e
    return source


def _unreadable(source: Input, error: OSError) -> UserError:
    return UserError(
        "unreadable_file",
        f"The file {source.name} cannot be read.",
        "Check that the file can be opened in the dataset, then submit again.",
        error.strerror or "",
    )


def _text(source: Input, suffix: str, wanted: set[str], settings) -> Table:
    try:
        text, encoding = decode(content(source), settings.encoding)
    except NotText as e:
        raise NotATable(str(e)) from e
    if not text.strip():
        raise NotATable("is empty")
    if suffix in ("jsonl", "ndjson"):
        table = objects.lines(source.name, text)
    elif suffix == "json":
        table = objects.document(source.name, text)
    else:
        table = _delimited(source.name, text, wanted, settings.delimiter)
    if encoding != "UTF-8":
        table.notes.insert(0, f"its encoding is {encoding}")
    return table


def _delimited(name: str, text: str, wanted: set[str], delimiter: str) -> Table:
    text = re.sub(r"\Asep=.(?=[\r\n])", "", text)  # a line for Excel, which is no row
    try:
        dialect = dialects.find(text, extension(name), delimiter_of(delimiter)) or dialects.single(text, wanted)
        if dialect is None:
            raise NotATable("has no delimiter that gives the same number of columns, at least two, in 90% of its rows")
        rows = _named_rows(_whole_rows(name, text, dialect), dialect, wanted)
    except csv.Error as e:
        raise NotATable(f"cannot be split into rows ({e})") from e
    good = [(i, row) for i, row in rows if len(row) == dialect.columns]
    first = good[0][1]
    has_header, why = dialects.header(first, [row for _, row in good[1 : dialects.SAMPLE_ROWS]], wanted)
    columns = first if has_header else [""] * dialect.columns
    notes = [f"columns are separated by {dialect.name}", f"it has {'a' if has_header else 'no'} header, because {why}"]
    body = [(i, row) for i, row in good if row != first] if has_header else good  # files that were put together have it again
    bad = [i for i, row in rows if len(row) != dialect.columns]
    return Table(name, columns, body, has_header, len(bad), notes, first_bad=bad[0] if bad else 0)


def _whole_rows(name: str, text: str, dialect: dialects.Dialect) -> list[tuple[int, list[str]]]:
    """The rows that are not empty, with their numbers. Raises UserError where a quotation mark that is not closed takes in others."""
    try:
        return _rows(text, dialect.delimiter, dialect.quoted, strict=True)
    except csv.Error:  # a mark is not closed, or text follows one: either harms little, unless rows are lost in a quotation
        rows = _rows(text, dialect.delimiter, dialect.quoted)
    taken = [(i, n) for i, row in rows if (n := dialects.swallowed_rows(row, dialect))]
    if not taken:
        return rows
    literal = _rows(text, dialect.delimiter, False)
    if _uneven(literal, dialect) <= _uneven(rows, dialect):
        return literal
    raise UserError(
        "open_quote",
        f"Row {taken[0][0]} of {name} has a quotation mark that is not closed and swallows the {taken[0][1]} rows after it.",
        "Close or remove the quotation mark in that row, then submit again.",
    )


def _named_rows(rows: list[tuple[int, list[str]]], dialect: dialects.Dialect, wanted: set[str]) -> list[tuple[int, list[str]]]:
    """The rows, where the header lacks one cell with that cell: R does not name its column of row names, others end all rows but the first
    with a delimiter.
    """
    number, first = rows[0]
    body = [row for _, row in rows[1 : dialects.SAMPLE_ROWS] if len(row) == dialect.columns]
    if len(first) != dialect.columns - 1 or not body:
        return rows
    whole = ["", *first] if any(row[-1].strip() for row in body) else [*first, ""]
    return [(number, whole), *rows[1:]] if dialects.header(whole, body, wanted)[0] else rows


def _uneven(rows: list[tuple[int, list[str]]], dialect: dialects.Dialect) -> int:
    return sum(len(row) != dialect.columns for _, row in rows)


def _rows(text: str, delimiter: str, quoted: bool, strict: bool = False) -> list[tuple[int, list[str]]]:
    return [(i, row) for i, row in enumerate(dialects.rows(text, delimiter, quoted, strict), 1) if any(c.strip() for c in row)]


def delimiter_of(wanted: str) -> str:
    """The delimiter that the option means. Raises UserError for what is none."""
    delimiter = _DELIMITERS.get(wanted.strip().lower(), wanted)
    if len(delimiter) > 1 or delimiter in ('"', "\n", "\r"):
        raise UserError(
            "wrong_setting",
            f"The option delimiter is {wanted}, which is not one character.",
            "Set it to tab, comma, semicolon or bar, or leave it empty.",
        )
    return delimiter


def unique(columns: list[str]) -> list[str]:
    """The names of the columns with a number behind those that occurred before."""
    seen: set[str] = set()
    for i, name in enumerate(columns):
        count = 2
        while columns[i].lower() in seen:
            columns[i], count = f"{name} {count}", count + 1
        seen.add(columns[i].lower())
    return columns
