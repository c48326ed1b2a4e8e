"""Points, rings and ellipses of annotation files as arrays."""

from typing import Any

import numpy

from trainer.kinds.annotated import limits

_AROUND = 32  # points of an ellipse
FEW_POINTS = 3


def ring(xs: Any, ys: Any) -> numpy.ndarray | None:
    """A ring from lists of x and y; None where they are no numbers or not equally many."""
    x, y = limits.numbers(xs), limits.numbers(ys)
    if x is None or y is None or len(x) != len(y) or len(x) > limits.POINTS:
        return None
    return numpy.asarray([x, y], numpy.float64).T.reshape(-1, 2)


def flat(values: Any) -> numpy.ndarray | None:
    """A ring from x and y in turn."""
    read = limits.numbers(values)
    if read is None or len(read) % 2 or len(read) > 2 * limits.POINTS:
        return None
    return numpy.asarray(read, numpy.float64).reshape(-1, 2)


def pairs(values: Any) -> numpy.ndarray | None:
    """A ring from a list of pairs."""
    if not isinstance(values, list) or len(values) > limits.POINTS or not all(isinstance(p, list | tuple) and len(p) == 2 for p in values):
        return None
    return flat([c for p in values for c in p])


def ellipse(x: float, y: float, width: float, height: float, turned: float = 0.0) -> numpy.ndarray:
    """The ring of an ellipse around a point, with two half axes and its turn in radians."""
    angles = numpy.linspace(0, 2 * numpy.pi, _AROUND, endpoint=False)
    return turn(numpy.stack([x + width * numpy.cos(angles), y + height * numpy.sin(angles)], axis=1), (x, y), turned)


def turn(points: numpy.ndarray, around: tuple[float, float], angle: float) -> numpy.ndarray:
    """Points turned around another one by an angle in radians, from the x axis to the y axis."""
    if not angle:
        return points
    cos, sin = numpy.cos(angle), numpy.sin(angle)
    return (points - around) @ numpy.asarray([[cos, sin], [-sin, cos]]) + around


def corners(left: float, top: float, width: float, height: float) -> numpy.ndarray:
    """The ring of a rectangle."""
    return numpy.asarray([(left, top), (left + width, top), (left + width, top + height), (left, top + height)], numpy.float64)
