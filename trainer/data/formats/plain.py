"""Reads large delimited text in blocks into mapped files, where it is so plain that Arrow's reader splits it as ours does.

Ours reads the first and the last rows and decides what the table is. If it repairs nothing there, and the rows between hold nothing that the two
readers take differently (misplaced quotation marks, lone carriage returns), Arrow reads them. Everything else is left to ours.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import numpy

from trainer import memory
from trainer.core import column_files, columnar, mapped
from trainer.data.formats import dialect as dialects, quotations, totals
from trainer.data.formats.arrow_table import ArrowTable
from trainer.data.formats.decode import WITH_MARK
from trainer.data.formats.dialect import Dialect
from trainer.data.formats.table import Table

if TYPE_CHECKING:
    import pyarrow

LARGE = 8 << 20  # bytes of a file from which it is read in this way: below, Arrow takes as long to be imported
BLOCK = 8 << 20  # bytes that Arrow reads at once: the longest line
_ROWS = 1000  # at the beginning and at the end that ours reads: more than any of its rules looks at
_ENDS = 1 << 20, 16 << 20  # bytes in which they must lie: what is tried
_BOM = b"\xef\xbb\xbf"
_NOT_TEXT = b"\xff\xfe", b"\xfe\xff"  # how UTF-16 and UTF-32 begin
_SUMS = "(?i)total|sum|gesamt"  # in the first cell of a row that may sum up others
_VISIBLE = "[!-~]"

Ours = Callable[[str], tuple[Table, Dialect | None]]  # the table in a text, and how its rows are split; None where it is not by a delimiter


class Unlike(Exception):
    """Arrow would not read the same cells."""


@dataclass(frozen=True)
class _Ends:
    """The first and the last rows of a file. ``begin`` is behind the mark of its encoding, ``second`` where its second row begins, ``end`` before the
    line ends after the last row."""

    text: str
    first: str
    begin: int
    second: int
    end: int


def read(file: Path, ours: Ours, fits: Callable[[], None], repair: bool, folder: Path, large: bool = False) -> Table | None:
    """The table in ``file``, with its cells in a file without a name on the volume of ``folder``; None where it must be read by ours, as a
    small one is that is no part of a ``large`` table. ``fits`` is called before the cells are read, and may raise. Raises OSError where the disk is
    full."""
    import pyarrow

    try:
        if file.stat().st_size < LARGE and not large:
            return None
        with open(file, "rb") as source:
            try:
                return _as(source, True, ours, fits, repair, folder)
            except quotations.Misplaced:
                return _as(source, False, ours, fits, repair, folder)
    except (Unlike, quotations.Misplaced, UnicodeDecodeError, pyarrow.ArrowInvalid):
        return None


def _as(source: BinaryIO, quoted: bool, ours: Ours, fits: Callable[[], None], repair: bool, folder: Path) -> Table:
    """The table, if its cells may be ``quoted``, or if no cell begins with a quotation mark. Raises Unlike and Misplaced."""
    ends = _ends(source, quoted)
    table, dialect = ours(ends.text)
    if dialect is None or not dialect.delimiter.isascii() or table.repairs or table.fills or table.short or len(table.columns) < 2:
        raise Unlike
    if table.has_header and not _is_head(ends.first, table.columns, dialect):
        raise Unlike
    fits()
    found = _read(source, ends, table, dialect, quoted, repair, folder)
    if ends.begin:
        found.notes.insert(0, f"its encoding is {WITH_MARK}")
    return found


def _is_head(first: str, columns: list[str], dialect: Dialect) -> bool:
    """Whether the first row names the columns: all, or all but one that ours added."""
    head: list[str] = next(iter(dialects.rows(first, dialect.delimiter, dialect.quoted)), [])
    return columns in (head, ["", *head], [*head, ""])


def _ends(source: BinaryIO, quoted: bool) -> _Ends:
    """Raises Unlike for a file that begins or ends like none that Arrow reads, and Misplaced where its quotation marks may be the reason."""
    for most in _ENDS:
        if found := _ends_in(source, most, quoted):
            return found
    raise quotations.Misplaced


def _ends_in(source: BinaryIO, most: int, quoted: bool) -> _Ends | None:
    """The ends, if they lie in so many bytes each: else None. ``quoted``: rows are told by the number of quotation marks before them, and at the end
    of the file after them. This holds where the file ends outside of a quotation, as is found when all of it is read."""
    source.seek(0)
    head = source.read(most)
    size = source.seek(0, os.SEEK_END)
    source.seek(max(0, size - most))
    tail = source.read()
    begin = len(_BOM) if head.startswith(_BOM) else 0
    end = size - len(tail) + len(tail.rstrip(b"\r\n"))
    if head.startswith((*_NOT_TEXT, _BOM + _BOM)) or head[begin : begin + 4].lower() == b"sep=" or end <= begin:
        raise Unlike
    head, tail = head[begin:end], tail[: end - max(0, size - most)]
    first = quotations.after_lines(head, quoted)
    second = int(first[0]) if len(first) else len(head)
    if end - begin <= len(head) and len(first) <= 2 * _ROWS:
        text = head
    else:
        last = quotations.after_lines(tail, quoted, from_end=True)[-_ROWS:]
        if len(first) < _ROWS or len(last) < _ROWS or begin + int(first[_ROWS - 1]) > end - len(tail) + int(last[0]):
            return None
        text = head[: first[_ROWS - 1]] + tail[last[0] :]
    return _Ends(text.decode("utf-8"), head[:second].decode("utf-8"), begin, begin + second, end)


def _read(source: BinaryIO, ends: _Ends, table: Table, dialect: Dialect, quoted: bool, repair: bool, folder: Path) -> Table:
    import pyarrow
    import pyarrow.csv

    head = table.columns if table.has_header else None
    begin = ends.begin if head is None else ends.second
    columns = [f"{i}" for i in range(len(table.columns))]
    source.seek(begin)
    others = _Others(dialect, head is not None)
    marks = quotations.Marks(dialect.delimiter, quoted) if dialect.quoted else None
    quoted = quoted and dialect.quoted
    stream = pyarrow.PythonFile(io.BufferedReader(_Plain(source, ends.end - begin, marks), 1 << 20), mode="r")
    reader = pyarrow.csv.open_csv(
        stream,
        pyarrow.csv.ReadOptions(use_threads=False, block_size=BLOCK, column_names=columns),
        pyarrow.csv.ParseOptions(
            delimiter=dialect.delimiter, quote_char='"' if quoted else False, double_quote=quoted, escape_char=False,
            newlines_in_values=quoted, ignore_empty_lines=False, invalid_row_handler=others,
        ),
        pyarrow.csv.ConvertOptions(
            column_types=dict.fromkeys(columns, pyarrow.large_string()), null_values=[], strings_can_be_null=False, quoted_strings_can_be_null=False
        ),
    )  # fmt: skip
    numbers: list[numpy.ndarray] = []

    def batches() -> Iterator[pyarrow.RecordBatch]:
        row = 1 + (head is not None)  # of the next one
        for batch in reader:
            kept = _kept(batch, head, repair)
            of_batch = others.between(row, len(batch))
            numbers.append(columnar.short(of_batch if kept is None else of_batch[kept]))
            row = int(of_batch[-1]) + 1 if len(of_batch) else row
            part = batch if kept is None else batch.filter(pyarrow.array(kept))
            if len(part):
                yield part

    cells = column_files.written(batches(), reader.schema, ends.end - begin, folder)
    memory.release()
    _check_end(cells, repair)
    table.bad_rows, table.first_bad = len(others.bad), others.bad[0] if others.bad else 0
    sort = max((n.dtype for n in numbers), key=lambda d: d.itemsize)
    return ArrowTable(table, cells, mapped.rows(numbers, (len(cells),), sort, folder))


class _Others:
    """Takes the rows of another number of cells that Arrow leaves out: their numbers, and those of them that are not empty (``bad``)."""

    def __init__(self, dialect: Dialect, has_header: bool):
        self._dialect, self._above = dialect, int(has_header)
        self._numbers: list[int] = []
        self.bad: list[int] = []

    def __call__(self, row: pyarrow.csv.InvalidRow) -> str:
        number = row.number + self._above
        self._numbers.append(number)
        if any(c.strip() for cells in dialects.rows(row.text, self._dialect.delimiter, self._dialect.quoted) for c in cells):
            self.bad.append(number)
        return "skip"

    def between(self, first: int, count: int) -> numpy.ndarray:
        """The numbers of the next ``count`` rows that were not left out, from ``first`` on."""
        known = numpy.asarray(self._numbers, numpy.int64)
        left = known[known >= first]
        found = numpy.arange(first, first + count + len(left))
        return found[~numpy.isin(found, left)][:count]


def _kept(batch: pyarrow.RecordBatch, head: list[str] | None, repair: bool) -> numpy.ndarray | None:
    """Which rows are data: no empty one, and none that repeats the names of the columns; None for all. Raises Unlike for sums of groups."""
    import pyarrow
    import pyarrow.compute as pc

    kept = numpy.ones(len(batch), bool)
    blank = numpy.ones(len(batch), bool)  # in all columns so far
    for column in batch.columns:
        at = numpy.flatnonzero(blank)
        if not len(at):
            break
        cells = column if len(at) == len(batch) else column.take(pyarrow.array(at))
        if repair and any(totals.is_of_group(c) for c in pc.unique(cells.filter(pc.match_substring_regex(cells, _SUMS))).to_pylist()):
            raise Unlike
        visible = pc.match_substring_regex(cells, _VISIBLE).to_numpy(zero_copy_only=False)
        for i in numpy.flatnonzero(~visible).tolist():
            visible[i] = bool(cells[i].as_py().strip())
        blank[at[visible]] = False
    kept[blank] = False
    if head is not None:
        same = pc.equal(batch.column(0), head[0]).to_numpy(zero_copy_only=False)
        for i in numpy.flatnonzero(same).tolist():
            kept[i] = kept[i] and [c[i].as_py() for c in batch.columns] != head
    return None if kept.all() else kept


def _check_end(cells: pyarrow.Table, repair: bool) -> None:
    """Raise Unlike where the last row may sum up the table: its numbers are compared with those of all rows above."""
    last = [c[-1].as_py() for c in cells.columns] if len(cells) else []
    if not last or (repair and totals.may_end(last)):
        raise Unlike


class _Plain(io.RawIOBase):
    """The bytes of a file. Raises Unlike or Misplaced for those that the two readers take differently."""

    def __init__(self, source: BinaryIO, size: int, marks: quotations.Marks | None):
        self._source, self._left, self._return = source, size, False
        self._marks = marks

    def readable(self) -> bool:
        return True

    def readinto(self, into) -> int:
        block = self._source.read(min(len(into), self._left))
        self._left -= len(block)
        if b"\0" in block:
            raise Unlike
        if self._marks is not None:
            self._marks.look(block)
            if not self._left:
                self._marks.close()
        alone = (b"\r" in block or self._return) and block.count(b"\r") + self._return != block.count(b"\r\n") + block.endswith(b"\r") + (
            self._return and block.startswith(b"\n")
        )
        self._return = block.endswith(b"\r")
        if alone or (self._return and not self._left):
            raise Unlike
        into[: len(block)] = block
        return len(block)
