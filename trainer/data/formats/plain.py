"""Reads large delimited text in blocks into a mapped file, where it is so plain that Arrow's reader splits it as ours does.

Ours reads the first and the last lines and decides what the table is. If it repairs nothing there, and the lines between hold nothing that the two
readers take differently (quotation marks, lone carriage returns), Arrow reads them. Everything else is left to ours.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import numpy

from trainer import memory
from trainer.core import mapped
from trainer.data.formats import dialect as dialects, totals
from trainer.data.formats.arrow_table import ArrowTable
from trainer.data.formats.table import Table

if TYPE_CHECKING:
    import pyarrow

LARGE = 8 << 20  # bytes of a file from which it is read in this way: below, Arrow takes as long to be imported
BLOCK = 8 << 20  # bytes that Arrow reads at once: the longest line
_LINES = 1000  # at the beginning and at the end that ours reads: more than any of its rules looks at
_ENDS = 1 << 20  # bytes in which they must lie
_SUMS = "(?i)total|sum|gesamt"  # in the first cell of a row that may sum up others
_VISIBLE = "[!-~]"

Ours = Callable[[str], tuple[Table, str]]  # the table in a text, and its delimiter; the delimiter is empty where rows are not split by one


class Unlike(Exception):
    """Arrow would not read the same cells."""


@dataclass(frozen=True)
class _Ends:
    """The first and the last lines of a file. ``size`` is without the line ends after the last line."""

    text: str
    first: str
    size: int


def read(file: Path, ours: Ours, fits: Callable[[], None], repair: bool, folder: Path) -> Table | None:
    """The table in ``file``, with its cells in a file without a name on the volume of ``folder``; None where it must be read by ours. ``fits``
    is called before the cells are read, and may raise. Raises OSError where the disk is full."""
    import pyarrow

    try:
        if file.stat().st_size < LARGE:
            return None
        with open(file, "rb") as source:
            ends = _ends(source)
            table, delimiter = ours(ends.text)
            if not delimiter or table.repairs or table.fills or table.short or len(table.columns) < 2:
                return None
            head = next(iter(dialects.rows(ends.first, delimiter, False))) if table.has_header else None
            if head is not None and len(head) != len(table.columns):
                return None
            fits()
            return _read(source, ends.size, table, delimiter, head, repair, folder)
    except (Unlike, UnicodeDecodeError, pyarrow.ArrowInvalid):
        return None


def _ends(source: BinaryIO) -> _Ends:
    """Raises Unlike for a file that begins or ends like none that Arrow reads."""
    head = source.read(_ENDS)
    size = source.seek(0, os.SEEK_END)
    source.seek(max(0, size - _ENDS))
    tail = source.read()
    end = len(tail.rstrip(b"\r\n"))
    size, tail = size - len(tail) + end, tail[:end]
    if head.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")) or head[:4].lower() == b"sep=" or not end:
        raise Unlike
    first = head[:size].split(b"\n", _LINES)
    if size <= len(head) and len(first) <= 2 * _LINES:
        lines = head[:size].split(b"\n")
    else:
        last = tail.split(b"\n")[1:][-_LINES:]
        if len(first) <= _LINES or len(last) < _LINES or (size - sum(map(len, last)) - len(last)) < sum(map(len, first[:-1])) + len(first):
            raise Unlike
        lines = [*first[:-1], *last]
    return _Ends(b"\n".join(lines).decode("utf-8"), first[0].decode("utf-8"), size)


def _read(source: BinaryIO, size: int, table: Table, delimiter: str, head: list[str] | None, repair: bool, folder: Path) -> Table:
    import pyarrow
    import pyarrow.csv

    columns = [f"{i}" for i in range(len(table.columns))]
    source.seek(0)
    others = _Others(delimiter)
    stream = pyarrow.PythonFile(io.BufferedReader(_Plain(source, size), 1 << 20), mode="r")
    reader = pyarrow.csv.open_csv(
        stream,
        pyarrow.csv.ReadOptions(use_threads=False, block_size=BLOCK, skip_rows=int(head is not None), column_names=columns),
        pyarrow.csv.ParseOptions(
            delimiter=delimiter, quote_char=False, double_quote=False, escape_char=False, ignore_empty_lines=False, invalid_row_handler=others
        ),
        pyarrow.csv.ConvertOptions(
            column_types=dict.fromkeys(columns, pyarrow.large_string()), null_values=[], strings_can_be_null=False, quoted_strings_can_be_null=False
        ),
    )
    numbers: list[numpy.ndarray] = []

    def write(file: BinaryIO) -> None:
        row = 1 + (head is not None)  # of the next one
        with pyarrow.ipc.new_file(file, reader.schema) as written:
            for batch in reader:
                kept = _kept(batch, head, repair)
                of_batch = others.between(row, len(batch))
                numbers.append(of_batch if kept is None else of_batch[kept])
                row = int(of_batch[-1]) + 1 if len(of_batch) else row
                part = batch if kept is None else batch.filter(pyarrow.array(kept))
                if len(part):
                    written.write_batch(part)

    cells = pyarrow.ipc.open_file(pyarrow.py_buffer(mapped.file(write, folder))).read_all()
    memory.release()
    _check_end(cells, repair)
    table.bad_rows, table.first_bad = len(others.bad), others.bad[0] if others.bad else 0
    return ArrowTable(table, cells, numpy.concatenate(numbers))


class _Others:
    """Takes the rows of another number of cells that Arrow leaves out: their numbers, and those of them that are not empty (``bad``)."""

    def __init__(self, delimiter: str):
        self._delimiter = delimiter
        self._numbers: list[int] = []
        self.bad: list[int] = []

    def __call__(self, row: pyarrow.csv.InvalidRow) -> str:
        self._numbers.append(row.number)
        if any(c.strip() for c in row.text.split(self._delimiter)):
            self.bad.append(row.number)
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
    """The bytes of a file. Raises Unlike for those that the two readers take differently."""

    def __init__(self, source: BinaryIO, size: int):
        self._source, self._left, self._return = source, size, False

    def readable(self) -> bool:
        return True

    def readinto(self, into) -> int:
        block = self._source.read(min(len(into), self._left))
        self._left -= len(block)
        if b'"' in block or b"\0" in block:
            raise Unlike
        alone = (b"\r" in block or self._return) and block.count(b"\r") + self._return != block.count(b"\r\n") + block.endswith(b"\r") + (
            self._return and block.startswith(b"\n")
        )
        self._return = block.endswith(b"\r")
        if alone or (self._return and not self._left):
            raise Unlike
        into[: len(block)] = block
        return len(block)
