"""Polygons in a GeoPackage, a database of SQLite. It is opened to be read, and only for a while."""

import sqlite3
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote

from trainer.data.vectors.layer import Layer

_SECONDS, _STEPS = 120.0, 100_000  # for all queries together, and steps of the database between two looks at the clock
_ENVELOPES = {0: 0, 1: 32, 2: 48, 3: 48, 4: 64}  # bytes, by the number in the flags of a shape
_TABLES = (
    "SELECT c.table_name, g.column_name, c.srs_id FROM gpkg_contents c JOIN gpkg_geometry_columns g ON g.table_name = c.table_name "
    "WHERE c.data_type = 'features'"
)


def read(file: Path, name: str) -> list[Layer]:
    """The layers in a GeoPackage. Raises OSError or ValueError."""
    end = time.monotonic() + _SECONDS
    try:
        base = sqlite3.connect(f"file:{quote(str(file.resolve()))}?mode=ro&immutable=1", uri=True)
        try:
            base.set_progress_handler(lambda: time.monotonic() > end, _STEPS)
            base.execute("PRAGMA trusted_schema = OFF")
            base.execute("PRAGMA query_only = ON")
            tables = base.execute(_TABLES).fetchall()
            return [_layer(base, str(table[0]), str(table[1]), table[2], f"{name}/{table[0]}" if len(tables) > 1 else name) for table in tables]
        finally:
            base.close()
    except sqlite3.Error as e:
        raise ValueError(f"it is no readable GeoPackage ({e})") from e


def _layer(base: sqlite3.Connection, table: str, column: str, system: object, name: str) -> Layer:
    layer = Layer(name, _system(base, system))
    rows = base.execute(f"SELECT * FROM {_quoted(table)}")  # the names are those of the file's own tables, in quotes
    names = [d[0] for d in rows.description]
    if column not in names:
        raise ValueError(f"its table {table} has no column {column}")
    place = names.index(column)
    for row in rows:
        properties = {n: v for i, (n, v) in enumerate(zip(names, row)) if i != place and not isinstance(v, bytes)}
        layer.add(_shape(row[place]), properties)
    return layer


def _quoted(name: str) -> str:
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def _system(base: sqlite3.Connection, number: object) -> str:
    found = base.execute("SELECT organization, organization_coordsys_id, definition FROM gpkg_spatial_ref_sys WHERE srs_id = ?", (number,)).fetchone()
    if found is None or number in (-1, 0):
        return ""
    organization, code, definition = found
    return f"EPSG:{code}" if str(organization).upper() == "EPSG" else str(definition or "")


def _shape(blob: Any) -> Any:
    """The shape in the bytes of a cell; None where there is none."""
    import shapely

    if not isinstance(blob, bytes) or len(blob) < 8 or blob[:2] != b"GP":
        return None
    flags = blob[3]
    envelope = _ENVELOPES.get(flags >> 1 & 7)
    if envelope is None or flags & 16:
        return None
    return shapely.from_wkb(blob[8 + envelope :], on_invalid="ignore")
