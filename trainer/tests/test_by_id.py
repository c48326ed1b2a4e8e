"""ids.json: answers and labels by the ids of their rows, so that labels can come after a prediction."""

import csv
import hashlib
import io
import json
import os
from pathlib import Path
from types import SimpleNamespace

import numpy
import pytest
from result_checks import check_files, predictions
from small_datasets import flowers, table

from trainer.core import registry
from trainer.core.example import Example
from trainer.core.input import Input
from trainer.data.labels_apart import LabelsApart
from trainer.export import by_id
from trainer.export.finished import Answered
from trainer.kinds.tokens.target import Tags
from trainer.run import run
from trainer.run_folder import files
from trainer.run_folder.lease import Lease
from trainer.targets.classes import Classes
from trainer.targets.number import Number

AB = Classes(("a", "b"))


def digest(value: str, sort: str = "id") -> str:
    return hashlib.sha256(f"{sort}\0{value}".encode()).hexdigest()[:16]


@pytest.fixture
def written(monkeypatch):
    """written(call) is the document that the call writes, or None."""

    def of(call) -> dict | None:
        found: list[dict] = []
        monkeypatch.setattr(Lease, "write_json", lambda self, place, value: found.append(json.loads(files.as_json(value))))
        monkeypatch.setattr(Lease, "__init__", lambda self, *_: None)
        call()
        return found[0] if found else None

    return of


def spec(*inputs: Input):
    return SimpleNamespace(run="pr-test", attempt=1, folder="run", work="run/work", inputs=inputs)


def answered(examples: list[Example], target=AB) -> Answered:
    outputs = numpy.zeros(len(examples)) if not target.labels else numpy.tile([[0.9, 0.1]], (len(examples), 1))
    truth = target.encode([e.target for e in examples])
    return Answered(registry.of("table"), examples, outputs, truth, target.known(truth), target)


def test_rows_without_a_label_have_answers_and_the_others_labels(written):
    pairs = [("p1", ""), ("p2", ""), ("p3", "new"), ("p2", ""), ("", "")]
    rows = [Example("t.csv", 2 + i, ("1",), label, id=own) for i, (own, label) in enumerate(pairs)]
    apart = LabelsApart()
    apart.add("labels.csv", [" p9 ", "p8", "", "p8"], ["b", "a", "a", "b"])
    found = written(lambda: by_id.of_prediction(spec(), answered(rows), [0, 1], apart))
    assert found is not None
    assert found["answers"] == {digest("p1"): "a"} and found["repeated"] == 1 and found["rows"] == 3
    assert found["labels"] == {digest("p3"): "new", digest("p9"): "b"}, "a label that the model does not know is an answer that was wrong"
    assert found["contradicting"] == 1 and found["listed"] == [digest("p1")] and found["form"] == "class"
    assert found == json.loads((Path(__file__).with_name("ids.json")).read_text()), "which the service reads, too"


def test_files_are_known_by_their_id_in_clowder_and_their_labels_by_the_metadata(written):
    inputs = Input("a.png", "a", 1, "", id="file-1"), Input("b.png", "b", 1, "", id="file-2", label="b"), Input("c.zip", "c", 1, "", id="file-3")
    examples = [Example(name, 0, name, "") for name in ("a.png", "b.png", "c.zip/d.png")]
    found = written(lambda: by_id.of_prediction(spec(*inputs), answered(examples), [], LabelsApart()))
    assert found is not None
    assert found["answers"] == {digest("file-1", "file"): "a", digest("c.zip/d.png", "file"): "a"}
    assert found["labels"] == {digest("file-2", "file"): "b"}


@pytest.mark.parametrize(("target", "rows"), [(Tags(("a", "b")), [Example("t.csv", 2, "x", "", id="p1")]), (AB, [Example("t.csv", 2, "x", "")])])
def test_nothing_is_written_where_answers_are_not_compared_or_rows_have_no_id(written, target, rows):
    assert written(lambda: by_id.of_prediction(spec(), answered(rows, target), [], LabelsApart())) is None


def test_the_file_is_bounded_and_the_same_rows_are_taken_each_time(written, monkeypatch):
    monkeypatch.setattr(by_id, "ANSWERS", 10)
    rows = [Example("t.csv", 2 + i, ("1",), "", id=str(i)) for i in range(100)]
    number = Number(0.0, 1.0)
    first = written(lambda: by_id.of_prediction(spec(), answered(rows, number), [], LabelsApart()))
    other = written(lambda: by_id.of_prediction(spec(), answered(rows[::-1], number), [], LabelsApart()))
    assert first is not None and other is not None and first["answers"] == other["answers"] and len(first["answers"]) == 10 and first["rows"] == 100
    assert first["form"] == "number" and set(first["answers"].values()) == {"0"}


def test_ids_that_no_setting_names_are_not_compared_with_those_of_other_tables(written):
    rows = [Example("t.csv", 2 + i, ("1",), "", id=str(i)) for i in range(3)]
    assert written(lambda: by_id.of_prediction(spec(), answered(rows, Number(0.0, 1.0)), [], LabelsApart(), compared=False)) is None


def test_labels_that_come_later_have_the_digests_of_the_rows_that_were_predicted(make_run, schemas):
    head, *rows = csv.reader(io.StringIO(flowers(90)))
    first = make_run({"rows.csv": table(["plant", *head], [[f"p{i}", *r] for i, r in enumerate(rows[:60])])}, model="linear", id_column="plant")
    assert run(str(first), "local") == 0
    trained = json.loads((first.parent / by_id.FILE).read_text())
    assert len(trained["labels"]) == 60 and trained["answers"] == {}

    def ask(name: str, content: str) -> tuple[dict, dict]:
        model = os.path.relpath(first.parent / "out" / "model", first.parents[1] / name)
        asked = make_run({"new.csv": content}, run=name, kind="predict", id_column="Plant", more={"model": {"path": model, "run": "ft-test"}})
        assert run(str(asked), "local") == 0
        result = check_files(asked.parent, schemas)
        assert len(predictions(asked.parent)) == result["prediction"]["rows"]
        return result, json.loads((asked.parent / by_id.FILE).read_text())

    later = rows[60:]
    _, asked = ask("pr-rows", table(["plant", *head[:-1]], [[f"n{i}", *r[:-1]] for i, r in enumerate(later)]))
    result, labels = ask("pr-labels", table(["plant", head[-1]], [[f"n{i}", r[-1]] for i, r in enumerate(later)]))
    assert set(asked["answers"]) == set(labels["labels"]) and len(labels["labels"]) == 30
    right = sum(asked["answers"][key] == label for key, label in labels["labels"].items())
    assert right >= 27, "the labels are those of the answers"
    assert result["prediction"]["rows"] == 0 and result["prediction"]["files"] == ["new.csv"]
