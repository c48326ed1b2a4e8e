"""Figures of a classifier from counts per class; they never need the classes x classes table, which 10 000 classes would make huge."""

from dataclasses import dataclass

import numpy

from trainer.measure import intervals
from trainer.measure.predictions import Predictions


@dataclass(frozen=True)
class Cells:
    """The cells of the confusion matrix that are not empty, ordered by true class, over the classes that occur at all."""

    truth: numpy.ndarray
    predicted: numpy.ndarray
    counts: numpy.ndarray
    classes: int

    def scores(self) -> dict[str, numpy.ndarray]:
        return self._scores(self.counts[None, :])

    def resampled(self, seed: int) -> dict[str, numpy.ndarray]:
        """Each figure for rows drawn anew, to take its interval from."""
        return self._scores(intervals.resampled_counts(self.counts, seed))

    def _scores(self, counts: numpy.ndarray) -> dict[str, numpy.ndarray]:
        """The figures for every row of ``counts`` (any number x cells)."""
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
    """Figures from counts with the classes along the last axis: right ones, true ones, predicted ones.

    A class that is neither true nor predicted anywhere counts for nothing in the mean over classes. Matthews' coefficient is
    0 where the rows, or the predictions, are all of one class.
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
    """The cross-entropy of each row in nats. A true class held for impossible costs 27.6 and not infinity."""
    return -numpy.log(numpy.clip(a.likelihood, 1e-12, 1.0))


def _ratio(above: numpy.ndarray, below: numpy.ndarray) -> numpy.ndarray:
    """``above / below``, 0 where ``below`` is 0."""
    return numpy.divide(above, below, out=numpy.zeros(numpy.broadcast(above, below).shape), where=below > 0)
