"""From which probability on a label is predicted, where rows have several labels: chosen on rows that the model did not learn from."""

import numpy

USUAL = 0.5  # where no rows say better
_TRIED = numpy.linspace(0.05, 0.9, 35)
_ENOUGH_OF_LABEL = 10  # held-out rows with a label, for a threshold of its own
_ABOUT = 0.003  # of F1


def best(probabilities: numpy.ndarray, truth: numpy.ndarray) -> numpy.ndarray:
    """The probability from which each label is predicted: the one with the best F1. Rare labels have that of all labels together.

    Both arguments are rows x labels; ``truth`` is bool.
    """
    above = [probabilities >= t for t in _TRIED]
    right = numpy.stack([(a & truth).sum(axis=0) for a in above], axis=1)
    predicted, true = numpy.stack([a.sum(axis=0) for a in above], axis=1), truth.sum(axis=0)[:, None]
    together = 2 * right.sum(axis=0) / numpy.maximum(predicted.sum(axis=0) + true.sum(), 1)
    each = 2 * right / numpy.maximum(predicted + true, 1)
    return numpy.where(true[:, 0] >= _ENOUGH_OF_LABEL, _middle(each), _middle(together[None])[0])


def _middle(scores: numpy.ndarray) -> numpy.ndarray:
    """The mean of the thresholds that are about the best, of each row: at the edge of a plateau, new rows would fall off."""
    about = scores >= scores.max(axis=1, keepdims=True) - _ABOUT
    return (about * _TRIED).sum(axis=1) / about.sum(axis=1)
