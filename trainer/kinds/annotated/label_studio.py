"""Label Studio: a list of tasks with the results of their annotations, or its short form. Coordinates are in percent of the picture."""

import math
import re
import urllib.parse
from typing import Any

from trainer.core.input import Input
from trainer.data import names
from trainer.kinds.annotated import limits, outlines
from trainer.kinds.annotated.shapes import Drawn, LeftOut, Listed

_BOX, _POLYGON, _ELLIPSE = "rectanglelabels", "polygonlabels", "ellipselabels"
_OTHERS = {"brushlabels": "the region is a brush stroke, which is not read", "keypointlabels": "the region is a point"}
_UPLOADED = re.compile(r"^[0-9a-f]{8}-")  # before the name of an uploaded file
_PERCENT = 100.0


def read(source: Input, left: LeftOut) -> list[Listed]:
    """The pictures of a file. Raises UserError where it cannot be read."""
    listed = []
    for task in limits.objects(limits.document(source)):
        named = _picture(task)
        regions = _regions(task, left, source.name)
        if not named or regions is None:
            continue
        drawn, width, height = [], 0.0, 0.0
        for region, about in regions:
            width, height = limits.size(about.get("original_width")) or width, limits.size(about.get("original_height")) or height
            if reason := next((why for key, why in _OTHERS.items() if key in region), ""):
                left.add(reason, named)
            elif (one := _drawn(region, width, height)) is not None:
                drawn.append(one)
            elif any(isinstance(region.get(k), list) for k in (_BOX, _POLYGON, _ELLIPSE)):
                left.add("the region has no label, or cannot be read", named)
        base = named.rsplit("/", 1)[-1]
        candidates = dict.fromkeys((named.strip("/"), base, _UPLOADED.sub("", base)))
        listed.append(Listed(tuple(candidates), drawn, width, height, names.split_of(source.name) or "", shares=True))
    return listed


def _picture(task: dict) -> str:
    """The path of the picture in an address, such as /data/upload/1/name.png or /data/local-files/?d=folder/name.png."""
    data = task.get("data") if isinstance(task.get("data"), dict) else task
    for value in data.values() if isinstance(data, dict) else ():
        if isinstance(value, str) and len(value) < 2000:
            try:
                address = urllib.parse.urlsplit(value)
                path = urllib.parse.parse_qs(address.query).get("d", [address.path])[0]
            except ValueError:
                continue
            path = urllib.parse.unquote(path)
            if names.extension(path) in names.IMAGES:
                return path
    return ""


def _regions(task: dict, left: LeftOut, name: str) -> list[tuple[dict, dict]] | None:
    """The values of all regions of one annotation, and what is said about each; None where the picture was not annotated."""
    annotations = [a for key in ("annotations", "completions") for a in limits.objects(task.get(key)) if not a.get("was_cancelled")]
    if annotations:
        chosen = next((a for a in annotations if a.get("ground_truth")), annotations[0])
        if len(annotations) > 1:
            left.add("another person annotated the same picture", name, len(annotations) - 1)
        return [(r["value"], r) for r in limits.objects(chosen.get("result")) if isinstance(r.get("value"), dict)]
    if "annotations" in task or "completions" in task:
        return None
    return [(r, r) for value in task.values() if isinstance(value, list) for r in limits.objects(value)]


def _drawn(value: dict[str, Any], width: float, height: float) -> Drawn | None:
    key = next((k for k in (_BOX, _POLYGON, _ELLIPSE) if isinstance(value.get(k), list) and value[k]), "")
    label = str(value[key][0]).strip() if key else ""
    if not label:
        return None
    if key == _POLYGON:
        points = outlines.pairs(value.get("points"))
        return None if points is None else Drawn(label, (points / _PERCENT,))
    turned = math.radians(limits.number(value.get("rotation", 0)) or 0)
    if key == _ELLIPSE:
        read = limits.numbers([value.get(k) for k in ("x", "y", "radiusX", "radiusY")])
        return None if read is None else Drawn(label, (_turned(outlines.ellipse(*read), (read[0], read[1]), turned, width, height),))
    read = limits.numbers([value.get(k) for k in ("x", "y", "width", "height")])
    if read is None:
        return None
    x, y, wide, high = read
    if turned:
        return Drawn(label, (_turned(outlines.corners(x, y, wide, high), (x, y), turned, width, height),))
    return Drawn(label, box=(x / _PERCENT, y / _PERCENT, (x + wide) / _PERCENT, (y + high) / _PERCENT))


def _turned(points, around: tuple[float, float], angle: float, width: float, height: float):
    """Points in percent, turned in pixels, in shares."""
    scale = (width or 1.0, height or 1.0)
    return outlines.turn(points * scale, (around[0] * scale[0], around[1] * scale[1]), angle) / scale / _PERCENT
