"""COCO: ``images``, ``annotations`` and ``categories``; polygons, boxes, and masks as run lengths."""

from typing import Any

from trainer.core.input import Input
from trainer.data import names
from trainer.errors import UserError, some
from trainer.kinds.annotated import limits, outlines, runs
from trainer.kinds.annotated.shapes import Drawn, LeftOut, Listed


def read(source: Input, left: LeftOut, changed: LeftOut) -> tuple[list[Listed], list[str]]:
    """The pictures of a file with their annotations, and the names of the classes in its order. Raises UserError."""
    value = limits.document(source)
    if not isinstance(value, dict):
        raise limits.unreadable(source.name, "it is no object with images and annotations")
    pictures = _pictures(source, limits.objects(value.get("images")))
    classes = {_key(c["id"]): str(c.get("name", c["id"])) for c in limits.objects(value.get("categories")) if "id" in c}
    seen: set[str] = set()
    for entry in limits.objects(value.get("annotations")):
        name = f"annotation {entry.get('id', '')} of {source.name}"
        if (identity := _key(entry.get("id"))) in seen and entry.get("id") is not None:
            changed.add("annotations share their id with another one", name)
        seen.add(identity)
        listed, label = pictures.get(_key(entry.get("image_id"))), classes.get(_key(entry.get("category_id")))
        if listed is None or label is None:
            left.add("the annotation names a picture that is not listed" if listed is None else "the annotation has an unknown category_id", name)
        elif (drawn := _drawn(entry, label)) is None:
            left.add("the annotation has no shape that can be read", name)
        else:
            listed.drawn.append(drawn)
    return list(pictures.values()), list(dict.fromkeys(classes.values()))


def _pictures(source: Input, entries: list[dict]) -> dict[str, Listed]:
    split, pictures = names.split_of(source.name) or "", {}
    known: dict[str, str] = {}
    for entry in entries:
        identity, name = _key(entry.get("id")), str(entry.get("file_name", ""))
        if known.setdefault(identity, name) != name:
            raise UserError(
                "annotations_ids",
                f"Two pictures of {source.name} have the id {identity}: {some([known[identity], name])}.",
                "Give each picture an id of its own: with this file nobody can tell which of them an annotation belongs to.",
            )
        pictures[identity] = Listed((name,), [], limits.size(entry.get("width")), limits.size(entry.get("height")), split)
    return pictures


def _key(value: Any) -> str:
    """An id as text: some programs write the same one as a number and as a text."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _drawn(entry: dict, label: str) -> Drawn | None:
    shape, crowd = entry.get("segmentation"), bool(entry.get("iscrowd"))
    box = limits.numbers(entry.get("bbox"))
    corners = (box[0], box[1], box[0] + box[2], box[1] + box[3]) if box is not None and len(box) == 4 else None
    if isinstance(shape, dict):
        mask = runs.of_coco(shape)
        return None if mask is None else Drawn(label, runs=mask, crowd=crowd)
    if isinstance(shape, list) and shape:
        rings = [outlines.flat(r) for r in (shape if isinstance(shape[0], list) else [shape])]
        return None if any(r is None for r in rings) else Drawn(label, tuple(r for r in rings if r is not None), corners, crowd=crowd)
    return None if box is None or corners is None else Drawn(label, box=corners, crowd=crowd, extent=(box[0], box[1], box[2], box[3]))
