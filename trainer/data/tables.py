"""Files of the dataset as tables: named columns, and rows of text cells."""

import json
from dataclasses import dataclass, field

from trainer.data import dialect as dialects
from trainer.data.decode import NotText, decode
from trainer.errors import UserError
from trainer.events import Events
from trainer.data.names import extension
from trainer.spec import Input


@dataclass
class Table:
    """One file. A row is (its number in the file as a person counts them, its cells)."""

    name: str
    columns: list[str]
    rows: list[tuple[int, list[str]]]
    has_header: bool = True
    bad_rows: int = 0
    notes: list[str] = field(default_factory=list)


class NotATable(Exception):
    """The file holds no table. The message is the second half of a sentence: "it …"."""


def read(source: Input, wanted: set[str], events: Events) -> Table:
    """Read one file. Raises NotATable for a file that is none, UserError for one that cannot be read at all.

    ``wanted`` holds column names that the user gave, in lower case.
    """
    try:
        data = source.file.read_bytes()
    except OSError as e:
        raise UserError(
            "unreadable_file",
            f"The file {source.name} cannot be read.",
            "Check that the file can be opened in the dataset, then submit again.",
            e.strerror or "",
        ) from e
    try:
        text, encoding = decode(data)
    except NotText as e:
        raise NotATable(str(e)) from e
    if not text.strip():
        raise NotATable("is empty")
    if extension(source.name) in ("jsonl", "ndjson"):
        table = _json_lines(source.name, text)
    else:
        table = _delimited(source.name, text, wanted)
    if not table.rows:
        raise NotATable("has no rows")
    if encoding != "UTF-8":
        table.notes.insert(0, f"its encoding is {encoding}")
    if table.notes:
        events.decision("table", {"file": source.name, "columns": table.columns}, f"{source.name} is read so: {'; '.join(table.notes)}.")
    if table.bad_rows:
        events.warning("bad_rows", f"{table.bad_rows} rows of {source.name} have another number of columns than the rest and are left out.")
    return table


def _delimited(name: str, text: str, wanted: set[str]) -> Table:
    dialect = dialects.find(text, extension(name))
    if dialect is None:
        raise NotATable("has no delimiter that makes a table of two or more columns")
    rows = [(i, row) for i, row in enumerate(dialects.rows(text, dialect.delimiter, dialect.quoted), 1) if any(c.strip() for c in row)]
    good = [(i, row) for i, row in rows if len(row) == dialect.columns]
    first = good[0][1]
    has_header, why = dialects.header(first, [row for _, row in good[1:]], wanted)
    if has_header:
        columns = [c.strip() or f"column {i}" for i, c in enumerate(first, 1)]
    else:
        columns = [f"column {i}" for i in range(1, dialect.columns + 1)]
    notes = [f"columns are separated by {dialect.name}", f"it has {'a' if has_header else 'no'} header, because {why}"]
    return Table(name, columns, good[1:] if has_header else good, has_header, len(rows) - len(good), notes)


def _json_lines(name: str, text: str) -> Table:
    columns: dict[str, None] = {}
    objects, bad = [], 0
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except ValueError:
            value = None
        if isinstance(value, dict):
            columns.update(dict.fromkeys(value))
            objects.append((number, value))
        else:
            bad += 1
    if bad > len(objects):
        raise NotATable("does not hold one JSON object in each line")
    names = list(columns)
    return Table(name, names, [(i, [_cell(o.get(c)) for c in names]) for i, o in objects], bad_rows=bad)


def _cell(value) -> str:
    """A JSON value as the text that a CSV file would hold; null is an empty cell."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return json.dumps(value, ensure_ascii=False)
