"""Which labels are probably wrong, by the answers of models that had not seen the rows: confident learning (Northcutt and others, 2021) for classes,
and errors far beyond the usual ones for numbers."""

from dataclasses import dataclass

import numpy

from trainer.measure.predictions import Predictions

FEWEST = 20  # rows with answers: with fewer, nothing is said
_TIMES = 8  # as likely as the label another class must be
_AGREE = 0.8  # share of the confident answers of a class that labels must agree with: else its answers say nothing about labels
_USUAL = 0.9  # share of the rows whose error is usual
_FAR = 2.5  # times the largest usual error from which a number is unusual
_LEAST = 1e-9
_ALARM_ROWS, _ALARM_SHARE, _ALARM_OF_MISTAKES = 10, 0.01, 0.45


@dataclass(frozen=True)
class OtherClasses:
    """Rows whose label is probably wrong, the likeliest first: their numbers, the likely class, and the probabilities of that class and of the label.
    ``usual`` is the mean probability that rows with the label of each class get for it. ``evident`` says that chance and classes that
    overlap hardly explain so many."""

    rows: numpy.ndarray
    likely: numpy.ndarray
    probability: numpy.ndarray
    of_label: numpy.ndarray
    usual: numpy.ndarray
    evident: bool

    @property
    def score(self) -> numpy.ndarray:
        """The logarithm of how many times as likely the other class is."""
        return _odds(self.probability, self.of_label)


def classes(a: Predictions, count: int) -> OtherClasses:
    """The rows of ``a``, whose ``count`` classes are all known, for which another class is as likely as it is for rows labelled so, and ``_TIMES`` as
    likely as the label. Classes are left out whose confident answers are often not the label: they overlap."""
    rows = numpy.arange(len(a))
    of_label = numpy.asarray(a.likelihood, numpy.float64)
    sums = numpy.bincount(a.truth, of_label, count)
    usual = numpy.where(sums > 0, sums / numpy.maximum(numpy.bincount(a.truth, minlength=count), 1), numpy.inf)
    if a.probabilities is None:  # of many classes only that of the answer is kept
        likely, probability = a.predicted, numpy.asarray(a.confidence, numpy.float64)
    else:
        reached = numpy.where(a.probabilities >= usual, a.probabilities, 0)
        likely = reached.argmax(axis=1)
        probability = reached[rows, likely].astype(numpy.float64)
    reaches = (probability > 0) & (probability >= usual[likely])
    confident = reaches & (probability >= _TIMES / (_TIMES + 1))
    right = numpy.bincount(likely[confident & (likely == a.truth)], minlength=count)
    agree = right >= _AGREE * numpy.maximum(numpy.bincount(likely[confident], minlength=count), 1)
    found = numpy.flatnonzero(reaches & (likely != a.truth) & (probability >= _TIMES * of_label) & agree[likely])
    found = found[numpy.argsort(-_odds(probability[found], of_label[found]), kind="stable")]
    mistakes = int((a.predicted != a.truth).sum())
    evident = len(found) >= max(_ALARM_ROWS, _ALARM_SHARE * len(a), _ALARM_OF_MISTAKES * mistakes)
    return OtherClasses(found, likely[found], probability[found], of_label[found], usual, evident)


def _odds(probability: numpy.ndarray, of_label: numpy.ndarray) -> numpy.ndarray:
    return numpy.log(probability + _LEAST) - numpy.log(of_label + _LEAST)


@dataclass(frozen=True)
class FarNumbers:
    """Rows whose number is far from the answer, the farthest first: their numbers, and how many times the ``usual`` error it is away."""

    rows: numpy.ndarray
    times: numpy.ndarray
    usual: float


def numbers(a: Predictions) -> FarNumbers:
    """The rows of ``a`` whose error is ``_FAR`` times as large as that of ``_USUAL`` of all rows."""
    errors = numpy.abs(a.truth - a.predicted)
    usual = float(numpy.quantile(errors, _USUAL))
    if not usual > 0:
        return FarNumbers(numpy.zeros(0, numpy.int64), numpy.zeros(0), 0.0)
    found = numpy.flatnonzero(errors > _FAR * usual)
    found = found[numpy.argsort(-errors[found], kind="stable")]
    return FarNumbers(found, errors[found] / usual, usual)
