"""Where the quotation marks of a delimited text stand, asked of whole blocks of bytes.

In a text that is quoted as RFC 4180 says, a mark begins a cell, ends one, or is doubled within one. Then the number of marks before a place says
whether it lies within a quotation, and every reader splits the text into the same cells. So does every one that knows no quotations where no cell
begins with a mark: 5" pipe.
"""

import numpy

MARK = 34
_LINE_END, _RETURN = 10, 13


class Misplaced(Exception):
    """A quotation mark stands where no cell begins or ends."""


class Marks:
    """Looks at the blocks of a text, one after another: whether each mark is where it may be; if not ``quoted``, whether none begins a cell."""

    def __init__(self, delimiter: str, quoted: bool):
        self._quoted = quoted
        self._begins = _table(delimiter, _LINE_END)  # bytes after which a quotation may begin; a mark before it ended one, so the two are one
        self._ends = _table(delimiter, _LINE_END, _RETURN)
        self._last = _LINE_END  # the byte before the block
        self._open = False  # whether the block begins within a quotation

    def look(self, block: bytes) -> None:
        """Raises Misplaced."""
        if not block:
            return
        if self._quoted and self._last == MARK and not self._open and not self._ends[block[0]]:
            raise Misplaced
        if b'"' in block:
            found = numpy.frombuffer(block, numpy.uint8)
            places = numpy.flatnonzero(found == MARK)
            before = found[places - 1]
            if not places[0]:
                before[0] = self._last
            if self._quoted:
                self._look(found, places, before)
            elif (self._begins[before] & (before != MARK)).any():
                raise Misplaced
        self._last = block[-1]

    def _look(self, found: numpy.ndarray, places: numpy.ndarray, before: numpy.ndarray) -> None:
        end = places[1 - int(self._open) :: 2]
        after = found[(end[:-1] if len(end) and end[-1] + 1 == len(found) else end) + 1]
        if not (self._begins[before[int(self._open) :: 2]].all() and self._ends[after].all()):
            raise Misplaced
        self._open ^= bool(len(places) % 2)

    def close(self) -> None:
        """Raises Misplaced where the text ends within a quotation."""
        if self._open:
            raise Misplaced


def _table(delimiter: str, *others: int) -> numpy.ndarray:
    found = numpy.zeros(256, bool)
    found[[ord(delimiter), MARK, *others]] = True
    return found


def after_lines(text: bytes, quoted: bool, from_end: bool = False) -> numpy.ndarray:
    """The places behind the line ends in ``text``, in order; if it is ``quoted``, behind those that are not within a quotation. What is before it has
    no open quotation; or what is behind it has none, with ``from_end``."""
    found = numpy.frombuffer(text, numpy.uint8)
    ends = numpy.flatnonzero(found == _LINE_END)
    if not quoted:
        return ends + 1
    marks = numpy.flatnonzero(found == MARK)
    before = numpy.searchsorted(marks, ends)
    return ends[(len(marks) - before if from_end else before) % 2 == 0] + 1
