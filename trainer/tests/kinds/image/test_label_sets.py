"""Pictures with several labels each: how they are found, trained, measured, delivered and used."""

import io
import json
import random
import re
import shutil

import numpy
import pytest
from PIL import Image, ImageDraw
from result_checks import blocks_of, check_success, predictions, result_of
from small_datasets import table
from test_data_load import load  # noqa: F401 - a fixture
from test_snippets import use  # noqa: F401 - a fixture

from trainer.core import registry
from trainer.errors import UserError
from trainer.kinds.label_sets.target import Labels
from trainer.run import run

TASK = "image-multi-label-classification"
COLOURS = {"blue": (30, 30, 220), "green": (30, 180, 30), "red": (220, 30, 30)}


def coloured(count: int = 100) -> dict[str, tuple[bytes, list[str]]]:
    """Pictures with squares of some colours, or of none, and these colours."""
    chance, found = random.Random(3), {}
    for i in range(count):
        picture = Image.new("RGB", (32, 32), tuple(chance.randint(200, 255) for _ in range(3)))
        labels = [colour for colour in COLOURS if chance.random() < 0.45]
        for colour in labels:
            x, y = chance.randint(0, 20), chance.randint(0, 20)
            ImageDraw.Draw(picture).rectangle((x, y, x + 10, y + 10), fill=COLOURS[colour])
        data = io.BytesIO()
        picture.save(data, "PNG")
        found[f"{i:03}.png"] = data.getvalue(), labels
    return found


def _with(listed: str, name: str = "list.csv", count: int = 100) -> dict:
    return {**{file: data for file, (data, _) in coloured(count).items()}, name: listed}


def separated(by: str = ";", column: str = "labels") -> dict:
    return _with(table(["file", column], [[file, by.join(labels) or "(none)"] for file, (_, labels) in coloured().items()]))


def as_lists() -> dict:
    return _with("".join(json.dumps({"file": f, "labels": labels}) + "\n" for f, (_, labels) in coloured().items()), "list.jsonl")


def in_columns(**more) -> dict:
    rows = [[file, *(int(c in labels) for c in COLOURS), *(v(i) for v in more.values())] for i, (file, (_, labels)) in enumerate(coloured().items())]
    return _with(table(["file", *COLOURS, *more], rows))


def in_rows(column: str = "label") -> dict:
    return _with(table(["file", column], [[file, label] for file, (_, labels) in coloured().items() for label in labels]))


@pytest.mark.parametrize(
    ("files", "why"),
    [
        pytest.param(separated("; "), "separated by semicolons", id="semicolons"),
        pytest.param(separated(",", "tags"), "separated by commas", id="commas"),
        pytest.param(separated("|", "colours"), "separated by bars", id="the only other column"),
        pytest.param(as_lists(), "a list of labels in each row", id="lists"),
        pytest.param(in_columns(), "beside the name of an image", id="columns of 0 and 1"),
        pytest.param(in_rows(), "one label in each row", id="a row for each label"),
    ],
)
def test_several_labels_are_found_with_a_reason(load, files, why):  # noqa: F811
    found = load(files)
    assert (found.task, found.kind.name, found.labels) == (TASK, "image", tuple(COLOURS))
    assert why in next(d["why"] for d in load.events.decisions if d["what"] == "label_column")
    truth = {file: "; ".join(labels) or "(none)" for file, (_, labels) in coloured().items()}
    rows = [e for examples in found.splits.values() for e in examples]
    assert {e.id: re.sub(r"( \||,)", ";", e.target) for e in rows} == {e.id: truth[e.id] for e in rows}
    assert len(rows) > 70


def _labelled_by(people: int) -> str:
    """A row for each picture and person, who mostly agree."""
    rows = [[f, "red" if (i + (i % 3 == 0 and p == 0)) % 2 else "blue"] for i, f in enumerate(coloured()) for p in range(people)]
    return table(["file", "label"], rows)


def _contradicting(count: int) -> str:
    """One label for each picture; ``count`` pictures have a second row with another."""
    listed = [[file, "red" if i % 2 else "blue"] for i, file in enumerate(coloured())]
    return table(["file", "label"], [*listed, *([file, "green" if i % 4 else "grey"] for i, (file, _) in enumerate(listed[:count]))])


def _objects() -> str:
    """A row for each square, with its place."""
    rows = [[file, label, i, 2 * i] for file, (_, labels) in coloured().items() for i, label in enumerate(labels)]
    return table(["file", "label", "left", "top"], rows)


@pytest.mark.parametrize(
    "listed",
    [
        pytest.param(table(["file", "label"], [[f, "ab"[i % 2]] for i, f in enumerate(coloured())]), id="one label each"),
        pytest.param(table(["file", "label"], [[f, "ab"[i % 2]] for i, f in enumerate(coloured()) for _ in range(2)]), id="each row twice"),
        pytest.param(_contradicting(8), id="a few contradictions"),
        pytest.param(_labelled_by(3), id="three people"),
        pytest.param(_objects(), id="a row for each object"),
        pytest.param(
            table(["file", "label"], [[f, ("Trinidad, Tobago", "Leisure, Sports")[i % 2]] for i, f in enumerate(coloured())]), id="a comma in a name"
        ),
    ],
)
def test_single_labels_stay_single(load, listed):  # noqa: F811
    assert load(_with(listed)).task == "image-classification"


def test_a_class_beside_columns_of_yes_and_no_is_not_hidden_by_them(load):  # noqa: F811
    found = load(in_columns(label=lambda i: ("day", "night")[i % 2]))
    assert (found.task, found.labels) == ("image-classification", ("day", "night"))


def test_labels_in_metadata_are_several(load):  # noqa: F811
    pictures = coloured()
    labels = {file: ";".join(labels) for file, (_, labels) in pictures.items() if labels}
    found = load({file: data for file, (data, _) in pictures.items()}, label_from="metadata.colours", labels=labels)
    assert (found.task, found.labels, found.label_column) == (TASK, tuple(COLOURS), "metadata.colours")


def test_the_task_can_be_asked_for(load):  # noqa: F811
    listed = table(["file", "label"], [[f, "ab"[i % 2] + (";a" if i == 5 else "")] for i, f in enumerate(coloured())])
    assert load(_with(listed), task=TASK).labels == ("a", "b")
    with pytest.raises(UserError) as refused:
        load(_with(table(["file", "label"], [[f, "ab"[i % 2]] for i, f in enumerate(coloured())])), task=TASK)
    assert refused.value.code == "no_label_sets"


def test_a_network_predicts_from_the_thresholds_that_validation_rows_decide():
    target = Labels(("a", "b"))
    odds = numpy.asarray([[-1.0, -3.0], [-1.2, 2.0], [-4.0, 3.0]], numpy.float32)
    truth = numpy.asarray([[1, 0], [1, 1], [0, 1]])
    before = {"validation": target.answers(target.of_logits(odds), truth)}
    assert before["validation"].predicted.tolist() == [[False, False], [False, True], [False, True]]
    decided, after = target.decided(before)
    assert (after["validation"].predicted == (truth > 0)).all()
    assert (target.answers(decided.of_logits(odds), truth).predicted == (truth > 0)).all()
    assert registry.restored(decided.described()) == decided != target
    assert numpy.allclose(after["validation"].probabilities, before["validation"].probabilities)
    nothing = {"validation": target.answers(numpy.zeros((0, 4)), numpy.zeros((0, 2)))}
    assert target.decided(nothing) == (target, nothing)
    with pytest.raises(ValueError, match="thresholds"):
        registry.restored({**decided.described(), "thresholds": [0.5]})


def test_the_loss_is_the_cross_entropy_of_the_labels():
    import torch

    target, logits = Labels(("a", "b")), torch.tensor([[0.0, 4.0], [-4.0, 0.0]])
    truth = numpy.asarray([[1, 1], [0, 1]])
    answers = target.answers(target.read(logits, None, True), truth)
    assert float(target.loss(logits, truth, None, 0.0)) == pytest.approx(answers.losses().sum(), rel=1e-5)


def test_a_model_is_trained_measured_and_used(make_run, schemas, use):  # noqa: F811
    spec = make_run(separated(), run="ft-earlier", epochs=30)
    assert run(str(spec), "local") == 0
    result = check_success(spec.parent, schemas)
    assert (result["task"], result["metric"], result["model"]["base"]) == (TASK, "f1_micro", "small-cnn")
    assert result["metrics"]["test"]["f1_micro"]["value"] > 0.7
    assert [b["name"] for b in result["metrics"]["baselines"]] == ["constant", "linear"]
    shown = blocks_of(result, "Labels")[0]
    assert [row[0]["text"] for row in shown["rows"]] == ["all", *COLOURS]
    assert "linear model on coarse pixels" in shown["text"][0]
    out = spec.parent / "out"
    described = json.loads((out / "model" / "trainer.json").read_text())["target"]
    assert [row[5]["value"] for row in shown["rows"][1:]] == described["thresholds"]
    assert (out / "model" / "model.onnx").is_file()
    assert json.loads((out / "model" / "config.json").read_text())["problem_type"] == "multi_label_classification"

    rows, inputs = predictions(spec.parent), spec.parent / "inputs"
    assert result["usage"]["snippet"] == "image/image_labels"
    (out / "a picture of yours.png").write_bytes((inputs / rows[0]["content"]).read_bytes())
    names, _ = use("image_labels", out)
    said = ["; ".join(sorted(a["label"] for a in names["predict"](str(inputs / r["content"])))) or "(none)" for r in rows]
    assert said == [r["predicted"] for r in rows]

    stored = spec.parent.parent.parent / "registry" / "colours"
    shutil.copytree(out / "model", stored)
    model = {"path": "../../registry/colours", "run": "ft-earlier", "name": "colours", "version": 1}
    again = make_run(separated(), run="pr-1", kind="predict", more={"model": model})
    assert run(str(again), "local") == 0
    assert set(result_of(again.parent)["prediction"]["counts"]) == set(COLOURS)
    by_file = {r["file"]: r["predicted"] for r in predictions(again.parent)}
    assert all(by_file[r["content"]] == r["predicted"] for r in rows)
    _check_single_answers(stored, inputs, rows)

    later = make_run(separated(), run="ft-later", epochs=1, more={"champion": model})
    assert run(str(later), "local") == 0
    champion = result_of(later.parent)["champion"]
    assert (champion["comparable"], champion["test"]["f1_micro"]["value"]) == (True, result["metrics"]["test"]["f1_micro"]["value"])


def _check_single_answers(folder, inputs, rows) -> None:
    """The model answers rows one by one as it answers datasets."""
    import base64

    from trainer.answer.model import Model

    model = Model(folder)
    data = [base64.b64encode((inputs / r["content"]).read_bytes()).decode() for r in rows[:5]]
    label, probability = model.answer([{"name": "image", "datatype": "BYTES", "shape": [5], "data": data}])
    assert (label["data"], probability["shape"]) == ([r["predicted"] for r in rows[:5]], [5, 3])
