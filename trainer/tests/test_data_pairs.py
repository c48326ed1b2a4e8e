"""Pairs of texts are found by the names of their columns, with a sentence; where nothing is clear, the user is asked."""

import json

import pytest
from small_datasets import WORDS, table
from test_data_load import load  # noqa: F401 - a fixture

from trainer import run
from trainer.errors import UserError


def pairs(first: str, second: str, rows: int = 80, label: str = "label", more: dict | None = None) -> str:
    """Two short texts that are about the same thing or not; ``more`` are other columns with their cells."""
    more = more or {}
    lines = []
    for i in range(rows):
        word, other = WORDS[i % 14], WORDS[(i + 5 * (i % 2)) % 14]
        lines.append(
            [
                f"the {word} was seen by the people of town {i}",
                f"there was a {other} in {i}",
                *(f"{m} {i}" for m in more.values()),
                ["same", "other"][i % 2],
            ]
        )
    return table([first, second, *more, label], lines)


@pytest.mark.parametrize(
    "columns",
    [
        ("premise", "hypothesis"), ("question1", "question2"), ("sentence1", "sentence2"), ("text_a", "text_b"), ("Question", "Sentence"),
        ("headline_1", "headline_2"), ("Abstract A", "Abstract B"),
    ],
)  # fmt: skip
def test_two_columns_are_a_pair_by_their_names(load, columns):  # noqa: F811
    found = load({"a.csv": pairs(*columns)})
    assert (found.task, found.columns, found.types) == ("text-classification", columns, {columns[1]: "pair"})
    assert found.splits["train"][0].content[1].startswith("there was a")
    why = next(d["why"] for d in load.events.decisions if d["what"] == "text_columns")
    assert why.startswith(f"{columns[0]} and {columns[1]} are read as a pair of texts because of their names; they have 10 and 6 words on average.")


@pytest.mark.parametrize(
    ("columns", "more", "used"),
    [
        (("sentence1", "sentence2"), {"text": "a much longer text than both of the others have, which is what the label is about"}, ("text",)),
        (("note_1", "note_2"), {"note_3": "one more note of many words"}, None),
        (("summary", "remark"), {}, ("summary",)),
    ],
    ids=["a longer text", "three of a kind", "names of no pair"],
)
def test_columns_are_no_pair_beside(load, columns, more, used):  # noqa: F811
    found = load({"a.csv": pairs(*columns, more=more)}, **({} if used else {"text_column": "note_1"}))
    assert found.columns == (used or ("note_1",))
    assert "pair" not in found.types.values()


def test_a_text_column_that_is_set_is_read_alone(load):  # noqa: F811
    assert load({"a.csv": pairs("premise", "hypothesis")}, text_column="premise").columns == ("premise",)


def test_two_texts_of_equal_length_without_telling_names_are_asked_about(load):  # noqa: F811
    rows = [[f"the first text of row {i}", f"the other text of row {i}", "ab"[i % 2]] for i in range(60)]
    with pytest.raises(UserError, match=r"Several columns of a\.csv could be the text.*To read two of them as a pair, set text_pair_column"):
        load({"a.csv": table(["left", "right", "label"], rows)})


def test_a_pair_is_trained_and_predicted_from_bytes_to_results(make_run):
    spec = make_run({"a.csv": pairs("premise", "hypothesis", 60)}, epochs=1, model="bert-tiny")
    assert run.run(str(spec), "local") == run.OK
    result = json.loads((spec.parent / "result.json").read_text())
    assert result["data"]["input_columns"] == ["premise", "hypothesis"]
    assert json.loads((spec.parent / "out" / "model" / "trainer.json").read_text())["types"] == {"hypothesis": "pair"}
