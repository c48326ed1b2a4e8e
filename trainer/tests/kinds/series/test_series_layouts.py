"""Series in files, side by side and in numbered columns are forecast as the same ones in rows, and new data in the same layout continue them."""

import csv
import io

import pytest
from small_series import monthly

from trainer.data.columns import side_by_side, step_columns
from trainer.data.formats.table import Table
from trainer.kinds.series.layouts.melted import Melted
from trainer.run import run


def rows_of(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text)))[1:]


def in_files(text: str) -> dict[str, str]:
    """A file for each station of a table of months."""
    stations = sorted({s for s, _, _ in rows_of(text)})
    return {f"{s}.csv": "month,value\n" + "".join(f"{m},{v}\n" for of, m, v in rows_of(text) if of == s) for s in stations}


def side_by_side_of(text: str) -> dict[str, str]:
    """A column for each station."""
    cells = {(s, m): v for s, m, v in rows_of(text)}
    stations, months = sorted({s for s, _ in cells}), sorted({m for _, m in cells})
    return {"t.csv": f"month,{','.join(stations)}\n" + "".join(f"{m},{','.join(cells[s, m] for s in stations)}\n" for m in months)}


LAYOUTS = {"files": (in_files, {}), "columns": (side_by_side_of, {"forecast_columns": "all"})}


def forecast(make_run, content, run_id, version=None, **settings) -> list[str]:
    if version is None:
        spec = make_run(content, run=run_id, **settings)
    else:
        model = {"path": f"../{version}/out/model", "run": version, "name": "model", "version": 1}
        spec = make_run(content, run=run_id, kind="predict", more={"model": model})
    assert run(str(spec), "local") == 0
    return (spec.parent / "out" / "forecast.csv").read_text().splitlines()


def test_a_layout_is_forecast_and_continued_as_rows_are(make_run):
    long, new = monthly(60, 2), monthly(66, 2, 60)
    expected = forecast(make_run, {"t.csv": long}, "ft-rows"), forecast(make_run, {"t.csv": new}, "ft-rows-new", "ft-rows")
    for name, (layout, settings) in LAYOUTS.items():
        known = forecast(make_run, layout(long), f"ft-{name}", **settings)
        continued = forecast(make_run, layout(new), f"ft-{name}-new", f"ft-{name}")
        assert (known[1:], continued[1:]) == (expected[0][1:], expected[1][1:]), name
    assert expected[1][1].startswith("s0,2015-07,")


def steps(text: str) -> str:
    """A row for each station, with numbered steps."""
    stations = {s: [v for of, _, v in rows_of(text) if of == s] for s in ("s0", "s1")}
    width = max(map(len, stations.values()))
    return "\n".join([",".join(f"V{i}" for i in range(1, width + 2)), *(",".join([s, *values]) for s, values in stations.items())]) + "\n"


def test_steps_of_a_test_follow_those_of_the_training(make_run):
    """Also those of a new file for the test alone follow what the model knows."""
    train, test, new = steps(monthly(60, 2)), steps(monthly(66, 2, 60)), steps(monthly(72, 2, 66))
    known = forecast(make_run, {"Monthly-train.csv": train, "Monthly-test.csv": test}, "ft-steps", task="forecast")
    assert [line.split(",")[:2] for line in known[1:]] == [[s, str(67 + i)] for s in ("s0", "s1") for i in range(6)]
    ahead = forecast(make_run, {"Monthly-test.csv": new}, "ft-steps-new", "ft-steps")
    assert [line.split(",")[:2] for line in ahead[1:]] == [[s, str(73 + i)] for s in ("s0", "s1") for i in range(6)]


def test_the_unit_below_a_name_reaches_the_forecast_and_the_report(make_run):
    first = '"TOA5","CR1000","CR1000","1","CR1000.Std.28","CPU:x.CR1","1","Daily"\n"TIMESTAMP","RECORD","AirTC_Avg"\n"TS","RN","Deg C"\n"","","Avg"\n'
    rows = "".join(f'"2021-{1 + d // 28:02}-{1 + d % 28:02} 00:00:00",{d},{20 + d % 7 + 0.1 * (d * 37 % 11)}\n' for d in range(28))
    ahead = forecast(make_run, {"CR1000.dat": first + rows}, "ft-units", forecast_method="naive")
    assert {line.rpartition(",")[2] for line in ahead} == {"forecast_of", "AirTC_Avg (Deg C)"}


@pytest.mark.parametrize(
    ("columns", "found"),
    [
        (("id", "V2", "V3", "V4"), ("V2", "V3", "V4")),
        (("V1", "V2", "V3", "V4"), ("V2", "V3", "V4")),
        (("Series", "N", "1", "2", "3"), ("1", "2", "3")),
        (("id", "V2", "V4", "V5"), ()),
        (("id", "5", "6", "7"), ()),
        (("id", "V2", "V3", "V4", "label"), ()),
    ],
)
def test_numbered_columns_are_steps(columns, found):
    assert step_columns.of(columns, 3) == found


@pytest.mark.parametrize(
    ("name", "step"),
    [
        ("Daily-train.csv", "day"),
        ("data/Monthly-test.csv", "month"),
        ("M3Quart.csv", "quarter"),
        ("birthday.csv", None),
        ("my_hourly_load.csv", "hour"),
    ],
)
def test_the_name_of_a_file_says_how_long_a_step_is(name, step):
    found = step_columns.frequency(name)
    assert (found and found[0]) == step


@pytest.mark.parametrize(
    ("columns", "are_series"),
    [
        (("store1", "store2", "store3"), True), (("MT_001", "MT_002", "MT_099"), True), (("Site A", "Site B", "Site C"), True),
        (("store1", "store2"), False), (("store1", "store2", "load"), False), (("x1", "x2", "x3"), False), (("lag1", "lag2", "lag3"), False),
        (("var_1", "var_2", "var_3"), False),
    ],
)  # fmt: skip
def test_names_that_differ_in_a_number_are_series(columns, are_series):
    assert bool(side_by_side.numbered(columns)) == are_series


def test_melted_cells_keep_their_rows_and_empty_ones_are_left_out():
    table = Table("t.csv", ["date", "a", "b"], [(2, ["2020-01-01", "1", ""]), (3, ["2020-01-02", "2", "3"])])
    melted = Melted(table, ("a", "b"))
    assert melted.columns == ["series", "date", "value"]
    assert list(melted.rows) == [(2, ["a", "2020-01-01", "1"]), (3, ["a", "2020-01-02", "2"]), (3, ["b", "2020-01-02", "3"])]
    assert melted.row_numbers() == [2, 3, 3]
