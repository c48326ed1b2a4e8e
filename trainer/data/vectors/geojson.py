"""Polygons in GeoJSON."""

import json
from pathlib import Path
from typing import Any

from trainer.data.vectors.layer import MOST_BYTES, Layer

_DEGREES = "OGC:CRS84"  # of a file that names no reference system, as RFC 7946 says


def read(file: Path, name: str) -> list[Layer]:
    """The layer in a GeoJSON file. Raises OSError or ValueError."""
    from shapely.geometry import shape

    if file.stat().st_size > MOST_BYTES:
        raise ValueError(f"it is larger than {MOST_BYTES >> 20} MB; save it as a GeoPackage")
    try:
        value = json.loads(file.read_text("utf-8-sig"))
    except RecursionError as e:
        raise ValueError("it is nested too deeply") from e
    features = value.get("features") if isinstance(value, dict) else None
    if not isinstance(features, list):
        raise ValueError("it is no FeatureCollection")
    layer = Layer(name, _system(value))
    for feature in features:
        if not isinstance(feature, dict):
            layer.left_out["it is no feature"] += 1
            continue
        try:
            geometry = shape(feature["geometry"]) if feature.get("geometry") else None
        except Exception:  # shapely raises many for numbers that are none
            layer.left_out["its corners are no numbers, or too few"] += 1
            continue
        properties = feature.get("properties")
        layer.add(geometry, properties if isinstance(properties, dict) else {})
    return [layer]


def _system(value: dict[str, Any]) -> str:
    """The reference system that older files name."""
    named = value.get("crs")
    about = named.get("properties") if isinstance(named, dict) else None
    name = about.get("name") if isinstance(about, dict) else None
    return name if isinstance(name, str) and name and "CRS84" not in name else _DEGREES
