"""The linear model that every other one has to beat: logistic regression for classes, ridge regression for targets."""

from dataclasses import dataclass

import numpy

from trainer.measure import predictions
from trainer.measure.minimise import minimise
from trainer.measure.predictions import Predictions
from trainer.measure.sparse import Features, Sparse

MAX_WEIGHTS = 30_000_000
_STRENGTHS = (100.0, 30.0, 10.0, 3.0, 1.0, 0.3, 0.1, 0.03)  # of the penalty, per training row; strong ones first, they are quick
_CALLS = 400  # passes over the data for all strengths together
_FEW_CALLS = 60  # rather fewer rows than fewer passes
_MAX_ENTRIES = 50_000_000  # numbers to learn from: 200 MB
_RATE, _DENSE_RATE = 1e8, 2e9  # entries times outputs per second, there and back, on one slow core; a sparse matrix jumps about in memory
_BLOCK = 4_000_000  # scores at once


@dataclass(frozen=True)
class Linear:
    """A model whose scores are ``features @ weights + bias``; with one column it predicts a target in its own unit."""

    weights: numpy.ndarray  # width x classes float32, width x 1 for regression
    bias: numpy.ndarray  # float32
    classes: int  # 0 for regression

    def answers(self, features: Features, truth: numpy.ndarray) -> Predictions:
        step = max(1, _BLOCK // len(self.bias))
        blocks = [numpy.arange(i, min(i + step, len(features))) for i in range(0, len(features), step)] or [numpy.arange(0)]
        return predictions.concatenated([self._answers(features[rows], truth[rows]) for rows in blocks])

    def _answers(self, features: Features, truth: numpy.ndarray) -> Predictions:
        scores = features @ self.weights + self.bias
        return predictions.of_scores(truth, scores) if self.classes else predictions.of_values(truth, scores[:, 0])


def fit(
    train: Features,
    train_target: numpy.ndarray,
    validation: Features,
    validation_target: numpy.ndarray,
    classes: int,
    seed: int,
    budget_seconds: float = 20.0,
) -> Linear | None:
    """Learn from the training rows; the strength of the penalty is the one with the least loss on the validation rows.

    ``classes`` is 0 for regression. None where the model would have more than ``MAX_WEIGHTS`` weights: the optimiser keeps
    some fifteen copies of them, which would be gigabytes, and so large a linear model is no simple one any more.

    ``budget_seconds`` bounds the work by a guessed speed and not by a clock, so that the same rows give the same model on a
    busy machine too. Where it does not allow enough passes over all rows, a sample of them, drawn by ``seed``, is learnt from.
    """
    width, outputs = _width(train), classes or 1
    if width * outputs > MAX_WEIGHTS:
        return None
    budget = budget_seconds * (_RATE if isinstance(train, Sparse) else _DENSE_RATE) / outputs
    train, train_target = _sample(train, train_target, int(budget / _FEW_CALLS), seed)
    calls = min(_CALLS, int(budget / max(1, _entries(train))))
    scaling = _Scaling.of(train, train_target, classes)
    problem = _Problem(scaling.features(train), scaling.target(train_target), outputs, classes)
    flat, best, best_loss = problem.start(), None, numpy.inf
    for strength in _STRENGTHS if len(validation) else (1.0,):
        flat, made = minimise(problem.at(strength / len(train)), flat, calls)
        calls -= made
        model = scaling.undone(flat.reshape(width + 1, outputs), classes)
        loss = _loss(model.answers(validation, validation_target)) if len(validation) else 0.0
        if loss >= best_loss:
            break
        best, best_loss = model, loss
        if calls < 2:
            break
    return best


class _Problem:
    """The mean loss over the rows plus the penalty on the weights, as a function of weights and bias in one flat array."""

    def __init__(self, features: Features, target: numpy.ndarray, outputs: int, classes: int):
        self._features, self._turned, self._target = features, features.T, target
        self._shape, self._classes = (_width(features) + 1, outputs), classes

    def start(self) -> numpy.ndarray:
        return numpy.zeros(self._shape[0] * self._shape[1], numpy.float32)

    def at(self, strength: float):
        """The function for one strength of the penalty."""

        def function(flat: numpy.ndarray) -> tuple[float, numpy.ndarray]:
            weights, bias = flat.reshape(self._shape)[:-1], flat.reshape(self._shape)[-1]
            loss, error = self._compare(self._features @ weights + bias)
            slope = numpy.concatenate([self._turned @ error + strength * weights, error.sum(axis=0, keepdims=True)])
            return loss + strength / 2 * float(numpy.vdot(weights, weights)), slope.ravel()

        return function

    def _compare(self, scores: numpy.ndarray) -> tuple[float, numpy.ndarray]:
        """The mean loss of ``scores`` and its slope in each of them."""
        n = len(scores)
        if not self._classes:
            error = scores[:, 0] - self._target
            return float(error @ error) / (2 * n), (error / n)[:, None]
        rows = numpy.arange(n)
        scores = scores - scores.max(axis=1, keepdims=True)
        odds = numpy.exp(scores)
        totals = odds.sum(axis=1, keepdims=True)
        loss = float((numpy.log(totals[:, 0]) - scores[rows, self._target]).mean(dtype=numpy.float64))
        odds /= totals
        odds[rows, self._target] -= 1
        return loss, odds / n


@dataclass(frozen=True)
class _Scaling:
    """Brings dense columns and targets to mean 0 and deviation 1 for the optimiser, and the finished weights back."""

    centre: numpy.ndarray | float
    spread: numpy.ndarray | float
    target_centre: float = 0.0
    target_spread: float = 1.0

    @staticmethod
    def of(features: Features, target: numpy.ndarray, classes: int) -> "_Scaling":
        """Sparse columns stay as they are: taking their mean away would fill them."""
        centre, spread = 0.0, 1.0
        if not isinstance(features, Sparse):
            centre, spread = features.mean(axis=0, dtype=numpy.float64), features.std(axis=0, dtype=numpy.float64)
            spread = numpy.where(spread > 1e-5 * numpy.abs(centre), spread, 1.0)  # less is rounding of float32
        return _Scaling(centre, spread) if classes else _Scaling(centre, spread, float(target.mean()), float(target.std()) or 1.0)

    def features(self, features: Features) -> Features:
        if isinstance(features, Sparse):
            return features
        return (features - self.centre.astype(numpy.float32)) / self.spread.astype(numpy.float32)

    def target(self, target: numpy.ndarray) -> numpy.ndarray:
        if target.dtype.kind != "f":
            return target
        return ((target - self.target_centre) / self.target_spread).astype(numpy.float32)

    def undone(self, weights: numpy.ndarray, classes: int) -> Linear:
        """The model for features and targets as they were; the last row of ``weights`` is the bias."""
        slopes = (weights[:-1].T / self.spread).T * self.target_spread
        bias = weights[-1] * self.target_spread + self.target_centre - (slopes.T * self.centre).sum(axis=1)
        return Linear(slopes.astype(numpy.float32), bias.astype(numpy.float32), classes)


def _sample(features: Features, target: numpy.ndarray, entries: int, seed: int) -> tuple[Features, numpy.ndarray]:
    """As many rows, drawn by ``seed``, as ``entries`` numbers allow, in their order."""
    rows = int(len(features) * min(entries, _MAX_ENTRIES) / max(1, _entries(features)))
    if rows >= len(features):
        return features, target
    kept = numpy.sort(numpy.random.default_rng(seed).permutation(len(features))[: max(1, rows)])
    return features[kept], target[kept]


def _loss(a: Predictions) -> float:
    if a.continuous:
        return float(((a.predicted - a.truth) ** 2).mean())
    return float(-numpy.log(numpy.clip(a.likelihood, 1e-12, 1.0)).mean())


def _width(features: Features) -> int:
    return features.width if isinstance(features, Sparse) else features.shape[1]


def _entries(features: Features) -> int:
    return len(features.values) if isinstance(features, Sparse) else features.size
