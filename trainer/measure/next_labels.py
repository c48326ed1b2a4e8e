"""Rows whose label would teach a model most: those that it is unsure of, without several that are alike.

The rows are chosen one after the other. Each is the one that comes nearest to the rows of the pool that no chosen row is near yet, where a row
counts as much as the model is unsure of it (greedy maximum of a facility location function). So the list holds no copies, and no lonely rows that
say nothing about others. Nothing is drawn by chance.
"""

from collections.abc import Callable

import numpy

MOST = 40  # rows of a list: about a quarter of an hour of a person
POOL = 5 * MOST  # of the most unsure rows, among which the list is chosen
_GAIN = 1e-6  # of the first row, below which another one is a copy of what is chosen


def choose(uncertainty: numpy.ndarray, points: Callable[[numpy.ndarray], numpy.ndarray], most: int = MOST) -> numpy.ndarray:
    """The numbers of at most ``most`` rows, the most useful first.

    ``uncertainty`` of each row is from 0 to 1. ``points`` gives the rows of some numbers as points (rows x features), near ones for rows that are
    alike; without features only the uncertainty counts.
    """
    order = numpy.argsort(-uncertainty, kind="stable")
    pool = order[uncertainty[order] > 0][:POOL]
    if not len(pool):
        return pool
    weights = uncertainty[pool].astype(numpy.float64)
    found = numpy.asarray(points(pool), numpy.float64)
    if not found.size:
        return pool[:most]
    alike = _alike(found)
    near, first = numpy.zeros(len(pool)), 0.0
    chosen: list[int] = []
    while len(chosen) < min(most, len(pool)):
        gains = (numpy.maximum(alike - near, 0) * weights).sum(axis=1)
        gains[chosen] = -1
        best = int(gains.argmax())
        first = first or float(gains[best])
        if gains[best] <= _GAIN * first:
            break
        chosen.append(best)
        near = numpy.maximum(near, alike[best])
    return pool[chosen]


def _alike(points: numpy.ndarray) -> numpy.ndarray:
    """How much each pair of points is alike, from 0 to 1 for the same: by their distance, in units of the usual one."""
    squares = (points**2).sum(axis=1)
    distances = numpy.maximum(squares[:, None] + squares[None] - 2 * points @ points.T, 0)
    usual = float(numpy.median(distances[distances > 0])) if (distances > 0).any() else 1.0
    return numpy.exp(-distances / usual)
