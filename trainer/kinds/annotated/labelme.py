"""LabelMe: a JSON file for each picture with ``shapes``."""

from typing import Any

from trainer.core.input import Input
from trainer.data import names
from trainer.errors import UserError
from trainer.kinds.annotated import limits, outlines
from trainer.kinds.annotated.shapes import Drawn, LeftOut, Listed


def read(source: Input, left: LeftOut) -> Listed | None:
    """The picture of a file with its shapes; None where the file is another one."""
    try:
        value = limits.document(source)
    except UserError:
        left.add("the file of annotations cannot be read", source.name)
        return None
    if not isinstance(value, dict) or not isinstance(value.get("shapes"), list):
        return None
    by_group: dict[tuple[str, str], Drawn] = {}
    drawn = []
    for shape in limits.objects(value["shapes"]):
        one, group = _drawn(shape), (str(shape.get("label", "")), str(shape.get("group_id")))
        if one is None:
            left.add("the shape is a line, a point or a mask, or cannot be read", source.name)
        elif shape.get("group_id") is not None and one.rings and group in by_group:
            by_group[group].rings += one.rings  # the parts of one object
        else:
            drawn.append(one)
            if one.rings:
                by_group[group] = one
    size = limits.size(value.get("imageWidth")), limits.size(value.get("imageHeight"))
    bare = source.name.rpartition(".")[0]
    inside = "/".join(part for part in str(value.get("imagePath") or "").replace("\\", "/").split("/") if part not in ("", ".", ".."))
    return Listed((bare, *([inside] if inside else [])), drawn, *size, split=names.split_of(source.name) or "")


def _drawn(shape: dict[str, Any]) -> Drawn | None:
    label, points = str(shape.get("label") or "").strip(), outlines.pairs(shape.get("points"))
    if not label or points is None:
        return None
    form = shape.get("shape_type") or "polygon"
    if form == "polygon":
        return Drawn(label, (points,))
    if form == "rectangle" and len(points) in (2, 4):
        (left, top), (right, bottom) = points.min(axis=0), points.max(axis=0)
        return Drawn(label, box=(float(left), float(top), float(right), float(bottom)))
    if form == "circle" and len(points) == 2:
        radius = float(((points[1] - points[0]) ** 2).sum() ** 0.5)
        return Drawn(label, (outlines.ellipse(float(points[0, 0]), float(points[0, 1]), radius, radius),))
    return None
