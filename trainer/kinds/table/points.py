"""Rows of a table as points: their numbers in units of the usual scatter, and one feature for each category."""

from collections.abc import Sequence

import numpy

from trainer.core import columnar
from trainer.core.example import Example
from trainer.data.columns.features import CATEGORY, NUMBER

_FARTHEST = 3.0  # deviations
_CATEGORIES = 50  # of a column, the most frequent ones


def of(examples: Sequence[Example], columns: Sequence[str], types: dict[str, str]) -> numpy.ndarray:
    """Columns of numbers and of categories; an empty number counts as the median, an empty category as one of its own."""
    found = [numpy.zeros((len(examples), 0))]
    for place, name in enumerate(columns):
        if types.get(name) == NUMBER:
            found.append(_numbers(columnar.numbers(examples, place))[:, None])
        elif types.get(name) == CATEGORY:
            found.append(_categories([c.strip() for c in columnar.texts(examples, place)]))
    return numpy.concatenate(found, axis=1)


def _numbers(values: numpy.ndarray) -> numpy.ndarray:
    held = values[numpy.isfinite(values)]
    if not len(held):
        return numpy.zeros(len(values))
    middle = numpy.median(held)
    scatter = float(numpy.std(numpy.clip(held, *numpy.quantile(held, (0.02, 0.98))))) or 1.0
    return numpy.clip(numpy.where(numpy.isfinite(values), values - middle, 0) / scatter, -_FARTHEST, _FARTHEST)


def _categories(cells: Sequence[str]) -> numpy.ndarray:
    _, codes, counts = numpy.unique(numpy.asarray(cells, object).astype(str), return_inverse=True, return_counts=True)
    kept = numpy.argsort(-counts, kind="stable")[:_CATEGORIES]
    return (codes[:, None] == kept[None]).astype(numpy.float64)
