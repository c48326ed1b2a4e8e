"""Reads one file of the dataset as a table, in any supported format."""

import re
from collections.abc import Collection
from pathlib import Path

from trainer.core.input import Input
from trainer.data import foreign
from trainer.data.formats import arff, arrays, dbf, delimited, fasta, marked, objects, parquet, plain, workbook
from trainer.data.formats.decode import NotText, decode
from trainer.data.formats.dialect import Dialect
from trainer.data.formats.memory import MEMORY_SHARE, check, too_large
from trainer.data.formats.table import NotATable, Table
from trainer.data.names import ARRAYS, OF_INSTRUMENTS, SEQUENCES, TABLES, TEXT, WORKBOOKS, extension
from trainer.errors import UserError
from trainer.memory import memory
from trainer.run_folder import files
from trainer.run_folder.events import Events

_NOT_DELIMITED = ("jsonl", "ndjson", "json", "geojson", "arff", *SEQUENCES)
_MARKUP = re.compile(r"\s*<(!|\?|html|table|meta|style)", re.IGNORECASE)


def read(source: Input, wanted: set[str], settings, events: Events) -> Table:
    """Read one file, of a workbook the first of its tables. Raises NotATable for a file that is none, UserError for one that cannot be read at all.

    ``wanted`` holds column names that the user gave, in lower case.
    """
    return read_all(source, wanted, settings, events)[0]


def read_all(
    source: Input, wanted: set[str], settings, events: Events, only: Collection[str] = (), large: Collection[Path] = frozenset()
) -> list[Table]:
    """The tables in one file, which have the same columns: one, unless it is a workbook. Of a large file whose columns lie apart those in ``only``
    are read, in lower case; all if it is empty. The files in ``large`` are read like large ones: they are parts of a large table. Raises NotATable
    and UserError as ``read`` does."""
    tables = _read(source, wanted, settings, events, only, source.file in large)
    for table in tables:
        if not table.rows:
            raise NotATable("has no rows")
        named = [c.strip() or f"column {i}" for i, c in enumerate(table.columns, 1)]
        table.columns = unique(list(named))
        table.short = {name: table.short[written] for name, written in zip(table.columns, named) if written in table.short}
        table.units = {name: table.units[written] for name, written in zip(table.columns, named) if written in table.units}
        if table.notes:
            events.decision("table", {"file": table.name, "columns": table.columns}, f"{table.name} is read as follows: {'; '.join(table.notes)}.")
        for repair in table.repairs:
            if repair.is_doubt:
                events.warning(repair.code, f"{table.name}: {repair.text}")
            else:
                events.decision(repair.code, repair.count, f"{table.name}: {repair.text}")
        if table.bad_rows:
            what = f"{table.bad_rows} rows of {table.name} {table.fault} and are left out"
            events.warning("bad_rows", f"{what}; the first is row {table.first_bad}.")
    return tables


def _read(source: Input, wanted: set[str], settings, events: Events, only: Collection[str], large: bool) -> list[Table]:
    suffix = extension(source.name)
    if suffix == "parquet":
        return [parquet.read(source.name, _there(source).file, events.path.parent, only, named(settings), large)]
    head = _head(source)
    if suffix in WORKBOOKS and head.startswith(workbook.MAGIC):
        return workbook.read(source.name, source.file, wanted, settings.repairs, settings.sheet)
    if suffix == "dbf":
        return [dbf.read(source.name, content(source), settings.encoding)]
    if suffix in ARRAYS:
        return [arrays.read(source.name, source.file, suffix, head)]
    any_content = suffix in (*OF_INSTRUMENTS, *WORKBOOKS, TEXT) or suffix not in TABLES
    if any_content and head.startswith(arrays.MAGIC):
        return [arrays.read(source.name, source.file, suffix, head)]
    if any_content and (why := foreign.by_content(head)):
        raise NotATable(why)
    return [_plain(source, suffix, wanted, settings, events, large) or _text(source, suffix, wanted, settings)]


def _head(source: Input) -> bytes:
    try:
        with open(source.file, "rb") as file:
            return file.read(256)
    except OSError as e:
        raise _unreadable(source, e) from e


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


def _plain(source: Input, suffix: str, wanted: set[str], settings, events: Events, large: bool) -> Table | None:
    """A large delimited text, or a part of a ``large`` table, that is plain; None where it is another."""
    if suffix in _NOT_DELIMITED or settings.encoding or (suffix in WORKBOOKS and _MARKUP.match(_head(source).decode("utf-8", "replace"))):
        return None

    def ours(text: str) -> tuple[Table, Dialect | None]:
        try:
            if arff.is_one(text) or marked.read(source.name, text) is not None:
                raise plain.Unlike
            return delimited.split(source.name, text, wanted, settings)
        except (NotATable, UserError) as e:  # which the whole file may not be
            raise plain.Unlike from e

    def fits() -> None:
        check(source.name, source.file, True, memory(), named(settings))

    return plain.read(_there(source).file, ours, fits, settings.repairs, events.path.parent, large)


def named(settings) -> set[str]:
    """The columns of ids and groups, in lower case."""
    asked = (getattr(settings, option, "") for option in ("id_column", "group_column"))  # a prediction has no groups
    return {column.strip().lower() for column in asked if column.strip()}


def _text(source: Input, suffix: str, wanted: set[str], settings) -> Table:
    try:
        check(source.name, _there(source).file, False, memory())
        text, encoding = decode(content(source), settings.encoding)
    except NotText as e:
        raise NotATable(str(e)) from e
    if not text.strip():
        raise NotATable("is empty")
    if suffix in WORKBOOKS and _MARKUP.match(text):
        raise NotATable("is a page of HTML or XML with the ending of a workbook: open it in a spreadsheet program and save it as .xlsx")
    if suffix in ("jsonl", "ndjson"):
        table = objects.lines(source.name, text)
    elif suffix in ("json", "geojson"):
        table = objects.document(source.name, text)
    elif suffix in SEQUENCES:
        table = fasta.read(source.name, text)
    elif suffix == "arff" or arff.is_one(text):
        table = arff.read(source.name, text)
    else:
        table = marked.read(source.name, text) or delimited.read(source.name, text, wanted, settings)
    if encoding != "UTF-8":
        table.notes.insert(0, f"its encoding is {encoding}")
    return table


def unique(columns: list[str]) -> list[str]:
    """The names of the columns with a number behind those that occurred before."""
    seen: set[str] = set()
    for i, name in enumerate(columns):
        count = 2
        while columns[i].lower() in seen:
            columns[i], count = f"{name} {count}", count + 1
        seen.add(columns[i].lower())
    return columns
