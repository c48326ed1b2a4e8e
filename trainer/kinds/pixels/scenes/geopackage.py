"""A GeoPackage with polygons, written row by row: a SQLite database as the standard OGC 12-128r18 describes it."""

import sqlite3
import struct
from pathlib import Path
from typing import Any

import numpy

LAYER = "polygons"
_APPLICATION, _VERSION = 0x47504B47, 10300  # "GPKG", 1.3
_UNKNOWN, _OWN = -1, 100_000  # numbers of reference systems: of none, and of one without a code of EPSG
_COLUMN = "geom"
_TABLES = f"""
CREATE TABLE gpkg_spatial_ref_sys (srs_name TEXT NOT NULL, srs_id INTEGER NOT NULL PRIMARY KEY, organization TEXT NOT NULL,
  organization_coordsys_id INTEGER NOT NULL, definition TEXT NOT NULL, description TEXT);
CREATE TABLE gpkg_contents (table_name TEXT NOT NULL PRIMARY KEY, data_type TEXT NOT NULL, identifier TEXT UNIQUE, description TEXT DEFAULT '',
  last_change DATETIME NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ','now')), min_x DOUBLE, min_y DOUBLE, max_x DOUBLE, max_y DOUBLE,
  srs_id INTEGER REFERENCES gpkg_spatial_ref_sys(srs_id));
CREATE TABLE gpkg_geometry_columns (table_name TEXT NOT NULL, column_name TEXT NOT NULL, geometry_type_name TEXT NOT NULL, srs_id INTEGER NOT NULL,
  z TINYINT NOT NULL, m TINYINT NOT NULL, PRIMARY KEY (table_name, column_name));
CREATE TABLE {LAYER} (fid INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, {_COLUMN} MULTIPOLYGON, class TEXT, score DOUBLE, area_m2 DOUBLE,
  pixels INTEGER);
"""
_SYSTEMS = (
    ("Undefined Cartesian SRS", -1, "NONE", -1, "undefined", None),
    ("Undefined geographic SRS", 0, "NONE", 0, "undefined", None),
    ("WGS 84", 4326, "EPSG", 4326, 'GEOGCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563]],PRIMEM["Greenwich",0],'
     'UNIT["degree",0.0174532925199433],AUTHORITY["EPSG","4326"]]', None),
)  # fmt: skip


class Writer:
    """Writes one layer of polygons with class, score and area. ``crs`` is a reference system of rasterio, or None for pixels."""

    def __init__(self, file: Path, crs: Any):
        self._base = sqlite3.connect(file, isolation_level=None)
        for setting in (f"application_id = {_APPLICATION}", f"user_version = {_VERSION}", "journal_mode = OFF", "synchronous = OFF"):
            self._base.execute(f"PRAGMA {setting}")
        self._base.executescript(_TABLES)
        self._base.execute("BEGIN")
        self._base.executemany("INSERT INTO gpkg_spatial_ref_sys VALUES (?, ?, ?, ?, ?, ?)", _SYSTEMS)
        self._system = self._added(crs)
        self._bounds = numpy.asarray([numpy.inf, numpy.inf, -numpy.inf, -numpy.inf])
        self.rows = 0

    def _added(self, crs: Any) -> int:
        if crs is None:
            return _UNKNOWN
        code = crs.to_epsg()
        number = code or _OWN
        known = self._base.execute("SELECT 1 FROM gpkg_spatial_ref_sys WHERE srs_id = ?", (number,)).fetchone()
        if not known:
            name = f"EPSG:{code}" if code else "the system of the scene"
            row = (name, number, "EPSG" if code else "NONE", number, crs.to_wkt(), None)
            self._base.execute("INSERT INTO gpkg_spatial_ref_sys VALUES (?, ?, ?, ?, ?, ?)", row)
        return number

    def add(self, placed: numpy.ndarray, classes: list[str], scores: list[float], areas: list[float | None], pixels: list[int]) -> None:
        """Add polygons, which are in the plane of the reference system."""
        import shapely

        bounds = shapely.bounds(placed)
        boxes = [struct.pack("<4d", *box[[0, 2, 1, 3]]) for box in bounds]
        head = b"GP\0\x03" + struct.pack("<i", self._system)  # little endian, with the bounds as x and y
        bodies = shapely.to_wkb([_several(g) for g in placed], byte_order=1)
        rows = zip((head + box + body for box, body in zip(boxes, bodies)), classes, scores, areas, pixels)
        self._base.executemany(f"INSERT INTO {LAYER} ({_COLUMN}, class, score, area_m2, pixels) VALUES (?, ?, ?, ?, ?)", rows)
        self._bounds[:2] = numpy.minimum(self._bounds[:2], bounds[:, :2].min(axis=0))
        self._bounds[2:] = numpy.maximum(self._bounds[2:], bounds[:, 2:].max(axis=0))
        self.rows += len(placed)

    def close(self) -> None:
        """Write what lists the layer. Without this the file is no GeoPackage."""
        box = self._bounds.tolist() if self.rows else [None] * 4
        columns = "table_name, data_type, identifier, min_x, min_y, max_x, max_y, srs_id"
        row = (LAYER, LAYER, *box, self._system)
        self._base.execute(f"INSERT INTO gpkg_contents ({columns}) VALUES (?, 'features', ?, ?, ?, ?, ?, ?)", row)
        self._base.execute("INSERT INTO gpkg_geometry_columns VALUES (?, ?, 'MULTIPOLYGON', ?, 0, 0)", (LAYER, _COLUMN, self._system))
        self._base.execute("COMMIT")
        self._base.close()


def _several(geometry):
    """A polygon or several as several, which the layer holds."""
    import shapely

    if geometry.geom_type == "MultiPolygon":
        return geometry
    parts = [g for g in shapely.get_parts(geometry) if g.geom_type == "Polygon"]
    return shapely.MultiPolygon(parts)
