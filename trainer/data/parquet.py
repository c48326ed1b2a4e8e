"""Tables from Parquet files."""

from pathlib import Path

from trainer.data.memory import CELL_BYTES, MEMORY_SHARE, memory, too_large
from trainer.data.objects import cell
from trainer.data.table import NotATable, Table
from trainer.errors import some

BATCH = 10_000


def read(name: str, file: Path) -> Table:
    """The rows of a Parquet file, counted from 1. Structures become columns with dotted names, lists become JSON, and columns of bytes,
    such as images, are left out. Raises NotATable.
    """
    import pyarrow  # heavy, so only where there is such a file
    import pyarrow.parquet

    try:
        with pyarrow.parquet.ParquetFile(file) as source:
            _check_size(name, source.metadata)
            rows: list[tuple[int, list[str]]] = []
            for part in source.iter_batches(BATCH):
                batch = pyarrow.Table.from_batches([part]).flatten()
                names, columns, left = _columns(batch)
                rows += zip(range(len(rows) + 1, len(rows) + batch.num_rows + 1), map(list, zip(*columns)))
    except (pyarrow.ArrowException, OSError, ValueError, OverflowError) as e:
        raise NotATable("is not a readable Parquet file") from e
    if not rows:
        raise NotATable("has no rows")
    if left and len(names) < 2:
        raise NotATable(f"contains images or other files in its column {left[0]}; add them to the dataset as files, in one folder per label")
    return Table(name, names, rows, notes=[f"columns of bytes are not read: {some(left, 4)}"] if left else [])


def _check_size(name: str, told) -> None:
    """Raise UserError where by the file's own words its rows would fill the memory: a kilobyte may hold a billion equal ones."""
    size = sum(told.row_group(i).total_byte_size for i in range(told.num_row_groups))
    if max(CELL_BYTES * told.num_rows * told.num_columns, MEMORY_SHARE * size) > memory():
        raise too_large(name, f"It has {told.num_rows} rows of {told.num_columns} columns, {size / 1e9:.1f} GB in all.")


def _columns(batch) -> tuple[list[str], list[list[str]], list[str]]:
    """Names and cells of the columns, and the names of those that hold bytes."""
    from pyarrow import types

    bytes_of = [types.is_binary(t) or types.is_large_binary(t) or types.is_fixed_size_binary(t) for t in batch.schema.types]
    kept = [i for i, is_bytes in enumerate(bytes_of) if not is_bytes]
    left = [name for name, is_bytes in zip(batch.schema.names, bytes_of) if is_bytes]
    return [batch.schema.names[i] for i in kept], [[cell(v) for v in batch.column(i).to_pylist()] for i in kept], left
