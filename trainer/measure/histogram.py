"""Counts of values in bins of equal width, in the form of result.json."""

import numpy

_HUGE = 1e150  # what is larger would overflow on the way to a width
_ONE_VALUE = 1e-9  # of the largest value: what lies closer together is one value and rounding


def histogram(values, bins: int = 20, unit: str = "", cut: float | None = None) -> dict:
    """``edges`` (one more than counts) and ``counts``, with ``unit`` and ``cut`` where given. Values that are not finite are left out."""
    values = numpy.asarray(values, numpy.float64)
    values = values[numpy.abs(values) < _HUGE]  # NaN is not below it either
    counts, edges = numpy.histogram(values, bins, _range(values))
    form = {"edges": [float(f"{edge:.12g}") for edge in edges], "counts": counts.tolist()}
    if unit:
        form["unit"] = unit
    return form if cut is None else {**form, "cut": float(cut)}


def _range(values: numpy.ndarray) -> tuple[float, float]:
    """From the least value to the largest, with room around a single one."""
    if not len(values):
        return 0.0, 1.0
    low, high = float(values.min()), float(values.max())
    largest = max(abs(low), abs(high))
    if high - low > _ONE_VALUE * largest:
        return low, high
    room = max(0.5, 10 * _ONE_VALUE * largest)
    return low - room, high + room
