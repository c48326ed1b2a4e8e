"""Which columns of a table tell the time of a row, and their cells as numbers that grow with time."""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy

from trainer.data.columns import dates, values

MIN_TIMES = 20  # different times, for a column to be a clock
NAMES = frozenset(  # of columns whose numbers count as times
    "time t ts timestamp datetime date day_of_record year yr decimal_year decimal_date epoch unixtime unix_time posixtime julian_day "
    "unix_timestamp unixtimestamp epoch_s epoch_ms timestamp_s timestamp_ms time_s time_ms "
    "datum zeit zeitpunkt jahr fecha hora tiempo ano annee temps heure".split()
)
_OF_MONTHS = frozenset("month year_month yearmonth yyyymm ym period monat mois mes mese".split())  # of columns with numbers like 201901
_LIFE = re.compile(
    r"birth|born|dob\b|\bdeath|deceased|died|expir|geburt|naiss|nacim|hired|joined|founded|built|since", re.I
)  # of things, not of rows


def is_of_rows(name: str) -> bool:
    """Whether a column of this name may tell when a row was recorded: not when somebody was born."""
    return _LIFE.search(name.replace("_", " ")) is None


@dataclass(frozen=True)
class Clock:
    """``times`` (float64, NaN where a cell is none) grow with time: seconds since 1970 where they are ``dates``, else the numbers of the column.

    ``parts`` are the columns that are read together, and ``column`` names them in a sentence.
    """

    column: str
    times: numpy.ndarray
    dates: bool
    parts: tuple[str, ...]


def may_be(name: str, share: float, numeric: bool, cells: Iterable[str]) -> bool:
    """Whether a column may be a clock, by its name, the ``share`` of dates among its cells, whether they are numbers, and the first of them."""
    if share >= values.MOSTLY or (numeric and _is_named(name)):
        return True
    first = next((c for c in cells if not values.is_missing(c)), "")
    return dates.is_period(first) and (not numeric or _is_named(name, _OF_MONTHS))


def of(name: str, cells: list[str]) -> Clock | None:
    """The column as a clock; None for one that does not tell when its rows were recorded. Numbers are times if the column is named so."""
    clock = asked(name, cells, as_named=True) if is_of_rows(name) else None
    return clock if clock is not None and has_times(clock.times) else None


def has_times(times: numpy.ndarray) -> bool:
    """Whether there are enough different times for a clock."""
    return len(numpy.unique(times[~numpy.isnan(times)])) >= MIN_TIMES


def asked(name: str, cells: list[str], as_named: bool = False) -> Clock | None:
    """A column that the user calls a clock; None where most of its cells are neither dates nor numbers. ``as_named``: numbers need the name."""
    known = [c for c in values.sample(cells) if not values.is_missing(c)]
    reader = _reader(name if as_named else "time", known) if known else None
    if reader is None:
        return None
    read = {c: reader(c) for c in set(cells)}
    return Clock(name, numpy.array([read[c] for c in cells], float), reader is not _number, (name,))


def _reader(name: str, known: list[str]):
    """The function that reads a cell as a time, NaN where it is none; None if most of ``known`` are no times."""

    def mostly(test) -> bool:
        return sum(map(test, known)) >= values.MOSTLY * len(known)

    if mostly(dates.is_date):
        return dates.seconds(known)
    if mostly(dates.is_compact):
        return dates.compact
    may_be_number = _is_named(name, NAMES | _OF_MONTHS)
    if mostly(lambda c: dates.is_period(c) and (may_be_number or not c.strip().isdecimal())):
        return dates.period
    if _is_named(name) and mostly(lambda c: values.number(c) is not None):
        return _number
    return None


def _is_named(name: str, names: frozenset[str] = NAMES) -> bool:
    return "_".join(name.lower().split()).strip("_") in names


def _number(cell: str) -> float:
    number = values.number(cell)
    return math.nan if number is None else number
