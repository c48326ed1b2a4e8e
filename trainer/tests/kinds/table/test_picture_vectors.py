"""Columns of tables that name pictures, which an installed model of pictures reads: what it computes, when its vectors are used, and that a delivered
model answers alike everywhere."""

import base64
import contextlib
import csv
import io
import json
import random
import shutil

import numpy
import pytest
from conftest import ROOT, events_of
from picture_models import install
from result_checks import check_success, error_of
from small_datasets import png, table

from trainer import parted
from trainer.answer.model import Model
from trainer.answer.rows import Refused
from trainer.data.pictures import named
from trainer.errors import UserError
from trainer.kinds.derived.vectors import Vectors
from trainer.models import resnet
from trainer.models.weights import Unusable, Weights, configuration
from trainer.run import run

SHAPES = {
    "basic": {"layer_type": "basic", "depths": [2, 1], "hidden_sizes": [8, 16], "embedding_size": 8},
    "bottleneck": {"layer_type": "bottleneck", "depths": [1, 2], "hidden_sizes": [16, 32], "embedding_size": 8},
    "as others place the steps": {
        "layer_type": "bottleneck", "depths": [1, 1], "hidden_sizes": [16, 32], "embedding_size": 8, "downsample_in_bottleneck": True,
        "downsample_in_first_stage": True,
    },
}  # fmt: skip


@pytest.mark.parametrize("side", [32, 45])
@pytest.mark.parametrize("shape", SHAPES)
def test_the_vectors_are_those_of_transformers(shape, side, tmp_path):
    import torch
    import transformers

    torch.manual_seed(1)
    theirs = transformers.ResNetModel(transformers.ResNetConfig(**SHAPES[shape])).eval()
    with torch.no_grad():
        for weight in (*theirs.parameters(), *theirs.buffers()):
            if weight.is_floating_point():
                weight.add_(0.3 * torch.rand_like(weight))
    theirs.save_pretrained(tmp_path)
    ours = resnet.Encoder(configuration(tmp_path), Weights(tmp_path))
    pixels = numpy.random.default_rng(1).normal(size=(side, side, 3)).astype(numpy.float32)
    with torch.no_grad():
        said = theirs(torch.from_numpy(pixels.transpose(2, 0, 1)[None])).pooler_output.flatten().numpy()
    assert numpy.allclose(ours.vector(pixels), said, rtol=1e-4, atol=1e-5)


UNUSABLE = {
    "other shapes than the weights": ({"hidden_sizes": [16, 25]}, "in its weights, and its config.json says"),
    "more layers than weights": ({"depths": [1, 2]}, "lacks encoder.stages.1.layers.1."),
    "another activation": ({"hidden_act": "silu"}, "another activation"),
    "other layers": ({"layer_type": "wide"}, "other layers"),
    "no list": ({"depths": 2}, "no list depths"),
    "a size below 1": ({"hidden_sizes": [16, 0]}, "whole number"),
}


@pytest.mark.parametrize("name", UNUSABLE)
def test_a_model_that_cannot_be_computed_says_why(name, tmp_path):
    changed, why = UNUSABLE[name]
    folder = install(tmp_path)
    with pytest.raises(Unusable, match=why.replace(".", r"\.")):
        resnet.Encoder(configuration(folder) | changed, Weights(folder))


ROWS, SIDE = 300, 32
COLUMNS = ["photo", "x", "outcome"]
ASKED = {"label_column": "outcome", "task": "tabular-classification", "model": "linear"}


def pixels(is_red_first: bool, draw: numpy.random.Generator) -> numpy.ndarray:
    """A red bar left of a green one, or right of it, anywhere: colours, brightness and edges of both are alike."""
    found = draw.normal(120, 8, (SIDE, SIDE, 3))
    left, top = draw.integers(0, SIDE - 12), draw.integers(0, SIDE - 14)
    for at, colour in ((left, 0 if is_red_first else 1), (left + 6, 1 if is_red_first else 0)):
        found[top : top + 14, at : at + 6, colour] += 90
    return numpy.clip(found, 0, 255).astype(numpy.uint8)


def photos(rows: int = ROWS) -> dict[str, bytes | str]:
    """The outcome is whether red is left of green, or x is large. One cell names no picture, and one a file that is none."""
    chance, draw = random.Random(3), numpy.random.default_rng(3)
    found: dict[str, bytes | str] = {}
    lines = []
    for i in range(rows):
        is_red_first, x = chance.random() < 0.5, chance.gauss(0, 1)
        name = "gone.png" if i == 4 else f"plot{i}.png"
        if i != 4:
            found[name] = b"no picture" if i == 11 else png(pixels(is_red_first, draw))
        lines.append([name, round(x, 2), "yes" if is_red_first or x > 1 else "no"])
    return {**found, "photos.csv": table(COLUMNS, lines)}


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    return tmp_path_factory.mktemp("vectors")


@pytest.fixture
def finished(kept, make_run):
    """The folder of a training that delivers a model with vectors."""
    if not (kept / "run").exists():
        spec = make_run(photos(), **ASKED)
        install(spec.parents[2] / "models")
        assert run(str(spec), "local") == 0
        shutil.copytree(spec.parent, kept / "run")
        shutil.copytree(spec.parents[2] / "models", kept / "models")
    return kept / "run"


def _asked(photo: bytes | str, x: float) -> list[dict]:
    sent = base64.b64encode(photo).decode() if isinstance(photo, bytes) else photo
    return [{"name": "photo", "shape": [1], "datatype": "BYTES", "data": [sent]}, {"name": "x", "shape": [1], "datatype": "FP64", "data": [x]}]


def test_vectors_that_help_are_used_and_answer_alike_everywhere(finished, kept, schemas, make_run, monkeypatch):
    result, folder = check_success(finished, schemas), finished / "out" / "model"
    said = [(e["what"], e["choice"], e["why"]) for e in events_of(finished) if e["kind"] == "decision"]
    assert ("picture_vectors", "org/eyes") in [s[:2] for s in said]
    assert any(why.startswith("The vectors by org/eyes of the picture column photo are used: the loss on held-out rows is ") for *_, why in said)
    assert next(s["value"] for s in result["settings"] if s["name"] == "picture_vectors") == "org/eyes"
    column = next(c for c in json.loads((folder / "config.json").read_text())["columns"] if c["name"] == "photo")
    assert column["type"] == "picture" and column["vectors"]["encoder"]["name"] == "org/eyes" and column["vectors"]["encoder"]["commit"] == "c" * 40
    with pytest.raises(Refused, match="the installed model org/eyes, which is not installed here"):
        Model(folder)
    model = Model(folder, kept / "models")
    assert [c["name"] for c in model.described()["inputs"] if "parameters" in c] == ["photo"]
    given = photos()
    rows = [r for r in csv.DictReader(io.StringIO(given["photos.csv"])) if r["photo"] in given and r["photo"] != "plot11.png"][:20]
    examples = [model.form.examples(_asked(given[r["photo"]], float(r["x"])))[0] for r in rows]
    together = model._answers.outputs(examples)
    assert numpy.allclose(numpy.concatenate([model._answers.outputs([e]) for e in examples]), together, rtol=1e-5)
    version = {"path": "../../registry/model", "run": "ft-test", "name": "model", "version": 1}
    later = make_run(given, run="ft-later", kind="predict", more={"model": version})
    shutil.copytree(folder, later.parents[2] / "registry" / "model")
    shutil.copytree(kept / "models", later.parents[2] / "models", dirs_exist_ok=True)
    monkeypatch.setattr(parted.rows, "LEAST", 100)
    monkeypatch.setattr(parted, "Parted", None)  # many rows are answered in this process, which knows the pictures
    assert run(str(later), "local") == 0
    answers = {int(a["row"]) - 1: a["predicted"] for a in csv.DictReader(io.StringIO((later.parent / "out" / "predictions.csv").read_text()))}
    numbers = {r["photo"]: i for i, r in enumerate(csv.DictReader(io.StringIO(given["photos.csv"])), 1)}
    assert [answers[numbers[r["photo"]]] for r in rows] == [model.labels[i] for i in together.argmax(axis=1)]
    part = next(p for p in model._answers.parts if isinstance(p, Vectors))
    named = part.values([r["photo"] for r in rows])  # which the prediction told of
    part.reader.kept.clear()
    assert numpy.array_equal(part.values([e.content[-1] for e in examples]), named)
    assert numpy.isnan(part.values(["gone.png", "plot11.png", ""])).all()
    with pytest.raises(UserError, match="other is not at hand"):
        part.values(["other"])
    for cell, why in (("plot1.png", "string in base64"), (b"no picture", "cannot be decoded")):
        with pytest.raises(Refused, match=why):
            model.answer(_asked(cell, 0.0))
    monkeypatch.chdir(kept / "models")
    shutil.copytree(folder, kept / "models" / "model", dirs_exist_ok=True)
    for r in rows:
        (kept / "models" / r["photo"]).write_bytes(given[r["photo"]])
    (kept / "models" / "a table of yours.csv").write_text(table(COLUMNS, [[r[c] for c in COLUMNS] for r in rows[:1]]))
    names: dict = {}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile((ROOT / "trainer" / "kinds" / "table" / "snippets" / "columns.py").read_text(), "columns", "exec"), names)
    assert [names["predict"](row) for row in rows] == [model.labels[i] for i in together.argmax(axis=1)]


def test_a_prediction_needs_the_same_installed_model(finished, kept, make_run, tmp_path):
    version = {"path": "../../registry/model", "run": "ft-test", "name": "model", "version": 1}
    shared = tmp_path / "shared"
    shutil.copytree(finished / "out" / "model", shared / "registry" / "model")
    install(shared / "models", seed=2)
    spec = make_run(photos(20), run="ft-ask", kind="predict", more={"model": version})
    assert run(str(spec), "local") == 2
    error = error_of(spec.parent)
    assert error["code"] == "installed_model_missing" and "reads pictures with the installed model org/eyes, which has other files" in error["what"]


def test_a_name_is_the_file_that_was_told_last(tmp_path):
    for content in (b"a", b"b"):
        (tmp_path / f"{content.decode()}.png").write_bytes(content)
    keys = []
    for file in (tmp_path / "a.png", tmp_path / "b.png", None):
        named.remember([" x.png "], [file])
        assert named.picture("x.png") == file
        keys.append(named.key("x.png"))
    assert keys[0] != keys[1] and keys[2] == ""
    named.remember(["x.png"], [tmp_path / "gone.png"])
    assert named.key("x.png") == ""
    assert named.picture(base64.b64encode(b"a picture").decode()).read() == b"a picture"


OPTIONS = {
    "none": ({"picture_vectors": "none"}, 0, ""),
    "a name that is not installed": ({"picture_vectors": "org/other"}, 2, "model_not_installed"),
    "a network": ({"picture_vectors": "org/eyes", "model": "mlp"}, 2, "model_unusable"),
    "a model that is not computed": ({}, 0, "are not tried: it is of the type vit"),
}


@pytest.mark.parametrize("name", OPTIONS)
def test_vectors_that_are_not_tried_are_said(name, make_run):
    options, ends, told = OPTIONS[name]
    spec = make_run(photos(80), dry_run=True, **{**ASKED, **options})
    folder = install(spec.parents[2] / "models")
    if "vit" in told:
        (folder / "config.json").write_text(json.dumps({"model_type": "vit", "architectures": ["ViTModel"]}))
    assert run(str(spec), "local") == ends
    said = [e["why"] for e in events_of(spec.parent) if e.get("what") == "picture_vectors"]
    if ends:
        assert error_of(spec.parent)["code"] == told
    else:
        assert said == [] if not told else told in said[0]
