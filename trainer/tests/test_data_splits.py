"""Splits: the same every time, without overlap, evenly over the classes."""

import collections
from types import SimpleNamespace

import pytest

from trainer.data import splits
from trainer.data.checks import Checks
from trainer.data.example import SPLITS, Example
from trainer.data.keys import Keys
from trainer.errors import UserError
from trainer.run_folder.events import Events

SETTINGS = SimpleNamespace(seed=42, test_fraction=0.1, validation_fraction=0.1, duplicates="warn", group_column="")


def _complete(given, seed, events, **settings):
    return splits.complete(given, Keys(), False, SimpleNamespace(**{**vars(SETTINGS), "seed": seed, **settings}), Checks(events))


def _rows(n, classes="abc", prefix=""):
    return [Example("f.csv", i, f"{prefix}text number {i}", classes[i % len(classes)]) for i in range(n)]


@pytest.fixture
def events(tmp_path):
    return Events(tmp_path / "events.jsonl", 1)


def test_one_file_is_split_80_10_10_within_each_class(events):
    got = _complete({"train": _rows(300)}, 42, events)
    assert {n: len(r) for n, r in got.items()} == {"train": 240, "validation": 30, "test": 30}
    for name, each in (("train", 80), ("validation", 10), ("test", 10)):
        assert set(collections.Counter(r.target for r in got[name]).values()) == {each}, name
    texts = [{r.content for r in got[n]} for n in SPLITS]
    assert not (texts[0] & texts[1] or texts[0] & texts[2] or texts[1] & texts[2])
    assert len(set.union(*texts)) == 300


def test_the_split_depends_on_the_seed_only(events):
    rows = _rows(300)
    first = _complete({"train": rows}, 42, events)
    assert _complete({"train": rows}, 42, events) == first
    assert _complete({"train": rows}, 43, events)["test"] != first["test"]
    reordered = _complete({"train": rows[::-1]}, 42, events)
    assert {r.content for r in reordered["test"]} == {r.content for r in first["test"]}


def test_more_rows_hardly_move_the_others(events):
    before = {r.content for r in _complete({"train": _rows(300)}, 42, events)["test"]}
    after = {r.content for r in _complete({"train": _rows(303)}, 42, events)["test"]}
    assert len(before - after) <= 3


def test_copies_of_a_text_stay_together(events):
    rows = _rows(200, "ab") + [Example("g.csv", r.row, r.content.upper() + "  ", r.target) for r in _rows(200, "ab")]
    got = _complete({"train": rows}, 42, events)
    texts = [{r.content.lower().strip() for r in got[n]} for n in SPLITS]
    assert not (texts[0] & texts[1] or texts[0] & texts[2] or texts[1] & texts[2])
    assert sum(map(len, got.values())) == 400


def test_a_test_file_stays_whole_and_its_texts_leave_training(events):
    test = _rows(40, "ab")
    got = _complete({"train": _rows(200, "ab"), "test": test}, 42, events)
    assert got["test"] == test
    assert len(got["train"]) + len(got["validation"]) == 160
    assert len(got["validation"]) == 16
    assert events.warnings[0]["code"] == "duplicates"
    assert events.warnings[0]["text"].startswith("40 train rows")


def test_a_validation_file_is_kept_when_a_test_split_is_cut(events):
    validation = _rows(30, "ab", prefix="other ")
    got = _complete({"train": _rows(200, "ab"), "validation": validation}, 42, events)
    assert got["validation"] == validation
    assert (len(got["train"]), len(got["test"])) == (180, 20)


def test_labels_that_training_does_not_know_leave_the_other_splits(events):
    test = [*_rows(20, "ab", prefix="t "), Example("t.csv", 99, "a strange one", "z")]
    got = _complete({"train": _rows(100, "ab"), "test": test}, 42, events)
    assert len(got["test"]) == 20
    assert "unknown_labels" in [w["code"] for w in events.warnings]


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"train": _rows(12, "ab")}, "too_few_rows"),
        ({"train": _rows(100, "a")}, "one_class"),
        ({"train": _rows(40, [str(i) for i in range(40)])}, "label_not_a_class"),
        ({"train": _rows(40, "ab"), "test": _rows(40, "ab")}, "too_few_rows"),
        ({"train": _rows(40, "ab"), "test": _rows(10, "z", prefix="t")}, "unknown_labels"),
    ],
)
def test_rows_that_cannot_be_trained_on_are_refused(given, code, events):
    with pytest.raises(UserError) as e:
        _complete(given, 42, events)
    assert e.value.code == code
