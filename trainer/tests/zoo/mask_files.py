"""Rows about several masks of each picture: one for each class or for each object; and about folders that look like them."""

import hashlib

import numpy

from trainer.tests.zoo.annotations import COUNT
from trainer.tests.zoo.masks import SEGMENTS
from trainer.tests.zoo.pictures import noise, png
from trainer.tests.zoo.row import Reads, Refused, Row, write

KIND, SIDE = "pixels", 24
OUTLINES = "instance-segmentation"
OF_CLASSES, OF_OBJECTS = "a mask for each class", "a mask for each object"
ALPHA = "masks in alpha"
_WORDS = ("river", "road")
_PATHS = ("river", "road", "background")


def squares(seed: int, number: int) -> list[numpy.ndarray]:
    """So many masks of squares that lie apart."""
    found = []
    for place in numpy.random.default_rng(seed).permutation(9)[:number].tolist():
        mask = numpy.zeros((SIDE, SIDE), numpy.uint8)
        mask[place // 3 * 8 + 1 : place // 3 * 8 + 7, place % 3 * 8 + 1 : place % 3 * 8 + 7] = 255
        found.append(mask)
    return found


def _classes(mask, picture="images/{}.png", words=_WORDS, first=0):
    """A maker of pictures with a mask for each class. ``mask`` is the name of a mask."""

    def make(folder):
        for i in range(first, first + COUNT):
            write(folder, picture.format(i), png(noise(i)))
            for word, pixels in zip(words, squares(i, len(words))):
                write(folder, mask.format(i, word), png(pixels))

    return make


def _objects(mask, picture="images/{}.png", name=lambda i, number: str(number), number=lambda i: 2 + i % 4):
    """A maker of pictures with a mask for each object."""

    def make(folder):
        for i in range(COUNT):
            write(folder, picture.format(i), png(noise(i)))
            for n, pixels in enumerate(squares(i, number(i))):
                write(folder, mask.format(i, name(i, n)), png(pixels))

    return make


def _by_number(mask, first=0, picture="images/img_{:03d}.png", number=COUNT, words=_WORDS):
    """A maker of masks of classes that have nothing but a number in common with their pictures; their numbers begin at ``first``."""

    def make(folder):
        for i in range(COUNT):
            write(folder, picture.format(i), png(noise(i)))
        for i in range(number):
            for word, pixels in zip(words, squares(i, len(words))):
                write(folder, mask.format(i + first, word), png(pixels))

    return make


def _in_splits(folder):
    _classes("train/masks/{1}/{0}.png", "train/images/{}.png")(folder)
    _classes("val/masks/{1}/{0}.png", "val/images/{}.png", first=50)(folder)


def _hash(i, number=0):
    return hashlib.sha256(f"{i} {number}".encode()).hexdigest()


def _bowl(folder):
    for i in range(COUNT):
        own = _hash(i)
        write(folder, f"stage1_train/{own}/images/{own}.png", png(noise(i)))
        for n, pixels in enumerate(squares(i, 2 + i % 4)):
            write(folder, f"stage1_train/{own}/masks/{_hash(i, n + 1)}.png", png(pixels))
    write(folder, f"stage1_test/{_hash(99)}/images/{_hash(99)}.png", png(noise(99)))


def _lacking(folder):
    _classes("masks/{1}/{0}.png")(folder)
    for i in range(3):
        (folder / f"masks/road/{i}.png").unlink()


def _one_lost(folder):
    _classes("masks/{1}/{0}.png")(folder)
    write(folder, "masks/road/0.png", png(numpy.zeros((SIDE, SIDE), numpy.uint8)))
    (folder / "masks/road/5.png").unlink()


def _overlapping(folder, share):
    for i in range(COUNT):
        write(folder, f"images/{i}.png", png(noise(i)))
        first, second = squares(i, 2)
        write(folder, f"masks/river/{i}.png", png(first))
        write(folder, f"masks/road/{i}.png", png(numpy.where(first * (numpy.arange(SIDE) % 9 < share), 255, second).astype(numpy.uint8)))


def _without_pictures(folder, number):
    _classes("masks/{1}/{0}.png")(folder)
    for i in range(number):
        write(folder, f"masks/river/{50 + i}.png", png(squares(i, 1)[0]))


def _one_file_in_a_class(folder):
    _classes("masks/{1}/{0}.png")(folder)
    write(folder, "masks/lake/3.png", png(squares(3, 3)[2]))


def _other_size(folder, number):
    _classes("masks/{1}/{0}.png")(folder)
    for i in range(number):
        write(folder, f"masks/road/{i}.png", png(numpy.full((12, 12), 255, numpy.uint8)))


def _twice(folder):
    _objects("masks/{}/{}.png")(folder)
    again = squares(3, 1)[0]
    again[0, 0] = 255
    write(folder, "masks/3/5.png", png(again))
    write(folder, "masks/4/2.png", png(numpy.zeros((SIDE, SIDE), numpy.uint8)))


def _cutouts(folder, erased=False, soft=False):
    for i in range(COUNT):
        alpha = squares(i, 1)[0] // (2 if soft else 1)
        colours = noise(i) * ((alpha > 0)[..., None] if erased else 1)
        write(folder, f"birds/{i}.png", png(numpy.dstack([colours, alpha]).astype(numpy.uint8)))


def _classes_of_cutouts(folder):
    for c, name in enumerate(("bird", "bat")):
        for i in range(COUNT):
            write(folder, f"{name}/{name}_{i}.png", png(numpy.dstack([noise(100 * c + i, high=120 + 100 * c), squares(i, 1)[0]])))


def _photos(folders):
    def make(folder):
        for c, name in enumerate(folders):
            for i in range(COUNT):
                write(folder, f"{name}/{i}.png", png(noise(100 * c + i, high=120 + 60 * c)))

    return make


def _silhouettes(folder):
    for c, name in enumerate(("train/leaf", "train/twig", "test/leaf", "test/twig")):
        for i in range(COUNT):
            write(folder, f"{name}/{i}.png", png(noise(100 * c + i, high=2 + c % 2, bands=1) // (1 + c % 2) * 255))


ROWS = (
    Row("mask-folder-for-each-class", "images/1.png, masks/river/1.png and masks/road/1.png", "labs", "user reports", "the folders are the classes",
        _classes("masks/{1}/{0}.png"), Reads(SEGMENTS, KIND, rows=COUNT, classes=("background", *_WORDS)), rule=OF_CLASSES),
    Row("mask-folder-for-each-class-in-splits", "train/images/1.png and train/masks/river/1.png", "labs", "user reports",
        "the folders are the classes", _in_splits,
        Reads(SEGMENTS, KIND, rows=2 * COUNT, classes=("background", *_WORDS))),
    Row("class-folders-beside-pictures", "images/1.png, river/1.png and road/1.png", "labs", "user reports", "the folders are the classes",
        _classes("{1}/{0}.png"), Reads(SEGMENTS, KIND, rows=COUNT, classes=("background", *_WORDS)), rule=OF_CLASSES),
    Row("class-folders-with-a-background", "the same with a folder background", "labs", "user reports", "one background",
        _classes("{1}/{0}.png", words=_PATHS), Reads(SEGMENTS, KIND, rows=COUNT, classes=("background", *_WORDS))),
    Row("classes-at-the-end-of-names", "1.png, 1_mask_river.png and 1_mask_road.png", "labs", "user reports", "the ends are the classes",
        _classes("{}_mask_{}.png", "{}.png"), Reads(SEGMENTS, KIND, rows=COUNT, classes=("background", *_WORDS)), rule=OF_CLASSES),
    Row("classes-in-folders-of-pictures", "images/1.png and masks/1/river.png", "labs", "user reports", "the files are the classes",
        _classes("masks/{}/{}.png"), Reads(SEGMENTS, KIND, rows=COUNT, classes=("background", *_WORDS)), rule=OF_CLASSES),
    Row("class-folders-by-number", "images/img_001.png, masks/river/1.png and masks/road/1.png", "labs", "user reports",
        "the numbers pair, and the run says so", _by_number("masks/{1}/{0}.png"),
        Reads(SEGMENTS, KIND, rows=COUNT, classes=("background", *_WORDS), says={"annotations_repaired": "the same number"}), rule=OF_CLASSES),
    Row("class-folders-with-digits-by-number", "the same with masks/river2 in place of masks/river", "labs", "user reports",
        "as without digits, because the folders have names of their own", _by_number("masks/{1}/{0}.png", words=("river2", "road")),
        Reads(SEGMENTS, KIND, rows=COUNT, classes=("background", "river2", "road"), says={"annotations_repaired": "the same number"}),
        rule=OF_CLASSES),
    Row("folders-of-places-by-number", "images/img_001.png, masks/site1/1.png and masks/site2/1.png", "labs", "user reports",
        "no classes, because the folders differ in their numbers alone", _by_number("masks/{1}/{0}.png", words=("site1", "site2")),
        Refused("ambiguous_label")),
    Row("class-folders-beside-by-number", "images/img_001.png, river/1.png and road/1.png", "labs", "user reports",
        "the numbers pair, and the run says so", _by_number("{1}/{0}.png"),
        Reads(SEGMENTS, KIND, rows=COUNT, classes=("background", *_WORDS), says={"annotations_repaired": "the same number"})),
    Row("class-names-by-number", "images/img_001.png, masks/river_1.png and masks/road_1.png", "labs", "user reports",
        "the numbers pair, and the run says so", _by_number("masks/{1}_{0}.png"),
        Reads(SEGMENTS, KIND, rows=COUNT, classes=("background", *_WORDS), says={"annotations_repaired": "the same number"})),
    Row("class-folders-by-other-numbers", "img_000.png to img_011.png, and masks from 1 to 12", "labs", "user reports",
        "which numbers have no counterpart", _by_number("masks/{1}/{0}.png", first=1), Refused("masks_unclear", ("1 picture and 2 masks",))),
    Row("class-folders-by-some-numbers", "the same with masks of 8 of 12 pictures", "labs", "user reports", "that a mask may be another's",
        _by_number("masks/{1}/{0}.png", number=8), Refused("masks_unclear", ("4 pictures and 0 masks",))),
    Row("class-masks-counted-from-1", "images/0.png to images/11.png, and masks/river/1.png to masks/river/12.png", "labs", "user reports",
        "where both begin", _by_number("masks/{1}/{0}.png", first=1, picture="images/{}.png"), Refused("masks_shifted", ("from 0 on", "from 1 on"))),
    Row("one-mask-folder-of-a-class", "images/1.png and masks/river/1.png", "labs", "user reports", "the class has its name",
        _classes("masks/{1}/{0}.png", words=("river",)), Reads(SEGMENTS, KIND, rows=COUNT, classes=("background", "river"))),
    Row("class-masks-where-classes-are", "a class folder has masks of some pictures, none of them empty", "labs", "user reports",
        "no mask is no such class, with a warning", _lacking,
        Reads(SEGMENTS, KIND, rows=COUNT, says={"annotations_left_out": "", "annotations_repaired": "without that class"})),
    Row("a-class-mask-that-was-lost", "a class folder with empty masks lacks one", "uploads that broke off", "user reports", "left out by name",
        _one_lost, Reads(SEGMENTS, KIND, rows=COUNT - 1, says={"annotations_left_out": "images/5.png"})),
    Row("a-class-folder-with-one-file", "masks/lake has a mask of one picture alone", "labs", "user reports", "a warning, whatever becomes of it",
        _one_file_in_a_class, Reads(SEGMENTS, KIND, rows=COUNT, says={"annotations_repaired": "without that class"})),
    Row("class-masks-that-overlap", "some pixels are in the masks of two classes", "labs", "user reports", "these have no class",
        lambda f: _overlapping(f, 1), Reads(SEGMENTS, KIND, rows=COUNT, says={"masks_overlap": "neither learnt nor measured"})),
    Row("class-masks-of-two-annotators", "masks/anna and masks/bob of the same things", "labs", "user reports", "what to do",
        lambda f: _overlapping(f, 9), Refused("masks_overlap", ("several annotators",))),
    Row("class-masks-without-pictures", "a class mask of which there is no picture", "half an upload", "user reports", "left out by name",
        lambda f: _without_pictures(f, 1), Reads(SEGMENTS, KIND, rows=COUNT, says={"annotations_left_out": "masks/river/50.png"})),
    Row("many-class-masks-without-pictures", "nine of them", "half an upload", "user reports", "how many, and what to do",
        lambda f: _without_pictures(f, 9), Refused("masks_alone", ("9 of 33 masks", "masks/river/50.png"))),
    Row("a-class-mask-of-another-size", "one of 24 masks has half the size", "exports of several programs", "user reports",
        "its picture is left out by name", lambda f: _other_size(f, 1),
        Reads(SEGMENTS, KIND, rows=COUNT - 1, says={"annotations_left_out": "masks/road/0.png"})),
    Row("class-masks-of-another-size", "all pictures have a mask of half the size", "exports of several programs", "user reports",
        "both sizes", lambda f: _other_size(f, COUNT), Refused("mask_sizes", ("24 x 24",))),
    Row("class-masks-for-objects", "masks for each class, with task set to instance-segmentation", "labs", "user reports", "what to set",
        _classes("masks/{1}/{0}.png"), Refused("no_objects", (SEGMENTS,)), settings={"task": OUTLINES}),
    Row("data-science-bowl", "stage1_train/ID/images/ID.png and stage1_train/ID/masks/HASH.png", "microscopes",
        "kaggle.com/c/data-science-bowl-2018", "a model that finds objects", _bowl,
        Reads(OUTLINES, "objects", rows=COUNT, classes=("object",), says={"not_annotated": "stage1_test"}), rule=OF_OBJECTS),
    Row("masks-in-a-folder-for-each-picture", "images/1.png and masks/1/0.png, masks/1/1.png and so on", "microscopes", "user reports",
        "a model that finds objects", _objects("masks/{}/{}.png"), Reads(OUTLINES, "objects", rows=COUNT, classes=("object",)), rule=OF_OBJECTS),
    Row("numbered-masks-with-a-class", "1.png, 1_car_0.png, 1_car_1.png and so on", "labs", "user reports", "objects of this class",
        _objects("{}_car_{}.png", "{}.png"), Reads(OUTLINES, "objects", rows=COUNT, classes=("car",)), rule=OF_OBJECTS),
    Row("masks-for-each-object-as-pixels", "masks of objects, with task set to image-segmentation", "microscopes", "user reports",
        "object and background", _bowl, Reads(SEGMENTS, KIND, rows=COUNT, classes=("background", "object")), settings={"task": SEGMENTS}),
    Row("two-masks-of-an-object", "one object has two masks, and one mask is empty", "microscopes", "user reports", "left out by name", _twice,
        Reads(OUTLINES, "objects", rows=COUNT, says={"annotations_left_out": "two masks show the same object, for example in images/3.png"})),
    Row("as-many-masks-in-each-picture", "masks/1/0.png to masks/1/2.png, three of each picture", "labs", "user reports",
        "the question whether they are classes", _objects("masks/{}/{}.png", number=lambda i: 3), Refused("mask_numbers", (SEGMENTS, OUTLINES)),
        spares=OF_OBJECTS),
    Row("as-many-masks-as-asked", "the same with task set to instance-segmentation", "labs", "user reports", "objects",
        _objects("masks/{}/{}.png", number=lambda i: 3), Reads(OUTLINES, "objects", rows=COUNT, classes=("object",)), settings={"task": OUTLINES}),
    Row("as-many-masks-as-classes", "the same with task set to image-segmentation", "labs", "user reports", "the numbers are classes",
        _objects("masks/{}/{}.png", number=lambda i: 3),
        Reads(SEGMENTS, KIND, rows=COUNT, classes=("background", "0", "1", "2"), says={"mask_numbers": OUTLINES}), settings={"task": SEGMENTS}),
    Row("classes-with-numbers", "1_class1.png and 1_class3.png, not each in all pictures", "labs", "user reports",
        "the question whether they are classes", _objects("{}_class{}.png", "{}.png"), Refused("mask_numbers"), spares=OF_OBJECTS),
    Row("masks-in-alpha", "pictures with an alpha channel of 0 and 255, with task set", "image editors", "user reports", "object and background",
        _cutouts, Reads(SEGMENTS, KIND, rows=COUNT, classes=("background", "object")), settings={"task": SEGMENTS}, rule=ALPHA),
    Row("masks-in-alpha-unasked", "the same without a task", "image editors", "user reports", "the ways to give labels", _cutouts,
        Refused("unlabelled_images"), spares=ALPHA),
    Row("cutouts", "the same, erased outside of the objects", "image editors", "user reports", "that the background is not there",
        lambda f: _cutouts(f, erased=True), Refused("alpha_erased", ("images/a.png",)), settings={"task": SEGMENTS}),
    Row("half-clear-pictures", "an alpha channel with other values", "image editors", "user reports", "no masks", lambda f: _cutouts(f, soft=True),
        Refused("no_masks"), settings={"task": SEGMENTS}),
    Row("classes-of-cutouts", "folders of classes, whose pictures have such an alpha channel", "image editors", "user reports", "a classifier",
        _classes_of_cutouts, Reads("image-classification", classes=("bat", "bird")), spares=ALPHA),
    Row("folders-of-silhouettes", "train and test with folders of drawings of two values", "handwriting", "user reports", "a classifier",
        _silhouettes, Reads("image-classification", classes=("leaf", "twig")), spares=OF_CLASSES),
    Row("three-folders-of-photos", "cat, dog and fox with the same numbers", "camera users", "user reports", "a classifier",
        _photos(("cat", "dog", "fox")), Reads("image-classification", classes=("cat", "dog", "fox")), spares=OF_CLASSES),
    Row("image-to-image", "input and target with photos of the same names", "restoration", "phillipi.github.io/pix2pix", "not taken for masks",
        _photos(("photo/input", "photo/target")), Reads("image-classification"), spares=OF_OBJECTS),
)  # fmt: skip
