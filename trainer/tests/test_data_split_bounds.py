"""The limits of a split: how many rows and classes are needed, and what the refusals and the reasons say word by word."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from trainer.core.example import Example
from trainer.data import splits, units as units_of
from trainer.data.checks import Checks
from trainer.data.keys import Keys
from trainer.errors import UserError
from trainer.run_folder.events import Events

SETTINGS = {"seed": 42, "test_fraction": 0.1, "validation_fraction": 0.1, "duplicates": "warn", "group_column": ""}


@pytest.fixture
def checks(tmp_path):
    return Checks(Events(tmp_path / "events.jsonl", 1))


def rows(n: int, classes="ab", prefix: str = "", first: int = 0) -> list[Example]:
    return [Example("f.csv", i, f"{prefix}text {i}", classes[i % len(classes)]) for i in range(first, first + n)]


def numbers(n: int) -> list[Example]:
    return [Example("f.csv", i, f"text {i}", str(i * 1.5)) for i in range(n)]


def complete(given: dict, checks: Checks, regression: bool = False, **settings) -> dict:
    return splits.complete(given, Keys(), regression, SimpleNamespace(**{**SETTINGS, **settings}), checks)


def refusal(given: dict, checks: Checks, regression: bool = False, **settings) -> UserError:
    with pytest.raises(UserError) as refused:
        complete(given, checks, regression, **settings)
    return refused.value


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        pytest.param(
            {"train": rows(19)},
            "There are only 19 training rows and 19 rows in all, which is too few to train a model. "
            "Add labelled rows: at least 20, better several hundred.",
            id="one row too few",
        ),
        pytest.param(
            {},
            "There are only 0 training rows and 0 rows in all, which is too few to train a model. "
            "Add labelled rows: at least 20, better several hundred.",
            id="no row",
        ),
        pytest.param(
            {"test": rows(40)},
            "There are only 0 training rows and 40 rows in all, which is too few to train a model. "
            "Add labelled rows: at least 20, better several hundred.",
            id="no row to train on",
        ),
        pytest.param(
            {"train": rows(30, ["only"])},
            "All training rows have the label only, so there is nothing to predict. "
            "Add rows of at least one other class, or choose another label_column.",
            id="one class",
        ),
        pytest.param(
            {"train": rows(39, [f"c{i}" for i in range(20)])},
            "There are 20 different labels in 39 training rows, so the labels do not name classes. "
            "Choose a label_column whose values repeat, such as a category.",
            id="one row less than two for each class",
        ),
        pytest.param(
            {"train": rows(40, [f"c{i}" for i in range(20)])},
            "The 40 rows cannot be divided into rows for training and for test and validation: no label has 3 rows. "
            "Add rows with the same labels, or add a file with rows for test and validation.",
            id="two rows for each class, none of which can be held out",
        ),
        pytest.param(
            {"train": rows(40), "validation": rows(5, ["z"], "v "), "test": rows(5, prefix="t ")},
            "No validation row has a label that occurs in the training rows. Training labels are a and b. Check that the files use the same labels.",
            id="a validation file of other labels",
        ),
    ],
)
def test_a_refusal_says_what_is_missing_and_what_to_do(given, sentence, checks):
    assert str(refusal(given, checks)) == sentence


@pytest.mark.parametrize(
    "given",
    [
        pytest.param({"train": rows(20)}, id="twenty rows"),
        pytest.param({"train": rows(21, "abcdefg")}, id="three rows for each class"),
        pytest.param({"train": rows(4), "test": rows(10, prefix="t "), "validation": rows(6, prefix="v ")}, id="twenty rows in three files"),
    ],
)
def test_just_enough_rows_are_accepted(given, checks):
    found = complete(given, checks)
    assert sum(map(len, found.values())) == sum(map(len, given.values()))


@pytest.mark.parametrize("n", [20, 29, 30])
def test_few_numbers_are_held_out_as_well(n, checks):
    found = complete({"train": numbers(n)}, checks, regression=True)
    assert found["test"] and found["validation"] and len(found["train"]) >= n // 3


def test_more_classes_than_can_be_read_are_refused_for_a_classification_only(checks, monkeypatch):
    monkeypatch.setattr(splits, "MAX_CLASSES", 3)
    four = rows(40, "abcd")
    assert str(refusal({"train": four}, checks)) == (
        "There are 4 different labels, and at most 3 are supported. Choose a label_column with fewer values, or leave out rare labels."
    )
    assert complete({"train": rows(40, "abc")}, checks)["train"]
    assert complete({"train": numbers(40)}, checks, regression=True)["train"]


def test_a_regression_needs_neither_classes_that_repeat_nor_known_labels(checks):
    found = complete({"train": numbers(30), "test": [Example("t.csv", 1, "other", "1e9")]}, checks, regression=True)
    assert len(found["test"]) == 1
    assert [c["code"] for c in checks.entries] == []


def test_rows_without_any_label_are_split_without_regard_to_classes(checks):
    found = complete({"train": rows(40, [""])}, checks)
    assert {n: len(r) for n, r in found.items()} == {"train": 32, "validation": 4, "test": 4}
    assert checks.events.decisions[-1]["why"] == (
        "The dataset does not define test or validation rows, so 4 for test and 4 for validation are taken from the 40 rows by a content hash."
    )


@pytest.mark.parametrize(
    ("given", "settings", "regression", "why"),
    [
        pytest.param(
            {"train": rows(40)}, {}, False,
            "The dataset does not define test or validation rows, so 4 for test and 4 for validation are taken from the 40 rows by a content hash, "
            "evenly over the classes.", id="one file of classes",
        ),
        pytest.param(
            {"train": numbers(40)}, {}, True,
            "The dataset does not define test or validation rows, so 10 for test and 10 for validation are taken from the 40 rows by a content hash, "
            "evenly over the range of the target.", id="one file of numbers",
        ),
        pytest.param(
            {"train": rows(40), "test": rows(6, prefix="t ")}, {}, False,
            "The dataset does not define validation rows, so 4 for validation are taken from the 40 rows by a content hash, evenly over the classes.",
            id="a test file",
        ),
        pytest.param(
            {"train": rows(40), "test": rows(6, prefix="t "), "validation": rows(6, prefix="v ")}, {}, False,
            "The file names or the split column define the training, validation and test rows.", id="three files",
        ),
        pytest.param(
            {"train": rows(40)}, {"test_fraction": 0.0}, False,
            "The dataset does not define validation rows, so 4 for validation are taken from the 40 rows by a content hash, evenly over the classes.",
            id="no test wanted",
        ),
        pytest.param(
            {"train": rows(40)}, {"test_fraction": 0.0, "validation_fraction": 0.0}, False,
            "The file names or the split column define the training, validation and test rows.", id="nothing is held out",
        ),
        pytest.param(
            {"train": [Example("f.csv", i, f"text {i}", "ab"[i % 2], group=f"g{i // 2}") for i in range(40)]}, {"group_column": "user"}, False,
            "The dataset does not define test or validation rows, so 4 for test and 4 for validation are taken from the 40 rows by a content hash, "
            "evenly over the classes, and groups stay together.", id="groups",
        ),
    ],
)  # fmt: skip
def test_the_decision_says_where_the_rows_come_from(given, settings, regression, why, checks):
    found = complete(given, checks, regression, **settings)
    decision = checks.events.decisions[-1]
    assert decision["what"] == "split"
    assert decision["choice"] == {n: len(r) for n, r in found.items()}
    assert decision["why"] == why


@pytest.mark.parametrize(("each", "warned"), [(9, True), (10, False)])
def test_a_class_of_fewer_than_ten_training_rows_is_a_warning(each, warned, checks):
    train = [*rows(40, "a"), *rows(each, "b", first=100)]
    given = {"train": train, "test": rows(4, prefix="t "), "validation": rows(4, prefix="v ")}
    complete(given, checks)
    text = "These labels have fewer than 10 training rows, so predictions for them will be poor: b."
    assert [c["text"] for c in checks.entries if c["code"] == "small_classes"] == ([text] if warned else [])


def test_a_class_whose_rows_are_all_copies_of_held_out_ones_is_missed(checks):
    train = [*rows(20, "a"), *(Example("f.csv", 90 + i, "text 0", "b") for i in range(3))]
    shares = {"test": 0.1, "validation": 0}
    cuts = {seed: splits.stratified(train, shares, Keys(), False, seed)["test"] for seed in range(99)}
    seed = next(s for s, test in cuts.items() if any(e.target == "b" for e in test))
    assert refusal({"train": train}, checks, seed=seed, validation_fraction=0).code == "one_class"


def test_rows_of_unknown_labels_are_left_out_with_their_number_and_counted(checks):
    test = [*rows(4, prefix="t "), Example("t.csv", 9, "strange", "z")]
    found = complete({"train": rows(40), "test": test, "validation": rows(4, prefix="v ")}, checks)
    assert [e.target for e in found["test"]] == ["a", "b", "a", "b"]
    assert checks.entries[0] == {
        "code": "unknown_labels", "level": "warning",
        "text": "1 test row is left out because the label does not occur in the training rows.",
    }  # fmt: skip
    assert checks.dropped == [("the label of a test row does not occur in training", 1)]


@pytest.mark.parametrize(
    ("given", "settings", "why", "sizes"),
    [
        pytest.param(
            {"train": rows(30), "validation": [], "test": []}, {},
            "The dataset does not define test or validation edges, so 4 for test and 4 for validation are held out by a content hash, "
            "evenly over the relations.", (22, 4, 4), id="both are cut",
        ),
        pytest.param(
            {"train": rows(30), "validation": rows(3, prefix="v "), "test": []}, {},
            "The dataset does not define test edges, so 4 for test are held out by a content hash, evenly over the relations.", (26, 3, 4),
            id="one is given",
        ),
        pytest.param(
            {"train": rows(30), "validation": rows(3, prefix="v "), "test": rows(2, prefix="t ")}, {},
            "The files define the training, validation and test edges.", (30, 3, 2), id="all are given",
        ),
        pytest.param(
            {"train": rows(30), "validation": [], "test": []}, {"test_fraction": 0},
            "The dataset does not define validation edges, so 4 for validation are held out by a content hash, evenly over the relations.",
            (26, 4, 0), id="a fraction of zero",
        ),
    ],
)  # fmt: skip
def test_what_is_held_out_is_said_in_the_words_of_the_caller(given, settings, why, sizes, checks):
    found = splits.hold_out(given, Keys(), SimpleNamespace(**{**SETTINGS, **settings}), "edges", "the relations", "The files", checks)
    assert tuple(len(found[n]) for n in ("train", "validation", "test")) == sizes
    assert checks.events.decisions == [{"what": "split", "choice": dict(zip(("train", "validation", "test"), sizes)), "why": why}]


def test_the_test_rows_are_dealt_before_the_validation_rows():
    examples = rows(40, "a")
    both = splits.stratified(examples, {"test": 0.1, "validation": 0.2}, Keys(), False, 1)
    alone = splits.stratified(examples, {"test": 0.1, "validation": 0.0}, Keys(), False, 1)
    assert both["test"] == alone["test"]
    assert (len(both["test"]), len(both["validation"]), len(both["train"])) == (4, 8, 28)
    assert [e.row for e in both["train"]] == sorted(e.row for e in both["train"])


@pytest.mark.parametrize("grouped", [False, True])
def test_the_first_bytes_of_places_order_rows_as_all_do(monkeypatch, grouped):
    examples = [replace(e, group=f"g{i // 3}") if grouped else e for i, e in enumerate(rows(90, "a"))]
    shares = {"test": 0.2, "validation": 0.1}
    by_first = splits.stratified(examples, shares, Keys(), False, 1)
    asked = []
    monkeypatch.setattr(units_of, "_differ", lambda places: asked.append(len(places)))  # as if two began with the same bytes
    assert splits.stratified(examples, shares, Keys(), False, 1) == by_first and asked


def test_groups_that_a_third_row_joins_stay_together():
    chained = [
        Example("f.csv", 1, "same", "a", group="g1"), Example("f.csv", 2, "same", "a", group="g2"), Example("f.csv", 3, "other", "a", group="g2"),
        Example("f.csv", 4, "alone", "a"), Example("f.csv", 5, "alone", "a"),
    ]  # fmt: skip
    units, first = units_of.of(chained, Keys())
    assert (units.tolist(), first.tolist()) == ([0, 0, 0, 1, 1], [0, 3])


@pytest.mark.parametrize(
    ("targets", "strata"),
    [
        pytest.param(["1"] * 6, {"01"}, id="one value"),
        pytest.param([str(i) for i in range(100)], {f"{i:02d}" for i in range(10)}, id="a hundred values"),
        pytest.param(["-5", "5"], {"00"}, id="two values are too few to be told apart"),
        pytest.param([], set(), id="no row"),
    ],
)
def test_the_range_of_a_number_is_cut_into_tenths(targets, strata):
    examples = [Example("f.csv", i, "", t) for i, t in enumerate(targets)]
    names, numbers = splits.numbered_strata(examples, True)
    assert {names[i] for i in numbers.tolist()} == strata


def test_the_place_of_a_key_depends_on_the_seed_and_never_changes():
    assert units_of.place("key", 42) == units_of.place("key", 42) != units_of.place("key", 43)
    assert units_of.place("1\0key", 4) != units_of.place("key", 41)
