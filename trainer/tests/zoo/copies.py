"""Rows about near copies in training and test, and labels that pictures tell by how they are stored. What is learnt from them is chance."""

import random

import numpy
from PIL import Image

from trainer.tests.zoo.masks import SEGMENTS, TRAINED
from trainer.tests.zoo.pictures import png
from trainer.tests.zoo.row import Reads, Row, write

CODE, FORM = "near_copies", "label_in_form"
COPIES, TEXTS, STORED = "near copies of pictures", "near copies of texts", "labels in the form of pictures"
CLASSIFIED, CLASSES = "image-classification", ("elm", "oak")
KEPT = "copies of a picture stay in one split"
_WORDS = (
    "patient sample river water soil model result high low increase method field plant year growth rate area local small large new study shows "
    "between during after with from found measured site"
).split()


def _ground(seed, side=48):
    """Soft spots of chance, as photos have them."""
    spots = numpy.random.default_rng(seed).integers(40, 200, size=(12, 12, 3), dtype=numpy.uint8)
    return numpy.asarray(Image.fromarray(spots).resize((side, side), Image.Resampling.BILINEAR))


def _copies(pixels):
    """A picture, mirrored, turned, lit, and smaller."""
    lit = numpy.clip(pixels * 1.2, 0, 255).astype(numpy.uint8)
    smaller = numpy.asarray(Image.fromarray(pixels).resize((36, 36), Image.Resampling.BICUBIC))
    return [numpy.ascontiguousarray(p) for p in (pixels, pixels[:, ::-1], numpy.rot90(pixels), lit, smaller)]


def _augmented(folder):
    numbers = random.Random(0).sample(range(10_000), 120)
    for i in range(24):
        for k, pixels in enumerate(_copies(_ground(i))):
            write(folder, f"{CLASSES[i % 2]}/{numbers[5 * i + k]}.png", png(pixels))


def _augmented_with_splits(folder):
    for i in range(24):
        for split, pixels in zip(("train", "train", "train", "val", "test"), _copies(_ground(i))):
            write(folder, f"{split}/{CLASSES[i % 2]}/{split}{i}_{pixels.shape[0]}_{int(pixels.sum())}.png", png(pixels))


def _stored(name, form, count=24, classes=CLASSES):
    """A maker of pictures of chance, each stored as ``form`` gives it: its bytes and its ending by class and number."""

    def make(folder):
        for i in range(count):
            for c, label in enumerate(classes):
                content, ending = form(_ground(100 * i + c), c, i)
                write(folder, f"{label}/{name}{2 * i + c}.{ending}", content)

    return make


def _one_jpeg(pixels, c, i):
    return (png(pixels, "JPEG"), "jpg") if c else (png(pixels), "png")


def _mixed(pixels, c, i):
    return (png(pixels, "JPEG"), "jpg") if i % 2 else (png(pixels), "png")


def _sizes(pixels, c, i):
    return png(pixels[: 40 + 8 * c]), "png"


def _fixed_camera(folder):
    """Half of the pictures are the same place in another light."""
    for i in range(48):
        chance = numpy.random.default_rng(i)
        pixels = numpy.clip(_ground(7) * chance.uniform(0.7, 1.2) + chance.normal(0, 4, (48, 48, 3)), 0, 255).astype(numpy.uint8)
        if i % 2:
            pixels[10:30, 5 + i % 20 : 25 + i % 20] = chance.integers(0, 255, (20, 20, 3))
        write(folder, f"{('empty', 'animal')[i % 2]}/{i:02}.png", png(pixels))


def _masked(folder, names=("", "_flip", "_rot")):
    for i in range(12):
        pixels, mask = _ground(i), numpy.zeros((48, 48), numpy.uint8)
        mask[10 + i : 30, 8:40] = 1
        for name, turned, of_turned in zip(names, _copies(pixels), _copies(mask)):
            write(folder, f"images/field{i}{name}.png", png(turned))
            write(folder, f"masks/field{i}{name}.png", png(of_turned))


def _patients(folder):
    for i in range(40):
        for part, pixels in (("images", _ground(i)), ("masks", (_ground(i)[..., 0] > 100).astype(numpy.uint8))):
            write(folder, f"patient{i % 4}/{part}/{i}.png", png(pixels))


def _templates(texts, labels, count=200):
    """A maker of a table of ``texts`` templates with the names and numbers of people; ``labels`` gives the label of a template and a row."""

    def make(folder):
        chance = random.Random(1)
        bodies = [" ".join(chance.choices(_WORDS, k=20)) for _ in range(texts)]
        lines = ["text,label"]
        for i in range(count):
            greeting = f"Dear {chance.choice(('Ann', 'Bob', 'Eva', 'Flo'))} {chance.randint(1000, 9999)}"
            lines.append(f"{greeting} {bodies[i % texts]},{labels(i % texts, i)}")
        write(folder, "letters.csv", "\n".join(lines) + "\n")

    return make


ROWS = (
    Row("augmented-pictures", "class folders with mirrored, turned, lit and smaller copies under names of chance", "beginners", "user reports", KEPT,
        _augmented, Reads(CLASSIFIED, rows=120, classes=CLASSES, says={CODE: "Near copies stay in one split"}), rule=COPIES),
    Row("augmented-pictures-with-splits", "train, val and test with copies of the same pictures", "beginners", "user reports",
        "too good, in a warning", _augmented_with_splits, Reads(CLASSIFIED, says={CODE: "24 of 24 test pictures are nearly the same as training"})),
    Row("augmented-pictures-at-random", "copies with data.split: random", "anyone", "made", "too good, in a warning", _augmented,
        Reads(CLASSIFIED, says={CODE: "the metrics are too good"}), settings={"split": "random"}),
    Row("augmented-masks", "images and masks, also mirrored and turned", "segmentation", "user reports", KEPT, _masked,
        Reads(SEGMENTS, rows=36, says={CODE: "Near copies stay in one split"}), rule=COPIES),
    Row("a-fixed-camera", "empty and animal before one background", "camera traps", "user reports", "nothing is a copy", _fixed_camera,
        Reads(CLASSIFIED, rows=48, silent=(CODE, FORM)), spares=COPIES),
    Row("masks-of-patients", "patient0/images/0.png and patient0/masks/0.png of four patients", "medicine", "user reports", TRAINED, _patients,
        Reads(SEGMENTS, rows=40, says={"scenes": "fewer than 10 scenes"})),
    Row("one-class-as-jpeg", "one class is PNG and the other one JPEG", "web searches", "user reports", "a warning", _stored("p", _one_jpeg),
        Reads(CLASSIFIED, says={FORM: "the format (elm: PNG and oak: JPEG)"}), rule=STORED),
    Row("a-size-for-each-class", "classes of 48 x 40 and 48 x 48 pixels", "web searches", "user reports", "a warning", _stored("p", _sizes),
        Reads(CLASSIFIED, says={FORM: "the size in pixels"}), rule=STORED),
    Row("formats-in-both-classes", "PNG and JPEG in both classes", "web searches", "made", "no word", _stored("p", _mixed),
        Reads(CLASSIFIED, silent=(FORM, CODE)), spares=STORED),
    Row("letters-of-templates", "20 texts with other names and numbers, ten times each", "offices", "user reports",
        "copies of a text stay in one split",
        _templates(20, lambda template, i: ("yes", "no")[template % 2]),
        Reads("text-classification", rows=200, says={CODE: "Near copies stay in one split"}), rule=TEXTS),
    Row("answers-in-one-form", "the same form with other answers", "surveys", "made", "nothing is a copy",
        _templates(2, lambda template, i: ("yes", "no")[template]), Reads("text-classification", silent=(CODE,)), spares=TEXTS),
)  # fmt: skip
