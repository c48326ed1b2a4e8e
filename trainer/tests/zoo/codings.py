"""Rows about masks that do not say one class in one way: numbers of objects, several codings, palettes and masks in one data set."""

import io

import numpy
import tifffile
from PIL import Image

from trainer.tests.zoo.annotations import COUNT
from trainer.tests.zoo.masks import SEGMENTS, _layers, _mask
from trainer.tests.zoo.pictures import noise, png
from trainer.tests.zoo.row import Reads, Refused, Row, write

KIND = "pixels"
NUMBERS, PALETTES, SEVERAL = "numbers of objects", "palettes of their own", "several masks of a picture"
SIDE = 60
COLOURS = numpy.asarray([(0, 0, 0), (255, 0, 0), (0, 255, 0)], numpy.uint8)
NAMED = "name,r,g,b\nsoil,0,0,0\nice,255,0,0\nwater,0,255,0\n"


def _objects(number):
    """So many squares, each with a number of its own, in the order of chance."""
    pixels = numpy.zeros((SIDE, SIDE), numpy.uint16)
    places = numpy.random.default_rng(number).permutation(100)[:number]
    for value, place in enumerate(places.tolist(), 1):
        pixels[place // 10 * 6 : place // 10 * 6 + 5, place % 10 * 6 : place % 10 * 6 + 5] = value
    return pixels


def _numbered(folder, fewest):
    for i in range(COUNT):
        write(folder, f"cells/{i}.png", png(noise(i, SIDE)))
        write(folder, f"cells/{i}_masks.png", png(_objects(fewest + i % 5)))


def _numbered_named(folder):
    _numbered(folder, 3)
    write(folder, "classes.txt", "\n".join(("soil", "ice", "water", "snow", "rock", "moss", "sand", "mud")))


def _pairs(folder, mask, name="masks/{}.png"):
    for i in range(COUNT):
        write(folder, f"images/{i}.png", png(noise(i)))
        write(folder, name.format(i), mask(i))


def _two_codings(folder):
    _pairs(folder, lambda i: png(_mask(i) // (255 if i % 2 else 1)))


def _two_codings_named(folder):
    _two_codings(folder)
    write(folder, "classes.txt", "ground\nobject\n")


def _palettes(folder, turned):
    def mask(i):
        swap = turned and i % 2
        image = Image.fromarray(numpy.asarray([0, 2, 1], numpy.uint8)[_layers(i)] if swap else _layers(i), "P")
        image.putpalette(COLOURS[[0, 2, 1] if swap else [0, 1, 2]].ravel().tolist())
        data = io.BytesIO()
        image.save(data, "PNG")
        return data.getvalue()

    _pairs(folder, mask)


def _few_masks(folder):
    _pairs(folder, lambda i: png(_layers(i)))
    for i in range(COUNT, 5 * COUNT):
        write(folder, f"images/{i}.png", png(noise(i)))


def _some_jpegs(folder):
    large = [numpy.kron(_mask(i), numpy.ones((8, 8), numpy.uint8)) for i in range(COUNT)]
    for i in range(COUNT):
        write(folder, f"images/{i}.png", png(noise(i, 192)))
        write(folder, f"masks/{i}.{'png' if i % 3 else 'jpg'}", png(large[i], "PNG" if i % 3 else "JPEG"))


def _jpegs_of_numbers(folder):
    for i in range(COUNT):
        write(folder, f"images/{i}.jpg", png(noise(i, 48), "JPEG"))
        write(folder, f"masks/{i}.jpg", png(numpy.kron(_layers(i), numpy.ones((2, 2), numpy.uint8)), "JPEG"))


def _mask_for_each_class(folder):
    for i in range(COUNT):
        write(folder, f"images/img_{chr(97 + i)}.png", png(noise(i)))
        for value, label in ((1, "ice"), (2, "water")):
            write(folder, f"{label}/m{chr(97 + i)}.png", png(((_layers(i) == value) * 255).astype(numpy.uint8)))


def _masks_and_drawings(folder):
    _pairs(folder, lambda i: png(_layers(i)))
    for i in range(COUNT):
        write(folder, f"shown/{i}.png", png(COLOURS[_layers(i)]))


def _before_and_after(folder):
    for i in range(COUNT):
        write(folder, f"A/{i}.png", png(noise(i)))
        write(folder, f"B/{i}.png", png(noise(i + 100)))
        write(folder, f"label/{i}.png", png(_mask(i)))


def _colours(folder, names):
    _pairs(folder, lambda i: png(COLOURS[_layers(i)]))
    write(folder, *names)


def _below_zero(folder):
    def mask(i):
        data = io.BytesIO()
        pixels = _layers(i).astype(numpy.int16)
        pixels[:2] = -1
        tifffile.imwrite(data, pixels)
        return data.getvalue()

    _pairs(folder, mask, "masks/{}.tif")


def _cut_off(folder):
    _pairs(folder, lambda i: png(_layers(i)))
    for name in ("images/3.png", "images/4.png", "masks/5.png"):
        file = folder / name
        file.write_bytes(file.read_bytes()[: file.stat().st_size * 2 // 3])


def _turned(folder):
    for i in range(COUNT):
        exif = Image.Exif()
        exif[0x0112] = 6
        data = io.BytesIO()
        Image.fromarray(noise(i, 48)).save(data, "JPEG", exif=exif)
        write(folder, f"images/{i}.jpg", data.getvalue())
        write(folder, f"masks/{i}.png", png(numpy.kron(_layers(i), numpy.ones((2, 2), numpy.uint8))))


ROWS = (
    Row("masks-of-objects", "cells/1.png and cells/1_masks.png, whose values number up to 24 objects", "microscopes", "github.com/MouseLand/cellpose",
        "a model that finds objects", lambda f: _numbered(f, 20), Reads("instance-segmentation", "objects", rows=COUNT, classes=("object",)),
        rule=NUMBERS),
    Row("masks-of-objects-as-pixels", "the same, with task set to image-segmentation", "microscopes", "github.com/MouseLand/cellpose",
        "object and background", lambda f: _numbered(f, 20), Reads(SEGMENTS, KIND, rows=COUNT, classes=("background", "object")),
        settings={"task": SEGMENTS}),
    Row("masks-of-few-objects", "the same with up to 7 objects", "microscopes", "user reports", "the question what the values are",
        lambda f: _numbered(f, 3), Refused("mask_numbers", ("instance-segmentation", "image-segmentation"))),
    Row("masks-of-few-objects-with-names", "the same with a name for each value", "segmentation", "user reports", "the names", _numbered_named,
        Reads(SEGMENTS, KIND, rows=COUNT, classes=("soil", "ice", "water", "snow", "rock", "moss", "sand", "mud")), spares=NUMBERS),
    Row("masks-of-1-and-of-255", "masks of 0 and 1, others of 0 and 255", "labs with two annotators", "user reports", "the files of both sorts",
        _two_codings, Refused("mask_codings", ("masks/1.png", "masks/0.png"))),
    Row("masks-of-1-and-of-255-with-names", "the same with names of 0 and 1", "Pascal VOC users", "user reports", "255 has no class",
        _two_codings_named, Reads(SEGMENTS, KIND, rows=COUNT, classes=("ground", "object"))),
    Row("masks-of-many-palettes", "PNG with palettes whose colours stand in different orders", "image editors", "user reports",
        "a class for each colour", lambda f: _palettes(f, True),
        Reads(SEGMENTS, KIND, rows=COUNT, classes=("#000000", "#00ff00", "#ff0000")), rule=PALETTES),
    Row("masks-of-one-palette", "PNG with one palette", "Pascal VOC users", "host.robots.ox.ac.uk/pascal/VOC", "the places of the palette",
        lambda f: _palettes(f, False), Reads(SEGMENTS, KIND, rows=COUNT, classes=("0", "1", "2")), spares=PALETTES),
    Row("masks-of-a-few-pictures", "60 pictures, of which 12 have a mask", "field teams", "user reports", "the 12, and how many are left out",
        _few_masks, Reads(SEGMENTS, KIND, rows=COUNT, says={"pictures_alone": "48 pictures are left out"})),
    Row("some-masks-as-jpeg", "masks of two values, some of them JPEG", "beginners", "user reports", "two classes, with a warning", _some_jpegs,
        Reads(SEGMENTS, KIND, rows=COUNT, classes=("background", "object"), says={"masks_jpeg": "from 128 on"})),
    Row("masks-of-numbers-as-jpeg", "masks of 0, 1 and 2 saved as JPEG", "beginners", "user reports", "what to export instead", _jpegs_of_numbers,
        Refused("masks_jpeg", ("PNG or TIFF",)), settings={"task": SEGMENTS}),
    Row("a-mask-for-each-class", "images/img_a.png, ice/ma.png and water/ma.png", "labs", "user reports", "that one mask is needed",
        _mask_for_each_class, Refused("several_masks", ("ice/ma.png", "water/ma.png")), rule=SEVERAL),
    Row("masks-and-drawings-of-them", "images, masks, and the masks in colours", "segmentation", "user reports", "the masks", _masks_and_drawings,
        Reads(SEGMENTS, KIND, rows=COUNT, classes=("0", "1", "2"), silent=("more_masks",)), spares=SEVERAL),
    Row("before-and-after-with-masks", "A, B and label with the same names", "change detection", "justchenhao.github.io/LEVIR", "that B is not read",
        _before_and_after, Reads(SEGMENTS, KIND, rows=COUNT, says={"more_pictures": "B/0.png"})),
    Row("masks-in-named-colours", "PNG of three colours, and class_dict.csv", "CamVid users", "user reports", "the names of the colours",
        lambda f: _colours(f, ("class_dict.csv", NAMED)), Reads(SEGMENTS, KIND, rows=COUNT, classes=("soil", "water", "ice"))),
    Row("masks-in-colours-of-cvat", "PNG of three colours, and labelmap.txt", "CVAT users", "docs.cvat.ai", "the names of the colours",
        lambda f: _colours(f, ("labelmap.txt", "# label:color_rgb:parts:actions\nsoil:0,0,0::\nice:255,0,0::\nwater:0,255,0::\n")),
        Reads(SEGMENTS, KIND, rows=COUNT, classes=("soil", "water", "ice"))),
    Row("masks-in-colours-with-names", "PNG of three colours, and classes.txt without colours", "beginners", "user reports",
        "that names need colours", lambda f: _colours(f, ("classes.txt", "soil\nice\nwater\n")),
        Reads(SEGMENTS, KIND, rows=COUNT, classes=("#000000", "#00ff00", "#ff0000"), says={"names_unused": "ice,255,0,0"})),
    Row("masks-below-zero", "TIFF of 0, 1, 2 and -1", "users of NumPy", "user reports", "-1 has no class", _below_zero,
        Reads(SEGMENTS, KIND, rows=COUNT, classes=("0", "1", "2"), says={"mask_classes": "value -1: those have no class"})),
    Row("masks-and-pictures-cut-off", "two pictures and a mask that end too early", "uploads that broke off", "user reports", "left out by name",
        _cut_off, Reads(SEGMENTS, KIND, rows=COUNT - 3, says={"images": "images/3.png and images/4.png", "masks_unreadable": "masks/5.png"})),
    Row("masks-of-turned-pictures", "square photos that EXIF turns, and masks", "telephones", "exif.org", "in which frame masks are read", _turned,
        Reads(SEGMENTS, KIND, rows=COUNT, says={"turned_pictures": "as they are stored"})),
)  # fmt: skip
