"""What the reading of a dataset says: the choice of columns, of labels by folder and of splits, and each refusal word by word."""

from pathlib import Path

import numpy
import pytest
from small_datasets import png
from test_data_columns import seen_in

from trainer.core.example import Example
from trainer.core.input import Input
from trainer.data import folders, images
from trainer.data.checks import Checks
from trainer.data.columns import choices
from trainer.data.formats.table import Table
from trainer.data.images import Index
from trainer.errors import UserError
from trainer.kinds.rows import pairs
from trainer.kinds.rows.examples import LONGEST_LABEL, Rows
from trainer.kinds.rows.roles import Roles
from trainer.run_folder.events import Events

LABELS = ["a", "b"] * 15
TEXTS = [f"some words about number {i}" for i in range(30)]
NUMBERS = [str(i / 7) for i in range(30)]


@pytest.fixture
def checks(tmp_path):
    return Checks(Events(tmp_path / "events.jsonl", 1))


@pytest.mark.parametrize(
    ("columns", "wanted", "task", "name", "why"),
    [
        pytest.param({"text": TEXTS, "label": LABELS}, "", "auto", "label",
                     'Column "label" is used as the label because of its name; it has 2 different values.', id="by its name"),
        pytest.param({"Class": LABELS, "label": LABELS}, "", "auto", "label",
                     'Column "label" is used as the label because of its name (not Class); it has 2 different values.', id="label before class"),
        pytest.param({"kind": LABELS}, "KIND", "auto", "kind", "kind is the label column, as requested.", id="as requested"),
        pytest.param({"text": TEXTS, "kind": LABELS}, "", "auto", "kind",
                     'Column "kind" is used as the label: it is the last column with few, repeating values; it has 2 different values.',
                     id="the last"),
        pytest.param({"kind": LABELS, "text": TEXTS}, "", "auto", "kind",
                     'Column "kind" is used as the label: it is the first column with few, repeating values; it has 2 different values.',
                     id="the first"),
        pytest.param({"x": TEXTS, "kind": LABELS, "z": TEXTS}, "", "auto", "kind",
                     'Column "kind" is used as the label: it is a column with few, repeating values; it has 2 different values.', id="in the middle"),
        pytest.param({"x": LABELS, "z": NUMBERS}, "", "tabular-regression", "z",
                     'Column "z" is used as the label: it is the last column with measured numbers; it has 30 different values.', id="numbers"),
        pytest.param({"x": LABELS, "z": TEXTS, "kind": LABELS}, "", "auto", "kind",
                     'Column "kind" is used as the label: it is the last column with few, repeating values; it has 2 different values. '
                     "If the label is x, set label_column.", id="the last before the first"),
        pytest.param({"station": ["x"] * 30, "name": ["Willard Airport, Champaign, Illinois"] * 30, "rain": NUMBERS[::-1],
                      "low": NUMBERS, "low_attributes": [",,7", ""] * 15}, "", "auto", "low",
                     'Column "low" is used as the label: it is a column with measured numbers; it has 30 different values. '
                     "Nothing but its place says so. If the label is rain, set label_column.", id="one station beside its measures"),
        pytest.param({"label": TEXTS, "class": LABELS}, "", "auto", "class",
                     'Column "class" is used as the label because of its name; it has 2 different values.', id="a name that does not fit"),
    ],
)  # fmt: skip
def test_the_label_column_has_a_reason(columns, wanted, task, name, why):
    assert choices.label(seen_in(**columns), wanted, "t.csv", task) == choices.Choice((name,), why)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        pytest.param(lambda: choices.label({}, "", "t.csv"), "No column of t.csv is left for the label. Add a column with labels.", id="no column"),
        pytest.param(
            lambda: choices.label(seen_in(text=TEXTS), "", "t.csv"),
            "No column of t.csv is surely the label. Its columns: text has free text of 5 words on average, which a model reads. "
            "Set label_column to the column to predict, or add a column with a few repeating values.", id="no label",
        ),
        pytest.param(
            lambda: choices.label(seen_in(text=TEXTS, same=["x"] * 30), "", "t.csv"),
            "The label column same of t.csv has only one value, so there is nothing to predict. "
            "Add rows of at least one other class, or choose another label_column.", id="one value",
        ),
        pytest.param(
            lambda: choices.label(seen_in(same=["x"] * 30, depth=NUMBERS, text=TEXTS), "", "t.csv"),
            "No column of t.csv is surely the label. Its columns: same has the same value in each row; depth has numbers with 30 values "
            "(a regression); text has free text of 5 words on average, which a model reads. "
            "Set label_column to the column to predict, for example to depth, or add a column with a few repeating values.",
            id="one value beside a measure",
        ),
        pytest.param(
            lambda: choices.label(seen_in(x=TEXTS, a=LABELS, b=LABELS, z=TEXTS), "", "t.csv"),
            "Several columns of t.csv could be the label: a and b. Of these, a has 2 different values in 30 rows (a classification); "
            "b has 2 different values in 30 rows (a classification). Set label_column to the right one.", id="two labels",
        ),
        pytest.param(
            lambda: choices.label(seen_in(gold=LABELS, rating=LABELS), "", "t.csv"),
            "Several columns of t.csv could be the label: gold and rating. Of these, gold has 2 different values in 30 rows (a classification); "
            "rating has 2 different values in 30 rows (a classification). Set label_column to the right one.", id="two names of labels",
        ),
        pytest.param(
            lambda: choices.text(seen_in(text=TEXTS, label=LABELS), "label", "label", "t.csv"),
            "The column label of t.csv is set as both text_column and label_column. Choose different columns for text_column and label_column.",
            id="one column for both",
        ),
        pytest.param(
            lambda: choices.text(seen_in(n=NUMBERS, label=LABELS), "", "label", "t.csv"),
            "No column of t.csv looks like text. Its columns are n and label. "
            "Set text_column to the text column. A text has three or more words in most rows.", id="no text",
        ),
        pytest.param(
            lambda: choices.text(seen_in(x=TEXTS, z=TEXTS), "", "", "t.csv"),
            "Several columns of t.csv could be the text: x and z. Set text_column to the right one. "
            "To read two of them as a pair, set text_pair_column to the second.", id="two texts",
        ),
        pytest.param(
            lambda: choices.check_label(seen_in(y=LABELS)["y"], "t.csv", "text-regression"),
            "The label column y of t.csv does not contain numbers, which text-regression needs. 0% of its values are numbers. "
            "Choose a label_column with numbers, or a classification task.", id="no numbers",
        ),
        pytest.param(
            lambda: choices.check_label(seen_in(y=TEXTS)["y"], "t.csv", "auto"),
            "The label column y of t.csv has 30 different values in 30 rows, so it does not name classes. "
            "It may be an identifier, a measured number or the text itself. Choose a label_column whose values repeat, such as a category.",
            id="no classes",
        ),
        pytest.param(
            lambda: choices.check_label(seen_in(y=["[1]", "[2]"] * 5)["y"], "t.csv", "auto"),
            "The label column y of t.csv contains lists, but a model predicts one label for each row. "
            "Choose a label_column with one label for each row, or train one model for each label.", id="lists",
        ),
        pytest.param(
            lambda: choices.resolve("x", seen_in(a=LABELS, b=LABELS), "id_column", "t.csv"),
            "There is no column x in t.csv. Its columns are a and b. Set id_column to one of these columns, or leave it empty to detect the column.",
            id="an unknown column",
        ),
    ],
)  # fmt: skip
def test_a_choice_that_cannot_be_made_is_refused_in_words(call, sentence):
    with pytest.raises(UserError) as refused:
        call()
    assert str(refused.value) == sentence


@pytest.mark.parametrize(
    ("columns", "wanted", "names", "why"),
    [
        pytest.param({"review": TEXTS}, "", ("review",), 'Column "review" is used as the text because of its name; it has 5 words on average.',
                     id="by its name"),
        pytest.param({"title": ["t"] * 30, "body": TEXTS}, "", ("title", "body"),
                     "title and body are joined as the text because of their names; it has 6 words on average.", id="a title is joined"),
        pytest.param({"text": ["short text"] * 30, "review": TEXTS, "comment": ["c"] * 30}, "", ("review",),
                     'Column "review" is used as the text because of its name; it has 5 words on average; text and comment are not used.',
                     id="the longest of several names"),
        pytest.param({"x": TEXTS, "y": [t[:15] for t in TEXTS]}, "", ("x",),
                     'Column "x" is used as the text: its cells are the longest, with 5 words on average.', id="by its length"),
        pytest.param({"x": TEXTS, "z": TEXTS}, "z, x", ("z", "x"), "z and x are joined as the text, as requested.", id="two as requested"),
        pytest.param({"x": TEXTS}, "x", ("x",), "x is the text, as requested.", id="one as requested"),
    ],
)  # fmt: skip
def test_the_text_columns_have_a_reason(columns, wanted, names, why):
    assert choices.text(seen_in(**columns), wanted, "label", "t.csv") == choices.Choice(names, why)


@pytest.mark.parametrize(
    ("columns", "pair"),
    [
        pytest.param({"premise": TEXTS, "hypothesis": TEXTS}, ("premise", "hypothesis"), id="known names"),
        pytest.param({"Hypothesis": TEXTS, "Premise": TEXTS}, ("Premise", "Hypothesis"), id="in their order, whatever that of the table"),
        pytest.param({"headline_1": TEXTS, "headline_2": TEXTS}, ("headline_1", "headline_2"), id="numbered names"),
        pytest.param({"headline a": TEXTS, "headline b": TEXTS}, ("headline a", "headline b"), id="lettered names"),
        pytest.param({"s1": TEXTS, "s2": TEXTS, "s3": TEXTS}, ("s1", "s2"), id="a third number is no second text"),
        pytest.param({"s1": TEXTS, "sb": TEXTS}, None, id="a number and a letter"),
        pytest.param({"column 1": TEXTS, "column 2": TEXTS}, None, id="names that only count"),
        pytest.param({"premise": TEXTS, "hypothesis": ["one"] * 30}, None, id="single words"),
        pytest.param({"premise": TEXTS}, None, id="one of them"),
        pytest.param({"text1": TEXTS, "text2": TEXTS, "body": [t * 5 for t in TEXTS]}, None, id="a longer text beside them"),
    ],
)
def test_two_columns_are_a_pair(columns, pair):
    found = pairs.find(seen_in(**columns))
    assert (found.columns if found else None) == pair


def image(name: str) -> Input:
    return Input(name, Path("/data") / name, 1, "")


@pytest.mark.parametrize(
    ("names", "wanted", "labels"),
    [
        pytest.param(["cat/1", "cat/2", "dog/1", "dog/2"], "", {("cat", "")} | {("dog", "")}, id="one level"),
        pytest.param(["train/cat/1", "train/cat/2", "test/dog/1", "test/dog/2"], "", {("cat", "train"), ("dog", "test")}, id="with splits"),
        pytest.param(["x/cat/1", "x/cat/2", "x/dog/1", "x/dog/2"], "", {("cat", ""), ("dog", "")}, id="below one folder"),
        pytest.param(["a/cat/1", "b/cat/2", "a/dog/1", "b/dog/2"], "folder 2", {("cat", ""), ("dog", "")}, id="the second level"),
        pytest.param(["a/cat/1", "b/cat/2", "a/dog/1", "b/dog/2"], "Folder 1", {("a", ""), ("b", "")}, id="the first level"),
        pytest.param(["cat/1", "cat/2", "dog/1"], "", set(), id="a folder of one file is no second label"),
        pytest.param(["cat/1", "cat/2"], "", set(), id="one folder"),
        pytest.param(["1", "2"], "", set(), id="no folder"),
        pytest.param(["train/1", "test/2"], "", set(), id="splits alone"),
        pytest.param([], "", set(), id="nothing"),
    ],
)
def test_folders_are_labels(names, wanted, labels):
    assert {(f.label, f.split) for f in folders.read([image(n) for n in names], wanted)} == labels


@pytest.mark.parametrize("wanted", ["", "folder 3", "folder 0"])
def test_two_levels_of_labels_are_asked_about(wanted):
    with pytest.raises(UserError) as refused:
        folders.read([image(n) for n in ("a/cat/1", "b/cat/2", "a/dog/1", "b/dog/2")], wanted)
    assert str(refused.value) == (
        "The labels could be the names of several levels of folders: folder 1 (a and b) and folder 2 (cat and dog). "
        "Set label_column to the right level, for example folder 1."
    )


def rows_of(kind: str, columns: list[str], cells: list[list[str]], **roles):
    task = {"text": "text-classification", "table": "tabular-classification", "image": "image-classification"}[kind]
    found = Rows(Roles(roles.pop("task", task), tuple(columns), "label", **roles), {}, Index([image("1.png")]))
    table = Table("t.csv", [*columns, "label"], [(i, row) for i, row in enumerate(cells, 2)])
    return found, found.examples(table)


@pytest.mark.parametrize(
    ("kind", "cells", "task", "kept", "warning"),
    [
        ("text", [["a", "x"], [" ", "x"]], None, 1, "1 row is left out of t.csv because the text is empty."),
        ("text", [["a", "x"], ["b", ""], ["c", "NaN"]], None, 1, "2 rows are left out of t.csv because the label is empty."),
        ("text", [["a", "x" * LONGEST_LABEL], ["b", "x" * (LONGEST_LABEL + 1)]], None, 1,
         "1 row is left out of t.csv because the label has more than 500 characters."),
        ("text", [["a", "1.5"], ["b", "much"]], "text-regression", 1, "1 row is left out of t.csv because the label is not a number."),
        ("image", [["1.png", "x"], ["2.png", "x"]], None, 1,
         "1 row is left out of t.csv because the image they name is not in the dataset (2.png)."),
    ],
)  # fmt: skip
def test_rows_that_cannot_be_used_are_counted_with_their_reason(kind, cells, task, kept, warning, checks):
    rows, found = rows_of(kind, ["c"], cells, **({"task": task} if task else {}))
    rows.report("t.csv", "drop", checks)
    assert len(found) == kept
    assert [w["text"] for w in checks.entries] == [warning]
    assert sum(n for _, n in checks.dropped) == len(cells) - kept


def test_rows_without_a_label_are_refused_where_the_user_wants_none(checks):
    rows, _ = rows_of("text", ["c"], [["a", ""], ["b", ""], ["c", "x"]])
    with pytest.raises(UserError) as refused:
        rows.report("t.csv", "fail", checks)
    assert str(refused.value) == "2 rows of t.csv have no label in the column label. Fill in the labels, or set missing_labels to drop."


@pytest.mark.parametrize(
    ("cells", "found"),
    [
        (["train", "VAL", "test", ""], {"train": [2, 5], "validation": [3], "test": [4]}),
        (["dev", "testing", "train", "train"], {"train": [4, 5], "validation": [2], "test": [3]}),
    ],
)
def test_a_split_column_divides_the_rows(cells, found):
    roles = Roles("text-classification", ("c",), "label", split="s")
    table = Table("t.csv", ["c", "label", "s"], [(i, ["x", "a", c]) for i, c in enumerate(cells, 2)])
    rows = Rows(roles, {}, Index([]))
    parts = rows.by_split(table, rows.examples(table))
    assert {n: [e.row for e in part] for n, part in parts.items()} == found


def test_a_split_column_with_other_values_is_refused():
    roles = Roles("text-classification", ("c",), "label", split="s")
    table = Table("t.csv", ["c", "label", "s"], [(2, ["x", "a", "train"]), (3, ["x", "a", "monday"])])
    rows = Rows(roles, {}, Index([]))
    with pytest.raises(UserError) as refused:
        rows.by_split(table, rows.examples(table))
    assert str(refused.value) == (
        "The split column s of t.csv has values that are not the name of a split: monday. "
        "Use the values train, validation and test, or leave split_column empty."
    )


@pytest.mark.parametrize(
    ("broken", "checked", "left"),
    [
        pytest.param(set(), "All 6 images can be opened; 6 of them were decoded in full.", 6, id="none is broken"),
        pytest.param({1}, "1 image is left out that cannot be decoded: 1.png.", 5, id="one is broken"),
        pytest.param({1, 2, 3}, "3 images are left out that cannot be decoded: 2.png, 1.png and 3.png.", 3, id="half of them"),
        pytest.param({0, 1, 2, 3}, "", 0, id="most of them"),
    ],
)
def test_images_that_cannot_be_decoded_leave(monkeypatch, checks, broken, checked, left):
    monkeypatch.setattr(images, "decodes", lambda file, whole=True: int(file.stem) not in broken)
    examples = [Example(f"{i}.png", 0, Path(f"{i}.png"), "ab"[i % 2]) for i in range(6)]
    if not checked:
        with pytest.raises(UserError) as refused:
            images.without_broken(examples, checks)
        assert str(refused.value) == (
            "4 of 6 images that were checked cannot be decoded, for example 0.png, 2.png, 1.png and 1 more. "
            "Replace them with PNG or JPEG images that an ordinary viewer can show."
        )
        return
    found = images.without_broken(examples, checks)
    assert len(found) == left
    assert [c["text"] for c in checks.entries] == [checked]
    assert checks.dropped == ([("the image cannot be decoded", 6 - left)] if left < 6 else [])


def test_an_image_that_ends_early_is_found_among_many_where_all_are_decoded(tmp_path, checks):
    whole = png(numpy.random.default_rng(0).integers(0, 256, (64, 64), numpy.uint8))
    examples = []
    for i in range(300):
        (tmp_path / f"{i}.png").write_bytes(whole if i != 7 else whole[: len(whole) // 2])
        examples.append(Example(f"{i}.png", 0, tmp_path / f"{i}.png", ""))
    assert examples[7] not in images._over_labels(examples)
    assert len(images.without_broken(examples, checks)) == 300, "it begins well"
    assert len(images.without_broken(examples, checks, every=True)) == 299
    assert [c["text"] for c in checks.entries if c["level"] == "warning"] == ["1 image is left out that cannot be decoded: 7.png."]


@pytest.mark.parametrize(("rows", "labels", "most"), [(10, 1, 10), (1000, 1, 200), (1000, 2, 200), (1000, 300, 200), (0, 1, 0), (201, 1, 101)])
def test_the_sample_of_images_is_spread_over_the_labels(rows, labels, most):
    examples = [Example(f"{i}", 0, None, str(i % labels)) for i in range(rows)]
    sample = images._over_labels(examples)
    assert len(sample) == most
    assert len({e.target for e in sample}) == min(labels, most)


def test_folders_of_settings_are_no_labels():
    assert [folders.is_level(text) for text in ("folder 1", " Folder 12 ", "folder", "folder x", "my folder 1")] == [True, True, False, False, False]
