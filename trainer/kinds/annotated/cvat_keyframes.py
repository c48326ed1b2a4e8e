"""Where an object of CVAT is between two keyframes: as CVAT shows and exports it, where that follows from the two shapes alone."""

from collections.abc import Callable
from dataclasses import replace

import numpy

from trainer.kinds.annotated import limits, outlines
from trainer.kinds.annotated.xml_documents import Element

SIDES = ("xtl", "ytl", "xbr", "ybr")
AXES = ("cx", "cy", "rx", "ry")
_MOVED = {"box": SIDES, "ellipse": AXES}
_TURN, _WHOLE = "rotation", 360
POINTS = "points"


def way(before: Element, after: Element) -> Callable[[float], Element] | None:
    """The shape at each share of the time between two keyframes. None where that is not certain: for masks, for two sorts of shapes, and for polygons
    whose points do not match one to one."""
    if before.name != after.name:
        return None
    if before.name == "polygon":
        return _of_points(before, after)
    names = _MOVED.get(before.name)
    ends = [limits.numbers([e.attributes.get(name) for name in names or ()]) for e in (before, after)]
    if names is None or ends[0] is None or ends[1] is None:
        return None
    start, change = numpy.asarray(ends[0]), numpy.subtract(ends[1], ends[0])
    turned, until = (limits.number(e.attributes.get(_TURN, "0")) or 0.0 for e in (before, after))
    turns = (until - turned + _WHOLE / 2) % _WHOLE - _WHOLE / 2  # the shorter way

    def at(share: float) -> Element:
        moved = {name: repr(float(v)) for name, v in zip(names, start + change * share)}
        return replace(before, attributes={**before.attributes, **moved, _TURN: repr((turned + turns * share) % _WHOLE)})

    return at


def points(element: Element) -> numpy.ndarray | None:
    """The ring of a polygon; None where it cannot be read."""
    return outlines.pairs([pair.split(",") for pair in element.attributes.get(POINTS, "").split(";")])


def _of_points(before: Element, after: Element) -> Callable[[float], Element] | None:
    """CVAT moves each point of a polygon to the one that is nearest by its share of the way around. Where these are not one to one, it makes further
    points, which differ between its versions."""
    first, last = points(before), points(after)
    if first is None or last is None or len(first) != len(last):
        return None
    shares = [_around(first), _around(last)]
    nearest = [int(numpy.abs(shares[1] - share).argmin()) for share in shares[0]]
    if not numpy.isfinite(shares).all() or nearest != list(range(len(nearest))):
        return None

    def at(share: float) -> Element:
        placed = first + (last - first) * share
        return replace(before, attributes={**before.attributes, POINTS: ";".join(f"{x!r},{y!r}" for x, y in placed.tolist())})

    return at


def _around(ring: numpy.ndarray) -> numpy.ndarray:
    """How far around each point of a ring is, from 0 to 1, where it is the first one again."""
    lengths = numpy.hypot(*numpy.diff(ring, axis=0, append=ring[:1]).T)
    with numpy.errstate(invalid="ignore", divide="ignore"):
        return numpy.concatenate([[0.0], numpy.cumsum(lengths)]) / lengths.sum()
