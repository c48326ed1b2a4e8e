"""What the checks of a dataset say at their limits: empty cells, constant columns, copies, overlap, samples and ignored files."""

import pytest
from test_data_columns import seen_in

from trainer.core.example import Example
from trainer.data import audit, subset, units
from trainer.data.checks import Checks
from trainer.data.keys import Keys
from trainer.data.sources import Ignored
from trainer.kinds.rows import column_checks
from trainer.kinds.rows.roles import Roles
from trainer.run_folder.events import Events


@pytest.fixture
def checks(tmp_path):
    return Checks(Events(tmp_path / "events.jsonl", 1))


def said(checks: Checks) -> dict[str, str]:
    return {c["code"]: c["text"] for c in checks.entries}


def columns(checks: Checks, task: str = "tabular-classification", **cells) -> dict[str, str]:
    cells = {"label": ["a", "b"] * 10, **cells}
    used = tuple(n for n in cells if n != "label")
    column_checks.check(Roles(task, used, "label"), seen_in(**cells), [], "t.csv", checks)
    return said(checks)


@pytest.mark.parametrize(
    ("empty", "text"),
    [
        (0, "No column that is used has more than 20% empty cells."),
        (4, "No column that is used has more than 20% empty cells."),
        (5, "More than 20% of the cells of t.csv are empty in these columns: x (25%)."),
        (20, "More than 20% of the cells of t.csv are empty in these columns: x (100%)."),
    ],
)
def test_empty_cells_are_a_warning_above_a_fifth(checks, empty, text):
    assert columns(checks, x=[""] * empty + [str(i) for i in range(20 - empty)])["empty_cells"] == text


def test_empty_labels_count_as_well(checks):
    assert columns(checks, label=["a"] * 10 + [""] * 10, x=[str(i) for i in range(20)])["empty_cells"].endswith("label (50%).")


@pytest.mark.parametrize(
    ("cells", "task", "text"),
    [
        (["x"] * 20, "tabular-classification", "These columns of t.csv have the same value in every row and are left out: x."),
        (["x"] * 19 + [""], "tabular-classification", None),
        (["x"] * 19 + ["y"], "tabular-classification", None),
        (["x"] * 20, "text-classification", None),
    ],
)
def test_constant_columns_are_named_for_tables(checks, cells, task, text):
    assert columns(checks, task, x=cells).get("constant_columns") == text


def test_columns_of_unclear_numbers_are_named(checks):
    assert columns(checks, x=["$5", "€7"] * 10)["unclear_numbers"] == (
        "The column x of t.csv is read as text: it has amounts in $ and €, which cannot be compared. "
        "Write all its numbers in the same way to have them read as numbers."
    )


def texts(*contents: str, target: str = "a", group: str = "") -> list[Example]:
    return [Example("t.csv", i, c, target, group=group) for i, c in enumerate(contents, 2)]


@pytest.mark.parametrize(
    ("rows", "level", "text"),
    [
        (texts(*"abcdefghij"), "ok", "No example occurs twice."),
        (texts(*"abcdefghia"), "ok", "1 of 10 examples are duplicates of another one (10.0%)."),
        (texts(*"abcdefghaa"), "warning", "2 of 10 examples are duplicates of another one (20.0%)."),
    ],
)
def test_copies_are_a_warning_above_a_tenth(checks, rows, level, text):
    audit.copies({"train": rows}, Keys(), False, checks)
    assert checks.entries[0] == {"code": "copies", "level": level, "text": text}


def test_a_copy_with_another_label_is_named_with_its_place(checks):
    audit.copies({"train": [*texts("x", "y"), Example("u.txt", 0, "x", "b")]}, Keys(), False, checks)
    assert said(checks)["conflicting_labels"] == (
        "2 examples have duplicates with another label, for example t.csv row 2: no model can get all of them right."
    )


@pytest.mark.parametrize(
    ("train", "validation", "test", "text"),
    [
        (texts("a"), texts("b"), texts("c"), "No example is in more than one split."),
        (texts("a"), texts("a"), texts("c"), "1 example is in more than one split, so the metrics will be too optimistic."),
        (texts("a"), texts("b"), texts("b"), "1 example is in more than one split, so the metrics will be too optimistic."),
        (texts("a", group="g"), [], texts("c", group="g"), "1 group of the test rows is also in training, so the metrics may be too optimistic."),
        ([], texts("a", group="g"), texts("c", group="g"), "1 group of the test rows is also in training, so the metrics may be too optimistic."),
        (texts("a", group="g"), texts("b", group="g"), texts("c", group="h"), "No example is in more than one split."),
    ],
)
def test_an_overlap_of_splits_is_said(checks, train, validation, test, text):
    audit.overlap({"train": train, "validation": validation, "test": test}, Keys(), checks)
    assert said(checks)["split_overlap"] == text


@pytest.mark.parametrize(
    ("rows", "limit", "kept"),
    [(100, 0, 100), (100, 100, 100), (100, 99, 100), (100, 97, 96), (100, 50, 50), (100, 1, 2), (3, 2, 2), (0, 5, 0)],
)
def test_a_sample_has_at_least_one_row_of_each_class(checks, rows, limit, kept):
    given = {"train": [Example("t.csv", i, f"t {i}", "ab"[i % 2]) for i in range(rows)], "validation": [], "test": []}
    found = subset.thin(given, limit, Keys(), False, 42, checks.events)
    assert sum(map(len, found.values())) == kept
    assert [e.row for e in found["train"]] == sorted(e.row for e in found["train"])
    why = [d["why"] for d in checks.events.decisions]
    told = [f"{kept} of {rows} examples are used, the same share of each class, because max_examples is {limit}."]
    assert why == (told if 0 < limit < rows else [])


def test_a_sample_has_the_rows_whose_hashes_are_the_smallest(checks):
    given = {"train": [Example("t.csv", i, f"t {i}", "a") for i in range(100)]}
    found = subset.thin(given, 30, Keys(), False, 42, checks.events)["train"]
    ordered = sorted(given["train"], key=lambda e: units.place(Keys()(e), 42))
    assert found == sorted(ordered[:30], key=lambda e: e.row)


def test_the_files_that_are_not_used_are_grouped_by_reason_up_to_six():
    ignored = Ignored()
    for i in range(8):
        ignored.add(f"{i}.x", f"reason {i}")
    assert str(ignored).count("reason") == 6
    assert ignored.names() == [f"{i}.x" for i in range(8)]
    assert bool(ignored) and not Ignored()
