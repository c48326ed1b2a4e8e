"""Arrays that may be larger than what should stay in memory: these are files that the machine's page cache holds."""

import itertools
from pathlib import Path

import numpy

IN_MEMORY = 1 << 30  # bytes; larger arrays are files


def allocate(shape: tuple[int, int], folder: Path) -> numpy.ndarray:
    """An array of float32 with any content, in a new file below ``folder`` where it is large."""
    if 4 * shape[0] * shape[1] <= IN_MEMORY:
        return numpy.empty(shape, numpy.float32)
    folder.mkdir(parents=True, exist_ok=True)
    file = next(f for i in itertools.count() if not (f := folder / f"columns-{i}.npy").exists())
    return numpy.lib.format.open_memmap(file, "w+", numpy.float32, shape)
