"""Which rows a person should look at."""

import numpy

from trainer.measure.predictions import Predictions

_LITTLE = 0.2  # probability below which a label may be wrong


def mistakes(a: Predictions, limit: int = 20) -> numpy.ndarray:
    """The numbers of at most ``limit`` rows that are wrong, the most confident first; for regression the largest errors first."""
    if a.continuous:
        severity = numpy.abs(a.predicted - a.truth)
        wrong = numpy.flatnonzero(severity)
    else:
        severity = numpy.zeros(len(a)) if a.confidence is None else a.confidence
        wrong = numpy.flatnonzero(a.truth != a.predicted)
    return wrong[numpy.argsort(-severity[wrong], kind="stable")][:limit]


def wrong_labels(a: Predictions, simple: Predictions | None) -> numpy.ndarray:
    """For each row, whether its label may be wrong: both models predict the same other label, and ``a`` gives the label little probability.

    Two models that were trained in different ways rarely make the same confident mistake.
    """
    if a.continuous or a.likelihood is None or simple is None:
        return numpy.zeros(len(a), bool)
    return (a.predicted != a.truth) & (a.predicted == simple.predicted) & (a.likelihood < _LITTLE)


def unsure(a: Predictions, limit: int = 20) -> numpy.ndarray:
    """The numbers of at most ``limit`` rows with the lowest confidence, the lowest first; none without confidences."""
    if a.confidence is None:
        return numpy.zeros(0, numpy.int64)
    return numpy.argsort(a.confidence, kind="stable")[:limit]
