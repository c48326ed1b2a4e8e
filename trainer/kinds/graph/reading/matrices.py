"""Networks as matrices: a row and a column for each node, and in each cell the weight of the edge between two of them, 0 for none.

A matrix is read as edges only where nothing else is likely: rows and columns have the same names, or none and each cell is equal to its mirror
image; no number is negative, most are 0, and so is the diagonal. Correlations, distances and counts of confusions are not so.
"""

import csv
import io
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy

from trainer.core.input import Input
from trainer.data import names
from trainer.data.columns import values
from trainer.data.formats import tables
from trainer.data.formats.decode import NotText, decode
from trainer.data.formats.table import NotATable
from trainer.data.sources import Sources

MIN_SIDE, MOST_SIDE = 10, 5_000  # nodes
_MOST_EDGES = 0.5  # of all pairs
_MOST_BYTES = 64 << 20
_HEAD = 1 << 18  # bytes of a line, and of what is read at once
_EMPTY_LINES = 3  # at the end
_DELIMITERS = ",;\t"


def as_edges(sources: Sources, settings, work: Path) -> tuple[Sources, str]:
    """The files with lists of edges and labels of nodes in place of a matrix and the lines that label its nodes, and a sentence about it.

    The files themselves, and no sentence, where there is no such matrix, where there are several, or where the user names the column to predict.
    """
    found = [(s, matrix) for s in sources.tables if (matrix := _read(s, settings)) is not None]
    if len(found) != 1:
        return sources, ""
    source, (nodes, weights) = found[0]
    replaced = {source.name: _edges(source, nodes, weights, work)}
    for other in sources.tables:
        if other is not source and names.LABEL_FILES & names.words(other.name) and (labels := _lines(other, len(nodes), settings)):
            replaced[other.name] = _written(other, ("node", "label"), list(zip(nodes, labels, strict=True)), work, "labels")
    described = f"; each line of {next(n for n in replaced if n != source.name)} is the label of a node" if len(replaced) > 1 else ""
    kept = sources.without(frozenset())
    kept.tables = [replaced.get(s.name, s) for s in kept.tables]
    why = f"{source.name} is a matrix of {len(nodes)} nodes: each cell that is not 0 is the weight of an edge from its row to its column{described}."
    return kept, why


def as_questions(tables: Sequence[Input], settings, work: Path) -> list[Input]:
    """The files with a table of nodes and one of their edges in place of a matrix. The files themselves where there is none, or several."""
    found = {s.name: matrix for s in tables if (matrix := _read(s, settings)) is not None}
    if len(found) != 1:
        return [*tables]
    asked = []
    for source in tables:
        if source.name not in found:
            asked.append(source)
            continue
        nodes, weights = found[source.name]
        head = () if nodes == _numbered(len(nodes)) else ("node",)  # a node is in the same line of the table as in that of the matrix
        asked += [_written(source, head, [(n,) for n in nodes], work, "nodes"), _edges(source, nodes, weights, work)]
    return asked


def _edges(source: Input, nodes: list[str], weights: numpy.ndarray, work: Path) -> Input:
    rows, columns = numpy.nonzero(weights)
    edges = [(nodes[i], nodes[j], repr(float(weights[i, j]))) for i, j in zip(rows.tolist(), columns.tolist())]
    return _written(source, ("source", "target", "weight"), edges, work, "edges")


def _written(source: Input, columns: tuple[str, ...], rows: Sequence[tuple[str, ...]], work: Path, name: str) -> Input:
    """The same file of the dataset, as a table with these columns; without a line of names where there are none."""
    file = work / f"matrix {name}.csv"
    work.mkdir(parents=True, exist_ok=True)
    with open(file, "w", newline="", encoding="utf-8") as target:
        csv.writer(target).writerows([*([columns] if columns else []), *rows])
    return replace(source, file=file, size=file.stat().st_size, sha256="")


def _read(source: Input, settings) -> tuple[list[str], numpy.ndarray] | None:
    """The names of the nodes and the weights; None where the file is no matrix of a network."""
    cells = _cells(source, settings)
    if cells is None:
        return None
    side = len(cells)
    named = len(cells[-1]) == side and not (cells[0][0].strip() and _are_numbers(cells[0]))
    top = [c.strip() for c in cells[0]]
    if named and len(top) == side:
        top, body = top[1:], cells[1:]
        nodes = [row[0].strip() for row in body]
        body = [row[1:] for row in body]
        if len(set(nodes)) < len(nodes) or {*nodes} != {*top}:
            return None
        order = {name: i for i, name in enumerate(top)}
        body = [[row[order[n]] for n in nodes] for row in body]
    else:
        nodes, body = _numbered(side), cells
    weights = _numbers(body)
    is_network = weights is not None and MIN_SIDE <= len(nodes) <= MOST_SIDE and _is_network(weights)
    return (nodes, weights) if weights is not None and is_network and (named or (weights == weights.T).all()) else None


def _numbered(side: int) -> list[str]:
    """The names of nodes that have none: the numbers of their lines."""
    return [str(i) for i in range(1, side + 1)]


def _is_network(weights: numpy.ndarray) -> bool:
    side = len(weights)
    edges = numpy.count_nonzero(weights) - numpy.count_nonzero(weights.diagonal())
    return bool(not weights.diagonal().any() and weights.min() >= 0 and 0 < edges <= _MOST_EDGES * side * (side - 1))


def _cells(source: Input, settings) -> list[list[str]] | None:
    """The cells of a square table, with its names; None for any other file, which the beginning tells of most."""
    if names.extension(source.name) not in ("csv", "tsv", "tab", *names.ANY_CONTENT) or source.size > _MOST_BYTES:
        return None
    try:
        with open(source.file, "rb") as file:
            first = file.readline(_HEAD)
            columns = max(len(first.split(d)) for d in (*(c.encode() for c in _DELIMITERS), None))
            lines = 1 + sum(block.count(b"\n") for block in iter(lambda: file.read(_HEAD), b""))
        if not MIN_SIDE <= columns <= MOST_SIDE + 1 or abs(lines - columns) > _EMPTY_LINES:
            return None
        text = decode(tables.content(source), settings.encoding)[0]
    except (NotText, NotATable, OSError):
        return None
    line = text.partition("\n")[0]
    delimiter = max(_DELIMITERS, key=line.count)
    if line.count(delimiter):
        try:
            rows = [row for row in csv.reader(io.StringIO(text), delimiter=delimiter) if any(c.strip() for c in row)]
        except csv.Error:
            return None
    else:
        rows = [row.split() for row in text.splitlines() if row.strip()]
    return rows if len(rows) > MIN_SIDE - 1 and {len(row) for row in rows} == {len(rows)} else None


def _are_numbers(cells: list[str]) -> bool:
    return all(values.fast_number(c, False) is not None for c in cells)


def _numbers(rows: list[list[str]]) -> numpy.ndarray | None:
    """The cells as numbers, an empty one as 0; None where one is something else."""
    try:
        found = numpy.array([[float(c) if c.strip() else 0.0 for c in row] for row in rows])
    except ValueError:
        return None
    return found if numpy.isfinite(found).all() else None


def _lines(source: Input, count: int, settings) -> list[str]:
    """The lines of a file where it has one of a single word for each of ``count`` nodes, perhaps below a name; else none."""
    if source.size > _MOST_BYTES:
        return []
    try:
        lines = [line.strip().strip('"') for line in decode(tables.content(source), settings.encoding)[0].splitlines() if line.strip()]
    except (NotText, NotATable, OSError):
        return []
    lines = lines[1:] if len(lines) == count + 1 and values.fast_number(lines[0], False) is None else lines
    return lines if len(lines) == count and not any(d in line for line in lines for d in _DELIMITERS) and len(set(lines)) < count else []
