"""Rows about annotations of pictures: each format is refused by its name, and what looks alike is not."""

import base64
import json
import random
import zlib

from trainer.tests.zoo.pictures import noise, png
from trainer.tests.zoo.row import NotRefused, Reads, Refused, Row, write

COUNT = 12
CLASSES = ("lowcenter", "highcenter")
CODE = "annotations"
REFUSED = "the format by its name, what it holds, and the way by a script"
TRAINED = "a model that finds these objects"
DETECTION, OUTLINES, KIND = "object-detection", "instance-segmentation", "objects"
MANY = "several polygons in each picture"
NATURAL = ("highcenter", "lowcenter")  # the classes where no file has their order


def objects(rows=COUNT, classes=CLASSES, **facts):
    """What a dataset of annotated pictures is read as."""
    return Reads(DETECTION, KIND, rows=rows, classes=classes, **facts)


def pictures(folder, prefix="", count=COUNT, name="tile_{}.png"):
    """Write pictures that differ, and return their names."""
    names = [f"{prefix}{name.format(i)}" for i in range(count)]
    for file in names:
        write(folder, file, png(noise(zlib.crc32(file.encode()))))
    return names


def _coco(folder, annotation, captions=False, listed=True):
    names = pictures(folder, "images/")
    images = [{"id": i, "file_name": n, "width": 24, "height": 24} for i, n in enumerate(names)]
    entries = [{"id": i, "image_id": i // 2, **annotation(i)} for i in range(2 * COUNT)]
    categories = [] if captions else [{"id": i, "name": n} for i, n in enumerate(CLASSES)]
    write(folder, "instances.json", json.dumps({"info": {}, "images": images, "annotations": entries, "categories": categories}))


def _polygon(i):
    return {"category_id": i % 2, "bbox": [1, 1, 5, 5], "segmentation": [[1, 1, 6, 1, 6, 6]], "area": 25, "iscrowd": 0}


def _coco_polygons(folder):
    _coco(folder, _polygon)


def _coco_many_polygons(folder):
    """Four polygons in each picture, each at a place of its own."""
    shapes = [[k, 1, k + 4, 1, k + 4, 6] for k in (1, 7, 13, 19)]
    names = pictures(folder, "images/")
    images = [{"id": i, "file_name": n, "width": 24, "height": 24} for i, n in enumerate(names)]
    entries = [{"id": i, "image_id": i // 4, "category_id": i % 2, "segmentation": [shapes[i % 4]]} for i in range(4 * COUNT)]
    categories = [{"id": i, "name": n} for i, n in enumerate(CLASSES)]
    write(folder, "instances.json", json.dumps({"images": images, "annotations": entries, "categories": categories}))


def _coco_boxes(folder):
    _coco(folder, lambda i: {"category_id": i % 2, "bbox": [1, 1, 5, 5]})


def _coco_captions(folder):
    _coco(folder, lambda i: {"caption": f"a bird number {i} on a branch"}, captions=True)


def _coco_one_category(folder):
    names = pictures(folder)
    images = [{"id": i, "file_name": n} for i, n in enumerate(names)]
    entries = [{"id": i, "image_id": i, "category_id": i % 2} for i in range(COUNT)]
    write(
        folder,
        "labels.json",
        json.dumps({"images": images, "annotations": entries, "categories": [{"id": i, "name": n} for i, n in enumerate(CLASSES)]}),
    )


def _coco_large(folder):
    pictures(folder)
    file = write(folder, "train.json", '{"images": [')
    entry = json.dumps({"id": 1, "file_name": "x" * 200 + ".jpg", "width": 4000, "height": 3000}) + ", "
    with open(file, "a") as out:
        for _ in range(400):
            out.write(entry * 100)
        out.write('{"id": 2, "file_name": "y.jpg"}], "annotations": [{"id": 1, "image_id": 2, "category_id": 1, "bbox": [1, 2, 3, 4]}]}')


def _detections(folder):
    pictures(folder)
    write(folder, "results.json", json.dumps([{"image_id": i, "category_id": 1, "bbox": [1, 2, 3, 4], "score": 0.5} for i in range(30)]))


def _json_table(folder):
    names = pictures(folder, count=24)
    write(folder, "list.json", json.dumps([{"image": n, "species": "elm" if i % 2 else "oak"} for i, n in enumerate(names)]))


def _via(folder, form):
    for split in ("train", "val", "test"):
        names = pictures(folder, f"{split}/", name="FID_{}_Polygon.jpg")
        shape = {"name": "polygon", "all_points_x": [1, 2, 3], "all_points_y": [1, 5, 2]}
        regions = [{"shape_attributes": shape, "region_attributes": {"object_name": CLASSES[i % 2]}} for i in range(4)]
        held = {str(i): r for i, r in enumerate(regions)} if form == 1 else regions
        document = {
            f"{n.rpartition('/')[2]}230800": {"filename": n.rpartition("/")[2], "size": 230800, "regions": held, "file_attributes": {}} for n in names
        }
        write(folder, f"{split}/via_region_data.json", json.dumps({"_via_img_metadata": document, "_via_settings": {}} if form == 2 else document))


def _via1(folder):
    _via(folder, 1)


def _via2(folder):
    _via(folder, 2)


def _via3(folder):
    names = pictures(folder)
    regions = {f"{i}_x": {"vid": str(i), "flg": 0, "z": [], "xy": [7, 1, 2, 9, 4, 5, 8], "av": {"1": CLASSES[i % 2]}} for i in range(COUNT)}
    document = {"project": {"pid": "x"}, "file": {str(i): {"fid": i, "fname": n} for i, n in enumerate(names)}, "metadata": regions}
    write(folder, "via_project.json", json.dumps(document))


def _json_by_record(folder):
    write(folder, "plots.json", json.dumps({f"plot{i}": {"height": i * 1.5, "cover": i % 7, "crop": "ab"[i % 2]} for i in range(40)}))


def _yolo(folder, line, names="data.yaml", prefix="labels/train/"):
    for split in ("train", "val"):
        for file in pictures(folder, f"images/{split}/"):
            stem = file.rpartition("/")[2].rpartition(".")[0]
            write(folder, f"labels/{split}/{stem}.txt", "".join(line(i) + "\n" for i in range(40)))
    if names == "data.yaml":
        write(folder, names, "train: images/train\nval: images/val\nnames:\n  0: lowcenter\n  1: highcenter\n")
    elif names:
        write(folder, names, "\n".join(CLASSES) + "\n")


def _yolo_boxes(folder):
    _yolo(folder, lambda i: f"{i % 2} 0.51 0.42 0.1 0.2")


def _yolo_polygons(folder):
    _yolo(folder, lambda i: f"{i % 2} 0.51 0.42 0.1 0.2 0.33 0.41", names="labels/classes.txt")


def _yolo_alone(folder):
    for i in range(COUNT):
        write(folder, f"obj/{i}.txt", "".join(f"{k % 2} 0.5{k % 10} 0.4 0.1 0.2\n" for k in range(40)))
    write(folder, "obj.names", "\n".join(CLASSES) + "\n")


def _kitti(folder):
    line = "Car 0.00 0 -1.57 599.41 156.40 629.75 189.25 2.85 2.63 12.34 0.47 1.49 69.44 -1.56"
    _yolo(folder, lambda i: line, names="")


def _notes_beside(folder):
    for i in range(30):
        write(folder, f"{'wet' if i % 2 else 'dry'}/{i}.png", png(noise(i, high=120 + 100 * (i % 2))))
        write(folder, f"{'wet' if i % 2 else 'dry'}/{i}.txt", f"Field note {i}: the soil was rather {'wet' if i % 2 else 'dry'} today, 3 of 4 plots.")


def _texts_with_numbers(folder):
    chance = random.Random(1)
    for i in range(8):
        write(folder, f"runs/{i}.txt", "".join(f"{chance.random():.3f} {chance.randint(10, 900)} step {k}\n" for k in range(20)))


def _voc(folder):
    for name in pictures(folder, "JPEGImages/"):
        stem = name.rpartition("/")[2].rpartition(".")[0]
        box = "<bndbox><xmin>1</xmin><ymin>2</ymin><xmax>9</xmax><ymax>9</ymax></bndbox>"
        objects = "".join(f"<object><name>{c}</name>{box}</object>" for c in CLASSES)
        size = "<size><width>24</width><height>24</height><depth>3</depth></size>"
        write(folder, f"Annotations/{stem}.xml", f"<annotation><filename>{stem}.jpg</filename>{size}{objects}</annotation>")
    write(folder, "ImageSets/Main/train.txt", "\n".join(f"tile_{i}" for i in range(COUNT)))


def _tei(folder):
    for i in range(30):
        write(folder, f"{'wet' if i % 2 else 'dry'}/{i}.png", png(noise(i, high=120 + 100 * (i % 2))))
        write(folder, f"tei/{i}.xml", "<TEI><text><body><p>An annotation of the object.</p></body></text></TEI>")


def _xml_bomb(folder):
    pictures(folder)
    entities = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10 if i else "ha"}">' for i in range(12))
    write(folder, "bomb.xml", f"<?xml version='1.0'?><!DOCTYPE annotation [{entities}]><annotation>&e11;</annotation>")


def _cvat(folder):
    names = pictures(folder, "images/")
    shapes = [f'<polygon label="{c}" points="1,1;5,1;5,5" occluded="0"/><box label="{c}" xtl="1" ytl="1" xbr="5" ybr="5"/>' for c in CLASSES]
    images = "".join(f'<image id="{i}" name="{n}" width="24" height="24">{"".join(shapes)}</image>' for i, n in enumerate(names))
    write(folder, "annotations.xml", f"<annotations><version>1.1</version>{images}</annotations>")


def _labelme(folder):
    for name in pictures(folder):
        shapes = [{"label": c, "points": [[1, 1], [5, 5]], "shape_type": "rectangle", "flags": {}} for c in CLASSES]
        data = base64.b64encode(bytes(3000)).decode()
        document = {"version": "5.0", "shapes": shapes, "imagePath": f"..\\{name}", "imageData": data, "imageHeight": 24, "imageWidth": 24}
        write(folder, name.replace(".png", ".json"), json.dumps(document))


def _label_studio(folder):
    names = pictures(folder)
    value = {"x": 10, "y": 10, "width": 20, "height": 20, "rectanglelabels": [CLASSES[0]]}
    tasks = [
        {"id": i, "data": {"image": f"/data/{n}"}, "annotations": [{"result": [{"type": "rectanglelabels", "value": value}]}]}
        for i, n in enumerate(names)
    ]
    write(folder, "project-1.json", json.dumps(tasks))


def _label_studio_choices(folder):
    names = pictures(folder)
    tasks = [
        {"id": i, "data": {"image": f"/data/{n}"}, "annotations": [{"result": [{"type": "choices", "value": {"choices": [CLASSES[i % 2]]}}]}]}
        for i, n in enumerate(names)
    ]
    write(folder, "project-2.json", json.dumps(tasks))


def _label_studio_texts(folder):
    tasks = [
        {"id": i, "data": {"text": f"the sentence number {i}"}, "annotations": [{"result": [{"type": "choices", "value": {"choices": ["good"]}}]}]}
        for i in range(30)
    ]
    write(folder, "texts.json", json.dumps(tasks))


ROWS = (
    Row("coco-polygons", "COCO JSON with polygons, pictures in a folder", "PDG, pdg-extractors", "github.com/clowder-framework/pdg-extractors",
        TRAINED, _coco_polygons, objects(),
        rule="COCO", spares=MANY),
    Row("coco-many-polygons", "COCO JSON with four polygons in each picture", "PDG, pdg-extractors", "cocodataset.org", "a model that finds outlines",
        _coco_many_polygons, Reads(OUTLINES, KIND, rows=COUNT, classes=CLASSES), rule=MANY),
    Row("coco-many-polygons-as-boxes", "the same, with task set to object-detection", "anyone who means it", "made", "the setting wins",
        _coco_many_polygons, objects(), settings={"task": DETECTION}, spares=MANY),
    Row("coco-boxes", "COCO JSON with boxes", "detection", "cocodataset.org", TRAINED, _coco_boxes, objects(), rule="COCO"),
    Row("coco-captions", "COCO JSON with captions", "captioning", "cocodataset.org", REFUSED, _coco_captions, Refused(CODE, ("COCO captions",))),
    Row("coco-categories", "COCO JSON with one category for each picture, called labels.json", "exports of CVAT", "cvat.ai",
        "how to make classes of it", _coco_one_category, Refused(CODE, ("as a CSV",))),
    Row("coco-large", "COCO JSON of 10 MB in one line, whose annotations come late", "large sets", "users' sets of 2 GB", "a sentence in seconds",
        _coco_large, Refused("pictures_missing", ("y.jpg",))),
    Row("coco-results", "the answers of a detector", "inference extractors", "github.com/cocodataset/cocoapi", REFUSED, _detections,
        Refused(CODE, ("results of a detector",))),
    Row("json-list-of-pictures", "a JSON list with a picture and a species in each object", "camera users", "user reports", "classes from the list",
        _json_table, Reads("image-classification", rows=24, classes=("elm", "oak"), label="species"), spares="COCO"),
    Row("via-1", "via_region_data.json of train, val and test, regions as an object", "PDG MAPLE", "github.com/PermafrostDiscoveryGateway/MAPLE_v3",
        TRAINED, _via1, objects(3 * COUNT, NATURAL, splits=(12, 12, 12)), rule="VIA"),
    Row("via-2", "a VIA 2 project", "PDG", "robots.ox.ac.uk/~vgg/software/via", TRAINED, _via2, objects(3 * COUNT, NATURAL),
        rule="VIA"),
    Row("via-3", "a VIA 3 project", "labs", "robots.ox.ac.uk/~vgg/software/via", TRAINED, _via3, objects(classes=NATURAL),
        rule="VIA"),
    Row("json-by-record", "a JSON table with one key for each record", "pandas users", "pandas orient=index", "not taken for regions",
        _json_by_record, NotRefused(CODE), spares="VIA"),
    Row("yolo-boxes", "images and labels with train and val, data.yaml", "detection", "docs.ultralytics.com", TRAINED, _yolo_boxes,
        objects(2 * COUNT), rule="YOLO"),
    Row("yolo-polygons", "YOLO segments with classes.txt", "segmentation", "docs.ultralytics.com", TRAINED, _yolo_polygons,
        objects(2 * COUNT), rule="YOLO"),
    Row("yolo-without-pictures", "only the label files and obj.names", "anyone who uploaded one folder", "docs.ultralytics.com", REFUSED,
        _yolo_alone, Refused(CODE, ("YOLO", "no pictures")), rule="YOLO"),
    Row("kitti", "KITTI text files", "driving", "cvlibs.net", REFUSED, _kitti, Refused(CODE, ("KITTI",))),
    Row("notes-beside-pictures", "class folders with a picture and a note of each plot", "field teams", "user reports",
        "the question which of them is meant", _notes_beside, Refused("ambiguous_task"), spares="YOLO"),
    Row("texts-of-numbers", "logs with numbers", "simulations", "user reports", "not taken for boxes", _texts_with_numbers, NotRefused(CODE),
        spares="YOLO"),
    Row("voc", "JPEGImages and Annotations with one XML for each picture", "detection", "host.robots.ox.ac.uk/pascal/VOC", TRAINED, _voc,
        objects(classes=NATURAL, says={"labels": "highcenter and lowcenter"}), rule="XML"),
    Row("cvat", "annotations.xml of CVAT", "labs", "cvat.ai", TRAINED, _cvat, objects(classes=NATURAL), rule="XML"),
    Row("tei-beside-classes", "class folders and XML of another sort", "CONSORT", "clowder-framework/CONSORT", "a classifier", _tei,
        Reads("image-classification", classes=("dry", "wet")), spares="XML"),
    Row("xml-bomb", "an XML file whose entities grow", "attackers", "CVE-2003-1564", "not read on", _xml_bomb, NotRefused(CODE)),
    Row("labelme", "a JSON beside each picture", "labs", "github.com/wkentaro/labelme", TRAINED, _labelme,
        objects(classes=NATURAL)),
    Row("label-studio", "a JSON export with rectangles", "labs", "labelstud.io", TRAINED, _label_studio,
        objects(classes=CLASSES[:1]), rule="Label Studio"),
    Row("label-studio-choices", "a JSON export with a choice for each picture", "labs", "labelstud.io", "how to make classes of it",
        _label_studio_choices, Refused(CODE, ("export them as CSV",))),
    Row("label-studio-texts", "a JSON export with annotated texts", "labs", "labelstud.io", "not taken for pictures", _label_studio_texts,
        NotRefused(CODE), spares="Label Studio"),
)  # fmt: skip
