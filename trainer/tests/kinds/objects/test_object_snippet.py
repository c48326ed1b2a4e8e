"""The lines of Python for users of a model answer as the trainer does: whole pictures and windows, colours and bands."""

import json
import shutil

import numpy
import pytest
import tifffile
import torch
from conftest import ROOT
from small_datasets import png

from trainer.core.example import Example
from trainer.data.pictures.bands import Bands
from trainer.kinds.objects import network, truth as truths
from trainer.kinds.objects.encoder import Encoder
from trainer.kinds.objects.pictures import Canvas
from trainer.kinds.objects.target import Objects

CODE = (ROOT / "trainer/kinds/objects/snippets/objects.py").read_text()


@pytest.mark.parametrize(
    ("canvas", "scale", "side", "outlined"),
    [(Canvas(96, 128), 0.0, (80, 120), True), (Canvas(64, 64, True), 0.9, (150, 210), True), (Canvas(64, 64, True), 1.0, (40, 90), False)],
)
@pytest.mark.parametrize("bands", [None, Bands(5, "uint16", (100.0,) * 5, (4000.0,) * 5)])
def test_a_picture_is_answered_as_by_the_trainer(canvas, scale, side, outlined, bands, tmp_path, monkeypatch):
    chance = numpy.random.default_rng(2)
    if bands is None:
        file, data = tmp_path / "a picture.png", png(chance.integers(0, 255, (*side, 3), numpy.uint8))
        file.write_bytes(data)
    else:
        file = tmp_path / "a picture.tif"
        pixels = chance.integers(0, 5000, (*side, 5)).astype(numpy.uint16)
        tifffile.imwrite(file, pixels, photometric="minisblack", planarconfig="contig")
    described = {
        "canvas": [canvas.height, canvas.width, canvas.window], "scale": scale, "typical": 9.0, "outlined": outlined,
        **(bands.described() if bands else {}),
    }  # fmt: skip
    encoder, target = Encoder(described, ("a", "b"), None), Objects(("a", "b"), 100, 0.02, outlined)
    torch.manual_seed(1)
    model = network.Detector(5 if bands else 3, 2, 9.0, canvas, outlined).eval()
    torch.nn.init.normal_(model.last.weight, std=0.3)
    folder = tmp_path / "model"
    network.save(model, folder)
    encoder.save(folder)
    (folder / "trainer.json").write_text(json.dumps({"target": target.described()}))
    rows = encoder.encode([Example(file.name, 0, file, "")], truths.array([truths.read("", ())]), "test")
    batch = rows.features.batch(numpy.zeros(1, int))
    with torch.inference_mode():
        logits = model(torch.from_numpy(batch["pixels"]), places=torch.from_numpy(batch["places"])).logits
    right = target.boxes(target.of_logits(logits.numpy())[0]).sure(target.threshold)
    monkeypatch.chdir(tmp_path)
    shutil.copy(file, "a picture of yours.png")
    names: dict = {}
    exec(compile(CODE, "objects", "exec"), names)
    said = names["predict"](file)
    assert 0 < len(said) == len(right)
    assert [o["score"] for o in said] == pytest.approx(right.scores, abs=1e-4)
    assert [o["label"] for o in said] == [target.labels[c] for c in right.classes]
    assert numpy.stack([o["box"] for o in said]) == pytest.approx(right.boxes, abs=0.05)
    if outlined:
        assert numpy.stack([o["outline"] for o in said]) == pytest.approx(numpy.stack(right.outlines), abs=0.05)
