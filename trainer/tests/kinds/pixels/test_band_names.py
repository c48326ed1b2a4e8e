"""Bands by their names: pictures and scenes whose bands lie in another order are read as those of the training, others are refused."""

import numpy
import pytest
import rasterio
from hypothesis import given, strategies as st
from PIL import Image
from rasterio.transform import Affine
from result_checks import check_files, result_of
from scene_files import ground, write

from trainer.core.example import Example
from trainer.data import rasters, tiffs
from trainer.data.pictures import bands
from trainer.data.scenes import opening
from trainer.errors import UserError
from trainer.kinds.pixels.content import Pixels
from trainer.kinds.pixels.encoder import Encoder
from trainer.kinds.pixels.scenes import units
from trainer.run import run
from trainer.run_folder import files

NAMES = ("red", "near <infrared>", "height")
FORM = bands.Bands(3, "uint16", (0.0,) * 3, (6000.0,) * 3, NAMES)


def named(file, values, names, **more):
    write(file, values, **more)
    with rasterio.open(file, "r+") as made:
        for band, name in enumerate(names, 1):
            made.set_band_description(band, name)
    return file


@pytest.fixture
def values():
    return ground(80, 90, bands=3)


def test_names_are_those_of_gdal(tmp_path, values):
    assert rasters.names(named(tmp_path / "a.tif", values, NAMES)) == NAMES
    assert rasters.names(write(tmp_path / "b.tif", values)) == ()
    assert rasters.names(named(tmp_path / "c.tif", values, ("red", "red", "blue"))) == (), "two of one name tell nothing"
    assert rasters.names(named(tmp_path / "d.tif", values, ("red", "", "blue"))) == ()
    assert rasters.names(named(tmp_path / "e.tif", values, ("red", "green", ""))) == ("red", "green"), "the last one is alpha"


@given(st.text(max_size=300) | st.lists(st.text(max_size=20), max_size=5).map(lambda n: tiffs.metadata(tuple(n)) + "<Item sample='9'>"))
def test_any_text_of_the_tag_is_read(text):
    found = [a for a, _ in tiffs._ITEM.findall(text)]
    assert len(found) <= text.count("<Item")


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1)])
def test_bands_are_read_by_their_names(tmp_path, values, order):
    picture = named(tmp_path / "a.tif", values[list(order)], [NAMES[i] for i in order])
    pixels, _ = bands.values(picture, "a.tif", 3, "uint16", NAMES)
    assert (numpy.moveaxis(pixels, -1, 0) == values).all()
    scene = units.check_form(opening.scene(picture), "a.tif", FORM)
    with opening.opened(picture) as dataset:
        read, _ = units.read(dataset, scene, (slice(0, 80), slice(0, 90)), FORM)
    assert (read == bands.scaled(numpy.moveaxis(values, 0, -1), None, FORM)).all()


def test_more_bands_than_the_model_reads_are_chosen_by_name(tmp_path, values):
    more = numpy.concatenate([numpy.zeros_like(values[:1]), values[::-1]])
    picture = named(tmp_path / "a.tif", more, ("thermal", *NAMES[::-1]))
    assert (numpy.moveaxis(bands.values(picture, "", 3, "uint16", NAMES)[0], -1, 0) == values).all()
    scene = units.check_form(opening.scene(picture), "a.tif", FORM)
    with opening.opened(picture) as dataset:
        read, _ = units.read(dataset, scene, (slice(0, 80), slice(0, 90)), FORM)
    assert (read == bands.scaled(numpy.moveaxis(values, 0, -1), None, FORM)).all()


def test_bands_of_other_names_are_refused_by_name(tmp_path, values):
    picture = named(tmp_path / "a.tif", values, ("red", "green", "height"))
    for read in (lambda: bands.values(picture, "a.tif", 3, "uint16", NAMES), lambda: units.check_form(opening.scene(picture), "a.tif", FORM)):
        with pytest.raises(UserError) as e:
            read()
        assert "a.tif has 3 bands of 16 bits (red, green and height), but lacks bands that the model reads: near <infrared>." in e.value.what
    assert bands.values(write(tmp_path / "b.tif", values), "", 3, "uint16", NAMES)[0].shape == (80, 90, 3), "without names the order counts"


@pytest.mark.parametrize("names", [("b", "g", "r"), ("blue", "green", "red"), ()])
def test_plain_pictures_are_read_by_the_names_of_their_bands(tmp_path, values, names):
    """The model reads r, g and b."""
    small = (values // 25).clip(0, 255).astype(numpy.uint8)
    file = named(tmp_path / "a.tif", small, names, photometric="rgb")
    coding = {"values": [0, 1], "nodata": None, "halved": False, "colours": False, "labels": []}
    encoder = Encoder({"coding": coding, "side": 64, "step": 1, "colours": ["r", "g", "b"]}, None)
    if names and names[0] == "blue":
        for read in (
            lambda: encoder.read(Example("a.tif", 0, Pixels(file), "")),
            lambda: units.check_form(opening.scene(file), "a", None, encoder.colours),
        ):
            with pytest.raises(UserError, match="lacks bands that the model reads: r, g and b"):
                read()
        return
    right = numpy.moveaxis(small[::-1] if names else small, 0, -1)
    assert (encoder.read(Example("a.tif", 0, Pixels(file), ""))[0] == right).all() and encoder.moved == ["a.tif"] * bool(names)
    scene = units.check_form(opening.scene(file), "a", None, encoder.colours)
    with opening.opened(file) as dataset:
        assert (units.read(dataset, scene, (slice(0, 80), slice(0, 90)), None)[0] == right).all()


def test_a_training_names_its_bands_and_a_prediction_reads_by_them(make_run, schemas, tmp_path):
    """The mask is told by the second band alone. In the new pictures and the new scene the bands are the other way round."""
    chance = numpy.random.default_rng(0)
    bare = {"crs": None, "transform": Affine.identity()}

    def tile(side, names, **more):
        truth = numpy.kron(chance.integers(0, 2, (side // 16, side // 16)), numpy.ones((16, 16))).astype(numpy.uint8)
        layers = {"noise": chance.normal(3000, 300, (side, side)), "signal": 2000 + 2000.0 * truth + chance.normal(0, 100, (side, side))}
        return named(tmp_path / "x.tif", numpy.stack([layers[n] for n in names]).astype(numpy.uint16), names, **more).read_bytes(), truth

    def mask(truth):
        return write(tmp_path / "m.tif", truth, **bare).read_bytes()

    dataset = {}
    for i in range(16):
        names = ("noise", "signal") if i % 4 else ("signal", "noise")  # not even all training pictures have one order
        picture, truth = tile(64, names, **bare)
        dataset |= {f"images/{i}.tif": picture, f"masks/{i}.tif": mask(truth)}
    spec = make_run(dataset, run="ft-named", model="pixels-unet", epochs=4, batch_size=4)
    assert run(str(spec), "local") == 0
    described = files.read_json(spec.parent / "out" / "model" / "trainer.json")["encoder"]
    assert sorted(described["names"]) == ["noise", "signal"]
    result = result_of(spec.parent)
    assert result["metrics"]["test"]["pixel_accuracy"]["value"] > 0.95
    stored = next(f["value"] for s in result["sections"] for b in s["blocks"] for f in b.get("facts", []) if f["name"] == "Stored")
    assert "2 bands of 16 bits (" in stored and "signal" in stored
    other = tuple(described["names"][::-1])
    (picture, right), (scene, truth) = tile(64, other, **bare), tile(160, other)
    model = {"path": "../ft-named/out/model", "run": "ft-named", "name": "m", "version": 1}
    new = {"images/new.tif": picture, "scene.tif": scene}
    asked = make_run(new, run="pr-named", kind="predict", more={"model": model})
    assert run(str(asked), "local") == 0
    answered = check_files(asked.parent, schemas)
    warned = next(w["text"] for w in answered["warnings"] if w["code"] == "bands_moved")
    assert "new.tif" in warned and "scene.tif" in warned and "are read by their names" in warned
    with rasterio.open(asked.parent / "out" / "answers" / "scene.tif") as made:
        assert (made.read(1) == truth).mean() > 0.95
    with Image.open(asked.parent / "out" / "answers" / "images" / "new.png") as said:
        assert (numpy.asarray(said) == right).mean() > 0.95
