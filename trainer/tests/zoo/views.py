"""Rows about pictures that look like classes but belong together or have several labels; and about annotations in a ZIP or apart from them."""

import json

import numpy

from trainer.tests.zoo.annotations import CLASSES, CODE, COUNT, NATURAL, TRAINED, objects, pictures
from trainer.tests.zoo.names import packed, picture
from trainer.tests.zoo.pictures import noise, png
from trainer.tests.zoo.row import NotRefused, Reads, Refused, Row, write

CLASSIFIED, ASKED, ASK = "image-classification", "ambiguous_pictures", "the question whether the folders are classes"
FOLDERS, ENDINGS, SEVERAL, ZIPPED, APART = "views in folders", "views in names", "several labels", "annotations in a ZIP", "YOLO apart from pictures"
_PLOTS = [f"plot{i * 7 % 40}_2021-05-{i + 1:02}" for i in range(COUNT)]
_COUNTED = [f"{i:03}" for i in range(COUNT)]


def _folders(folders, stems, sides=None):
    """A maker of a picture of each stem in each folder; ``sides`` gives the pixels of a side for each folder."""

    def make(folder):
        for c, name in enumerate(folders):
            for i, stem in enumerate(stems):
                write(folder, f"{name}/{stem}.png", png(noise(100 * c + i, side=(sides or {}).get(name, 24), high=120 + 20 * c)))

    return make


def _files(listed):
    def make(folder):
        for i, name in enumerate(listed):
            write(folder, name, png(noise(i)))

    return make


def _odd_masks(folder):
    for i in range(COUNT):
        write(folder, f"imgs/{i}.png", png(noise(i, side=48)))
        write(folder, f"masks/{i}.png", png((numpy.random.default_rng(i).integers(0, 4, (24, 24)) * 60).astype(numpy.uint8)))


def _zipped_voc(folder):
    box = "<bndbox><xmin>1</xmin><ymin>2</ymin><xmax>9</xmax><ymax>9</ymax></bndbox>"
    objects = "".join(f"<object><name>{c}</name>{box}</object>" for c in CLASSES)
    files = {f"d/{('dry', 'wet')[i % 2]}/{i}.png": picture(i) for i in range(COUNT)}
    files |= {f"d/Annotations/{i}.xml": f"<annotation><filename>{i}.png</filename>{objects}</annotation>" for i in range(COUNT)}
    write(folder, "data.zip", packed(files))


def _zipped_yolo(folder):
    files = {f"images/{i}.png": picture(i) for i in range(COUNT)}
    files |= {f"labels/{i}.txt": "1 0.5 0.4 0.1 0.2\n0 0.2 0.4 0.1 0.2\n" for i in range(COUNT)}
    write(folder, "data.zip", packed(files | {"data.yaml": "names:\n  0: lowcenter\n  1: highcenter\n"}))


def _zipped_classes(folder):
    files = {f"{c}/{c}_{i}.png": picture(2 * i + k) for k, c in enumerate(("dry", "wet")) for i in range(COUNT)}
    write(folder, "data.zip", packed(files | {"about.xml": "<dataset><title>soil</title></dataset>", "settings.yml": "camera: 1\n"}))


def _yolo_apart(folder):
    pictures(folder, "photos/", name="DSC{}.png")
    for i in range(COUNT):
        write(folder, f"labels/frame_{i}.txt", "".join(f"{k * k % 3} 0.5{k} 0.4 0.1 0.2\n" for k in range(8)))


def _series_apart(folder):
    pictures(folder, "photos/", name="DSC{}.png")
    for i in range(COUNT):
        write(folder, f"spectra/s{i}.txt", "".join(f"{k} 0.{(k * 7 + i) % 10} 0.{k % 9} 0.{i % 8}1 0.2\n" for k in range(20)))


def _table(cells, header="file,label"):
    def make(folder):
        names = pictures(folder, "photos/", count=2 * COUNT)
        rows = [f"{name.rpartition('/')[2]},{cells(i)}" for i, name in enumerate(names)]
        write(folder, "labels.csv", "\n".join([header, *rows]) + "\n")

    return make


def _twice(shared):
    """A maker of two folders of classes, of which ``shared`` pictures are in both."""

    def make(folder):
        for i in range(40):
            for name in ("red", "green") if i < shared else (("red", "green")[i % 2],):
                write(folder, f"{name}/{name}{i}.png", picture(i))

    return make


def _choices_of_texts(folder):
    tasks = [
        {
            "id": i,
            "data": {"text": f"the sentence number {i}"},
            "annotations": [{"result": [{"type": "choices", "value": {"choices": ["ab"[i % 2]]}}]}],
        }
        for i in range(30)
    ]
    write(folder, "texts.json", json.dumps(tasks))


def _short_choices(folder):
    write(folder, "texts.json", json.dumps([{"id": i, "text": f"the sentence number {i}", "sentiment": "ab"[i % 2]} for i in range(30)]))


ROWS = (
    Row("left-and-right", "left/001.png and right/001.png", "stereo cameras", "KITTI", ASK, _folders(("left", "right"), _COUNTED),
        Refused(ASKED, ("left and right", CLASSIFIED)), rule=FOLDERS),
    Row("rgb-and-depth", "rgb and depth, each with the same plots", "phenotyping", "TERRA-REF", ASK, _folders(("rgb", "depth"), _PLOTS),
        Refused(ASKED, ("depth and rgb",)), rule=FOLDERS),
    Row("before-and-after", "pre_fire and post_fire with the same tiles", "remote sensing", "xBD", ASK, _folders(("pre_fire", "post_fire"), _COUNTED),
        Refused(ASKED), rule=FOLDERS),
    Row("bands-in-folders", "B02, B03, B04 and B08 with the same tiles", "Sentinel-2", "sentinels.copernicus.eu", ASK,
        _folders(("B02", "B03", "B04", "B08"), _COUNTED), Refused(ASKED), rule=FOLDERS),
    Row("two-visits", "north and south with pictures of the same names, which do not only count", "field teams", "made", ASK,
        _folders(("north", "south"), _PLOTS), Refused(ASKED), rule=FOLDERS),
    Row("masks-of-another-size", "imgs of 48 pixels and masks of 24 with four values", "segmentation", "user reports", ASK, _odd_masks,
        Refused(ASKED, ("imgs and masks",)), rule=FOLDERS),
    Row("counted-classes-in-folders", "cat/001.png and dog/001.png", "camera users", "user reports", "a classifier",
        _folders(("cat", "dog"), _COUNTED), Reads(CLASSIFIED, classes=("cat", "dog")), spares=FOLDERS),
    Row("colours-as-classes", "red/001.png and green/001.png", "fruit sorting", "user reports", "a classifier", _folders(("red", "green"), _COUNTED),
        Reads(CLASSIFIED, classes=("green", "red")), spares=FOLDERS),
    Row("letters-by-writers", "A, B, C and D, each with a picture by every writer", "handwriting", "notMNIST", "a classifier",
        _folders("ABCD", [f"writer_{chr(97 + i)}" for i in range(COUNT)]), Reads(CLASSIFIED, classes=("A", "B", "C", "D")), spares=FOLDERS),
    Row("hands", "left and right with pictures of their own", "gestures", "user reports", "a classifier",
        _files([f"{('left', 'right')[i % 2]}/{i:03}.png" for i in range(2 * COUNT)]), Reads(CLASSIFIED, classes=("left", "right")), spares=FOLDERS),
    Row("views-called-classes", "left/001.png and right/001.png, with task set", "anyone who means it", "made", "the setting wins",
        _folders(("left", "right"), _COUNTED), Reads(CLASSIFIED, classes=("left", "right")), settings={"task": CLASSIFIED}, spares=FOLDERS),
    Row("bands-in-names", "p1_red.png, p1_green.png and p1_nir.png", "drones", "Parrot Sequoia", "bands are only offered",
        _files([f"p{i}_{b}.png" for i in range(COUNT) for b in ("red", "green", "nir")]), Refused("unlabelled_images", ("green, nir and red",)),
        rule=ENDINGS),
    Row("colours-in-names", "p1_red.png and p1_green.png of the same things", "drones", "user reports", "bands are only offered",
        _files([f"p{i}_{b}.png" for i in range(COUNT) for b in ("red", "green")]), Refused("unlabelled_images", ("green and red",)), rule=ENDINGS),
    Row("left-and-right-in-names", "pair01_left.png and pair01_right.png", "stereo cameras", "Middlebury", "views are only offered",
        _files([f"pair{i:02}_{side}.png" for i in range(COUNT) for side in ("left", "right")]), Refused("unlabelled_images"), rule=ENDINGS),
    Row("colours-of-apples", "red_001.png and green_001.png", "fruit sorting", "user reports", "the colour is the class",
        _files([f"{c}_{i:03}.png" for i in range(COUNT) for c in ("red", "green")]), Reads(CLASSIFIED, classes=("green", "red")), spares=ENDINGS),
    Row("colours-at-the-end", "apple_001_red.png and apple_002_green.png", "fruit sorting", "user reports", "the colour is the class",
        _files([f"apple_{i:03}_{('red', 'green')[i % 2]}.png" for i in range(2 * COUNT)]),
        Reads(CLASSIFIED, classes=("green", "red")), spares=ENDINGS),
    Row("pictures-in-two-folders", "7 of 40 pictures are in two folders of classes", "museums", "user reports", "told how to train on several labels",
        _twice(7), Refused("several_labels", ("7 of 40 pictures", "semicolon")), rule=SEVERAL),
    Row("a-picture-by-mistake", "1 of 40 pictures is in two folders of classes", "museums", "user reports", "a warning", _twice(1),
        Reads(CLASSIFIED, rows=41, says={"conflicting_labels": "2 examples"}), spares=SEVERAL),
    Row("a-class-with-a-comma", "file name and a class that is written with a semicolon", "places", "made", "one class",
        _table(lambda i: ("Trinidad; Tobago", "Cuba")[i % 2]), Reads(CLASSIFIED, classes=("Cuba", "Trinidad; Tobago")), spares=SEVERAL),
    Row("several-labels-as-asked", "red;green with task set", "anyone who means it", "made", "each combination is a class",
        _table(lambda i: ("red", "red;green", "green")[i % 3]), Reads(CLASSIFIED, classes=("green", "red", "red;green")),
        settings={"task": CLASSIFIED}, spares=SEVERAL),
    Row("voc-in-a-zip", "a ZIP of class folders and Pascal VOC", "Clowder users", "issue 42", TRAINED, _zipped_voc, objects(classes=NATURAL),
        rule=ZIPPED),
    Row("yolo-in-a-zip", "a ZIP of images, labels and data.yaml", "Clowder users", "issue 42", TRAINED, _zipped_yolo,
        objects(), rule=ZIPPED),
    Row("classes-in-a-zip-with-xml", "a ZIP of class folders, with XML and YAML of another sort", "Clowder users", "made", "a classifier",
        _zipped_classes, Reads(CLASSIFIED, classes=("dry", "wet")), spares=ZIPPED),
    Row("yolo-apart", "YOLO files whose names are not those of the pictures", "detection", "issue 42", TRAINED, _yolo_apart,
        Refused("pictures_missing", ("12 of 12",)), rule=APART),
    Row("series-apart", "photos, and texts whose first column counts", "spectrometers", "made", "not taken for boxes", _series_apart,
        NotRefused(CODE), spares=APART),
    Row("choices-of-texts", "a JSON export of Label Studio with choices for texts", "labs", "labelstud.io", "how to export it",
        _choices_of_texts, Refused("label_studio_choices", ("JSON-MIN",)), rule="choices of Label Studio"),
    Row("short-choices-of-texts", "its JSON-MIN", "labs", "labelstud.io", "a classifier", _short_choices,
        Reads("text-classification", label="sentiment"), spares="choices of Label Studio"),
)  # fmt: skip
