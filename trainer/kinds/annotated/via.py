"""VGG Image Annotator: the JSON of versions 1, 2 and 3, and the CSV."""

import collections
import csv
import io
import json
import math
from typing import Any

from trainer.core.input import Input
from trainer.data import names
from trainer.errors import UserError, some
from trainer.kinds.annotated import limits, outlines
from trainer.kinds.annotated.shapes import Drawn, LeftOut, Listed

_PROJECT = "_via_img_metadata"
_RECT, _CIRCLE, _ELLIPSE, _POLYGON, _SHAPES3 = "rect", "circle", "ellipse", "polygon", {2: "rect", 3: "circle", 4: "ellipse", 7: "polygon"}
_HELD = 0.5  # share of the regions that have an attribute, from which it may be the class
_FEW = 0.5  # a class has fewer different values than this share of the regions
OBJECT = "object"  # the class of regions without attributes
NO_CLASS = "the region has no class"
NO_AREA = "the region is a line or a point, or cannot be read"
Region = tuple[dict, Any]  # attributes, and the shape or None


def read(source: Input, left: LeftOut, changed: LeftOut, attribute: str = "") -> tuple[list[Listed], list[str]]:
    """The pictures of a file, and their classes. ``attribute`` is the one with the class; empty to find it. Raises UserError."""
    split = names.split_of(source.name) or ""
    by_picture = _of_csv(source) if names.extension(source.name) in ("csv", "tsv", "txt") else _of_json(source)
    regions = [r for held in by_picture.values() for r in held]
    chosen = _class_attribute([attributes for attributes, _ in regions], attribute, source.name)
    listed = []
    for name, held in by_picture.items():
        drawn = []
        for attributes, shape in held:
            label = _value(attributes.get(chosen)) if chosen else OBJECT
            if shape is None:
                left.add(NO_AREA, name)
            elif not label:
                left.add(NO_CLASS, name)
            else:
                drawn.append(Drawn(label, **shape))
        listed.append(Listed((name,), drawn, split=split))
    return listed, []


def _of_json(source: Input) -> dict[str, list[Region]]:
    value = limits.document(source)
    if not isinstance(value, dict):
        raise limits.unreadable(source.name, "it is no object of pictures")
    if isinstance(value.get("metadata"), dict) and _PROJECT not in value:
        return _third(value)
    found: dict[str, list[Region]] = {}
    for picture in limits.objects(value.get(_PROJECT, value)):
        if "filename" in picture:
            held = found.setdefault(str(picture["filename"]), [])
            held += [(_attributes(r.get("region_attributes")), _shape(r.get("shape_attributes"))) for r in limits.objects(picture.get("regions"))]
    return found


def _third(value: dict) -> dict[str, list[Region]]:
    """Version 3: the numbers of a shape follow its form in ``xy``."""
    files = value.get("file") if isinstance(value.get("file"), dict) else {}
    views = value.get("view") if isinstance(value.get("view"), dict) else {}
    found: dict[str, list[Region]] = {str(f.get("fname", "")): [] for f in limits.objects(files)}
    for entry in limits.objects(value["metadata"]):
        view = views.get(str(entry.get("vid")), {})
        listed = view.get("fid_list") if isinstance(view, dict) else None
        number = str(listed[0]) if isinstance(listed, list) and listed else str(entry.get("vid"))
        file = files.get(number) if isinstance(files, dict) else None
        numbers = limits.numbers(entry.get("xy"))
        if not isinstance(file, dict) or not numbers:
            continue
        found[str(file.get("fname", ""))].append((_attributes(entry.get("av")), _of_numbers(int(numbers[0]), numbers[1:])))
    return found


def _of_numbers(form: int, values: list[float]) -> dict | None:
    name = _SHAPES3.get(form, "")
    keys = {_RECT: ("x", "y", "width", "height"), _CIRCLE: ("cx", "cy", "r"), _ELLIPSE: ("cx", "cy", "rx", "ry")}.get(name)
    if name == _POLYGON:
        return _shape({"name": name, "all_points_x": values[0::2], "all_points_y": values[1::2]})
    return _shape({"name": name, **dict(zip(keys, values))}) if keys else None


def _of_csv(source: Input) -> dict[str, list[Region]]:
    found: dict[str, list[Region]] = {}
    csv.field_size_limit(1 << 24)
    try:
        rows = list(csv.DictReader(io.StringIO(limits.text(source), newline="")))
    except csv.Error as e:
        raise limits.unreadable(source.name, "it is no table") from e
    for row in rows:
        by_name = {(k or "").strip().lstrip("#").strip(): v for k, v in row.items() if k}
        held = found.setdefault(str(by_name.get("filename", "")), [])
        shape = _loaded(by_name.get("region_shape_attributes"))
        if shape:
            held.append((_attributes(_loaded(by_name.get("region_attributes"))), _shape(shape)))
    return found


def _loaded(cell: Any) -> Any:
    try:
        return json.loads(cell) if isinstance(cell, str) else None
    except (ValueError, RecursionError):
        return {"name": ""}


def _attributes(value: Any) -> dict:
    return value if isinstance(value, dict) else {}


def _value(value: Any) -> str:
    """The value of an attribute: a text, or the only box that is ticked."""
    if isinstance(value, dict):
        ticked = [str(k) for k, on in value.items() if on is True or on == "true"]
        return ticked[0] if len(ticked) == 1 else ""
    return "" if value is None or isinstance(value, list) else str(value).strip()


def _shape(value: Any) -> dict | None:
    """The fields of ``Drawn`` for a region; None where it has no area or cannot be read."""
    if not isinstance(value, dict):
        return None
    name = value.get("name")
    if name == _POLYGON:
        points = outlines.ring(value.get("all_points_x"), value.get("all_points_y"))
        return None if points is None else {"rings": (points,)}
    if name == _RECT:
        read = limits.numbers([value.get(k) for k in ("x", "y", "width", "height")])
        return None if read is None else {"box": (read[0], read[1], read[0] + read[2], read[1] + read[3])}
    if name in (_CIRCLE, _ELLIPSE):
        keys = ("cx", "cy", "r", "r") if name == _CIRCLE else ("cx", "cy", "rx", "ry")
        read = limits.numbers([value.get(k) for k in keys])
        turned = limits.number(value.get("theta", 0)) or 0.0
        return None if read is None else {"rings": (outlines.ellipse(read[0], read[1], read[2], read[3], turned),)}
    return None


def _class_attribute(regions: list[dict], asked: str, name: str) -> str:
    """The attribute that holds the class; empty where regions have no attributes. Raises UserError where several may be it."""
    cells: dict[str, collections.Counter] = collections.defaultdict(collections.Counter)
    for attributes in regions:
        for key, value in attributes.items():
            if text := _value(value):
                cells[key][text] += 1
    if asked in cells:
        return asked
    most = max(2, math.floor(_FEW * len(regions)))
    few = [k for k, counted in cells.items() if counted.total() >= _HELD * len(regions) and len(counted) <= most]
    differing = [k for k in few if len(cells[k]) > 1] or few
    if len(differing) > 1 or asked:
        raise UserError(
            "ambiguous_class",
            f"The regions in {name} have no attribute {asked}." if asked else f"Several attributes of the regions in {name} may be the class.",
            "Set label_column to the attribute with the class, and task to object-detection, instance-segmentation or image-segmentation.",
            f"Their attributes are {some(list(cells), 8)}." if cells else "They have no attributes.",
        )
    return differing[0] if differing else ""
