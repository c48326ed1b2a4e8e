"""The seasonal naive forecast, Theta, and what several methods need to know about seasons."""

import numpy

from trainer.kinds.series import smoothing
from trainer.kinds.series.panel import Histories

_TEST = 1.645  # the 95th percentile of the normal distribution


def naive(histories: Histories, season: int, steps: int) -> numpy.ndarray:
    """The value of one season before (histories x steps); the last value where the history is shorter."""
    values = histories.values
    width = values.shape[1]
    places = width - season + numpy.arange(steps) % season
    found = values[:, numpy.maximum(0, places)] if season <= width else numpy.full((len(values), steps), numpy.nan)
    return numpy.where(numpy.isnan(found), values[:, -1:], found)


def theta(histories: Histories, season: int, steps: int) -> numpy.ndarray:
    """The Theta method of Assimakopoulos and Nikolopoulos: half the slope of a straight line, and exponential smoothing, without the season."""
    values = histories.values
    seasonal = is_seasonal(values, season)
    lowest = numpy.nanmin(values, axis=1)
    ratio = lowest > 0.05 * numpy.nanmean(numpy.abs(values), axis=1)
    logged = numpy.where(ratio[:, None], numpy.log(numpy.where(values > 0, values, 1.0)), values)
    logged = numpy.where(numpy.isnan(values), numpy.nan, logged)
    profile = profiles(logged, season) * seasonal[:, None]
    phases = numpy.arange(values.shape[1] + steps) % season
    plain = logged - profile[:, phases[: values.shape[1]]]
    plain = numpy.where(ratio[:, None], numpy.exp(plain), plain)
    alpha, level = smoothing.level(plain)
    count = numpy.maximum(2, histories.lengths)[:, None]
    ahead = numpy.arange(1, steps + 1)[None, :]
    found = level[:, None] + 0.5 * slopes(plain)[:, None] * (ahead - 1 + (1 - (1 - alpha[:, None]) ** count) / alpha[:, None])
    season_ahead = profile[:, phases[values.shape[1] :]]
    return numpy.where(ratio[:, None], found * numpy.exp(season_ahead), found + season_ahead)


def slopes(values: numpy.ndarray) -> numpy.ndarray:
    """The slope for each step of the straight line through each row."""
    there = ~numpy.isnan(values)
    count = numpy.maximum(1, there.sum(axis=1))
    times = numpy.arange(values.shape[1], dtype=float)
    middle = (there * times).sum(axis=1) / count
    apart = numpy.where(there, times - middle[:, None], 0.0)
    known = numpy.where(there, values, 0.0)
    return (apart * known).sum(axis=1) / numpy.maximum(1e-12, (apart**2).sum(axis=1))


def is_seasonal(values: numpy.ndarray, season: int) -> numpy.ndarray:
    """Whether each row repeats itself after a season: its autocorrelation at that lag is above what chance gives (as in the M4 competition)."""
    lengths = (~numpy.isnan(values)).sum(axis=1)
    if season < 2:
        return numpy.zeros(len(values), bool)
    step = values - slopes(values)[:, None] * numpy.arange(values.shape[1])
    apart = numpy.nan_to_num(step - numpy.nanmean(step, axis=1, keepdims=True))
    spectrum = numpy.fft.rfft(apart, 2 * values.shape[1], axis=1)
    products = numpy.fft.irfft(numpy.abs(spectrum) ** 2, axis=1)[:, : season + 1]
    alike = products / numpy.maximum(1e-300, products[:, :1])
    squares, alike = (alike[:, 1:-1] ** 2).sum(axis=1), alike[:, -1]
    return (lengths >= 3 * season) & (alike > _TEST * numpy.sqrt((1 + 2 * squares) / numpy.maximum(1, lengths)))


def profiles(values: numpy.ndarray, season: int) -> numpy.ndarray:
    """What each phase of the season adds in each row (rows x season); a phase is the number of a column modulo the season.

    It is the mean distance from the moving average over a season. Rows without two seasons have none.
    """
    found = numpy.zeros((len(values), season))
    width = values.shape[1]
    if season < 2 or width < 2 * season:
        return found
    weights = numpy.ones(season + 1 - season % 2)
    if season % 2 == 0:
        weights[[0, -1]] = 0.5
    half = len(weights) // 2
    known: numpy.ndarray = ~numpy.isnan(values)
    sums = numpy.cumsum(numpy.pad(numpy.where(known, values, 0.0), ((0, 0), (1, 0))), axis=1)
    there = numpy.cumsum(numpy.pad(known, ((0, 0), (1, 0))), axis=1)
    middle = numpy.arange(half, width - half)
    low, high = middle - half, middle + half + 1
    total = sums[:, high] - sums[:, low]
    if season % 2 == 0:
        total = total - 0.5 * (numpy.nan_to_num(values[:, low]) + numpy.nan_to_num(values[:, high - 1]))
    whole = numpy.asarray(there[:, high] - there[:, low] == len(weights))
    apart = numpy.where(whole, values[:, middle] - total / season, 0.0)
    counts = numpy.zeros_like(found)
    for phase in range(season):
        at = middle % season == phase
        found[:, phase] = apart[:, at].sum(axis=1)
        counts[:, phase] = whole[:, at].sum(axis=1)
    lacking = counts.min(axis=1, keepdims=True) == 0
    found = numpy.where(lacking, 0.0, found / numpy.maximum(1, counts))
    return found - found.mean(axis=1, keepdims=True)
