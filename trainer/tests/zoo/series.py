"""Rows about tables that are series, whose next steps are forecast, and tables with times that are no series."""

import datetime
import math
import random

from trainer.tests.zoo.row import Reads, Refused, Row, write
from trainer.tests.zoo.time import csv

FORECAST = "a forecast"
SURE = {"horizon": "steps are forecast"}
_START = datetime.date(2019, 1, 1)


def _walk(count: int, seed: int = 1, season: float = 5) -> list[float]:
    chance, level, found = random.Random(seed), 50.0, []
    for i in range(count):
        level += chance.gauss(0, 1)
        found.append(round(level + season * math.sin(i * math.pi / 6), 2))
    return found


def _days(count: int) -> list[datetime.date]:
    return [_START + datetime.timedelta(days=i) for i in range(count)]


def _table(head: str, rows, name: str = "t.csv", more=None):
    def make(folder):
        write(folder, name, csv(head, rows()))
        for other, content in (more or {}).items():
            write(folder, other, content())

    return make


def _daily(count: int = 120):
    return list(zip(_days(count), _walk(count)))


def _shops():
    return [[shop, day, value] for shop in range(5) for day, value in zip(_days(90), _walk(90, shop))]


def _sampled():
    chance = random.Random(2)
    days = sorted(chance.sample(range(4000), 200))
    return [[f"{_START + datetime.timedelta(days=d)}", f"{chance.gauss(0, 1):.3f}", f"{chance.gauss(5, 1):.2f}"] for d in days]


def _reads(says=None, silent=(), **facts) -> Reads:
    return Reads("forecast", "series", says=SURE | (says or {}), silent=silent, **facts)


def _other(task: str, **facts) -> Reads:
    return Reads(task, silent=("horizon",), **facts)


ROWS = (
    Row("months-by-name", "Jan 2012 and a number", "statistics offices", "made", "the next months are forecast",
        _table("month,level", lambda: [[f"{_START.replace(year=2012 + i // 12, month=1 + i % 12):%b %Y}", v] for i, v in enumerate(_walk(84))]),
        _reads({"time_column": "One step is month"}), rule=FORECAST),
    Row("months-as-numbers", "201201 and a number", "statistics offices", "made", "the next months are forecast",
        _table("month,level", lambda: [[f"{2012 + i // 12}{1 + i % 12:02}", v] for i, v in enumerate(_walk(84))]),
        _reads({"time_column": "One step is month"}), rule=FORECAST),
    Row("days-and-values", "a date and a number", "sales, loads, levels", "F5", "the next days are forecast",
        _table("date,value", _daily), _reads({"time_column": "One step is day", "task": "set task to tabular-regression"}), rule=FORECAST),
    Row("months-and-values", "2010-01 and a number", "statistics offices", "statsmodels co2", "the next year is forecast, with a season of 12",
        _table("month,co2", lambda: [[f"{2000 + i // 12}-{i % 12 + 1:02}", v] for i, v in enumerate(_walk(160))]),
        _reads({"season": "after 12 steps", "time_column": "One step is month"}), rule=FORECAST),
    Row("quarters-and-values", "1990Q1 and a number", "economics", "statsmodels macrodata", "the next quarters are forecast",
        _table("quarter,gdp", lambda: [[f"{1980 + i // 4}Q{i % 4 + 1}", v] for i, v in enumerate(_walk(120))]),
        _reads({"time_column": "One step is 3 months"}), rule=FORECAST),
    Row("weeks-and-values", "2019-W05 and a number", "epidemiology", "made", "the next weeks are forecast",
        _table("week,cases", lambda: [[f"{d.isocalendar()[0]}-W{d.isocalendar()[1]:02}", v] for d, v in zip(_days(1400)[::7], _walk(200))]),
        _reads({"time_column": "One step is week"}), rule=FORECAST),
    Row("years-and-values", "a year and a number", "climate", "statsmodels sunspots", "the next years are forecast, without a season",
        _table("year,spots", lambda: [[1800 + i, v] for i, v in enumerate(_walk(150, season=0))]), _reads({"season": "No season"}), rule=FORECAST),
    Row("cycles-and-values", "a number of a cycle and a value that repeats itself after 12", "machines", "made", "the season is found in the values",
        _table("cycle,value", lambda: [[i, v] for i, v in enumerate(_walk(150))]), _reads({"season": "repeat themselves after 12 steps: changes"}),
        rule=FORECAST, settings={"task": "forecast", "time_column": "cycle", "label_column": "value"}),
    Row("a-spring-in-hours", "hours at the end of March, where one does not exist", "loggers", "made", "the hour is filled, and counts as nothing",
        _table("time,value", lambda: [[f"{datetime.datetime(2021, 3, 20) + datetime.timedelta(hours=i + (i >= 194))}", v] for i, v in enumerate(
            _walk(400))]), _reads({"time_column": "One step is hour", "season": "after 24 steps"}), rule=FORECAST),
    Row("working-days", "Monday to Friday", "markets", "made", "weekends are no gaps",
        _table("date,price", lambda: [r for r in _daily(300) if r[0].weekday() < 5]), _reads({"time_column": "is working day"}), rule=FORECAST),
    Row("shops-and-days", "a shop, a date and a number", "retail", "made", "each shop is a series",
        _table("shop,date,sales", _shops), _reads({"series_column": "shop tells 5 series apart"}), rule=FORECAST),
    Row("decimal-commas", "01.02.2019;3,5", "European exports", "made", "read as it is meant",
        lambda folder: write(folder, "t.csv", "Datum;Wert\n" + "".join(f"{d:%d.%m.%Y};{str(v).replace('.', ',')}\n" for d, v in _daily())) and None,
        _reads(), rule=FORECAST),
    Row("rows-with-numbers", "a row number, a date and a number", "exports of pandas", "made", "the row number means nothing",
        _table("id,date,value", lambda: [[i, d, v] for i, (d, v) in enumerate(_daily())]), _reads({"label_column": "value is"}), rule=FORECAST),
    Row("years-in-files", "a file for each year", "loggers", "F5", "one series",
        _table("date,value", lambda: _daily(120)[:60], "a.csv", {"b.csv": lambda: csv("date,value", _daily(120)[60:])}), _reads(), rule=FORECAST),
    Row("days-with-other-columns", "a date, two measures and a target", "field data", "F5", "a table that is split by time",
        _table("date,x,y", lambda: [[d, round(v + 1, 1), v] for d, v in _daily(200)]),
        _other("tabular-regression", says={"split": "set task to forecast"}), spares=FORECAST),
    Row("days-with-classes", "a date and a class", "diaries", "made", "no forecast of classes",
        _table("date,x,label", lambda: [[d, v, "ab"[i % 2]] for i, (d, v) in enumerate(_daily())]), _other("tabular-classification"),
        spares=FORECAST),
    Row("days-without-steps", "samples at days in no step, with a measure", "water quality", "made", "a table",
        _table("date,x,y", _sampled), _other("tabular-regression"), spares=FORECAST),
    Row("forecast-with-other-columns", "the same table with task: forecast", "field data", "made", "the question which column",
        _table("date,x,y2", lambda: [[d, round(v * v, 1), v] for d, v in _daily(200)]), Refused("several_targets", ("label_column",)),
        settings={"task": "forecast"}),
    Row("forecast-as-asked", "the same table with the target", "field data", "made", "forecast; the other column is named as not read",
        _table("date,x,y2", lambda: [[d, round(v * v, 1), v] for d, v in _daily(200)]), _reads({"columns_not_read": "known_covariates"}),
        settings={"task": "forecast", "label_column": "y2"}),
    Row("table-as-asked", "a date and a number with task: tabular-regression", "anyone", "made", "no forecast",
        _table("date,x,value", lambda: [[d, i % 7, v] for i, (d, v) in enumerate(_daily())]), _other("tabular-regression"),
        settings={"task": "tabular-regression", "label_column": "value"}),
    Row("forecast-without-steps", "samples in no step with task: forecast", "water quality", "made", "refused with the way out",
        _table("date,x,y", _sampled), Refused("irregular_times", ("regular times",)), settings={"task": "forecast", "label_column": "y"}),
    Row("two-at-one-moment", "every day twice, without ids", "exports", "made", "the question what tells the series apart",
        _table("date,value", lambda: _daily() + _daily()), Refused("two_at_once", ("series_column",))),
    Row("one-moment-twice", "one hour twice, as at the end of daylight saving", "loggers", "made", "the mean, with a warning",
        _table("time,value", lambda: [[f"2021-10-{1 + i // 24:02} {i % 24:02}:00", v] for i, v in enumerate(_walk(500))] + [["2021-10-05 02:00", 9]]),
        _reads({"two_at_once": "their mean is used"}), rule=FORECAST),
    Row("years-15-and-9999", "typing errors among the dates", "field sheets", "made", "the two rows are left out, with a warning",
        _table("date,value", lambda: [["0015-03-02", 3], *_daily(), ["9999-12-31", 4]]), _reads({"far_in_time": "2 rows are left"}), rule=FORECAST),
    Row("twelve-years", "twelve points", "pupils", "made", "a short forecast",
        _table("year,value", lambda: [[2000 + i, v] for i, v in enumerate(_walk(12))]), _reads({"horizon": "2 steps"}), rule=FORECAST),
    Row("five-years", "five points", "pupils", "made", "refused with the way out",
        _table("year,value", lambda: [[2000 + i, v] for i, v in enumerate(_walk(5))]), Refused("short_series", ("Add rows",)),
        settings={"task": "forecast"}),
)  # fmt: skip
