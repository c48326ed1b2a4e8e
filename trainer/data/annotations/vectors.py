"""Shapes over scenes: GeoJSON, GeoPackage or a shapefile beside pictures that know where on the earth they are."""

import json
import re

from trainer.core.input import Input
from trainer.data import names, tiffs
from trainer.data.annotations import sniff
from trainer.data.annotations.held import Annotations

_SHAPEFILE = b"\x00\x00\x27\x0a"
_DATABASE, _GEOPACKAGE = b"SQLite format 3\0", (b"GPKG", b"GP10", b"GP11")
_FEATURES = re.compile(r'"type"\s*:\s*"FeatureCollection"')
_FEATURE = re.compile(rb'"type"\s*:\s*"Feature"')
_KML = ("kml",)


def find(tables: list[Input], others: list[Input], images: list[Input]) -> Annotations | None:
    """The shapes that belong to scenes among ``images``; None where no picture is a scene."""
    shapes = [held for source in (*tables, *others) if (held := of_file(source)) is not None]
    if not shapes or not _has_scene(images, others):
        return None
    first = shapes[0]
    for other in shapes[1:]:
        first = first.joined(other) if other.format == first.format else first
    return first


def of_file(source: Input) -> Annotations | None:
    """The shapes in one file; None where it holds none."""
    ending = names.extension(source.name)
    if ending in ("geojson", "json"):
        return _geojson(source)
    if ending == "gpkg":
        start = sniff.head(source, 72)
        return Annotations("a GeoPackage", (source.name,)) if start.startswith(_DATABASE) and start[68:72] in _GEOPACKAGE else None
    if ending == "shp":
        return Annotations("a shapefile", (source.name,)) if sniff.head(source, 4) == _SHAPEFILE else None
    if ending in _KML:
        return Annotations("KML", (source.name,)) if sniff.elements(source).root == "kml" else None
    return None


def _geojson(source: Input) -> Annotations | None:
    start = sniff.text(sniff.head(source, sniff.LINES))
    if not _FEATURES.search(start):
        return None
    if source.size > sniff.WHOLE:
        return Annotations("GeoJSON", (source.name,), len(_FEATURE.findall(sniff.head(source, sniff.PART))), cut=True)
    try:
        value = json.loads(sniff.text(sniff.head(source, sniff.WHOLE)))
        return Annotations("GeoJSON", (source.name,), len(value["features"]))
    except (ValueError, RecursionError, KeyError, TypeError):
        return None


def _has_scene(images: list[Input], others: list[Input]) -> bool:
    """Whether a picture has a place on the earth: by tags of its TIFF, or by a world file."""
    if images and any(names.extension(o.name) in names.WORLD_FILES for o in others):
        return True
    return any(_has_place(i) for i in sniff.spread([i for i in images if names.extension(i.name) in ("tif", "tiff")]))


def _has_place(source: Input) -> bool:
    try:
        return tiffs.header(source.file).placed
    except (OSError, ValueError):
        return False
