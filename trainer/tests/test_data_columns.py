"""Which columns a model reads, which are left out, and which label columns are refused."""

import pytest

from trainer.data.columns import choices, features, profiles
from trainer.data.columns.features import CATEGORY, NUMBER
from trainer.data.formats.table import Table
from trainer.errors import UserError


def seen_in(**cells: list) -> dict[str, profiles.Profile]:
    names = list(cells)
    rows = [(i, [str(c) for c in row]) for i, row in enumerate(zip(*cells.values(), strict=True), 2)]
    return profiles.of([Table("t.csv", names, rows)])


WIDE = {
    "width": [f"{i * 0.37:.2f}" for i in range(60)], "colour": ["red", "blue", "green"] * 20, "user_id": [f"{i * 7}" for i in range(60)],
    "day": [f"2024-{i % 12 + 1:02d}-{i % 28 + 1:02d}" for i in range(60)], "note": [f"a longer remark about thing {i}" for i in range(60)],
    "same": ["x"] * 60, "empty": [""] * 60, "code": [f"q{i} z" for i in range(58)] + ["q1 z", "q2 z"], "label": ["a", "b"] * 30,
}  # fmt: skip


def test_every_column_is_read_or_left_out_with_a_reason():
    types, why = features.choose(seen_in(**WIDE), "t.csv")
    assert types == {"width": NUMBER, "colour": CATEGORY, "label": CATEGORY}
    for part in (
        "user_id (an identifier)", "day (dates)", "note (free text)", "same (the same in every row)", "empty (empty)",
        "code (too many different values for a category)", "The model reads width as number and colour and label as category",
    ):  # fmt: skip
        assert part in why


def test_without_a_useful_column_the_error_names_every_reason():
    with pytest.raises(UserError) as refused:
        features.choose(seen_in(same=["x"] * 30, id=list(range(30))), "t.csv")
    assert refused.value.code == "no_features"
    assert refused.value.why == "Left out: same (the same in every row); id (an identifier)."


@pytest.mark.parametrize(
    ("cells", "task", "code"),
    [
        pytest.param(["a"] * 30, "auto", "one_class", id="one value"),
        pytest.param([""] * 30, "auto", "one_class", id="no value"),
        pytest.param([f'["{"ab"[i % 2]}"]' for i in range(30)], "auto", "several_labels", id="lists"),
        pytest.param(["red", "blue"] * 15, "tabular-regression", "label_not_a_number", id="words for a regression"),
        pytest.param([f"name {i}" for i in range(30)], "auto", "label_not_a_class", id="names"),
        pytest.param([str(i / 7) for i in range(30)], "text-classification", "label_not_a_class", id="numbers for a classification"),
        pytest.param([str(i / 7) for i in range(30)], "auto", "", id="numbers where the task is open"),
        pytest.param(["a", "b"], "auto", "", id="two rows of two classes"),
    ],
)
def test_a_label_column_that_nothing_can_be_learned_from_is_refused(cells, task, code):
    profile = seen_in(kind=cells)["kind"]
    if not code:
        choices.check_label(profile, "t.csv", task)
        return
    with pytest.raises(UserError) as refused:
        choices.check_label(profile, "t.csv", task)
    assert refused.value.code == code
    assert refused.value.what.startswith("The label column kind of t.csv ")
    assert "label_column" in refused.value.do


@pytest.mark.parametrize(
    ("wanted", "name"),
    [("Text", "Text"), ("text", "text"), ("TEXT", "Text"), (" 3 ", "column 3"), ("column 3", "column 3"), ("a, b", "a, b")],
)
def test_a_column_is_found_exactly_then_in_any_case_then_by_its_number(wanted, name):
    seen = dict.fromkeys(["Text", "text", "column 3", "a, b"])
    assert choices.resolve(wanted, seen, "text_column", "t.csv") == name
    assert choices.listed(wanted, seen) == [wanted]


@pytest.mark.parametrize(("wanted", "names"), [("a,b", ["a", "b"]), ("a,,b,", ["a", "b"]), ("a,a", ["a"]), ("A, B", ["A, B"])])
def test_several_columns_are_separated_by_commas_unless_a_comma_is_in_the_name(wanted, names):
    assert choices.listed(wanted, dict.fromkeys(["a", "b", "a, b"])) == names


@pytest.mark.parametrize("wanted", ["", " ", "x" * 10_000, "\0", "4"])
def test_an_unknown_column_is_refused_with_the_names_that_there_are(wanted):
    with pytest.raises(UserError) as refused:
        choices.resolve(wanted, dict.fromkeys(["text", "label"]), "text_column", "t.csv")
    assert refused.value.code == "unknown_column"
    assert refused.value.why == "Its columns are text and label."
    assert len(str(refused.value)) < 1000


@pytest.mark.parametrize("write", ["E{}", "e{}", "-e{}", ".e{}"])
def test_codes_that_look_like_the_exponent_of_a_number_are_categories(write):
    cells = [write.format(i % 3) for i in range(60)]
    profile = seen_in(code=cells)["code"]
    assert (profile.numeric, profile.is_class, profile.distinct) == (False, True, 3)
