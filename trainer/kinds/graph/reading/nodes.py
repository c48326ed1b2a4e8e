"""Reads the tables of nodes: columns of numbers as one array, words as a sparse matrix, other columns as text."""

import json
from pathlib import Path

import numpy
import pyarrow
import pyarrow.compute

from trainer.data import names
from trainer.data.columns import values
from trainer.data.formats import tables
from trainer.data.formats.decode import NotText, decode
from trainer.data.formats.memory import MEMORY_SHARE, too_large
from trainer.errors import UserError
from trainer.kinds.graph.large_arrays import allocate
from trainer.kinds.graph.reading import columns as columns_of
from trainer.kinds.graph.reading.columns import NotReadable
from trainer.kinds.graph.reading.heads import Head
from trainer.kinds.graph.reading.matching import NodeFile
from trainer.kinds.graph.reading.raw import Nodes
from trainer.memory import memory

LABEL_ENDINGS = ("label", "labels", "class", "target")
MASKS = {"train_mask": "train", "val_mask": "validation", "valid_mask": "validation", "validation_mask": "validation", "test_mask": "test"}
MAX_WORDS = 200_000  # different ones, the most frequent
MAX_CELLS = 200_000_000  # entries of a sparse matrix
_AT_ONCE = 4096  # rows
_LARGEST = 1e30  # numbers beyond it are gaps


def read(file: NodeFile, settings, work: Path) -> Nodes:
    """All columns of a table of nodes. The first row counts where an id is there twice. Raises UserError where it cannot be read."""
    head = file.head
    try:
        if file.repeated:
            return _word_rows(head, file.id, settings)
        numbers = [c for c in head.columns if c != file.id and is_number(head, c, settings)]
        cells = tuple(c for c in head.columns if c != file.id and c not in numbers)
        read = columns_of.read(head, [file.id], cells, settings)
        ids, keep = _first_rows(read.ids[file.id])
        kept = {n: c.take(pyarrow.array(keep)) for n, c in read.cells.items()}
        dense = _dense(head, file.id, numbers, read.rows, settings, work) if numbers else None
    except NotReadable as e:
        raise UserError("unreadable_file", f"The file {head.name} {e}.", "Correct the file, or set nodes_file to another one.") from e
    if dense is not None and len(keep) < read.rows:
        dense = dense[keep]
    return Nodes(head.name, ids, kept, tuple(numbers), dense)


def is_number(head: Head, column: str, settings) -> bool:
    """Whether a column is read as numbers. Labels and splits stay texts."""
    low = column.strip().lower()
    asked = {s.strip().lower() for s in (settings.label_column, settings.split_column, settings.text_column) if s.strip()}
    if low in asked or low in names.LABELS or low.endswith(LABEL_ENDINGS) or low in names.SPLIT_COLUMNS or low in MASKS:
        return False
    cells = [c for c in head.cells(column) if not values.is_missing(c)]
    return bool(cells) and sum(map(_is_float, cells)) >= values.MOSTLY * len(cells)


def _is_float(cell: str) -> bool:
    try:
        return abs(float(cell)) < values.LARGEST
    except ValueError:
        return False


def _first_rows(ids: columns_of.Ids) -> tuple[pyarrow.Array, numpy.ndarray]:
    """The ids in the order of their first rows, and these rows."""
    _, first = numpy.unique(ids.codes, return_index=True)
    keep = numpy.sort(first)
    return ids.values.cast(pyarrow.string()).take(pyarrow.array(ids.codes[keep])), keep


def _dense(head: Head, key: str, numbers: list[str], rows: int, settings, work: Path) -> numpy.ndarray:
    """The columns of numbers as one array (float32), in a file where it is large. Cells that are no numbers are gaps."""
    whole = allocate((rows, len(numbers)), work)
    kinds = dict.fromkeys(numbers, pyarrow.float32())
    try:
        _fill(whole, columns_of.batches(head, [key, *numbers], settings, kinds), key, numbers)
    except NotReadable:  # a cell is no number
        _fill(whole, columns_of.batches(head, [key, *numbers], settings), key, numbers)
    return whole


def _fill(whole: numpy.ndarray, batches, key: str, numbers: list[str]) -> None:
    place = 0
    for batch, _ in batches:
        there = numpy.flatnonzero(numpy.asarray(pyarrow.compute.greater(pyarrow.compute.binary_length(batch[key]), 0)))
        if place + len(there) > len(whole):
            raise NotReadable("changed while it was read")
        columns = [_floats(batch[n]) for n in numbers]
        for begin in range(0, len(there), _AT_ONCE):  # few rows at once, which stay in the cache while column after column is written
            rows = there[begin : begin + _AT_ONCE]
            part = whole[place : place + len(rows)]
            for i, values_of in enumerate(columns):
                part[:, i] = values_of[rows]
            part[~(numpy.abs(part) < _LARGEST)] = numpy.nan
            place += len(rows)
    if place != len(whole):
        raise NotReadable("changed while it was read")


def _floats(column: pyarrow.Array) -> numpy.ndarray:
    if pyarrow.types.is_floating(column.type):
        return numpy.asarray(pyarrow.compute.fill_null(column, float("nan")) if column.null_count else column, numpy.float32)
    return columns_of.numbers(pyarrow.compute.utf8_trim_whitespace(column)).astype(numpy.float32)


def _word_rows(head: Head, key: str, settings) -> Nodes:
    """Rows of a node, a word, and perhaps how often it has it."""
    word = next(c for c in head.columns if c != key)
    value = next((c for c in head.columns if c not in (key, word)), "")
    read = columns_of.read(head, [key, word], (value,) if value else (), settings)
    ids, words = read.ids[key], read.ids[word]
    amounts = numpy.nan_to_num(columns_of.numbers(read.cells[value])) if value else numpy.ones(read.rows)
    return from_words(head.name, ids.values.cast(pyarrow.string()), ids.codes, words.values.cast(pyarrow.string()), words.codes, amounts)


def from_words(file: str, ids: pyarrow.Array, rows: numpy.ndarray, words: pyarrow.Array, columns: numpy.ndarray, amounts: numpy.ndarray) -> Nodes:
    """Nodes with a sparse matrix of their words. Words are in natural order; a word that a node has several times counts once."""
    from scipy import sparse

    if len(rows) > MAX_CELLS:
        raise too_large(file, f"It has {len(rows)} words of nodes; {MAX_CELLS} are read.")
    ordered = columns_of.natural_order(words)
    place = columns_of.places(words, ordered)[columns]
    matrix = sparse.coo_matrix((amounts.astype(numpy.float32), (rows, place)), (len(ids), len(ordered))).tocsr()
    again = sparse.coo_matrix((numpy.ones(len(rows), numpy.float32), (rows, place)), matrix.shape).tocsr()
    matrix.data = numpy.clip(matrix.data / again.data, -1e6, 1e6)
    vocabulary = ordered.to_pylist()
    if len(vocabulary) > MAX_WORDS:
        common = numpy.sort(numpy.argsort(-matrix.getnnz(axis=0), kind="stable")[:MAX_WORDS])
        matrix, vocabulary = matrix[:, common], [vocabulary[i] for i in common]
    return Nodes(file, ids, words=matrix, vocabulary=tuple(vocabulary))


def word_lists(source, settings) -> Nodes | None:
    """The nodes of a JSON object that has for each id a list of words; None where the file is something else."""
    if source.size > memory() // MEMORY_SHARE:
        return None
    try:
        value = json.loads(decode(tables.content(source), settings.encoding)[0])
    except (ValueError, RecursionError, NotText):
        return None
    if not isinstance(value, dict) or not value or not all(isinstance(v, list) for v in value.values()):
        return None
    flat = [w for v in value.values() for w in v]
    if not flat or not all(isinstance(w, (str, int)) and not isinstance(w, bool) for w in flat):
        return None
    words = pyarrow.array([str(w) for w in flat], pyarrow.string()).dictionary_encode()
    rows = numpy.repeat(numpy.arange(len(value)), [len(v) for v in value.values()])
    ids = columns_of.of_texts(pyarrow.array([str(k) for k in value], pyarrow.string()))
    there = ids.values.cast(pyarrow.string())
    return from_words(source.name, there, ids.codes[rows], words.dictionary, numpy.asarray(words.indices), numpy.ones(len(flat)))
