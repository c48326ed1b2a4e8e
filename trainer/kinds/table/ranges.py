"""Numbers by their place in ranges with about as many rows each, which a perceptron reads beside the numbers themselves.

The range from a to b tells of a number x how much of it lies below x: clip((x - a) / (b - a), 0, 1) (Gorishniy and others, 2022). With ReLU that is
(relu(x - a) - relu(x - b)) / (b - a). So ranges are a first layer with fixed weights, and a saved perceptron needs no other form for them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy

from trainer.kinds.table.encoder import LARGEST

Layer = tuple[numpy.ndarray, numpy.ndarray]  # weights (inputs x outputs) and bias, float32

COUNT = 12  # of a column
_NARROWEST = 0.01  # deviations; the difference of two ReLUs in float32 would lose too much
_MOST_WEIGHTS = 4_000_000  # of the fixed layer: 16 MB


@dataclass(frozen=True)
class Ranges:
    """``knots`` are the ends of the ranges of some columns, by the place of the column in encoded rows of ``width`` numbers. ``shifts`` make the
    numbers of each column positive, so that they pass a ReLU."""

    width: int
    knots: tuple[tuple[int, numpy.ndarray], ...]  # float32, ascending, three or more
    shifts: numpy.ndarray  # width float32

    def read(self, values: numpy.ndarray) -> numpy.ndarray:
        """Encoded rows, and behind them a number from 0 to 1 for each range (rows x ``read_width``, float32)."""
        found = [values]
        for place, knots in self.knots:
            found.append(numpy.clip((values[:, place, None] - knots[:-1]) / numpy.diff(knots), 0, 1))
        return numpy.concatenate(found, axis=1)

    @property
    def read_width(self) -> int:
        return self.width + sum(len(knots) - 1 for _, knots in self.knots)

    def before(self, layers: Sequence[Layer]) -> tuple[Layer, ...]:
        """The network that answers to encoded rows what ``layers`` answer to what is ``read`` of them."""
        units = self.width + sum(len(knots) for _, knots in self.knots)
        fixed, bias = numpy.zeros((self.width, units), numpy.float32), numpy.zeros(units, numpy.float32)
        places = numpy.arange(self.width)
        fixed[places, places], bias[: self.width] = 1, self.shifts
        first, start = layers[0]
        rows = [first[: self.width]]
        unit, at = self.width, self.width
        for place, knots in self.knots:
            fixed[place, unit : unit + len(knots)], bias[unit : unit + len(knots)] = 1, -knots
            slopes = first[at : at + len(knots) - 1].astype(numpy.float64) / numpy.diff(knots)[:, None]
            none = numpy.zeros((1, slopes.shape[1]))
            rows.append((numpy.concatenate([slopes, none]) - numpy.concatenate([none, slopes])).astype(numpy.float32))
            unit, at = unit + len(knots), at + len(knots) - 1
        start = (start - self.shifts.astype(numpy.float64) @ first[: self.width]).astype(numpy.float32)
        return (fixed, bias), (numpy.concatenate(rows), start), *layers[1:]


def learn(values: numpy.ndarray) -> Ranges | None:
    """The ranges of the columns of encoded rows: none of a column with one or two values, such as a category. None where no column has any, or where
    their layer would be too large."""
    knots = []
    for place, column in enumerate(values.T):
        ends = _ends(column)
        if len(ends) > 2:
            knots.append((place, ends.astype(numpy.float32)))
    width = values.shape[1]
    if not knots or width * (width + sum(len(ends) for _, ends in knots)) > _MOST_WEIGHTS:
        return None
    positive = ((values == 0) | (values == 1)).all(axis=0)
    return Ranges(width, tuple(knots), numpy.where(positive, 0, LARGEST).astype(numpy.float32))


def _ends(column: numpy.ndarray) -> numpy.ndarray:
    """Values of ``column`` with about as many rows between each two, without those that follow too closely on another."""
    if not len(column):
        return column
    kept: list[float] = []
    for end in numpy.unique(numpy.quantile(column, numpy.linspace(0, 1, COUNT + 1), method="inverted_cdf")).tolist():
        if not kept or end - kept[-1] >= _NARROWEST:
            kept.append(end)
    return numpy.asarray(kept)
