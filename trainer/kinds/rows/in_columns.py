"""From large tables to examples whose cells stay in columns: what ``Rows`` does for lists of cells, for Arrow arrays."""

from __future__ import annotations

import collections
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy

from trainer.core import by_blocks, mapped
from trainer.core.cells import Codes, Column, Strings, numbers_of, read_numbers
from trainer.core.columnar import Columnar, Store, short
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
Unread = dict[str, tuple[int, str]]  # of each column of numbers that has such cells: how many of them are no number, and the first in the alphabet
_PLAIN = r"^[+-]?[0-9]{1,50}(\.[0-9]{1,50})?$"  # cells that are the same number in every way of reading, but for a decimal comma


def are_large(tables: Sequence[Table], roles: Roles) -> bool:
    """Whether the examples of these tables are to stay in columns."""
    return roles.reads_cells and any(isinstance(t, ArrowTable) for t in tables)


def examples(
    tables: Sequence[Table], roles: Roles, styles: dict[str, Style], marks: Marks, left: collections.Counter[str], unread: Unread
) -> list[Columnar]:
    """The examples of each table, in one store. ``left`` counts the rows that cannot be used by the reason. ``unread`` gets the cells of columns of
    numbers that are none."""
    of_arrow = [arrow_table.of(t) for t in tables]
    counts = [len(t.numbers) for t in of_arrow]
    cells: list[Column] = []
    filled = numpy.zeros(sum(counts), bool)
    for name in roles.columns:
        column = _all(of_arrow, name)
        read = _numbers(column, styles.get(name, Style()), unread, name) if roles.types[name] == NUMBER else _categories(of_arrow, name)
        cells.append(read)
        filled |= _filled(read)
    if empty := int((~filled).sum()):
        left["all their cells are empty"] += empty
    targets, known = _targets(of_arrow, roles, styles, left)
    store = Store(
        Codes([t.name for t in of_arrow], _repeated(counts)),
        short(of_arrow[0].numbers if len(of_arrow) == 1 else numpy.concatenate([t.numbers for t in of_arrow])),
        tuple(cells),
        targets,
        _stripped(of_arrow, roles.id) if roles.id else None,
        _groups(tables, of_arrow, roles, marks),
        _times(tables, counts, marks),
    )
    mapped.rest()
    ends = numpy.cumsum([0, *counts])
    filled &= known
    found = []
    for start, end in zip(ends, ends[1:]):
        at = by_blocks.true(filled[start:end])
        at += start
        found.append(Columnar(store, at))
    return found


def _all(tables: list[ArrowTable], name: str) -> pyarrow.ChunkedArray:
    found = arrow_table.together(tables, name)
    assert found is not None
    return found


def _numbers(cells: pyarrow.ChunkedArray, style: Style, unread: Unread, name: str) -> Strings:
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
    if strange := [*values.unread(read, read.values(), style)]:
        of = pyarrow.array(strange, pyarrow.large_string())
        unread[name] = sum(pc.sum(pc.is_in(chunk, value_set=of)).as_py() or 0 for chunk in cells.chunks), min(strange)
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


def _repeated(counts: list[int]) -> numpy.ndarray:
    """The number of each table for each of its rows. That of a single one takes no memory."""
    if len(counts) == 1:
        return numpy.broadcast_to(numpy.zeros(1, numpy.int32), counts[0])
    return numpy.repeat(numpy.arange(len(counts), dtype=numpy.int32), counts)


def _categories(tables: list[ArrowTable], name: str) -> Codes:
    return _mapped(tables, name, lambda cell: "" if values.is_missing(cell) else cell.strip())


def _stripped(tables: list[ArrowTable], name: str) -> Codes:
    return _mapped(tables, name, str.strip)


def _mapped(tables: list[ArrowTable], name: str, read: Callable[[str], str]) -> Codes:
    coded = _coded(tables, name)
    return Codes([read(v) for v in coded.values], coded.places)


def _coded(tables: list[ArrowTable], name: str) -> Codes:
    """The cells of a column as codes: those of a single table, which its profile has made already."""
    found = tables[0].coded(name) if len(tables) == 1 else None
    found = found or arrow_table.coded(_all(tables, name))
    assert found is not None
    return found


def _filled(column: Codes | Strings) -> numpy.ndarray:
    if isinstance(column, Codes):
        return by_blocks.chosen(numpy.asarray([bool(v) for v in column.values], bool), column.places)
    return column.filled()


def _targets(tables: list[ArrowTable], roles: Roles, styles: dict[str, Style], left: collections.Counter[str]) -> tuple[Column, numpy.ndarray]:
    """The targets of all rows, and which of them are known; an unknown one is empty."""
    import pyarrow

    rows = sum(len(t.numbers) for t in tables)
    if not roles.label:
        return Codes([""], numpy.broadcast_to(numpy.zeros(1, numpy.uint8), rows)), numpy.ones(rows, bool)
    style = styles.get(roles.label, Style())
    if roles.regression:
        cells = _all(tables, roles.label)
        empty = 0
        found = []
        for chunk in cells.chunks:
            written = chunk.to_pylist()
            part = [_without_gap(c, style) for c in written]
            empty += part.count("")
            read = values.as_numbers(part, style)
            found.append(chunk if read == written else pyarrow.array(read, pyarrow.large_string()))  # which may lie in a mapped file
        numbers = Strings(pyarrow.chunked_array(found, pyarrow.large_string()))
        known = numbers.filled()
        _count(left, {"the label is empty": empty, "the label is not a number": int((~known).sum()) - empty})
        return numbers, known
    coded = _coded(tables, roles.label)
    names = values.classes(coded.values, style)
    counts = by_blocks.counts(coded.places, len(names))
    empty = int(sum(counts[i] for i, n in enumerate(names) if not n))
    long = int(sum(counts[i] for i, n in enumerate(names) if len(n) > LONGEST_LABEL))
    _count(left, {"the label is empty": empty, f"the label has more than {LONGEST_LABEL} characters": long})
    good = numpy.asarray([0 < len(n) <= LONGEST_LABEL for n in names], bool)
    return Codes(names, coded.places), by_blocks.chosen(good, coded.places)


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
        return _stripped(of_arrow, roles.group) if roles.group else None
    known: dict[str, int] = {}
    places = [known.setdefault(b, len(known)) for t in tables for b in marks.blocks[id(t)]]
    return Codes(list(known), numpy.asarray(places, numpy.int32))


def _times(tables: Sequence[Table], counts: list[int], marks: Marks) -> numpy.ndarray | None:
    if not marks.times:
        return None
    return numpy.concatenate([numpy.asarray(marks.times.get(id(t), [math.nan] * n), numpy.float64) for t, n in zip(tables, counts)])
