"""Polygons over a scene as its mask: what is burnt into a window, and where nobody labelled."""

from dataclasses import dataclass, field
from typing import Any

import numpy

from trainer.data.scenes.damage import Tile
from trainer.data.scenes.opening import Scene
from trainer.kinds.pixels.codings import NODATA

MARGIN = 256  # pixels around the labels, where no layer says how far they go


@dataclass
class Outlined:
    """The polygons that meet a scene, in its plane, in the order in which they are burnt; ``values`` are their classes from 1.

    ``footprint`` is the ground that was labelled: outside of it nothing is known.
    """

    scene: Scene
    shapes: numpy.ndarray
    values: numpy.ndarray
    footprint: Any
    said: str
    damaged: frozenset[Tile] = frozenset()  # polygons are read as a whole
    unknown: float = NODATA
    _tree: Any = field(default=None, repr=False)

    def window(self, place: tuple[slice, slice]) -> numpy.ndarray:
        """The classes of a window (uint8): 0 is the ground between polygons, NODATA is unknown."""
        import shapely
        from rasterio import features
        from rasterio.transform import Affine

        if self._tree is None:
            self._tree = shapely.STRtree(self.shapes)
        rows, columns = place
        shape = rows.stop - rows.start, columns.stop - columns.start
        transform = Affine(*self.scene.transform) @ Affine.translation(columns.start, rows.start)
        box = _ground(tuple(transform)[:6], *shape)
        near = numpy.sort(self._tree.query(box, predicate="intersects"))
        burnt = numpy.zeros(shape, numpy.uint8)
        if len(near):
            pairs = [(self.shapes[i], int(self.values[i])) for i in near]
            features.rasterize(pairs, out=burnt, transform=transform)
        inside = shapely.intersection(self.footprint, box)
        if inside.area < box.area * (1 - 1e-12):
            known = [(inside, 0)] if inside.area > 0 else []
            outside = features.rasterize(known, shape, fill=1, transform=transform, dtype="uint8") > 0 if known else True
            burnt[outside & (burnt == 0)] = NODATA
        return burnt


def bounds(scene: Scene) -> Any:
    """The ground of a scene in its plane."""
    return _ground(scene.transform, scene.height, scene.width)


def _ground(transform: tuple[float, ...], height: int, width: int) -> Any:
    """The corners of so many rows and columns in the plane of ``transform``."""
    import shapely

    a, b, c, d, e, f = transform
    return shapely.Polygon([(a * x + b * y + c, d * x + e * y + f) for x, y in ((0, 0), (width, 0), (width, height), (0, height))])


def footprint(shapes: numpy.ndarray, area: list, scene: Scene) -> tuple[Any, str]:
    """The labelled ground of a scene, and what is said of it: ``area`` are the polygons of a layer that says it, else it is around the labels."""
    import shapely

    ground = bounds(scene)
    if area:
        return shapely.intersection(shapely.union_all(area), ground), "the polygons of the area that was labelled"
    pixel = abs(scene.transform[0] * scene.transform[4] - scene.transform[1] * scene.transform[3]) ** 0.5
    hull = shapely.convex_hull(shapely.union_all(shapely.envelope(shapes))).buffer(MARGIN * pixel)
    return shapely.intersection(hull, ground), f"the hull of the polygons with {MARGIN} pixels around it"
