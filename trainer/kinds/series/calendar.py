"""The regular steps of a series: which they are, the number of each moment, and the moment of each number as text."""

import datetime
import functools
import math
from dataclasses import asdict, dataclass

import numpy

MONTH, DAY, WORKDAY, SECOND, NUMBER = "month", "day", "working day", "second", "number"
REGULAR = 0.95  # of the gaps between moments are one step or several whole ones
DATE, TIME, PERIOD, QUARTER, WEEK, PLAIN = "date", "time", "period", "quarter", "week", "number"  # how moments are written
_DAY = 86400.0
_SEASONS = {1.0: 7, 7.0: 52}  # of steps of so many days
_FARTHEST = 1e12  # steps from the first one that are numbered
_NEAR = 0.2  # of a step, that a moment may be off: also an hour of daylight saving on days
_SECONDS = {60: "minute", 3600: "hour", 86400: "day"}


@dataclass(frozen=True)
class Calendar:
    """Step ``i`` is ``origin + i * size`` in ``unit``: seconds since 1970, days, working days or months since 1970, or plain numbers.

    ``day`` is the day of the month on which steps of months lie, 0 for the last one. ``form`` is how moments are written. ``usual`` are the steps of
    a season where something else than the steps says so, else 0.
    """

    unit: str
    size: float
    origin: float
    form: str
    day: int = 1
    usual: int = 0

    def numbers(self, times: numpy.ndarray) -> numpy.ndarray:
        """The numbers of the steps that ``times`` (seconds since 1970, or plain numbers) are nearest to, as floats; NaN for none."""
        found = numpy.round((_raw(self.unit, times) - self.origin) / self.size)
        return numpy.where(numpy.abs(found) < _FARTHEST, found, numpy.nan)

    @functools.lru_cache(maxsize=1 << 16)  # noqa: B019 - of few calendars; series of a panel have the same moments
    def text(self, number: int) -> str:
        """The moment of a step, as the table writes moments; a sentence for one that no calendar has."""
        raw = self.origin + int(number) * self.size
        try:
            if self.unit == NUMBER:
                return f"{raw:.10g}"
            return _written(self._moment(raw), self.form)
        except (OverflowError, ValueError):
            return "after the year 9999"

    def _moment(self, raw: float) -> datetime.datetime:
        start = datetime.datetime(1970, 1, 1)
        if self.unit == MONTH:
            year, month = divmod(round(raw), 12)
            first = datetime.datetime(1970 + year, month + 1, 1)
            if self.form in (PERIOD, QUARTER):
                return first
            following = datetime.datetime(1970 + year + month // 11, (month + 1) % 12 + 1, 1)
            length = (following - first).days
            return first.replace(day=length if self.day == 0 else min(self.day, length))
        if self.unit == WORKDAY:
            weeks, day = divmod(round(raw), 5)
            return start + datetime.timedelta(days=7 * weeks + day - 3)  # 1970 began on a Thursday
        return start + datetime.timedelta(seconds=round(raw * (_DAY if self.unit == DAY else 1)))

    @property
    def words(self) -> str:
        """One step in words, for example "3 months"."""
        size, unit = self.size, self.unit
        if unit == SECOND:
            seconds = max((s for s in _SECONDS if size % s == 0), default=1)
            size, unit = size / seconds, _SECONDS.get(seconds, "second")
        if unit == MONTH and size % 12 == 0:
            size, unit = size / 12, "year"
        if unit == DAY and size % 7 == 0:
            size, unit = size / 7, "week"
        if unit == NUMBER:
            return f"{size:.6g}"
        return unit if size == 1 else f"{size:.6g} {unit}s"

    @property
    def season(self) -> int:
        """The steps after which series of this kind usually repeat; 1 for none."""
        if self.usual:
            return self.usual
        if self.unit == MONTH:
            return 12 // int(self.size) if 12 % self.size == 0 else 1
        if self.unit == WORKDAY:
            return 5
        days = self.size if self.unit == DAY else self.size / _DAY
        if days in _SEASONS and self.unit != NUMBER:
            return _SEASONS[days]
        if self.unit == SECOND:
            return int(_DAY / self.size) if 600 <= self.size < _DAY and _DAY % self.size == 0 else 1
        return 1

    def parts(self, steps: numpy.ndarray) -> numpy.ndarray:
        """Where steps are in the day, the week and the year (steps x parts), as trees read it."""
        raw = self.origin + steps * self.size
        if self.unit == NUMBER:
            return numpy.zeros((len(steps), 0))
        if self.unit == MONTH:
            return numpy.mod(raw, 12)[:, None]
        days = raw / _DAY if self.unit == SECOND else raw
        if self.unit == WORKDAY:
            days = 7 * numpy.floor(raw / 5) + numpy.mod(raw, 5) - 3
        of_year = numpy.mod(days, 365.2425)
        of_week = numpy.mod(numpy.floor(days) + 3, 7)
        found = [of_year, of_week]
        if self.unit == SECOND:
            found.append(numpy.mod(raw, _DAY) / 3600)
        return numpy.stack(found, axis=1)

    def described(self) -> dict:
        return asdict(self)

    @classmethod
    def restored(cls, described: dict) -> "Calendar":
        """The calendar that ``described`` says. Raises KeyError, TypeError or ValueError for another description."""
        found = cls(**{n: described[n] for n in ("unit", "size", "origin", "form", "day")}, usual=described.get("usual", 0))
        numbers = (found.size, found.origin, found.day, found.usual)
        if not all(isinstance(n, int | float) and math.isfinite(n) and abs(n) < 1e15 for n in numbers) or not found.size > 0:
            raise ValueError("the steps of the series are not described")
        if (
            type(found.usual) is not int
            or not 0 <= found.usual <= 1000
            or found.unit not in (MONTH, DAY, WORKDAY, SECOND, NUMBER)
            or found.form not in (DATE, TIME, PERIOD, QUARTER, WEEK, PLAIN)
        ):
            raise ValueError("the steps of the series are not described")
        return found


def _written(moment: datetime.datetime, form: str) -> str:
    if form == PERIOD:
        return f"{moment.year:04}-{moment.month:02}"
    if form == QUARTER:
        return f"{moment.year:04}Q{(moment.month + 2) // 3}"
    if form == WEEK:
        year, week, _ = moment.isocalendar()
        return f"{year:04}-W{week:02}"
    return moment.date().isoformat() if form == DATE else moment.isoformat(sep=" ", timespec="minutes" if not moment.second else "seconds")


def _raw(unit: str, times: numpy.ndarray) -> numpy.ndarray:
    """``times`` in ``unit``."""
    if unit in (SECOND, NUMBER):
        return times
    days = times / _DAY
    if unit == DAY:
        return days
    if unit == WORKDAY:
        whole = numpy.floor(days + 3)
        return 5 * numpy.floor(whole / 7) + numpy.minimum(4, numpy.mod(whole, 7))
    there = ~numpy.isnan(times)
    found = numpy.full(len(times), numpy.nan)
    found[there] = times[there].astype("datetime64[s]").astype("datetime64[M]").astype(numpy.int64)
    return found


def found(times: numpy.ndarray, series: numpy.ndarray, dated: bool, form: str) -> tuple[Calendar | None, float]:
    """The steps of ``times`` within each of ``series`` (codes), and the share of gaps that are one step or several whole ones.

    ``dated`` says that times are seconds since 1970. None where all moments are one.
    """
    order = numpy.lexsort((times, series))
    same = numpy.diff(series[order]) == 0
    best: tuple[Calendar | None, float, float] = (None, 0.0, 0.0)
    midnight = not numpy.mod(times, _DAY).any() if dated else False
    units = (MONTH, *((WORKDAY, DAY) if midnight else (SECOND,))) if dated else (NUMBER,)
    for unit in units:
        if unit == WORKDAY and (numpy.mod(numpy.floor(times / _DAY) + 3, 7) > 4).any():
            continue
        raw = _raw(unit, times)
        gaps = numpy.diff(raw[order])[same]
        gaps = gaps[gaps > 0]
        if unit == MONTH and not _on_one_day(times):
            continue
        if not len(gaps):
            continue
        size = _step(gaps)
        if unit == WORKDAY and size != 1:
            continue
        whole = gaps / size
        regular = float((numpy.abs(whole - numpy.round(whole)) <= _NEAR).mean())
        single = float((numpy.abs(whole - 1) <= _NEAR).mean())
        if (regular, single) > (best[1] + 0.01, 0) or (regular >= best[1] - 0.01 and single > best[2]):
            origin = _origin(unit, raw, size)
            best = (Calendar(unit, size, origin, form, _day(times) if unit == MONTH else 1), regular, single)
    return best[0], best[1]


def _step(gaps: numpy.ndarray) -> float:
    """The most frequent gap; of numbers such as 1959.25, rounded so that all steps count."""
    rounded = numpy.round(gaps, 6)
    lengths, counts = numpy.unique(rounded, return_counts=True)
    most = float(lengths[counts.argmax()])
    if counts.max() >= REGULAR * len(gaps):
        return most
    if counts.max() >= 0.5 * len(gaps):
        return _lasting(gaps, most)
    middle = float(numpy.median(gaps))
    for parts in (12, 4, 52, 365.25):
        if abs(middle * parts - 1) < 0.02:
            return 1 / parts
    return _lasting(gaps, middle) if (numpy.abs(gaps / middle - 1) < _NEAR).mean() > 0.5 else most


def _lasting(gaps: numpy.ndarray, step: float) -> float:
    """The step of moments that are off by some seconds, which must not add up: whole minutes where these fit, else ``step`` or the mean."""
    whole = numpy.maximum(1, numpy.round(gaps / step))
    near = numpy.abs(gaps / step - whole) < _NEAR
    mean = float(gaps[near].sum() / whole[near].sum())
    fits = (60.0 * round(mean / 60), step)
    return next((s for s in fits if s and abs(mean - s) * len(gaps) < mean / 2), mean)


def _origin(unit: str, raw: numpy.ndarray, size: float) -> float:
    """The first step: in the middle of moments that are off by some seconds, on a whole minute."""
    first = float(raw.min())
    if unit != SECOND:
        return first
    off = raw - first - size * numpy.round((raw - first) / size)
    if numpy.abs(off).max() < 1:
        return first
    middle = first + float(numpy.median(off))
    return 60.0 * round(middle / 60) if size % 60 == 0 and abs(middle - 60 * round(middle / 60)) < numpy.abs(off).max() else middle


def _on_one_day(times: numpy.ndarray) -> bool:
    """Whether all moments lie on one day of their months, at midnight, or all on the last one."""
    days = times.astype("datetime64[s]").astype("datetime64[D]")
    of_month = (days - days.astype("datetime64[M]").astype("datetime64[D]")).astype(numpy.int64) + 1
    return not numpy.mod(times, _DAY).any() and (len(numpy.unique(of_month)) == 1 or _are_last(days) or bool((of_month >= 28).all()))


def _are_last(days: numpy.ndarray) -> bool:
    following = (days.astype("datetime64[M]") + 1).astype("datetime64[D]")
    return bool(((following - days).astype(numpy.int64) == 1).all())


def _day(times: numpy.ndarray) -> int:
    days = times.astype("datetime64[s]").astype("datetime64[D]")
    if _are_last(days):
        return 0
    return int(((days - days.astype("datetime64[M]").astype("datetime64[D]")).astype(numpy.int64) + 1).max())
