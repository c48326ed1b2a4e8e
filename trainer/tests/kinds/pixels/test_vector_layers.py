"""Files of polygons over a map: read as others wrote them, and refused where they are damaged."""

import sqlite3
import struct

import geopandas
import pytest
import rasterio
import shapely
from scene_files import POLAR
from shapely.geometry import box

from trainer.data.vectors import geojson, geopackages, shapefiles
from trainer.data.vectors.layer import Layer


def test_what_is_no_polygon_is_left_out_by_reason():
    layer = Layer("a", "")
    for shape in (None, shapely.Point(1, 1), shapely.Polygon(), box(0, 0, 1, 1), box(0, 0, float("inf"), 1)):
        layer.add(shape, {})
    layer.add(shapely.Polygon([(0, 0), (2, 2), (2, 0), (0, 2)]), {})
    layer.add(shapely.Polygon([(0, 0), (1, 1), (2, 2)]), {})
    assert (len(layer.shapes), layer.repaired) == (2, 2)
    assert layer.shapes[1].is_valid and layer.shapes[1].area == 2
    assert layer.left_out.total() == 5


@pytest.mark.parametrize("form", ["geojson", "gpkg", "shp"])
def test_files_of_others_are_read_as_they_wrote_them(tmp_path, form):
    hole = shapely.Polygon([(0, 0), (10, 0), (10, 10), (0, 10)], [[(2, 2), (4, 2), (4, 4)]])
    several = shapely.MultiPolygon([box(20, 20, 22, 22), box(30, 30, 33, 33)])
    frame = geopandas.GeoDataFrame({"art": ["Eis", "Wässer"], "n": [1, 2]}, geometry=[hole, several], crs=POLAR)
    frame.to_file(tmp_path / f"a.{form}")
    beside = {f.suffix[1:]: f for f in tmp_path.iterdir()}
    (layer,) = {
        "geojson": lambda f: geojson.read(f, "a"),
        "gpkg": lambda f: geopackages.read(f, "a"),
        "shp": lambda f: shapefiles.read(f, "a", beside),
    }[form](tmp_path / f"a.{form}")
    assert [s.area for s in layer.shapes] == pytest.approx([98, 13])
    assert [(p["art"], p["n"]) for p in layer.properties] == [("Eis", 1), ("Wässer", 2)]
    assert rasterio.crs.CRS.from_user_input(layer.crs).to_epsg() == 3413


@pytest.mark.parametrize(
    ("read", "content"),
    [
        (lambda f: geojson.read(f, "a"), b"[" * 100_000),
        (lambda f: geojson.read(f, "a"), b'{"features": 3}'),
        (lambda f: geopackages.read(f, "a"), b"SQLite format 3\0" + bytes(200)),
        (lambda f: shapefiles.read(f, "a", {}), struct.pack(">i", 9994) + bytes(96) + struct.pack(">ii", 1, 1 << 28)),
        (lambda f: shapefiles.read(f, "a", {}), b"no"),
    ],
)
def test_damaged_files_are_refused_by_name(tmp_path, read, content):
    (tmp_path / "a").write_bytes(content)
    with pytest.raises((ValueError, OSError)):
        read(tmp_path / "a")


def test_a_geopackage_that_never_ends_is_given_up(tmp_path, monkeypatch):
    base = sqlite3.connect(tmp_path / "a.gpkg")
    base.executescript(
        "CREATE TABLE gpkg_contents (table_name, data_type, srs_id); CREATE TABLE gpkg_geometry_columns (table_name, column_name);"
        "CREATE TABLE gpkg_spatial_ref_sys (srs_id, organization, organization_coordsys_id, definition);"
        "INSERT INTO gpkg_contents VALUES ('v', 'features', 1); INSERT INTO gpkg_geometry_columns VALUES ('v', 'geom');"
        "CREATE VIEW v AS WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT n, NULL AS geom FROM c WHERE n < 0;"
    )
    base.close()
    monkeypatch.setattr(geopackages, "_SECONDS", 0.2)
    with pytest.raises(ValueError, match="interrupted"):
        geopackages.read(tmp_path / "a.gpkg", "a")
