"""Columns of text cells: codes of few different values, or the strings of an Arrow array."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy

from trainer.core import by_blocks, mapped

if TYPE_CHECKING:
    import pyarrow

_MANY = 1 << 16  # cells that are read at once
_FAR = 8  # chunks that are read for a few cells


class Column(Protocol):
    """Text cells of all rows of a ``Store``."""

    def __len__(self) -> int: ...

    def texts(self, at: numpy.ndarray) -> list[str]:
        """The cells at these positions."""

    def numbers(self, at: numpy.ndarray) -> numpy.ndarray:
        """The cells at these positions as float64: NaN for what ``float`` does not read as a finite number."""

    def codes(self, at: numpy.ndarray) -> tuple[list[str], numpy.ndarray]:
        """Different values, and for each position the number of its value among them. Not every value need occur."""

    def array(self, at: numpy.ndarray) -> pyarrow.Array:
        """The cells at ascending positions as an Arrow array."""

    def alone(self, at: numpy.ndarray) -> Column:
        """A column of the cells at these ascending positions alone, in memory."""


@dataclass(frozen=True)
class Codes:
    """Cells of few different values."""

    values: list[str]
    places: numpy.ndarray  # of whole numbers, in as few bits as they need

    def __len__(self) -> int:
        return len(self.places)

    def texts(self, at: numpy.ndarray) -> list[str]:
        values = self.values
        return [values[i] for i in self.places[at].tolist()]

    def numbers(self, at: numpy.ndarray) -> numpy.ndarray:
        return by_blocks.chosen(numpy.asarray([number(v) for v in self.values], numpy.float64), by_blocks.chosen(self.places, at))

    def codes(self, at: numpy.ndarray) -> tuple[list[str], numpy.ndarray]:
        return self.values, by_blocks.chosen(self.places, at)

    def array(self, at: numpy.ndarray) -> pyarrow.Array:
        import pyarrow

        return pyarrow.array(self.values, pyarrow.large_string()).take(pyarrow.array(self.places[at]))

    def alone(self, at: numpy.ndarray) -> Codes:
        used, places = numpy.unique(self.places[at], return_inverse=True)
        return Codes([self.values[i] for i in used.tolist()], places.astype(numpy.int32))


class Strings:
    """Cells of many different values: the strings of an Arrow array in chunks."""

    def __init__(self, cells: pyarrow.ChunkedArray):
        self._chunks = [c for c in cells.chunks if len(c)]
        self._ends = numpy.cumsum([0, *(len(c) for c in self._chunks)])

    def __len__(self) -> int:
        return int(self._ends[-1])

    def texts(self, at: numpy.ndarray) -> list[str]:
        order = None if _ascends(at) else numpy.argsort(at, kind="stable")
        found = list(itertools.chain.from_iterable(part.to_pylist() for part in self._parts(at if order is None else at[order])))
        return found if order is None else [found[i] for i in _inverse(order).tolist()]

    def filled(self) -> numpy.ndarray:
        """Which cells are not empty (bool)."""
        import pyarrow.compute as pc

        parts = [pc.greater(pc.binary_length(c), 0).to_numpy(zero_copy_only=False) for c in self._chunks]
        return numpy.concatenate(parts) if parts else numpy.zeros(0, bool)

    def numbers(self, at: numpy.ndarray) -> numpy.ndarray:
        order = None if _ascends(at) else numpy.argsort(at, kind="stable")
        found, filled = numpy.empty(len(at)), 0
        for part in self._parts(at if order is None else at[order]):
            found[filled : filled + len(part)] = read_numbers(part)
            filled += len(part)
        return found if order is None else found[_inverse(order)]

    def codes(self, at: numpy.ndarray) -> tuple[list[str], numpy.ndarray]:
        known: dict[str, int] = {}
        found = numpy.fromiter((known.setdefault(t, len(known)) for t in self.texts(at)), numpy.int32, len(at))
        return list(known), found

    def array(self, at: numpy.ndarray) -> pyarrow.Array:
        import pyarrow

        return pyarrow.chunked_array(self._parts(at), pyarrow.large_string()).combine_chunks()

    def alone(self, at: numpy.ndarray) -> Strings:
        import pyarrow

        return Strings(pyarrow.chunked_array([chunk.take(pyarrow.array(places)) for chunk, places in self._places(at)], pyarrow.large_string()))

    def _parts(self, at: numpy.ndarray) -> Iterator[pyarrow.Array]:
        """The cells at ascending positions, from one chunk after another."""
        import pyarrow

        read = 0
        for chunk, places in self._places(at):
            read += 1
            whole = len(places) == len(chunk) and bool((places == numpy.arange(len(chunk))).all())
            yield chunk if whole else chunk.take(pyarrow.array(places))
        if len(at) >= _MANY or read >= _FAR:  # each cell from afar brings the pages around it
            mapped.rest()

    def _places(self, at: numpy.ndarray) -> Iterator[tuple[pyarrow.Array, numpy.ndarray]]:
        """The chunks that have cells at ascending positions, each with their places in it."""
        ends = self._ends.astype(at.dtype)  # of the same type: else all positions are copied
        bounds = numpy.searchsorted(at, ends)
        for chunk, start, low, high in zip(self._chunks, ends, bounds, bounds[1:]):
            if low < high:
                yield chunk, at[low:high] - start


def numbers_of(cells: pyarrow.Array) -> numpy.ndarray | None:
    """Text cells as float64, where Arrow reads each of them as a number; None else. It reads neither blanks nor a plus sign in front."""
    import pyarrow

    try:
        return cells.cast(pyarrow.float64()).to_numpy(zero_copy_only=False)
    except pyarrow.ArrowInvalid:
        return None


def read_numbers(cells: pyarrow.Array) -> numpy.ndarray:
    """Text cells as float64, as ``float`` reads them: NaN for those that it does not, and for what is not finite."""
    import pyarrow
    import pyarrow.compute as pc

    filled = pc.if_else(pc.equal(pc.binary_length(cells), 0), pyarrow.scalar(None, cells.type), cells)
    try:
        found = filled.cast(pyarrow.float64()).fill_null(numpy.nan).to_numpy(zero_copy_only=False)
    except pyarrow.ArrowInvalid:  # blanks around a number, or none: Arrow reads no cell then
        return numpy.asarray([number(c) for c in cells.to_pylist()], numpy.float64)
    return numpy.where(numpy.isfinite(found), found, numpy.nan)


def number(cell: str) -> float:
    """A cell as ``float`` reads it; NaN for what it does not, and for what is not finite."""
    try:
        value = float(cell)
    except ValueError:
        return math.nan
    return value if math.isfinite(value) else math.nan


def _ascends(at: numpy.ndarray) -> bool:
    return bool((at[1:] >= at[:-1]).all())


def _inverse(order: numpy.ndarray) -> numpy.ndarray:
    found = numpy.empty_like(order)
    found[order] = numpy.arange(len(order))
    return found
