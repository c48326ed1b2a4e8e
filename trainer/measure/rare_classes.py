"""Classes that are never the most likely one: from which probability on they are answered, chosen on rows that the model did not learn from.

A model of 5 % positives is right to give each row a probability below a half; who looks for positives needs the rows where it is highest.
"""

from dataclasses import dataclass

import numpy

from trainer.measure import rank_statistics

_ENOUGH = 10  # held-out rows of a class, to choose for it
_MISSED = 0.1  # of these rows, below which a class counts as never answered
_EVIDENCE = 2.33  # standard errors by which the ranking of these rows must be better than by chance
_GAIN = 0.03  # of the mean F1 of the classes; less is not worth another rule
_ABOUT = 0.003  # of the mean F1: factors that are about as good
_TRIED = 200


@dataclass(frozen=True)
class Chosen:
    """``factors`` multiply the probabilities of the classes before the highest is answered. The other fields tell of the class that gained most:
    its number, its held-out rows, how many were found before and are now, and the rows of other classes that are taken for it now."""

    factors: tuple[float, ...]
    of: int
    rows: int
    before: int
    now: int
    wrong: int


def choose(probabilities: numpy.ndarray, truth: numpy.ndarray) -> Chosen | None:
    """Factors for the classes that are hardly ever the most likely one, although the model ranks their rows better than chance; None where
    there is no such class, or where the mean F1 gains little. ``probabilities`` are rows x classes."""
    likely, classes = probabilities.astype(numpy.float64), probabilities.shape[1]
    usual = likely.argmax(axis=1)
    counts = numpy.bincount(truth, minlength=classes)
    found = numpy.bincount(truth[usual == truth], minlength=classes)
    missed = [k for k in numpy.argsort(-counts, kind="stable") if counts[k] >= _ENOUGH and found[k] < _MISSED * counts[k]]
    missed = [k for k in missed if _ranked(likely[:, k], truth == k)]
    factors = numpy.ones(classes)
    for k in missed:
        factors[k] = _factor(likely * factors, truth, k)
    now = (likely * factors).argmax(axis=1)
    if not missed or _mean_f1(now, truth, classes) < _mean_f1(usual, truth, classes) + _GAIN:
        return None
    gains = [int((now[truth == k] == k).sum()) - found[k] for k in missed]
    most = int(missed[int(numpy.argmax(gains))])
    right = int((now[truth == most] == most).sum())
    return Chosen(tuple(factors.tolist()), most, int(counts[most]), int(found[most]), right, int((now == most).sum()) - right)


def _ranked(scores: numpy.ndarray, positive: numpy.ndarray) -> bool:
    """Whether the positive rows have higher scores than the others, beyond chance."""
    area = rank_statistics.roc_auc(positive.astype(numpy.int64), numpy.stack([-scores, scores], axis=1))
    return area is not None and area[1] is not None and area[0] - 0.5 > _EVIDENCE * area[1]


def _factor(weighed: numpy.ndarray, truth: numpy.ndarray, k: int) -> float:
    """The factor of class ``k`` with the best mean F1: the middle of those that are about the best, since at the edge new rows would fall off."""
    others = weighed.copy()
    others[:, k] = -1
    turn = others.max(axis=1) / numpy.maximum(weighed[:, k], 1e-300)  # a row is answered with k by larger factors
    tried = numpy.unique(numpy.quantile(turn, numpy.linspace(0, 1, _TRIED)))
    tried = numpy.sqrt(tried[1:] * tried[:-1])  # between rows
    if not len(tried):
        return 1.0
    instead = others.argmax(axis=1)
    scores = numpy.array([_mean_f1(numpy.where(turn < t, k, instead), truth, weighed.shape[1]) for t in tried])
    return float(numpy.exp(numpy.log(tried[scores >= scores.max() - _ABOUT]).mean()))


def _mean_f1(predicted: numpy.ndarray, truth: numpy.ndarray, classes: int) -> float:
    """The mean F1 of the classes that occur in ``truth``."""
    right = numpy.bincount(truth[predicted == truth], minlength=classes)
    true = numpy.bincount(truth, minlength=classes)
    each = 2 * right / numpy.maximum(numpy.bincount(predicted, minlength=classes) + true, 1)
    return float(each[true > 0].mean())
