"""Dates and times of day as numbers that grow with time, and the columns that hold them together."""

import math

import numpy
import pytest

from trainer.data.columns import clocks, dates, joined_clocks

_DAY = 86400


@pytest.mark.parametrize(
    ("earlier", "later", "apart"),
    [
        ("1/2/2024 1:00 AM", "1/2/2024 1:00 PM", 12 * 3600),
        ("1/2/2024 12:30 AM", "1/2/2024 12:30 p.m.", 12 * 3600),
        ("31.12.98", "01.01.99", _DAY),
        ("31.12.99", "01.01.00", _DAY),
        ("01-Jun-2021", "02-Jun-2021", _DAY),
        ("1. Dezember 2021", "1 Jan 2022", 31 * _DAY),
        ("May 31, 2021", "June 1, 2021", _DAY),
        ("2021-06-01T10:00:00.250Z", "2021-06-01T10:00:00.500Z", 0.25),
        ("2021-10-31T02:30+02:00", "2021-10-31T02:30+01:00", 3600),
        ("2021-10-31 02:30:00+02", "2021-10-31 02:30:00+0100", 3600),
        ("2021-10-31 10:00-10:30", "2021-10-31 10:30-11:00", 1800),
        ("2021-10-30 24:00", "2021-10-31 01:00", 3600),
    ],
)
def test_the_time_between_two_dates(earlier, later, apart):
    read = dates.seconds([earlier, later])
    assert read(later) - read(earlier) == pytest.approx(apart)


@pytest.mark.parametrize("cell", ["31.02.2021", "2021-06-01 10:61", "1/2/2024 13:00 PM", "noon", "3 Foo 2021"])
def test_what_is_no_date(cell):
    assert math.isnan(dates.seconds(["01.02.2021"])(cell))


@pytest.mark.parametrize(
    ("written", "as_date"),
    [
        ("Jan 2014", "2014-01-01"),
        ("Dec. 2014", "2014-12-01"),
        ("Oktober 1999", "1999-10-01"),
        ("Jan-14", "2014-01-01"),
        ("Jan '98", "1998-01-01"),
        ("sept2014", "2014-09-01"),
        ("3/2014", "2014-03-01"),
        ("03.2014", "2014-03-01"),
        ("2014M03", "2014-03-01"),
        ("201403", "2014-03-01"),
        ("Q3 2014", "2014-07-01"),
        ("2014-Q3", "2014-07-01"),
        ("2014-W02", "2014-01-08"),
    ],
)
def test_months_quarters_and_weeks(written, as_date):
    assert dates.is_period(written)
    assert dates.period(written) == dates.seconds([])(as_date)


@pytest.mark.parametrize("cell", ["SEP15", "Dec 1", "13/2014", "Q5 2014", "Mayor 2014", "201413", "2014-01-02"])
def test_what_is_no_month(cell):
    assert not dates.is_period(cell) and math.isnan(dates.period(cell))


@pytest.mark.parametrize(("name", "read"), [("month", True), ("Year Month", True), ("yyyymm", True), ("date", True), ("plot", False)])
def test_numbers_of_year_and_month_are_times_by_the_name_of_their_column(name, read):
    cells = [f"{2014 + i // 12}{1 + i % 12:02}" for i in range(36)]
    clock = clocks.of(name, cells)
    assert (clock is not None) == read == clocks.may_be(name, 0, True, cells)
    if clock is not None:
        assert clock.dates and clock.times[12] == dates.seconds([])("2015-01-01")


def test_most_dates_tell_the_order_of_day_and_month():
    assert dates.seconds(["1/13/2021"])("1/2/2021") < dates.seconds(["13/1/2021"])("1/2/2021")


_HOURS = range(48)
_DATES = [f"{i // 24 + 1:02}.06.2021" for i in _HOURS]
_YEARS = {"year": ["2021"] * 48, "month": ["6"] * 48, "day": [str(1 + i // 24) for i in _HOURS]}


@pytest.mark.parametrize(
    ("columns", "parts"),
    [
        ({"Date": _DATES, "Time": [f"{i % 24}:00" for i in _HOURS]}, ("Date", "Time")),
        ({"Date": _DATES, "Time": [f"{i % 12 or 12}:00 {'AP'[i % 24 // 12]}M" for i in _HOURS]}, ("Date", "Time")),
        ({"Date": _DATES, "HHMM": [str(i % 24 * 100) for i in _HOURS]}, ("Date", "HHMM")),
        ({"Datum": _DATES, "Stunde": [str(i % 24) for i in _HOURS]}, ("Datum", "Stunde")),
        ({"date": [f"2021060{i // 24 + 1}" for i in _HOURS], "hour": [str(i % 24) for i in _HOURS]}, ("date", "hour")),
        (_YEARS | {"hour": [str(i % 24) for i in _HOURS]}, ("year", "month", "day", "hour")),
        ({"Year": ["2021"] * 48, "DOY": [str(150 + i // 24) for i in _HOURS], "Hour": [str(i % 24) for i in _HOURS]}, ("Year", "DOY", "Hour")),
        (
            {"#YY": ["98"] * 48, "MM": ["6"] * 48, "DD": _YEARS["day"], "hh": [str(i % 24) for i in _HOURS], "mm": ["0"] * 48},
            ("#YY", "MM", "DD", "hh", "mm"),
        ),
    ],
)
def test_columns_that_hold_a_time_together(columns, parts):
    clock = _clock(columns)
    assert clock is not None and clock.parts == parts and clock.dates
    assert (numpy.diff(clock.times) == 3600).all()


@pytest.mark.parametrize(
    "columns",
    [
        {"Date": [f"{d} 10:00" for d in _DATES], "Time": [f"{i % 24}:00" for i in _HOURS]},  # the date has a time of day
        {"Date": _DATES, "End": _DATES, "Time": [f"{i % 24}:00" for i in _HOURS]},  # two dates
        {"Date": _DATES, "Time": [str(i % 24) for i in _HOURS]},  # seconds of something
        {"date of birth": _DATES, "time": [f"{i % 24}:00" for i in _HOURS]},
        {"month": ["6"] * 48, "day": _YEARS["day"], "hour": [str(i % 24) for i in _HOURS]},  # without a year
        {"year": ["2021"] * 48, "month": ["6"] * 48, "month_2": ["7"] * 48},
        {"year": ["2021"] * 48, "day": [str(i * 9) for i in _HOURS], "month": [str(i) for i in _HOURS]},  # months beyond 12
    ],
)
def test_columns_that_hold_no_time_together(columns):
    assert _clock(columns) is None


def test_a_year_and_a_month_may_be_a_property_of_the_rows():
    clock = _clock({"year": [str(1990 + i // 12) for i in _HOURS], "month": [str(1 + i % 12) for i in _HOURS]})
    assert clock is not None and not clock.dates


def _clock(columns: dict[str, list[str]]):
    share = {n: float(dates.is_date(cells[0]) or dates.is_compact(cells[0])) for n, cells in columns.items()}
    return joined_clocks.of(share, columns.__getitem__)
