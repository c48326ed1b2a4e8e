"""Which rows are worth a look."""

import numpy

from trainer.measure.predictions import Predictions

_LITTLE = 0.2  # probability of a label that two models doubt


def mistakes(a: Predictions, limit: int = 20) -> numpy.ndarray:
    """The numbers of at most ``limit`` rows that are wrong, the most confident first; for regression the largest errors first."""
    if a.continuous:
        badness = numpy.abs(a.predicted - a.truth)
        wrong = numpy.flatnonzero(badness)
    else:
        badness = numpy.zeros(len(a)) if a.confidence is None else a.confidence
        wrong = numpy.flatnonzero(a.truth != a.predicted)
    return wrong[numpy.argsort(-badness[wrong], kind="stable")][:limit]


def doubted(a: Predictions, simple: Predictions | None) -> numpy.ndarray:
    """For each row whether its label may be what is wrong: both models give another one, the same, and the first gives it little chance.

    Two models that learnt in different ways seldom make the same confident mistake.
    """
    if a.continuous or a.likelihood is None or simple is None:
        return numpy.zeros(len(a), bool)
    return (a.predicted != a.truth) & (a.predicted == simple.predicted) & (a.likelihood < _LITTLE)


def unsure(a: Predictions, limit: int = 20) -> numpy.ndarray:
    """The numbers of at most ``limit`` rows with the least confidence, the least first; none without confidences."""
    if a.confidence is None:
        return numpy.zeros(0, numpy.int64)
    return numpy.argsort(a.confidence, kind="stable")[:limit]
