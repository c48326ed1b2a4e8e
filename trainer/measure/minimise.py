"""L-BFGS: the minimum of a smooth function from its values and slopes, with a short memory of the last steps."""

from collections import deque
from collections.abc import Callable

import numpy

_MEMORY = 6  # steps that are remembered
_ENOUGH = 1e-4  # of the promised descent has to be there
_FLAT = 1e-5  # relative to the first slope
_STILL = 1e-6  # relative gain of a step

Function = Callable[[numpy.ndarray], tuple[float, numpy.ndarray]]  # a point to the value and the slope there


def minimise(function: Function, start: numpy.ndarray, calls: int) -> tuple[numpy.ndarray, int]:
    """The lowest point found with at most about ``calls`` calls of ``function`` (two or more), and how many were made."""
    point, (value, slope) = start, function(start)
    made, steps = 1, deque(maxlen=_MEMORY)
    first = numpy.linalg.norm(slope)
    while made < calls and numpy.linalg.norm(slope) > _FLAT * first:
        direction = -_curved(slope, steps)
        promised = float(direction @ slope)
        length = 1.0 if steps else 1.0 / max(1.0, float(numpy.linalg.norm(slope)))
        while True:
            new_point = point + length * direction
            new_value, new_slope = function(new_point)
            made += 1
            if new_value <= value + _ENOUGH * length * promised:
                break
            if made >= calls or length < 1e-8:
                return point, made
            length /= 2
        change, turn = new_point - point, new_slope - slope
        if change @ turn > 0:
            steps.append((change, turn, float(change @ turn)))
        gained = value - new_value
        point, value, slope = new_point, new_value, new_slope
        if gained <= _STILL * abs(value):
            break
    return point, made


def _curved(slope: numpy.ndarray, steps: deque) -> numpy.ndarray:
    """The slope times the inverse curvature that ``steps`` imply (the two-loop recursion)."""
    result, shares = slope.copy(), []
    for change, turn, product in reversed(steps):
        share = float(change @ result) / product
        result -= share * turn
        shares.append(share)
    if steps:
        _, turn, product = steps[-1]
        result *= product / float(turn @ turn)
    for (change, turn, product), share in zip(steps, reversed(shares), strict=True):
        result += (share - float(turn @ result) / product) * change
    return result
