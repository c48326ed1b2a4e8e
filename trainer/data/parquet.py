"""Tables from Parquet files."""

from pathlib import Path

from trainer.data.objects import cell
from trainer.data.table import NotATable, Table

BATCH = 10_000


def read(name: str, file: Path) -> Table:
    """The rows of a Parquet file, counted from 1; lists and structures become JSON. Raises NotATable."""
    import pyarrow  # heavy, so only where there is such a file
    import pyarrow.parquet

    try:
        with pyarrow.parquet.ParquetFile(file) as source:
            names = list(source.schema_arrow.names)
            rows: list[tuple[int, list[str]]] = []
            for batch in source.iter_batches(BATCH):
                columns = [[cell(v) for v in column.to_pylist()] for column in batch.columns]
                rows += zip(range(len(rows) + 1, len(rows) + batch.num_rows + 1), map(list, zip(*columns)))
    except (pyarrow.ArrowException, OSError, ValueError, OverflowError) as e:
        raise NotATable("is not a Parquet file that can be read") from e
    return Table(name, names, rows)
