"""Shapefiles as programs and people leave them, compared with what GDAL reads: nested rings, changed and deleted records, and encodings."""

import struct

import geopandas
import numpy
import pytest
import shapely
from hypothesis import HealthCheck, given, settings, strategies as st
from shapely.geometry import MultiPolygon, Polygon, box

from trainer.data.vectors import shapefiles, tables

NAMES = ["Eis", "Gewässer", "Büsche", "Fels"]


def ring(low, high, turned=False):
    corners = [(low, low), (low, high), (high, high), (high, low), (low, low)]
    return corners[::-1] if turned else corners


def written(folder, shapes, **more):
    frame = geopandas.GeoDataFrame({"art": NAMES[: len(shapes)], "n": range(len(shapes))}, geometry=shapes, crs="EPSG:3413")
    frame.to_file(folder / "a.shp", **more)
    return folder / "a.shp"


def ours(file):
    beside = {f.suffix[1:]: f for f in file.parent.iterdir()}
    (layer,) = shapefiles.read(file, "a.shp", beside)
    return [(p.get("art"), p.get("n"), s) for p, s in zip(layer.properties, layer.shapes)]


def equal(file, **more):
    """Whether what is read is what GDAL reads."""
    frame = geopandas.read_file(file, **more)
    theirs = [(art, n, s) for art, n, s in zip(frame["art"], frame["n"], frame.geometry) if s is not None and not s.is_empty]
    found = ours(file)
    assert [row[:2] for row in found] == [row[:2] for row in theirs]
    assert all(shapely.equals(a[2], shapely.force_2d(b[2])) for a, b in zip(found, theirs))
    return found


@pytest.mark.parametrize(
    "shapes",
    [
        [Polygon(ring(0, 100), [ring(10, 90)]), box(200, 0, 210, 9)],
        [MultiPolygon([Polygon(ring(0, 100), [ring(10, 90)]), Polygon(ring(20, 80), [ring(30, 70)]), box(40, 40, 50, 50)])],
        [MultiPolygon([box(0, 0, 10, 10), Polygon([(10, 0), (30, 0), (30, 30), (10, 30)], [[(10, 10), (20, 12), (20, 8)]])])],
        [Polygon([(0, 0, 5), (0, 9, 6), (9, 9, 7)]), None, box(0, 0, 3, 3)],
        [Polygon(ring(0, 100), [ring(10, 20), ring(30, 40)]), MultiPolygon([box(0, 0, 1, 1), box(5, 5, 6, 6)])],
    ],
    ids=["hole", "islands in holes", "parts that touch", "heights and no shape", "holes and parts"],
)
def test_shapes_are_those_of_gdal(tmp_path, shapes):
    assert equal(written(tmp_path, shapes))


def record(shapes, kind=5):
    """A record of rings as they are, in any order and direction."""
    points = numpy.concatenate([numpy.asarray(s, "<f8") for s in shapes])
    starts = numpy.cumsum([0, *(len(s) for s in shapes[:-1])]).astype("<i4")
    bounds = numpy.concatenate([points.min(axis=0), points.max(axis=0)]).astype("<f8")
    return struct.pack("<i", kind) + bounds.tobytes() + struct.pack("<ii", len(starts), len(points)) + starts.tobytes() + points.tobytes()


def rewrite(file, records, numbers=None, index=None, kind=5):
    """Write records into a shapefile; ``index`` are the places in it that .shx names, all by default."""
    head = bytearray(file.read_bytes()[:100])
    head[32:36] = struct.pack("<i", kind)
    body, places = b"", []
    for number, content in zip(numbers or range(1, len(records) + 1), records):
        places.append(((100 + len(body)) // 2, len(content) // 2))
        body += struct.pack(">ii", number, len(content) // 2) + content
    file.write_bytes(bytes(head[:24]) + struct.pack(">i", (100 + len(body)) // 2) + bytes(head[28:]) + body)
    kept = [places[i] for i in (index if index is not None else range(len(places)))]
    shx = b"".join(struct.pack(">ii", *place) for place in kept)
    file.with_suffix(".shx").write_bytes(bytes(head[:24]) + struct.pack(">i", (100 + len(shx)) // 2) + bytes(head[28:]) + shx)


@pytest.mark.parametrize(
    "rings",
    [[ring(0, 9, True)], [ring(0, 9), ring(20, 29, True)], [ring(2, 4, True), ring(0, 9)], [ring(0, 9), ring(2, 4, True), ring(20, 30)]],
    ids=["turned", "one turned", "hole first", "parts"],
)
def test_rings_of_any_direction_and_order_are_those_of_gdal(tmp_path, rings):
    file = written(tmp_path, [box(0, 0, 1, 1)])
    rewrite(file, [record(rings)])
    assert equal(file)


def test_shapes_with_measures_are_those_of_gdal(tmp_path):
    file = written(tmp_path, [box(0, 0, 1, 1)])
    rewrite(file, [record([ring(0, 9), ring(2, 4, True), ring(20, 30)], 25)], kind=25)
    assert equal(file)


@pytest.mark.parametrize("with_index", [True, False])
def test_a_changed_shape_keeps_its_row(tmp_path, with_index):
    file = written(tmp_path, [box(i, 0, i + 0.5, 1) for i in range(3)])
    old = [record([[(i, 0), (i, 1), (i + 0.5, 1), (i + 0.5, 0), (i, 0)]]) for i in range(3)]
    rewrite(file, [*old, record([ring(50, 60)])], numbers=[1, 2, 3, 2], index=[0, 3, 2])
    if not with_index:
        file.with_suffix(".shx").unlink()
        assert [(art, s.area) for art, _, s in ours(file)] == [("Eis", 0.5), ("Gewässer", 100), ("Büsche", 0.5)]
        return
    assert equal(file)[1][2].area == 100


def test_deleted_rows_take_their_shapes_with_them(tmp_path):
    file = written(tmp_path, [box(i, 0, i + 0.5, 1) for i in range(3)])
    table = bytearray(file.with_suffix(".dbf").read_bytes())
    head, width = struct.unpack_from("<HH", table, 8)
    table[head + width] = ord("*")
    file.with_suffix(".dbf").write_bytes(table)
    assert [art for art, _, _ in equal(file)] == ["Eis", "Büsche"]


@pytest.mark.parametrize(
    ("encoding", "named", "mark"),
    [
        ("utf-8", "UTF-8", 0), ("utf-8", "65001", 0), ("utf-8", None, 0), ("cp1252", "1252", 0), ("cp1252", "ANSI 1252", 0),
        ("cp1252", "cp1252", 0), ("latin-1", "ISO-8859-1", 0), ("latin-1", "88591", 0), ("cp1252", None, 0x57), ("cp1252", None, 0),
        ("cp850", None, 2), ("cp850", "LDID/2", 0),
        ("cp1250", None, 0xC8), ("utf-8", "no encoding", 0), ("utf-8", "hex", 0),
    ],
)  # fmt: skip
def test_texts_are_read_in_the_encoding_that_is_named(tmp_path, encoding, named, mark):
    file = written(tmp_path, [box(i, 0, i + 0.5, 1) for i in range(3)], encoding="ISO-8859-1")
    table = bytearray(file.with_suffix(".dbf").read_bytes())
    for name in NAMES:
        said, place = name.encode("latin-1"), table.find(name.encode("latin-1"))
        if place >= 0:
            table[place : place + len(name) + 2] = name.encode(encoding).ljust(len(said) + 2)
    table[29] = mark
    file.with_suffix(".dbf").write_bytes(table)
    file.with_suffix(".cpg").unlink(missing_ok=True)
    if named is not None:
        file.with_suffix(".cpg").write_text(named)
    assert [art for art, _, _ in ours(file)] == NAMES[:3]


@pytest.mark.parametrize(("named", "expected"), [("UTF-8", "Gew"), (None, "GewÃ")])
def test_a_character_that_is_cut_at_the_width_of_its_field_is_left_out(named, expected):
    codes = ("utf-8",) if named else ("utf-8", "cp1252")
    assert tables._text("Gewä".encode()[:4], codes) == expected


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=120), st.integers(0, 400), st.sampled_from(["shp", "shx", "dbf", "cpg"]))
def test_any_bytes_are_read_or_refused(tmp_path, data, at, ending):
    file = tmp_path / "a.shp"
    if not file.exists():
        written(tmp_path, [box(i, 0, i + 0.5, 1) for i in range(3)])
    place = file.with_suffix(f".{ending}")
    good = place.read_bytes()
    try:
        place.write_bytes(good[:at] + data + good[at + len(data) :])
        ours(file)
    except ValueError as e:
        assert str(e)
    finally:
        place.write_bytes(good)
