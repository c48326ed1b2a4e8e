"""The areas of polygons on a scene, in square metres, and their corners in longitude and latitude."""

import math
from typing import Any

import numpy

from trainer.data.scenes.opening import Scene

_AT_ONCE = 100_000  # corners, which are lists of Python on their way
_EQUAL_AREA, _DEGREES = 6933, 4326  # EPSG: a projection that keeps areas on the ellipsoid, and longitude and latitude
_POLE = 90 + 1e-6  # degrees
_ALIKE = 1.02  # times that a pixel of degrees is larger than others of its scene, up to which they count as equal: 1 % around their mean


class Plane:
    """The plane of the reference system of a scene. ``words`` say what areas are, empty where they are not known."""

    def __init__(self, scene: Scene):
        import rasterio.crs
        from rasterio.transform import Affine

        self.transform = Affine(*scene.transform)
        self.crs = rasterio.crs.CRS.from_wkt(scene.crs) if scene.crs else None
        self.each, self.words = 0.0, ""
        if self.crs is None:
            return
        if self.crs.is_geographic:
            _, _, _, d, e, f = tuple(self.transform)[:6]
            latitudes = [d * x + e * y + f for x in (0, scene.width) for y in (0, scene.height)]
            self.words = "areas are those on the ellipsoid" if max(map(abs, latitudes)) <= _POLE else ""  # else the reference system is a wrong one
        elif self.crs.is_projected:
            self.each = abs(self.transform.determinant) * float(self.crs.linear_units_factor[1]) ** 2
            self.words = f"areas are those in the plane of {_name(self.crs)}"

    def placed(self, geometries: numpy.ndarray) -> numpy.ndarray:
        """Polygons in pixels, with columns and rows as x and y, in the plane."""
        import shapely

        a, b, c, d, e, f = tuple(self.transform)[:6]
        matrix, shift = numpy.asarray([[a, d], [b, e]]), numpy.asarray([c, f])
        return shapely.transform(geometries, lambda places: places @ matrix + shift)

    def areas(self, placed: numpy.ndarray, pixels: numpy.ndarray) -> numpy.ndarray | None:
        """Square metres of polygons in the plane, which have so many ``pixels``; None where they are not known."""
        import shapely

        if self.each:
            return pixels * self.each
        if not self.words:
            return None
        return shapely.area(self.ellipsoidal(placed))

    def ellipsoidal(self, placed: numpy.ndarray) -> numpy.ndarray:
        """Polygons of the plane in metres, with the areas that they have on the ellipsoid."""
        return self._in(placed, _EQUAL_AREA)

    def in_degrees(self, placed: numpy.ndarray) -> numpy.ndarray:
        """Polygons of the plane with longitudes and latitudes as x and y."""
        return self._in(placed, _DEGREES)

    def _in(self, placed: numpy.ndarray, code: int) -> numpy.ndarray:
        import rasterio.crs
        import shapely
        from rasterio import warp

        to = rasterio.crs.CRS.from_epsg(code)

        def moved(places: numpy.ndarray) -> numpy.ndarray:
            found = numpy.empty_like(places)
            for start in range(0, len(places), _AT_ONCE):
                part = places[start : start + _AT_ONCE]
                found[start : start + _AT_ONCE] = numpy.column_stack(warp.transform(self.crs, to, part[:, 0], part[:, 1]))
            return found

        return shapely.transform(placed, moved)


def of_pixel(scene: Scene) -> float:
    """Square metres of a pixel in the plane of the reference system; where that has degrees, the mean on the ellipsoid. 0 where it is not known, and
    where pixels of degrees differ too much for their mean to stand for those of a class."""
    import shapely

    plane = Plane(scene)
    if plane.each or not plane.words:
        return plane.each
    width, height = scene.width, scene.height
    corners = [(0, 0), (width - 1, 0), (0, height - 1), (width - 1, height - 1)]
    pixels = numpy.asarray([shapely.box(x, y, x + 1, y + 1) for x, y in corners])
    there = shapely.area(plane.ellipsoidal(plane.placed(pixels)))
    whole = shapely.area(plane.ellipsoidal(plane.placed(numpy.asarray([shapely.box(0, 0, width, height)]))))[0]
    return float(whole) / (width * height) if 0 < there.max() <= _ALIKE * there.min() else 0.0


def extent(scene: Scene) -> list[str]:
    """Width and height of a scene on the plane of its reference system, in words; nothing where that has degrees or is not known."""
    plane = Plane(scene)
    if not plane.each:
        return []
    a, b, _, d, e, _ = scene.transform
    metres = float(plane.crs.linear_units_factor[1])
    width, height = scene.width * math.hypot(a, d) * metres, scene.height * math.hypot(b, e) * metres
    return [f"{width / 1000:.3g} x {height / 1000:.3g} km" if max(width, height) >= 1000 else f"{width:.3g} x {height:.3g} m"]


def _name(crs: Any) -> str:
    code = crs.to_epsg()
    return f"EPSG:{code}" if code else "the scene"
