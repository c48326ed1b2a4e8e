"""Rows about series as loggers and instruments write them: lines of the instrument, overlaps, flags, counted times, sensors with their own steps."""

import datetime
import math
import random

import numpy

from trainer.tests.array_files import along, netcdf
from trainer.tests.zoo.row import Reads, Refused, Row, write
from trainer.tests.zoo.time import csv

FLAGS, COUNTED, LEVEL, STEPS = "marks of quality", "times as one number", "values that stay the same", "series with steps of their own"
OVERLAP = "files that overlap"
_START = datetime.datetime(2021, 6, 1)
_HOURS = 600
_EVENTS = '"Coupler Detached (LGR S/N: 2012)","Coupler Attached (LGR S/N: 2012)","Stopped (LGR S/N: 2012)","End Of File (LGR S/N: 2012)"'
_HEAD = '"TOA5","CR1000","CR1000","12345","CR1000.Std.28","CPU:x.CR1","1234","Hourly"\n'


def _hours(count: int = _HOURS, minutes: int = 60) -> list[datetime.datetime]:
    return [_START + datetime.timedelta(minutes=minutes * i) for i in range(count)]


def _warmth(count: int = _HOURS, per_day: float = 24, seed: int = 3) -> list[float]:
    chance = random.Random(seed)
    return [round(12 + 6 * math.sin(2 * math.pi * i / per_day) + chance.gauss(0, 0.6), 2) for i in range(count)]


def _rows(time=str, more=lambda i: [], count: int = _HOURS) -> list[list]:
    return [[time(h), v, *more(i)] for i, (h, v) in enumerate(zip(_hours(count), _warmth(count)))]


def _table(head: str, rows, name: str = "t.csv", more=None, before: str = ""):
    def make(folder):
        write(folder, name, before + csv(head, rows()))
        for other, content in (more or {}).items():
            write(folder, other, csv(head, content()))

    return make


def _unix(h: datetime.datetime) -> int:
    return int(h.replace(tzinfo=datetime.UTC).timestamp())


def _sensors(*minutes: int) -> list[list]:
    rows = [[h, f"every{m}", v] for m in minutes for h, v in zip(_hours(14400 // m, m), _warmth(14400 // m, 1440 / m, m))]
    return sorted(rows, key=lambda r: r[0])


def _few(count: int = 400) -> list[list]:
    chance = random.Random(4)
    found = [chance.choice((1, 2, 3)) if chance.random() < 0.1 and i < count - 9 else 0 for i in range(count)]
    return [[(_START + datetime.timedelta(days=i)).date(), n] for i, n in enumerate(found)]


def _moored(target) -> None:
    columns = {"time": numpy.arange(_HOURS) * 1.0, "level": numpy.array(_warmth())}
    along(target, "time", columns, {"time": {"units": "hours since 2021-06-01 00:00:00"}})


def _reads(says=None, **facts) -> Reads:
    return Reads("forecast", "series", says={"time_column": "One step is hour"} | (says or {}), **facts)


ROWS = (
    Row("logger-with-a-head", "lines of a HOBO logger before a number, a time and a temperature", "field teams", "onsetcomp.com",
        "the next hours are forecast",
        _table('"#","Date Time, GMT-05:00","Temp, °C"', lambda: [[i, *r] for i, r in enumerate(_rows(lambda h: f"{h:%m/%d/%y %I:%M:%S %p}"), 1)],
            before='"Plot Title: Pond 3"\n"Serial number: 20123456"\n"Started: 06/01/21"\n\n'),
        _reads({"lines_before_header": "are not read"})),
    Row("logger-with-events", "a HOBO logger with columns for events, which are mostly empty", "field teams", "onsetcomp.com",
        "the next hours are forecast", _table(f'"#","Date Time, GMT-05:00","Temp, °C (LGR S/N: 2012)",{_EVENTS}', lambda: [
            *([i, *r, *([""] * 4)] for i, r in enumerate(_rows(lambda h: f"{h:%m/%d/%y %I:%M:%S %p}"), 1)),
            [601, "06/26/21 12:00:00 AM", "", *["Logged"] * 4]], before='"Plot Title: Pond 3"\n'),
        _reads(label="Temp, °C (LGR S/N: 2012)")),
    Row("logger-of-light-and-warmth", "the same with two measures", "field teams", "onsetcomp.com", "a table, of which the last measure is predicted",
        _table(f'"#","Date Time, GMT-05:00","Temp, °C","Light, Lux",{_EVENTS}', lambda: [
            *([i, *r, round(300 + 20 * r[1] + i * 37 % 11, 1), *([""] * 4)] for i, r in enumerate(_rows(), 1)),
            [601, "2021-06-26 00:00:00", "", "", *["Logged"] * 4]], before='"Plot Title: Pond 3"\n'),
        Reads("tabular-regression", label="Light, Lux", says={"split": "set task to forecast"})),
    Row("logger-of-campbell", "TOA5: four lines of head, with units", "weather stations", "campbellsci.com", "the next hours are forecast",
        _table('"TIMESTAMP","RECORD","AirTC_Avg"\n"TS","RN","Deg C"\n"","","Avg"', lambda: [[r[0], i, r[1]] for i, r in enumerate(_rows())],
            "CR1000.dat", before=_HEAD), _reads(label="AirTC_Avg")),
    Row("year-day-and-2400", "year, day of the year, and hours from 100 to 2400", "weather stations", "campbellsci.com",
        "the next hours are forecast", _table("year,doy,hour,temp", lambda: [
            [(h - datetime.timedelta(hours=1)).year, (h - datetime.timedelta(hours=1)).timetuple().tm_yday, ((h.hour - 1) % 24 + 1) * 100, v]
            for h, v in zip(_hours(), _warmth())]), _reads({"time_column": "year, doy and hour tell the times"})),
    Row("loggers-that-overlap", "two files of one logger with 60 hours in both", "field teams", "made", "one series",
        _table("time,temp", lambda: _rows()[:330], "a.csv", {"b.csv": lambda: _rows()[270:]}),
        _reads({"series_column": "twice with the same value", "two_at_once": "60 moments"}), rule=OVERLAP),
    Row("loggers-that-differ", "two files of two loggers with 60 hours in both", "field teams", "made", "the question what tells them apart",
        _table("time,temp", lambda: _rows()[:330], "a.csv", {"b.csv": lambda: [[t, v + 10] for t, v in _rows()[270:]]}),
        Refused("two_at_once", ("series_column to file name",)), spares=OVERLAP),
    Row("loggers-that-differ-as-asked", "the same with series_column: file name", "field teams", "made", "each file is a series",
        _table("time,temp", lambda: _rows()[:330], "a.csv", {"b.csv": lambda: [[t, v + 10] for t, v in _rows()[270:]]}),
        _reads({"series_column": "file name tells series apart, as requested: there are 2"}), settings={"series_column": "file name"}),
    Row("sensors-with-their-own-steps", "a sensor each 10, 30 and 60 minutes in one table", "field teams", "made", "refused with the way out",
        _table("time,sensor,value", lambda: _sensors(10, 30, 60)), Refused("several_steps", ("10 minutes", "mean of each hour")), rule=STEPS),
    Row("sensors-with-one-step", "three sensors each hour, of which one has gaps", "field teams", "made", "a panel",
        _table("time,sensor,value", lambda: [r for i, r in enumerate((h, s, v) for s in "abc" for h, v in _rows()) if r[1] != "c" or i % 3]),
        _reads({"series_column": "sensor tells 3 series apart"}), spares=STEPS),
    Row("values-with-flags", "a time, a temperature and a flag A or M", "agencies", "ncei.noaa.gov", "a forecast, and the flag is named",
        _table("time,temp,flag", lambda: _rows(more=lambda i: ["M" if i % 14 == 3 else "A"])),
        _reads({"flags": "A 557, M 43"}, label="temp"), rule=FLAGS),
    Row("flow-with-codes", "the rdb file of a river gauge", "hydrology", "waterdata.usgs.gov", "the next days are forecast",
        lambda folder: write(folder, "gauge.rdb", "# words\n#\nagency_cd\tsite_no\tdatetime\t74207_00060\t74207_00060_cd\n5s\t15s\t20d\t14n\t10s\n"
            + "".join(f"USGS\t01646500\t{_START.date() + datetime.timedelta(days=i)}\t{v}\t{'A' if i < 200 else 'P'}\n"
                      for i, v in enumerate(_warmth(400, 7)))) and None,
        Reads("forecast", "series", label="74207_00060", says={"flags": "A 200, P 200", "time_column": "One step is day"}), rule=FLAGS),
    Row("flags-as-asked", "a time, a temperature and a flag with label_column: flag", "anyone who means it", "made", "the flag is predicted",
        _table("time,temp,flag", lambda: _rows(more=lambda i: ["M" if i % 14 == 3 else "A"])),
        Reads("tabular-classification", label="flag", silent=("flags",)), spares=FLAGS, settings={"label_column": "flag"}),
    Row("seconds-since-1970", "1622505600 and a number", "databases", "made", "the next hours are forecast, with a season of a day",
        _table("timestamp,temp", lambda: _rows(_unix)), _reads({"time_column": "seconds since 1970", "season": "usual"}), rule=COUNTED),
    Row("milliseconds-since-1970", "1622505600000 and a number", "web services", "made", "the same",
        _table("ts,value", lambda: _rows(lambda h: _unix(h) * 1000)), _reads({"time_column": "milliseconds since 1970. One step is hour"}),
        rule=COUNTED),
    Row("days-of-spreadsheets", "44348.041667 and a number", "spreadsheets", "made", "the same",
        _table("Timestamp,temp", lambda: [[f"{44348 + i / 24:.6f}", v] for i, v in enumerate(_warmth())]),
        _reads({"time_column": "spreadsheets count them. One step is hour"}), rule=COUNTED),
    Row("seconds-of-a-run", "a time from 40000 on in steps of one", "experiments", "made", "steps without a calendar",
        _table("time,value", lambda: [[40000 + i, v] for i, v in enumerate(_warmth())]),
        Reads("forecast", says={"time_column": "the column with times. One step is 1"}), spares=COUNTED),
    Row("a-clock-that-trembles", "hours that are off by up to 40 seconds", "loggers", "made", "one step is an hour",
        _table("time,temp", lambda: [[h + datetime.timedelta(seconds=i * 37 % 81 - 40), v] for i, (h, v) in enumerate(zip(_hours(), _warmth()))]),
        _reads()),
    Row("a-sensor-that-stopped", "the last 100 hours have one value", "loggers", "made", "a warning that the test says little",
        _table("time,temp", lambda: [[h, v if i < 500 else 12.5] for i, (h, v) in enumerate(_rows())]),
        _reads({"constant_end": "The last 100 values are all 12.5"}), rule=LEVEL),
    Row("a-sensor-that-runs", "the last 5 hours have one value", "loggers", "made", "no warning",
        _table("time,temp", lambda: [[h, v if i < 595 else 12.5] for i, (h, v) in enumerate(_rows())]), _reads(silent=("constant_end",)),
        spares=LEVEL),
    Row("few-counts", "a count of each day that mostly is 0", "camera traps", "made", "a warning where all of the test is 0",
        _table("date,count", _few),
        Reads("forecast", says={"constant_end": "are all 0"}), rule=LEVEL),
    Row("a-moored-level", "netCDF with a time and a level", "lakes", "CF conventions", "the next hours are forecast",
        lambda folder: write(folder, "level.nc", netcdf(_moored)) and None, _reads(label="level")),
)  # fmt: skip
