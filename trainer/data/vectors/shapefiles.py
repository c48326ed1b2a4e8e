"""Polygons in a shapefile: shapes in .shp, what is said of them in .dbf, where each begins in .shx, and the reference system in .prj."""

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy

from trainer.data.vectors import tables
from trainer.data.vectors.layer import Layer

_MAGIC, _HEAD, _RECORD = 9994, 100, 8
_POLYGONS = (5, 15, 25)  # without and with heights or measures
_PROJECTION_BYTES = 1 << 16


def read(file: Path, name: str, beside: dict[str, Path]) -> list[Layer]:
    """The layer in a shapefile. ``beside`` are the files of the same name by their endings. Raises OSError or ValueError."""
    system = ""
    if "prj" in beside and beside["prj"].stat().st_size <= _PROJECTION_BYTES:
        system = beside["prj"].read_text("utf-8", "replace").strip()
    rows = list(tables.rows(beside["dbf"], beside.get("cpg"))) if "dbf" in beside else []
    layer = Layer(name, system)
    for number, shape in _shapes(file, beside.get("shx")):
        row = rows[number] if number < len(rows) else {}
        if row is not None:  # it was deleted
            layer.add(shape, row)
    return [layer]


def _shapes(file: Path, index: Path | None) -> Iterator[tuple[int, Any]]:
    """The number of each record from 0, and its shape: None for one that is no polygon or damaged."""
    data = tables.content(file)
    if len(data) < _HEAD or struct.unpack_from(">i", data)[0] != _MAGIC:
        raise ValueError("it is no shapefile")
    for number, at in enumerate(_indexed(index, len(data)) or _in_order(data)):
        length = 2 * struct.unpack_from(">i", data, at + 4)[0] if at + _RECORD <= len(data) else -1
        if length < 0 or at + _RECORD + length > len(data):
            raise ValueError("it is cut off: a record ends behind the end of the file")
        yield number, _polygon(data[at + _RECORD : at + _RECORD + length])


def _indexed(index: Path | None, length: int) -> list[int]:
    """Where the records begin, by the file .shx; none where that is not beside it or is of another file."""
    data = tables.content(index) if index is not None else b""
    if len(data) < _HEAD + _RECORD or struct.unpack_from(">i", data)[0] != _MAGIC:
        return []
    places = 2 * numpy.frombuffer(data, ">i4", 2 * ((len(data) - _HEAD) // _RECORD), _HEAD).reshape(-1, 2)[:, 0].astype(numpy.int64)
    return places.tolist() if ((places >= _HEAD) & (places < length)).all() else []


def _in_order(data: bytes) -> list[int]:
    """Where the records begin, in the order of their numbers. A shape that was changed stands at the end of the file with its number, and its old
    one is left where it was. Numbers that are not those from 1 on count for nothing."""
    found, at = [], _HEAD
    while at + _RECORD <= len(data):
        number, length = struct.unpack_from(">ii", data, at)
        if length < 0:
            raise ValueError("it is cut off: a record has no length")
        found.append((number, at))
        at += _RECORD + 2 * length
    last = dict(found)
    return [last[number] for number in sorted(last)] if sorted(last) == list(range(1, len(last) + 1)) else [place for _, place in found]


def _polygon(record: bytes) -> Any:
    if len(record) < 44 or struct.unpack_from("<i", record)[0] not in _POLYGONS:
        return None
    parts, points = struct.unpack_from("<ii", record, 36)
    if parts < 1 or points < 3 or 44 + 4 * parts + 16 * points > len(record):
        return None
    starts = [*struct.unpack_from(f"<{parts}i", record, 44), points]
    places = numpy.frombuffer(record, "<f8", 2 * points, 44 + 4 * parts).reshape(-1, 2)
    if any(not 0 <= a < b <= points for a, b in zip(starts, starts[1:])) or not numpy.isfinite(places).all():
        return None
    return _of_rings([places[a:b] for a, b in zip(starts, starts[1:])])


def _of_rings(rings: list[numpy.ndarray]) -> Any:
    """The polygon of rings, of which those that run clockwise are its outer ones and the others holes. A hole belongs to the smallest outer ring
    around it; one without such a ring is a part of its own."""
    import shapely

    made = [shapely.Polygon(ring) for ring in rings if len(ring) >= 4]
    outer = [p for p in made if not p.exterior.is_ccw]
    holes = [p for p in made if p.exterior.is_ccw and outer]
    outer = outer or made
    inside: list[list[Any]] = [[] for _ in outer]
    alone = []
    for hole in holes:
        point = hole.representative_point() if hole.area > 0 else shapely.Point(hole.exterior.coords[0])
        around = [i for i, p in enumerate(outer) if p.area >= hole.area and shapely.intersects_xy(p, point.x, point.y)]
        if around:
            inside[min(around, key=lambda i: outer[i].area)].append(hole.exterior)
        else:
            alone.append(hole)
    parts = [*(shapely.Polygon(p.exterior, h) for p, h in zip(outer, inside)), *alone]
    return parts[0] if len(parts) == 1 else shapely.MultiPolygon(parts) if parts else None
