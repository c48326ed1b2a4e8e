"""Metrics of a regression, all computed from the means of a few columns, so that resampling the rows is one matrix product."""

from dataclasses import dataclass

import numpy

from trainer.measure import intervals
from trainer.measure.predictions import Predictions


@dataclass(frozen=True)
class Moments:
    """The columns from whose means the metrics are computed: squared and absolute error, target, ranks of the truth and the prediction.

    Errors and targets are in ``unit``, the standard deviation of the targets, and targets are relative to their mean: so large
    targets with small differences keep their digits. Ranks are among all rows, in a resample too.
    """

    columns: numpy.ndarray
    unit: float
    scale: float

    def scores(self) -> dict[str, numpy.ndarray]:
        return self._scores(self.columns.mean(axis=0, keepdims=True))

    def resampled(self, seed: int) -> dict[str, numpy.ndarray]:
        """Each metric for every resample of the rows. Its interval is computed from these values."""
        return self._scores(intervals.resampled_means(self.columns, seed))

    def _scores(self, means: numpy.ndarray) -> dict[str, numpy.ndarray]:
        """The metrics from ``means`` (any number x columns). r2 and spearman are 0 if the target is constant."""
        squared, absolute, target, target2, x, y, xx, yy, xy = means.T
        return {
            "rmse": numpy.sqrt(squared) * self.unit,
            "mae": absolute * self.unit,
            "r2": _r2(squared, target2 - target * target),
            "spearman": _correlation(xy - x * y, xx - x * x, yy - y * y),
            "loss": squared * (self.unit / self.scale) ** 2,
        }


def moments(a: Predictions, scale: float) -> Moments:
    """The moments of at least one row; ``scale`` is the unit of the loss."""
    from scipy.stats import rankdata

    varied = a.truth.min() < a.truth.max()
    unit = float(a.truth.std()) if varied else 1.0
    error = (a.predicted - a.truth) / unit
    target = (a.truth - a.truth.mean()) / unit if varied else numpy.zeros(len(a))
    x, y = _standard(rankdata(a.truth)), _standard(rankdata(a.predicted))
    return Moments(numpy.stack([error * error, numpy.abs(error), target, target * target, x, y, x * x, y * y, x * y], axis=1), unit, scale)


def _standard(values: numpy.ndarray) -> numpy.ndarray:
    centred = values - values.mean()
    return centred / (numpy.sqrt((centred * centred).mean()) or 1.0)


def _r2(squared: numpy.ndarray, variance: numpy.ndarray) -> numpy.ndarray:
    varied = variance > 1e-12  # smaller values come from rounding: all rows of the resample have one target
    return numpy.where(varied, 1 - squared / numpy.where(varied, variance, 1.0), 0.0)


def _correlation(covariance: numpy.ndarray, first: numpy.ndarray, second: numpy.ndarray) -> numpy.ndarray:
    spread = numpy.sqrt(numpy.maximum(first, 0) * numpy.maximum(second, 0))
    varied = spread > 1e-12
    return numpy.where(varied, covariance / numpy.where(varied, spread, 1.0), 0.0).clip(-1.0, 1.0)
