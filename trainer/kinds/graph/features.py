"""Features of nodes from their columns, and the same features for nodes that come later.

``learn`` fits parts: columns of numbers, categories, and bags of words (columns of zeros and ones, lists of words, texts). Each part is
described by JSON and perhaps an array, from which ``encode`` makes the features of new nodes. A gap counts as the mean of its column, or
as no word.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy

from trainer.errors import count, some
from trainer.kinds.graph import encoded_texts, words
from trainer.kinds.graph.large_arrays import allocate
from trainer.kinds.graph.reading_progress import ReadingProgress
from trainer.models.catalogue import Base

NUMBERS, CATEGORY, WORDS, TEXT, FLAGS, ENCODED = "numbers", "category", "words", "text", "flags", "encoded"
LIMIT = 10.0  # standard deviations: one outlier must not dominate a node
BLOCK = 65_536  # nodes


@dataclass
class Columns:
    """The columns of nodes that features are made of. All have one entry for each node."""

    nodes: int
    numbers: list[tuple[tuple[str, ...], numpy.ndarray]] = field(default_factory=list)  # names; float32 (nodes, names), NaN is a gap
    categories: dict[str, list[str]] = field(default_factory=dict)  # an empty cell is a gap
    texts: dict[str, list[str]] = field(default_factory=dict)
    bags: dict[str, tuple[Any, tuple[str, ...]]] = field(default_factory=dict)  # scipy.sparse.csr_matrix (nodes, vocabulary), vocabulary


@dataclass
class Features:
    """``described`` is JSON, ``arrays`` are what it refers to by name: both together make the features of new nodes."""

    x: numpy.ndarray | None  # float32 (nodes, width)
    columns: tuple[str, ...] = ()
    described: dict = field(default_factory=dict)
    arrays: dict[str, numpy.ndarray] = field(default_factory=dict)
    sentences: list[str] = field(default_factory=list)


def learn(columns: Columns, links: bool, seed: int, work: Path, encoder: Base | None = None, progress: ReadingProgress | None = None) -> Features:
    """The features of all nodes. ``links``: edges are predicted, for which wide sparse features are as good projected. ``encoder`` reads texts,
    and tells ``progress``; without one their words are hashed."""
    parts: list[dict] = []
    arrays: dict[str, numpy.ndarray] = {}
    blocks: list = []  # arrays, or a function of the rows
    sentences: list[str] = []
    bags = dict(columns.bags)
    for names, dense in columns.numbers:
        flags, rest = words.flags(dense)
        if len(flags):
            bags[f"{names[flags[0]]} … {names[flags[-1]]}"] = (words.of_flags(dense, flags), tuple(names[i] for i in flags))
        if len(rest):
            part, values = _numbers(tuple(names[i] for i in rest), dense if len(rest) == dense.shape[1] else dense[:, rest], sentences)
            parts.append(part)
            blocks.append(values)
    for name, cells in columns.categories.items():
        parts.append({"kind": CATEGORY, "column": name, "values": sorted({c for c in cells if c})})
        blocks.append(_one_hot(cells, parts[-1]["values"]))
        _tell_gaps(name, sum(not c for c in cells), len(cells), "none of its values", sentences)
    for name, (matrix, vocabulary) in bags.items():
        kind = FLAGS if name not in columns.bags else WORDS
        _bag({"kind": kind, "column": name, "vocabulary": list(vocabulary)}, matrix, links, seed, parts, arrays, blocks, sentences)
    for name, cells in columns.texts.items():
        if encoder is not None:
            vectors = encoded_texts.vectors(encoder, cells, progress)
            part, values = _numbers(tuple(map(str, range(vectors.shape[1]))), vectors, [])
            parts.append({"kind": ENCODED, "column": name, "encoder": encoded_texts.described(encoder), "mean": part["mean"], "std": part["std"]})
            blocks.append(values)
            sentences.append(f"{encoder.name} reads the texts in {name}: {len(part['mean'])} numbers for each.")
            _tell_gaps(name, sum(not c.strip() for c in cells), len(cells), "the mean of all texts", sentences)
            continue
        matrix = words.of_texts(cells)
        _bag({"kind": TEXT, "column": name, "buckets": words.BUCKETS}, matrix, links, seed, parts, arrays, blocks, sentences)
        _tell_gaps(name, sum(not c for c in cells), len(cells), "no words", sentences)
    if not blocks:
        return Features(None)
    names = tuple(n for p in parts for n in (p["columns"] if p["kind"] == NUMBERS else [p["column"]]))
    return Features(_joined(blocks, columns.nodes, work), names, {"parts": parts}, arrays, sentences)


def encode(
    described: dict, arrays: dict[str, numpy.ndarray], columns: dict[str, list[str]], rows: int, models: Path, progress: ReadingProgress | None = None
) -> numpy.ndarray:
    """The features (float32) of new nodes from their columns as text; columns that are missing count as gaps. ``models`` has the installed
    models, one of which may read the texts and tell ``progress``: UserError where it is not there.

    A part of zeros and ones reads the columns of its vocabulary. A list of words is JSON, or words with blanks between them.
    """
    blocks = [_encoded(part, arrays, columns, rows, models, progress) for part in described["parts"]]
    return numpy.concatenate(blocks, axis=1) if blocks else numpy.zeros((rows, 0), numpy.float32)


def plain_words(described: dict, arrays: dict[str, numpy.ndarray]) -> numpy.ndarray | None:
    """What the features are multiplied by (float32, width) so that a rare word counts as much as a frequent one; None where they are not all words,
    or are projected."""
    parts = described.get("parts") or []
    if not parts or not all(p.get("weights") and not p.get("basis") for p in parts):
        return None
    return numpy.concatenate([1 / arrays[p["weights"]] for p in parts]).astype(numpy.float32)


def _encoded(part: dict, arrays: dict, columns: dict[str, list[str]], rows: int, models: Path, progress: ReadingProgress | None) -> numpy.ndarray:
    empty = [""] * rows
    if part["kind"] == ENCODED:
        found = encoded_texts.vectors(encoded_texts.restored(models, part["encoder"]), columns.get(part["column"], empty), progress)
        return _standardised(found, numpy.array(part["mean"], numpy.float32), numpy.array(part["std"], numpy.float32))
    if part["kind"] == NUMBERS:
        cells = [columns.get(n, empty) for n in part["columns"]]
        values = numpy.array([[_number(c) for c in column] for column in cells], numpy.float32).reshape(len(cells), rows).T
        return _standardised(values, numpy.array(part["mean"], numpy.float32), numpy.array(part["std"], numpy.float32))
    if part["kind"] == CATEGORY:
        return _one_hot(columns.get(part["column"], empty), part["values"])
    if part["kind"] == TEXT:
        matrix = words.of_texts(columns.get(part["column"], empty), part["buckets"])
    elif part["kind"] == FLAGS:
        cells = [columns.get(n, empty) for n in part["vocabulary"]]
        matrix = words.of_cells(cells, rows)
    else:
        matrix = words.of_lists(columns.get(part["column"], empty), part["vocabulary"])
    weights = arrays[part["weights"]] if part.get("weights") else None
    basis = arrays[part["basis"]] if part.get("basis") else None
    return words.projected(matrix, weights, basis, part["scale"])


def _number(cell: str) -> float:
    from trainer.data.columns import values

    found = values.number(cell)
    return numpy.nan if found is None else found


def _numbers(names: tuple[str, ...], dense: numpy.ndarray, sentences: list[str]):
    """The part of columns of numbers, and a function that standardises a block of rows."""
    total, squares, there = (numpy.zeros(len(names)) for _ in range(3))
    for begin in range(0, len(dense), BLOCK):
        part = numpy.asarray(dense[begin : begin + BLOCK], numpy.float64)
        known = ~numpy.isnan(part)
        there += known.sum(axis=0)
        total += numpy.where(known, part, 0).sum(axis=0)
        squares += numpy.where(known, part**2, 0).sum(axis=0)
    mean = total / numpy.maximum(there, 1)
    std = numpy.sqrt(numpy.maximum(squares / numpy.maximum(there, 1) - mean**2, 0))
    std[std < 1e-6 * numpy.maximum(1, numpy.abs(mean))] = 1.0
    gaps = len(dense) - there
    holed = [names[i] for i in numpy.flatnonzero(gaps)]
    if holed:
        _tell_gaps(some(holed, 4), int(gaps.sum()), len(dense) * len(names), "the mean of its column", sentences)
    low, spread = mean.astype(numpy.float32), std.astype(numpy.float32)
    described = {"kind": NUMBERS, "columns": list(names), "mean": [float(m) for m in low], "std": [float(s) for s in spread]}
    return described, lambda begin, end: _standardised(numpy.asarray(dense[begin:end]), low, spread)


def _standardised(values: numpy.ndarray, mean: numpy.ndarray, std: numpy.ndarray) -> numpy.ndarray:
    return numpy.clip(numpy.nan_to_num((values - mean) / std, nan=0.0), -LIMIT, LIMIT).astype(numpy.float32)


def _one_hot(cells: list[str], values: list[str]) -> numpy.ndarray:
    places = {c: i for i, c in enumerate(values)}
    found = numpy.zeros((len(cells), len(values)), numpy.float32)
    rows = [(row, place) for row, c in enumerate(cells) if (place := places.get(c.strip())) is not None]
    if rows:
        found[tuple(numpy.array(rows).T)] = 1
    return found


def _tell_gaps(name: str, gaps: int, cells: int, filled: str, sentences: list[str]) -> None:
    if gaps:
        sentences.append(f"{count(gaps, 'gap')} in {name} ({gaps / cells:.1%} of the cells) {'counts' if gaps == 1 else 'count'} as {filled}.")


def _bag(part: dict, matrix, links: bool, seed: int, parts: list, arrays: dict, blocks: list, sentences: list[str]) -> None:
    weights = words.weights(matrix)
    basis = words.basis(matrix, weights, links, seed)
    number = len(parts)
    part["weights"] = f"weights_{number}"
    arrays[part["weights"]] = weights
    if basis is not None:
        part["basis"] = f"basis_{number}"
        arrays[part["basis"]] = basis
        sentences.append(f"The {matrix.shape[1]} words of {part['column']} are projected to {basis.shape[1]} numbers.")
    part["scale"] = words.scale(matrix, weights, basis)
    parts.append(part)
    blocks.append(words.projected(matrix, weights, basis, part["scale"]))


def _joined(blocks: list, nodes: int, work: Path) -> numpy.ndarray:
    """All parts side by side; in a file where they are large."""
    first = [b(0, min(nodes, 1)) if callable(b) else b for b in blocks]
    width = sum(b.shape[1] for b in first)
    x = allocate((nodes, width), work)
    for begin in range(0, nodes, BLOCK):
        end = min(begin + BLOCK, nodes)
        x[begin:end] = numpy.concatenate([b(begin, end) if callable(b) else b[begin:end] for b in blocks], axis=1)
    return x
