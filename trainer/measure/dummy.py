"""The constant baseline, which does not look at the rows: the most frequent class, or the mean."""

import numpy

from trainer.measure import predictions
from trainer.measure.predictions import Predictions


def dummy(train_target: numpy.ndarray, test_target: numpy.ndarray, classes: int) -> Predictions:
    """The predictions for the test rows from the targets of the training rows alone; ``classes`` is 0 for regression.

    Every class is counted once more than it occurs, so that a class without training rows does not get the probability 0.
    """
    n = len(test_target)
    if not classes:
        return predictions.of_values(test_target, numpy.full(n, train_target.mean()))
    counts = numpy.bincount(train_target, minlength=classes) + 1.0
    shares = counts / counts.sum()
    best = int(shares.argmax())
    return Predictions(
        numpy.asarray(test_target, numpy.int64),
        numpy.full(n, best, numpy.int64),
        numpy.full(n, shares[best]),
        shares[test_target],
        numpy.tile(shares.astype(numpy.float32), (n, 1)) if classes <= predictions.MAX_CLASSES else None,
    )
