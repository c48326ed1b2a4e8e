"""Rows about what is known of pictures: a number in a table or in metadata, a class in the name of a file."""

import random

from trainer.tests.zoo.pictures import noise, png
from trainer.tests.zoo.row import Reads, Refused, Row, write

COUNT = 30


def _named(folder, names):
    for i, name in enumerate(names):
        write(folder, name, png(noise(i)))


def _flat(pattern, *values):
    """A maker of files whose names follow ``pattern``; ``values`` are given for a number."""

    def make(folder):
        _named(folder, [pattern.format(*(v(i) for v in values), i) for i in range(COUNT)])

    return make


def _table(header, *cells):
    """A maker of pictures and a table with these columns; ``cells`` give the cell of a row."""

    def make(folder):
        _named(folder, [f"photos/p{i:03}.png" for i in range(COUNT)])
        write(folder, "measures.csv", "\n".join([header, *(",".join([f"p{i:03}.png", *(str(c(i)) for c in cells)]) for i in range(COUNT))]) + "\n")

    return make


def _many(more):
    """A maker of 90 pictures with two measures, of which one has ``more`` of a number, and a species in turn."""

    def make(folder):
        chance = random.Random(8)
        _named(folder, [f"photos/p{i:03}.png" for i in range(90)])
        rows = [f"p{i:03}.png,{chance.gauss(9 + more(i), 1):.2f},{chance.gauss(3, 1):.2f},{('elm', 'oak')[i % 2]}" for i in range(90)]
        write(folder, "plants.csv", "\n".join(["photo,area,depth,species", *rows]) + "\n")

    return make


def _in_words(i):
    return ("maize", "wheat")[i % 2]


def _height(i):
    return round(40 + random.Random(i).random() * 100, 1)


def _latitude(i):
    return round(40 + random.Random(i).random(), 5)


def _longitude(i):
    return round(-88 + random.Random(-i).random(), 5)


def _heights_in_metadata():
    return {f"p{i:03}.png": str(_height(i)) for i in range(COUNT)}


BESIDE = "columns beside pictures that tell the label"
CLASSIFIED, MEASURED = "image-classification", "image-regression"

ROWS = (
    Row("plant-heights", "a CSV with a file name and a height in each row", "TERRA-REF", "docs.terraref.org", "the number is predicted",
        _table("file,height_cm", _height), Reads(MEASURED, rows=COUNT, label="height_cm"), rule="a number for each picture"),
    Row("heights-and-places", "file name, latitude, longitude and height", "field teams", "user reports", "the height, not the place",
        _table("file,latitude,longitude,height_cm", _latitude, _longitude, _height), Reads(MEASURED, label="height_cm"),
        rule="a number for each picture"),
    Row("places-alone", "file name, latitude and longitude", "EXIF exports", "exiftool.org", "asked back: a place is no target",
        _table("file,latitude,longitude", _latitude, _longitude), Refused("no_label", ("latitude", "label_column")),
        spares="a number for each picture"),
    Row("two-measures", "file name, height and weight", "phenotyping", "user reports", "asked back",
        _table("file,height,weight", _height, _latitude), Refused("ambiguous_label", ("height and weight",))),
    Row("chosen-measure", "the same with label_column", "phenotyping", "user reports", "the chosen one",
        _table("file,height,weight", _height, _latitude), Reads(MEASURED, label="height"), settings={"label_column": "height"}),
    Row("pictures-beside-measures", "the same with task: tabular-regression", "phenotyping", "user reports", "the weight, and how the pictures look",
        _table("file,height,weight", _height, lambda i: _height(i + 99)), Reads("tabular-regression", label="height",
        says={"picture_columns": "colours and edges", "columns_by_loss": "file is"}),
        settings={"label_column": "height", "task": "tabular-regression"}),
    Row("pictures-beside-telling-measures", "file name, two measures that tell the species, and the species", "herbaria", "made",
        "the pictures, and what the columns beside them are worth", _many(lambda i: 5 * (i % 2)), Reads(CLASSIFIED, label="species",
        says={"image_column": "although they tell species: the loss on held-out rows is", "task": "images named in a table"}), rule=BESIDE),
    Row("pictures-beside-chance", "the same with measures of chance", "herbaria", "made", "the pictures, and that the other columns are not read",
        _many(lambda i: 0), Reads(CLASSIFIED, label="species", says={"image_column": "not read. For a model of all columns"}), spares=BESIDE),
    Row("species-codes", "file name and a code of the species, 25 whole numbers", "herbaria", "user reports", "asked back: codes are no amounts",
        _table("file,species_code", lambda i: 1000 + 37 * (i % 25)), Refused("ambiguous_label", ("image-classification",)),
        spares="a number for each picture"),
    Row("counted-classes", "file name and a class 0, 1 or 2", "anyone", "user reports", "classes", _table("file,grade", lambda i: i % 3),
        Reads(CLASSIFIED, classes=("0", "1", "2"), label="grade"), spares="a number for each picture"),
    Row("counts-of-birds", "file name and a count from 0 to 9", "wildlife", "user reports", "a number, not ten classes",
        _table("file,bird_count", lambda i: i * 7 % 10), Reads(MEASURED, label="bird_count", says={"task": "counts by their name"}),
        rule="a number for each picture"),
    Row("counts-as-classes", "the same with task: image-classification", "wildlife", "user reports", "the setting wins",
        _table("file,bird_count", lambda i: i * 7 % 3), Reads(CLASSIFIED, label="bird_count"), settings={"task": "image-classification"}),
    Row("heights-in-metadata", "pictures with a number in their metadata", "TERRA-REF", "clowder metadata", "the number is predicted",
        lambda folder: _named(folder, [f"p{i:03}.png" for i in range(COUNT)]),
        Reads(MEASURED, rows=COUNT, label="metadata.height", says={"task": "30 images have numbers"}), settings={"label_from": "metadata.height"},
        labels=_heights_in_metadata(), rule="numbers in metadata"),
    Row("species-in-metadata", "pictures with a species in their metadata", "herbaria", "clowder metadata", "classes",
        lambda folder: _named(folder, [f"p{i:03}.png" for i in range(COUNT)]), Reads(CLASSIFIED, classes=("maize", "wheat")),
        settings={"label_from": "metadata.species"}, labels={f"p{i:03}.png": _in_words(i) for i in range(COUNT)}, spares="numbers in metadata"),
    Row("class-in-name", "maize_rep2_0412.png in one folder", "phenotyping; Clowder flattens folders", "clowder2 issue 925",
        "the crop is the class", _flat("{}_rep{}_{:04}.png", _in_words, lambda i: i % 3),
        Reads(CLASSIFIED, rows=COUNT, classes=("maize", "wheat"), says={"task": "maize in maize_rep"}), rule="class in the name"),
    Row("genotype-in-name", "B73_rep2_0412.png", "maize breeders", "TERRA-REF", "the line is the class",
        _flat("{}_rep{}_{:04}.png", lambda i: ("B73", "Mo17", "W22")[i % 3], lambda i: i % 2), Reads(CLASSIFIED, classes=("b73", "mo17", "w22")),
        rule="class in the name"),
    Row("cats-and-dogs", "cat.12.png and dog.13.png", "teaching", "kaggle.com/c/dogs-vs-cats", "cat and dog",
        _flat("{}.{}.png", lambda i: ("cat", "dog")[i % 2]), Reads(CLASSIFIED, classes=("cat", "dog")), rule="class in the name"),
    Row("cats-and-dogs-in-words", "cat12.png and dog13.png", "teaching", "user reports", "cat and dog",
        _flat("{}{}.png", lambda i: ("cat", "dog")[i % 2]), Reads(CLASSIFIED, classes=("cat", "dog")), rule="class in the name"),
    Row("two-classes-in-name", "maize_sick_001.png", "phenotyping", "user reports", "asked back with both parts",
        _flat("{}_{}_{:03}.png", _in_words, lambda i: ("sick", "sound")[i // 2 % 2]),
        Refused("ambiguous_label", ("name 1", "name 2", "sick and sound"))),
    Row("chosen-part-of-name", "the same with label_column: name 2", "phenotyping", "user reports", "the chosen part",
        _flat("{}_{}_{:03}.png", _in_words, lambda i: ("sick", "sound")[i // 2 % 2]), Reads(CLASSIFIED, classes=("sick", "sound")),
        settings={"label_column": "name 2"}),
    Row("numbered-frames", "frame_0001.png and on", "cameras", "user reports", "how to give labels", _flat("frame_{:04}.png"),
        Refused("unlabelled_images", ("ZIP",)), spares="class in the name"),
    Row("two-cameras", "IMG_0001.png and DSC_0002.png", "two phones", "user reports", "a camera is no class",
        _flat("{}_{:04}.png", lambda i: ("IMG", "DSC")[i % 2]), Refused("unlabelled_images", ("name 1 (dsc and img)",)),
        spares="class in the name"),
    Row("plots-and-repetitions", "plot17_rep2.png", "field trials", "TERRA-REF", "plots and repetitions are only offered",
        _flat("plot{}_rep{}_{:03}.png", lambda i: 10 + i // 6, lambda i: i % 3), Refused("unlabelled_images", ("name 2 (rep0, rep1 and rep2)",)),
        spares="class in the name"),
    Row("dates", "2024-05-01_0001.png", "cameras", "user reports", "dates are only offered", _flat("2024-{:02}-01_{:04}.png", lambda i: 4 + i % 3),
        Refused("unlabelled_images"), spares="class in the name"),
    Row("months-in-names", "may_001.png and june_002.png", "phenology", "user reports", "months are only offered",
        _flat("{}_{:03}.png", lambda i: ("may", "june")[i % 2]), Refused("unlabelled_images", ("name 1 (june and may)",)),
        spares="class in the name"),
    Row("every-file-another-name", "one word for each file", "museums", "user reports", "how to give labels",
        _flat("{}_{:03}.png", lambda i: "abcdefghijklmnopqrstuvwxyzäöüß"[i] * 4), Refused("unlabelled_images"), spares="class in the name"),
)  # fmt: skip
