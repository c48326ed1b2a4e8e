"""Metrics of a classifier from counts per class. No table of classes x classes is filled: with 10 000 classes it would be huge."""

from dataclasses import dataclass

import numpy

from trainer.measure import intervals
from trainer.measure.predictions import Predictions


@dataclass(frozen=True)
class Cells:
    """The cells of the confusion matrix that are not empty, in the order of their true classes. Only classes that occur are numbered."""

    truth: numpy.ndarray
    predicted: numpy.ndarray
    counts: numpy.ndarray
    classes: int

    def scores(self) -> dict[str, numpy.ndarray]:
        return self._scores(self.counts[None, :])

    def resampled(self, seed: int) -> dict[str, numpy.ndarray]:
        """Each metric for every resample of the rows. Its interval is computed from these values."""
        return self._scores(intervals.resampled_counts(self.counts, seed))

    def _scores(self, counts: numpy.ndarray) -> dict[str, numpy.ndarray]:
        """The metrics for every row of ``counts`` (any number x cells)."""
        right = self.truth == self.predicted
        hits = self._by_class(counts[:, right], self.truth[right])
        return scores(hits, self._by_class(counts, self.truth), self._by_class(counts, self.predicted))

    def _by_class(self, counts: numpy.ndarray, classes: numpy.ndarray) -> numpy.ndarray:
        """The sums of ``counts`` per class, where column i belongs to ``classes[i]``."""
        sums = numpy.zeros((len(counts), self.classes))
        order = numpy.argsort(classes, kind="stable")
        found, starts = numpy.unique(classes[order], return_index=True)
        if len(found):
            sums[:, found] = numpy.add.reduceat(counts[:, order], starts, axis=1)
        return sums


def cells(a: Predictions) -> Cells:
    _, compact = numpy.unique(numpy.concatenate([a.truth, a.predicted]), return_inverse=True)
    classes = int(compact.max()) + 1
    keys, counts = numpy.unique(compact[: len(a)] * classes + compact[len(a) :], return_counts=True)
    return Cells(keys // classes, keys % classes, counts, classes)


def scores(hits: numpy.ndarray, true: numpy.ndarray, predicted: numpy.ndarray) -> dict[str, numpy.ndarray]:
    """Metrics from counts with the classes along the last axis: correct rows, true rows and predicted rows of each class.

    The mean over the classes leaves out a class that is neither true nor predicted in any row. Matthews' coefficient is 0 if all
    rows or all predictions are of one class.
    """
    n, right = true.sum(-1), hits.sum(-1)
    f1 = _ratio(2 * hits, true + predicted)
    spread = (n * n - (true * true).sum(-1)) * (n * n - (predicted * predicted).sum(-1))
    return {
        "accuracy": right / n,
        "f1_macro": f1.sum(-1) / (true + predicted > 0).sum(-1),
        "f1_weighted": (f1 * true).sum(-1) / n,
        "mcc": _ratio(right * n - (true * predicted).sum(-1), numpy.sqrt(spread)),
    }


def losses(a: Predictions) -> numpy.ndarray:
    """The cross-entropy of each row in nats. A row whose true class got the probability 0 costs 27.6 and not infinity."""
    return -numpy.log(numpy.clip(a.likelihood, 1e-12, 1.0))


def _ratio(above: numpy.ndarray, below: numpy.ndarray) -> numpy.ndarray:
    """``above / below``, 0 where ``below`` is 0."""
    return numpy.divide(above, below, out=numpy.zeros(numpy.broadcast(above, below).shape), where=below > 0)
