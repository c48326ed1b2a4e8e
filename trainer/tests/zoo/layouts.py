"""Rows about the layouts of several series: numbered steps in rows, series side by side, files, ids in several columns; and signs for gaps."""

import datetime
import random

from trainer.tests.zoo.across import walk
from trainer.tests.zoo.row import Reads, Refused, Row, write
from trainer.tests.zoo.time import csv

STEPS, BESIDE, FILES, MARKER = "steps in numbered columns", "series side by side", "a file for each series", "a sign for a gap beside numbers"
_START = datetime.date(2019, 1, 1)


def _days(count: int) -> list[datetime.date]:
    return [_START + datetime.timedelta(days=i) for i in range(count)]


def _table(head: str, rows, name: str = "t.csv"):
    return lambda folder: write(folder, name, csv(head, rows())) and None


def _steps(name: str, rest: int = 0, width: int = 90):
    """A file of the M4 competition: series of 50 to 80 steps, without the last ``rest`` ones, which are the test."""

    def make(folder):
        series = [walk(50 + k * 3 % 31, k, 5) for k in range(20)]
        for part, cut in (("train", slice(None, -rest or None)), ("test", slice(-rest, None))) if rest else (("", slice(None)),):
            rows = [[f'"D{k + 1}"', *(f'"{v}"' for v in s[cut])] for k, s in enumerate(series)]
            columns = rest if part == "test" else width
            cells = [[*row, *[""] * (columns + 1 - len(row))] for row in rows]
            write(folder, f"{name}{'-' if part else ''}{part}.csv", csv(",".join(f'"V{i}"' for i in range(1, columns + 2)), cells))

    return make


def _m3(folder):
    series = [walk(60 + k * 3 % 31, k, 5) for k in range(20)]
    head = ["Series", "N", "NF", "Category", "Starting Year", "Starting Month", *range(1, 95)]
    rows = [[f"N{1400 + k}", len(s), 18, "AB"[k % 2], 1985 + k % 4, 1 + k % 12, *s, *[""] * (94 - len(s))] for k, s in enumerate(series)]
    write(folder, "M3Month.csv", csv(",".join(map(str, head)), rows))


def _beside(names: list[str], days: int = 120):
    levels = [walk(days, k, 5) for k in range(len(names))]
    return _table(",".join(["date", *names]), lambda: [[d, *row] for d, *row in zip(_days(days), *levels)])


def _files(names: list[str], days: int = 120):
    def make(folder):
        for k, name in enumerate(names):
            write(folder, f"{name}.csv", csv("time,level", zip(_days(days), walk(days, k, 5))))

    return make


def _panel(ids, head: str, name: str = "t.csv"):
    return _table(head, lambda: [[*of, d, v] for k, of in enumerate(ids) for d, v in zip(_days(80), walk(80, k, 5))], name)


def _marked(marker: str, share: float = 0.12, head: str = "date,temp"):
    chance = random.Random(4)
    rows = [[d, marker if chance.random() < share else v] for d, v in zip(_days(200), walk(200, 1, 5))]
    return _table(head, lambda: rows)


def _reads(says=None, **facts) -> Reads:
    return Reads("forecast", "series", says={"horizon": "steps are forecast"} | (says or {}), **facts)


_BOTH = [(s, i) for s in (1, 2, 3) for i in (1, 2)]
_COUNTRIES = ["Germany", "France", "Italy"]
ROWS = (
    Row("files-of-m4", "Daily-train.csv and Daily-test.csv: V1 names a series, and V2, V3, … are its steps", "people who compare forecasts",
        "github.com/Mcompetitions/M4-methods", "the steps of the test are the test, and 7 days make a week", _steps("Daily", 14),
        _reads({"turned_table": "A step is a day, by the name of the file", "horizon": "14 steps are forecast, as the tables say",
                "series_column": "V1 tells 20 series apart"}), rule=STEPS),
    Row("a-file-of-m3", "Series, N, NF, the first month, and the steps 1, 2, 3, …", "people who compare forecasts", "forecasters.org",
        "18 months of each series are forecast", _m3, _reads({"turned_table": "A step is a month", "horizon": "18 steps"}), rule=STEPS),
    Row("numbered-steps", "the same layout in a file whose name says nothing", "anyone", "made", "the question whether these are series",
        _steps("data"), Refused("turned_series", ("set task to forecast", "set label_column")), rule=STEPS),
    Row("numbered-steps-as-asked", "the same with task: forecast", "anyone", "made", "a forecast, and that nothing says how long a step is",
        _steps("data"), _reads({"turned_table": "set season"}), settings={"task": "forecast"}),
    Row("m4-in-two-frequencies", "Daily.csv and Hourly.csv in one dataset", "people who compare forecasts", "made", "refused with the way out",
        lambda folder: [_steps(name)(folder) for name in ("Daily", "Hourly")] and None, Refused("several_steps", ("data_file",)),
        settings={"task": "forecast"}),
    Row("numbered-inputs", "V1 to V12, numbers in all rows, of which the last is what to predict", "R users", "made", "a table",
        _table(",".join(f"V{i}" for i in range(1, 13)), lambda: [walk(12, k) for k in range(80)]),
        Reads("tabular-regression", silent=("turned_table",)), spares=STEPS),
    Row("stores-side-by-side", "date, store1, store2, …", "retail", "made", "each column is a series, and how to have the other reading",
        _beside([f"store{i}" for i in range(1, 5)]),
        _reads({"forecast_columns": "set label_column alone", "series_column": "Each of 4 columns is a series"}, label="value"), rule=BESIDE),
    Row("many-meters-side-by-side", "a time, and 30 columns MT_001, MT_002, …", "energy", "archive.ics.uci.edu", "each column is a series",
        _beside([f"MT_{i:03}" for i in range(1, 31)]), _reads({"series_column": "30 columns"}), rule=BESIDE),
    Row("countries-side-by-side", "date, Germany, France, Italy", "statistics offices", "made", "a table, and how to forecast",
        _beside(_COUNTRIES), Reads("tabular-regression", says={"split": "set task to forecast"}, silent=("forecast_columns",)), spares=BESIDE),
    Row("countries-with-task", "the same with task: forecast", "statistics offices", "made", "the question whether one or each",
        _beside(_COUNTRIES), Refused("several_targets", ("label_column", "forecast_columns to all")), settings={"task": "forecast"}),
    Row("countries-as-asked", "the same with forecast_columns: all", "statistics offices", "made", "each column is a series",
        _beside(_COUNTRIES), _reads({"forecast_columns": "as requested"}), settings={"forecast_columns": "all"}),
    Row("stores-with-a-label", "stores side by side with label_column: store3", "retail", "made", "a table",
        _beside(["store1", "store2", "store3"]), Reads("tabular-regression", label="store3", silent=("forecast_columns",)), spares=BESIDE,
        settings={"label_column": "store3"}),
    Row("features-side-by-side", "date, feature1, feature2, feature3", "pupils", "made", "a table",
        _beside(["feature1", "feature2", "feature3"]), Reads("tabular-regression", silent=("forecast_columns",)), spares=BESIDE),
    Row("a-file-for-each-river", "kaskaskia.csv, illinois.csv and wabash.csv with one level for each day", "hydrology", "made",
        "each file is a series", _files(["kaskaskia", "illinois", "wabash"]),
        _reads({"series_column": "Each of the 3 files is a series"}, columns=("file name", "time")), rule=FILES),
    Row("files-of-one-river", "three files that follow each other in time, with one level for each day", "hydrology", "made", "one series",
        lambda folder: [write(folder, f"part{p}.csv", csv("time,level", list(zip(_days(120), walk(120, 1, 5)))[40 * p : 40 * p + 40]))
                        for p in range(3)] and None,
        _reads({"series_column": "No moment is in two of its 3 files"}, columns=("time",)), spares=FILES),
    Row("stores-and-items", "train.csv: date, store, item, sales, with numbers for stores and items", "retail", "kaggle.com",
        "each item of a store is a series", _panel(_BOTH, "store,item,date,sales", "train.csv"),
        _reads({"series_column": "store and item tell 6 series apart"})),
    Row("ids-and-their-names", "store_id, store_name, date, sales", "retail", "made", "each store is a series",
        _panel([(s, f"Shop {s}") for s in range(3)], "store_id,store_name,date,sales"), _reads({"series_column": "tells 3 series apart"})),
    Row("stars-for-gaps", "a temperature, and *** in 12 % of the rows", "weather stations", "made", "the steps are filled, and it is said",
        _marked("***"), _reads({"missing_marker": "with *** in temp count as empty", "gaps": "without a value"}), rule=MARKER),
    Row("dashes-for-gaps", "a temperature, and -- in 12 % of the rows", "weather stations", "ndbc.noaa.gov", "the steps are filled",
        _marked("--"), _reads({"missing_marker": "with -- in temp"}), rule=MARKER),
    Row("m-for-gaps", "a temperature, and M in 12 % of the rows", "weather stations", "mesonet.agron.iastate.edu", "the steps are filled",
        _marked("M"), _reads({"missing_marker": "with M in temp"}), rule=MARKER),
    Row("-9999-for-gaps", "a temperature, and -9999 in 12 % of the rows", "flux towers", "made", "the steps are filled, and it is said",
        _marked("-9999"), _reads({"fill_values": "-9999 in temp count as empty"})),
    Row("m-and-f", "numbers of a few codes, and M", "surveys", "made", "M is a category",
        _table("code,x,label", lambda: [["M" if i % 5 == 0 else i % 3, i * 37 % 101 / 7, "ab"[i * 7 % 2]] for i in range(200)]),
        Reads("tabular-classification", label="label", silent=("missing_marker",)), spares=MARKER),
    Row("marks-in-a-table", "a target and an input with M in 12 % of the rows", "weather stations", "made", "empty cells, and no row for the target",
        _table("wind,yield", lambda: [["M" if i % 7 == 0 else w, "M" if i % 9 == 0 else round(w / 3 + i * 37 % 11, 2)]
                                      for i, w in enumerate(walk(300, 2))]),
        Reads("tabular-regression", rows=228, columns=("wind",), says={"missing_marker": "with M in wind and yield"}), rule=MARKER),
)  # fmt: skip
