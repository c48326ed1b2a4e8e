"""A large table whose cells are Arrow arrays that are mapped from a file: rows and lists of cells are made only when they are asked for."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import numpy

from trainer.core import by_blocks, mapped
from trainer.core.cells import Codes, Strings
from trainer.data.columns import summaries, values
from trainer.data.columns.summaries import Cells, Coded
from trainer.data.formats.table import Table

if TYPE_CHECKING:
    import pyarrow

FEW = 20_000  # different cells, up to which a column is kept as codes
_LOOK = 100_000  # rows that tell whether a column may have few different cells
_BLOCK = 8192
_KEPT = 2  # columns whose cells stay in memory as a list


class ArrowTable(Table):
    """A table over the columns of ``cells``, which all are text without a null. ``numbers`` are those of the rows in the file."""

    def __init__(self, like: Table, cells: pyarrow.Table, numbers: numpy.ndarray):
        super().__init__(
            like.name, like.columns, _Rows(cells, numbers), like.has_header, like.bad_rows, like.notes, like.first_bad, like.fault, like.repairs,
            like.fills, like.short, like.in_order, units=like.units,
        )  # fmt: skip
        self.arrow = cells
        self.numbers = numbers
        self._codes: dict[int, Codes | None] = {}

    def cells(self, column: str) -> list[str]:
        i = self.place(column)
        if i not in self._cells:
            while len(self._cells) >= _KEPT:
                del self._cells[next(iter(self._cells))]
            coded = self.coded(column)
            self._cells[i] = self.arrow.column(i).to_pylist() if coded is None else [coded.values[p] for p in coded.places.tolist()]
        return self._cells[i]

    def row_numbers(self) -> list[int]:
        return self.numbers.tolist()

    def sample(self, column: str) -> list[str]:
        step = math.ceil(len(self.numbers) / values.SAMPLE) if len(self.numbers) > values.SAMPLE else 1
        at = numpy.arange(0, len(self.numbers), step)
        coded = self.coded(column)
        found = Strings(self.arrow.column(self.place(column))).texts(at) if coded is None else coded.texts(at)
        mapped.rest()
        return found

    def different(self, column: str) -> set[str]:
        coded = self.coded(column)
        return set(self.cells(column)) if coded is None else set(coded.values)

    def counted(self, column: str) -> Counter[str]:
        coded = self.coded(column)
        if coded is None:
            return Counter(self.each(column))
        return Counter(dict(zip(coded.values, by_blocks.counts(coded.places, len(coded.values)).tolist(), strict=True)))

    def each(self, column: str) -> Iterator[str]:
        cells = self.arrow.column(self.place(column))
        for start in range(0, len(cells), _BLOCK):
            yield from cells.slice(start, _BLOCK).to_pylist()

    def narrowed(self, places: Sequence[int]) -> ArrowTable:
        kept = self._kept(places)
        like = Table(
            self.name, kept["columns"], [], self.has_header, self.bad_rows, self.notes, self.first_bad, self.fault, self.repairs, self.fills,
            kept["short"], self.in_order, units=kept["units"],
        )  # fmt: skip
        return ArrowTable(like, self.arrow.select(list(places)), self.numbers)

    def append(self, column: str, cell: str) -> None:
        import pyarrow

        self._append(column, pyarrow.repeat(pyarrow.scalar(cell, pyarrow.large_string()), len(self.numbers)))

    def add(self, column: str, cells: Sequence[str]) -> None:
        import pyarrow

        self._append(column, pyarrow.array(cells, pyarrow.large_string()))

    def append_blocks(self, column: str, blocks: Iterable[list[str]], folder: Path) -> None:
        """Add a last column with the cells of ``blocks``, which go to a file on the volume of ``folder``. Raises OSError where that disk is full."""
        import pyarrow

        kind = pyarrow.schema([("0", pyarrow.large_string())])

        def write(file: BinaryIO) -> None:
            with pyarrow.ipc.new_file(file, kind) as written:
                for block in blocks:
                    written.write_batch(pyarrow.record_batch([pyarrow.array(block, pyarrow.large_string())], schema=kind))

        self._append(column, pyarrow.ipc.open_file(pyarrow.py_buffer(mapped.file(write, folder))).read_all().column(0))

    def _append(self, column: str, cells: pyarrow.Array | pyarrow.ChunkedArray) -> None:
        self.columns.append(column)
        self.arrow = self.arrow.append_column(f"{len(self.columns)}", cells)
        self.rows = _Rows(self.arrow, self.numbers)

    def coded(self, column: str) -> Codes | None:
        """The cells of a column of few different ones, each of which occurs; None for others."""
        i = self.place(column)
        if i not in self._codes:
            self._codes[i] = coded(self.arrow.column(i), FEW)
        return self._codes[i]


def together(tables: Sequence[Table], column: str) -> pyarrow.ChunkedArray | None:
    """The cells of a column of several tables; None unless all are of Arrow."""
    import pyarrow

    parts = [t.arrow.column(t.place(column)) for t in tables if isinstance(t, ArrowTable)]
    if len(parts) < len(tables):
        return None
    return pyarrow.chunked_array([chunk for part in parts for chunk in part.chunks], pyarrow.large_string())


def summary(tables: Sequence[Table], column: str) -> Cells | None:
    """The cells of a column that are not empty, as profiles ask for them; None where they are to be listed."""
    first, cells = tables[0], together(tables, column)
    if cells is None:
        return None
    few = first.coded(column) if len(tables) == 1 and isinstance(first, ArrowTable) else coded(cells, FEW)
    return summaries.plain(cells) if few is None else Coded(few)


def of(table: Table) -> ArrowTable:
    """A table with the same rows."""
    import pyarrow

    if isinstance(table, ArrowTable):
        return table
    columns = [pyarrow.chunked_array([pyarrow.array(table.cells(c), pyarrow.large_string())]) for c in table.columns]
    cells = pyarrow.table(columns, names=[f"{i}" for i in range(len(columns))])
    return ArrowTable(table, cells, numpy.asarray(table.row_numbers(), numpy.int64))


def coded(cells: pyarrow.ChunkedArray, most: float = math.inf) -> Codes | None:
    """``cells`` as codes of their different values, in the order of the first of each; None where these are more than ``most``."""
    import pyarrow.compute as pc

    if len(pc.unique(cells.slice(0, _LOOK))) > most:
        return None
    known: dict[str, int] = {}
    found = numpy.empty(len(cells), numpy.uint8)
    at = 0
    for chunk in cells.chunks:
        part = chunk.dictionary_encode()
        places = numpy.asarray([known.setdefault(v, len(known)) for v in part.dictionary.to_pylist()], numpy.int32)
        if len(known) > most:
            return None
        if len(known) - 1 > numpy.iinfo(found.dtype).max:
            found = found.astype(numpy.uint16 if len(known) <= 1 << 16 else numpy.int32)
        if len(part):
            found[at : at + len(part)] = places[part.indices.to_numpy()]
        at += len(part)
    return Codes(list(known), found)


class _Rows(Sequence):
    """The rows of a table as ``Table.rows`` has them: the number of each, and a list of its cells."""

    def __init__(self, cells: pyarrow.Table, numbers: numpy.ndarray):
        self._cells, self._numbers = cells, numbers

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, place):
        if isinstance(place, slice):
            start, stop, step = place.indices(len(self))
            return [self[i] for i in range(start, stop, step)]
        place = range(len(self))[place]
        return int(self._numbers[place]), [c[place].as_py() for c in self._cells.columns]

    def __iter__(self) -> Iterator[tuple[int, list[str]]]:
        for start in range(0, len(self), _BLOCK):
            part = self._cells.slice(start, _BLOCK)
            columns = [c.to_pylist() for c in part.columns]
            yield from zip(self._numbers[start : start + _BLOCK].tolist(), map(list, zip(*columns)))
