"""Annotations in XML: Pascal VOC (one file for each picture, root ``annotation``) and CVAT (root ``annotations``)."""

from trainer.core.input import Input
from trainer.data.annotations import sniff
from trainer.data.annotations.held import Annotations

_VOC_SHAPES = ("object/bndbox", "object/polygon", "object/segmentation")
_CVAT_SHAPES = ("box", "polygon", "polyline", "points", "mask", "ellipse", "cuboid", "skeleton")


def find(source: Input) -> Annotations | None:
    """The annotations in an XML file; None where it is another one."""
    seen = sniff.elements(source)
    if seen.root == "annotation":
        return _voc(source, seen)
    if seen.root == "annotations":
        return _cvat(source, seen)
    return None


def _voc(source: Input, seen: sniff.Elements) -> Annotations | None:
    empty = not seen.paths["object"] and seen.paths["filename"] and seen.paths["size/width"]
    if not empty and not any(seen.paths[shape] for shape in _VOC_SHAPES):
        return None
    return Annotations("Pascal VOC", (source.name,), seen.paths["object"], tuple(sorted(set(seen.texts.get("object/name", ())))), seen.cut)


def _cvat(source: Input, seen: sniff.Elements) -> Annotations | None:
    paths = [f"{parent}/{shape}" for parent in ("image", "track") for shape in _CVAT_SHAPES]
    number = sum(seen.paths[p] for p in paths)
    named = any("name" in a and "width" in a for a in seen.attributes.get("image", ()))
    if not number and not named:
        return None
    labels = {a["label"] for p in (*paths, "track") for a in seen.attributes.get(p, ()) if "label" in a}
    return Annotations("CVAT", (source.name,), number, tuple(sorted(labels)), seen.cut)
