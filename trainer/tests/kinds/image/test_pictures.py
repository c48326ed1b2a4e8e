"""Pictures as instruments make them: how they are stored, what becomes of their bands, and what stays as it was."""

import base64
import contextlib
import io
from types import SimpleNamespace

import numpy
import pytest
import tifffile
from conftest import events_of
from PIL import Image, ImageOps
from result_checks import blocks_of, check_success, predictions
from small_datasets import png, squares

from trainer.core.example import Dataset, Example
from trainer.core.kind import Kind
from trainer.data import rasters, tiffs
from trainer.data.pictures import bands, thumbnails
from trainer.errors import UserError
from trainer.kinds.image import encoder, looked, results
from trainer.models.catalogue import Base
from trainer.run import run
from trainer.run_folder.events import Events
from trainer.tests.zoo.instruments import colours16, levels, tiff
from trainer.tests.zoo.pictures import noise, png as zoo_png


@pytest.mark.parametrize("dtype", [numpy.uint8, numpy.uint16, numpy.int16, numpy.float32, numpy.float64])
@pytest.mark.parametrize("count", [1, 4, 20])
@pytest.mark.parametrize("layout", [{}, {"planarconfig": "separate"}, {"tile": (32, 32)}, {"rowsperstrip": 7}])
@pytest.mark.parametrize("packed", [{}, {"compression": "zlib"}, {"compression": "zlib", "predictor": True}, {"byteorder": ">"}])
def test_every_layout_of_a_tiff_gives_its_values(tmp_path, dtype, count, layout, packed):
    if packed.get("predictor") and numpy.dtype(dtype).kind == "f":
        packed = {"compression": "zlib"}
    pixels = levels(1, (50, 70, count), 0, 200, dtype)
    stored = pixels[..., 0] if count == 1 else numpy.moveaxis(pixels, -1, 0) if "planarconfig" in layout else pixels
    options = {"planarconfig": "contig", **layout} if count > 1 else {k: v for k, v in layout.items() if k != "planarconfig"}
    tifffile.imwrite(tmp_path / "a.tif", stored, photometric="minisblack", **options, **packed)
    values, mask, header = tiffs.read(tmp_path / "a.tif")
    assert (header.bands, header.dtype.itemsize, mask) == (count, numpy.dtype(dtype).itemsize, None)
    assert (values == pixels).all()


@pytest.mark.parametrize(("packed", "tags"), [("tiff_lzw", {}), ("tiff_lzw", {317: 2}), ("packbits", {}), ("tiff_adobe_deflate", {317: 3})])
def test_what_other_programs_compress_gives_its_values(tmp_path, packed, tags):
    pixels = levels(2, (90, 70), 0, 1, numpy.float32) if 3 in tags.values() else levels(2, (90, 70), 0, 60_000, numpy.uint16)
    Image.fromarray(pixels).save(tmp_path / "a.tif", "TIFF", compression=packed, tiffinfo=tags)
    assert (tiffs.read(tmp_path / "a.tif")[0][..., 0] == pixels).all()


def test_a_part_that_grows_when_it_is_decompressed_is_cut(tmp_path):
    import zlib

    data = bytearray(tiff(levels(3, (16, 16), 0, 9, numpy.uint8), compression="zlib"))
    page = tifffile.TiffFile(io.BytesIO(bytes(data))).pages[0]
    offset, length = page.tags[273].valueoffset, page.tags[279].valueoffset
    bomb = zlib.compress(bytes(50 << 20))
    data[offset : offset + 4], data[length : length + 4] = len(data).to_bytes(4, "little"), len(bomb).to_bytes(4, "little")
    (tmp_path / "a.tif").write_bytes(data + bomb)
    values = tiffs.read(tmp_path / "a.tif")[0]
    assert (values.shape, values.any()) == ((16, 16, 1), False)


def examples_of(folder, files: dict[str, bytes]) -> list[Example]:
    folder.mkdir(exist_ok=True)
    found = []
    for name, data in files.items():
        (folder / name).write_bytes(data)
        found.append(Example(name, 0, folder / name, name[0]))
    return found


def learn(folder, files: dict[str, bytes], base: Base | None = None):
    """The encoder of these training pictures, its events, and the pictures as examples."""
    examples = examples_of(folder / "pictures", files)
    data = Dataset("image-classification", Kind(), {"train": examples, "validation": [], "test": []}, [], (), "")
    events = Events(folder / "events.jsonl", 1)
    chosen = SimpleNamespace(image_size=0, augmentation="none", with_chosen=lambda **_: chosen)
    return encoder.encoder(SimpleNamespace(work=folder), chosen, data, base or Base("small-cnn", "image"), events)[0], events, examples


def test_pictures_of_eight_bits_stay_as_they_were(tmp_path):
    made, events, examples = learn(tmp_path, squares(8))
    assert made.described()["encoder"] == {"image_size": 32, "mean": [0.5] * 3, "std": [0.5] * 3}
    assert made.shape == {"image_size": 32}
    for example in examples:
        with Image.open(example.content) as image:
            expected = numpy.asarray(ImageOps.exif_transpose(image).convert("RGB").resize((32, 32), Image.Resampling.BILINEAR))
        assert (made.square(example) == expected).all()
    assert {d["what"] for d in events.decisions} == {"image_size"}


def test_bands_are_scaled_by_the_training_pictures(tmp_path):
    made, _, examples = learn(tmp_path, {f"{i}.tif": tiff(levels(i, (40, 40, 5), 100, 1100, numpy.uint16)) for i in range(6)})
    description = made.described()["encoder"]
    assert (description["bands"], made.shape["bands"], len(description["mean"])) == (5, 5, 5)
    assert all(low == pytest.approx(110, abs=4) for low in description["low"])
    assert all(high == pytest.approx(1090, abs=4) for high in description["high"])
    later = encoder.load_encoder(None, tmp_path, description)
    assert (later.square(examples[0]) == made.square(examples[0])).all()
    dark = examples_of(tmp_path / "later", {"dark.tif": tiff(levels(1, (40, 40, 5), 0, 90, numpy.uint16))})[0]
    assert made.square(dark).max() == 0, "a darker picture is darker, and not stretched by its own values"
    rows = later.encode(examples, numpy.zeros(6), "predict")
    assert rows.features.batch(numpy.arange(2))["pixel_values"].shape == (2, 5, 64, 64)


@pytest.mark.parametrize("other", [tiff(levels(1, (40, 40), 0, 900, numpy.uint16)), tiff(levels(1, (40, 40, 5), 0, 1, numpy.float32))])
def test_a_picture_with_other_bands_is_not_answered(tmp_path, other):
    made, _, _ = learn(tmp_path, {f"{i}.tif": tiff(levels(i, (40, 40, 5), 100, 1100, numpy.uint16)) for i in range(6)})
    with pytest.raises(UserError, match="the model reads 5 bands of 16 bits") as e:
        made.square(examples_of(tmp_path / "later", {"other.tif": other})[0])
    assert e.value.code == "image_form"


def test_a_model_of_plain_pictures_answers_no_picture_of_16_bits(tmp_path):
    made, _, _ = learn(tmp_path, {f"{i}.png": zoo_png(noise(i, 40)) for i in range(6)})
    with pytest.raises(UserError, match="has 1 band of 16 bits, but the model reads 8 bits") as e:
        made.square(examples_of(tmp_path / "later", {"other.tif": tiff(levels(1, (40, 40), 0, 9000, numpy.uint16))})[0])
    assert e.value.code == "image_form"


def test_values_without_data_are_in_the_middle_and_set_no_range(tmp_path):
    def picture(i):
        pixels = levels(i, (40, 40), 100, 1100, numpy.int16)
        pixels[:20] = -9999
        return tiff(pixels, nodata="-9999")

    made, _, examples = learn(tmp_path, {f"{i}.tif": picture(i) for i in range(4)})
    assert made.bands.low[0] > 100
    assert set(numpy.unique(made.square(examples[0])[:18])) <= {127, 128}


def test_clear_pixels_are_grey_where_the_training_pictures_have_some(tmp_path):
    pixels = numpy.dstack([numpy.full((32, 32, 3), 250, numpy.uint8), numpy.full((32, 32), 255, numpy.uint8)])
    cut = pixels.copy()
    cut[:16, :, 3] = 0
    opaque, clear = Image.fromarray(pixels), Image.fromarray(cut)
    files = {name: io.BytesIO() for name in ("a.png", "b.png")}
    opaque.save(files["a.png"], "PNG")
    clear.save(files["b.png"], "PNG")
    made, events, examples = learn(tmp_path, {name: data.getvalue() for name, data in files.items()})
    assert made.square(examples[1])[:15].max() == rasters.GREY
    assert made.square(examples[0]).min() == 250
    assert [d["what"] for d in events.decisions] == ["image_size", "clear"]
    earlier = encoder.load_encoder(None, tmp_path, {"image_size": 32, "mean": [0.5] * 3, "std": [0.5] * 3})
    assert earlier.square(examples[1]).min() == 250, "a model that was saved before reads what it learnt from"


def test_pictures_that_hardly_differ_are_told_of(tmp_path):
    _, events, _ = learn(tmp_path, {f"{i}.png": png(numpy.full((32, 32, 3), i % 2, numpy.uint8)) for i in range(6)})
    assert [w["code"] for w in events.warnings] == ["images_alike"]


def test_an_installed_model_reads_other_bands(tmp_path):
    import torch
    from transformers import ResNetConfig, ResNetForImageClassification

    from trainer.models import stems

    shape = {"embedding_size": 8, "hidden_sizes": [8, 16], "depths": [1, 1], "layer_type": "basic"}
    model = ResNetForImageClassification(ResNetConfig(num_channels=3, **shape)).eval()
    grey = torch.rand(2, 1, 32, 32)
    before = model(grey.repeat(1, 3, 1, 1)).logits
    wide = stems.widened(model, 5, "small-cnn")
    assert torch.allclose(wide(grey.repeat(1, 5, 1, 1)).logits, before, atol=1e-5), "the same picture in all bands gives the same answer"
    wide.save_pretrained(tmp_path)
    later = ResNetForImageClassification.from_pretrained(tmp_path).eval()
    assert later.config.num_channels == 5
    assert torch.allclose(later(grey.repeat(1, 5, 1, 1)).logits, before, atol=1e-5)


def test_a_picture_of_any_form_has_a_thumbnail(tmp_path):
    pixels = levels(1, (40, 40, 6), 0, 1, numpy.float32)
    pixels[:5] = numpy.nan
    assert thumbnails.of(examples_of(tmp_path / "a", {"a.tif": tiff(pixels)})[0].content)
    assert bands.preview(tmp_path / "a" / "a.tif").mode == "RGB"


@pytest.mark.parametrize(("targets", "shown"), [(["a", "b", "b", "b"], "abbb"), ([f"{i}.5" for i in range(23)], ["0.5", "2.5", "4.5", "6.5"])])
def test_pictures_of_a_report_are_spread_over_the_labels(targets, shown):
    examples = [Example(f"{i}.png", 0, None, t) for i, t in enumerate(targets)]
    chosen = [e.target for e in results.spread(examples)]
    assert chosen[:4] == list(shown)
    assert len(chosen) == min(results.SEEN, len(targets))


def test_a_model_of_sixteen_bits_is_trained_and_asked(make_run, schemas):
    def picture(i):
        pixels = levels(i, (24, 24), 500, 900, numpy.uint16)
        pixels[:, slice(0, 12) if i % 2 else slice(12, 24)] += 700
        return tiff(pixels)

    pictures = {f"{'left' if i % 2 else 'right'}/{i:03}.tif": picture(i) for i in range(60)}
    spec = make_run(pictures, model="small-cnn", epochs=8)
    assert run(str(spec), "local") == 0
    result = check_success(spec.parent, schemas)
    assert result["metrics"]["test"]["accuracy"]["value"] >= 0.9
    assert "bands" in {e.get("what") for e in events_of(spec.parent)}
    facts, seen = blocks_of(result, "Pictures")
    assert {f["name"]: f["value"] for f in facts["facts"]}["Stored"] == "1 band of 16 bits"
    assert [p["caption"] for p in seen["pictures"]] == ["left", "right"] * 6
    for shown in seen["pictures"]:
        left, right = (half.mean() for half in numpy.hsplit(numpy.asarray(Image.open(io.BytesIO(base64.b64decode(shown["png"])))), 2))
        assert (left > right) == (shown["caption"] == "left")
    asked = make_run(
        {name.rpartition("/")[2]: pictures[name] for name in list(pictures)[:10]}, run="ft-asked", kind="predict",
        more={"model": {"path": "../ft-test/out/model", "run": "ft-test"}},
    )  # fmt: skip
    assert run(str(asked), "local") == 0
    answers = {r["file"]: r["predicted"] for r in predictions(asked.parent)}
    assert sum(answer == ("left" if int(name[:3]) % 2 else "right") for name, answer in answers.items()) >= 9


@pytest.mark.parametrize("stored", [2, 3, 4])
def test_all_bits_of_a_png_are_read(tmp_path, stored):
    pixels = levels(4, (21, 34, stored), 0, 65535, numpy.uint16)
    pixels[0, 0] = 0
    data = colours16(pixels)
    (tmp_path / "a.png").write_bytes(data)
    colours = {2: 1, 3: 3, 4: 3}[stored]
    for file in (tmp_path / "a.png", io.BytesIO(data)):
        values, holds = rasters.values(file)
        assert (values == pixels[..., :colours]).all()
        assert rasters.form(file).words == rasters.words(colours, "uint16")
        assert holds is None if stored == 3 else (holds == (pixels[..., -1:] > 0)).all()


@pytest.mark.parametrize("place", range(4, 200, 7))
def test_a_damaged_tiff_is_undecodable_or_read(tmp_path, place):
    whole = tiff(levels(1, (12, 12, 5), 0, 900, numpy.uint16), compression="zlib")
    for value in (0, 1, 13, 255):
        data = bytearray(whole)
        data[place : place + 2] = bytes([value, value])
        (tmp_path / "a.tif").write_bytes(data)
        for look in (tiffs.header, tiffs.read):
            with contextlib.suppress(OSError, ValueError):
                look(tmp_path / "a.tif")


def test_a_damaged_image_outside_of_the_sample_is_named(tmp_path):
    file = tmp_path / "a.tif"
    file.write_bytes(tiff(levels(1, (12, 12, 5), 0, 900, numpy.uint16), compression="zlib"))
    with tifffile.TiffFile(file) as opened:
        offset = opened.pages[0].dataoffsets[0]
    data = bytearray(file.read_bytes())
    data[offset : offset + 2] = b"\xff\xff"
    file.write_bytes(data)
    example = Example("wet/a.tif", 0, file, "wet")
    with pytest.raises(UserError, match=r"wet/a\.tif") as raised:
        bands.learnt([(example.content, example.file)], rasters.form(file))
    assert raised.value.code == "undecodable_image"


def test_a_damaged_image_with_clear_pixels_is_named(tmp_path):
    whole = png(numpy.random.default_rng(0).integers(0, 255, (90, 90, 4), dtype=numpy.uint8))
    (tmp_path / "a.png").write_bytes(whole[: len(whole) // 2])
    example = Example("wet/a.png", 0, tmp_path / "a.png", "wet")
    with pytest.raises(UserError, match=r"wet/a\.png") as raised:
        looked.about([example], ((0.5,), (0.5,)), Events(tmp_path / "events.jsonl", 1))
    assert raised.value.code == "undecodable_image"


def test_what_holds_no_data_is_turned_with_the_picture(tmp_path):
    pixels = noise(1, low=10)[:12]
    pixels[:, :6] = 0
    (tmp_path / "a.tif").write_bytes(tiff(pixels, photometric="rgb", extratags=[(274, "H", 1, 6, True), (42113, "s", 0, "0", True)]))
    seen = numpy.asarray(rasters.seen(tmp_path / "a.tif"))
    assert seen.shape == (24, 12, 3)
    assert (seen[:6] == rasters.GREY).all()
    assert not (seen[6:] == rasters.GREY).all()
