"""Reads columns of large tables into arrays: identifiers as numbers of distinct values, measures as floats, others as text.

There is no Python object for each cell, so that an edge list of 30 million rows takes some hundred megabytes.
"""

import re
from dataclasses import dataclass, field
from typing import cast

import numpy
import pyarrow
import pyarrow.compute
import pyarrow.csv
import pyarrow.parquet

from trainer.data import names
from trainer.data.formats import tables
from trainer.data.formats.memory import MEMORY_SHARE, too_large
from trainer.data.formats.table import NotATable
from trainer.kinds.graph.reading.heads import BLANKS, Head
from trainer.memory import memory
from trainer.run_folder.events import Events

BLOCK = 8 << 20
WIDEST_LINE = 64 << 20  # bytes of one row
_POWERS = 10 ** numpy.arange(1, 19, dtype=numpy.int64)  # a whole number has one digit more for each that it reaches
_WHOLE_FLOAT = r"^[0-9]+\.0+$"
_SPACE = re.compile(rb"[ \t]+")
_DENSE = 8  # times as many numbers as rows are counted in a table of flags; beyond, they are sorted


class NotReadable(Exception):
    """The file is no table of these columns. The message is the end of a sentence that starts with "it"."""


@dataclass(frozen=True)
class Ids:
    """A column of identifiers: ``values`` has each of them once, ``codes`` the place of each row's in it.

    ``numbers`` are the values as whole numbers, where all of them are written as programs write these; else None.
    """

    values: pyarrow.Array
    codes: numpy.ndarray  # int32
    numbers: numpy.ndarray | None = None

    def kept(self, rows: numpy.ndarray) -> "Ids":
        """The column with only some of its rows. ``values`` stay."""
        return Ids(self.values, self.codes[rows], self.numbers)


@dataclass(frozen=True)
class Columns:
    """Columns of a table that have the same rows. Rows without one of the identifiers are left out and counted in ``bad``."""

    ids: dict[str, Ids]
    numbers: dict[str, numpy.ndarray] = field(default_factory=dict)  # float64; NaN where there is no number
    cells: dict[str, pyarrow.Array] = field(default_factory=dict)  # trimmed texts
    rows: int = 0
    bad: int = 0


def read(head: Head, ids: list[str], cells: tuple[str, ...] = (), settings=None) -> Columns:
    """The columns of these names, of all rows. Raises NotReadable, and UserError for a file that does not fit into the memory."""
    wanted = list(dict.fromkeys((*ids, *cells)))
    whole = _Collected(wanted, ids)
    for batch, bad in batches(head, wanted, settings, dict.fromkeys(ids, pyarrow.int64()) if head.kind == "parquet" else None):
        whole.add(batch, bad)
    return whole.finished()


class _Collected:
    """The batches of a table. Identifiers are kept as whole numbers as long as all of them are such."""

    def __init__(self, wanted: list[str], ids: list[str]):
        self.ids, self.bad, self.rows = ids, 0, 0
        self.parts: dict[str, list] = {n: [] for n in wanted}

    def add(self, batch: dict[str, pyarrow.Array], bad: int) -> None:
        empty = numpy.zeros(len(next(iter(batch.values()))), bool)
        for name in self.ids:
            empty |= _is_empty(batch[name])
        if empty.any():
            keep = pyarrow.array(~empty)
            batch = {n: c.filter(keep) for n, c in batch.items()}
        self.bad += bad + int(empty.sum())
        self.rows += int((~empty).sum())
        for name, column in batch.items():
            self.parts[name].append(_compact(column) if name in self.ids else column)

    def finished(self) -> Columns:
        ids = {n: _ids(self.parts[n]) for n in self.ids}
        cells = {n: _joined(p) for n, p in self.parts.items() if n not in self.ids}
        return Columns(ids, {}, {n: pyarrow.compute.utf8_trim_whitespace(c) for n, c in cells.items()}, self.rows, self.bad)


def _is_empty(column: pyarrow.Array) -> numpy.ndarray:
    if pyarrow.types.is_integer(column.type):
        return numpy.asarray(column.is_null())
    return numpy.asarray(pyarrow.compute.equal(pyarrow.compute.binary_length(column), 0))


def _joined(parts: list[pyarrow.Array]) -> pyarrow.Array:
    whole = pyarrow.chunked_array(parts, pyarrow.string()) if parts else pyarrow.chunked_array([], pyarrow.string())
    return (
        pyarrow.concat_arrays([c.cast(pyarrow.large_string()) for c in whole.chunks])
        if whole.num_chunks
        else pyarrow.array([], pyarrow.large_string())
    )


def _compact(column: pyarrow.Array):
    """Identifiers of a batch as whole numbers, else as a dictionary."""
    if pyarrow.types.is_integer(column.type):
        numbers = numpy.asarray(column)
        if not len(numbers) or (numbers.min() >= 0 and numbers.max() <= _POWERS[-1]):
            return numbers
        return column.cast(pyarrow.string()).dictionary_encode()
    numbers = whole_numbers(column)
    return column.dictionary_encode() if numbers is None else numbers


def whole_numbers(texts: pyarrow.Array) -> numpy.ndarray | None:
    """The texts as whole numbers, if each is written as programs write one: 35, but not 035, +35 or 35.0."""
    try:
        numbers = numpy.asarray(texts.cast(pyarrow.int64()))
    except pyarrow.ArrowInvalid:
        return None
    if len(numbers) and (numbers.min() < 0 or numbers.max() > _POWERS[-1]):
        return None
    lengths = numpy.asarray(pyarrow.compute.binary_length(texts))
    return numbers if bool((numpy.searchsorted(_POWERS, numbers, side="right") + 1 == lengths).all()) else None


def _ids(parts: list) -> Ids:
    if all(isinstance(p, numpy.ndarray) for p in parts):
        return of_numbers(numpy.concatenate(parts) if parts else numpy.zeros(0, numpy.int64))
    texts = [p if not isinstance(p, numpy.ndarray) else pyarrow.array(p).cast(pyarrow.string()).dictionary_encode() for p in parts]
    whole = pyarrow.chunked_array(texts).unify_dictionaries()
    codes = numpy.concatenate([numpy.asarray(c.indices) for c in whole.chunks])
    return of_texts(whole.chunk(0).dictionary, codes) if whole.num_chunks else of_numbers(numpy.zeros(0, numpy.int64))


def of_numbers(numbers: numpy.ndarray) -> Ids:
    """A column of whole numbers that are not negative."""
    if len(numbers) and numbers.max() < _DENSE * len(numbers) + 1_000_000:
        there = numpy.zeros(int(numbers.max()) + 1, bool)
        there[numbers] = True
        different = numpy.flatnonzero(there)
        place = numpy.cumsum(there, dtype=numpy.int32) - 1
        codes = place[numbers]
    else:
        different, codes = numpy.unique(numbers, return_inverse=True)
    return Ids(pyarrow.array(different).cast(pyarrow.string()), codes.astype(numpy.int32), different)


def of_texts(values: pyarrow.Array, codes: numpy.ndarray | None = None) -> Ids:
    """A column of texts: ``codes`` says for each row its place in ``values``, which may hold a text twice; without it each value is a row.

    Blanks at the ends count for nothing. Where all are whole numbers with a zero behind the point, as programs write a column with gaps,
    they are read as whole numbers.
    """
    plain = pyarrow.compute.utf8_trim_whitespace(values.cast(pyarrow.string()))
    numbers = whole_numbers(plain)
    if numbers is None:
        used = plain if codes is None else plain.take(pyarrow.array(numpy.unique(codes)))
        if len(used) and pyarrow.compute.all(pyarrow.compute.match_substring_regex(used, _WHOLE_FLOAT)).as_py():
            plain = pyarrow.compute.replace_substring_regex(plain, r"\.0+$", "")
            numbers = whole_numbers(plain)
    codes = numpy.arange(len(values), dtype=numpy.int32) if codes is None else codes
    if numbers is not None:
        return of_numbers(numbers[codes])
    again = plain.dictionary_encode()
    return Ids(again.dictionary, numpy.asarray(again.indices)[codes].astype(numpy.int32))


def batches(head: Head, wanted: list[str], settings, types: dict | None = None):
    """Yields (columns of a part of the rows, bad rows in it). Cells are texts, or what ``types`` says of their column."""
    if head.kind == "parquet":
        yield from _parquet(head, wanted, types or {})
    elif head.kind == "json":
        yield _objects(head, wanted, settings)
    else:
        yield from _delimited(head, wanted, types or {})


def _parquet(head: Head, wanted: list[str], types: dict):
    try:
        with pyarrow.parquet.ParquetFile(head.source.file, pre_buffer=False) as opened:
            rows, size = opened.metadata.num_rows, sum(opened.metadata.row_group(i).total_byte_size for i in range(opened.metadata.num_row_groups))
            if max(size, 16 * rows * len(wanted)) > memory():
                raise too_large(head.name, f"It has {rows} rows, {size / 1e9:.1f} GB in all.")
            for batch in opened.iter_batches(1 << 20, columns=wanted):
                yield {n: _as(types.get(n), batch.column(n)) for n in wanted}, 0
    except (pyarrow.ArrowException, OSError, ValueError) as e:
        raise NotReadable("is not a readable Parquet file") from e


def _as(wanted: pyarrow.DataType | None, column: pyarrow.Array) -> pyarrow.Array:
    """The cells as texts. Where numbers are wanted, and they are such numbers, as these: texts would take most of the time. Whole numbers are
    wanted where they fit; floats may be meant as other texts."""
    numeric = pyarrow.types.is_signed_integer(column.type) or (pyarrow.types.is_floating(column.type) and wanted != pyarrow.int64())
    return column.cast(wanted, safe=False) if wanted is not None and numeric else _as_texts(column)


def _as_texts(column: pyarrow.Array) -> pyarrow.Array:
    """The cells as texts; whole numbers that are stored as floats without their point."""
    if pyarrow.types.is_floating(column.type):
        values = numpy.asarray(column.cast(pyarrow.float64()))
        there = values[~numpy.isnan(values)]
        if len(there) and (there == numpy.floor(there)).all() and numpy.abs(there).max() < 2**53:
            column = pyarrow.array(values, from_pandas=True).cast(pyarrow.int64())
    try:
        texts = column.cast(pyarrow.string())
    except (pyarrow.ArrowInvalid, pyarrow.ArrowNotImplementedError):
        texts = pyarrow.array([None if v is None else str(v) for v in column.to_pylist()], pyarrow.string())
    return pyarrow.compute.fill_null(texts, "")


def _objects(head: Head, wanted: list[str], settings) -> tuple[dict[str, pyarrow.Array], int]:
    try:
        table = tables.read(head.source, set(), settings, cast(Events, _Silent()))
    except NotATable as e:
        raise NotReadable(str(e)) from e
    if table.lacks(wanted):  # objects within objects
        raise NotReadable("has objects where identifiers should be")
    return {n: pyarrow.array([c.strip() for c in table.cells(n)], pyarrow.string()) for n in wanted}, table.bad_rows


class _Silent:
    """Stands for the events of a run where the caller tells what matters itself."""

    def decision(self, *_) -> None: ...

    def warning(self, *_) -> None: ...


def _delimited(head: Head, wanted: list[str], types: dict):
    bad = [0]

    def skip(_row) -> str:
        bad[0] += 1
        return "skip"

    read = pyarrow.csv.ReadOptions(
        column_names=list(head.columns), skip_rows=head.skip, encoding=head.encoding, block_size=max(BLOCK, 4 * _longest(head)), use_threads=False
    )  # fmt: skip
    parse = pyarrow.csv.ParseOptions(
        delimiter="\t" if head.delimiter == BLANKS else head.delimiter, quote_char='"' if head.quoted else False,
        newlines_in_values=head.quoted and any("\n" in c for row in head.rows for c in row), invalid_row_handler=skip,
    )  # fmt: skip
    kinds = {n: types.get(n, pyarrow.string()) for n in wanted}
    convert = pyarrow.csv.ConvertOptions(include_columns=wanted, column_types=kinds, strings_can_be_null=False, quoted_strings_can_be_null=False)
    rows = 0
    try:
        with pyarrow.csv.open_csv(_content(head), read, parse, convert) as reader:
            for batch in reader:
                rows += batch.num_rows
                yield dict(zip(wanted, batch.columns)), bad[0]
                bad[0] = 0
    except (pyarrow.ArrowException, UnicodeDecodeError, OSError) as e:
        raise NotReadable("cannot be split into rows") from e


def _longest(head: Head) -> int:
    return min(WIDEST_LINE, max((sum(map(len, row)) + len(row) for row in head.rows), default=0))


def _content(head: Head):
    """The file, or its bytes with one tab in place of several blanks."""
    if head.delimiter != BLANKS:
        return pyarrow.OSFile(str(head.source.file))
    if 2 * head.source.size > memory() // MEMORY_SHARE:
        raise too_large(head.name, "A table whose columns are separated by blanks is read as a whole.")
    data = tables.content(head.source)
    lines = re.sub(rb"(?m)^[ \t]+|[ \t]+(?=\r?$)", b"", data)
    return pyarrow.BufferReader(_SPACE.sub(b"\t", lines))


def numbers(cells: pyarrow.Array) -> numpy.ndarray:
    """Texts as numbers (float64), NaN where a text is none."""
    from trainer.data.columns import values

    try:
        filled = pyarrow.compute.if_else(pyarrow.compute.equal(cells, ""), None, cells)
        return numpy.asarray(filled.cast(pyarrow.float64()).fill_null(numpy.nan), numpy.float64)
    except pyarrow.ArrowInvalid:
        listed = cells.to_pylist()
        comma = values.uses_comma(listed)
        return numpy.array([numpy.nan if (v := values.number(c, comma)) is None else v for c in listed], numpy.float64)


def union(columns: list[Ids]) -> tuple[pyarrow.Array, list[numpy.ndarray]]:
    """All values of the columns in natural order, and for each column the place of each of its values among them (int32)."""
    if all(c.numbers is not None for c in columns):
        different = numpy.unique(numpy.concatenate([c.numbers for c in columns]))
        return pyarrow.array(different).cast(pyarrow.string()), [numpy.searchsorted(different, c.numbers).astype(numpy.int32) for c in columns]
    texts = pyarrow.concat_arrays([c.values for c in columns]).unique()
    ordered = natural_order(texts)
    return ordered, [places(c.values, ordered) for c in columns]


def natural_order(texts: pyarrow.Array) -> pyarrow.Array:
    """Different texts in an order that puts "10" after "9" and depends on nothing else than the texts."""
    if (found := whole_numbers(texts)) is not None:
        return texts.take(pyarrow.array(numpy.argsort(found, kind="stable")))
    return pyarrow.array(sorted(texts.to_pylist(), key=lambda t: (names.natural(t), t)), pyarrow.string())


def places(values: pyarrow.Array, ordered: pyarrow.Array) -> numpy.ndarray:
    """For each value its place in ``ordered``, -1 where it is not there (int32)."""
    found = pyarrow.compute.index_in(values, value_set=ordered)
    return numpy.asarray(pyarrow.compute.fill_null(found, -1)).astype(numpy.int32)
