"""From large tables to examples whose cells stay in columns: what ``Rows`` does for lists of cells, for Arrow arrays."""

from __future__ import annotations

import collections
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy

from trainer.core import mapped
from trainer.core.cells import Codes, Column, Strings, numbers_of, read_numbers
from trainer.core.columnar import Columnar, Store
from trainer.data.columns import values
from trainer.data.columns.features import NUMBER
from trainer.data.columns.values import Style
from trainer.data.formats import arrow_table
from trainer.data.formats.arrow_table import ArrowTable
from trainer.data.formats.table import Table
from trainer.kinds.rows.roles import Roles
from trainer.kinds.rows.split_rules import Marks

if TYPE_CHECKING:
    import pyarrow

LONGEST_LABEL = 500  # characters: a longer one is a text in the wrong place
_PLAIN = r"^[+-]?[0-9]{1,50}(\.[0-9]{1,50})?$"  # cells that are the same number in every way of reading, but for a decimal comma


def are_large(tables: Sequence[Table], roles: Roles) -> bool:
    """Whether the examples of these tables are to stay in columns."""
    return roles.reads_cells and any(isinstance(t, ArrowTable) for t in tables)


def examples(tables: Sequence[Table], roles: Roles, styles: dict[str, Style], marks: Marks, left: collections.Counter[str]) -> list[Columnar]:
    """The examples of each table, in one store. ``left`` counts the rows that cannot be used by the reason."""
    of_arrow = [arrow_table.of(t) for t in tables]
    counts = [len(t.numbers) for t in of_arrow]
    cells: list[Column] = []
    filled = numpy.zeros(sum(counts), bool)
    for name in roles.columns:
        column = _all(of_arrow, name)
        read = _numbers(column, styles.get(name, Style())) if roles.types[name] == NUMBER else _categories(column)
        cells.append(read)
        filled |= _filled(read)
    if empty := int((~filled).sum()):
        left["all their cells are empty"] += empty
    targets, known = _targets(of_arrow, roles, styles, left)
    store = Store(
        Codes([t.name for t in of_arrow], numpy.repeat(numpy.arange(len(counts), dtype=numpy.int32), counts)),
        numpy.concatenate([t.numbers for t in of_arrow]),
        tuple(cells),
        targets,
        _stripped(_all(of_arrow, roles.id)) if roles.id else None,
        _groups(tables, of_arrow, roles, marks),
        _times(tables, counts, marks),
    )
    mapped.rest()
    ends = numpy.cumsum([0, *counts])
    return [Columnar(store, a + numpy.flatnonzero((filled & known)[a:b])) for a, b in zip(ends, ends[1:])]


def _all(tables: list[ArrowTable], name: str) -> pyarrow.ChunkedArray:
    found = arrow_table.together(tables, name)
    assert found is not None
    return found


def _numbers(cells: pyarrow.ChunkedArray, style: Style) -> Strings:
    """The cells as ``values.as_numbers`` gives them."""
    import pyarrow
    import pyarrow.compute as pc

    if not style.comma and all(map(_are_read, cells.chunks)):
        return Strings(cells if not style.fills else pyarrow.chunked_array([_without(c, style.fills) for c in cells.chunks], pyarrow.large_string()))
    plain = [pc.match_substring_regex(chunk, _PLAIN) for chunk in cells.chunks]
    if style.comma:
        plain = [pyarrow.repeat(False, len(chunk)) for chunk in cells.chunks]
    others = {c for chunk, mask in zip(cells.chunks, plain) for c in pc.unique(chunk.filter(pc.invert(mask))).to_pylist()}
    if style.comma or not all(map(_is_read, others)):  # where all cells are read, they stay as they are
        read = dict(zip(others, values.as_numbers([*others, ""], replace(style, fills=()))))
    else:
        read = {c: c for c in others}
    changed = any(a != b for a, b in read.items())
    found = []
    for chunk, mask in zip(cells.chunks, plain):
        if changed and not pc.all(mask, min_count=0).as_py():
            chunk = pyarrow.array([read.get(c, c) for c in chunk.to_pylist()], pyarrow.large_string())
        found.append(_without(chunk, style.fills) if style.fills else chunk)
    return Strings(pyarrow.chunked_array(found, pyarrow.large_string()))


def _are_read(cells: pyarrow.Array) -> bool:
    """Whether all cells are numbers or empty, which then stay as they are."""
    import pyarrow.compute as pc

    length = pc.binary_length(cells)
    found = numbers_of(cells.filter(pc.greater(length, 0)) if len(cells) and not pc.min(length).as_py() else cells)
    return found is not None and bool((numpy.abs(found) < values.LARGEST).all())


def _is_read(cell: str) -> bool:
    try:
        return abs(float(cell)) < values.LARGEST
    except ValueError:
        return False


def _without(cells: pyarrow.Array, fills: tuple[float, ...]) -> pyarrow.Array:
    """The cells, with empty ones for numbers that stand for a gap."""
    import pyarrow
    import pyarrow.compute as pc

    gaps = numpy.isin(read_numbers(cells), fills)
    return pc.if_else(pyarrow.array(gaps), pyarrow.scalar("", cells.type), cells) if gaps.any() else cells


def _categories(cells: pyarrow.ChunkedArray) -> Codes:
    return _mapped(cells, lambda cell: "" if values.is_missing(cell) else cell.strip())


def _stripped(cells: pyarrow.ChunkedArray) -> Codes:
    return _mapped(cells, str.strip)


def _mapped(cells: pyarrow.ChunkedArray, read: Callable[[str], str]) -> Codes:
    coded = arrow_table.coded(cells)
    assert coded is not None
    return Codes([read(v) for v in coded.values], coded.places)


def _filled(column: Codes | Strings) -> numpy.ndarray:
    if isinstance(column, Codes):
        return numpy.asarray([bool(v) for v in column.values], bool)[column.places]
    return column.filled()


def _targets(tables: list[ArrowTable], roles: Roles, styles: dict[str, Style], left: collections.Counter[str]) -> tuple[Column, numpy.ndarray]:
    """The targets of all rows, and which of them are known; an unknown one is empty."""
    import pyarrow

    rows = sum(len(t.numbers) for t in tables)
    if not roles.label:
        return Codes([""], numpy.zeros(rows, numpy.int32)), numpy.ones(rows, bool)
    style = styles.get(roles.label, Style())
    cells = _all(tables, roles.label)
    if roles.regression:
        empty = 0
        found = []
        for chunk in cells.chunks:
            part = [_without_gap(c, style) for c in chunk.to_pylist()]
            empty += part.count("")
            found.append(pyarrow.array(values.as_numbers(part, style), pyarrow.large_string()))
        numbers = Strings(pyarrow.chunked_array(found, pyarrow.large_string()))
        known = numbers.filled()
        _count(left, {"the label is empty": empty, "the label is not a number": int((~known).sum()) - empty})
        return numbers, known
    coded = arrow_table.coded(cells)
    assert coded is not None
    names = values.classes(coded.values, style)
    lengths = numpy.asarray([len(n) for n in names], numpy.int64)[coded.places] if len(coded) else numpy.zeros(0, numpy.int64)
    long = lengths > LONGEST_LABEL
    _count(left, {"the label is empty": int((lengths == 0).sum()), f"the label has more than {LONGEST_LABEL} characters": int(long.sum())})
    return Codes(names, coded.places), (lengths > 0) & ~long


def _without_gap(cell: str, style: Style) -> str:
    if style.fills and (n := values.fast_number(cell, style.comma)) is not None and n in style.fills:
        return ""
    return cell.strip()


def _count(left: collections.Counter[str], counts: dict[str, int]) -> None:
    for reason, count in counts.items():
        if count:
            left[reason] += count


def _groups(tables: Sequence[Table], of_arrow: list[ArrowTable], roles: Roles, marks: Marks) -> Codes | None:
    if not marks.blocks:
        return _stripped(_all(of_arrow, roles.group)) if roles.group else None
    known: dict[str, int] = {}
    places = [known.setdefault(b, len(known)) for t in tables for b in marks.blocks[id(t)]]
    return Codes(list(known), numpy.asarray(places, numpy.int32))


def _times(tables: Sequence[Table], counts: list[int], marks: Marks) -> numpy.ndarray | None:
    if not marks.times:
        return None
    return numpy.concatenate([numpy.asarray(marks.times.get(id(t), [math.nan] * n), numpy.float64) for t, n in zip(tables, counts)])
