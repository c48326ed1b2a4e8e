"""Figures that depend only on the order of scores. Equal scores share the mean of their ranks.

Without that sharing a model that gives every row the same score would get an area under the curve that depends on the
order of the rows; with it the area is exactly 0.5.
"""

import math

import numpy


def average(values: numpy.ndarray) -> numpy.ndarray:
    """The rank of each value from 1 on, the mean rank where values are equal."""
    order, starts, lengths = _ties(values)
    ranks = numpy.empty(len(values))
    ranks[order] = numpy.repeat(starts + (lengths + 1) / 2, lengths)
    return ranks


def roc_auc(truth: numpy.ndarray, probabilities: numpy.ndarray) -> tuple[float, float | None] | None:
    """The area under the ROC curve and its standard error; None where the rows are all of one class.

    With two classes the second is the positive one. With more it is the mean over the classes that occur, each against the
    rest. The error is DeLong's, taken over the mean: how much each row moves it. It is None where a class has a single row.
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

    A row with an equal score counts half.
    """
    order, starts, lengths = _ties(scores)
    ends = starts + lengths
    positives = numpy.append(0, numpy.cumsum(positive[order]))  # among the first so many rows in the order of scores
    below = (positives[starts] + positives[ends]) / 2
    rows = (starts + ends) / 2
    share = numpy.empty(len(scores))
    share[order] = numpy.repeat(below, lengths)
    lower = numpy.empty(len(scores))
    lower[order] = numpy.repeat(rows - below, lengths)
    return numpy.where(positive, lower / (len(scores) - positives[-1]), 1 - share / positives[-1])


def _ties(values: numpy.ndarray) -> tuple[numpy.ndarray, numpy.ndarray, numpy.ndarray]:
    """The order of ``values``, where in it each run of equal ones starts, and how long the run is."""
    order = numpy.argsort(values, kind="stable")
    ordered = values[order]
    starts = numpy.flatnonzero(numpy.append(True, ordered[1:] != ordered[:-1]))
    return order, starts, numpy.diff(numpy.append(starts, len(values)))
