"""95 % intervals: Wilson's interval for a share, and percentiles over resampled rows for metrics without a formula."""

import math
from collections.abc import Iterator

import numpy

Z95 = 1.959963984540054  # the 97.5th percentile of the normal distribution
RESAMPLES = 1000
_MANY_ROWS = 20_000  # above this the interval is narrow, and 200 resamples determine its ends well enough
_FEWER = 200
_CELLS = 4_000_000  # numbers that are drawn at once: 32 MB


def wilson(share: float, n: float) -> tuple[float, float]:
    """Wilson's score interval of a share that was observed over ``n`` rows."""
    if n == 0:
        return 0.0, 1.0
    z2 = Z95 * Z95
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = Z95 * math.sqrt(share * (1 - share) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    return max(0.0, middle - half), min(1.0, middle + half)


def like_a_share(value: float, error: float, n: int) -> tuple[float, float]:
    """Wilson's interval for a metric between 0 and 1 that has a standard error and was computed over ``n`` rows.

    It is the interval of a share over the number of rows that would give this error, but at most ``n``. So it stays within 0 and 1,
    and it keeps a width if few rows happen to show no error at all. A value between 0 and 1 without an error cannot be changed by
    any row, so its interval is the value itself.
    """
    if error == 0 and 0 < value < 1:
        return value, value
    return wilson(value, min(n, value * (1 - value) / error**2) if error > 0 else n)


def of_share(inside: numpy.ndarray, rows: numpy.ndarray | None = None) -> tuple[float, float]:
    """The interval of the share of ``inside`` (bool, at least one). ``rows`` is the row of each where rows have several, which are alike."""
    share, n = float(inside.mean()), len(inside)
    if rows is None:
        return wilson(share, n)
    _, place = numpy.unique(rows, return_inverse=True)
    apart = numpy.bincount(place, inside - share)
    error = math.sqrt(float((apart**2).sum()) * len(apart) / max(1, len(apart) - 1)) / n
    return like_a_share(share, error, n if error else len(apart))


def percentiles(values: numpy.ndarray, value: float) -> tuple[float, float]:
    """The middle 95 % of resampled ``values``, widened to contain ``value`` itself: a skewed metric can lie outside."""
    low, high = numpy.percentile(values, (2.5, 97.5))
    return min(float(low), value), max(float(high), value)


def resampled_counts(counts: numpy.ndarray, seed: int) -> numpy.ndarray:
    """How often each cell occurs if all rows are resampled with replacement: resamples x cells.

    ``counts`` are the rows in each cell. Drawing cells instead of rows makes the cost independent of the number of rows.
    """
    n = int(counts.sum())
    resamples = min(RESAMPLES if n <= _MANY_ROWS else _FEWER, max(100, _CELLS // len(counts)))
    return numpy.random.default_rng(seed).multinomial(n, counts / n, size=resamples)


def resampled_means(columns: numpy.ndarray, seed: int) -> numpy.ndarray:
    """The means of ``columns`` (rows x columns) over rows that are resampled with replacement: resamples x columns."""
    return numpy.concatenate([draws @ columns / len(columns) for draws in _draws(len(columns), seed)])


def _draws(n: int, seed: int) -> Iterator[numpy.ndarray]:
    """How often each of ``n`` rows is drawn, for a few resamples at a time, so that the memory is limited."""
    generator = numpy.random.default_rng(seed)
    left, at_once = RESAMPLES if n <= _MANY_ROWS else _FEWER, max(1, _CELLS // n)
    while left:
        size = min(left, at_once)
        rows = generator.integers(0, n, (size, n)) + numpy.arange(size)[:, None] * n
        yield numpy.bincount(rows.ravel(), minlength=size * n).reshape(size, n).astype(numpy.float64)
        left -= size
