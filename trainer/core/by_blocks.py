"""Arrays with a number for each row of a large table, by positions and a block at a time: numpy first copies all positions to 64 bits otherwise."""

import numpy

BLOCK = 1 << 16  # positions at once
_SHORT = 1 << 31  # rows whose positions have 32 bits


def positions(count: int) -> numpy.dtype:
    """The type of the positions of so many rows."""
    return numpy.dtype(numpy.int32 if count < _SHORT else numpy.int64)


def chosen(values: numpy.ndarray, at: numpy.ndarray) -> numpy.ndarray:
    """``values[at]``."""
    if len(at) <= BLOCK:
        return values[at]
    found = numpy.empty((len(at), *values.shape[1:]), values.dtype)
    for start in range(0, len(at), BLOCK):
        found[start : start + BLOCK] = values[at[start : start + BLOCK]]
    return found


def put(found: numpy.ndarray, at: numpy.ndarray, values: numpy.ndarray | bool) -> None:
    """``found[at] = values``, for ``values`` of as many rows or a single one. Of equal positions the last one counts."""
    for start in range(0, len(at), BLOCK):
        found[at[start : start + BLOCK]] = values[start : start + BLOCK] if isinstance(values, numpy.ndarray) else values


def true(mask: numpy.ndarray) -> numpy.ndarray:
    """The positions at which ``mask`` is true, in as few bits as they need."""
    found = numpy.empty(int(numpy.count_nonzero(mask)), positions(len(mask)))
    filled = 0
    for start in range(0, len(mask), BLOCK):
        part = numpy.flatnonzero(mask[start : start + BLOCK])
        found[filled : filled + len(part)] = part + start
        filled += len(part)
    return found


def counts(numbers: numpy.ndarray, size: int) -> numpy.ndarray:
    """How often each number below ``size`` is among ``numbers``."""
    if len(numbers) <= BLOCK:
        return numpy.bincount(numbers, minlength=size)
    found = numpy.zeros(size, positions(len(numbers)))
    for start in range(0, len(numbers), BLOCK):
        numpy.add.at(found, numbers[start : start + BLOCK], 1)
    return found
