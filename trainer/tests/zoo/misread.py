"""Rows about data whose numbers, names or marks do not mean what their format says, or what they seem to."""

import json
import random

import numpy

from trainer.tests.zoo.annotations import CLASSES, COUNT, TRAINED, _coco, objects, pictures
from trainer.tests.zoo.masks import SEGMENTS, _layers, _masked
from trainer.tests.zoo.pictures import noise, png
from trainer.tests.zoo.row import Reads, Refused, Row, write

CORNERS, SHARES, NAMES, UNLABELLED = "corners instead of sizes", "shares instead of pixels", "lists of classes that differ", "classes without a class"
DAYS, SCHEMES = "folders of days", "tags of two schemes"
UNCLEAR = "annotations_unclear"


def _corners(i):
    return [i % 5 / 10, i % 4 / 10, 0.5 + i % 5 / 10, 0.55 + i % 4 / 10]


def _middles(i):
    left, top, right, bottom = _corners(i)
    return [(left + right) / 2, (top + bottom) / 2, right - left, bottom - top]


def _yolo(form, lists=(("classes.txt", CLASSES),)):
    def make(folder):
        for i, name in enumerate(pictures(folder, "images/")):
            lines = [f"{k} {' '.join(map('{:.3f}'.format, form(i + k)))}\n" for k in range(2)]
            write(folder, name.replace("images/", "labels/").replace(".png", ".txt"), "".join(lines))
        for name, classes in lists:
            write(folder, name, "\n".join(classes) + "\n")

    return make


def _coco_boxes(box):
    def make(folder):
        _coco(folder, lambda i: {"category_id": i % 2, "bbox": box(i), "area": 25, "iscrowd": 0})

    return make


def _two_people(folder):
    _coco(folder, lambda i: {"category_id": i % 2, "bbox": [1 + 10 * (i % 2), 2, 8, 9], "area": 72, "iscrowd": 0})
    document = json.loads((folder / "instances.json").read_text())
    for entry in document["annotations"]:
        entry["bbox"][0] += 1
    write(folder, "instances_bob.json", json.dumps(document))


def _unlabelled(names):
    def make(folder):
        def mask(i):
            pixels = _layers(i) + 1
            pixels[:, 5:9] = 0
            return png(pixels)

        _masked(folder, mask)
        write(folder, "classes.txt", "\n".join(names) + "\n")

    return make


def _folders(names):
    def make(folder):
        for c, name in enumerate(names):
            for i in range(COUNT):
                write(folder, f"{name}/{c * 100 + i}.png", png(noise(c * 100 + i, high=120 + 60 * c)))

    return make


def _tagged(schemes):
    def make(folder):
        chance, lines = random.Random(2), []
        for i in range(40):
            first, last = schemes[i % len(schemes)]
            lines += [f"{chance.choice(('near', 'from', 'the'))}{i} O", f"Mount{i} {first}", f"Elm{i} {last}", f"is{i} O", ""]
        write(folder, "train.conll", "\n".join(lines))

    return make


def _irregular(folder):
    chance, day, level, lines = random.Random(3), numpy.datetime64("2015-01-01"), 10.0, ["date,level"]
    for _ in range(120):
        day, level = day + chance.randint(3, 20), level + chance.gauss(0, 0.3)
        lines.append(f"{day},{level:.2f}")
    write(folder, "visits.csv", "\n".join(lines) + "\n")


_ASKED, _TWO = "the question what is meant", (("classes.txt", CLASSES), ("labels/classes.txt", CLASSES[::-1]))
_FOREST = ("unlabelled", "grass", "soil", "water")
ROWS = (
    Row("yolo-with-corners", "YOLO files with left, top, right and bottom", "converters", "user reports", "what is wrong with the boxes",
        _yolo(_corners), Refused(UNCLEAR, ("lower right corner",)), rule=CORNERS),
    Row("coco-with-corners", "COCO boxes with left, top, right and bottom", "converters", "user reports", "what is wrong with the boxes",
        _coco_boxes(lambda i: [24 * v for v in _corners(i)]), Refused(UNCLEAR, ("lower right corner",)), rule=CORNERS),
    Row("yolo-with-large-boxes", "the same boxes as YOLO means them", "detection", "docs.ultralytics.com", TRAINED, _yolo(_middles), objects(),
        spares=CORNERS),
    Row("coco-in-shares", "COCO boxes from 0 to 1", "converters", "user reports", TRAINED,
        _coco_boxes(lambda i: [i % 5 / 10, i % 4 / 10, 0.25, 0.3]), objects(), rule=SHARES),
    Row("coco-of-single-pixels", "COCO boxes of one pixel in the upper left corner, and larger ones", "points", "made", TRAINED,
        _coco_boxes(lambda i: [i % 3, i % 2, 1 + i % 5, 1]), objects(), spares=SHARES),
    Row("coco-of-two-people", "two COCO files with the same pictures, whose boxes differ by a pixel", "labs", "user reports", "each object once",
        _two_people, objects(says={"annotations_left_out": "24 annotations are left out: another list has the same object"})),
    Row("yolo-with-two-lists", "classes.txt and labels/classes.txt in another order", "LabelImg", "github.com/HumanSignal/labelImg", _ASKED,
        _yolo(_middles, _TWO), Refused("ambiguous_classes", ("0 is lowcenter in one and highcenter",)), rule=NAMES),
    Row("yolo-with-the-list-of-labelimg", "classes.txt and predefined_classes.txt", "LabelImg", "github.com/HumanSignal/labelImg", TRAINED,
        _yolo(_middles, (("classes.txt", CLASSES), ("data/predefined_classes.txt", ("dog", "person", "cat")))), objects(), spares=NAMES),
    Row("masks-with-unlabelled", "values 0 to 3, of which classes.txt calls 0 unlabelled", "land cover", "cityscapes-dataset.com",
        "three classes, and pixels without one", _unlabelled(_FOREST),
        Reads(SEGMENTS, classes=_FOREST[1:], says={"mask_classes": "unlabelled by name"}), rule=UNLABELLED),
    Row("masks-with-background", "the same, where 0 is background", "land cover", "made", "four classes", _unlabelled(("background", *_FOREST[1:])),
        Reads(SEGMENTS, classes=("background", *_FOREST[1:])), spares=UNLABELLED),
    Row("pictures-of-days", "2024-05-01/0.png and 2024-05-02/100.png", "camera users", "user reports", "the question whether days are classes",
        _folders(("2024-05-01", "2024-05-02")), Refused("ambiguous_label", ("days",)), rule=DAYS),
    Row("pictures-of-sites", "siteA/0.png and siteB/100.png", "field teams", "user reports", "the question whether sites are classes",
        _folders(("siteA", "siteB")), Refused("ambiguous_label", ("numbered like things",)), rule="folders of things"),
    Row("pictures-of-stages", "stage-1/0.png and stage-2/100.png", "phenology", "made", "a classifier", _folders(("stage-1", "stage-2")),
        Reads("image-classification", classes=("stage-1", "stage-2")), spares=DAYS),
    Row("tags-of-two-schemes", "CoNLL with B- and I-, and with B- and E-", "corpora that were merged", "user reports", "one scheme",
        _tagged((("B-LOC", "I-LOC"), ("B-LOC", "E-LOC"))), Reads("token-classification", classes=("B-LOC", "I-LOC", "O"), says={"tags": "B- and I-"}),
        rule=SCHEMES),
    Row("tags-with-ends", "CoNLL with B- and E- alone", "corpora", "made", "the tags as they are", _tagged((("B-LOC", "E-LOC"),)),
        Reads("token-classification", classes=("B-LOC", "E-LOC", "O")), spares=SCHEMES),
    Row("visits-at-irregular-times", "a date every 3 to 20 days and a level", "water quality", "user reports", "that the times are irregular",
        _irregular, Refused("only_times", ("regular times",))),
)  # fmt: skip
