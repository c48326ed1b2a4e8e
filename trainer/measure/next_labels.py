"""Rows whose label would teach a model most: those that it is unsure of, without several that are alike.

The rows are chosen one after the other. Each is the one that comes nearest to the rows of the pool that no chosen row is near yet, where a row
counts as much as the model is unsure of it (greedy maximum of a facility location function). So the list holds no copies, and no lonely rows that
say nothing about others. Nothing is drawn by chance.
"""

from collections.abc import Callable

import numpy

MOST = 40  # rows of a list: about a quarter of an hour of a person
POOL = 5 * MOST  # of the most unsure rows, among which the list is chosen
EVENLY = 500  # rows among which it is chosen where all are as unsure, and labelled rows that they are compared with
_GAIN = 1e-6  # of the first row, below which another one is a copy of what is chosen
_NONE = numpy.zeros(0, numpy.int64)

Points = Callable[[numpy.ndarray], numpy.ndarray]


def most_unsure(rows: numpy.ndarray, uncertainty: numpy.ndarray) -> tuple[numpy.ndarray, numpy.ndarray]:
    """The pool of the numbers ``rows``, and how unsure each of it is. ``uncertainty`` is that of each of ``rows``, from 0 to 1."""
    order = numpy.argsort(-uncertainty, kind="stable")
    order = order[uncertainty[order] > 0][:POOL]
    return rows[order], uncertainty[order].astype(numpy.float64)


def evenly(rows: numpy.ndarray) -> numpy.ndarray:
    """At most EVENLY of the numbers ``rows``, from all over them."""
    if len(rows) <= EVENLY:
        return rows
    return rows[numpy.linspace(0, len(rows) - 1, EVENLY).round().astype(numpy.int64)]


def choose(pool: numpy.ndarray, weights: numpy.ndarray, points: Points, labelled: numpy.ndarray = _NONE, most: int = MOST) -> numpy.ndarray:
    """At most ``most`` of the row numbers ``pool``, the most useful first. Each counts by its weight.

    ``points`` gives the rows of some numbers as points (rows x features), near ones for rows that are alike; without features only the weights
    count. Rows near to those of the numbers ``labelled`` teach less.
    """
    if not len(pool):
        return pool
    found = numpy.asarray(points(numpy.concatenate([pool, labelled])), numpy.float64)
    if not found.size:
        return pool[numpy.argsort(-weights, kind="stable")][:most]
    alike, near = _alike(found[: len(pool)], found[len(pool) :])
    chosen: list[int] = []
    first = 0.0
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


def _alike(points: numpy.ndarray, others: numpy.ndarray) -> tuple[numpy.ndarray, numpy.ndarray]:
    """How much each pair of points is alike, from 0 to 1 for the same: by their distance, in units of the usual one. And how much each of them is
    like the nearest of the ``others``."""
    distances = _squares(points, points)
    usual = float(numpy.median(distances[distances > 0])) if (distances > 0).any() else 1.0
    near = numpy.exp(-_squares(points, others) / usual).max(axis=1) if len(others) else numpy.zeros(len(points))
    return numpy.exp(-distances / usual), near


def _squares(a: numpy.ndarray, b: numpy.ndarray) -> numpy.ndarray:
    return numpy.maximum((a**2).sum(axis=1)[:, None] + (b**2).sum(axis=1)[None] - 2 * a @ b.T, 0)
