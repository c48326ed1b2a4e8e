"""Several masks of each picture: which names pair them, what they are, and what of them cannot be used."""

from pathlib import Path

import numpy
import pytest
from PIL import Image

from trainer.core.input import Input
from trainer.data.annotations import mask_files
from trainer.data.annotations.mask_files import CLASSES, EITHER, OBJECTS
from trainer.errors import UserError
from trainer.kinds.annotated import mask_files as reader, runs
from trainer.kinds.annotated.shapes import LeftOut
from trainer.tests.zoo.pictures import noise, png
from trainer.tests.zoo.row import write

SIDE = 12


def _inputs(folder):
    files = sorted(f for f in folder.rglob("*") if f.is_file())
    return [Input(f.relative_to(folder).as_posix(), f, f.stat().st_size, "") for f in files]


def _mask(number=0):
    pixels = numpy.zeros((SIDE, SIDE), numpy.uint8)
    pixels[number % SIDE] = 255
    return png(pixels)


def _made(folder, listed, pictures=("a", "b", "c"), place="images/{}.png"):
    """Pictures, and masks of these names."""
    for number, name in enumerate(pictures):
        write(folder, place.format(name), png(noise(number, SIDE)))
    for number, name in enumerate(listed):
        write(folder, name, _mask(number))
    return mask_files.of(_inputs(folder))


@pytest.mark.parametrize(
    ("listed", "place", "form", "words"),
    [
        ([f"masks/{w}/{n}.png" for n in "abc" for w in ("river", "road")], "images/{}.png", CLASSES, {"river", "road"}),
        ([f"{w}/{n}.png" for n in "abc" for w in ("river", "road")], "images/{}.png", CLASSES, {"river", "road"}),
        ([f"d/masks/{w}/x/{n}.png" for n in "abc" for w in ("river", "road")], "d/images/x/{}.png", CLASSES, {"river", "road"}),
        ([f"masks/{n}_{w}_mask.png" for n in "abc" for w in ("river", "road")], "images/{}.png", CLASSES, {"river", "road"}),
        ([f"{n}_mask_{w}.png" for n in "abc" for w in ("river", "dirt road")], "{}.png", CLASSES, {"river", "dirt_road"}),
        ([f"masks/{n}/{w}.png" for n in "abc" for w in ("river", "road")], "{}.png", CLASSES, {"river", "road"}),
        ([f"masks/{n}/mask.png" for n in "abc"], "images/{}.png", CLASSES, {"object"}),
        (["masks/a/1.png", *(f"masks/{n}/{i}.png" for n in "bc" for i in (1, 2, 3))], "images/{}.png", OBJECTS, {"object"}),
        (["a_car_1.png", *(f"{n}_{w}_{i}.png" for n in "bc" for w in ("car", "bus") for i in (1, 2))], "{}.png", OBJECTS, {"car", "bus"}),
        ([f"s/{n}/masks/{n * 3}{w}.png" for n in "abc" for w in "xyz"], "s/{0}/images/{0}.png", OBJECTS, {"object"}),
        ([f"masks/{n}/{i}.png" for n in "abc" for i in (1, 2)], "images/{}.png", EITHER, {"1", "2"}),
        ([f"masks/{n}/{i}.png" for n, own in (("a", "13"), ("b", "12"), ("c", "23")) for i in own], "images/{}.png", EITHER, {"1", "2", "3"}),
        ([f"{n}_mask.png" for n in "abc"], "{}.png", None, None),
        ([f"masks/{n}.png" for n in "abc"], "images/{}.png", None, None),
        ([f"masks/train/{n}.png" for n in "abc"], "images/train/{}.png", None, None),
        ([f"masks/{w}/{n}.png" for n in "xyz" for w in ("river", "road")], "images/{}.png", None, None),
    ],
)
def test_names_say_what_masks_are(tmp_path, listed, place, form, words):
    held = _made(tmp_path, listed, place=place)
    assert (held and held.form) == form
    if held is not None:
        assert {word for _, masks in held.pictures for word, _ in masks} == words and set(held.files) == set(listed)
        assert [p.name for p, _ in held.pictures] == [place.format(n) for n in "abc"]


def test_pictures_and_drawings_are_no_masks(tmp_path):
    listed = [f"{w}/{n}.png" for n in "abc" for w in ("river", "road")]
    for number, name in enumerate(listed):
        write(tmp_path / "photos", name, png(noise(number, SIDE)))
    assert _made(tmp_path / "photos", []) is None
    assert _made(tmp_path / "drawings", listed, place="lake/{}.png") is not None
    for n in "abc":
        write(tmp_path / "drawings", f"lake/{n}.png", _mask())
    assert mask_files.of(_inputs(tmp_path / "drawings")) is None


@pytest.mark.parametrize(
    ("pixels", "form", "inside"),
    [
        (numpy.array([[0, 1], [1, 0]], numpy.uint8), "PNG", [[0, 1], [1, 0]]),
        (numpy.array([[0, 7], [0, 0]], numpy.uint16), "TIFF", [[0, 1], [0, 0]]),
        (numpy.array([[True, False], [False, False]]), "PNG", [[1, 0], [0, 0]]),
        (numpy.array([[[0, 0, 0], [255, 0, 0]], [[0, 0, 0], [0, 0, 0]]], numpy.uint8), "PNG", [[0, 1], [0, 0]]),
        (numpy.array([[[255, 255, 255, 0], [255, 255, 255, 255]]] * 2, numpy.uint8), "PNG", [[0, 1], [0, 1]]),
        (numpy.kron([[0, 255], [255, 0]], numpy.ones((8, 8))).astype(numpy.uint8), "JPEG", numpy.kron([[0, 1], [1, 0]], numpy.ones((8, 8)))),
        (numpy.array([[0, 1], [2, 0]], numpy.uint8), "PNG", None),
        (numpy.full((8, 8), 128, numpy.uint8), "JPEG", None),
    ],
)
def test_what_is_not_black_is_inside(tmp_path, pixels, form, inside):
    Image.fromarray(pixels).save(tmp_path / "m", form)
    mask = Input("m", tmp_path / "m", 1, "")
    if inside is None:
        with pytest.raises(ValueError, match="other values"):
            reader._inside(mask)
    else:
        assert (reader._inside(mask) == numpy.asarray(inside, bool)).all()


def test_a_mask_that_cannot_be_read_leaves_out_its_picture(tmp_path):
    _made(tmp_path, [f"masks/{w}/{n}.png" for n in "abcd" for w in ("river", "road")], "abcd")
    Path(tmp_path / "masks/road/b.png").write_bytes(_mask()[:-30])
    left = LeftOut()
    listed, _ = reader.read(_inputs(tmp_path), CLASSES, left, LeftOut())
    assert [one.names for one in listed] == [("images/a.png",), ("images/c.png",), ("images/d.png",)]
    assert [name for names in left.names.values() for name in names] == ["masks/road/b.png"]
    assert [d.label for d in listed[0].drawn] == ["river", "road"] and runs.mask(listed[0].drawn[0].runs).sum() == SIDE


def test_one_object_counts_once_and_others_may_touch_it(tmp_path):
    masks = numpy.zeros((4, SIDE, SIDE), bool)
    masks[0, :5, :5] = masks[1, :5, :5] = masks[2, 3:8, 3:8] = masks[3, :2, :2] = True
    masks[1, 0, 0] = False
    left = LeftOut()
    kept = reader._different("a.png", [("object", m) for m in masks], left)
    assert [int(m.sum()) for _, m in kept] == [25, 25, 4] and left.counts == {"two masks show the same object": 1}


def test_white_masks_with_black_objects_are_no_masks_of_objects(tmp_path):
    for number, name in enumerate("abc"):
        write(tmp_path, f"images/{name}.png", png(noise(number, SIDE)))
        for i in range(2 + number):
            white = numpy.full((SIDE, SIDE), 255, numpy.uint8)
            white[i, i] = 0
            write(tmp_path, f"masks/{name}/{i}.png", png(white))
    with pytest.raises(UserError, match="show the same"):
        reader.read(_inputs(tmp_path), OBJECTS, LeftOut(), LeftOut())
