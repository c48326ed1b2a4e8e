"""Precision, recall and F1 of things that are found in rows, with 95 % intervals over resampled rows."""

import math

import numpy

RESAMPLES = 1000
_CHUNK = 50  # resamples drawn at once


def resampled(counts: numpy.ndarray, seed: int) -> numpy.ndarray:
    """The totals by type of sentences that are drawn with replacement: resamples x types x 3."""
    random, n = numpy.random.default_rng(seed), len(counts)
    flat = counts.reshape(n, math.prod(counts.shape[1:])).astype(numpy.float64)
    drawn = []
    for start in range(0, RESAMPLES if n > 1 else 0, _CHUNK):
        times = random.multinomial(n, numpy.full(n, 1 / n), size=min(_CHUNK, RESAMPLES - start))
        drawn.append(times @ flat)
    return numpy.concatenate(drawn).reshape(-1, *counts.shape[1:]) if drawn else numpy.zeros((0, *counts.shape[1:]))


def scores(totals: numpy.ndarray, drawn: numpy.ndarray) -> dict:
    """Precision, recall and F1 from (right, predicted, true), and of the totals that were ``drawn`` the middle 95 %."""
    right, predicted, true = (int(v) for v in totals)
    values = _ratios(totals[None].astype(numpy.float64))[0]
    ranges = numpy.percentile(_ratios(drawn), [2.5, 97.5], axis=0) if len(drawn) else None
    found: dict = {"true": true, "predicted": predicted, "right": right}
    for i, name in enumerate(("precision", "recall", "f1")):
        low_high = {} if ranges is None else {"low": float(min(ranges[0][i], values[i])), "high": float(max(ranges[1][i], values[i]))}
        found[name] = {"value": float(values[i]), **low_high}
    return found


def _ratios(totals: numpy.ndarray) -> numpy.ndarray:
    """Precision, recall and F1 of each row of totals; 0 where nothing was predicted or is there."""
    right, predicted, true = totals[:, 0], totals[:, 1], totals[:, 2]
    shares = [numpy.divide(a, b, out=numpy.zeros_like(a), where=b > 0) for a, b in ((right, predicted), (right, true), (2 * right, predicted + true))]
    return numpy.stack(shares, axis=1)
