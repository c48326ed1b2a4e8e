"""Tables whose columns are times: which these are, how they are turned, and that they are forecast as the same series in rows."""

import csv
import io

import pytest
from conftest import events_of
from result_checks import predictions
from small_series import monthly

from trainer.data.columns import across, profiles
from trainer.data.formats.table import Table
from trainer.kinds.series.layouts.turned import Turned
from trainer.run import run

YEARS = tuple(str(y) for y in range(1990, 2002))


def found(columns, rows) -> across.Across | None:
    table = Table("t.csv", list(columns), list(enumerate(rows, 2)))
    return across.find([table], profiles.of([table]))


def walk(start: int, count: int = len(YEARS)) -> list[str]:
    return [str(start * 10 + i * i) for i in range(count)]


NAMES = {
    "years": (YEARS, YEARS),
    "years of R": (tuple("X" + y for y in YEARS), YEARS),
    "years behind a word": (tuple("gdp_" + y for y in YEARS), YEARS),
    "years of a data bank": (tuple(f"{y} [YR{y}]" for y in YEARS), YEARS),
    "every fifth year": (tuple(str(y) for y in range(1900, 1960, 5)), tuple(str(y) for y in range(1900, 1960, 5))),
    "months": (tuple(f"2020-{m:02}" for m in range(1, 13)), tuple(f"2020-{m:02}" for m in range(1, 13))),
    "quarters": (tuple(f"{y}Q{q}" for y in range(2000, 2003) for q in range(1, 5)), None),
    "days of R": (tuple(f"X1.{d}.20" for d in range(1, 13)), tuple(f"1.{d}.20" for d in range(1, 13))),
}
NO_TIMES = {
    "too few": YEARS[:7],
    "a year that is missing": (*YEARS[:6], *YEARS[7:]),
    "years backwards": YEARS[::-1],
    "wavelengths that pass through years": tuple(str(w) for w in range(1500, 2100, 50)),
    "two measures of each year": tuple(f"{n}{y}" for y in YEARS[:6] for n in ("gdp", "pop")),
    "months in another order": ("2020-02", "2020-01", *(f"2020-{m:02}" for m in range(3, 13))),
    "numbers": tuple(map(str, range(12))),
}


@pytest.mark.parametrize("name", NAMES)
def test_columns_are_times(name):
    columns, named = NAMES[name]
    seen = found(("place", *columns), [[f"p{k}", *walk(k)] for k in range(4)])
    assert seen is not None
    assert (seen.times, seen.named, seen.ids, seen.doubt) == (columns, named or columns, ("place",), "")


@pytest.mark.parametrize("name", NO_TIMES)
def test_columns_are_no_times(name):
    columns = NO_TIMES[name]
    assert found(("place", *columns), [[f"p{k}", *walk(k, len(columns))] for k in range(4)]) is None


def test_words_below_times_are_no_series():
    assert found(("place", *YEARS), [[f"p{k}", *("good" for _ in YEARS)] for k in range(4)]) is None


def test_empty_cells_are_no_rows_and_each_row_keeps_its_number():
    table = Table(
        "t.csv", ["place", "time", *YEARS[:8]], [(4, ["a", "x", "", "1", *"234567"]), (5, ["b", "y", *[""] * 8]), (9, ["c", "z", *"12345678"])]
    )
    turned = Turned(table, across.Across(YEARS[:8], YEARS[:8], ("place", "time")))
    assert turned.columns == ["place", "time", "time 2", "value"]
    assert (len(turned.rows), turned.empty) == (15, 1)
    assert turned.rows[0] == (4, ["a", "x", "1991", "1"])
    assert list(turned.rows)[7:9] == turned.rows[7:9] == [(9, ["c", "z", "1990", "1"]), (9, ["c", "z", "1991", "2"])]
    assert turned.row_numbers() == [number for number, _ in turned.rows]
    assert turned.cells("VALUE")[-1] == "8"


def wide(text: str) -> str:
    """A table of months in rows with a row for each station and a column for each month."""
    rows = list(csv.reader(io.StringIO(text)))[1:]
    months = sorted({m for _, m, _ in rows})
    cells = {(s, m): v for s, m, v in rows}
    lines = [",".join([s, *(cells.get((s, m), "") for m in months)]) for s in sorted({s for s, _, _ in rows})]
    return "\n".join([",".join(["station", *months]), *lines]) + "\n"


def test_times_in_columns_are_forecast_as_the_same_in_rows(make_run):
    """Also new values are, which continue what the model knows, in either form."""
    long, answers = monthly(stations=2), []
    for name, content in (("rows", long), ("columns", wide(long))):
        spec = make_run({"levels.csv": content}, run=f"ft-{name}")
        assert run(str(spec), "local") == 0
        answers.append((spec.parent / "out" / "forecast.csv").read_text().replace("station,time,", "station,month,"))
    assert answers[0].replace("station,time,", "station,month,") == answers[1]
    assert [d["choice"] for d in events_of(spec.parent) if d.get("what") == "turned_table"] == [["station", "time", "value"]]
    assert [p["row"] for p in predictions(spec.parent)] == ["2"] * 12 + ["3"] * 12, "the rows of the table as it is"
    version = {"path": f"../{spec.parent.name}/out/model", "run": "ft-columns", "name": "model", "version": 1}
    new, answers = monthly(102, 2, 99), []
    for name, content in (("rows", new.replace("month,", "time,", 1)), ("columns", wide(new))):
        told = make_run({"new.csv": content}, run=f"ft-new-{name}", kind="predict", more={"model": version})
        assert run(str(told), "local") == 0
        answers.append((told.parent / "out" / "forecast.csv").read_text())
    assert answers[0] == answers[1]
    assert answers[0].splitlines()[1].startswith("s0,2018-07,")


def test_counted_milliseconds_are_continued_in_the_calendar(make_run):
    """New rows may count in another unit: the model holds the moments."""
    start, hours = 1622505600, 240
    content = [f"{20 + 5 * ((h % 24) > 11) + 0.01 * (h * 37 % 11)}" for h in range(hours + 5)]
    first = "ts,value\n" + "".join(f"{(start + 3600 * h) * 1000},{content[h]}\n" for h in range(hours))
    spec = make_run({"t.csv": first}, run="ft-counted")
    assert run(str(spec), "local") == 0
    ahead = (spec.parent / "out" / "forecast.csv").read_text().splitlines()
    assert ahead[1].startswith("2021-06-11 00:00,")
    version = {"path": f"../{spec.parent.name}/out/model", "run": "ft-counted", "name": "model", "version": 1}
    new = "ts,value\n" + "".join(f"{start + 3600 * h},{content[h]}\n" for h in range(hours, hours + 5))
    told = make_run({"new.csv": new}, run="ft-more", kind="predict", more={"model": version})
    assert run(str(told), "local") == 0
    assert (told.parent / "out" / "forecast.csv").read_text().splitlines()[1].startswith("2021-06-11 05:00,")
