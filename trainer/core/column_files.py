"""The cells of a large table in mapped files: few columns in each, so that who looks at one column does not read all."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from trainer.core import mapped

if TYPE_CHECKING:
    import pyarrow

_EACH = 64 << 20  # bytes of a table for one file more
_MOST = 250  # files of the process with several for a table: each is open, and a process may often have 1,024


def written(batches: Iterable[pyarrow.RecordBatch], schema: pyarrow.Schema, size: int, folder: Path) -> pyarrow.Table:
    """The rows of ``batches``, in files without a name on the volume of ``folder``. ``size`` is about how many bytes they have. Raises OSError where
    the disk is full.

    In one file the part of a column in a batch is smaller than what the system reads ahead of a page, so a look at one column read all of them.
    """
    import pyarrow

    count = max(1, min(len(schema), size // _EACH, _MOST - mapped.opened()))
    parts = [list(range(a, b)) for a, b in itertools.pairwise(len(schema) * i // count for i in range(count + 1))]

    def write(opened: list[BinaryIO]) -> None:
        with contextlib.ExitStack() as stack:
            made = [stack.enter_context(pyarrow.ipc.new_file(f, pyarrow.schema([schema[i] for i in p]))) for f, p in zip(opened, parts)]
            for batch in batches:
                for file, part in zip(made, parts):
                    file.write_batch(batch.select(part))

    tables = [pyarrow.ipc.open_file(pyarrow.py_buffer(m)).read_all() for m in mapped.files(write, count, folder)]
    return pyarrow.Table.from_arrays([c for t in tables for c in t.columns], schema=schema)
