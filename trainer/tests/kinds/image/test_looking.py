"""Where a model of pictures looks: the squares that its answers rest on are marked in test pictures."""

import io
from types import SimpleNamespace

import numpy
import pytest
from PIL import Image

from trainer.core.example import Example
from trainer.kinds.image import looking, without
from trainer.targets.classes import Classes


class Network:
    """The class bright is as likely as the first quarter of a picture is light."""

    def __init__(self, folder, described):
        pass

    def outputs(self, examples):
        light = []
        for e in examples:
            with Image.open(e.content) as image:
                pixels = numpy.asarray(image.convert("L"), numpy.float64) / 255
            light.append(0.05 + 0.9 * pixels[: len(pixels) // 2, : len(pixels) // 2].mean())
        return numpy.stack([1 - numpy.asarray(light), light], axis=1)


def finished(tmp_path, form: str = "RGB", files: int = 4) -> SimpleNamespace:
    examples = []
    for i in range(files):
        picture = Image.new(form, (28, 28))
        if i % 2:
            picture.paste("white", (0, 0, 14, 14))
        picture.save(tmp_path / f"{i}.png")
        examples.append(Example(f"{i}.png", 0, tmp_path / f"{i}.png", "bright" if i % 2 else "dark"))
    (tmp_path / "model.onnx").write_bytes(b"")
    plan = SimpleNamespace(target=Classes(("dark", "bright")))
    return SimpleNamespace(
        folder=tmp_path, prepared=SimpleNamespace(plan=plan), data=SimpleNamespace(splits={"test": examples}), outcome=SimpleNamespace(seconds=60.0)
    )


@pytest.fixture(autouse=True)
def network(monkeypatch):
    monkeypatch.setattr(looking, "Network", Network)
    monkeypatch.setattr(looking.saved_model, "description", lambda folder: {})


def test_the_squares_that_an_answer_rests_on_are_marked(tmp_path):
    (section,) = looking.sections(finished(tmp_path))
    (block,) = section.blocks
    assert [p.caption for p in block.pictures] == ["bright, answered bright", "dark, answered dark", "bright, answered bright", "dark, answered dark"]
    for overlay in block.pictures[0].overlays:
        assert overlay.left < 0.5 and overlay.top < 0.5 and overlay.mark == "shown" and overlay.width == pytest.approx(1 / 7, abs=0.01)
    assert len(block.pictures[0].overlays) == 3


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"form": "RGBA"}, id="pictures with an alpha channel"),
        pytest.param({"files": 0}, id="no test pictures"),
    ],
)
def test_some_pictures_have_no_section(change, tmp_path):
    assert looking.sections(finished(tmp_path, **change)) == []


def test_without_a_network_or_its_time_there_is_no_section(tmp_path, monkeypatch):
    given = finished(tmp_path)
    monkeypatch.setattr(looking, "_MOST", 1e-9)
    monkeypatch.setattr(looking, "_LEAST", 0.0)
    assert looking.sections(given) == []
    (tmp_path / "model.onnx").unlink()
    monkeypatch.undo()
    assert looking.sections(given) == []


def test_a_file_that_is_no_picture_any_more_is_left_alone(tmp_path):
    given = finished(tmp_path)
    (tmp_path / "1.png").write_bytes(b"not a picture")
    assert looking.sections(given) == []


@pytest.mark.parametrize("most", [1, 4, 30, 10_000])
def test_squares_cover_the_picture_once(most, tmp_path):
    Image.new("RGB", (61, 33), "white").save(content := io.BytesIO(), "PNG")
    _, parts = without.squares(Example("a.png", 0, content, ""), most)
    assert len(parts) <= min(most, 49) and sum(less.box[2] * less.box[3] for less in parts) == pytest.approx(1)
    grey = numpy.zeros((33, 61))
    for less in parts:
        with Image.open(less.example.content) as image:
            grey += numpy.asarray(image.convert("L")) < 200
    assert (grey == 1).all()
