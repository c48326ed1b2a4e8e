"""What all formats of polygons are read into."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy

MOST_BYTES = 1 << 28  # of a file that is read as a whole
MOST_SHAPES = 2_000_000
_POLYGONS = ("Polygon", "MultiPolygon")


@dataclass
class Layer:
    """Polygons of one layer. ``crs`` is WKT or a code that ``rasterio.crs.CRS.from_user_input`` reads, empty where the file says none.

    ``shapes`` are of shapely, ``properties`` what is said of each; ``left_out`` counts by reason what is no usable polygon, ``repaired`` those that
    crossed themselves.
    """

    name: str
    crs: str
    shapes: list = field(default_factory=list)
    properties: list[dict[str, Any]] = field(default_factory=list)
    left_out: Counter = field(default_factory=Counter)
    repaired: int = 0

    def add(self, shape: Any, properties: dict[str, Any]) -> None:
        """Add a shape, or count why it is left out. Raises ValueError for too many."""
        import shapely

        if len(self.shapes) >= MOST_SHAPES:
            raise ValueError(f"it has more than {MOST_SHAPES:,} shapes")
        if shape is None or shape.is_empty:
            self.left_out["it is empty"] += 1
            return
        if shape.geom_type not in _POLYGONS:
            self.left_out["it is a point or a line"] += 1
            return
        shape = shapely.force_2d(shape)
        if not numpy.isfinite(shapely.bounds(shape)).all():
            self.left_out["its place is no number"] += 1
            return
        if not shape.is_valid:
            shape = _repaired(shape)
            self.repaired += 1
        if shape is None or not shape.area > 0:
            self.left_out["it has no area"] += 1
            return
        self.shapes.append(shape)
        self.properties.append(properties)


def _repaired(shape: Any) -> Any:
    """What is left of a polygon that crosses itself; None for nothing."""
    import shapely

    parts = [p for p in shapely.get_parts(shapely.make_valid(shape)) if p.geom_type in _POLYGONS]
    return shapely.union_all(parts) if parts else None
