"""Splits: the same every time, without overlap, evenly over the classes."""

import collections
from types import SimpleNamespace

import pytest
from hypothesis import given, settings, strategies as st

from trainer.core.example import SPLITS, Example
from trainer.data import splits
from trainer.data.checks import Checks
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


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 30), st.sampled_from(["", "", "g1", "g2", "g3"])), min_size=1, max_size=80),
    st.floats(0, 0.5),
    st.floats(0.01, 0.5),
    st.integers(0, 99),
)
def test_a_cut_keeps_every_row_once_and_copies_and_groups_together(rows, test, validation, seed):
    examples = [Example("f.csv", i, f"text {number}", label, group=group) for i, (label, number, group) in enumerate(rows)]
    keys = Keys()
    found = splits.stratified(examples, {"test": test, "validation": validation}, keys, False, seed)
    assert sorted(e.row for part in found.values() for e in part) == list(range(len(rows)))
    for names_of in (keys, lambda e: e.group or f"row {e.row}"):
        places = collections.defaultdict(set)
        for name, part in found.items():
            for e in part:
                places[names_of(e)].add(name)
        assert all(len(p) == 1 for p in places.values())


@pytest.mark.parametrize(("rows", "test", "validation"), [(30, 3, 3), (31, 4, 4), (100, 10, 10), (2, 0, 0), (3, 1, 1)])
def test_the_shares_of_a_class_are_rounded_up_from_three_rows_on(rows, test, validation):
    examples = [Example("f.csv", i, f"text {i}", "a") for i in range(rows)]
    found = splits.stratified(examples, {"test": 0.1, "validation": 0.1}, Keys(), False, 1)
    assert (len(found["test"]), len(found["validation"])) == (test, validation)


def test_numbers_are_dealt_evenly_over_their_range():
    examples = [Example("f.csv", i, f"text {i}", str(i**3)) for i in range(200)]
    found = splits.stratified(examples, {"test": 0.2, "validation": 0.1}, Keys(), True, 1)
    tenths = collections.Counter(e.row // 20 for e in found["test"])
    assert set(tenths) == set(range(10))
    assert max(tenths.values()) - min(tenths.values()) <= 1


def test_the_digest_of_a_split_depends_on_the_places_of_texts_and_not_on_the_order_of_rows():
    rows = _rows(30)
    given_rows = {"train": rows[:20], "validation": rows[20:25], "test": rows[25:]}
    same = {name: part[::-1] for name, part in given_rows.items()}
    moved = {"train": rows[1:20], "validation": [*rows[20:25], rows[0]], "test": rows[25:]}
    assert splits.digest(given_rows, Keys()) == splits.digest(same, Keys()) != splits.digest(moved, Keys())


@pytest.mark.parametrize(
    ("rows", "group_column", "part"),
    [
        ([Example("f.csv", i, "ab"[i % 2], "ab"[i % 2]) for i in range(40)], "", "only 2 of them are different"),
        ([Example("f.csv", i, f"t {i}", "ab"[i % 2], group="ab"[i % 2]) for i in range(40)], "user", "the column user has only 2 groups"),
    ],
)
def test_rows_that_all_belong_together_cannot_be_divided(rows, group_column, part, events):
    with pytest.raises(UserError, match=part) as refused:
        _complete({"train": rows}, 42, events, group_column=group_column)
    assert refused.value.code == "too_few_groups"


def test_examples_are_spread_by_the_rarest_that_is_in_them():
    rows = [Example("a.csv", n, "", target) for n, target in enumerate(["a;b", "b;a", "a", "c;a", "c", ""])]
    swapped, back = splits.by_rarest({"train": rows[:4], "test": rows[4:]}, lambda e: filter(None, e.target.split(";")), 2, "none")
    assert {n: [e.target for e in r] for n, r in swapped.items()} == {"train": ["b", "b", "a", "c"], "test": ["c", "none"]}
    assert [back[id(e)] for r in swapped.values() for e in r] == rows
    assert [e.target for e in splits.by_rarest({"train": rows}, lambda e: filter(None, e.target.split(";")), 3, "none")[0]["train"]][3:] == [
        "a",
        "none",
        "none",
    ]
