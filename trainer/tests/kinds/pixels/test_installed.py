"""Installed models of transformers that answer for each pixel: small ones with random weights, which the tests make."""

import base64
import io
import shutil

import numpy
import pytest
import scene_files
import vision_models
from conftest import events_of
from PIL import Image
from result_checks import check_files, check_training, error_of
from small_datasets import masked
from test_pixel_runs import heights, use_snippet
from test_scene_answers import DEVICE, FORM, answered

from trainer.answer.model import Model
from trainer.answer.rows import Refused
from trainer.core import registry
from trainer.kinds.pixels import inference, installed
from trainer.kinds.pixels.scenes import maps, parts, units
from trainer.run import run
from trainer.run_folder import lease as leases

SHORT = {"epochs": 10, "batch_size": 8, "learning_rate": 0.003}


@pytest.fixture
def start(tmp_path):
    """A run folder, and a start in it."""
    (tmp_path / "run").mkdir()
    return tmp_path / "run", leases.take(tmp_path / "run" / "work").folder


def models_of(spec):
    return spec.parent.parent.parent / "models"


def chosen(spec) -> str:
    """The model that the run trains."""
    return next(e["choice"] for e in events_of(spec.parent) if e.get("what") == "model")


@pytest.mark.parametrize("made", [vision_models.segformer, vision_models.resnet], ids=["segformer", "encoder"])
def test_an_installed_model_learns_squares_and_answers_as_its_lines_of_python(make_run, schemas, made, monkeypatch):
    spec = make_run(masked(40), run="ft-masks", model="org/eyes", **SHORT)
    vision_models.install(models_of(spec) / "org" / "eyes", made(), license="mit")
    assert run(str(spec), "local") == 0
    result = check_training(spec.parent, schemas)
    simple = {b["name"]: b["test"]["mean_iou"]["value"] for b in result["metrics"]["baselines"]}
    assert set(simple) == {"constant", "forest"}
    assert result["metrics"]["test"]["mean_iou"]["value"] > simple["constant"] + 0.3
    assert (result["model"]["base"], result["model"]["from_scratch"], result["model"]["license"]) == ("org/eyes", False, "mit")
    assert (spec.parent / "out" / "model" / "model.onnx").is_file()
    model = {"path": "../ft-masks/out/model", "run": "ft-masks", "name": "m", "version": 1}
    asked = make_run(masked(3), run="pr-masks", kind="predict", more={"model": model})
    assert run(str(asked), "local") == 0
    assert check_files(asked.parent, schemas)["prediction"]["scores"]["mean_iou"]["value"] > simple["constant"] + 0.3
    with Image.open(asked.parent / "out" / "answers" / "images" / "plot-000.png") as image:
        said = numpy.asarray(image)
    names = use_snippet(spec.parent / "out", asked.parent / "inputs" / "images" / "plot-000.png", monkeypatch, "pixels_installed")
    assert (names["answer"] == said // 255).mean() > 0.999
    check_single_answers(Model(spec.parent / "out" / "model"), masked(3)["images/plot-000.png"], said)


def check_single_answers(model: Model, picture: bytes, said: numpy.ndarray) -> None:
    """A picture as large as those of the training is answered as in a dataset, a part of it in its size, and a larger one is refused in words."""

    def sent(image: Image.Image) -> numpy.ndarray:
        data = io.BytesIO()
        image.save(data, "PNG")
        answer = model.answer([{"name": "image", "datatype": "BYTES", "shape": [1], "data": [base64.b64encode(data.getvalue()).decode()]}])
        return numpy.asarray(Image.open(io.BytesIO(base64.b64decode(answer[1]["data"][0]))))

    image = Image.open(io.BytesIO(picture))
    assert (sent(image) == said).mean() > 0.999
    assert sent(image.crop((0, 0, 40, 50))).shape == (50, 40)
    with pytest.raises(Refused, match="at most 64 x 64 pixels"):
        sent(image.resize((65, 64)))


def test_an_encoder_of_convolutions_answers_a_scene_in_windows_as_at_once(tmp_path, start, monkeypatch):
    import rasterio
    import torch
    from transformers import UperNetConfig, UperNetForSemanticSegmentation

    stages = vision_models.resnet(channels=2).config
    stages.out_features = stages.stage_names[1:]
    torch.manual_seed(0)
    shape = {"hidden_size": 16, "pool_scales": [], "use_auxiliary_head": False, "num_labels": 3}
    inner = UperNetForSemanticSegmentation(UperNetConfig(backbone_config=stages, **shape)).eval()
    torch.nn.init.normal_(inner.decode_head.classifier.weight)
    model = installed.Installed(inner, (0.5, 0.5), (0.2, 0.2)).eval()
    monkeypatch.setattr(units, "CORE", 128)
    monkeypatch.setattr(units, "PIXELS", 128 * 256)
    scene = scene_files.write(tmp_path / "a.tif", scene_files.ground(400, 700))
    together, question, _ = answered(scene, start, model, step=model.step)
    found = numpy.zeros((400, 700), numpy.uint8)
    for unit, values in maps.arrays(question.folder, question.digests[0], together.units, parts.VALUES):
        found[unit.rows, unit.columns] = values
    with rasterio.open(scene) as dataset:
        pixels, _ = units.read(dataset, together.scenes[0].scene, (slice(0, 400), slice(0, 700)), FORM)
    once = inference.of_window(model, pixels, DEVICE).argmax(-1).numpy()
    assert len(numpy.unique(once)) > 1
    assert (found == once)[128:-128, 128:-128].mean() >= 0.999


def test_the_first_layer_reads_other_bands_and_numbers_are_answered_in_their_unit(make_run, schemas, monkeypatch):
    spec = make_run(heights(), run="ft-heights", model="org/eyes", **SHORT | {"epochs": 15})
    vision_models.install(models_of(spec) / "org" / "eyes", vision_models.segformer())
    assert run(str(spec), "local") == 0
    result = check_training(spec.parent, schemas)
    assert result["metrics"]["test"]["r2"]["value"] > 0.5
    assert "first_layer" in {e.get("what") for e in events_of(spec.parent)}
    model = {"path": "../ft-heights/out/model", "run": "ft-heights", "name": "m", "version": 1}
    asked = make_run({n: d for n, d in heights(3).items() if "images" in n}, run="pr-heights", kind="predict", more={"model": model})
    assert run(str(asked), "local") == 0
    import tifffile

    said = tifffile.imread(asked.parent / "out" / "answers" / "images" / "t0.tif")
    names = use_snippet(spec.parent / "out", asked.parent / "inputs" / "images" / "t0.tif", monkeypatch, "pixels_installed")
    assert names["answer"] == pytest.approx(said, abs=1e-2)


def test_auto_takes_a_model_of_pixels_unless_its_license_forbids_it(make_run, schemas):
    spec = make_run(masked(24), dry_run=True, batch_size=8)
    models = models_of(spec)
    vision_models.install(models / "org" / "encoder", vision_models.resnet(), license="apache-2.0")
    vision_models.install(models / "org" / "closed", vision_models.segformer(), license="cc-by-nc-4.0")
    assert run(str(spec), "local") == 0
    assert chosen(spec) == registry.of("pixels").shape
    shutil.rmtree(models / "org" / "closed")
    vision_models.install(models / "org" / "open", vision_models.segformer(), license="mit")
    spec = make_run(masked(24), run="ft-open", dry_run=True, batch_size=8)
    assert run(str(spec), "local") == 0
    assert chosen(spec) == "org/open"


def test_models_that_do_not_answer_for_pixels_are_refused_in_words(make_run):
    from test_base_model import install

    for made, name, code in ((None, "org/words", "model_unfit"), (vision_models.vit, "org/whole", "model_unusable")):
        spec = make_run(masked(24), run=f"ft-{name[4:]}", model=name, **SHORT)
        if made is None:
            install(models_of(spec), name)
        else:
            vision_models.install(models_of(spec) / name, made())
        assert run(str(spec), "local") == 2
        error = error_of(spec.parent)
        assert error["code"] == code
        assert name in error["what"]
        assert "pixels" in error["what"] or "image-segmentation" in error["what"]
