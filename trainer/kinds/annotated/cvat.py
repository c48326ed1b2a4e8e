"""CVAT: an XML file with an ``image`` for each picture, or with a ``track`` for each object of a video."""

import numpy

from trainer.core.input import Input
from trainer.data import names
from trainer.kinds.annotated import cvat_keyframes, cvat_tracks, limits, outlines, runs, xml_documents
from trainer.kinds.annotated.shapes import Drawn, LeftOut, Listed
from trainer.kinds.annotated.xml_documents import Element

_NO_AREA = ("polyline", "points", "cuboid", "skeleton")


def read(source: Input, images: list[Input], left: LeftOut, changed: LeftOut) -> tuple[list[Listed], list[str]]:
    """The pictures of a file, and the names of the classes in its order. ``images`` are those of the dataset, among which are the frames of a video.
    Raises UserError."""
    root = xml_documents.read(source)
    if root.all("track"):
        return cvat_tracks.read(root, source, _SHAPES, images, left, changed), _classes(root)
    listed = []
    for image in root.all("image"):
        size = limits.size(image.attributes.get("width")), limits.size(image.attributes.get("height"))
        name, drawn = image.attributes.get("name", ""), []
        for element in image.inner:
            if element.name in _NO_AREA:
                left.add("the shape is a line, points or a body in space", name)
            elif element.name in _SHAPES:
                shape = _SHAPES[element.name](element, *size)
                drawn += [] if shape is None else [shape]
                if shape is None:
                    left.add("the shape cannot be read", name)
        subset = image.attributes.get("subset", "")
        split = (names.split_of(f"{subset}.xml") if subset else None) or names.split_of(source.name) or ""
        listed.append(Listed((name,), drawn, *size, split=split))
    return listed, _classes(root)


def _classes(root: Element) -> list[str]:
    """The labels of the task, in its order."""
    labels: list[str] = []
    for meta in root.all("meta"):
        for task in (*meta.all("task"), *meta.all("project"), *meta.all("job")):
            labels += [label.value("name") for group in task.all("labels") for label in group.all("label")]
    return [label for label in dict.fromkeys(labels) if label]


def _box(element: Element, width: float, height: float) -> Drawn | None:
    read = limits.numbers([element.attributes.get(side) for side in cvat_keyframes.SIDES])
    if read is None:
        return None
    left, top, right, bottom = read
    angle = _angle(element)
    if angle:
        middle = ((left + right) / 2, (top + bottom) / 2)
        return Drawn(_label(element), (outlines.turn(outlines.corners(left, top, right - left, bottom - top), middle, angle),))
    return Drawn(_label(element), box=(left, top, right, bottom))


def _polygon(element: Element, width: float, height: float) -> Drawn | None:
    ring = cvat_keyframes.points(element)
    return None if ring is None else Drawn(_label(element), (ring,))


def _ellipse(element: Element, width: float, height: float) -> Drawn | None:
    read = limits.numbers([element.attributes.get(name) for name in cvat_keyframes.AXES])
    if read is None:
        return None
    x, y, wide, high = read
    return Drawn(_label(element), (outlines.ellipse(x, y, wide, high, _angle(element)),))


def _mask(element: Element, width: float, height: float) -> Drawn | None:
    """Runs of a rectangle within the picture."""
    place = limits.numbers([element.attributes.get(name) for name in ("left", "top", "width", "height")])
    if place is None or not width or not height or width * height > limits.PIXELS:
        return None
    inner = runs.of_rows([c.strip() for c in element.attributes.get("rle", "").split(",")], place[2], place[3])
    left, top = int(place[0]), int(place[1])
    if inner is None or left < 0 or top < 0 or left + inner.shape[1] > width or top + inner.shape[0] > height:
        return None
    whole = numpy.zeros((int(height), int(width)), bool)
    whole[top : top + inner.shape[0], left : left + inner.shape[1]] = inner
    return Drawn(_label(element), runs=runs.of_mask(whole))


def _angle(element: Element) -> float:
    """How far a box or an ellipse is turned, in radians."""
    return float(numpy.radians(limits.number(element.attributes.get("rotation", "0")) or 0))


def _label(element: Element) -> str:
    return element.attributes.get("label", "")


_SHAPES = {"box": _box, "polygon": _polygon, "ellipse": _ellipse, "mask": _mask}
