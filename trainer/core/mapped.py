"""Arrays that are too large for memory: in a file that has no name any more, so that nothing is left behind however the process ends."""

import math
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

import numpy


def rows(blocks: Iterable[numpy.ndarray], shape: tuple[int, ...], dtype: type, folder: Path) -> numpy.ndarray:
    """The rows of ``blocks``, of this shape and type together, in a file on the volume of ``folder``. The array can only be read. Raises OSError
    where the disk is full."""
    if not math.prod(shape):
        return numpy.zeros(shape, dtype)
    descriptor, path = tempfile.mkstemp(prefix=".rows-", dir=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            for block in blocks:
                file.write(numpy.ascontiguousarray(block, dtype).data)
        return numpy.asarray(numpy.memmap(path, dtype, "r", shape=shape))
    finally:
        Path(path).unlink(missing_ok=True)
