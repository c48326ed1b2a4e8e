"""What is too large for memory, in files that have no name any more: nothing is left behind, however the process ends."""

import contextlib
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
    return files(lambda opened: write(opened[0]), 1, folder)[0]


def files(write: Callable[[list[BinaryIO]], None], count: int, folder: Path) -> list[mmap.mmap]:
    """As above, for so many files that are written side by side."""
    with contextlib.ExitStack() as stack:
        opened = [stack.enter_context(_unnamed(folder)) for _ in range(count)]
        write(opened)
        found = [_map(f) for f in opened]
    _maps.update(found)
    return found


def _unnamed(folder: Path) -> BinaryIO:
    descriptor, path = tempfile.mkstemp(prefix=".mapped-", dir=folder)
    Path(path).unlink(missing_ok=True)  # before anything is written: a process that is killed leaves nothing either
    return os.fdopen(descriptor, "w+b")


def _map(opened: BinaryIO) -> mmap.mmap:
    opened.flush()
    return mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)


def opened() -> int:
    """How many files are mapped now."""
    return len(_maps)


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
