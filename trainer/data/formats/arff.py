"""Tables in ARFF, the format of Weka and KEEL: text with a line for each column, and rows below @data."""

import re

from trainer.data.formats.table import NotATable, Table

_QUOTED = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_ATTRIBUTE = re.compile(rf"@attribute\s+({_QUOTED}|[^\s{{]+)\s*(\S.*)", re.IGNORECASE)
_BEGINS = re.compile(r"(\s*%[^\n]*\n|\s*\n)*\s*@relation\b[^\n]*\n(\s*%[^\n]*\n|\s*\n)*\s*@attribute\b", re.IGNORECASE)
_CELL = re.compile(rf"[ \t]*({_QUOTED}|[^,'\"][^,]*|)[ \t]*(,|$)")
_ESCAPED = re.compile(r"\\(.)")


def is_one(text: str) -> bool:
    """Whether ``text`` is ARFF whatever its file is called: KEEL calls its files .dat."""
    return _BEGINS.match(text) is not None


def read(name: str, text: str) -> Table:
    """The table in ``text``, with the rows counted as lines of the file. Raises NotATable."""
    columns: list[str] = []
    rows: list[tuple[int, list[str]]] = []
    bad: list[int] = []
    in_data = False
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        if not line or line.startswith("%"):
            continue
        if in_data:
            if line.startswith("{"):
                raise NotATable("has sparse rows, which are not read: save it as CSV in Weka")
            row = _row(line)
            if row is None or len(row) != len(columns):
                bad.append(number)
            else:
                rows.append((number, row))
        elif line.lower().startswith("@attribute"):
            match = _ATTRIBUTE.fullmatch(line)
            if match is None or match[2].lower().startswith("relational"):
                raise NotATable(f"has a line {number} that names no column of plain values: save it as CSV in Weka")
            columns.append(_plain(match[1]))
        elif line.lower() == "@data":
            in_data = True
    if not columns or not in_data:
        raise NotATable("has no lines @attribute and @data, as ARFF files have")
    if len(bad) > len(rows):
        raise NotATable(f"has rows that do not have its {len(columns)} columns; the first is line {bad[0]}")
    return Table(name, columns, rows, True, len(bad), ["its lines @attribute name the columns"], first_bad=bad[0] if bad else 0)


def _row(line: str) -> list[str] | None:
    """The cells of a row; None for a line with quotation marks that do not end."""
    cells, at = [], 0
    while match := _CELL.match(line, at):
        cells.append(_plain(match[1]))
        at = match.end()
        if not match[2]:
            return cells
    return None


def _plain(text: str) -> str:
    """A name or a cell without its quotation marks."""
    text = text.strip()
    return _ESCAPED.sub(r"\1", text[1:-1]) if text[:1] in ("'", '"') and len(text) > 1 else text
