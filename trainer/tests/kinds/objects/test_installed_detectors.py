"""Installed detectors of transformers: small ones with random weights, which the tests make."""

import json

import annotated_files
import numpy
import pytest
import torch
import vision_models
from conftest import ROOT, events_of
from result_checks import check_training, error_of
from small_datasets import png

from trainer.core.example import Example
from trainer.core.plan import Plan
from trainer.errors import UserError
from trainer.kinds.objects import decoding, installed, network, outlines, rendering, truth as truths
from trainer.kinds.objects.encoder import Encoder
from trainer.kinds.objects.kind import ObjectsInPictures
from trainer.kinds.objects.pictures import Canvas, Pictures
from trainer.kinds.objects.target import Objects
from trainer.models.catalogue import Base
from trainer.run import run

FAMILIES = ("detr", "conditional_detr", "deformable_detr", "rt_detr")
CANVAS = [64, 96, False]


@pytest.fixture
def plan(tmp_path):
    """plan(name, model, bands) is what a detector is built by, for two labels."""

    def of(name: str, model, bands: int = 3, outlined: bool = False) -> Plan:
        folder = vision_models.install(tmp_path / name, model)
        base = Base(name, "objects", folder, 1, fresh=False)
        shape = {"bands": bands, "canvas": CANVAS, "typical": 8.0}
        target = Objects(("a", "b"), 10, outlined=outlined)
        return Plan("", 1, "", "", ObjectsInPictures(), "object-detection", target, base, shape, {}, None, "ap", None, "", None)

    return of


@pytest.mark.parametrize(("family", "bands"), [*((f, 3) for f in FAMILIES), ("detr", 5)])
def test_a_detector_learns_by_its_own_loss_and_answers_in_pixels_of_the_picture(plan, tmp_path, family, bands):
    asked = plan("org/finds", vision_models.detr(family), bands)
    model = installed.build(asked).train()
    truth = torch.tensor([[[0, 0.5, 0.5, 0.2, 0.2], [1, 0.3, 0.3, 0.2, 0.2]], [[-1.0] * 5] * 2])
    losses = model(torch.randn(2, bands, 64, 96), truth).logits
    asked.target.loss(losses, None, None, 0.0).backward()
    assert losses.shape == (2,)
    assert all(p.grad is not None for p in model.inner.model.backbone.parameters() if p.requires_grad)
    pixels, places = torch.randn(2, bands, 64, 96), torch.tensor([[1.0, 96, 64], [2.0, 48, 32]])
    model.eval()
    network.save(model, tmp_path / "saved")
    with torch.inference_mode():
        found = model(pixels, places=places).logits
        assert torch.equal(network.load(tmp_path / "saved").eval()(pixels, places=places).logits, found)
    assert found[..., :2].min() >= 0
    assert found[..., :2].max() <= 1
    assert (found[1, :, 2:] <= torch.tensor([48, 32, 48, 32])).all()


@pytest.mark.parametrize("bands", [3, 5])
def test_a_model_of_masks_learns_by_its_own_loss_and_answers_outlines(plan, tmp_path, bands):
    asked = plan("org/masks", vision_models.detr("mask2former"), bands, outlined=True)
    model = installed.build(asked).train()
    rings = [outlines.ellipse(numpy.asarray(box, float)) for box in ([10, 10, 40, 30], [50, 20, 80, 60])]
    truth = torch.from_numpy(rendering.masks(numpy.asarray([1, 0]), rings, 64, 96))[None]
    assert truth[0, :, 1:].sum(dim=1).tolist() == pytest.approx([numpy.pi * 150 / 16, numpy.pi * 300 / 16], rel=0.15)
    asked.target.loss(model(torch.randn(1, bands, 64, 96), truth).logits, None, None, 0.0).backward()
    pixels, places = torch.randn(2, bands, 64, 96), torch.tensor([[1.0, 96, 64], [2.0, 48, 32]])
    model.eval()
    network.save(model, tmp_path / "saved")
    with torch.inference_mode():
        found = model(pixels, places=places).logits
        assert torch.equal(network.load(tmp_path / "saved").eval()(pixels, places=places).logits, found)
    assert found.shape == (2, 20, 2 + 4 + 2 * outlines.RAYS)
    assert len(asked.target.boxes(asked.target.of_logits(found.numpy())[0]).outlines[0]) == outlines.RAYS


def test_rays_end_where_a_mask_does():
    y, x = torch.meshgrid(torch.arange(40) + 0.5, torch.arange(60) + 0.5, indexing="ij")
    disc = torch.sigmoid(3 * (10 - ((x - 30) ** 2 + (y - 20) ** 2).sqrt()))
    masks = torch.stack([disc, torch.zeros_like(disc)])[None]
    points = installed.outlined(masks, (masks > 0.5).float())[0]
    assert ((points[0] - torch.tensor([30.0, 20.0])) ** 2).sum(-1).sqrt().numpy() == pytest.approx(10, abs=0.1)
    assert torch.isfinite(points).all()


@pytest.mark.parametrize(("made", "outlined", "what"), [(vision_models.vit, False, "boxes"), (vision_models.detr, True, "outlines")])
def test_a_model_that_does_not_find_what_is_asked_is_refused(plan, made, outlined, what):
    with pytest.raises(UserError, match=rf"org/eyes cannot be used for object-detection.*find no {what}"):
        installed.build(plan("org/eyes", made(), outlined=outlined))


def test_boxes_are_answered_once_and_the_surest_first():
    answers = numpy.zeros((1, 4, 6))
    answers[0, :, :2] = [[0.9, 0.1], [0.8, 0.0], [0.0, 0.7], [0.005, 0.0]]
    answers[0, :, 2:] = [[0, 0, 10, 10], [0, 0, 10, 11], [20, 20, 30, 30], [40, 40, 50, 50]]
    boxes = decoding.unpacked(decoding.packed_boxes(answers, 2, 5)[0])
    assert boxes.classes.tolist() == [0, 1, 1]
    assert boxes.scores == pytest.approx([0.9, 0.7, 0.05])
    assert boxes.boxes[0].tolist() == [0, 0, 10, 10]
    assert not len(decoding.unpacked(decoding.packed_boxes(answers * 0, 2, 5)[0]))


def test_a_batch_has_the_boxes_as_shares_of_the_input():
    listed = [truths.read(json.dumps({"size": [32, 16], "objects": [["b", 0, 0, 16, 8, 0], ["a", 4, 4, 8, 8, 1]]}), ("a", "b")), truths.read("", ())]
    sizes, held = numpy.asarray([[32, 64], [32, 64]]), numpy.zeros(2 * 32 * 64 * 3, numpy.uint8)
    starts = numpy.asarray([0, 32 * 64 * 3])
    features = Pictures("", 3, numpy.asarray([[16, 32]] * 2), sizes, starts, truths.array(listed), 2, Canvas(32, 64), True, False, "none", held, True)
    truth = features.batch(numpy.arange(2), numpy.random.default_rng(0))["truth"]
    assert truth.tolist() == [[[1, 0.25, 0.25, 0.5, 0.5]], [[-1] * 5]]


def dataset(number: int, form: str = "boxes") -> dict:
    scenes = annotated_files.scenes(number)
    return {**annotated_files.pictures(scenes), "instances.json": json.dumps(annotated_files.coco(scenes, form))}


def test_auto_takes_an_installed_detector_for_boxes_alone(make_run):
    for form, task, model in (("boxes", "object-detection", "org/finds"), ("polygons", "instance-segmentation", "small-detector")):
        spec = make_run(dataset(30, form), run=f"ft-{form}", task=task, dry_run=True)
        vision_models.install(spec.parent.parent.parent / "models" / "org" / "finds", vision_models.detr())
        assert run(str(spec), "local") == 0
        assert next(e["choice"] for e in events_of(spec.parent) if e.get("what") == "model") == model
    spec = make_run(dataset(30, "polygons"), run="ft-named", task="instance-segmentation", model="org/finds")
    assert run(str(spec), "local") == 2
    assert error_of(spec.parent)["code"] == "model_unfit"
    assert "object-detection" in error_of(spec.parent)["do"]


def test_the_lines_of_python_answer_as_the_trainer(plan, tmp_path, monkeypatch):
    asked = plan("org/finds", vision_models.detr())
    model = installed.build(asked).eval()
    encoder = Encoder({"canvas": CANVAS, "scale": 0.0, "typical": 8.0, "outlined": False, "matched": True}, ("a", "b"), None)
    target, folder, file = Objects(("a", "b"), 100, 0.1), tmp_path / "model", tmp_path / "a picture of yours.png"
    file.write_bytes(png(numpy.random.default_rng(2).integers(0, 255, (80, 90, 3), numpy.uint8)))
    network.save(model, folder)
    encoder.save(folder)
    (folder / "trainer.json").write_text(json.dumps({"target": target.described()}))
    batch = encoder.encode([Example(file.name, 0, file, "")], truths.array([truths.read("", ())]), "test").features.batch(numpy.zeros(1, int))
    with torch.inference_mode():
        logits = model(torch.from_numpy(batch["pixels"]), places=torch.from_numpy(batch["places"])).logits
    right = target.boxes(target.of_logits(logits.numpy())[0]).sure(target.threshold)
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    exec(compile((ROOT / "trainer/kinds/objects/snippets/objects_installed.py").read_text(), "objects", "exec"), names)
    said = names["predict"](file)
    assert 0 < len(said) == len(right)
    assert [o["score"] for o in said] == pytest.approx(right.scores, abs=1e-4)
    assert numpy.stack([o["box"] for o in said]) == pytest.approx(right.boxes, abs=0.05)


@pytest.mark.parametrize(("family", "form"), [("deformable_detr", "boxes"), ("mask2former", "polygons")])
def test_a_training_from_an_installed_model_delivers_one(make_run, schemas, family, form):
    task = "object-detection" if form == "boxes" else "instance-segmentation"
    spec = make_run(dataset(40, form), model="org/finds", task=task, epochs=2, batch_size=8)
    vision_models.install(spec.parent.parent.parent / "models" / "org" / "finds", vision_models.detr(family), license="apache-2.0")
    assert run(str(spec), "local") == 0
    assert (spec.parent / "out" / "model" / "model.onnx").is_file()
    result = check_training(spec.parent, schemas)
    assert (result["model"]["base"], result["model"]["license"], result["model"]["from_scratch"]) == ("org/finds", "apache-2.0", False)
    assert set(result["metrics"]["test"]) >= {"ap", "ap50", "count_error"}
