"""Rows about what says the class of each pixel beside pictures of masks: outlines of annotations, and arrays of NumPy."""

import io
import json
import pickle

import numpy

from trainer.tests.zoo.annotations import CLASSES, COUNT, _coco_many_polygons, pictures
from trainer.tests.zoo.masks import SEGMENTS, TRAINED, _layers
from trainer.tests.zoo.pictures import noise, png
from trainer.tests.zoo.row import Reads, Refused, Row, write

KIND, BACKGROUND = "pixels", "background"
OUTLINES, ARRAYS = "outlines as the class of each pixel", "masks as arrays"
ASKED = {"task": SEGMENTS}


def _rings(i: int):
    """The outlines of a picture of 24 pixels, with their classes."""
    return [(CLASSES[(i + k) % 2], [(k, 1), (k + 4, 1), (k + 4, 6 + i % 5), (k, 6)]) for k in (1, 7, 13)[: 1 + i % 3]]


def _via_regions(folder, names):
    document = {}
    for i, name in enumerate(names):
        shapes = [
            {
                "shape_attributes": {"name": "polygon", "all_points_x": [x for x, _ in ring], "all_points_y": [y for _, y in ring]},
                "region_attributes": {"object_name": label},
            }
            for label, ring in _rings(i)
        ]
        base = name.rpartition("/")[2]
        document[f"{base}{i}"] = {"filename": base, "size": i, "regions": {str(k): s for k, s in enumerate(shapes)}, "file_attributes": {}}
    write(folder, f"{names[0].rpartition('/')[0]}/via_region_data.json", json.dumps(document))


def _via(folder):
    for split in ("train", "val", "test"):
        _via_regions(folder, pictures(folder, f"{split}/", name="FID_{}_Polygon.jpg"))


def _via_without_train(folder):
    for split in ("val", "test"):
        _via_regions(folder, pictures(folder, f"{split}/", name="FID_{}_Polygon.jpg"))


def _yolo(folder):
    for i, name in enumerate(pictures(folder, "images/train/")):
        lines = [f"{CLASSES.index(label)} {' '.join(f'{v / 24:.4f}' for point in ring for v in point)}\n" for label, ring in _rings(i)]
        write(folder, name.replace("images/", "labels/").replace(".png", ".txt"), "" if i == 5 else "".join(lines))
    write(folder, "data.yaml", f"train: images/train\nnames: [{', '.join(CLASSES)}]\n")


def _labelme(folder):
    for i, name in enumerate(pictures(folder)):
        shapes = [{"label": label, "points": ring, "shape_type": "polygon", "flags": {}} for label, ring in _rings(i)]
        document = {"version": "5.0", "shapes": shapes, "imagePath": name, "imageData": None, "imageHeight": 24, "imageWidth": 24}
        write(folder, name.replace(".png", ".json"), json.dumps(document))


def _boxes(folder):
    names = pictures(folder, "images/")
    images = [{"id": i, "file_name": n, "width": 24, "height": 24} for i, n in enumerate(names)]
    entries = [{"id": i, "image_id": i, "category_id": i % 2, "bbox": [1, 1, 5, 5]} for i in range(COUNT)]
    categories = [{"id": i, "name": n} for i, n in enumerate(CLASSES)]
    write(folder, "instances.json", json.dumps({"images": images, "annotations": entries, "categories": categories}))


def _some_not_listed(folder):
    _coco_many_polygons(folder)
    pictures(folder, "images/", 2, "later_{}.png")


def _larger_pictures(folder):
    """Outlines in the pixels of a picture four times as large, whose size the file does not tell."""
    names = pictures(folder, "images/")
    images = [{"id": i, "file_name": n} for i, n in enumerate(names)]
    entries = [{"id": i, "image_id": i, "category_id": i % 2, "segmentation": [[40, 40, 90, 40, 90, 90]]} for i in range(COUNT)]
    categories = [{"id": i, "name": n} for i, n in enumerate(CLASSES)]
    write(folder, "instances.json", json.dumps({"images": images, "annotations": entries, "categories": categories}))


def _npy(values, allow_pickle=False) -> bytes:
    data = io.BytesIO()
    numpy.save(data, values, allow_pickle=allow_pickle)
    return data.getvalue()


def _arrays(folder, change=lambda mask: mask):
    for i in range(COUNT):
        write(folder, f"images/{i}.png", png(noise(i)))
        write(folder, f"masks/{i}.npy", _npy(change(_layers(i))))


def _layers_of_classes(folder):
    _arrays(folder, lambda mask: numpy.stack([mask == layer for layer in range(3)], axis=2))


def _pickled(folder):
    _arrays(folder)
    write(folder, "masks/3.npy", _npy(numpy.asarray([[None]], object), True)[:128] + pickle.dumps(print))


def _arrays_without_pictures_of_their_size(folder):
    _arrays(folder, lambda mask: mask[:12])


def _split_masks(folder, change):
    for split, start in (("train", 0), ("test", 100)):
        for i in range(COUNT):
            write(folder, f"images/{split}/{i}.png", png(noise(start + i)))
            write(folder, f"masks/{split}/{i}.png", png(change(split, _layers(start + i))))


def _class_of_the_test(folder):
    _split_masks(folder, lambda split, mask: mask if split == "test" else numpy.minimum(mask, 1))


def _nothing_in_train(folder):
    _split_masks(folder, lambda split, mask: mask if split == "test" else 0 * mask)


ROWS = (
    Row("coco-polygons-as-pixels", "COCO JSON with polygons, with task set to image-segmentation", "PDG", "cocodataset.org", TRAINED,
        _coco_many_polygons, Reads(SEGMENTS, KIND, rows=COUNT, classes=(BACKGROUND, *CLASSES), says={"mask_classes": "in no outline is background"}),
        rule=OUTLINES, settings=ASKED),
    Row("coco-polygons-as-objects", "the same without a setting", "PDG", "cocodataset.org", "objects, and a word about pixels", _coco_many_polygons,
        Reads("instance-segmentation", "objects", rows=COUNT, says={"task": "set task to image-segmentation"}), spares=OUTLINES),
    Row("coco-boxes-as-pixels", "COCO JSON with boxes, with task set to image-segmentation", "detection", "cocodataset.org",
        "why boxes do not serve", _boxes, Refused("no_outlines", ("does not say which of its pixels",)), settings=ASKED, spares=OUTLINES),
    Row("via-as-pixels", "via_region_data.json of train, val and test, with task set to image-segmentation", "PDG MAPLE",
        "github.com/PermafrostDiscoveryGateway/MAPLE_v3", "the splits are kept", _via,
        Reads(SEGMENTS, KIND, classes=(BACKGROUND, "highcenter", "lowcenter"), splits=(12, 12, 12)), settings=ASKED),
    Row("via-as-pixels-without-train", "the same with val and test alone", "PDG MAPLE", "github.com/PermafrostDiscoveryGateway/MAPLE_v3",
        "the pictures of val are trained on", _via_without_train, Reads(SEGMENTS, KIND, rows=24, says={"training_pictures": "validation"}),
        settings=ASKED),
    Row("yolo-as-pixels", "YOLO segments, one file of them empty, with task set to image-segmentation", "segmentation", "docs.ultralytics.com",
        "the picture without objects is background", _yolo, Reads(SEGMENTS, KIND, rows=COUNT, classes=(BACKGROUND, *CLASSES)), settings=ASKED),
    Row("labelme-as-pixels", "a JSON beside each picture, with task set to image-segmentation", "labs", "github.com/wkentaro/labelme", TRAINED,
        _labelme, Reads(SEGMENTS, KIND, rows=COUNT, classes=(BACKGROUND, "highcenter", "lowcenter")), settings=ASKED),
    Row("pictures-that-nobody-annotated", "COCO JSON that lists some of the pictures, with task set to image-segmentation", "labs", "user reports",
        "left out by name, never background", _some_not_listed, Reads(SEGMENTS, rows=COUNT, says={"not_annotated": "later_0.png"}), settings=ASKED),
    Row("outlines-of-larger-pictures", "coordinates of pictures four times as large, with task set to image-segmentation", "exports of two programs",
        "user reports", "that coordinates may be of larger pictures", _larger_pictures, Refused("annotations_outside", ("larger ones",)),
        settings=ASKED),
    Row("masks-as-arrays", "images and masks, the masks as .npy of whole numbers", "users of NumPy", "numpy.org", TRAINED, _arrays,
        Reads(SEGMENTS, KIND, rows=COUNT, classes=("0", "1", "2")), rule=ARRAYS),
    Row("masks-as-layers", "masks as .npy with a layer for each class", "users of Keras", "user reports", TRAINED, _layers_of_classes,
        Reads(SEGMENTS, KIND, rows=COUNT, classes=("0", "1", "2"))),
    Row("a-mask-with-pickled-objects", "one .npy with pickled objects among masks", "attackers", "numpy.org", "left out by name, and not run",
        _pickled, Reads(SEGMENTS, KIND, rows=COUNT - 1, says={"masks_unreadable": "masks/3.npy"})),
    Row("arrays-of-another-size", "pictures and .npy of half their height", "users of NumPy", "user reports", "not taken for masks",
        _arrays_without_pictures_of_their_size, Refused("no_masks"), settings=ASKED, spares=ARRAYS),
    Row("a-class-of-the-test-alone", "masks in train and test, of which the test has one more class", "labs", "user reports",
        "which class cannot be learnt", _class_of_the_test,
        Reads(SEGMENTS, KIND, rows=2 * COUNT, classes=("0", "1", "2"), says={"unknown_labels": "2 do not occur"})),
    Row("training-masks-of-one-class", "masks in train and test, of which those of train are empty", "labs", "user reports", "nothing to learn",
        _nothing_in_train, Refused("one_class", ("training pictures",))),
)  # fmt: skip
