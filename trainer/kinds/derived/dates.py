"""A column of dates or times of day as year, season, weekday, hour and age.

Dates far away from all others, such as 9999-12-31 for no end or the year 15 for 2015, count as empty.
"""

import datetime
import math
from dataclasses import dataclass, field
from typing import ClassVar

import numpy

from trainer.data.columns import dates, values
from trainer.kinds.derived import part

DATE, COMPACT, PERIOD, CLOCK = "date", "compact", "period", "clock"  # how the cells are written
_DAY, _YEAR = 86400.0, 365.25
_OF_DAY = ("hour", "hour, sine", "hour, cosine")
NAMES = ("known", "year", "month", "season, sine", "season, cosine", "weekday", "weekend", *_OF_DAY, "age in days")
_FAR, _FEW_YEARS = 10, 10  # ranges of the middle nine tenths, and years, that a date may lie outside of them
_EPOCH = datetime.datetime(1970, 1, 1)
_FIRST, _LAST = dates.stamp(1, 1, 1), dates.stamp(9999, 12, 31)  # that a calendar has


@dataclass(frozen=True)
class DateParts:
    """``low`` and ``high`` bound the dates that count, in seconds since 1970. ``last`` is the last one of the training rows, from which ages count,
    ``names`` are the numbers that differ between these rows."""

    form: str
    month_first: bool
    low: float
    high: float
    last: float
    names: tuple[str, ...]
    _known: dict[str, tuple[float, ...]] = field(default_factory=dict, compare=False, repr=False)

    categories: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def learn(cls, cells: list[str]) -> "DateParts | None":
        known = [c for c in cells if not values.is_missing(c)]
        form = form_of(values.sample(known))
        if form is None:
            return None
        month_first = dates.month_first(known)
        read = _reader(form, month_first)
        seconds = numpy.asarray([read(c) for c in known], numpy.float64)
        seconds = seconds[~numpy.isnan(seconds)]
        if not len(seconds):
            return None
        first, last = numpy.quantile(seconds, (0.05, 0.95))
        reach = _FAR * float(last - first) + _FEW_YEARS * _YEAR * _DAY
        low, high = float(first) - reach, float(last) + reach
        near = seconds[(seconds >= low) & (seconds <= high)]
        every = cls(form, month_first, low, high, float(near.max()), NAMES)
        found = every.values(cells)
        differ = [name for name, column in zip(NAMES, found.T, strict=True) if len(numpy.unique(column[~numpy.isnan(column)])) > 1]
        return cls(form, month_first, low, high, every.last, tuple(differ))

    @classmethod
    def restored(cls, described: dict) -> "DateParts":
        names = part.strings(described["names"], len(NAMES))
        if described["form"] not in (DATE, COMPACT, PERIOD, CLOCK) or not set(names) <= set(NAMES) or type(described["month_first"]) is not bool:
            raise ValueError("the dates of a column are not described")
        low, high, last = (part.finite(described[name]) for name in ("low", "high", "last"))
        return cls(described["form"], described["month_first"], low, high, last, names)

    def described(self) -> dict:
        described = {"form": self.form, "month_first": self.month_first, "low": self.low, "high": self.high, "last": self.last}
        return described | {"names": list(self.names)}

    def values(self, cells: list[str]) -> numpy.ndarray:
        read = _reader(self.form, self.month_first)
        found = numpy.empty((len(cells), len(self.names)))
        for row, cell in enumerate(cells):
            known = self._known.get(cell)
            if known is None:
                known = self._of(read(cell))
                if len(self._known) < part.KEPT:
                    self._known[cell] = known
            found[row] = known
        return found

    def _of(self, seconds: float) -> tuple[float, ...]:
        if not max(self.low, _FIRST) <= seconds <= min(self.high, _LAST):
            return tuple(0.0 if name == "known" else math.nan for name in self.names)
        found = _parts(seconds, self.last, self.form)
        return tuple(found[name] for name in self.names)


def form_of(known: list[str]) -> str | None:
    """How most of these cells are written; None where they are neither dates nor times of day."""

    def mostly(read) -> bool:
        return bool(known) and sum(not math.isnan(read(c)) for c in known) >= values.MOSTLY * len(known)

    month_first = dates.month_first(known)
    return next((form for form in (DATE, COMPACT, PERIOD, CLOCK) if mostly(_reader(form, month_first))), None)


def _reader(form: str, month_first: bool):
    if form == DATE:
        return dates.reader(month_first)
    return {COMPACT: dates.compact, PERIOD: dates.period, CLOCK: dates.time_of_day}[form]


def _parts(seconds: float, last: float, form: str) -> dict[str, float]:
    """All numbers of one moment."""
    when = _EPOCH + datetime.timedelta(seconds=seconds)
    hour = when.hour + when.minute / 60
    turn = 2 * math.pi * hour / 24
    found = {"known": 1.0, **dict(zip(_OF_DAY, (hour, math.sin(turn), math.cos(turn)), strict=True))}
    if form == CLOCK:
        return dict.fromkeys(NAMES, math.nan) | found
    season = 2 * math.pi * (when.timetuple().tm_yday - 1) / _YEAR
    found |= {"year": float(when.year), "month": float(when.month), "season, sine": math.sin(season), "season, cosine": math.cos(season)}
    return found | {"weekday": float(when.weekday()), "weekend": float(when.weekday() > 4), "age in days": (last - seconds) / _DAY}
