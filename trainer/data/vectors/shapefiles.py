"""Polygons in a shapefile: shapes in .shp, what is said of them in .dbf, and the reference system in .prj."""

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy

from trainer.data.vectors.layer import MOST_BYTES, Layer

_MAGIC, _HEAD = 9994, 100
_POLYGONS = (5, 15, 25)  # without and with heights or measures
_PROJECTION_BYTES = 1 << 16


def read(file: Path, name: str, beside: dict[str, Path]) -> list[Layer]:
    """The layer in a shapefile. ``beside`` are the files of the same name by their endings. Raises OSError or ValueError."""
    system = ""
    if "prj" in beside and beside["prj"].stat().st_size <= _PROJECTION_BYTES:
        system = beside["prj"].read_text("utf-8", "replace").strip()
    rows = _rows(beside["dbf"], beside.get("cpg")) if "dbf" in beside else iter(())
    layer = Layer(name, system)
    for shape in _shapes(file):
        layer.add(shape, next(rows, {}))
    return [layer]


def _bytes(file: Path) -> bytes:
    if file.stat().st_size > MOST_BYTES:
        raise ValueError(f"it is larger than {MOST_BYTES >> 20} MB; save it as a GeoPackage")
    return file.read_bytes()


def _shapes(file: Path) -> Iterator[Any]:
    """The shape of each record, None for one that is no polygon or damaged."""
    data = _bytes(file)
    if len(data) < _HEAD or struct.unpack_from(">i", data)[0] != _MAGIC:
        raise ValueError("it is no shapefile")
    at = _HEAD
    while at + 8 <= len(data):
        length = 2 * struct.unpack_from(">i", data, at + 4)[0]
        at += 8
        if length < 4 or at + length > len(data):
            raise ValueError("it is cut off: a record ends behind the end of the file")
        yield _polygon(data[at : at + length])
        at += length


def _polygon(record: bytes) -> Any:
    kind = struct.unpack_from("<i", record)[0]
    if kind not in _POLYGONS or len(record) < 44:
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
    """The polygon of rings, of which those that run clockwise are its outer ones and the others holes."""
    import shapely

    made = [shapely.Polygon(ring) for ring in rings if len(ring) >= 4]
    outer = [p for p in made if not p.exterior.is_ccw]
    holes = [p for p in made if p.exterior.is_ccw]
    if not outer:
        outer, holes = holes, []
    inside: list[list[Any]] = [[] for _ in outer]
    for hole in holes:
        point = hole.exterior.coords[0]
        number = next((i for i, p in enumerate(outer) if shapely.intersects_xy(p, *point)), None)
        if number is not None:
            inside[number].append(hole.exterior)
    parts = [shapely.Polygon(p.exterior, h) for p, h in zip(outer, inside)]
    return parts[0] if len(parts) == 1 else shapely.MultiPolygon(parts) if parts else None


def _rows(file: Path, encoding: Path | None) -> Iterator[dict[str, Any]]:
    """What the table says of each record."""
    data = _bytes(file)
    if len(data) < 32:
        return
    count, head, width = struct.unpack_from("<IHH", data, 4)
    fields = []
    at, place = 32, 1
    while at + 32 <= min(head, len(data)) and data[at] != 13:
        name = data[at : at + 11].split(b"\0")[0].decode("ascii", "replace")
        fields.append((name, chr(data[at + 11]), place, data[at + 16]))
        place, at = place + data[at + 16], at + 32
    code = _code(encoding)
    for number in range(min(count, max(0, len(data) - head) // max(1, width))):
        record = data[head + number * width : head + (number + 1) * width]
        yield {name: _value(record[start : start + length], kind, code) for name, kind, start, length in fields}


def _code(file: Path | None) -> str:
    if file is None or file.stat().st_size > 100:
        return "utf-8"
    name = file.read_text("ascii", "replace").strip()
    try:
        "".encode(name)
    except (LookupError, ValueError):
        return "utf-8"
    return name


def _value(cell: bytes, kind: str, code: str) -> str | float | None:
    try:
        text = cell.decode(code).strip(" \0")
    except (UnicodeDecodeError, LookupError):
        text = cell.decode("latin-1").strip(" \0")
    if kind in "NF" and text:
        try:
            number = float(text)
        except ValueError:
            return None
        return int(number) if number.is_integer() else number
    return text or None
