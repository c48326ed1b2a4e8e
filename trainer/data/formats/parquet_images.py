"""Images inside Parquet files, as Hugging Face writes them: a column of structures with bytes and a path, or a column of bytes."""

import itertools
from collections.abc import Iterator
from pathlib import Path

from trainer.archive.budget import Budget
from trainer.core.input import Input
from trainer.data.formats.memory import MEMORY_SHARE, too_large
from trainer.errors import is_full
from trainer.memory import memory

CODE = "parquet"  # of the errors of the budget
BATCH = 64  # images in memory at a time
_LOOK = 20  # rows in which a column must show an image
_MARKS = (b"\x89PNG\r\n", b"\xff\xd8\xff", b"GIF8", b"BM", b"II*\0", b"MM\0*")


def name_of(file: str, column: str, row: int) -> str:
    """The name of the image in a row (counted from 1) of a Parquet file."""
    return f"{file} {column} row {row}"


def byte_columns(schema) -> dict[str, str]:
    """The columns of bytes of an Arrow schema: the path of the bytes to the name of the column. A structure has them in an entry."""
    from pyarrow import types

    def is_bytes(t) -> bool:
        return types.is_binary(t) or types.is_large_binary(t) or types.is_fixed_size_binary(t)

    found = {}
    for field in schema:
        if is_bytes(field.type):
            found[field.name] = field.name
        elif types.is_struct(field.type):
            inner = [field.type.field(i) for i in range(field.type.num_fields)]
            found.update({f"{field.name}.{f.name}": field.name for f in inner if is_bytes(f.type)})
    return found


def columns(source) -> dict[str, str]:
    """The columns of images of an open ParquetFile: the path of the bytes to the name of the column."""
    found = {}
    for path, name in byte_columns(source.schema_arrow).items():
        first = list(itertools.islice((v for _, v in _values(source, path, _LOOK)), _LOOK))
        if any(v is not None and _is_image(v) for v in first):
            found[path] = name
    return found


def extract(source: Input, folder: Path, budget: Budget) -> list[Input]:
    """Write the images in ``source`` below ``folder``, and return them as files of the dataset; none where the file has no such column.

    Cells that are empty are passed over. A file that is no Parquet file has no images. Raises UserError for more images or bytes than
    are left in the ``budget``, and for a row group that would fill the memory.
    """
    import pyarrow  # heavy, so only where there is such a file
    import pyarrow.parquet

    found: list[Input] = []
    try:
        with pyarrow.parquet.ParquetFile(source.file, pre_buffer=False) as opened:
            if not byte_columns(opened.schema_arrow):
                return []
            _check_groups(source, opened.metadata)
            share = budget.begin(source.name, source.file.stat().st_size, CODE)
            for path, name in columns(opened).items():
                share.list(opened.metadata.num_rows)
                for row, value in _values(opened, path, BATCH):
                    if value is not None:
                        target = folder / f"{len(found) + 1:06d}"
                        share.take(len(value), folder)
                        target.write_bytes(value)
                        found.append(Input(name_of(source.name, name, row), target, len(value), ""))
    except (pyarrow.ArrowException, OSError, ValueError, OverflowError) as e:
        if is_full(e):
            raise  # the user reads it; the caller words any other error
    return found


def _check_groups(source: Input, metadata) -> None:
    """Raise UserError where the file says that a part of it would fill the memory: parts are read as a whole."""
    largest = max((metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups)), default=0)
    if MEMORY_SHARE * largest > memory():
        raise too_large(source.name, f"One of its row groups has {largest / 1e9:.1f} GB: write it with smaller ones.")


def _values(source, path: str, batch: int) -> Iterator[tuple[int, bytes | None]]:
    """The rows, counted from 1, and their bytes in the column ``path``."""
    row = 0
    for part in source.iter_batches(batch, columns=[path], use_threads=False):
        column = part.column(0)
        for value in column:
            row += 1
            value = value.as_py()
            value = next(iter(value.values()), None) if isinstance(value, dict) else value
            yield row, value if isinstance(value, bytes) else None


def _is_image(value: bytes) -> bool:
    return value.startswith(_MARKS) or (value[:4] == b"RIFF" and value[8:12] == b"WEBP")
