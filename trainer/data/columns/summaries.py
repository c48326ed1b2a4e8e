"""What profiles ask of the cells of a column that are not empty: of a list of them, of codes, or of plain numbers in Arrow arrays."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

import numpy

from trainer.core.cells import Codes, Strings, numbers_of
from trainer.data.columns import values

if TYPE_CHECKING:
    import pyarrow

_PLAIN = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
_WHOLE = r"^([+-]?[0-9]+)\.0+$"  # labels that are written with a fraction of zero: see values.label
_COUNT = r"^[0-9]{1,9}$"
_FIT = 16  # characters of 4 bits
_BITS = numpy.zeros(256, numpy.uint64)  # of each character of a plain number; 0 is behind its end
_BITS[list(b"0123456789+-.eE")] = numpy.arange(1, 16)
_FIRST = 1000  # cells that are asked before all are


class Cells(Protocol):
    """The cells of a column that are not empty, without blanks around them."""

    def __len__(self) -> int: ...

    def listed(self) -> list[str]:
        """All cells."""

    def sample(self) -> list[str]:
        """At most ``values.SAMPLE`` of them, from all over."""

    def some(self, most: int) -> list[str]:
        """At most so many different ones."""

    def among(self, known: Mapping[str, float]) -> dict[str, float]:
        """Those of ``known`` that are cells."""

    def labels(self) -> tuple[int, bool]:
        """How many different labels they are, and whether these are whole numbers from 0 or 1 without a gap."""


class _Known:
    """Cells of which all ``different`` ones are in memory."""

    def __init__(self, different: set[str]):
        self._different = different

    def some(self, most: int) -> list[str]:
        return list(itertools.islice(self._different, most))

    def among(self, known: Mapping[str, float]) -> dict[str, float]:
        return among(known, self._different)

    def labels(self) -> tuple[int, bool]:
        return _labels(self._different)


class Listed(_Known):
    """A list of cells."""

    def __init__(self, cells: list[str]):
        super().__init__(set(cells))
        self._cells = cells

    def __len__(self) -> int:
        return len(self._cells)

    def listed(self) -> list[str]:
        return self._cells

    def sample(self) -> list[str]:
        return values.sample(self._cells)


class Coded(_Known):
    """Cells of few different values."""

    def __init__(self, cells: Codes):
        stripped = [v.strip() for v in cells.values]
        super().__init__({v for v in stripped if v})
        filled = numpy.asarray([bool(v) for v in stripped], bool)
        self._cells = Codes(stripped, cells.places if filled.all() else cells.places[filled[cells.places]])

    def __len__(self) -> int:
        return len(self._cells)

    def listed(self) -> list[str]:
        return self._cells.texts(numpy.arange(len(self._cells)))

    def sample(self) -> list[str]:
        return self._cells.texts(_spread(len(self._cells)))


class Plain:
    """Cells that are numbers as programs write them. What is asked of all of them is asked of Arrow."""

    def __init__(self, cells: pyarrow.ChunkedArray):
        self._cells = cells

    def __len__(self) -> int:
        return len(self._cells)

    def listed(self) -> list[str]:
        return self._cells.to_pylist()

    def sample(self) -> list[str]:
        return Strings(self._cells).texts(_spread(len(self._cells)))

    def some(self, most: int) -> list[str]:
        import pyarrow.compute as pc

        return pc.unique(self._cells.slice(0, 10 * most)).to_pylist()[:most]

    def among(self, known: Mapping[str, float]) -> dict[str, float]:
        import pyarrow
        import pyarrow.compute as pc

        there = self._cells.filter(pc.is_in(self._cells, pyarrow.array(list(known), pyarrow.large_string())))
        return among(known, set(pc.unique(there).to_pylist()))

    def labels(self) -> tuple[int, bool]:
        import pyarrow
        import pyarrow.compute as pc

        cells = self._cells
        ends = pc.ends_with(cells, "0")
        zeros = cells.filter(ends)
        if pc.any(pc.match_substring_regex(zeros, _WHOLE)).as_py():  # which is slow, and their order counts for nothing
            parts = cells.filter(pc.invert(ends)), pc.replace_substring_regex(zeros, _WHOLE, r"\1")
            cells = pyarrow.chunked_array([chunk for part in parts for chunk in part.chunks], pyarrow.large_string())
        counts_up = False
        first = cells.slice(0, _FIRST)
        if len(cells) and all(pc.all(pc.match_substring_regex(c, _COUNT)).as_py() for c in (first, cells)):
            numbers = numpy.unique(cells.cast(pyarrow.int64()).to_numpy())
            counts_up = bool(numbers[0] in (0, 1) and numbers[-1] - numbers[0] == len(numbers) - 1)
        return _different(cells), counts_up


def plain(cells: pyarrow.ChunkedArray) -> Plain | None:
    """``cells`` without empty ones, if all others are plain numbers."""
    import pyarrow
    import pyarrow.compute as pc

    filled = []
    for chunk in cells.chunks:
        length = pc.binary_length(chunk)
        part = chunk if pc.min(length).as_py() else chunk.filter(pc.greater(length, 0))
        if not _are_finite(part) and not pc.all(pc.match_substring_regex(part, _PLAIN), min_count=0).as_py():
            return None
        filled.append(part)
    return Plain(pyarrow.chunked_array(filled, pyarrow.large_string()))


def _are_finite(cells: pyarrow.Array) -> bool:
    """Whether Arrow reads all cells as finite numbers: it reads no others than ``_PLAIN`` does, in half of the time."""
    found = numbers_of(cells)
    return found is not None and bool(numpy.isfinite(found).all())


def _different(cells: pyarrow.ChunkedArray) -> int:
    """How many different cells of plain numbers there are. Those of up to 32 characters are told apart by 4 bits for each, which takes a third of the
    time of a table of texts, and less memory."""
    import pyarrow.compute as pc

    longest = max((pc.max(pc.binary_length(chunk)).as_py() for chunk in cells.chunks if len(chunk)), default=0)
    if longest > 2 * _FIT:
        return pc.count_distinct(cells).as_py()
    packed = numpy.empty((1 if longest <= _FIT else 2, len(cells)), numpy.uint64)
    at = 0
    for chunk in cells.chunks:
        _pack(chunk, packed[:, at : at + len(chunk)])
        at += len(chunk)
    if len(packed) == 2:
        return _different_pairs(*packed)
    every = packed[0]
    every.sort()
    return int((every[1:] != every[:-1]).sum()) + min(1, len(every))


def _pack(cells: pyarrow.LargeStringArray, found: numpy.ndarray) -> None:
    """Write plain numbers into ``found`` (words x cells) as one word of 64 bits each or two, equal for equal ones and for no others."""
    offsets = numpy.frombuffer(cells.buffers()[1], numpy.int64)[cells.offset : cells.offset + len(cells) + 1]
    lengths = numpy.diff(offsets)
    found[:] = 0
    if not len(cells):
        return
    text = numpy.frombuffer(cells.buffers()[2], numpy.uint8)
    shortest = int(lengths.min())
    for place in range(int(lengths.max())):
        if place < shortest:
            characters = _BITS[text[offsets[:-1] + place]]
        else:
            there = lengths > place
            characters = _BITS[text[numpy.where(there, offsets[:-1] + place, 0)]] * there
        found[place // _FIT] |= characters << numpy.uint64(4 * (place % _FIT))


def _different_pairs(first: numpy.ndarray, second: numpy.ndarray) -> int:
    """How many different pairs there are. Only those with a first word that is there twice are sorted by both."""
    order = numpy.argsort(first)
    sorted_first = first[order]
    same = sorted_first[1:] == sorted_first[:-1]
    several = numpy.zeros(len(first), bool)
    several[1:] = same
    several[:-1] |= same
    tied = order[several]
    left, right = first[tied], second[tied]
    by_both = numpy.lexsort((right, left))
    left, right = left[by_both], right[by_both]
    new = (left[1:] != left[:-1]) | (right[1:] != right[:-1])
    return len(first) - len(tied) + int(new.sum()) + min(1, len(tied))


def among(known: Mapping[str, float], different: set[str]) -> dict[str, float]:
    """Those of ``known`` that are in ``different``."""
    if len(known) < len(different):
        return {text: value for text, value in known.items() if text in different}
    return {text: known[text] for text in different if text in known}


def counts_up(distinct: set[str]) -> bool:
    """Whether labels are whole numbers from 0 or 1 without a gap."""
    if not distinct or not all(c.isascii() and c.isdecimal() and len(c) < 10 for c in distinct):
        return False
    numbers = set(map(int, distinct))
    return min(numbers) in (0, 1) and max(numbers) - min(numbers) == len(numbers) - 1


def _labels(different: set[str]) -> tuple[int, bool]:
    found = {values.label(c) for c in different} - {""}
    return len(found), counts_up(found)


def _spread(count: int) -> numpy.ndarray:
    return numpy.arange(0, count, math.ceil(count / values.SAMPLE) if count > values.SAMPLE else 1)
