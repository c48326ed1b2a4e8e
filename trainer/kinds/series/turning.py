"""Tables whose columns are times are turned, so that they are read as all series are: one row for each series and time."""

from collections.abc import Sequence

from trainer.data import names
from trainer.data.columns import across as times_across, choices, profiles
from trainer.data.columns.across import ROW, Across
from trainer.data.columns.fills import KEEP
from trainer.data.formats.table import Table
from trainer.data.formats.turned import Turned
from trainer.data.sources import Ignored
from trainer.errors import UserError, count, left_out, some

_ABOUT = ("metadata", "codebook", "readme")  # in the names of tables that only describe another one


def turn(tables: list[Table], settings, ignored: Ignored, asked: bool) -> list[Table]:
    """The tables whose columns are times, turned, and the others left out; ``tables`` where there are none, or the settings name their columns.

    Raises UserError where it is not beyond doubt and nobody asked for a forecast.
    """
    found = {id(t): across for t in tables if (across := _across(t, settings)) is not None}
    if not found:
        return tables
    doubt = next((a.doubt for a in found.values() if a.doubt), "")
    others = [t for t in tables if id(t) not in found]
    if not asked and (doubt or any(not _describes(t) for t in others)):
        raise UserError("not_only_a_series", doubt or "There are other tables.", "Set task to forecast.")
    for table in others:
        ignored.add(table.name, "its columns are no times")
    return [Turned(t, found[id(t)]) for t in tables if id(t) in found]


def _across(table: Table, settings) -> Across | None:
    named = {n.strip().lower() for n in (settings.label_column, settings.time_column) if n.strip()}
    if len(table.columns) < times_across.MIN_TIMES or named & {c.strip().lower() for c in table.columns}:
        return None
    seen = profiles.of([table], settings.fill_values if settings.repairs else KEEP)
    ids = [n for n in settings.series_column.split(",") if n.strip() and not table.lacks([n.strip()])]
    return times_across.find([table], seen, [choices.resolve(n, seen, "series_column", table.name) for n in ids])


def _describes(table: Table) -> bool:
    return any(word in names.stem(table.name) for word in _ABOUT)


def again(table: Table, ids: Sequence[str], time: str, value: str) -> Table | None:
    """A new table turned into the columns ``ids``, ``time`` and ``value`` of a model; None for a table that has no times as columns."""
    known = [n for n in ids if n != ROW or not table.lacks([n])]
    if len(table.columns) < times_across.MIN_FEW or table.lacks(known):
        return None
    seen = profiles.of([table])
    found = times_across.find([table], seen, [choices.resolve(n, seen, "series_column", table.name) for n in known], least=times_across.MIN_FEW)
    if found is None or len(found.ids) != len(ids):
        return None
    return Turned(table, found, time, value)


def decision(tables: list[Table], remedy: str = "") -> tuple[str, object, str] | None:
    """What was turned, with sentences of which ``remedy`` is the last; None where nothing was."""
    turned = [t for t in tables if isinstance(t, Turned)]
    if not turned:
        return None
    first, across = turned[0], turned[0].across
    times = some(across.times, 2) + (f", each in the year of {across.year}," if across.year else "")
    ids = ("the number of the row",) if across.ids == (ROW,) else across.ids
    where, rows, empty = some([t.name for t in turned], 3), sum(len(t.rows) for t in turned), sum(t.empty for t in turned)
    told = f"{count(rows, 'row')} with {some([*ids, first.time, first.value])}"
    said = [f"The columns {times} of {where} are times, so the table was turned: {told}."]
    if across.unused:
        said.append(f"{some(across.unused, 6)} {'are' if len(across.unused) > 1 else 'is'} not read.")
    if empty:
        said.append(f"{left_out(empty, 'row')}: without a value.")
    return "turned_table", [*across.ids, first.time, first.value], " ".join([*said, *([remedy] if remedy else [])])
