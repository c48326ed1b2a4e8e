"""Small annotated pictures that tests make themselves: discs and squares on a plain ground, in every format of annotations."""

import csv
import io
import json
from dataclasses import dataclass

import numpy
from PIL import Image, ImageDraw
from pycocotools import mask as judge
from small_datasets import png

WIDTH, HEIGHT = 64, 48
CLASSES = ("disc", "square")
_COLOURS = {"disc": (210, 60, 60), "square": (60, 90, 210)}


@dataclass(frozen=True)
class Thing:
    """One object: its class, its outline (n x 2), and its box."""

    label: str
    ring: numpy.ndarray
    box: tuple[float, float, float, float]


@dataclass(frozen=True)
class Scene:
    """A picture: its name, its bytes, and the objects in it."""

    name: str
    data: bytes
    things: tuple[Thing, ...]


def scenes(number: int, seed: int = 0, folder: str = "images/", width: int = WIDTH, height: int = HEIGHT, most: int = 4) -> list[Scene]:
    """Pictures with up to ``most`` objects each, which do not touch. Every ninth one is empty."""
    random = numpy.random.default_rng(seed)
    return [_scene(f"{folder}s{seed}_{i:03}.png", random, width, height, 0 if i % 9 == 8 else 1 + i % most) for i in range(number)]


def _scene(name: str, random: numpy.random.Generator, width: int, height: int, number: int) -> Scene:
    image = Image.fromarray(random.integers(150, 190, (height, width, 3), numpy.uint8))
    pen, things = ImageDraw.Draw(image), []
    for _ in range(50):
        if len(things) == number:
            break
        size = int(random.integers(8, 15))
        left, top = int(random.integers(0, width - size)), int(random.integers(0, height - size))
        box = (left, top, left + size, top + size)
        if any(box[0] < t.box[2] + 2 and t.box[0] < box[2] + 2 and box[1] < t.box[3] + 2 and t.box[1] < box[3] + 2 for t in things):
            continue
        label = CLASSES[int(random.integers(2))]
        if label == "disc":
            angles = numpy.arange(0, 2 * numpy.pi, numpy.pi / 12)
            ring = numpy.stack([left + size / 2 * (1 + numpy.cos(angles)), top + size / 2 * (1 + numpy.sin(angles))], axis=1)
            pen.ellipse((left, top, left + size - 1, top + size - 1), _COLOURS[label])
        else:
            ring = numpy.asarray([(left, top), (left + size, top), (left + size, top + size), (left, top + size)], float)
            pen.rectangle((left, top, left + size - 1, top + size - 1), _COLOURS[label])
        things.append(Thing(label, ring, tuple(float(c) for c in box)))
    return Scene(name, png(numpy.asarray(image)), tuple(things))


def pictures(listed: list[Scene]) -> dict[str, bytes]:
    return {s.name: s.data for s in listed}


def _xywh(thing: Thing) -> list[float]:
    left, top, right, bottom = thing.box
    return [left, top, right - left, bottom - top]


def coco(listed: list[Scene], form: str = "polygons", width: int = WIDTH, height: int = HEIGHT) -> dict:
    """``form`` is polygons, boxes, runs (a list) or text (compressed)."""
    images = [{"id": i, "file_name": s.name, "width": width, "height": height} for i, s in enumerate(listed)]
    entries = []
    for i, scene in enumerate(listed):
        for thing in scene.things:
            entry = {"id": len(entries), "image_id": i, "category_id": CLASSES.index(thing.label), "bbox": _xywh(thing), "iscrowd": 0}
            entries.append({**entry, **({} if form == "boxes" else {"segmentation": _segmentation(thing, form, width, height)})})
    return {"images": images, "annotations": entries, "categories": [{"id": i, "name": n} for i, n in enumerate(CLASSES)]}


def _segmentation(thing: Thing, form: str, width: int, height: int):
    flat = thing.ring.ravel().tolist()
    if form == "polygons":
        return [flat]
    runs = judge.merge(judge.frPyObjects([flat], height, width))
    if form == "text":
        return {"size": runs["size"], "counts": runs["counts"].decode()}
    values = judge.decode(runs).ravel(order="F")
    edges = numpy.concatenate([[0], numpy.flatnonzero(numpy.diff(values)) + 1, [len(values)]])
    counts = numpy.diff(edges).tolist()
    return {"size": runs["size"], "counts": [0, *counts] if values[0] else counts}


def via(listed: list[Scene], version: int = 2) -> dict:
    def regions(scene: Scene):
        shapes = [
            {
                "shape_attributes": {"name": "polygon", "all_points_x": t.ring[:, 0].tolist(), "all_points_y": t.ring[:, 1].tolist()},
                "region_attributes": {"object_name": t.label},
            }
            for t in scene.things
        ]
        return {str(i): shape for i, shape in enumerate(shapes)} if version == 1 else shapes

    if version == 3:
        entries = [(i, t) for i, s in enumerate(listed) for t in s.things]
        regions_3 = {
            f"{i}_{n}": {"vid": str(i), "z": [], "xy": [7, *t.ring.ravel().tolist()], "av": {"1": t.label}} for n, (i, t) in enumerate(entries)
        }
        return {
            "project": {"pid": "x"},
            "file": {str(i): {"fid": str(i), "fname": s.name} for i, s in enumerate(listed)},
            "view": {str(i): {"fid_list": [str(i)]} for i in range(len(listed))},
            "metadata": regions_3,
        }
    return {
        f"{s.name}{len(s.data)}": {
            "filename": s.name.rpartition("/")[2], "size": len(s.data), "regions": regions(s), "file_attributes": {}
        }
        for s in listed
    }  # fmt: skip


def via_csv(listed: list[Scene]) -> str:
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["filename", "file_size", "file_attributes", "region_count", "region_id", "region_shape_attributes", "region_attributes"])
    for s in listed:
        for i, t in enumerate(s.things):
            left, top, width, height = _xywh(t)
            shape = json.dumps({"name": "rect", "x": left, "y": top, "width": width, "height": height})
            writer.writerow([s.name, len(s.data), "{}", len(s.things), i, shape, json.dumps({"kind": t.label})])
    return out.getvalue()


def yolo(listed: list[Scene], segments: bool = False) -> dict[str, str]:
    files = {"data.yaml": f"train: images/train\nnc: 2\nnames: [{', '.join(CLASSES)}]\n"}
    for s in listed:
        lines = []
        for t in s.things:
            left, top, width, height = _xywh(t)
            shares = (t.ring / (WIDTH, HEIGHT)).ravel() if segments else (
                (left + width / 2) / WIDTH, (top + height / 2) / HEIGHT, width / WIDTH, height / HEIGHT
            )  # fmt: skip
            lines.append(" ".join([str(CLASSES.index(t.label)), *(f"{v:.8f}" for v in shares)]))
        files[s.name.replace("images/", "labels/").replace(".png", ".txt")] = "".join(f"{line}\n" for line in lines)
    return files


def voc(listed: list[Scene]) -> dict[str, str]:
    files = {}
    for s in listed:
        objects = "".join(
            f"<object><name>{t.label}</name><difficult>0</difficult><bndbox><xmin>{t.box[0] + 1:.0f}</xmin><ymin>{t.box[1] + 1:.0f}</ymin>"
            f"<xmax>{t.box[2]:.0f}</xmax><ymax>{t.box[3]:.0f}</ymax></bndbox></object>"
            for t in s.things
        )
        stem = s.name.rpartition("/")[2].rpartition(".")[0]
        size = f"<size><width>{WIDTH}</width><height>{HEIGHT}</height><depth>3</depth></size>"
        files[f"Annotations/{stem}.xml"] = f"<annotation><filename>{stem}</filename>{size}{objects}</annotation>"
    return files


def labelme(listed: list[Scene]) -> dict[str, str]:
    def document(s: Scene):
        shapes = [{"label": t.label, "points": t.ring.tolist(), "shape_type": "polygon", "group_id": None} for t in s.things]
        return {"version": "5", "shapes": shapes, "imagePath": f"..\\{s.name}", "imageData": None, "imageWidth": WIDTH, "imageHeight": HEIGHT}

    return {s.name.replace(".png", ".json"): json.dumps(document(s)) for s in listed}


def label_studio(listed: list[Scene]) -> list:
    def result(t: Thing):
        points = (t.ring / (WIDTH, HEIGHT) * 100).tolist()
        return {"type": "polygonlabels", "original_width": WIDTH, "original_height": HEIGHT, "value": {"points": points, "polygonlabels": [t.label]}}

    def address(s: Scene):
        return f"/data/upload/3/0a1b2c3d-{s.name.rpartition('/')[2]}"

    return [{"id": i, "data": {"image": address(s)}, "annotations": [{"result": [result(t) for t in s.things]}]} for i, s in enumerate(listed)]


def cvat(listed: list[Scene]) -> str:
    def shapes(s: Scene) -> str:
        return "".join(f'<polygon label="{t.label}" points="{";".join(f"{x:.4f},{y:.4f}" for x, y in t.ring)}" occluded="0"/>' for t in s.things)

    images = "".join(f'<image id="{i}" name="{s.name}" width="{WIDTH}" height="{HEIGHT}">{shapes(s)}</image>' for i, s in enumerate(listed))
    return f"<annotations><version>1.1</version>{images}</annotations>"


def table(listed: list[Scene]) -> str:
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["filename", "width", "height", "class", "xmin", "ymin", "xmax", "ymax"])
    for s in listed:
        for t in s.things:
            writer.writerow([s.name, WIDTH, HEIGHT, t.label, *t.box])
        if not s.things:
            writer.writerow([s.name, WIDTH, HEIGHT, "", "", "", "", ""])
    return out.getvalue()


FORMS = {
    "coco-polygons": lambda s: {"instances.json": json.dumps(coco(s))},
    "coco-boxes": lambda s: {"instances.json": json.dumps(coco(s, "boxes"))},
    "coco-runs": lambda s: {"instances.json": json.dumps(coco(s, "runs"))},
    "coco-text": lambda s: {"instances.json": json.dumps(coco(s, "text"))},
    "via-1": lambda s: {"images/via_region_data.json": json.dumps(via(s, 1))},
    "via-2": lambda s: {"via.json": json.dumps({"_via_img_metadata": via(s), "_via_settings": {}})},
    "via-3": lambda s: {"via.json": json.dumps(via(s, 3))},
    "via-csv": lambda s: {"via.csv": via_csv(s)},
    "yolo": yolo,
    "yolo-segments": lambda s: yolo(s, True),
    "voc": voc,
    "labelme": labelme,
    "label-studio": lambda s: {"project.json": json.dumps(label_studio(s))},
    "cvat": lambda s: {"annotations.xml": cvat(s)},
    "table": lambda s: {"boxes.csv": table(s)},
}
