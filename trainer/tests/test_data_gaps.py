"""Numbers that stand for a gap, spellings of one class, and tables named by their class; and what looks like them and is not."""

import random

import loading
import pytest
from table_files import read, workbook
from test_data_load import made, spec_of, table

from trainer.core.columns import Columns
from trainer.data.columns import profiles
from trainer.data.columns.values import Style, as_numbers, classes
from trainer.data.formats.table import Table
from trainer.errors import UserError
from trainer.run_folder.events import Events

CHANCE = random.Random(3)
MEASURES = [f"{CHANCE.uniform(0, 30):.2f}" for _ in range(200)]


def column(cells: list, fill_values: str = "auto", named: tuple[str, ...] = ()) -> profiles.Profile:
    cells = [str(c) for c in cells]
    return profiles.of([Table("a.csv", ["c"], [(i, [c]) for i, c in enumerate(cells, 1)], fills=named)], fill_values)["c"]


@pytest.mark.parametrize(
    ("cells", "fills"),
    [
        pytest.param([*MEASURES, *["-9999"] * 20], (-9999,), id="-9999 among measures"),
        pytest.param([*MEASURES, *["-9999.000"] * 20], (-9999,), id="with decimals"),
        pytest.param([m.replace(".", ",") for m in MEASURES] + ["-9999,0"] * 3, (-9999,), id="with a decimal comma"),
        pytest.param([*MEASURES, "-9999"], (-9999,), id="once, where all are positive"),
        pytest.param([*MEASURES, *["-99.9"] * 3], (-99.9,), id="-99.9"),
        pytest.param([*MEASURES, *["999.9"] * 3], (999.9,), id="999.9 among measures"),
        pytest.param([*MEASURES, *["9.96921e+36"] * 2], (float("9.96921e36"),), id="the default of NetCDF"),
        pytest.param([*MEASURES, "1e+20"], (1e20,), id="an enormous number once"),
        pytest.param([*MEASURES, *["-9999"] * 9, *["-999"] * 9], (-9999, -999), id="two of them"),
        pytest.param([*(i % 3 for i in range(90)), *[-9999] * 9], (-9999,), id="among classes"),
        pytest.param([*range(300), *[-32768] * 3], (-32768,), id="the smallest of 16 bits"),
        pytest.param([*range(1000, 1300), *[99999] * 9], (99999,), id="all nines far above many whole numbers"),
    ],
)
def test_a_number_far_outside_stands_for_a_gap(cells, fills):
    found = column(cells)
    assert found.fills == fills
    assert found.filled == sum(float(str(c).replace(",", ".")) in fills for c in cells)
    assert found.cells == len(cells) - found.filled
    assert column(cells, "keep").fills == ()


@pytest.mark.parametrize("marker", ["***", "--", ".", "M", "missing", "N.A."])
def test_a_sign_that_is_all_that_numbers_have_beside_them_stands_for_a_gap(marker):
    cells = [*MEASURES, *[marker] * 50]
    found = column(cells)
    assert (found.numeric, found.marker, found.marked, found.cells) == (True, marker, 50, len(MEASURES))
    assert not column(cells, "keep").numeric


@pytest.mark.parametrize(
    "cells",
    [
        pytest.param([*MEASURES, *["M"] * 50, *["T"] * 50], id="M and a trace"),
        pytest.param([*MEASURES, *["low"] * 50], id="another word"),
        pytest.param([*[1, 2, 3] * 50, *["M"] * 50], id="codes and M"),
    ],
)
def test_words_among_numbers_that_mean_something_stay(cells):
    found = column(cells)
    assert (found.numeric, found.marker) == (False, "")


@pytest.mark.parametrize(
    "cells",
    [
        pytest.param([*range(0, 300, 3), *[999] * 5], id="999 in a column of counts"),
        pytest.param([*[1, 2, 3, 99] * 30], id="a category coded 99"),
        pytest.param([*[1, 2, 3, 9999] * 30], id="a category coded 9999"),
        pytest.param([*[1, 2] * 20, *[-9999] * 60], id="a code that most rows have"),
        pytest.param([*[1, 2, -8888] * 20, *[-9999] * 20], id="codes with a meaning"),
        pytest.param([*range(-20000, 50000, 500), *[-9999] * 3], id="losses and profits"),
        pytest.param([*range(-11000, 9000, 100), *[-9999] * 3], id="heights and depths"),
        pytest.param([*range(0, 41310, 100), *[99999] * 20], id="incomes above a limit"),
        pytest.param([*MEASURES, "99.9", "99.9"], id="99.9 near the others"),
        pytest.param([*[f"{i}e18" for i in range(50, 150)], "1e20"], id="numbers of that size"),
        pytest.param(["-9999"] * 60, id="nothing else"),
        pytest.param([*[f"site {i}" for i in range(60)], *["-9999"] * 9], id="among names"),
        pytest.param([*range(9900, 10100), 9999, 9999], id="nines among numbers of that size"),
        pytest.param([*range(-98, 98), -99, -99], id="the next number"),
    ],
)
def test_a_number_that_may_mean_itself_stays(cells):
    found = column(cells)
    assert (found.fills, found.filled, found.cells) == ((), 0, len(cells))


def test_what_the_file_or_the_option_names_is_a_gap_wherever_it_stands():
    cells = [*range(60), *[55] * 3]
    assert column(cells, named=("55",)).filled == 4
    assert column(cells, "55, -1").filled == 4
    assert column(cells, "keep", named=("55",)).filled == 0
    with pytest.raises(UserError) as wrong:
        column(cells, "all of them")
    assert wrong.value.code == "wrong_setting"


def test_gaps_are_empty_in_features_and_labels_and_the_model_remembers_them():
    style = Style(fills=(-9999.0,), is_class=True, spellings=(("TRUE", "true"), ("inf", "")))
    assert as_numbers(["1", "-9999.0", "2,000", ""], Style(fills=(-9999.0,))) == ["1", "", "2000.0", ""]
    assert classes(["1.0", "-9999.0", "TRUE", "true", "inf"], style) == ["1", "", "true", "true", ""]
    assert Style.restored(style.described()) == style
    assert Style(True, "€").described() == {"comma": True, "unit": "€"}
    assert Style.restored({"fills": ["x", True, 3], "spellings": [1], "is_class": 1}) == Style(fills=(3.0,))


def test_rows_whose_label_is_a_gap_are_left_out_with_a_count(tmp_path):
    content = made(
        ["a", "b", "label"], lambda i: [f"{i * 7 % 50}.5", -9999 if i % 10 == 0 else i % 9 + 0.25, -9999 if i % 12 == 0 else f"{i * i % 97}.25"], 120
    )
    events = Events(tmp_path / "events.jsonl", 1)
    data = loading.load(spec_of(tmp_path, {"a.csv": content}), events)
    assert data.task == "tabular-regression"
    assert ("the label is empty", 10) in data.dropped
    assert next(d["choice"] for d in events.decisions if d["what"] == "fill_values") == 22
    assert data.styles["b"].fills == (-9999.0,)
    assert all(float(e.target) > -9999 for rows in data.splits.values() for e in rows)


def test_a_class_that_is_a_gap_is_no_class(tmp_path):
    content = made(["a", "label"], lambda i: [f"{i * 7 % 50}.5", -9999 if i % 12 == 0 else i % 3], 120)
    data = loading.load(spec_of(tmp_path, {"a.csv": content}), Events(tmp_path / "events.jsonl", 1))
    assert data.labels == ("0", "1", "2")
    kept = loading.load(spec_of(tmp_path, {"a.csv": content}), Events(tmp_path / "events.jsonl", 1), fill_values="keep")
    assert kept.labels == ("0", "1", "2", "-9999")
    assert loading.load(spec_of(tmp_path, {"a.csv": content}), Events(tmp_path / "events.jsonl", 1), repairs=False).labels == kept.labels


def test_what_stood_for_a_gap_in_training_does_so_in_a_prediction(tmp_path):
    events = Events(tmp_path / "events.jsonl", 1)
    columns = Columns(("a", "b"), {"a": "number", "b": "number"}, "", {"a": Style(fills=(-9999.0,)), "b": Style()})
    files = {"a.csv": "a,b\n" + "".join(f"{-9999 if i == 2 else i},{i * 0.5}\n" for i in range(9))}
    rows, _, _ = loading.read_rows(spec_of(tmp_path, files), events, "table", columns)
    assert [e.content for e in rows][1:3] == [("1", "0.5"), ("", "1.0")]
    kept, _, _ = loading.read_rows(spec_of(tmp_path, files), events, "table", columns, fill_values="keep")
    assert kept[2].content == ("-9999", "1.0")


def test_errors_of_spreadsheets_are_no_classes(tmp_path):
    content = made(["a", "label"], lambda i: [f"{i * 7 % 50}.5", ["yes", "no", "#N/A", "#DIV/0!"][i % 4]], 120)
    data = loading.load(spec_of(tmp_path, {"a.csv": content}), Events(tmp_path / "events.jsonl", 1))
    assert data.labels == ("no", "yes")


def flowers(k: int, header=("length", "width")) -> str:
    return table(header, [[f"{k + i * 7 % 50 / 9:.3f}", f"{k * 2 + i * 3 % 50 / 7:.3f}"] for i in range(40)])


@pytest.mark.parametrize(
    ("names", "labels"),
    [
        (["setosa.csv", "versicolor.csv", "virginica.csv"], ("setosa", "versicolor", "virginica")),
        (["data/iris_setosa.csv", "data/iris_versicolor.csv"], ("setosa", "versicolor")),
        (["class 1.csv", "class 2.csv"], ("class 1", "class 2")),
        (["oak_train.csv", "oak_test.csv", "elm_train.csv", "elm_test.csv"], ("elm", "oak")),
    ],
)
def test_tables_named_by_their_class(tmp_path, names, labels):
    events = Events(tmp_path / "events.jsonl", 1)
    data = loading.load(spec_of(tmp_path, {name: flowers(i) for i, name in enumerate(names)}), events, task="tabular-classification")
    assert (data.labels, data.label_column, data.columns) == (labels, "file name", ("length", "width"))
    assert "the same columns and none for a label" in next(d["why"] for d in events.decisions if d["what"] == "label_column")


def test_names_that_may_be_classes_or_places_are_asked_about(tmp_path):
    with pytest.raises(UserError) as error:
        loading.load(spec_of(tmp_path, {n: flowers(i) for i, n in enumerate(("berlin.csv", "hamburg.csv"))}), Events(tmp_path / "events.jsonl", 1))
    assert error.value.code == "ambiguous_label"
    assert all(part in str(error.value) for part in ("file name", "width"))


def test_sheets_named_by_their_class(tmp_path):
    sheets = {k: [["length", "width"], *[[i + j * 0.37, i * j % 7 + 0.5] for j in range(30)]] for i, k in enumerate(("setosa", "virginica"))}
    data = loading.load(spec_of(tmp_path, {"iris.xlsx": workbook(sheets)}), Events(tmp_path / "events.jsonl", 1))
    assert data.labels == ("setosa", "virginica")


@pytest.mark.parametrize(
    "names",
    [
        ["part1.csv", "part2.csv"],
        ["2019.csv", "2020.csv"],
        ["january.csv", "february.csv"],
        ["a.csv", "b.csv"],
        ["train.csv", "test.csv"],
        ["old.csv", "new.csv"],
    ],
)
def test_tables_named_by_something_else(tmp_path, names):
    data = loading.load(spec_of(tmp_path, {name: flowers(i) for i, name in enumerate(names)}), Events(tmp_path / "events.jsonl", 1))
    assert (data.task, data.label_column) == ("tabular-regression", "width")


def test_a_column_of_labels_or_times_is_stronger_than_names_of_tables(tmp_path):
    events = Events(tmp_path / "events.jsonl", 1)
    cities = {
        f"{n}.csv": made(["day", "rain", "label"], lambda i: [f"2020-01-{i % 28 + 1:02d}", f"{i * 7 % 50 / 3:.3f}", "xy"[i % 2]])
        for n in ("rome", "oslo")
    }
    assert loading.load(spec_of(tmp_path, cities), events).label_column == "label"
    days = [f"2020-{i // 28 + 1:02d}-{i % 28 + 1:02d}" for i in range(60)]
    measured = made(["day", "rain", "flow"], lambda i: [days[i], f"{i * 7 % 50 / 3:.3f}", f"{i * 3 % 50 / 3:.3f}"])
    series = {f"{n}.csv": measured for n in ("rome", "oslo")}
    assert loading.load(spec_of(tmp_path, series), events).label_column == "flow"
    bought = {f"{n}.csv": made(["age", "income", "bought"], lambda i: [i, i * 3.5, "yn"[i % 2]]) for n in ("rome", "oslo")}
    with pytest.raises(UserError) as asked:
        loading.load(spec_of(tmp_path, bought), events)
    assert asked.value.code == "ambiguous_label"
    assert loading.load(spec_of(tmp_path, bought), events, label_column="file name").labels == ("oslo", "rome")
    assert loading.load(spec_of(tmp_path, bought), events, label_column="bought").labels == ("n", "y")


def test_the_lower_of_two_names_finds_its_column(tmp_path):
    content = "Site,Day,Nutrients,,Metals,\n,,NO3,PO4,Fe,Cu\n" + "".join(
        f"s{i % 4},d{i % 3},{i * 7 % 50}.5,{i * 2 % 9},{i * i % 97}.25,3{i}\n" for i in range(80)
    )
    data = loading.load(spec_of(tmp_path, {"a.csv": content}), Events(tmp_path / "events.jsonl", 1), label_column="no3")
    assert data.label_column == "Nutrients NO3"


def test_a_row_of_totals_is_counted_among_the_rows_left_out(tmp_path):
    content = made(["a", "b", "label"], lambda i: [i, i * 2, "xy"[i % 2]], 60) + f"Total,{sum(range(60)) * 2},\r\n"
    data = loading.load(spec_of(tmp_path, {"a.csv": content}), Events(tmp_path / "events.jsonl", 1))
    assert ("a row of totals", 1) in data.dropped


def test_named_gaps_come_from_the_comments_of_a_file(tmp_path):
    content = "# missing value: 7777\n# of the network\n" + made(["a", "b"], lambda i: [i, 7777 if i == 3 else i * 2])
    found, _ = read(tmp_path, "a.csv", content)
    assert found.fills == ()  # nothing like a gap: neither negative, nor nines, nor enormous
