"""Reading one file of the dataset as a table, whatever its format."""

import csv

from trainer.data import dialect as dialects, objects, parquet
from trainer.data.decode import NotText, decode
from trainer.data.names import extension
from trainer.data.table import NotATable, Table
from trainer.errors import UserError
from trainer.events import Events
from trainer.spec import Input

_DELIMITERS = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "space": " ", "bar": "|", "pipe": "|"}


def read(source: Input, wanted: set[str], settings, events: Events) -> Table:
    """Read one file. Raises NotATable for a file that is none, UserError for one that cannot be read at all.

    ``wanted`` holds column names that the user gave, in lower case.
    """
    suffix = extension(source.name)
    table = parquet.read(source.name, _there(source).file) if suffix == "parquet" else _text(source, suffix, wanted, settings)
    if not table.rows:
        raise NotATable("has no rows")
    if table.notes:
        events.decision("table", {"file": source.name, "columns": table.columns}, f"{source.name} is read so: {'; '.join(table.notes)}.")
    if table.bad_rows:
        events.warning("bad_rows", f"{table.bad_rows} rows of {source.name} have another number of columns than the rest and are left out.")
    return table


def content(source: Input) -> bytes:
    """The bytes of a file. Raises UserError where they cannot be had."""
    try:
        return source.file.read_bytes()
    except OSError as e:
        raise _unreadable(source, e) from e


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
    try:
        dialect = dialects.find(text, extension(name), _delimiter(delimiter)) or dialects.single(text, wanted)
        if dialect is None:
            raise NotATable("has no delimiter that makes a table of two or more columns")
        every = enumerate(dialects.rows(text, dialect.delimiter, dialect.quoted), 1)
        rows = [(i, row) for i, row in every if any(c.strip() for c in row)]
    except csv.Error as e:
        raise NotATable(f"cannot be cut into rows ({e})") from e
    good = [(i, row) for i, row in rows if len(row) == dialect.columns]
    first = good[0][1]
    has_header, why = dialects.header(first, [row for _, row in good[1 : dialects.SAMPLE_ROWS]], wanted)
    columns = _unique([(c.strip() if has_header else "") or f"column {i}" for i, c in enumerate(first, 1)])
    notes = [f"columns are separated by {dialect.name}", f"it has {'a' if has_header else 'no'} header, because {why}"]
    return Table(name, columns, good[1:] if has_header else good, has_header, len(rows) - len(good), notes)


def _delimiter(wanted: str) -> str:
    delimiter = _DELIMITERS.get(wanted.strip().lower(), wanted)
    if len(delimiter) > 1 or delimiter in ('"', "\n", "\r"):
        raise UserError(
            "wrong_setting",
            f"The option delimiter is {wanted}, which is not one character.",
            "Set it to tab, comma, semicolon or bar, or leave it empty.",
        )
    return delimiter


def _unique(columns: list[str]) -> list[str]:
    """The names of the columns with a number behind those that occurred before."""
    seen: set[str] = set()
    for i, name in enumerate(columns):
        count = 2
        while columns[i].lower() in seen:
            columns[i], count = f"{name} {count}", count + 1
        seen.add(columns[i].lower())
    return columns
