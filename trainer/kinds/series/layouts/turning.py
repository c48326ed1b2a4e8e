"""Tables whose columns are times are turned, so that they are read as all series are: one row for each series and time."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from trainer.data import names
from trainer.data.columns import across as times_across, choices, profiles
from trainer.data.columns.across import ROW, Across
from trainer.data.columns.fills import KEEP
from trainer.data.formats.table import Table
from trainer.data.sources import Ignored
from trainer.errors import UserError, count, left_out, some
from trainer.kinds.series.layouts.turned import Turned

_ABOUT = ("metadata", "codebook", "readme", "info")  # in the names of tables that only describe another one


def turn(tables: list[Table], settings, ignored: Ignored, asked: bool) -> list[Table]:
    """The tables whose columns are times, turned, and the others left out; ``tables`` where there are none, or the settings name their columns.

    Raises UserError where it is not beyond doubt and nobody asked for a forecast.
    """
    found = {id(t): across for t in tables if (across := _across(t, settings, asked)) is not None}
    if not found:
        return tables
    if in_steps := {t: a for t, a in found.items() if a.steps}:
        found = in_steps | _behind(tables, next(iter(in_steps.values())), {id(t) for t in tables if id(t) not in in_steps})
    doubt = next((a.doubt for a in found.values() if a.doubt), "")
    others = [t for t in tables if id(t) not in found]
    if not asked and (doubt or any(not _describes(t) for t in others)):
        raise UserError("not_only_a_series", doubt or "There are other tables.", "Set task to forecast.")
    for table in others:
        ignored.add(table.name, "its columns are no times")
    return joined([Turned(t, found[id(t)]) for t in tables if id(t) in found])


def _behind(tables: list[Table], first: Across, others: set[int]) -> dict[int, Across]:
    """The tables of a test whose columns are steps behind those of the same series in a table for training, which need not tell that themselves."""
    found = {}
    for table in (t for t in tables if id(t) in others and names.split_of(t.name) in ("validation", "test") and not t.lacks(first.ids)):
        if steps := times_across.find([table], profiles.of([table]), first.ids, times_across.MIN_FEW, asked=True):
            found[id(table)] = replace(steps, doubt="")
    return found


def joined(tables: list[Turned], known: Mapping[tuple[str, ...], int] | None = None) -> list[Table]:
    """Tables of steps in their order: those for validation and test go on where the series of the training end, or those that a model
    has ``known`` where there are none for training. Others are as they are. Raises UserError for different steps."""
    if not all(t.across.steps for t in tables):
        return list(tables)
    if len(kinds := {t.across.step or "unknown" for t in tables}) > 1:
        raise UserError(
            "several_steps", f"The series of {some([t.name for t in tables], 3)} have different steps: {some(sorted(kinds))}.",
            "Use a dataset for each kind of steps, or set data_file to one of the files.",
        )  # fmt: skip
    made: list[Table] = []
    by_part = {part: [t for t in tables if (names.split_of(t.name) or "train") == part] for part in ("train", "validation", "test")}
    ends = {} if by_part["train"] else dict(known or {})
    for of_part in by_part.values():
        part = [Turned(t.wide, t.across, t.time, t.value, ends) for t in of_part]
        ends |= {key: last for t in part for key, last in t.lengths().items()}
        made += part
    return made


def ahead(tables: list[Table]) -> int:
    """How many steps the tables themselves ask for: those of a table for the test, or what they say; 0 where they do not."""
    turned = [t for t in tables if isinstance(t, Turned) and t.across.steps]
    tested = [len(t.across.times) for t in turned if names.split_of(t.name) == "test" and len(turned) > 1]
    return max([*tested, *(t.across.ahead for t in turned)], default=0)


def _across(table: Table, settings, asked: bool) -> Across | None:
    named = {n.strip().lower() for n in (settings.label_column, settings.time_column) if n.strip()}
    if len(table.columns) < times_across.MIN_TIMES or named & {c.strip().lower() for c in table.columns}:
        return None
    seen = profiles.of([table], settings.fill_values if settings.repairs else KEEP)
    ids = [n for n in settings.series_column.split(",") if n.strip() and not table.lacks([n.strip()])]
    return times_across.find([table], seen, [choices.resolve(n, seen, "series_column", table.name) for n in ids], asked=asked)


def _describes(table: Table) -> bool:
    return any(word in names.stem(table.name) for word in _ABOUT)


def again(table: Table, ids: Sequence[str], time: str, value: str) -> Turned | None:
    """A new table turned into the columns ``ids``, ``time`` and ``value`` of a model; None for a table that has no times as columns."""
    known = [n for n in ids if n != ROW or not table.lacks([n])]
    if len(table.columns) < times_across.MIN_FEW or table.lacks(known):
        return None
    seen = profiles.of([table])
    found = times_across.find(
        [table], seen, [choices.resolve(n, seen, "series_column", table.name) for n in known], least=times_across.MIN_FEW, asked=True
    )
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
    are = "times" if not across.steps else "the steps of a series in each row"
    said = [f"The columns {times} of {where} are {are}, so the table was turned: {told}."]
    if across.steps and len(turned) > 1:
        said.append(f"Series that are in several files go on in the order {some([t.name for t in turned], 3)}.")
    if across.steps and not across.step:
        said.append("Nothing says how long a step is: set season if a known number of steps makes one.")
    elif across.steps:
        said.append(f"A step is a {across.step}, by the name of the file.")
    if across.unused:
        said.append(f"{some(across.unused, 6)} {'are' if len(across.unused) > 1 else 'is'} not read.")
    if empty:
        said.append(f"{left_out(empty, 'row')}: without a value.")
    return "turned_table", [*across.ids, first.time, first.value], " ".join([*said, *([remedy] if remedy else [])])
