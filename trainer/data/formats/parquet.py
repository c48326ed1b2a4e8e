"""Tables from Parquet files."""

import itertools
import json
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import BinaryIO

import numpy

from trainer.core import by_blocks, column_files, mapped
from trainer.data.columns import clocks
from trainer.data.formats import parquet_images
from trainer.data.formats.arrow_table import ArrowTable
from trainer.data.formats.memory import CELL_BYTES, MEMORY_SHARE, Looked, OfColumn, check_in_columns, row_bytes, too_large
from trainer.data.formats.objects import cell
from trainer.data.formats.table import NotATable, Table
from trainer.errors import is_full, some
from trainer.memory import memory

BATCH = 10_000
LARGE = 2_000_000  # cells from which a file is read into columns
_READ_BYTES = 1 << 20  # of a column at once: else the whole column of a row group is in memory, which may be the file
_NUMBER = 8  # bytes of a cell, about
_FEW_BYTES = 2.5  # of a cell in a column of few different cells, which are numbers there
MOST_CELLS = 2_000_000_000  # of a file: their places alone take 16 GB of disk
_LEAST, _MOST = 1e-4, 1e10  # numbers between them are written without an exponent, by Arrow as by Python
_YEARS = 1700, 2200  # which times of every unit can have
_FEATURES = b"huggingface"  # the key in the file's metadata under which Hugging Face describes the columns
_METADATA_BYTES = 4 << 20
_MAX_NAMES = 10_000


def look(name: str, file: Path, only: Collection[str], named: Collection[str]) -> Looked | None:
    """What the footer of a Parquet file tells of the columns that ``read`` reads; None where it cannot be read."""
    import pyarrow
    import pyarrow.parquet

    try:
        with pyarrow.parquet.ParquetFile(file, pre_buffer=False, buffer_size=_READ_BYTES) as source:
            kept = _of_only(_kept(source.schema_arrow, set()), only)
            rows, columns = source.metadata.num_rows, _columns(source, kept, named)
    except (pyarrow.ArrowException, OSError, ValueError, OverflowError, IndexError):
        return None
    cells = rows * len(kept)
    return Looked(name, tuple(sorted(p.lower() for p in kept)), rows, row_bytes(columns), cells * _NUMBER, cells / max(1, LARGE))


def read(
    name: str, file: Path | BinaryIO, folder: Path | None = None, only: Collection[str] = (), named: Collection[str] = (), large: bool = False
) -> Table:
    """The rows of a Parquet file, counted from 1. Structures become columns with dotted names, lists become JSON. A cell of a column of
    images is the name that ``parquet_images.name_of`` gives to the image; other columns of bytes are left out. Numbers that stand for
    names, as the file says, become these names. The cells of a large file, and of a part of a ``large`` table, are in files on the volume of
    ``folder``, if it is given; of its columns those in ``only`` are read, if any is named. ``named`` are those of ids and groups, both in lower
    case. Raises NotATable, UserError for a file that will not fit into memory, before it is read, and OSError where that disk is full.
    """
    import pyarrow  # heavy, so only where there is such a file
    import pyarrow.parquet

    try:
        with pyarrow.parquet.ParquetFile(file, pre_buffer=False, buffer_size=_READ_BYTES) as source:
            images = parquet_images.columns(source)
            kept = _kept(source.schema_arrow, set(images.values()))
            rows = source.metadata.num_rows
            if folder is not None and kept and (large or rows * len(kept) >= LARGE):
                if only:
                    kept = _of_only(kept, only)
                    images = {path: column for path, column in images.items() if _is_in(only, column)}
                _check_columns(name, source, kept, named)
                return _in_columns(name, source, images, kept, folder)
            _check_size(name, source.metadata, kept)
            names = list(kept)
            columns: list[list[str]] = [[] for _ in kept]
            for part in source.iter_batches(BATCH, columns=list(kept)) if kept else ():
                batch = pyarrow.Table.from_batches([part]).flatten()
                names = list(batch.schema.names)
                columns = columns if len(columns) == len(names) else [[] for _ in names]
                for cells, column in zip(columns, batch.columns):
                    cells += [cell(v) for v in column.to_pylist()]
            classes = class_names(source.schema_arrow.metadata)
    except (pyarrow.ArrowException, OSError, ValueError, OverflowError, IndexError) as e:
        if is_full(e):
            raise
        raise NotATable("is not a readable Parquet file") from e
    left = [n for path, n in parquet_images.byte_columns(source.schema_arrow).items() if path not in images]
    if not rows:
        raise NotATable("has no rows")
    if left and not images and len(names) < 2:
        raise NotATable(f"contains files that are no images in its column {left[0]}")
    notes = [f"columns of bytes are not read: {some(left, 4)}"] if left else []
    for i, column in enumerate(names):
        if column in classes:
            columns[i] = _named(columns[i], classes[column])
            notes.append(f"the numbers in {column} stand for {some(classes[column], 6)}, as the file says")
    for column in dict.fromkeys(images.values()):
        names.insert(0, column)
        columns.insert(0, [parquet_images.name_of(name, column, row) for row in range(1, rows + 1)])
        notes.append(f"its column {column} contains images")
    return Table(name, names, list(zip(range(1, rows + 1), map(list, zip(*columns)))), notes=notes)


def _in_columns(name: str, source, images: dict[str, str], kept: dict[str, str], folder: Path) -> Table:
    """The same table, of a large file."""
    import pyarrow

    rows = source.metadata.num_rows
    classes = class_names(source.schema_arrow.metadata)
    pictures = list(dict.fromkeys(images.values()))[::-1]
    names: list[str] = []

    def batches() -> Iterator[pyarrow.RecordBatch]:
        row = 0
        for part in source.iter_batches(BATCH, columns=list(kept)):
            batch = pyarrow.Table.from_batches([part]).flatten().combine_chunks()
            names[:] = [*pictures, *batch.schema.names]
            columns = [_texts([parquet_images.name_of(name, column, row + i) for i in range(1, len(batch) + 1)]) for column in pictures]
            columns += [_column(c.combine_chunks(), classes.get(n, [])) for n, c in zip(batch.schema.names, batch.columns)]
            row += len(batch)
            yield pyarrow.record_batch(columns, names=[f"{i}" for i in range(len(columns))])

    every = batches()
    if (first := next(every, None)) is None:
        raise NotATable("has no rows")
    size = rows * len(first.schema) * _NUMBER
    cells = column_files.written(itertools.chain([first], every), first.schema, size, folder).slice(0, rows)
    skipped = [n for path, n in parquet_images.byte_columns(source.schema_arrow).items() if path not in images]
    notes = [f"columns of bytes are not read: {some(skipped, 4)}"] if skipped else []
    notes += [f"the numbers in {n} stand for {some(classes[n], 6)}, as the file says" for n in names[len(pictures) :] if n in classes]
    notes += [f"its column {column} contains images" for column in pictures[::-1]]
    if skipped and not images and len(names) < 2:
        raise NotATable(f"contains files that are no images in its column {skipped[0]}")
    return ArrowTable(Table(name, names, [], notes=notes), cells, _row_numbers(len(cells), folder))


def _row_numbers(count: int, folder: Path) -> numpy.ndarray:
    sort = by_blocks.positions(count)
    blocks = (numpy.arange(i + 1, min(i + by_blocks.BLOCK, count) + 1, dtype=sort) for i in range(0, count, by_blocks.BLOCK))
    return mapped.rows(blocks, (count,), sort, folder)


def _column(cells, names: list[str]):
    """The cells of a part of a column as text. Raises ArrowInvalid for bytes that are none."""
    import pyarrow

    of = cells.type
    if names:
        return _texts(_named([cell(v) for v in cells.to_pylist()], names))
    if pyarrow.types.is_dictionary(of):
        return _column(cells.dictionary_decode(), names)
    if pyarrow.types.is_string(of) or pyarrow.types.is_large_string(of):
        cells.validate(full=True)
        return cells.cast(pyarrow.large_string()).fill_null("")
    if pyarrow.types.is_integer(of) or pyarrow.types.is_boolean(of):
        return cells.cast(pyarrow.large_string()).fill_null("")
    if pyarrow.types.is_float32(of) or pyarrow.types.is_float64(of):
        return _numbers(cells.cast(pyarrow.float64()))
    if pyarrow.types.is_date32(of) or (pyarrow.types.is_timestamp(of) and of.tz is None):
        return _times(cells)
    return _texts([cell(v) for v in cells.to_pylist()])


def _numbers(cells):
    """The text that ``cell`` makes of each number. Arrow writes those without an exponent in the same way."""
    import pyarrow
    import pyarrow.compute as pc

    kind = pyarrow.large_string()
    is_zero, size = pc.equal(cells, 0.0), pc.abs(cells)
    cells = pc.if_else(is_zero, 0.0, cells)  # without a sign
    texts = pc.if_else(pc.is_nan(cells), pyarrow.scalar("NaN", kind), cells.cast(kind)).fill_null("")
    alike = pc.or_(pc.or_(is_zero, pc.is_nan(cells)), pc.and_(pc.greater_equal(size, _LEAST), pc.less(size, _MOST))).fill_null(True)
    if alike.false_count:
        others = pc.invert(alike)
        texts = pc.replace_with_mask(texts, others, _texts([cell(v) for v in cells.filter(others).to_pylist()]))
    return texts


def _times(cells):
    """The text that ``cell`` makes of each date or time. Arrow writes those of whole seconds in these centuries in the same way."""
    import pyarrow
    import pyarrow.compute as pc

    try:
        whole = cells if pyarrow.types.is_date32(cells.type) else cells.cast(pyarrow.timestamp("s"))
        first, last = (pc.year(v).as_py() for v in pc.min_max(whole).values())
    except pyarrow.ArrowInvalid:  # parts of a second
        first = last = None
    if first is None or first < _YEARS[0] or last >= _YEARS[1]:
        return _texts([cell(v) for v in cells.to_pylist()])
    return whole.cast(pyarrow.large_string()).fill_null("")


def _texts(cells: list[str]):
    import pyarrow

    return pyarrow.array(cells, pyarrow.large_string())


def class_names(metadata: dict | None) -> dict[str, list[str]]:
    """The names that the numbers in a column stand for, by column, where the metadata of Hugging Face says so: ClassLabel, or a list of it."""
    text = (metadata or {}).get(_FEATURES, b"")
    if not text or len(text) > _METADATA_BYTES:
        return {}
    try:
        features = json.loads(text)["info"]["features"]
        return {column: names for column, feature in features.items() if (names := _names(feature))}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}


def _names(feature) -> list[str]:
    """The names of a ClassLabel, however its lists are written."""
    if isinstance(feature, list) and len(feature) == 1:
        return _names(feature[0])
    if not isinstance(feature, dict):
        return []
    if feature.get("_type") in ("Sequence", "List", "LargeList"):
        return _names(feature.get("feature"))
    names = feature.get("names") if feature.get("_type") == "ClassLabel" else None
    good = isinstance(names, list) and 0 < len(names) <= _MAX_NAMES and all(isinstance(n, str) and n.strip() for n in names)
    return names if good else []


def _named(cells: list[str], names: list[str]) -> list[str]:
    """``cells`` with names in place of numbers, also in lists. Where a label is not known, these files have -1, which becomes empty."""
    known = {str(i): n for i, n in enumerate(names)} | {"-1": ""}
    read = {}
    for text in set(cells):
        if text[:1] == "[":
            numbers = json.loads(text)
            read[text] = json.dumps([known.get(str(n), n) for n in numbers], ensure_ascii=False)
        else:
            read[text] = known.get(text, text)
    return [read[c] for c in cells]


def _kept(schema, images: set[str]) -> dict[str, str]:
    """The paths of what is read as text, each with the name of its column: all but bytes, and of a column of images nothing."""
    skipped = parquet_images.byte_columns(schema)
    kept = {}
    for field in schema:
        if field.name in images or field.name in skipped:
            continue
        if inner := [path for path, name in skipped.items() if name == field.name]:
            entries = [f"{field.name}.{field.type.field(i).name}" for i in range(field.type.num_fields)]
            kept.update({path: field.name for path in entries if path not in inner})
        else:
            kept[field.name] = field.name
    return kept


def _of_only(kept: dict[str, str], only: Collection[str]) -> dict[str, str]:
    """Those of the paths ``kept`` that are among the columns ``only``; all where none is, or where these are none."""
    return {path: column for path, column in kept.items() if _is_in(only, path)} or kept


def _is_in(only: Collection[str], path: str) -> bool:
    """Whether one of the columns ``only`` is the one with this path, or a part of it."""
    path = path.strip().lower()
    return any(wanted == path or wanted.startswith(f"{path}.") for wanted in only)


def _check_columns(name: str, source, kept: dict[str, str], named: Collection[str]) -> None:
    """As ``_check_size``, for cells that stay in a mapped file."""
    rows = source.metadata.num_rows
    if rows * len(kept) > MOST_CELLS:
        raise too_large(name, f"It has {rows} rows, of which {len(kept)} columns are to be read; at most {MOST_CELLS:,} cells are read.")
    check_in_columns(name, rows, _columns(source, kept, named), memory())


def _columns(source, kept: Collection[str], named: Collection[str]) -> list[OfColumn]:
    """What the footer tells of the columns ``kept``."""
    import pyarrow

    times = {f.name for f in source.schema_arrow if pyarrow.types.is_temporal(f.type)}
    rows = source.metadata.num_rows
    return [
        OfColumn(path.lower() in named, size < _FEW_BYTES * rows, clocks.is_of_rows(path) and (path in times or clocks.may_be(path, 0.0, True, ())))
        for path, size in _sizes(source.metadata, kept).items()
    ]


def _sizes(metadata, kept: Collection[str]) -> dict[str, int]:
    """The bytes of each column of ``kept`` before they were packed, as the footer has them."""
    found = dict.fromkeys(kept, 0)
    for i in range(metadata.num_row_groups):
        group = metadata.row_group(i)
        for part in (group.column(j) for j in range(group.num_columns)):
            path: str = part.path_in_schema
            while path and path not in found:
                path = path.rpartition(".")[0]
            if path:
                found[path] += part.total_uncompressed_size
    return found


def _check_size(name: str, metadata, kept: dict[str, str]) -> None:
    """Raise UserError where the file says that its rows would fill the memory: a kilobyte may hold a billion equal ones."""
    size = sum(_sizes(metadata, kept).values())
    if max(CELL_BYTES * metadata.num_rows * metadata.num_columns, MEMORY_SHARE * size) > memory():
        raise too_large(name, f"It has {metadata.num_rows} rows of {metadata.num_columns} columns, {size / 1e9:.1f} GB in all.")
