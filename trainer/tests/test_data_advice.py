"""The checks of the examples on known data: duplicates, leaks, balance and overlap."""

from types import SimpleNamespace

import pytest
from hypothesis import given, settings, strategies as st

from trainer.core import registry
from trainer.core.example import SPLITS, Example
from trainer.data import audit, duplicates, subset
from trainer.data.checks import Checks
from trainer.data.columns.features import CATEGORY, NUMBER
from trainer.data.keys import Keys
from trainer.kinds.rows import leaks
from trainer.kinds.rows.roles import Roles
from trainer.run_folder.events import Events

QUICK = settings(max_examples=60, deadline=None)


@pytest.fixture
def checks(tmp_path):
    return Checks(Events(tmp_path / "events.jsonl", 1))


def found(checks: Checks) -> dict[str, tuple[str, str]]:
    return {c["code"]: (c["level"], c["text"]) for c in checks.entries}


def texts(*contents, target: str = "a", file: str = "t.csv") -> list[Example]:
    return [Example(file, i, c, target) for i, c in enumerate(contents, 2)]


def divided(**given: list[Example]) -> dict[str, list[Example]]:
    return {name: given.get(name, []) for name in SPLITS}


def test_copies_differ_in_case_and_spaces_only():
    keys = Keys()
    same = texts("Two words", " two\n WORDS ", "two\twords")
    assert len(set(map(keys, same))) == 1
    assert len(set(map(keys, texts("two words", "twowords", "two words.", "words two", ("two", "words"), ("two words", ""))))) == 6


def test_rows_of_a_table_are_copies_if_all_cells_are_equal():
    rows = [Example("t.csv", i, cells, "a") for i, cells in enumerate([("1", "23"), ("1", "23"), ("12", "3"), ("", "123")])]
    assert [len({keys(e) for e in rows}) for keys in (Keys(registry.of("table").key), Keys(registry.of("table").key, by_row=True))] == [3, 4]


def test_images_are_compared_by_their_bytes_and_a_known_sum_is_not_computed_again(tmp_path):
    for name, data in (("a.png", b"1"), ("b.png", b"1"), ("c.png", b"2")):
        (tmp_path / name).write_bytes(data)
    rows = [Example(n, 0, tmp_path / n, "a") for n in ("a.png", "b.png", "c.png")]
    keys = Keys(registry.of("image").key)
    assert keys(rows[0]) == keys(rows[1]) != keys(rows[2])
    known = Keys(registry.of("image").key, {tmp_path / "gone.png": "sum"})
    assert known(Example("gone.png", 0, tmp_path / "gone.png", "a")) == "sum"


@pytest.mark.parametrize(
    ("rule", "train", "validation", "dropped"),
    [
        ("warn", ["one", "one", "two"], ["three"], 3),
        ("drop", ["one", "two"], ["three"], 4),
        ("keep", ["one", "one", "two", "three", "four"], ["three", "four"], 0),
    ],
)
def test_copies_leave_the_split_that_learns_and_never_the_split_that_evaluates(checks, rule, train, validation, dropped):
    before = divided(train=texts("one", "one", "two", "three", "four"), validation=texts("three", "FOUR "), test=texts("four"))
    after = duplicates.remove(before, Keys(), rule, checks)
    assert [e.content for e in after["train"]] == train
    assert [e.content.strip().lower() for e in after["validation"]] == validation
    assert after["test"] == before["test"]
    assert sum(rows for _, rows in checks.dropped) == dropped
    assert [e.content for e in before["train"]] == ["one", "one", "two", "three", "four"]  # the argument is unchanged


@QUICK
@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.sampled_from(SPLITS)), max_size=25), st.sampled_from(["warn", "drop"]))
def test_after_the_removal_no_two_splits_share_a_text(pairs, rule):
    given_rows = divided(**{s: texts(*(c for c, where in pairs if where == s)) for s in SPLITS})
    silent = Checks(SimpleNamespace(warning=lambda *_: None))
    after = duplicates.remove(given_rows, Keys(), rule, silent)
    kept = {name: [e.content for e in rows] for name, rows in after.items()}
    assert not any(set(kept[a]) & set(kept[b]) for a, b in (("train", "validation"), ("train", "test"), ("validation", "test")))
    assert set().union(*kept.values()) == {c for c, _ in pairs}
    assert sum(map(len, kept.values())) + sum(n for _, n in silent.dropped) == len(pairs)
    if rule == "drop":
        assert len(set(kept["train"])) == len(kept["train"])


@QUICK
@given(st.integers(1, 300), st.integers(0, 5))
def test_a_sample_takes_the_same_share_of_every_class_and_keeps_the_order(limit, seed):
    rows = [Example("t.csv", i, f"text {i}", "aaab"[i % 4]) for i in range(200)]
    events = SimpleNamespace(decision=lambda *_: None)
    kept = subset.thin(divided(train=rows), limit, Keys(), False, seed, events)["train"]
    assert [e.row for e in kept] == sorted(e.row for e in kept)
    for label, size in (("a", 150), ("b", 50)):
        count, wanted = sum(e.target == label for e in kept), min(size, size * limit / 200)
        assert count == 1 or abs(count - wanted) <= 0.5


def test_a_larger_sample_contains_the_smaller_one():
    rows = [Example("t.csv", i, f"text {i}", "ab"[i % 2]) for i in range(200)]
    events = SimpleNamespace(decision=lambda *_: None)
    small, large = ({e.row for e in subset.thin(divided(train=rows), n, Keys(), False, 7, events)["train"]} for n in (40, 80))
    assert small < large


@pytest.mark.parametrize(
    ("copies", "level", "share"),
    [
        pytest.param(0, "ok", "No example occurs twice.", id="none"),
        pytest.param(5, "ok", "4.8%", id="few"),
        pytest.param(50, "warning", "33.3%", id="many"),
    ],
)
def test_duplicates_are_counted_and_many_of_them_are_a_warning(checks, copies, level, share):
    rows = texts(*(f"text {i}" for i in range(100)), *(f"text {i}" for i in range(copies)))
    audit.copies(divided(train=rows), Keys(), False, checks)
    assert found(checks)["copies"][0] == level
    assert share in found(checks)["copies"][1]


def test_duplicates_with_different_labels_are_counted_with_a_place(checks):
    rows = [*texts("same", "other"), *texts("same", target="b", file="u.csv"), *texts("other"), *texts("alone", target="b")]
    audit.copies(divided(train=rows), Keys(), False, checks)
    level, text = found(checks)["conflicting_labels"]
    assert level == "warning"
    assert text.startswith("2 examples have duplicates with another label, for example t.csv row 2")
    again = Checks(checks.events)
    audit.copies(divided(train=rows), Keys(), True, again)
    assert "conflicting_labels" not in found(again)  # numbers of equal rows may differ


def _audited(checks: Checks, given_rows: dict, **roles) -> dict[str, tuple[str, str]]:
    roles = Roles(**{"task": "text-classification", "columns": ("text",), "label": "label", **roles})
    audit.examples(given_rows, roles.labelled, Keys(), checks)
    return found(checks)


def balanced(n: int, prefix: str = "") -> list[Example]:
    return [Example("t.csv", i, f"{prefix}thing {i}", "ab"[i % 2]) for i in range(n)]


@pytest.mark.parametrize(
    ("train", "test", "code", "level", "part"),
    [
        pytest.param(balanced(199), [], "few_rows", "warning", "only 199 examples (199 for train, 0 for validation and 0 for test)", id="199 rows"),
        pytest.param(balanced(200), [], "few_rows", "ok", "There are 200 examples", id="200 rows"),
        pytest.param(balanced(200), [], "no_test_rows", "warning", "evaluated on the validation rows only", id="no test rows"),
        pytest.param(balanced(200), texts("new", target="a"), "rows_per_class", "warning", "a (1 for test) and b (0 for test)", id="a class of one"),
        pytest.param(balanced(40), balanced(3), "split_overlap", "warning", "3 examples are in more than one split", id="an overlap"),
        pytest.param(balanced(40), balanced(4, "new "), "split_overlap", "ok", "No example is in more than one split.", id="no overlap"),
        pytest.param([*balanced(40), *texts(*"pqrs", target="A")], [], "similar_labels", "warning", "different classes: A and a.", id="case"),
        pytest.param(balanced(40), [], "class_imbalance", "ok", "about the same number", id="balance"),
        pytest.param([*balanced(20), *texts(*"klmnopqrst")], [], "class_imbalance", "ok", "2.0 times as many", id="a larger class"),
        pytest.param([*balanced(4), *texts(*"klmnopqrst")], [], "class_imbalance", "warning", "a has 12 training rows and b only 2", id="imbalance"),
    ],
)  # fmt: skip
def test_a_check_says_what_is_there(checks, train, test, code, level, part):
    entry = _audited(checks, divided(train=train, test=test))[code]
    assert entry[0] == level
    assert part in entry[1]
    assert (code in [w["code"] for w in checks.events.warnings]) == (level == "warning")


def test_groups_in_training_and_in_the_test_are_a_warning(checks):
    train = [Example("t.csv", i, f"thing {i}", "ab"[i % 2], group=f"g{i % 10}") for i in range(40)]
    test = [Example("t.csv", 90 + i, f"new thing {i}", "ab"[i % 2], group=group) for i, group in enumerate(["g1", "g2", "g99", ""])]
    assert _audited(checks, divided(train=train, test=test))["split_overlap"] == (
        "warning", "2 groups of the test rows are also in training, so the metrics may be too optimistic.",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("cells", "kind", "reveals"),
    [
        pytest.param(["P", "N"] * 50, CATEGORY, True, id="the label in other words"),
        pytest.param(["P", "N"] * 49 + ["N", "P"], CATEGORY, False, id="2 rows of 100 that differ"),
        pytest.param(["P", ""] * 10 + [""] * 80, CATEGORY, False, id="too few rows have a value"),
        pytest.param([f"v{i}" for i in range(100)], CATEGORY, False, id="values that never repeat"),
        pytest.param(["same"] * 100, CATEGORY, False, id="one value"),
        pytest.param(["1", "0"] * 50, NUMBER, True, id="a number with two values"),
        pytest.param(["1.5", ""] * 50, NUMBER, True, id="a value for one class alone"),
        pytest.param(["1.5", ""] * 45 + ["", "1.5"] * 5, NUMBER, False, id="a value mostly for one class"),
    ],
)
def test_a_column_reveals_the_label_if_equal_cells_have_equal_labels(checks, cells, kind, reveals):
    rows = [Example("t.csv", i, (cell,), "yn"[i % 2]) for i, cell in enumerate(cells)]
    leaks.check(rows, Roles("tabular-classification", ("x",), "y", {"x": kind}), checks)
    assert found(checks)["label_leak"][0] == ("warning" if reveals else "ok")


@pytest.mark.parametrize(
    ("column", "reveals"),
    [
        pytest.param(lambda i: 1.8 * i + 32, True, id="another unit"),
        pytest.param(lambda i: -i, True, id="the other sign"),
        pytest.param(lambda i: i if i % 4 else "", True, id="another unit with gaps"),
        pytest.param(lambda i: i if not i % 4 else "", False, id="mostly gaps"),
        pytest.param(lambda i: 5, False, id="a constant"),
        pytest.param(lambda i: i + 20 * (i % 3), False, id="a related number"),
    ],
)
def test_a_column_of_numbers_reveals_the_target_if_it_is_the_target_in_another_unit(checks, column, reveals):
    rows = [Example("t.csv", i, (str(column(i)),), str(float(i))) for i in range(80)]
    leaks.check(rows, Roles("tabular-regression", ("x",), "y", {"x": NUMBER}), checks)
    assert ("warning" in [found(checks)[code][0] for code in ("label_formula", "label_leak")]) == reveals


@pytest.mark.parametrize(("name", "reveals"), [("predicted_y", True), ("width", False)])
def test_the_answers_of_an_older_model_are_told_by_their_name(checks, name, reveals):
    rows = [Example("t.csv", i, (f"{i + i * 37 % 11}",), f"{i}.5") for i in range(120)]
    leaks.check(rows, Roles("tabular-regression", (name,), "y", {name: NUMBER}), checks)
    assert found(checks)["label_leak"][0] == ("warning" if reveals else "ok")


@pytest.mark.parametrize(("grouped", "reveals"), [(False, True), (True, False)])
def test_what_rows_of_one_group_share_reveals_nothing(checks, grouped, reveals):
    rows = [Example("t.csv", i, (f"{60 + i // 4}.5",), "yn"[i // 4 % 2], group=f"p{i // 4}" if grouped else "") for i in range(160)]
    leaks.check(rows, Roles("tabular-classification", ("weight",), "y", {"weight": NUMBER}), checks)
    assert found(checks)["label_leak"][0] == ("warning" if reveals else "ok")


def test_whole_numbers_of_persons_tell_the_label_however_many_they_are(checks):
    rows = [Example("t.csv", i, (f"{i // 3 * 7 % 1009}",), "yn"[i // 3 % 2]) for i in range(900)]
    leaks.check(rows, Roles("tabular-classification", ("rid",), "y", {"rid": NUMBER}), checks)
    assert found(checks)["label_leak"][0] == "warning"


@pytest.mark.parametrize(
    ("content", "level"),
    [
        pytest.param(lambda i, label: f"it is {label.upper()}! {i}", "warning", id="its own name"),
        pytest.param(lambda i, label: f"good or poor? {i}", "ok", id="the names of all labels"),
        pytest.param(lambda i, label: f"it is {label}ly {i}", "ok", id="a longer word"),
        pytest.param(lambda i, label: (f"first {i}", f"and {label}"), "warning", id="in the second text of a pair"),
    ],
)
def test_texts_reveal_the_label_by_its_name(checks, content, level):
    rows = [Example("t.csv", i, content(i, label), label) for i, label in enumerate(["good", "poor"] * 30)]
    leaks.check(rows, Roles("text-classification", ("text",), "label"), checks)
    assert found(checks)["label_leak"][0] == level


def test_equal_scores_reveal_no_label_whatever_the_order_of_the_rows(checks):
    rows = [Example("t.csv", i, ("0.5" if i % 4 else "0.7",), label) for i, label in enumerate(["a"] * 20 + ["b"] * 20)]
    leaks.check(rows, Roles("tabular-classification", ("risk_score",), "label", {"risk_score": NUMBER}), checks)
    assert found(checks)["label_leak"][0] == "ok"


def test_a_label_with_signs_of_regular_expressions_is_a_plain_word(checks):
    rows = [Example("t.csv", i, f"x {label} y", label) for i, label in enumerate(["c++ (fast)", "[a-z]*"] * 20)]
    leaks.check(rows, Roles("text-classification", ("text",), "label"), checks)
    assert found(checks)["label_leak"][0] == "warning"
