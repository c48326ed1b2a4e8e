"""What is too large for memory, in files that have no name any more: nothing is left behind, however the process ends."""

import math
import mmap
import os
import tempfile
import weakref
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import BinaryIO

import numpy

_LARGE = 1 << 20  # rows
_maps: "weakref.WeakSet[mmap.mmap]" = weakref.WeakSet()


def file(write: Callable[[BinaryIO], None], folder: Path) -> mmap.mmap:
    """The bytes that ``write`` writes, on the volume of ``folder``, to be read only; at least one byte. Raises OSError where the disk is full."""
    descriptor, path = tempfile.mkstemp(prefix=".mapped-", dir=folder)
    with os.fdopen(descriptor, "w+b") as opened:
        Path(path).unlink(missing_ok=True)  # before anything is written: a process that is killed leaves nothing either
        write(opened)
        opened.flush()
        found = mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)
    _maps.add(found)
    return found


def rows(blocks: Iterable[numpy.ndarray], shape: tuple[int, ...], dtype: type | numpy.dtype, folder: Path) -> numpy.ndarray:
    """The rows of ``blocks``, of this shape and type together, in a file as above."""
    if not math.prod(shape):
        return numpy.zeros(shape, dtype)

    def write(opened: BinaryIO) -> None:
        for block in blocks:
            opened.write(numpy.ascontiguousarray(block, dtype).data)

    return numpy.frombuffer(file(write, folder), dtype).reshape(shape)


def kept(found: numpy.ndarray, folder: Path | None) -> numpy.ndarray:
    """``found``, with very many rows in a file as above."""
    return found if folder is None or len(found) < _LARGE else rows([found], found.shape, found.dtype, folder)


def rest() -> None:
    """Give the memory back in which parts of mapped files lie that were read; they are read again where they are needed."""
    for found in list(_maps):
        found.madvise(mmap.MADV_DONTNEED)
