"""Which rows are worth a look."""

import numpy

from trainer.measure.answers import Answers


def mistakes(a: Answers, limit: int = 20) -> numpy.ndarray:
    """The numbers of at most ``limit`` rows that are wrong, the most confident first; for regression the largest errors first."""
    if a.continuous:
        badness = numpy.abs(a.predicted - a.truth)
        wrong = numpy.flatnonzero(badness)
    else:
        badness = numpy.zeros(len(a)) if a.confidence is None else a.confidence
        wrong = numpy.flatnonzero(a.truth != a.predicted)
    return wrong[numpy.argsort(-badness[wrong], kind="stable")][:limit]


def unsure(a: Answers, limit: int = 20) -> numpy.ndarray:
    """The numbers of at most ``limit`` rows with the least confidence, the least first; none without confidences."""
    if a.confidence is None:
        return numpy.zeros(0, numpy.int64)
    return numpy.argsort(a.confidence, kind="stable")[:limit]
