"""Whole runs on pictures with masks: trained, reported, answered for other pictures, and by the lines of Python for users."""

import base64
import io
import shutil

import numpy
import pytest
import tifffile
from conftest import ROOT, events_of
from PIL import Image
from result_checks import check_files, check_training, predictions, result_of
from small_datasets import masked, png

from trainer.answer.model import Model
from trainer.run import run


@pytest.fixture(scope="module")
def network() -> dict:
    return {"model": "pixels-unet", "epochs": 6, "batch_size": 8}


def test_squares_are_learnt_reported_and_answered(make_run, schemas, network, monkeypatch):
    spec = make_run(masked(40), run="ft-masks", **network)
    assert run(str(spec), "local") == 0
    result = check_training(spec.parent, schemas)
    test = result["metrics"]["test"]
    assert test["mean_iou"]["value"] > 0.9
    simple = {b["name"]: b["test"] for b in result["metrics"]["baselines"]}
    assert simple["constant"]["mean_iou"]["value"] < 0.6 < simple["forest"]["mean_iou"]["value"]
    assert simple["forest"]["mean_iou"]["n"] == test["mean_iou"]["n"]
    blocks = {b["title"]: b for s in result["sections"] for b in s["blocks"] if "title" in b}
    assert len(blocks["Classes in the test data"]["rows"]) == 2
    worst = blocks["Windows with the most wrong answers"]
    drawn = Image.open(io.BytesIO(base64.b64decode(worst["pictures"][0]["png"])))
    assert drawn.width > 3 * 60
    assert "orange is object" in " ".join(worst["text"]).lower()
    model = {"path": "../ft-masks/out/model", "run": "ft-masks", "name": "m", "version": 1}
    asked = make_run(masked(3), run="pr-masks", kind="predict", more={"model": model})
    assert run(str(asked), "local") == 0
    answered = check_files(asked.parent, schemas)
    assert answered["prediction"]["scores"]["mean_iou"]["value"] > 0.9
    answers = [a["path"] for a in answered["artifacts"] if a["path"].startswith("out/answers/")]
    assert sorted(answers) == [f"out/answers/images/plot-{i:03d}.png" for i in range(3)]
    with Image.open(asked.parent / "out" / "answers" / "images" / "plot-000.png") as image:
        said = numpy.asarray(image)
    right = numpy.asarray(Image.open(io.BytesIO(masked(3)["masks/plot-000.png"])))
    assert (said == right).mean() > 0.95
    assert {row["class"] for row in predictions(asked.parent)} == {"background", "object"}
    alone = Model(spec.parent / "out" / "model").answer(
        [{"name": "image", "datatype": "BYTES", "shape": [1], "data": [base64.b64encode(masked(3)["images/plot-000.png"]).decode()]}]
    )
    assert (numpy.asarray(Image.open(io.BytesIO(base64.b64decode(alone[1]["data"][0])))) == said).mean() > 0.999
    picture = asked.parent / "inputs" / "images" / "plot-000.png"
    foreign = masked(12, values=(3, 7)) | {"masks/plot-011.png": png(numpy.full((20, 20), 3, numpy.uint8))}
    asked = make_run(foreign, run="pr-foreign", kind="predict", more={"model": model})
    assert run(str(asked), "local") == 0
    answered = check_files(asked.parent, schemas)
    assert not answered["prediction"].get("scores")
    assert {"masks_unused", "labels_unused"} <= {w["code"] for w in answered["warnings"]}
    names = use_snippet(spec.parent / "out", picture, monkeypatch)
    assert (names["answer"] == said // 255).mean() > 0.999
    assert (numpy.asarray(Image.open(spec.parent / "out" / "the mask.png")) == names["answer"]).all()


def use_snippet(folder, picture, monkeypatch, lines: str = "pixels") -> dict:
    """What the lines of Python for users name, run beside a delivered model with one picture."""
    monkeypatch.chdir(folder)
    shutil.copy(picture, "a picture of yours.png")
    names: dict = {}
    exec(compile((ROOT / f"trainer/kinds/pixels/snippets/{lines}.py").read_text(), "pixels", "exec"), names)
    return names


def heights(count=30, side=64):
    """Pictures of slopes of five bands of 16 bits, and the heights of their pixels."""
    chance = numpy.random.default_rng(3)
    found = {}
    for i in range(count):
        height = numpy.linspace(0, chance.uniform(5, 15), side)[None] + numpy.linspace(0, chance.uniform(5, 15), side)[:, None]
        bands = [1000 + 300 * (b + 1) * height + chance.normal(0, 50, (side, side)) for b in range(5)]
        for name, pixels in (("images", numpy.stack(bands, axis=2).astype(numpy.uint16)), ("heights", height.astype(numpy.float32))):
            data = io.BytesIO()
            tifffile.imwrite(data, pixels, photometric="minisblack", **({"planarconfig": "contig"} if pixels.ndim > 2 else {}))
            found[f"{name}/t{i}.tif"] = data.getvalue()
    return found


def test_heights_are_learnt_in_their_unit(make_run, schemas, network, monkeypatch):
    spec = make_run(heights(), run="ft-heights", **network | {"epochs": 15})
    assert run(str(spec), "local") == 0
    result = check_training(spec.parent, schemas)
    assert result["task"] == "pixel-regression" and result["unit"] == "picture"
    assert result["metrics"]["test"]["r2"]["value"] > 0.8
    assert "bands" in {e.get("what") for e in events_of(spec.parent)}
    model = {"path": "../ft-heights/out/model", "run": "ft-heights", "name": "m", "version": 1}
    asked = make_run({n: d for n, d in heights(3).items() if "images" in n}, run="pr-heights", kind="predict", more={"model": model})
    assert run(str(asked), "local") == 0
    predicted = result_of(asked.parent)["prediction"]
    assert predicted["rows"] == 3 and predicted["unit"] == "picture"
    said = tifffile.imread(asked.parent / "out" / "answers" / "images" / "t0.tif")
    right = tifffile.imread(io.BytesIO(heights(3)["heights/t0.tif"]))
    assert numpy.abs(said - right).mean() < 4
    names = use_snippet(spec.parent / "out", asked.parent / "inputs" / "images" / "t0.tif", monkeypatch)
    assert names["answer"] == pytest.approx(said, abs=1e-2)
