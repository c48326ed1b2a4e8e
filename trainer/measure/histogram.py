"""Counts of values in bins of equal width, in the form of result.json."""

import numpy

_HUGE = 1e150  # larger values would overflow when the width of a bin is computed
_ONE_VALUE = 1e-9  # of the largest value: values that are closer together differ by rounding only


def histogram(values, bins: int = 20, unit: str = "", cut: float | None = None) -> dict:
    """``edges`` (one more than counts) and ``counts``, with ``unit`` and ``cut`` if they are given. Values that are not finite are left out."""
    values = numpy.asarray(values, numpy.float64)
    values = values[numpy.abs(values) < _HUGE]  # this comparison is false for NaN too
    counts, edges = numpy.histogram(values, bins, _range(values))
    form = {"edges": [float(f"{edge:.12g}") for edge in edges], "counts": counts.tolist()}
    if unit:
        form["unit"] = unit
    return form if cut is None else {**form, "cut": float(cut)}


def _range(values: numpy.ndarray) -> tuple[float, float]:
    """From the smallest value to the largest, with a margin around a single value."""
    if not len(values):
        return 0.0, 1.0
    low, high = float(values.min()), float(values.max())
    largest = max(abs(low), abs(high))
    if high - low > _ONE_VALUE * largest:
        return low, high
    room = max(0.5, 10 * _ONE_VALUE * largest)
    return low - room, high + room
