"""COCO: an object with the lists ``images``, ``annotations`` and ``categories``, or the list of results of a detector."""

from collections import Counter
from typing import Any

from trainer.core.input import Input
from trainer.data.annotations import sniff
from trainer.data.annotations.held import Annotations

_SORTS = (("caption", "COCO captions"), ("keypoints", "COCO keypoints"), ("segmentation", "COCO polygons or masks"), ("bbox", "COCO boxes"))
_MARKS = (b'"image_id"', b'"category_id"', b'"categories"')
ANSWERS = "They say where a detector sees animals, and not which: write the species of each picture as a table, or use folders of species."
ONE_EACH = "Each picture has one category and no box: written as a CSV with a file name and a class in each row, they could be classes."


def find(source: Input, value: Any, cut: bool) -> Annotations | None:
    """The annotations in the JSON ``value`` of a file; None where it is another one."""
    if isinstance(value, list):
        entries = _of(value, "image_id", "category_id")
        is_result = bool(entries) and len(entries) == len(value) and any(name in entries[0] for name in ("bbox", "segmentation"))
        return Annotations("results of a detector as COCO lists them", (source.name,), len(entries), cut=cut) if is_result else None
    if not isinstance(value, dict):
        return None
    images, entries = _of(value.get("images"), "id"), _of(value.get("annotations"), "image_id")
    if isinstance(value.get("detection_categories"), dict) and (found := _of(value.get("images"), "file")):
        kinds = tuple(map(str, value["detection_categories"].values()))
        return Annotations("answers of MegaDetector", (source.name,), sum(len(i.get("detections") or ()) for i in found), kinds, cut, ANSWERS)
    names = tuple(str(c["name"]) for c in _of(value.get("categories"), "name"))
    if entries and (sort := _sort(entries)):
        return Annotations(sort, (source.name,), len(entries), names, cut, _note(entries))
    has_files = bool(images) and all("file_name" in i for i in images)
    if has_files and cut and any(mark in sniff.tail(source) for mark in _MARKS):
        return Annotations("COCO", (source.name,), classes=names, cut=True)
    return None


def _of(value: Any, *keys: str) -> list[dict]:
    """The objects in a list that have all ``keys``."""
    return [v for v in value if isinstance(v, dict) and all(k in v for k in keys)] if isinstance(value, list) else []


def _sort(entries: list[dict]) -> str:
    for key, sort in _SORTS:
        if any(e.get(key) for e in entries):
            return sort
    return "COCO categories" if any("category_id" in e for e in entries) else ""


def _note(entries: list[dict]) -> str:
    shaped = any(e.get(key) for e in entries for key, _ in _SORTS)
    return ONE_EACH if not shaped and max(Counter(str(e["image_id"]) for e in entries).values()) == 1 else ""
