"""From shapes as files have them to shapes inside of their picture: clipped, valid, with an area; what is not is left out or repaired by name."""

from dataclasses import dataclass

import numpy
import shapely

from trainer.kinds.annotated import outlines, runs
from trainer.kinds.annotated.shapes import Box, Drawn, LeftOut, Shape

OUTSIDE = "the shape lies outside of its picture"
CLIPPED = "shapes reach beyond their picture and are cut there"
CROSSING = "outlines cross themselves and are repaired"
_TOLERATED = 1.0  # pixels beyond the border that are cut without a word
_MOSTLY = 0.5  # share of the area outside, from which coordinates may be of another picture
_LEAST = 1e-6  # area in pixels


@dataclass(slots=True)
class Cleaned:
    """``mostly_outside`` says that more than half of the shape lies outside of the picture."""

    shape: Shape | None
    mostly_outside: bool = False


def clean(drawn: Drawn, name: str, width: int, height: int, scale: tuple[float, float], left: LeftOut, changed: LeftOut) -> Cleaned:
    """``drawn`` in a picture of this size. ``scale`` is what its coordinates are multiplied with."""
    if drawn.runs is not None:
        return _of_runs(drawn, name, width, height, left)
    if drawn.rings:
        return _of_rings(drawn, name, width, height, scale, left, changed)
    assert drawn.box is not None
    a, b, c, d = drawn.box
    xs, ys = sorted((a * scale[0], c * scale[0])), sorted((b * scale[1], d * scale[1]))
    if xs[1] - xs[0] <= 0 or ys[1] - ys[0] <= 0:
        left.add("the box has no area", name)
        return Cleaned(None)
    whole = (xs[1] - xs[0]) * (ys[1] - ys[0])
    box = (max(0.0, xs[0]), max(0.0, ys[0]), min(float(width), xs[1]), min(float(height), ys[1]))
    inside = max(0.0, box[2] - box[0]) * max(0.0, box[3] - box[1])
    if inside <= _LEAST:
        left.add(OUTSIDE, name)
        return Cleaned(None, True)
    if _reaches_beyond((xs[0], ys[0], xs[1], ys[1]), width, height):
        changed.add(CLIPPED, name)
    return Cleaned(Shape(drawn.label, box, crowd=drawn.crowd, difficult=drawn.difficult), inside < _MOSTLY * whole)


def _reaches_beyond(box: Box, width: int, height: int) -> bool:
    return min(box[0], box[1]) < -_TOLERATED or box[2] > width + _TOLERATED or box[3] > height + _TOLERATED


def _of_runs(drawn: Drawn, name: str, width: int, height: int, left: LeftOut) -> Cleaned:
    assert drawn.runs is not None
    if (drawn.runs.height, drawn.runs.width) != (height, width):
        left.add("the mask has another size than its picture", name)
        return Cleaned(None)
    bounds = runs.bounds(drawn.runs)
    if bounds is None:
        left.add("the mask is empty", name)
        return Cleaned(None)
    box = (float(bounds[0]), float(bounds[1]), float(bounds[2]), float(bounds[3]))
    return Cleaned(Shape(drawn.label, box, runs=drawn.runs, crowd=drawn.crowd, difficult=drawn.difficult))


def _of_rings(drawn: Drawn, name: str, width: int, height: int, scale: tuple[float, float], left: LeftOut, changed: LeftOut) -> Cleaned:
    rings = [r * scale for r in drawn.rings if len(r) >= outlines.FEW_POINTS]
    if not rings:
        left.add("the outline has fewer than three points", name)
        return Cleaned(None)
    polygons = list(map(shapely.Polygon, rings))
    if not all(p.is_valid for p in polygons):
        repaired = [part for p in polygons for part in _parts(p if p.is_valid else shapely.make_valid(p))]
        if repaired:
            changed.add(CROSSING, name)
        polygons = repaired
    polygons = [p for p in polygons if p.area > _LEAST]
    if not polygons:
        left.add("the outline has no area", name)
        return Cleaned(None)
    whole = sum(p.area for p in polygons)
    bounds = _bounds(polygons)
    if min(bounds[0], bounds[1]) < 0 or bounds[2] > width or bounds[3] > height:
        frame = shapely.box(0, 0, width, height)
        polygons = [part for p in polygons for part in _parts(shapely.intersection(p, frame)) if part.area > _LEAST]
        if not polygons:
            left.add(OUTSIDE, name)
            return Cleaned(None, True)
        if _reaches_beyond(bounds, width, height):
            changed.add(CLIPPED, name)
    mostly = sum(p.area for p in polygons) < _MOSTLY * whole
    outer = tuple(numpy.asarray(p.exterior.coords)[:-1] for p in polygons)
    holes = tuple(numpy.asarray(r.coords)[:-1] for p in polygons for r in p.interiors)
    return Cleaned(Shape(drawn.label, _bounds(polygons), outer, holes, crowd=drawn.crowd, difficult=drawn.difficult), mostly)


def _bounds(polygons: list) -> Box:
    bounds = numpy.asarray([p.bounds for p in polygons])
    low, high = bounds[:, :2].min(axis=0), bounds[:, 2:].max(axis=0)
    return float(low[0]), float(low[1]), float(high[0]), float(high[1])


def _parts(shape) -> list:
    """The polygons in a geometry; lines and points in it have no area."""
    if shape.geom_type == "Polygon":
        return [shape]
    return [part for inner in getattr(shape, "geoms", ()) for part in _parts(inner)]
