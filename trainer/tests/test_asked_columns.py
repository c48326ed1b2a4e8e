"""The option ``columns``: only what it names is read of a table, with the columns of other options."""

import json
import random
from pathlib import Path

import loading
import pytest
from test_data_load import spec_of, table

from trainer.core.example import Dataset
from trainer.errors import UserError
from trainer.run_folder.events import Events

HEAD = ["a", "b", "c", "Split", "plot", "y"]


def load(folder: Path, files: dict[str, str], **values) -> Dataset:
    return loading.load(spec_of(folder, files), Events(folder / "events.jsonl", 1), **values)


def rows(count: int = 120) -> list[list[str]]:
    draw = random.Random(2)
    found = []
    for i in range(count):
        a, b, c = (f"{draw.gauss(0, 1):.6f}" for _ in range(3))
        found.append([a, b, c, ("train", "train", "validation", "test")[i % 4], f"p{i // 4}", "yes" if float(a) > 0 else "no"])
    return found


@pytest.mark.parametrize(
    ("values", "columns"),
    [
        pytest.param({}, ("a", "b", "c", "plot"), id="all"),
        pytest.param({"columns": "c, A"}, ("a", "c"), id="some, whatever their case, in the order of the table"),
        pytest.param({"columns": "a,y"}, ("a",), id="the label is no input"),
        pytest.param({"columns": "a", "group_column": "plot", "split_column": ""}, ("a",), id="with the column of another option"),
    ],
)
def test_inputs_are_the_columns_that_are_asked_for(tmp_path, values, columns):
    data = load(tmp_path, {"t.csv": table(HEAD, rows())}, label_column="y", **values)
    assert data.columns == columns
    assert {n: len(part) for n, part in data.splits.items()} == {"train": 60, "validation": 30, "test": 30}  # as the column Split says
    if "group_column" in values:
        assert all(e.group for e in data.splits["train"])


@pytest.mark.parametrize(
    ("files", "values", "code", "words"),
    [
        pytest.param({"t.csv": HEAD}, {"columns": "a,d", "label_column": "y"}, "unknown_column", "There is no column d in t.csv", id="unknown"),
        pytest.param({"t.csv": HEAD}, {"columns": "a,b"}, "columns", "label_column is not set", id="a label that is left open"),
        pytest.param({"t.csv": HEAD}, {"columns": "plot", "label_column": "a"}, "no_features", "No column", id="no use"),
    ],
)
def test_what_cannot_be_meant_is_refused(tmp_path, files, values, code, words):
    unlike = [[*line[:4], f"id{i}", line[5]] for i, line in enumerate(rows())]
    with pytest.raises(UserError, match=words) as caught:
        load(
            tmp_path,
            {name: table(head, unlike) for name, head in files.items()},
            task="tabular-regression" if code == "no_features" else "auto",
            **values,
        )
    assert caught.value.code == code


def test_columns_without_names_go_by_their_numbers_and_structures_by_their_name(tmp_path):
    first, *others = [[*line[:3], str(7 + (float(line[0]) > 0))] for line in rows()]
    unnamed = table(first, others)
    assert load(tmp_path, {"t.csv": unnamed}, columns="2,3", label_column="4").columns == ("column 2", "column 3")
    objects = [{"at": {"x": float(line[0]), "z": float(line[1])}, "more": float(line[2]), "y": line[5]} for line in rows()]
    lines = "".join(json.dumps(o) + "\n" for o in objects)
    assert load(tmp_path, {"t.jsonl": lines}, columns="at", label_column="y").columns == ("at.x", "at.z")
    assert load(tmp_path, {"t.jsonl": lines}, columns="at.z,more", label_column="y").columns == ("at.z", "more")


def test_a_file_without_the_columns_is_left_out(tmp_path):
    data = load(
        tmp_path, {"t.csv": table(HEAD, rows()), "other.csv": table(["when", "y"], [["3", "yes"], ["4", "no"]])}, columns="a,b", label_column="y"
    )
    assert data.files == ["t.csv"]
    assert [name for name, _ in data.not_read] == ["other.csv"]
