"""Counts of values in bins of equal width, in the form of result.json."""

import numpy


def histogram(values, bins: int = 20, unit: str = "", cut: float | None = None) -> dict:
    """``edges`` (one more than counts) and ``counts``, with ``unit`` and ``cut`` where given. Values that are not finite are left out."""
    values = numpy.asarray(values, numpy.float64)
    counts, edges = numpy.histogram(values[numpy.isfinite(values)], bins=bins)
    form = {"edges": [float(f"{edge:.6g}") for edge in edges], "counts": counts.tolist()}
    if unit:
        form["unit"] = unit
    return form if cut is None else {**form, "cut": float(cut)}
