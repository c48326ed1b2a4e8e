"""Times that are written in several columns: a date and a time of day; or year, month, day and hour."""

import math
import re
from collections.abc import Callable

import numpy

from trainer.data.columns import dates, values
from trainer.data.columns.clocks import Clock, has_times, is_of_rows
from trainer.errors import some

_DAY = 86400.0
_EXACT = {"YY": "year", "YYYY": "year", "MM": "month", "DD": "day", "hh": "hour", "mm": "minute"}  # MM are months, mm are minutes
_NAMES = {
    "year": "year yr yyyy jahr año ano annee année",
    "month": "month mon mo monat mes mois",
    "day": "day dd dom dayofmonth tag dia día jour",
    "yearday": "doy dayofyear yearday yday jday julianday",
    "hour": "hour hours hr hh stunde hora heure",
    "minute": "minute minutes min",
    "time": "time hhmm timeofday clocktime localtime timeutc utctime utc uhrzeit zeit hora heure",
}
_RANGES = {"month": (1, 12), "day": (1, 31), "yearday": (1, 366), "hour": (0, 24), "minute": (0, 59)}
_HHMM = re.compile(r"(\d{1,4})(?:\.0+)?")
Cells = Callable[[str], list[str]]


def of(names: dict[str, float], cells: Cells) -> Clock | None:
    """The one clock in several of the columns; None where there is none. ``names`` has the share of dates of each column."""
    parts = _named(names)
    dated = [n for n, share in names.items() if share >= values.MOSTLY and is_of_rows(n)]
    if len(dated) == 1:
        return _of_date(dated[0], parts, cells)
    return _of_year(parts, cells) if not dated else None


def _named(names) -> dict[str, list[str]]:
    """The columns by the part of a time that their names stand for."""
    found: dict[str, list[str]] = {}
    for name in names:
        plain = name.strip().lstrip("#").strip()
        lower = re.sub(r"[\W_]+", "", plain.lower())
        kinds = [_EXACT[plain]] if plain in _EXACT else [kind for kind, known in _NAMES.items() if lower in known.split()]
        for kind in kinds:
            found.setdefault(kind, []).append(name)
    return found


def _of_date(date: str, parts: dict[str, list[str]], cells: Cells) -> Clock | None:
    """A clock of a column of dates without a time of day, and the columns with that."""
    read = _days(cells(date))
    if read is None:
        return None
    used, offset = _time_of_day({kind: [n for n in listed if n != date] for kind, listed in parts.items()}, cells)
    return _clock([date, *used], read + offset) if used else None


def _days(cells: list[str]) -> numpy.ndarray | None:
    """The days, as seconds since 1970; None where a date has a time of day."""
    known = [c for c in values.sample(cells) if not values.is_missing(c)]
    read = dates.seconds(known) if sum(map(dates.is_date, known)) >= sum(map(dates.is_compact, known)) else dates.compact
    days = _each(cells, read)
    return days if not (days[~numpy.isnan(days)] % _DAY).any() else None


def _of_year(parts: dict[str, list[str]], cells: Cells) -> Clock | None:
    """A clock of a year, with month or day of the year, and what is there below them."""
    year = _one(parts, "year")
    if not year:
        return None
    if yearday := _numbered(parts, "yearday", cells):
        used = [year, yearday]
        days = _stamps(cells(year), ["1"] * len(cells(year)), ["1"] * len(cells(year))) + _DAY * (_numbers(cells(yearday)) - 1)
    elif month := _one(parts, "month"):
        day = _numbered(parts, "day", cells)
        used = [year, month, *([day] if day else [])]
        days = _stamps(cells(year), cells(month), cells(day) if day else ["1"] * len(cells(year)))
        if not day:
            return _clock(used, days, dated=False)
    else:
        return None
    finer, offset = _time_of_day(parts, cells)
    return _clock(used + finer, days + offset)


def _time_of_day(parts: dict[str, list[str]], cells: Cells) -> tuple[list[str], numpy.ndarray | float]:
    """The columns with the time of day, and it in seconds; none and 0 where there are none."""
    for name in parts.get("time", []):
        known = [c for c in values.sample(cells(name)) if not values.is_missing(c)]
        for read in (dates.time_of_day, _hhmm):
            if known and sum(not math.isnan(read(c)) for c in known) >= values.MOSTLY * len(known) and (read is not _hhmm or _passes_hours(known)):
                return [name], _each(cells(name), read)
    hour = _numbered(parts, "hour", cells)
    if not hour:
        return _hundreds(_one(parts, "hour"), cells)
    offset = 3600 * _numbers(cells(hour))
    minute = _numbered(parts, "minute", cells)
    return ([hour, minute], offset + 60 * _numbers(cells(minute))) if minute else ([hour], offset)


def _hundreds(name: str, cells: Cells) -> tuple[list[str], numpy.ndarray | float]:
    """The time of day in a column of hours that instruments write as 100 to 2400."""
    known = [c for c in values.sample(cells(name)) if not values.is_missing(c)] if name else []
    fits = bool(known) and all(not math.isnan(_hhmm(c)) for c in known) and _passes_hours(known)
    return ([name], _each(cells(name), _hhmm)) if fits else ([], 0.0)


def _hhmm(cell: str) -> float:
    """The seconds of a time like 1330, 930 or 0; NaN for another number."""
    match = _HHMM.fullmatch(cell.strip())
    hour, minute = divmod(int(match[1]), 100) if match is not None else (25, 0)
    return 3600.0 * hour + 60 * minute if hour <= 24 and minute < 60 else math.nan


def _passes_hours(known: list[str]) -> bool:
    """Whether some of the numbers are at least an hour, as those of a day are: else they may count from 0."""
    return any(_hhmm(c) >= 3600 for c in known)


def _one(parts: dict[str, list[str]], kind: str) -> str:
    """The column for this part, empty where there is none, or several."""
    named = parts.get(kind, [])
    return named[0] if len(named) == 1 else ""


def _numbered(parts: dict[str, list[str]], kind: str, cells: Cells) -> str:
    """As ``_one``, and empty where the cells are not whole numbers in the range of this part."""
    name = _one(parts, kind)
    if not name:
        return ""
    low, high = _RANGES[kind]
    known = [n for c in values.sample(cells(name)) if not values.is_missing(c) for n in [values.number(c)]]
    return name if known and all(n is not None and n.is_integer() and low <= n <= high for n in known) else ""


def _numbers(cells: list[str]) -> numpy.ndarray:
    return _each(cells, lambda c: math.nan if (n := values.number(c)) is None else n)


def _each(cells: list[str], read: Callable[[str], float]) -> numpy.ndarray:
    known = {c: read(c) for c in set(cells)}
    return numpy.array([known[c] for c in cells], float)


def _stamps(years: list[str], months: list[str], days: list[str]) -> numpy.ndarray:
    rows = list(zip(years, months, days))
    known = {row: _stamp(*row) for row in set(rows)}
    return numpy.array([known[row] for row in rows], float)


def _stamp(year: str, month: str, day: str) -> float:
    numbers = [values.label(c) for c in (year, day)]
    if not all(n.isascii() and n.isdecimal() for n in numbers):
        return math.nan
    return dates.stamp(dates.year(numbers[0]), dates.month(values.label(month)), int(numbers[1]))


def _clock(used: list[str], times: numpy.ndarray, dated: bool = True) -> Clock | None:
    """The clock in the columns that were used. A year and a month alone may be a property of the rows, as a year is: they are not ``dated``."""
    known = ~numpy.isnan(times)
    if known.sum() < values.MOSTLY * len(times) or not has_times(times):
        return None
    return Clock(some(used), times, dated, tuple(used))
