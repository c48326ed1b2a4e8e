"""Trainings on annotated pictures from the files to the report: the model is good, and what is said about it is true."""

import base64
import csv
import io
import json
import shutil

import annotated_files as made
import numpy
import pytest
from conftest import ROOT
from PIL import Image
from result_checks import blocks_of, check_files, check_training, predictions, result_of

from trainer.run import run

OPTIONS = {"model": "small-detector", "batch_size": 8}


@pytest.fixture(scope="module")
def scenes():
    return made.scenes(120, 5)


@pytest.fixture
def trained(scenes, make_run, schemas):
    files = {**made.pictures(scenes), "instances.json": json.dumps(made.coco(scenes, "boxes"))}
    spec = make_run(files, epochs=6, **OPTIONS)
    assert run(str(spec), "local") == 0
    return spec.parent, check_training(spec.parent, schemas)


def test_a_training_finds_discs_and_squares(trained, scenes, make_run, schemas, tmp_path, monkeypatch):
    folder, result = trained
    test = result["metrics"]["test"]
    assert test["ap50"]["value"] > 0.85
    assert test["count_error"]["value"] < 0.8
    constant, simple = (b["test"]["ap50"]["value"] for b in result["metrics"]["baselines"])
    assert max(constant, simple) < test["ap50"]["low"], "the simple models are worse"
    _check_sections(result)
    _check_documents(folder, scenes)
    _check_counts(folder, result)
    check_snippet(folder, monkeypatch)
    _check_prediction(folder, make_run, schemas, tmp_path)


def _check_counts(folder, result) -> None:
    """The table of counts has all labels of all pictures with intervals, which are those of the table of objects and of the report."""
    counted = list(csv.DictReader((folder / "out" / "counts.csv").read_text().splitlines()))
    pictures = {row["file"]: row for row in predictions(folder)}
    assert len(counted) == len(pictures) * (len(made.CLASSES) + 1)
    for row in counted:
        assert int(row["low"]) <= int(row["objects"]) <= int(row["high"])
        if row["label"] == "all":
            mine = pictures[row["file"]]
            assert [row[c] for c in ("low", "high", "annotated")] == [mine[c] for c in ("low", "high", "annotated")]
    inside = [int(r["low"]) <= int(r["annotated"]) <= int(r["high"]) for r in counted]
    facts = {f["name"]: f["value"] for f in blocks_of(result, "How sure answers are")[0]["facts"]}
    assert facts["Promised"] == "90 % of counts of pictures"
    assert facts["On the test pictures"].startswith(f"{100 * round(numpy.mean(inside), 3):.4g} % of {len(inside)} counts of pictures (95 % interval ")


def check_snippet(folder, monkeypatch) -> None:
    """The lines of Python for users find what the table and the file of the training have."""
    document = json.loads((folder / "out" / "objects.json").read_text())
    lines = predictions(folder)
    monkeypatch.chdir(folder / "out")
    file = next(line["file"] for line in lines if line["object"])
    shutil.copy(folder / "inputs" / file, "a picture of yours.png")
    names: dict = {}
    exec(compile((ROOT / "trainer/kinds/objects/snippets/objects.py").read_text(), "objects", "exec"), names)
    for image in document["images"]:
        said = names["predict"](folder / "inputs" / image["file_name"])
        right = [line for line in lines if line["file"] == image["file_name"] and line["object"]]
        assert [o["label"] for o in said] == [r["label"] for r in right]
        assert [o["score"] for o in said] == pytest.approx([float(r["score"]) for r in right], abs=0.002)
        for mine, line in zip(said, right):
            assert mine["box"] == pytest.approx([float(line[side]) for side in ("left", "top", "right", "bottom")], abs=0.1)
        stored = [a for a in document["annotations"] if a["image_id"] == image["id"] and "segmentation" in a]
        for mine, entry in zip(said, stored):
            assert mine["outline"].ravel() == pytest.approx(entry["segmentation"][0], abs=0.1)


def _check_sections(result) -> None:
    (section,) = [s for s in result["sections"] if s["title"] == "Objects"]
    blocks = {b.get("title", ""): b for b in section["blocks"]}
    rows = {row[0]["text"]: [c["value"] for c in row[1:]] for row in blocks[""]["rows"]}
    assert set(rows) == set(made.CLASSES)
    assert min(values[0] for values in rows.values()) > 0.7
    assert [row[0]["text"] for row in blocks["By size of the objects"]["rows"]] == ["small", "medium", "large"]
    assert blocks["By size of the objects"]["rows"][0][1]["value"] > 0.7, "all objects are small"
    assert {row[0]["text"]: row[3]["value"] for row in blocks["Counts"]["rows"]}.keys() == {*made.CLASSES, "all"}
    assert blocks["Counts by picture"]["rows"]
    worst = blocks["The worst test pictures"]["pictures"]
    typical = blocks["Typical test pictures"]["pictures"]
    assert 6 <= len(worst) <= 12 and 6 <= len(typical) <= 12
    for picture in (*worst, *typical):
        Image.open(io.BytesIO(base64.b64decode(picture["png"]))).verify()
    found = [o for p in (*worst, *typical) for o in p.get("overlays", ()) if o.get("mark") == "right"]
    assert found, "boxes that are right are shown"
    for picture in typical:
        shown = numpy.asarray(Image.open(io.BytesIO(base64.b64decode(picture["png"]))).convert("RGB")).astype(int)
        for o in picture.get("overlays", ()):
            if o.get("mark") == "right":
                y, x = int((o["top"] + o["height"] / 2) * shown.shape[0]), int((o["left"] + o["width"] / 2) * shown.shape[1])
                assert numpy.ptp(shown[y, x]) > 60, "the middle of a right box has the colour of an object and not that of the ground"


def _check_documents(folder, scenes) -> None:
    document = json.loads((folder / "out" / "objects.json").read_text())
    there = {s.name: s for s in scenes}
    for image in document["images"]:
        assert (image["width"], image["height"]) == (made.WIDTH, made.HEIGHT)
        assert image["file_name"] in there
    from pycocotools.coco import COCO

    opened = COCO(str(folder / "out" / "objects.json"))
    assert set(opened.getImgIds()) == {i["id"] for i in document["images"]}
    lines = predictions(folder)
    assert {line["file"] for line in lines} == {i["file_name"] for i in document["images"]}
    for line in lines:
        assert int(line["annotated"]) == len(there[line["file"]].things)


def _check_prediction(folder, make_run, schemas, tmp_path) -> None:
    """New pictures with annotations are answered and scored, those without are answered."""
    kept = tmp_path / "shared" / "registry" / "model"
    shutil.copytree(folder / "out" / "model", kept)
    version = {"path": "../../registry/model", "run": "ft-test", "name": "model", "version": 1}
    new = made.scenes(10, 77)
    files = {**made.pictures(new), **made.voc(new)}
    spec = make_run(files, run="pr-1", kind="predict", more={"model": version})
    assert run(str(spec), "local") == 0
    result = check_files(spec.parent, schemas)
    assert result["prediction"]["rows"] == 10
    assert result["prediction"]["scores"]["ap50"]["value"] > 0.8
    drawn = {b.get("title"): b for s in result["sections"] if s["title"] == "Objects" for b in s["blocks"]}
    assert [row[0]["text"] for row in drawn["By size of the objects"]["rows"]] == ["small", "medium", "large"]
    objects = sum(row[-1]["value"] for row in drawn["By size of the objects"]["rows"])
    assert objects == sum(len(s.things) for s in new) and "annotated pictures together" in drawn["Objects of each of the annotated pictures"]["note"]
    assert sum(result["prediction"]["counts"].values()) == pytest.approx(sum(len(s.things) for s in new), abs=4)
    assert (spec.parent / "out" / "objects.json").is_file()
    spec = make_run(made.pictures(new), run="pr-2", kind="predict", more={"model": version})
    assert run(str(spec), "local") == 0
    assert "scores" not in result_of(spec.parent)["prediction"]
    without = {b.get("title"): b for s in result_of(spec.parent)["sections"] if s["title"] == "Objects" for b in s["blocks"]}
    assert list(without) == ["Objects that are found", "What the model finds"]
    counts = {row[0]["text"]: row[1]["value"] for row in without["Objects that are found"]["rows"]}
    assert counts == result_of(spec.parent)["prediction"]["counts"]
    assert len(without["What the model finds"]["pictures"]) == 3
