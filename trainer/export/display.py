"""Examples for display in a report or a table: short, on one line."""

import csv
import io
import itertools
from collections.abc import Iterator

from trainer.core.example import Example
from trainer.core.kind import Kind
from trainer.data.origins import ONE, Origins
from trainer.targets.target import number

TEXT_LIMIT = 200  # characters
_PART = 1 << 20  # characters of a table at once
FILE = "file"  # the column with the file of a line
_FORMULA = "=+-@\t\r"  # how formulas begin


def short(text: str) -> str:
    text = " ".join(text[: 20 * TEXT_LIMIT].split())
    return text if len(text) <= TEXT_LIMIT else text[: TEXT_LIMIT - 1] + "…"


def entry(example: Example, kind: Kind, columns, **more) -> dict:
    """An example in a list of result.json."""
    shown = {"file": example.file, "row": example.row, "content": kind.content(example, columns), **more}
    if picture := kind.picture(example):
        shown["image"] = picture
    return shown


def table(head: list[str], rows, origins: Origins = ONE) -> str:
    """A CSV file that can be opened in a spreadsheet: see ``escape_formula``. Where the rows are of several datasets, that of each stands behind
    its file."""
    return "".join(parts(head, rows, origins))


def parts(head: list[str], rows, origins: Origins = ONE, headed: bool = True) -> Iterator[str]:
    """``table`` in parts, for files that are larger than memory should be. Without its head where it is not ``headed``."""
    lines = io.StringIO()
    plain = csv.writer(lines, lineterminator="\n")
    quoted = csv.writer(lines, lineterminator="\n", quoting=csv.QUOTE_ALL)  # the other one puts no quotes around a carriage return
    at = head.index(FILE) + 1 if origins.others else 0
    for row in itertools.chain([head] if headed else [], rows):
        if at:
            row = [*row[:at], "dataset" if row is head else origins.of(row[at - 1]), *row[at:]]
        cells = row if row is head else [escape_formula(cell) for cell in row]
        returns = any(isinstance(cell, str) and "\r" in cell for cell in cells)
        (quoted if returns else plain).writerow(cells)
        if lines.tell() > _PART:
            yield lines.getvalue()
            lines.seek(0)
            lines.truncate()
    yield lines.getvalue()


def escape_formula(cell):
    """``cell`` with an apostrophe if a spreadsheet could read it as a formula, which may send data to others.

    Numbers and single characters stay as they are, and so does all that is not text.
    """
    if isinstance(cell, str) and len(cell) > 1 and cell[0] in _FORMULA and number(cell) is None:
        return "'" + cell
    return cell
