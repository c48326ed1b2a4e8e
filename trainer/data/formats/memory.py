"""Limits for what fits into the memory of the driver's machine."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from trainer.data.columns import clocks, dates
from trainer.data.columns.values import MOSTLY, number
from trainer.errors import UserError, some

MEMORY_SHARE = 4  # a file takes at least so many times its size: its bytes, its text, and the cells
CELL_BYTES = 64  # of an empty cell in memory, at least


_FIRST = 1 << 20  # bytes of a file that tell how long its rows are and how many cells they have
_GLANCE = 1 << 16  # the same of one of several files
_LOOK = 1000  # rows that tell whether the cells of a column differ
_SMALL = 64 << 20  # bytes of a file that is read whatever it needs
_BASE = 250e6  # bytes of the process before it reads
_TEXT, _ROW, _CELL = 4, 100, 95  # bytes of memory for each byte, row and cell of a file whose rows become objects: measured, less a tenth
# Bytes of memory for a training whose cells stay in a mapped file: those that do not grow with the rows (the sample that a model is fitted
# on), for each row, for its code in a column of few different cells, for its id or group, and for the text of that where nearly all differ.
# Until its rows are split, a CSV of 3.7 million rows took 27 bytes of own memory for each above what the process had before. The rest is for the
# answers to held-out rows and for targets that are numbers (make bench-large).
_BASE_IN_COLUMNS, _ROW_IN_COLUMNS, _CODE, _NAMED, _NAME = 700e6, 35, 1, 40, 120
_TIME, _TIMES = 60, 300  # the same for a time, and for its text where they are many
_KEY = 80  # bytes of memory for a row of a table by whose keys other rows are found
_DELIMITERS = b",\t;|"


class OfColumn(NamedTuple):
    """What is known of a column before it is read: whether it has ids or groups (``named``), which become texts where they are nearly all different,
    ``few`` different cells, and may tell the ``time`` of a row."""

    named: bool
    few: bool
    time: bool


@dataclass(frozen=True)
class Looked:
    """What a file tells of its rows before they are read. ``columns`` are the names of those that are read, in lower case and sorted, ``each`` the
    bytes of memory for a row whose cells stay in a mapped file, ``size`` the bytes of the file or of its cells, and ``share`` how much of a table
    that counts as large the file is."""

    name: str
    columns: tuple[str, ...]
    rows: float
    each: float
    size: float
    share: float


def too_large(name: str, why: str) -> UserError:
    return _refused(f"The file {name} is too large for the machine that reads it.", why)


def _refused(what: str, why: str) -> UserError:
    return UserError(
        "too_large",
        what,
        "Use fewer rows, or ask the administrator for more memory (in Kubernetes, ray.head.memory of the chart).",
        why,
    )


def check(name: str, file: Path, in_columns: bool, limit: int, named: Collection[str] = ()) -> None:
    """Raise UserError where the rows of a file of text need more than ``limit`` bytes, as its first ones tell. ``in_columns``: as cells of
    columns, which take less than objects. ``named`` are the columns of ids and groups, in lower case."""
    size = file.stat().st_size
    if size <= _SMALL:
        return
    with open(file, "rb") as opened:
        first = opened.read(_FIRST)
    lines = max(1, first.count(b"\n"))
    rows = size / len(first) * lines
    if in_columns:
        check_in_columns(name, rows, _columns(first, named)[1], limit)
        return
    cells = rows + size / len(first) * max(first.count(bytes([d])) for d in _DELIMITERS)
    need = _BASE + _TEXT * size + rows * _ROW + cells * _CELL
    if need > limit:
        kept = "A large CSV needs less if it is UTF-8, has no lines above its header or below its data, and no stray quotation marks."
        raise too_large(name, f"{_numbers(rows, need, limit)} {kept}")


def check_in_columns(name: str, rows: float, columns: Iterable[OfColumn], limit: int) -> None:
    """Raise UserError where so many rows whose cells stay in a mapped file need more than ``limit`` bytes, by the columns that are read."""
    need = _BASE_IN_COLUMNS + rows * row_bytes(columns)
    if need > limit:
        raise too_large(name, _numbers(rows, need, limit))


def check_together(files: Sequence[Looked], limit: int) -> None:
    """Raise UserError where the rows of the files of one table need more than ``limit`` bytes together, whose cells stay in mapped files."""
    need = _BASE_IN_COLUMNS + sum(f.rows * f.each for f in files)
    if sum(f.size for f in files) > _SMALL and need > limit:
        what = f"The files {some([f.name for f in files], 3)} are one table, which is too large for the machine that reads it."
        raise _refused(what, _numbers(sum(f.rows for f in files), need, limit))


def check_keys(name: str, rows: int, asked: int, limit: int) -> None:
    """Raise UserError where it takes more than ``limit`` bytes to find so many ``asked`` rows by the keys of the ``rows`` of a table."""
    need = _BASE_IN_COLUMNS + rows * _KEY + asked * _ROW_IN_COLUMNS
    if rows * _KEY > _SMALL and need > limit:
        raise too_large(name, f"Other rows are found by its keys. {_numbers(rows, need, limit)}")


def row_bytes(columns: Iterable[OfColumn]) -> float:
    """The bytes of memory for a row whose cells stay in a mapped file, by the columns that are read."""
    return _ROW_IN_COLUMNS + sum(_NAMED * c.named + _TIME * c.time + (_CODE if c.few else _NAME * c.named + _TIMES * c.time) for c in columns)


def look(name: str, file: Path, large: int, named: Collection[str]) -> Looked | None:
    """What the first bytes of a delimited text tell; None where they are no rows. A text counts as ``large`` from so many bytes on. A file without
    names has its number of columns in their place."""
    with open(file, "rb") as opened:
        first = opened.read(_GLANCE)
    size, lines = file.stat().st_size, first.count(b"\n")
    if not lines:
        return None
    names, columns = _columns(first, named)
    if any(number(n) is not None for n in names):
        names = [f"{len(names)}"]
    return Looked(name, tuple(sorted(names)), size / len(first) * lines, row_bytes(columns), size, size / max(1, large))


def _numbers(rows: float, need: float, limit: float) -> str:
    return f"It has about {rows / 1e6:.1f} million rows and needs {need / 1e9:.1f} GB of memory; {limit / 1e9:.1f} GB are there."


def _columns(first: bytes, named: Collection[str]) -> tuple[list[str], list[OfColumn]]:
    """The names of the columns of a plain file by its first bytes, and what these tell of each."""
    head, *lines = first.decode("utf-8", "replace").splitlines()[: _LOOK + 1]
    delimiter = max(_DELIMITERS.decode(), key=head.count)
    names = [c.strip().strip('"').lower() for c in head.split(delimiter)]
    rows = [cells for line in lines if len(cells := line.split(delimiter)) == len(names)]
    return names, [_of_column(name, [cells[place] for cells in rows], name in named) for place, name in enumerate(names)]


def _of_column(name: str, cells: Sequence[str], named: bool) -> OfColumn:
    cells = [c.strip().strip('"') for c in cells]
    mostly = MOSTLY * max(1, len(cells))
    times, numeric = sum(map(dates.is_date, cells)) / max(1, len(cells)), sum(number(c) is not None for c in cells) >= mostly
    return OfColumn(named, len(set(cells)) <= len(cells) / 2, clocks.is_of_rows(name) and clocks.may_be(name, times, numeric, cells))
