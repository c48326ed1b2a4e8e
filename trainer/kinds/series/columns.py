"""Which columns of a table are the time, the target, the ids and the covariates of series, each with the reason."""

import datetime
import math
import re
from collections import Counter
from dataclasses import dataclass, replace

import numpy

from trainer.data.columns import across, choices, clocks, dates, epochs, joined_clocks, values
from trainer.data.columns.clocks import Clock
from trainer.data.columns.profiles import Profile
from trainer.data.columns.values import Style
from trainer.data.formats.table import Table
from trainer.errors import UserError, some
from trainer.kinds.rows import gaps
from trainer.kinds.series import calendar
from trainer.kinds.series.calendar import DATE, PERIOD, PLAIN, QUARTER, REGULAR, TIME, WEEK, Calendar
from trainer.kinds.series.layouts.apart import FEW_IDS, MOST_IDS, NONE, cells_of, check_steps, ids_of, of_columns, of_rows, tell
from trainer.kinds.series.layouts.melted import Melted
from trainer.kinds.series.layouts.turned import Turned

_TARGETS = ("value", "target", "y", "label", "count", "demand", "sales", "observation", "measurement", "wert")
_WEEK = re.compile(r"(\d{4})[-/ ]?W(\d{1,2})", re.I)
_DAY = 86400.0
_FLAG = re.compile(
    r"(?:^|[_ .-])(?:flags?|qc|qf|qa|quality|qual|cd|approval|grade|provisional|status)(?:[_ .-]?(?:code|flag|level))?$", re.IGNORECASE
)
_MARKS = 12  # different marks of quality


@dataclass(frozen=True)
class Found:
    """The columns of series, their steps, and the decisions with their reasons."""

    clock: Clock
    calendar: Calendar
    target: str
    ids: tuple[str, ...]
    known: tuple[str, ...]
    style: Style
    decisions: tuple[tuple[str, object, str], ...]
    gaps: tuple[tuple[str, object, str], ...] = ()  # decisions about what stands for a gap
    of: str = ""  # the target with its unit


def find(tables: list[Table], seen: dict[str, Profile], settings, where: str, only: bool) -> Found:
    """The columns of ``tables``. With ``only``, the table must be a series without a doubt: it has no other columns, and repeats no moment.

    Raises UserError where they are none, or where the user must say which they are.
    """
    turned = tables[0] if isinstance(tables[0], Turned) else None
    clock, form, why_clock = _clock(tables, seen, settings, where, turned)
    others = {n: p for n, p in seen.items() if n not in clock.parts}
    known = _known(others, settings, where)
    if turned is not None:
        target, why_target = turned.value, "the cells below the times"
        series, ids, why_ids = of_rows(tables, turned, clock, where)
    elif isinstance(tables[0], Melted):
        target, why_target = tables[0].value, "the cells of these columns"
        series, ids, why_ids = of_columns(tables, others, tables[0], clock, {target, *known}, settings, where)
    else:
        target, why_target = _target({n: p for n, p in others.items() if n not in known}, settings, where)
        cells = cells_of(tables, target)
        series, ids, why_ids = ids_of(tables, others, clock, {target, *known}, settings, where, cells, FEW_IDS if only else MOST_IDS)
    there = ~numpy.isnan(clock.times)
    steps, regular = calendar.found(clock.times[there], series[there], clock.dates, form)
    if steps is None or regular < REGULAR:
        raise UserError(
            "irregular_times", f"The times in {clock.column} of {where} are irregular: only {regular:.0%} of the steps are equal.",
            "Bring the rows to regular times, for example one for each day, or set task to tabular-regression to predict single rows.",
        )  # fmt: skip
    if turned is not None and turned.across.season:
        steps = replace(steps, usual=turned.across.season)
    unused = [n for n in others if n not in (target, *ids, *known) and seen[n].distinct > 1]
    flags = [n for n in unused if _is_flag(seen[n])]
    if only and (any(not (seen[n].is_identifier or n in flags or _repeats(tables, n, ids)) for n in unused) or seen[target].distinct <= 2):
        raise UserError("not_only_a_series", f"{where} has more than a series.", "Set task to forecast.")
    check_steps(tables, ids, replace(clock, times=clock.times[there]), series[there], where)
    why_steps = f"One step is {steps.words}: {regular:.0%} of the gaps are one or several."
    decisions = [
        ("time_column", clock.column, f"{clock.column} {tell(clock.parts)} the times, {why_clock}. {why_steps}"),
        ("label_column", target, f"{target} is forecast, {why_target}."),
        ("series_column", list(ids), why_ids),
    ]
    if known:
        decisions.append(("known_covariates", list(known), f"{some(known)} {'are' if len(known) > 1 else 'is'} known ahead, as requested."))
    if flags:
        why = f"{some(flags)} {'look' if len(flags) > 1 else 'looks'} like marks of quality and {'are' if len(flags) > 1 else 'is'} not read"
        counts = [f"{k} {n:,}" for f in flags for k, n in Counter(c.strip() or "empty" for c in cells_of(tables, f)).most_common(_MARKS)]
        decisions.append(("flags", flags, f"{why} ({', '.join(counts)}): all rows count. Leave out the rows that must not."))
    unused = [n for n in unused if n not in flags]
    if unused:
        why = (
            f"{some(unused, 6)} {'are' if len(unused) > 1 else 'is'} not read. Columns that are known for the future can be set as known_covariates."
        )
        decisions.append(("columns_not_read", unused, why))
    return Found(
        clock, steps, target, ids, known, seen[target].style, tuple(decisions), tuple(gaps.told(seen, (target, *known))), with_unit(tables, target)
    )


def with_unit(tables: list[Table], target: str) -> str:
    """The column that is forecast, with its unit where a row of units tells one."""
    unit = tables[0].units.get(target, "")
    return f"{target} ({unit.strip('()[] ')})" if unit else target


def _repeats(tables: list[Table], name: str, ids: tuple[str, ...]) -> bool:
    """Whether a column says of each series in other words, or by a place, which it is, as a code beside a name does."""
    rows = set(zip(*(map(str.strip, cells_of(tables, n)) for n in (name, *ids))))
    if not ids or len(rows) != len({row[1:] for row in rows}):
        return False  # it differs within a series
    pairs = [{(row[0], row[at]) for row in rows} for at in range(1, len(ids) + 1)]
    return name.strip().lower() in across.PLACES or any(len(p) == len({a for a, _ in p}) == len({b for _, b in p}) for p in pairs)


def _is_flag(p: Profile) -> bool:
    """Whether a column has marks of the quality of each row, by its name and its few short values."""
    return p.distinct <= _MARKS and p.words <= 1 and _FLAG.search(p.name.strip()) is not None


def _clock(tables: list[Table], seen: dict[str, Profile], settings, where: str, turned: Turned | None) -> tuple[Clock, str, str]:
    if turned is not None:
        found, why = clocks.asked(turned.time, cells_of(tables, turned.time)), "from the names of the columns"
    else:
        found = detected(tables, seen, settings, where)
        why = "the column with times" if settings.time_column.strip().lower() in ("", NONE) else "as requested"
    if found is None:
        raise UserError(
            "no_times", f"No column of {where} tells when its rows were recorded.", "Set time_column to a column with dates or growing numbers.",
            f"Its columns are {some(seen)}.",
        )  # fmt: skip
    found, counted = epochs.dated(found)
    if counted:
        why += f", whose numbers are {counted}"
    cells = [c for c in cells_of(tables, found.parts[0])[:1000] if not values.is_missing(c)]
    form = _form(found, cells)
    if form == WEEK:
        found = replace(found, times=weeks(cells_of(tables, found.column)))
    return found, form, why


def detected(tables: list[Table], seen: dict[str, Profile], settings, where: str) -> Clock | None:
    """The column of times that the user names, else the clock in several columns, else the first column of times."""
    asked = settings.time_column.strip()
    if asked and asked.lower() != NONE:
        name = choices.resolve(asked, seen, "time_column", where)
        return clocks.asked(name, cells_of(tables, name))
    joined = joined_clocks.of({n: p.dates for n, p in seen.items()}, lambda name: cells_of(tables, name))
    if joined is not None:
        return joined
    label = settings.label_column.strip().lower()
    for name, p in seen.items():
        if name.lower() == label or not clocks.is_of_rows(name) or not clocks.may_be(name, p.dates, p.numeric, tables[0].cells(name)):
            continue
        if (clock := clocks.asked(name, cells_of(tables, name), as_named=True)) is not None:
            return clock
    return None


def _form(clock: Clock, cells: list[str]) -> str:
    if not clock.dates and not (clock.parts[1:] and numpy.nanmax(numpy.abs(clock.times)) > 1e6):
        return PLAIN
    if not clock.parts[1:] and cells and all(dates.is_period(c) for c in cells):
        first = cells[0].upper()
        return QUARTER if "Q" in first else WEEK if "W" in first else PERIOD
    known = clock.times[~numpy.isnan(clock.times)]
    return TIME if numpy.mod(known, _DAY).any() else DATE


def weeks(cells: list[str]) -> numpy.ndarray:
    """The beginnings of ISO weeks, in seconds since 1970."""
    read = {c: _of_week(c) for c in set(cells)}
    return numpy.array([read[c] for c in cells])


def _of_week(cell: str) -> float:
    """The Monday of an ISO week in seconds since 1970; NaN for none."""
    match = _WEEK.fullmatch(cell.strip())
    try:
        day = datetime.date.fromisocalendar(int(match[1]), int(match[2]), 1) if match else None
    except ValueError:
        day = None
    return math.nan if day is None else dates.stamp(day.year, day.month, day.day)


def _known(others: dict[str, Profile], settings, where: str) -> tuple[str, ...]:
    """The covariates that the user names. Raises UserError for one that is no column of numbers."""
    found = tuple(choices.resolve(n, others, "known_covariates", where) for n in settings.known_covariates.split(",") if n.strip())
    for name in found:
        if not others[name].numeric:
            raise UserError("covariate", f"{name} of {where} has no numbers, so it cannot be a covariate.", "Remove it from known_covariates.")
    return found


def _target(others: dict[str, Profile], settings, where: str) -> tuple[str, str]:
    if settings.label_column.strip():
        name = choices.resolve(settings.label_column, others, "label_column", where)
        if not others[name].numeric:
            raise UserError("no_number", f"{name} of {where} has no numbers, so it cannot be forecast.", "Set label_column to a column of numbers.")
        return name, "as requested"
    numeric = [n for n, p in others.items() if p.numeric]
    numeric = [n for n in numeric if not others[n].is_identifier] or numeric
    named = [n for n in numeric if n.strip().lower() in _TARGETS]
    if len(named) == 1:
        return named[0], "because of its name"
    asked = settings.series_column.lower().replace(" ", "").split(",")
    measured = [n for n in numeric if n.lower().replace(" ", "") not in asked]
    if len(measured) > 1:
        measured = [n for n in measured if others[n].distinct > max(10, others[n].cells // 50)] or measured
    if len(measured) == 1:
        return measured[0], "the only column of numbers that change"
    if not numeric:
        raise UserError("no_number", f"No column of {where} has numbers to forecast.", "Add a column of numbers, or set label_column.")
    raise UserError(
        "several_targets", f"Several columns of {where} could be forecast: {some(measured)}.",
        f"Set label_column, for example to {measured[0]}, to forecast one, or forecast_columns to all if each is a series of its own.",
    )  # fmt: skip
