"""Rows about tables whose columns are times, so that each row is a series, and tables whose columns only look like times."""

import datetime
import math
import random

from trainer.tests.zoo.row import Reads, Refused, Row, write
from trainer.tests.zoo.time import csv

TURNED = "columns that are times"
SURE = {"turned_table": "are times, so the table was turned", "horizon": "steps are forecast"}
_YEARS = [str(1961 + i) for i in range(60)]
_MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
_PREAMBLE = '"Data Source","World Development Indicators",\n\n"Last Updated Date","2024-06-28",\n\n'


def walk(count: int, seed: int = 1, season: float = 0) -> list[float]:
    chance, level, found = random.Random(seed), 50.0, []
    for i in range(count):
        level += chance.gauss(0, 1)
        found.append(round(level + season * math.sin(i * math.pi / 6), 2))
    return found


def _noise(count: int, seed: int) -> list[float]:
    chance = random.Random(seed)
    return [round(chance.gauss(5, 1), 3) for _ in range(count)]


def _gaps(values: list, before: int, after: int) -> list:
    return [""] * before + values[before : len(values) - after] + [""] * after


def _table(head, rows, name: str = "t.csv", more=None):
    def make(folder):
        write(folder, name, csv(",".join(head), rows()))
        for other, content in (more or {}).items():
            write(folder, other, content())

    return make


def _bank(folder, countries: int = 30, indicators: int = 1):
    head = ["Country Name", "Country Code", "Indicator Name", "Indicator Code", *_YEARS, "2021", ""]
    rows = [
        [f"Country {k}", f"C{k:02}", f"Indicator {i}", f"IN.{i}", *_gaps(walk(60, k), k % 3 * 8, k % 2), "", ""]
        for k in range(countries) for i in range(indicators)
    ]  # fmt: skip
    quoted = "\n".join(",".join(f'"{c}"' for c in row) for row in [head, *rows])
    write(folder, "API_SP.POP.TOTL_DS2.csv", _PREAMBLE + quoted.replace(',""\n', ",\n") + "\n")


def _bank_with_metadata(folder):
    _bank(folder)
    write(folder, "Metadata_Country_API_SP.csv", csv("Country Code,Region,IncomeGroup", [[f"C{k:02}", "AB"[k % 2], "XYZ"[k % 3]] for k in range(30)]))


def _days(count: int) -> list[str]:
    found = [datetime.date(2020, 1, 22) + datetime.timedelta(days=i) for i in range(count)]
    return [f"{d.month}/{d.day}/{d:%y}" for d in found]


def _by_month(stations: int = 1, sums: bool = False, from_month: int = 0):
    rows = []
    for s in range(stations):
        levels = _gaps(walk(12 * 30, s + 1, season=5), from_month, 3)
        for y in range(30):
            cells = [c or "***" for c in levels[12 * y : 12 * y + 12]]
            rows.append([*([f"s{s}"] if stations > 1 else []), 1990 + y, *cells, *([round(50 + y * 0.1, 2), "***"] if sums else [])])
    return rows


def _turned(says=None, **facts) -> Reads:
    return Reads("forecast", "series", says=SURE | (says or {}), **facts)


def _other(task: str, **facts) -> Reads:
    return Reads(task, silent=("turned_table", "horizon"), **facts)


ROWS = (
    Row("a-column-for-each-year", "a country in each row, and columns 1961 to 2020", "World Bank users", "worldbank.org", "each country is a series",
        _table(["country", *_YEARS], lambda: [[f"c{k}", *walk(60, k)] for k in range(30)]),
        _turned({"series_column": "country tells 30 series apart", "time_column": "One step is 1"}, label="value"), rule=TURNED),
    Row("world-bank", "the same with a preamble, codes, gaps at both ends and an empty last column", "World Bank users", "data.worldbank.org",
        "each country is a series", _bank, _turned({"turned_table": "Country Code, Indicator Name and Indicator Code are not read"}), rule=TURNED),
    Row("world-bank-archive", "the same beside the table of the countries", "World Bank users", "data.worldbank.org", "each country is a series",
        _bank_with_metadata, _turned({"series_column": "Country Name tells 30 series apart"}), rule=TURNED),
    Row("world-bank-indicators", "the same with three indicators of each country", "World Bank users", "databank.worldbank.org",
        "each indicator of a country is a series", lambda folder: _bank(folder, 12, 3),
        _turned({"series_column": "Country Name and Indicator Name tell 36 series apart"}), rule=TURNED),
    Row("world-bank-of-databank", "1961 [YR1961], and .. for gaps", "World Bank users", "databank.worldbank.org", "each country is a series",
        _table(["Country", *(f"{y} [YR{y}]" for y in _YEARS)], lambda: [
            [f"c{k}", *(c or ".." for c in _gaps(walk(60, k), 20, 9))] for k in range(9)]),
        _turned({"series_column": "Country tells 9 series apart"}), rule=TURNED),
    Row("years-of-r", "X1961, X1962: what read.csv of R makes of years", "R users", "stat.ethz.ch", "each country is a series",
        _table(["country", *("X" + y for y in _YEARS)], lambda: [[f"c{k}", *walk(60, k)] for k in range(9)]), _turned(), rule=TURNED),
    Row("a-column-for-each-day", "places with coordinates, and columns 1/22/20, 1/23/20, …", "epidemiology", "github.com/CSSEGISandData/COVID-19",
        "each place is a series",
        _table(["Province/State", "Country/Region", "Lat", "Long", *_days(90)],
            lambda: [[f"p{k % 3}" if k < 6 else "", f"c{k // 3 if k < 6 else k}", k * 1.5, -k * 2.25, *walk(90, k)] for k in range(30)]),
        _turned({"series_column": "tell 30 series apart", "time_column": "One step is day", "turned_table": "Lat and Long are not read"}),
        rule=TURNED),
    Row("a-column-for-each-month-name", "Jan 2014, Feb 2014, …", "statistics offices", "made", "each region is a series with a season of 12",
        _table(["region", *(f"{m} {2014 + y}" for y in range(6) for m in _MONTHS)], lambda: [[f"r{k}", *walk(72, k, 9)] for k in range(5)]),
        _turned({"season": "after 12 steps", "time_column": "One step is month"}), rule=TURNED),
    Row("one-row-of-months", "2014-01, 2014-02, … with one row", "statistics offices", "made", "one series",
        _table(["item", *(f"{2014 + y}-{m:02}" for y in range(6) for m in range(1, 13))], lambda: [["price", *walk(72, 1, 9)]]),
        _turned({"series_column": "The rows are one series"}), rule=TURNED),
    Row("years-by-months", "a year in each row, and columns Jan to Dec", "climate", "data.giss.nasa.gov", "one series of months",
        _table(["Year", *_MONTHS, "J-D", "DJF"], lambda: _by_month(sums=True)),
        _turned({"time_column": "One step is month", "season": "after 12 steps", "turned_table": "J-D and DJF are not read"}), rule=TURNED),
    Row("stations-by-years-and-months", "the same of three stations", "climate", "made", "each station is a series",
        _table(["station", "year", *(m.lower() for m in _MONTHS)], lambda: _by_month(3, from_month=15)),
        _turned({"series_column": "station tells 3 series apart", "time_column": "One step is month"}), rule=TURNED),
    Row("years-with-decimal-commas", "Land;1961;… with 3,5", "European exports", "made", "each country is a series",
        lambda folder: write(folder, "t.csv", "\n".join(
            ["Land;" + ";".join(_YEARS), *(f"c{k};" + ";".join(str(v).replace(".", ",") for v in walk(60, k)) for k in range(9))])) and None,
        _turned(), rule=TURNED),
    Row("one-table-for-each-indicator", "two tables of the same countries and years, with task: forecast", "World Bank users", "made",
        "the question which table",
        _table(["country", *_YEARS], lambda: [[f"c{k}", *walk(60, k)] for k in range(9)], "gdp.csv",
            {"people.csv": lambda: csv(",".join(["country", *_YEARS]), [[f"c{k}", *walk(60, k + 9)] for k in range(9)])}),
        Refused("two_at_once", ("the same country", "data_file")), settings={"task": "forecast"}),
    Row("years-and-a-region", "a country, its region, and columns of years", "anyone", "made", "the question what is meant",
        _table(["country", "region", *_YEARS], lambda: [[f"c{k}", "ABC"[k % 3], *walk(60, k)] for k in range(30)]),
        Refused("turned_series", ("region could be predicted", "task to forecast", "label_column")), spares=TURNED),
    Row("years-and-a-region-to-forecast", "the same with task: forecast", "anyone who means it", "made", "each country is a series",
        _table(["country", "region", *_YEARS], lambda: [[f"c{k}", "ABC"[k % 3], *walk(60, k)] for k in range(30)]), _turned(), rule=TURNED,
        settings={"task": "forecast"}),
    Row("years-and-a-label", "a plot, columns of years, and a class behind them", "crop maps", "made", "the class is predicted",
        _table(["plot", *_YEARS, "crop"], lambda: [[f"p{k}", *walk(60, k), "xy"[k % 2]] for k in range(60)]),
        _other("tabular-classification", label="crop"), spares=TURNED),
    Row("years-as-asked", "columns of years with label_column: 2020", "anyone who means it", "made", "a table",
        _table(["country", *_YEARS], lambda: [[f"c{k}", *walk(60, k)] for k in range(60)]), _other("tabular-regression", label="2020"),
        spares=TURNED, settings={"label_column": "2020"}),
    Row("a-column-for-each-month", "twelve months and a class of each row", "crop maps", "made", "the class is predicted",
        _table([*(f"2020-{m:02}" for m in range(1, 13)), "crop"], lambda: [[*walk(12, k), "xy"[k % 2]] for k in range(60)]),
        _other("tabular-classification", classes=("x", "y")), spares=TURNED),
    Row("wavelengths-through-years", "spectra from 1500 to 2500 nm with a measure", "laboratories", "made", "a table",
        _table(["sample", *(str(w) for w in range(1500, 2500, 10)), "carbon"], lambda: [[f"s{k}", *walk(100, k), k % 31 / 7] for k in range(60)]),
        _other("tabular-regression", label="carbon"), spares=TURNED),
    Row("wavelengths-like-years", "spectra of samples from 1800 to 1900 nm alone", "laboratories", "made", "the question what is meant",
        _table(["sample", *(str(w) for w in range(1800, 1900))], lambda: [[f"s{k}", *walk(100, k)] for k in range(60)]),
        Refused("turned_series", ("sample", "task to forecast")), spares=TURNED),
    Row("numbers-of-patients-like-years", "a protein in each row, and columns 2001 to 2040 that are patients", "omics", "made",
        "the question what is meant",
        _table(["protein", *(str(2001 + i) for i in range(40))], lambda: [[f"g{k}", *_noise(40, k)] for k in range(60)]),
        Refused("turned_series", ("no more alike", "task to forecast")), spares=TURNED),
    Row("ages", "a country in each row, and columns 0 to 99 that are ages", "demography", "made", "no forecast",
        _table(["country", *map(str, range(100))], lambda: [[f"c{k}", *walk(100, k)] for k in range(60)]), _other("tabular-regression"),
        spares=TURNED),
)  # fmt: skip
