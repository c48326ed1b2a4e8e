"""Values of a series that lie far from their neighbours, and steps at which its level changes for good."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy

from trainer.kinds.series import simple
from trainer.kinds.series.panel import Panel

OUTLIER, BREAK = "outlier", "change of level"
_FAR = 8.0  # robust standard deviations of a value from the median around it
_SHIFT = 8.0  # of the means before and after a step, in units of the usual one
_AROUND = 3  # steps to both sides
_MOST_SERIES = 2000
_MAD = 1.4826  # times the median of distances is the standard deviation of normal values


@dataclass(frozen=True)
class Unusual:
    """A step (position) of a series, and how far it is from what is usual, in robust standard deviations."""

    series: int
    place: int
    sort: str
    far: float


def find(panel: Panel, season: int, most: int) -> list[Unusual]:
    """The most unusual steps of the first series of ``panel``, the farthest first."""
    found = [u for s in range(min(len(panel), _MOST_SERIES)) for u in _of(panel, s, season)]
    return sorted(found, key=lambda u: -u.far)[:most]


def _of(panel: Panel, series: int, season: int) -> Iterator[Unusual]:
    values = panel.values[series]
    if len(values) < max(20, 2 * season):
        return
    profile = simple.profiles(values[None, :], season)[0]
    plain = values - profile[numpy.arange(len(values)) % season]
    windows = numpy.lib.stride_tricks.sliding_window_view(numpy.pad(plain, _AROUND, mode="edge"), 2 * _AROUND + 1)
    apart = plain - numpy.median(windows, axis=1)
    usual = _MAD * float(numpy.median(numpy.abs(apart[apart != 0]))) if (apart != 0).any() else 0.0
    if usual > 0:
        far = numpy.abs(apart) / usual
        for place in numpy.flatnonzero((far > _FAR) & panel.observed[series]):
            yield Unusual(series, int(place), OUTLIER, float(far[place]))
    width = max(season, 8)
    if len(plain) < 6 * width:
        return
    sums = numpy.cumsum(numpy.append(0.0, plain))
    means = (sums[width:] - sums[:-width]) / width
    shifts = numpy.abs(means[width:] - means[:-width])
    middle = float(numpy.median(shifts))
    largest = int(shifts.argmax())
    if middle > 0 and shifts[largest] > _SHIFT * middle:
        yield Unusual(series, largest + width, BREAK, float(shifts[largest] / middle))
