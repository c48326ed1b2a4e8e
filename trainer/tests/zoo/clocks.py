"""Rows about times as people write them: in several columns, with AM and PM, in a file for each station."""

import math
import random

from trainer.tests.zoo.row import Reads, Row, write
from trainer.tests.zoo.time import AT_RANDOM, BY_TIME, FLATTERS, csv, moment

CLOCKS, STATIONS, UNORDERED = "times in several columns", "a series for each file", "alike in time without an order"
TASK = "tabular-regression"


def _level(i: int, chance: random.Random) -> str:
    return f"{10 + 8 * math.sin(i / 25) + chance.gauss(0, 0.3):.2f}"


def _table(header: str, when, rows: int = 400, minutes: int = 60, smooth: bool = True):
    """A table of a slow target; ``when`` makes the cells with its time."""

    def make(folder):
        chance = random.Random(12)
        made = [[*when(moment(i, minutes)), f"{chance.gauss(0, 1):.3f}", _level(i if smooth else chance.randrange(999), chance)] for i in range(rows)]
        write(folder, "t.csv", csv(header, made))

    return make


def _days_shuffled(header: str, when, smooth: bool = True):
    """300 days with five rows each, in no order."""

    def make(folder):
        chance = random.Random(13)
        made = [[when(i // 5), f"{chance.gauss(0, 1):.3f}", _level(i // 5 if smooth else chance.randrange(999), chance)] for i in range(1500)]
        chance.shuffle(made)
        write(folder, "t.csv", csv(header, made))

    return make


def _stations(smooth: bool = True):
    def make(folder):
        chance = random.Random(14)
        for s in range(4):
            made = [[moment(i, 60), f"{chance.gauss(0, 1):.3f}", f"{100 * s + float(_level(i if smooth else chance.randrange(999), chance)):.2f}"]
                    for i in range(200)]  # fmt: skip
            write(folder, f"station_{s + 1}.csv", csv("time,x,y", made))

    return make


def _parts_of_one_table(folder):
    """A table in two files, whose rows are in no order of time and do not depend on it."""
    chance = random.Random(15)
    for part in range(2):
        made = [[moment(chance.randrange(9000), 1440).date(), f"{chance.gauss(0, 1):.3f}", f"{chance.gauss(0, 1):.3f}"] for _ in range(200)]
        write(folder, f"part{part + 1}.csv", csv("date,x,y", made))


def _read(rows: int, says=None, silent=(), **facts) -> Reads:
    return Reads(TASK, rows=rows, says=says or {}, silent=silent, **facts)


_LABEL = {"label_column": "y"}
ROWS = (
    Row("date-and-time", "a date and a time of day in two columns", "weather stations", "made", "one time",
        _table("Date,Time,x,y", lambda t: (f"{t:%m/%d/%Y}", f"{t:%H:%M}")), _read(400, {"split": "follow each other in Date and Time"}), CLOCKS,
        settings=_LABEL),
    Row("date-and-hhmm", "a date, and 1330 for the time of day", "weather stations", "made", "one time",
        _table("Date,HHMM,x,y", lambda t: (t.date(), t.hour * 100 + t.minute), minutes=30), _read(400, {"split": "in Date and HHMM"}), CLOCKS,
        settings=_LABEL),
    Row("year-month-day-hour", "year, month, day and hour as columns", "air quality", "PRSA (UCI)", "one time",
        _table("year,month,day,hour,x,y", lambda t: (t.year, t.month, t.day, t.hour)), _read(400, {"split": "in year, month, day and hour"}), CLOCKS,
        settings=_LABEL),
    Row("year-and-day-of-year", "Year, DOY and HHMM as columns", "loggers", "made", "one time",
        _table("Year,DOY,HHMM,x,y", lambda t: (t.year, int(f"{t:%j}"), t.hour * 100)), _read(400, {"split": "in Year, DOY and HHMM"}), CLOCKS,
        settings=_LABEL),
    Row("parts-of-births", "year, month and day of births, values of chance", "medicine", "made", "split at random, no word of time",
        _table("year,month,day,x,y", lambda t: (t.year - 30, t.month, t.day), minutes=1440, smooth=False), _read(400, AT_RANDOM, (FLATTERS,)),
        spares=CLOCKS, settings=_LABEL),
    Row("am-and-pm", "06/01/21 01:30:00 PM", "HOBO loggers", "onset", "the latest rows are the test",
        _table("stamp,x,y", lambda t: (f"{t:%m/%d/%y %I:%M:%S %p}",)), _read(400, BY_TIME, splits=(320, 40, 40)), rule=CLOCKS),
    Row("names-of-months", "01-Jun-2021", "Excel users", "made", "the latest rows are the test",
        _table("day,x,y", lambda t: (f"{t:%d-%b-%Y}",), minutes=1440), _read(400, BY_TIME), rule=CLOCKS),
    Row("a-file-for-each-station", "station_1.csv to station_4.csv with the same hours", "water levels", "made", "the latest hours are the test",
        _stations(), _read(800, {"split": "for each file"}, splits=(640, 80, 80)), rule=STATIONS),
    Row("chance-in-files", "the same with values of chance", "made", "made", "no word of time",
        _stations(False), _read(800, AT_RANDOM, (FLATTERS,)), spares=STATIONS),
    Row("parts-of-one-table", "part1.csv and part2.csv with days in no order", "exports", "made", "no word of time",
        _parts_of_one_table, _read(400, AT_RANDOM, (FLATTERS,)), spares=STATIONS),
    Row("days-of-five-rows", "300 days with five rows each, in no order, smooth in time", "field work", "made", "at random, with a warning",
        _days_shuffled("date,x,y", lambda day: moment(day, 1440).date()), _read(1500, AT_RANDOM | {FLATTERS: "set data.split to time"}),
        rule=UNORDERED),
    Row("days-of-chance", "the same with values of chance", "field work", "made", "no word of time",
        _days_shuffled("date,x,y", lambda day: moment(day, 1440).date(), False), _read(1500, AT_RANDOM, (FLATTERS,)), spares=UNORDERED),
    Row("year-and-month-of-cars", "year and month of a registration, and a price that follows", "used cars", "made", "no word of time",
        _days_shuffled("year,month,x,y", lambda i: f"{1990 + i // 12},{i % 12 + 1}"), _read(1500, AT_RANDOM, (FLATTERS,)), spares=UNORDERED,
        settings=_LABEL),
)  # fmt: skip
