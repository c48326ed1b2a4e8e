"""Rows of tables that another table names by a column that they share: found as places in it, by Arrow where a table is large."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy

from trainer.core.cells import Strings
from trainer.data.formats import arrow_table, memory as capacity
from trainer.data.formats.arrow_table import ArrowTable
from trainer.data.formats.table import Table
from trainer.memory import memory

if TYPE_CHECKING:
    import pyarrow

_BLOCK = 1 << 16  # cells that are text at once


def places(named: Table, others: Sequence[Table], key: str) -> list[numpy.ndarray] | None:
    """For each row of each of ``others`` the place of the row of ``named`` with the same key, -1 for none. None unless each row of ``named`` has a
    key of its own. Raises UserError where the keys of large tables will not fit into memory."""
    if not any(isinstance(t, ArrowTable) for t in (named, *others)):
        known = {cell.strip(): place for place, cell in enumerate(named.cells(key))}
        if len(known) < len(named.rows) or "" in known:
            return None
        return [numpy.asarray([known.get(cell.strip(), -1) for cell in t.cells(key)], numpy.int64) for t in others]
    import pyarrow
    import pyarrow.compute as pc

    capacity.check_keys(named.name, len(named.rows), sum(len(t.rows) for t in others), memory())
    own = list(_keys(named, key))
    asked = pyarrow.chunked_array([*own, *(keys for t in others for keys in _keys(t, key))], pyarrow.large_string())
    found = pc.index_in(asked, value_set=pyarrow.chunked_array(own, pyarrow.large_string())).fill_null(-1).to_numpy()
    rows = len(named.rows)
    if (found[:rows] != numpy.arange(rows)).any() or pc.any(pc.equal(asked.slice(0, rows), "")).as_py():
        return None
    return numpy.split(found[rows:], numpy.cumsum([len(t.rows) for t in others])[:-1])


def are_different(tables: Iterable[tuple[Table, numpy.ndarray]], key: str) -> bool:
    """Whether the keys of the rows at these places of the tables are all different."""
    cells = [cell.strip() for table, at in tables for part in _texts(table, key, at) for cell in part]
    return len(set(cells)) == len(cells)


def dotted(table: Table, key: str) -> Iterator[str]:
    """The keys that have a full stop."""
    if not isinstance(table, ArrowTable):
        yield from (cell.strip() for cell in table.cells(key) if "." in cell)
        return
    import pyarrow.compute as pc

    for keys in _keys(table, key):
        yield from keys.filter(pc.match_substring(keys, ".")).to_pylist()


def add(table: Table, column: str, source: Table, at: numpy.ndarray, folder: Path) -> None:
    """Add a last column to ``table``: the cells of ``source`` at these places, empty for -1. Those of a large table go to a file on the volume of
    ``folder``. Raises OSError where that disk is full."""
    if isinstance(table, ArrowTable):
        table.append_blocks(column, _texts(source, column, at), folder)
    else:
        table.add(column, [cell for part in _texts(source, column, at) for cell in part])


def _texts(table: Table, column: str, at: numpy.ndarray) -> Iterator[list[str]]:
    """The cells at these places in blocks, empty for -1."""
    if not isinstance(table, ArrowTable):
        cells = table.cells(column)
        yield from ([cells[i] if i >= 0 else "" for i in at[start : start + _BLOCK].tolist()] for start in range(0, len(at), _BLOCK))
        return
    known = table.coded(column) or Strings(table.arrow.column(table.place(column)))
    for start in range(0, len(at), _BLOCK):
        part = at[start : start + _BLOCK]
        yield [cell if i >= 0 else "" for i, cell in zip(part.tolist(), known.texts(numpy.maximum(part, 0)), strict=True)]


def _keys(table: Table, key: str) -> Iterator[pyarrow.Array]:
    """The cells of the key without blanks around them, a part after another."""
    import pyarrow.compute as pc

    cells = arrow_table.of(table).arrow.column(table.place(key))
    yield from (pc.utf8_trim_whitespace(chunk) for chunk in cells.chunks)
