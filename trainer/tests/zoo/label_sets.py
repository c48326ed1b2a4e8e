"""Rows about several labels for each picture: how they are written, and what only looks like them."""

import random

from trainer.tests.zoo.names import picture
from trainer.tests.zoo.row import Reads, Refused, Row, write
from trainer.tests.zoo.time import csv

CELLS, COLUMNS, LONG = "several labels in a cell", "a column of 0 and 1 for each label", "a row for each label of a picture"
SEVERAL, SINGLE = "image-multi-label-classification", "image-classification"
COUNT = 60
SEEN = ("deer", "fox", "hare")


def _labels(i: int) -> list[str]:
    chance = random.Random(i)
    return [animal for animal in SEEN if chance.random() < 0.5]


def _pictures(header: str, rows):
    """A maker of pictures and a table with ``rows`` for each of them."""

    def make(folder):
        for i in range(COUNT):
            write(folder, f"{i:03}.png", picture(i))
        write(folder, "t.csv", csv(header, [[f"{i:03}.png", *row] for i in range(COUNT) for row in rows(i)]))

    return make


def _one(i: int) -> str:
    return SEEN[i % 3]


ROWS = (
    Row("animals-in-a-cell", "pictures and a cell such as fox;hare", "camera traps", "issue 42", "each label is predicted by itself",
        _pictures("file,labels", lambda i: [[";".join(_labels(i)) or "(none)"]]), Reads(SEVERAL, rows=COUNT, classes=SEEN), rule=CELLS),
    Row("names-with-a-dash", "pictures and one label with a semicolon, always the same two words", "inventories", "made", "one class",
        _pictures("file,label", lambda i: [[("red; ripe", "green; raw")[i % 2]]]), Reads(SINGLE, rows=COUNT), spares=CELLS),
    Row("animals-in-columns", "pictures and columns deer, fox and hare of 0 and 1", "camera traps", "made", "each column is a label",
        _pictures("file,deer,fox,hare", lambda i: [[int(a in _labels(i)) for a in SEEN]]), Reads(SEVERAL, rows=COUNT, classes=SEEN), rule=COLUMNS),
    Row("a-class-beside-flags", "pictures, a label, and columns of 0 and 1 about the camera", "camera traps", "made", "the label is the class",
        _pictures("file,flash,night,zoom,label", lambda i: [[i % 2, i // 2 % 2, i // 4 % 2, _one(i)]]),
        Reads(SINGLE, label="label"),
        spares=COLUMNS),
    Row("a-row-for-each-animal", "the same picture in several rows, each with another label", "camera traps", "issue 42",
        "its labels are those of all its rows", _pictures("file,label", lambda i: [[a] for a in _labels(i)]),
        Reads(SEVERAL, classes=SEEN, says={"label_column": "images have rows with several labels"}), rule=LONG),
    Row("a-few-contradictions", "three of sixty pictures have a second row with another label", "anyone", "issue 42",
        "one class each: contradictions", _pictures("file,label", lambda i: [[_one(i)], *([[_one(i + 1)]] if i < 3 else [])]),
        Reads(SINGLE, classes=SEEN), spares=LONG),
    Row("listed-twice", "each picture is in two rows with the same label", "anyone", "issue 42", "duplicates",
        _pictures("file,label", lambda i: [[_one(i)], [_one(i)]]), Reads(SINGLE, classes=SEEN), spares=LONG),
    Row("three-observers", "each picture has the labels of three people, who mostly agree", "citizen science", "zooniverse.org",
        "one class; who disagree contradict each other", _pictures("file,label", lambda i: [[_one(i)], [_one(i)], [_one(i + (i % 4 == 0))]]),
        Reads(SINGLE, classes=SEEN), spares=LONG),
    Row("three-named-observers", "the same with the name of the observer", "citizen science", "zooniverse.org", "one class",
        _pictures("file,label,observer", lambda i: [[_one(i), "ann"], [_one(i + i % 2), "bob"]]), Reads(SINGLE), settings={"label_column": "label"},
        spares=LONG),
    Row("asked-for-several-labels", "one label for each picture, and the task of several", "anyone", "made", "told that no column has them",
        _pictures("file,label", lambda i: [[_one(i)]]), Refused("no_label_sets"), settings={"task": SEVERAL}, spares=CELLS),
)  # fmt: skip
