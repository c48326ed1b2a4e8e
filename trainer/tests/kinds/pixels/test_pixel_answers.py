"""Single answers of pixels: masks and maps in a request of their own, from model.onnx."""

import base64
import io
from types import SimpleNamespace

import numpy
import pytest
import tifffile
from hypothesis import given, settings, strategies as st
from PIL import Image

from trainer.answer.rows import Refused
from trainer.data.pictures import colours
from trainer.kinds.pixels.encoder import Encoder
from trainer.kinds.pixels.numbers import PixelNumbers
from trainer.kinds.pixels.single import unsure
from trainer.kinds.pixels.single.answers import Painter
from trainer.kinds.pixels.target import PixelClasses
from trainer.targets.promise import Promise

CLASSES = {"values": [0, 7, 255], "nodata": None, "halved": False, "colours": False, "labels": []}
LABELS = ("ground", "pond", "<b>road</b>")


def painter(target, coding: dict, step: int = 1, **bands) -> Painter:
    """A model whose answer to a pixel follows from the pixel alone: the class of the third of its brightness, or its brightness."""
    encoder = Encoder({"coding": coding, "side": 64, "step": step, **bands}, None)

    def logits(inputs):
        bright = inputs["pixel_values"].mean(axis=1)
        return numpy.stack([-abs(bright - at) for at in (-1, 0, 1)], axis=-1) if target.labels else bright[..., None]

    return Painter(SimpleNamespace(encoder=encoder, logits=logits), target)


def classes(step: int = 1) -> Painter:
    return painter(PixelClasses(LABELS), CLASSES, step)


def sent(pixels: numpy.ndarray, form: str = "PNG") -> str:
    data = io.BytesIO()
    Image.fromarray(pixels).save(data, form)
    return base64.b64encode(data.getvalue()).decode()


def opened(png: str) -> Image.Image:
    return Image.open(io.BytesIO(base64.b64decode(png, validate=True)))


@pytest.mark.parametrize("step", [1, 4])
@pytest.mark.parametrize("size", [(40, 53), (700, 1600)])
def test_a_mask_has_the_values_of_the_training_at_each_pixel(step, size):
    pixels = numpy.random.default_rng(1).choice([64, 128, 192], size=(*size, 1)).repeat(3, axis=2).astype(numpy.uint8)
    overlay, mask, share = classes(step).tensors({"image": [sent(pixels)]})
    said = numpy.asarray(opened(mask["data"][0]))
    assert (said == numpy.asarray([0, 7, 255])[(pixels[..., 0].astype(int) - 64) // 64]).all()
    assert share["data"] == pytest.approx([(pixels == v).mean() for v in (64, 128, 192)], abs=1e-6)
    assert share["parameters"] == {"labels": list(LABELS), "colours": ["", "#e69f00", "#0072b2"], "values": [0, 7, 255]}
    drawn = opened(overlay["data"][0])
    assert overlay["parameters"] == {"content_type": "image/png", "shown": True}
    assert max(drawn.size) == (800 if max(size) > 1024 else max(size))


def test_the_overlay_shows_the_picture_and_the_colours():
    pixels = numpy.full((64, 64, 3), 64, numpy.uint8)
    pixels[:, 32:] = 128
    drawn = numpy.asarray(opened(classes().tensors({"image": [sent(pixels)]})[0]["data"][0]).convert("RGB")).astype(int)
    assert abs(drawn[:, :32] - 120).max() <= 2, "dark ground is light grey"
    assert abs(drawn[:, 32:] - [0.4 * 255 + 0.6 * c for c in (230, 159, 0)]).max() <= 2


def test_several_pictures_of_different_sizes_are_answered_together():
    tensors = classes().tensors({"image": [sent(numpy.zeros((20, 30, 3), numpy.uint8)), sent(numpy.full((50, 10, 3), 255, numpy.uint8), "JPEG")]})
    assert [opened(p).size for p in tensors[1]["data"]] == [(30, 20), (10, 50)]
    assert tensors[2]["shape"] == [2, 3] and tensors[2]["data"] == [1, 0, 0, 0, 0, 1]


def test_clear_pixels_have_no_class():
    pixels = numpy.full((16, 16, 4), 128, numpy.uint8)
    pixels[:8, :, 3] = 0
    _, mask, share = classes().tensors({"image": [sent(pixels)]})
    assert set(numpy.asarray(opened(mask["data"][0]))[:8].ravel()) == {254} and share["data"] == [0, 1, 0]


def test_numbers_are_a_map_with_its_scale():
    said = painter(PixelNumbers(0.0, 0.5), {"mean": 0.0, "std": 0.5}).tensors({"image": [sent(_ramp())]})
    tensors = {t["name"]: t for t in said}
    assert tensors["map"]["parameters"]["scale"] == [-1, 1] and tensors["map"]["parameters"]["shown"]
    smallest, largest = tensors["smallest"]["data"][0], tensors["largest"]["data"][0]
    levels = numpy.asarray(opened(tensors["numbers"]["data"][0])).astype(numpy.float64)
    assert smallest + (largest - smallest) * levels / 65534 == pytest.approx((_ramp()[..., 0] - 127.5) / 63.75, abs=1e-4)
    drawn = numpy.asarray(opened(tensors["map"]["data"][0]).convert("RGB"))
    assert abs(drawn[0, 0].astype(int) - colours.SCALE[0]).max() <= 2 and abs(drawn[-1, -1].astype(int) - colours.SCALE[-1]).max() <= 2


def test_shares_and_means_have_the_promised_intervals():
    said = painter(PixelClasses(LABELS, Promise(0.9, 20, (0.1, 0.2, 0.0))), CLASSES)
    tensors = {t["name"]: t for t in said.tensors({"image": [sent(numpy.full((16, 16, 3), 128, numpy.uint8))]})}
    assert [name for name, _, _ in said.forms] == list(tensors) == ["overlay", "mask", "share", "low", "high"]
    assert tensors["low"]["data"] == pytest.approx([0, 0.8, 0]) and tensors["high"]["data"] == pytest.approx([0.1, 1, 0])
    assert tensors["low"]["parameters"] == {"coverage": 0.9, "of": "share"} and tensors["high"]["shape"] == [1, 3]
    said = painter(PixelNumbers(0.0, 0.5, Promise(0.8, 9, (0.25,))), {"mean": 0.0, "std": 0.5})
    tensors = {t["name"]: t for t in said.tensors({"image": [sent(_ramp()), sent(_ramp())]})}
    assert [name for name, _, _ in said.forms] == list(tensors)
    assert tensors["low"]["shape"] == [2] and tensors["high"]["data"] == pytest.approx([v + 0.25 for v in tensors["mean"]["data"]])


def test_pixels_of_several_possible_classes_are_drawn_and_counted():
    limits = Promise(0.9, 20, (0.9, 0.3, 0.9))
    target = PixelClasses(LABELS, temperature=0.5, of_pixels=limits)
    said = painter(target, CLASSES)
    pixels = numpy.random.default_rng(2).integers(20, 236, (40, 30, 1)).repeat(3, axis=2).astype(numpy.uint8)
    clear = numpy.full((40, 30, 1), 255, numpy.uint8)
    clear[:10] = 0
    tensors = {t["name"]: t for t in said.tensors({"image": [sent(numpy.dstack([pixels, clear]))]})}
    assert [name for name, _, _ in said.forms] == list(tensors) == ["overlay", "mask", "share", "unsure", "possible"]
    bright = pixels[..., 0] / 63.75 - 2
    scores = numpy.stack([-abs(bright - at) for at in (-1, 0, 1)], axis=-1) / 0.5
    odds = numpy.exp(scores) / numpy.exp(scores).sum(-1, keepdims=True)
    expected = odds >= limits.limits
    numpy.put_along_axis(expected, odds.argmax(-1)[..., None], True, axis=-1)
    bits = (expected * [1, 2, 4]).sum(-1)
    bits[:10] = 0
    possible, drawn = numpy.asarray(opened(tensors["possible"]["data"][0])), opened(tensors["unsure"]["data"][0]).convert("RGB")
    assert (possible == bits).mean() > 0.99 and (possible[:10] == 0).all()  # at a limit, float32 decides
    several = numpy.bitwise_count(possible) > 1
    about = tensors["unsure"]["parameters"]
    assert about["shown"] and about["coverage"] == 0.9 and about["share"] == [pytest.approx(several[10:].mean(), abs=1e-6)]
    assert f"possible for {several.sum()} pixels ({several[10:].mean():.1%}), which are orange" in about["says"][0]
    assert "ground and pond" in about["says"][0] and "90 % of the pixels of each class" in about["says"][0]
    colour = numpy.asarray(drawn).astype(int)
    assert (abs(colour[..., 0] - colour[..., 2]) > 60).tolist() == several.tolist()
    sure = painter(PixelClasses(LABELS, of_pixels=Promise(0.9, 20, (1.0, 1.0, 1.0))), CLASSES).tensors({"image": [sent(pixels)]})
    assert sure[-2]["parameters"]["says"][0].startswith("For every pixel one class alone") and sure[-2]["parameters"]["share"] == [0]


def test_models_of_many_classes_send_no_bits():
    labels = tuple(f"class {i}" for i in range(17))
    assert [n for n, _, _ in unsure.forms(PixelClasses(labels, of_pixels=Promise(0.9, 20, (0.1,) * 17)))] == ["unsure"]
    assert unsure.forms(PixelClasses(labels)) == unsure.forms(PixelNumbers(0.0, 1.0)) == []


def test_the_intervals_of_pixels_of_numbers_are_a_map_with_its_scale():
    said = painter(PixelNumbers(0.0, 0.5, of_pixels=Promise(0.8, 20, (0.1, 0.2, 0.3, 0.4, 0.5))), {"mean": 0.0, "std": 0.5})
    tensors = {t["name"]: t for t in said.tensors({"image": [sent(_ramp())]})}
    assert [name for name, _, _ in said.forms] == list(tensors)
    about = tensors["unsure"]["parameters"]
    assert about["scale"] == [0, 0.5] and about["off"] == [0.1, 0.2, 0.3, 0.4, 0.5] and about["from"] == [-0.75, -0.25, 0.25, 0.75]
    assert "80 % of pixels" in about["says"][0] and "±0.1 (" in about["says"][0] and "of 4,096 pixels" in about["says"][0]
    drawn = numpy.asarray(opened(tensors["unsure"]["data"][0]).convert("RGB")).astype(int)
    assert (
        abs(drawn[-1, -1] - colours.SCALE[-1]).max() <= 2 and abs(drawn[0, 0] - colours.of_numbers(numpy.full((1, 1), 0.1), 0, 0.5)[0, 0]).max() <= 2
    )


def _ramp() -> numpy.ndarray:
    return numpy.linspace(30, 225, 64 * 64).astype(numpy.uint8).reshape(64, 64, 1).repeat(3, axis=2)


def test_pictures_of_an_instrument_are_read_by_their_bands():
    bands = {"bands": 2, "dtype": "uint16", "low": [0, 0], "high": [1000, 1000]}
    one = painter(PixelClasses(LABELS), CLASSES, **bands)
    data = io.BytesIO()
    tifffile.imwrite(data, numpy.full((20, 20, 2), 500, numpy.uint16), photometric="minisblack", planarconfig="contig")
    assert one.tensors({"image": [base64.b64encode(data.getvalue()).decode()]})[2]["data"] == [0, 1, 0]
    with pytest.raises(Refused, match="has 3 bands of 8 bits, but the model reads 2 bands of 16 bits"):
        one.tensors({"image": [sent(numpy.zeros((20, 20, 3), numpy.uint8))]})


@pytest.mark.parametrize("cells", [[(2001, 2000)], [(1500, 1500), (1500, 1500)]])
def test_pictures_that_are_too_large_are_refused_by_their_headers(cells, monkeypatch):
    monkeypatch.setattr(Encoder, "read", lambda *_: pytest.fail("it was decoded"))
    with pytest.raises(Refused, match="more than 4 million pixels") as e:
        classes().tensors({"image": [sent(numpy.zeros(size, numpy.uint8)) for size in cells]})
    assert e.value.status == 413


@given(st.binary(max_size=300) | st.binary(max_size=200).map(lambda b: base64.b64decode(sent(numpy.zeros((9, 9, 3), numpy.uint8)))[:40] + b))
@settings(deadline=None, max_examples=60)
def test_any_bytes_are_answered_or_refused(data):
    try:
        assert len(classes().tensors({"image": [base64.b64encode(data).decode()]})) == 3
    except Refused as e:
        assert str(e)
