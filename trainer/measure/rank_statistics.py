"""The area under the ROC curve with its standard error.

Equal scores get the mean of their ranks. Otherwise the area of a model that gives every row the same score would depend on
the order of the rows; with the mean it is exactly 0.5.
"""

import math

import numpy


def roc_auc(truth: numpy.ndarray, probabilities: numpy.ndarray) -> tuple[float, float | None] | None:
    """The area under the ROC curve and its standard error; None if all rows are of one class.

    With two classes the second is the positive one. With more it is the mean over the classes that occur, each against the
    rest. The error is DeLong's for that mean: how much each row changes it. It is None if a class has a single row. Neither
    scikit-learn nor scipy computes DeLong's error, and its placements give the area as well.
    """
    n, classes = probabilities.shape
    counts = numpy.bincount(truth, minlength=classes)
    measured = [1] if classes == 2 else numpy.flatnonzero(counts)
    if (counts > 0).sum() < 2:
        return None
    moves, area = numpy.zeros(n), 0.0
    for k in measured:
        positive = truth == k
        share = _placements(positive, probabilities[:, k])
        one = share[positive].mean()
        area += one
        weight = numpy.where(positive, n / positive.sum(), n / (~positive).sum())
        moves += (share - one) * weight
    area, moves = area / len(measured), moves / len(measured)
    error = math.sqrt((moves @ moves) / n / (n - 1)) if counts[counts > 0].min() > 1 else None
    return float(area), error


def _placements(positive: numpy.ndarray, scores: numpy.ndarray) -> numpy.ndarray:
    """For a positive row the share of negative rows that score lower, for a negative row that of positives that score higher.

    A row with an equal score counts half. The rank among all rows minus the rank among those of its own class is the number of
    rows of the other class that score lower (Sun and Xu, 2014).
    """
    from scipy.stats import rankdata

    share = rankdata(scores)
    share[positive] = (share[positive] - rankdata(scores[positive])) / (~positive).sum()
    share[~positive] = 1 - (share[~positive] - rankdata(scores[~positive])) / positive.sum()
    return share
