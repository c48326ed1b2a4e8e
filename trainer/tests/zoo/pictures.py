"""Rows about pictures: layouts of classes, and pictures as instruments make them."""

import io

import numpy
from PIL import Image

from trainer.tests.zoo.row import Reads, Refused, Row, write

COUNT = 12  # pictures of a class


def png(pixels: numpy.ndarray, kind: str = "PNG") -> bytes:
    """``pixels`` as the bytes of a picture file."""
    data = io.BytesIO()
    Image.fromarray(pixels).save(data, kind)
    return data.getvalue()


def noise(seed: int, side: int = 24, low: int = 0, high: int = 255, bands: int = 3) -> numpy.ndarray:
    """A picture of 8 bits with values from ``low`` to below ``high``."""
    shape = (side, side, bands) if bands > 1 else (side, side)
    return numpy.random.default_rng(seed).integers(low, high, size=shape, dtype=numpy.uint8)


def _two_classes(folder, names=("cat", "dog"), prefix=""):
    for c, name in enumerate(names):
        for i in range(COUNT):
            write(folder, f"{prefix}{name}/{name}_{c * 100 + i}.png", png(noise(c * 100 + i, high=120 + 100 * c)))


def _split_folders(folder):
    for s, split in enumerate(("train", "val", "test")):
        for c, name in enumerate(("cat", "dog")):
            for i in range(COUNT):
                write(folder, f"{split}/{name}/{i}.png", png(noise(s * 1000 + c * 100 + i, high=120 + 100 * c)))


def _named_in_table(folder):
    lines = ["file,species"]
    for i in range(2 * COUNT):
        write(folder, f"photos/{i:03}.png", png(noise(i, high=120 + 100 * (i % 2))))
        lines.append(f"{i:03}.png,{'oak' if i % 2 else 'elm'}")
    write(folder, "labels.csv", "\n".join(lines) + "\n")


def _missing_pictures(folder):
    lines = ["file,species"] + [f"{i:03}.png,{'oak' if i % 2 else 'elm'}" for i in range(2 * COUNT)]
    write(folder, "labels.csv", "\n".join(lines) + "\n")
    write(folder, "logo.png", png(noise(1)))


def _broken(folder):
    _two_classes(folder)
    for name in ("cat", "dog"):
        write(folder, f"{name}/{name}_broken.png", png(noise(7))[:200])


def _one_folder(folder):
    for i in range(COUNT):
        write(folder, f"pictures/{i}.png", png(noise(i)))


def _phone(folder):
    for i in range(COUNT):
        write(folder, f"IMG_{i:04}.HEIC", b"\x00\x00\x00\x18ftypheic" + bytes(50))


ROWS = (
    Row("class-folders", "a folder of PNG files for each class", "camera users", "ncsa extractors-cv", "a classifier of both classes", _two_classes,
        Reads("image-classification", rows=2 * COUNT, classes=("cat", "dog"), encoder={})),
    Row("class-folders-in-splits", "train, val and test, each with a folder for each class", "users of Keras", "keras.io", "the splits are kept",
        _split_folders, Reads("image-classification", classes=("cat", "dog"), splits=(24, 24, 24))),
    Row("table-names-pictures", "a CSV with file names and a class, pictures in a folder", "herbaria", "iNaturalist", "classes from the table",
        _named_in_table, Reads("image-classification", rows=2 * COUNT, classes=("elm", "oak"), label="species"), rule="pictures named in a table"),
    Row("table-names-missing-pictures", "a CSV with file names that are not there", "anyone who uploaded only the table", "user reports",
        "a sentence that the pictures are missing", _missing_pictures, Refused("no_images", ("000.png",)), spares="pictures named in a table"),
    Row("truncated-pictures", "class folders with one truncated PNG in each", "uploads that broke off", "torchvision issues",
        "the broken ones are left out and named", _broken, Reads("image-classification", rows=2 * COUNT, says={"images": "2 images are left out"})),
    Row("one-folder", "one folder of pictures without any label", "beginners", "user reports", "the ways to give labels", _one_folder,
        Refused("unlabelled_images", ("ZIP",))),
    Row("phone-pictures", "HEIC files of a phone", "phones", "Clowder 1.21 mime types", "which format to save them in", _phone,
        Refused("no_table", ("use PNG or JPEG",))),
)  # fmt: skip
