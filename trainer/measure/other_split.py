"""What a score would be if rows that belong together were held out together: a light model, fitted twice on the same rows.

The model is small on purpose: the two scores are for comparison with each other and stand for no model that is delivered.
"""

from dataclasses import dataclass

import numpy

from trainer import threads
from trainer.measure.linear import Features

FOLDS = 4
FEWEST = 40  # rows
_TREES = 15
_CHANCE = 3.0  # standard errors that a rise of the error must have
_KNOWS = 0.15  # share of the variance that a model must explain for its fall to mean something
_FALLS, _WORSE = 0.3, 2.0  # share of that, which it must lose, or times that its squared error must be as large
_GOOD = 0.9  # share of the variance with which a model is good enough however it fell
_HUGE = 400_000  # entries of the targets of classes, rows times classes


@dataclass(frozen=True)
class Compared:
    """The answers to all rows when rows are held out at random, and when they are held out by group or time: probabilities (rows x classes) or
    numbers (rows). ``rows`` are those that both answered. ``falls`` says whether the model is clearly worse on the latter, beyond chance."""

    random: numpy.ndarray
    other: numpy.ndarray
    rows: numpy.ndarray
    falls: bool


def by_groups(features: Features, wanted: numpy.ndarray, groups: numpy.ndarray, seed: int) -> Compared | None:
    """Compare random folds with folds of whole groups. ``wanted`` are numbers (rows), or 0 and 1 (rows x classes); ``groups`` are codes from 0 on.
    None where there are too few rows, or too many numbers."""
    count = len(groups)
    if count < FEWEST or wanted.size > _HUGE:
        return None
    random = _dealt(numpy.arange(count), FOLDS, seed)
    whole = _by_size(groups, seed)
    every = numpy.arange(count)
    return _compared(features, wanted, [(every[random != f], every[random == f]) for f in range(FOLDS)],
                     [(every[whole != f], every[whole == f]) for f in range(FOLDS)], groups, seed)  # fmt: skip


def by_time(features: Features, wanted: numpy.ndarray, whens: numpy.ndarray, seed: int) -> Compared | None:
    """Compare rows that are held out at random with the latest, a quarter of each. The arguments are those of ``by_groups``."""
    order = numpy.argsort(whens, kind="stable")
    first = len(order) - len(order) // FOLDS
    start = whens[order[first]] if len(order) >= FEWEST else numpy.nan
    later = whens >= start
    if len(order) < FEWEST or wanted.size > _HUGE or not 0.1 < later.mean() < 0.5:
        return None
    every = numpy.arange(len(order))
    random = _dealt(every, FOLDS, seed)
    folds = [(every[random != f], every[random == f]) for f in range(FOLDS)]
    days = numpy.unique(whens, return_inverse=True)[1]
    return _compared(features, wanted, folds, [(every[~later], every[later])], days, seed)


def _compared(features: Features, wanted: numpy.ndarray, random: list, other: list, groups: numpy.ndarray, seed: int) -> Compared:
    with threads.one_of_blas():
        said = [_answers(features, wanted, folds, seed) for folds in (random, other)]
    rows = numpy.sort(numpy.concatenate([held for _, held in other]))
    mean = wanted.mean(axis=0)
    errors = [_errors(found[rows], wanted[rows]) for found in said]
    constant = _errors(numpy.broadcast_to(mean, wanted[rows].shape), wanted[rows]).sum() or 1.0
    explained = [1 - e.sum() / constant for e in errors]
    worse = explained[1] <= _GOOD and errors[1].sum() >= _WORSE * errors[0].sum()
    less = explained[1] <= (1 - _FALLS) * explained[0] or worse
    falls = explained[0] >= _KNOWS and less and _is_sure(errors[1] - errors[0], groups[rows])
    return Compared(said[0][rows], said[1][rows], rows, falls)


def _is_sure(rise: numpy.ndarray, groups: numpy.ndarray) -> bool:
    """Whether the errors of rows rise beyond chance, where rows of a group may rise together: by their sums over groups, or by the number of groups
    with a rise, which single groups with large errors do not hide."""
    sums = numpy.bincount(numpy.unique(groups, return_inverse=True)[1], rise)
    return bool(any(of.sum() > _CHANCE * numpy.sqrt((of**2).sum()) for of in (sums, numpy.sign(sums))))


def _errors(found: numpy.ndarray, wanted: numpy.ndarray) -> numpy.ndarray:
    squares = (found - wanted) ** 2
    return squares.sum(axis=1) if squares.ndim > 1 else squares


def _answers(features: Features, wanted: numpy.ndarray, folds: list, seed: int) -> numpy.ndarray:
    """The answers to the held-out rows of ``folds``; 0 for rows that none holds out."""
    found = numpy.zeros(wanted.shape)
    for kept, held in folds:
        found[held] = _model(features, seed).fit(features[kept], wanted[kept]).predict(features[held]).reshape(found[held].shape)
    if found.ndim == 1:
        return found
    return numpy.clip(found, 0, 1)


def _model(features: Features, seed: int):
    """Trees for columns, which find rows that are nearly the same; a linear model for terms."""
    if isinstance(features, numpy.ndarray):
        from sklearn.ensemble import ExtraTreesRegressor

        return ExtraTreesRegressor(_TREES, min_samples_leaf=2, random_state=seed, n_jobs=1)
    from sklearn.linear_model import Ridge

    return Ridge(alpha=1.0, solver="sparse_cg", max_iter=50, tol=1e-3)


def _dealt(units: numpy.ndarray, parts: int, seed: int) -> numpy.ndarray:
    """The part of each of ``units``, at random and of equal size."""
    found = numpy.empty(len(units), numpy.int64)
    found[numpy.random.default_rng(seed).permutation(len(units))] = numpy.arange(len(units)) % parts
    return found


def _by_size(groups: numpy.ndarray, seed: int) -> numpy.ndarray:
    """The fold of each row: whole groups, the largest first, each into the fold that is smallest by then."""
    sizes = numpy.bincount(groups)
    chance = numpy.random.default_rng(seed).permutation(len(sizes))
    fold, filled = numpy.zeros(len(sizes), numpy.int64), numpy.zeros(FOLDS)
    for group in numpy.lexsort((chance, -sizes)):
        fold[group] = filled.argmin()
        filled[fold[group]] += sizes[group]
    return fold[groups]
