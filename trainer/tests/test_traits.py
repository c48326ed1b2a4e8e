"""Traits of texts and pictures: what a shift of them looks like, and files that cannot be read."""

from pathlib import Path

import numpy
import pytest
import tifffile
from PIL import Image

from trainer.core.example import Example
from trainer.data.pictures import traits as of_pictures
from trainer.kinds.text import traits as of_texts
from trainer.shift import profile
from trainer.shift.comparison import compare


def pictures(folder: Path, change=lambda pixels: pixels, deep: bool = False) -> list[Example]:
    chance = numpy.random.default_rng(len(folder.name))
    folder.mkdir()
    found = []
    for i in range(30):
        pixels = change(numpy.kron(chance.integers(60, 180, (8, 8)), numpy.ones((4, 4))) + chance.normal(0, 5, (32, 32)))
        file = folder / f"{i}.{'tif' if deep else 'png'}"
        if deep:
            tifffile.imwrite(file, (20 * pixels).astype(numpy.uint16), photometric="minisblack")
        else:
            Image.fromarray(pixels.clip(0, 255).astype(numpy.uint8)).save(file)
        found.append(Example(file.name, 0, file, ""))
    return found


def found(before: list[Example], now: list[Example]) -> set[str]:
    known = profile.restored(profile.learn(of_pictures.of([e.content for e in before])))
    return {f.name for f in compare(known, of_pictures.of([e.content for e in now])).findings}


@pytest.mark.parametrize("deep", [False, True])
@pytest.mark.parametrize(
    ("change", "names"),
    [
        (lambda p: p, set()),
        (lambda p: p - 50, {"the brightness"}),
        (lambda p: 120 + (p - 120) / 4, {"the contrast", "the sharpness"}),
        (lambda p: p[:, :16], {"the width"}),
    ],
)
def test_other_pictures_are_told_by_their_trait(tmp_path, deep, change, names):
    said = found(pictures(tmp_path / "before", deep=deep), pictures(tmp_path / "now", change, deep))
    assert names <= said and bool(said) == bool(names)


def test_bands_in_another_order_are_told(tmp_path):
    def files(folder, order):
        (tmp_path / folder).mkdir()
        for i in range(30):
            pixels = numpy.random.default_rng(i).normal((300, 900, 3000), 50, (16, 16, 3)).astype(numpy.uint16)
            tifffile.imwrite(tmp_path / folder / f"{i}.tif", pixels[..., list(order)], photometric="rgb")
        return sorted((tmp_path / folder).iterdir())

    known = profile.restored(profile.learn(of_pictures.of(files("before", (0, 1, 2)), sized=False)))
    said = {f.name for f in compare(known, of_pictures.of(files("now", (2, 1, 0)), sized=False)).findings}
    assert said == {"the brightness of band 1", "the brightness of band 3"}


def test_a_picture_that_cannot_be_read_has_no_traits(tmp_path):
    (tmp_path / "a.png").write_bytes(b"\x89PNG no more")
    assert all(numpy.isnan(t.values).all() for t in of_pictures.of([tmp_path / "a.png"]))
    tifffile.imwrite(tmp_path / "b.tif", numpy.full((4, 4), numpy.nan, numpy.float32))
    width, _, *others = (t.values[0] for t in of_pictures.of([tmp_path / "b.tif"]))
    assert width == 4 and numpy.isnan(others).all()


def test_texts_have_a_length_and_words():
    length, words = of_texts.of(
        [Example("a.csv", 2, "The River, größer", ""), Example("a.csv", 3, ("two", "texts"), ""), Example("a.csv", 4, "", "")]
    )
    assert length.values.tolist() == [17, 9, 0]
    assert list(words.values) == [["the", "river", "größer"], ["two", "texts"], []]
