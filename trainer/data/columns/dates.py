"""Reads cells as dates and times of day, in the notations of people and of instruments."""

import datetime
import math
import re
from collections.abc import Callable

_MONTHS = (
    *("jan(?:uary|uar)?", "feb(?:ruary|ruar)?", "mar(?:ch)?|mär(?:z)?|mrz", "apr(?:il)?", "may|mai", "june?|juni", "july?|juli"),
    *("aug(?:ust)?", "sept?(?:ember)?", "o[ck]t(?:ober)?", "nov(?:ember)?", "de[cz](?:ember)?"),
)
_MONTH = "|".join(_MONTHS)
_OF_MONTH = tuple(re.compile(pattern, re.IGNORECASE) for pattern in _MONTHS)
_YEAR_FIRST = r"(?P<y1>\d{4})[-/.](?P<m1>\d{1,2})[-/.](?P<d1>\d{1,2})"
_YEAR_LAST = r"(?P<a>\d{1,2})[-/.](?P<b>\d{1,2})[-/.](?P<y2>\d{4}|\d{2})"
_DAY_NAMED = rf"(?P<d3>\d{{1,2}})[-/. ]\.? ?(?P<m3>{_MONTH})\.?[-/., ] ?(?P<y3>\d{{4}}|\d{{2}})"
_NAMED_DAY = rf"(?P<m4>{_MONTH})\.? (?P<d4>\d{{1,2}}),? (?P<y4>\d{{4}})"
_CLOCK = r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2}(?:[.,]\d{1,9})?))?(?: ?(?P<half>[ap])\.?m\b\.?)?"
_ZONE = r"(?: ?(?:Z|UTC|GMT)?(?P<zone>[+-]\d{2}(?::?\d{2})?)?)?"
_DATE = re.compile(rf"(?:{_YEAR_FIRST}|{_YEAR_LAST}|{_DAY_NAMED}|{_NAMED_DAY})(?:(?:[T ]|, ){_CLOCK}{_ZONE}.*)?", re.IGNORECASE)
_TIME_OF_DAY = re.compile(_CLOCK, re.IGNORECASE)
_COMPACT = re.compile(r"(19|20)\d\d(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(([01]\d|2[0-4])([0-5]\d([0-5]\d)?)?)?(\.0+)?")
_PERIOD = re.compile(
    r"(?P<year>(?:19|20)\d\d)[-/ ]?(?:Q(?P<quarter>[1-4])|M?(?P<month>0?[1-9]|1[0-2])|W(?P<week>0?[1-9]|[1-4]\d|5[0-3]))"
    r"|(?:Q(?P<q2>[1-4])|(?P<m2>0?[1-9]|1[0-2]))[-/. ](?P<y2>(?:19|20)\d\d)"
    rf"|(?P<m3>{_MONTH})\.?(?:[-/, ]{{0,2}}(?P<y3>(?:19|20)\d\d)|[-/ ]'?(?P<y4>\d\d))",
    re.I,
)
_LAST_OF_2000 = 68  # two digits up to it are years after 2000, the others before


def is_date(cell: str) -> bool:
    return _DATE.fullmatch(cell.strip()) is not None


def is_compact(cell: str) -> bool:
    """Whether a number is a date as instruments write it: 20190101, or 201901010030 with hours and minutes."""
    return _COMPACT.fullmatch(cell.strip()) is not None


def is_day(cell: str) -> bool:
    """Whether a cell is a day: 2019-01-31, 31.01.2019 or 20190131."""
    return is_date(cell) or is_compact(cell)


def is_period(cell: str) -> bool:
    """Whether a cell is a month, a quarter or a week: 2019-01, 01/2019, Jan 2019, Jan-19, 2019Q1, 2019-W05. 201901 may be one, too."""
    return _PERIOD.fullmatch(cell.strip()) is not None


def seconds(dates: list[str]) -> Callable[[str], float]:
    """A function that reads a date as seconds since 1970, NaN where it is none, in the order of day, month and year that most of ``dates`` have."""
    return reader(month_first(dates))


def month_first(dates: list[str]) -> bool:
    """Whether most of ``dates`` that tell it have the month before the day."""
    parts = [m for d in dates if (m := _DATE.fullmatch(d.strip())) and m["a"]]
    return sum(int(m["b"]) > 12 for m in parts) > sum(int(m["a"]) > 12 for m in parts)


def reader(month_first: bool) -> Callable[[str], float]:
    """A function that reads a date as seconds since 1970, NaN where it is none. Of two numbers, the first is the month if ``month_first``."""

    def read(text: str) -> float:
        match = _DATE.fullmatch(text.strip())
        if match is None:
            return math.nan
        start = stamp(*_day(match, month_first))
        if not match["hour"]:
            return start
        zone = match["zone"] if match["second"] or (match["y1"] and "T" in text) else ""  # 10:00-10:30 is a span of time
        return start + _of_day(match) - _offset(zone)

    return read


def _day(match: re.Match, month_first: bool) -> tuple[int, int, int]:
    """Year, month and day of a date."""
    if match["y1"]:
        return int(match["y1"]), int(match["m1"]), int(match["d1"])
    if match["y2"]:
        a, b = int(match["a"]), int(match["b"])
        return (year(match["y2"]), *((a, b) if month_first else (b, a)))
    if match["y3"]:
        return year(match["y3"]), month(match["m3"]), int(match["d3"])
    return int(match["y4"]), month(match["m4"]), int(match["d4"])


def year(digits: str) -> int:
    """A year that may be written with two digits."""
    number = int(digits)
    if len(digits) > 2:
        return number
    return number + (2000 if number <= _LAST_OF_2000 else 1900)


def month(cell: str) -> int:
    """The number of a month, by its number or its name; 0 for none."""
    text = cell.strip().rstrip(".")
    if text.isascii() and text.isdecimal() and len(text) < 3:
        return int(text)
    return next((i for i, pattern in enumerate(_OF_MONTH, 1) if pattern.fullmatch(text)), 0)


def time_of_day(cell: str) -> float:
    """The seconds since midnight of a cell like 13:05, 1:05 PM or 13:05:30; NaN for another one."""
    match = _TIME_OF_DAY.fullmatch(cell.strip())
    return math.nan if match is None else _of_day(match)


def _of_day(match: re.Match) -> float:
    hour, minute, half = int(match["hour"]), int(match["minute"]), (match["half"] or "").lower()
    if hour > (12 if half else 24) or minute > 59:
        return math.nan
    if half:
        hour = hour % 12 + 12 * (half == "p")
    return 3600.0 * hour + 60 * minute + float((match["second"] or "0").replace(",", "."))


def _offset(zone: str | None) -> int:
    """The seconds by which a zone like +02:00 is ahead."""
    if not zone:
        return 0
    ahead = 3600 * int(zone[1:3]) + 60 * int(zone[3:].lstrip(":") or 0)
    return -ahead if zone[0] == "-" else ahead


def stamp(year: int, month: int, day: int) -> float:
    """Seconds since 1970 at the beginning of a day. NaN for a day that no calendar has."""
    try:
        return datetime.datetime(year, month, day, tzinfo=datetime.UTC).timestamp()
    except (ValueError, OverflowError):
        return math.nan


def compact(cell: str) -> float:
    """Seconds since 1970; the hour 24 is the first of the next day."""
    text = cell.strip().split(".")[0]
    if not is_compact(text):
        return math.nan
    hour, minute, second = (int(text[i : i + 2] or 0) for i in (8, 10, 12))
    return stamp(int(text[:4]), int(text[4:6]), int(text[6:8])) + 3600 * hour + 60 * minute + second


def period(cell: str) -> float:
    """Seconds since 1970 at the beginning of a month, a quarter or a week."""
    match = _PERIOD.fullmatch(cell.strip())
    if match is None:
        return math.nan
    found = year(match["year"] or match["y2"] or match["y3"] or match["y4"])
    if match["week"]:
        return stamp(found, 1, 1) + 7 * 86400 * (int(match["week"]) - 1)
    quarter = match["quarter"] or match["q2"]
    return stamp(found, 3 * int(quarter) - 2 if quarter else month(match["month"] or match["m2"] or match["m3"]), 1)
