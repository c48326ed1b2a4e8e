"""The linear baseline: logistic regression for classes, ridge regression for numbers. scikit-learn finds the weights."""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy

from trainer import threads
from trainer.core import drawn, mapped
from trainer.measure import predictions
from trainer.measure.predictions import Predictions
from trainer.measure.tfidf import MAX_TERMS

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


class Asked(Protocol):
    """A dense matrix of more than ``MAX_ENTRIES`` numbers, whose rows are made when they are asked for."""

    shape: tuple[int, int]
    size: int
    dtype: numpy.dtype

    def __getitem__(self, rows: slice | numpy.ndarray) -> numpy.ndarray: ...


Features: TypeAlias = "numpy.ndarray | csr_matrix | Asked"  # rows x width, float32

MAX_WEIGHTS = 8_000_000  # L-BFGS keeps some thirty copies of 8 bytes each: 2 GB
_LEAST_WIDTH = 10_000
STRENGTHS = (100.0, 30.0, 10.0, 3.0, 1.0, 0.3, 0.1, 0.03)  # of the penalty; strong ones first, they converge fast
_ITERATIONS = 400  # for all strengths together
_FEW_ITERATIONS = 60  # with fewer than these, fewer rows cost less accuracy than fewer iterations
MAX_ENTRIES = 50_000_000  # numbers to train on: 200 MB
MAX_ROWS = 5_000_000  # to train on: each costs more than a few numbers do
_RATE, _DENSE_RATE = 2e8, 2e9  # entries times outputs per second, there and back, on one slow core; sparse matrices miss the cache
_PER_WEIGHT = 25  # cost of an iteration for each weight, in entries: L-BFGS reads its history
GRADIENT = 1e-5  # the largest slope at which the logistic regression counts as converged
_BLOCK = 4_000_000  # scores, or numbers of features, at once


@dataclass(frozen=True)
class Linear:
    """A model with the scores ``features @ weights + bias``. With ``classes`` 0 it predicts a number in its own unit."""

    weights: numpy.ndarray  # width x classes float32, width x 1 for regression
    bias: numpy.ndarray  # float32
    classes: int  # 0 for regression
    strength: float = 1.0  # of the penalty by which it was fitted
    rows: int = 0  # that it was fitted on

    def predict(self, features: Features, truth: numpy.ndarray) -> Predictions:
        step = max(1, _BLOCK // len(self.bias))
        starts = range(0, features.shape[0], step) or [0]
        return predictions.concatenated([self._predict(features[i : i + step], truth[i : i + step]) for i in starts])

    def _predict(self, features: Features, truth: numpy.ndarray) -> Predictions:
        scores = features @ self.weights + self.bias
        return predictions.of_scores(truth, scores) if self.classes else predictions.of_values(truth, scores[:, 0])


def max_width(classes: int) -> int:
    """The largest number of features for which a model of ``classes`` is small enough, but at least a useful number."""
    return max(_LEAST_WIDTH, min(MAX_TERMS, MAX_WEIGHTS // max(1, classes)))


def fit(
    train: Features,
    train_target: numpy.ndarray,
    validation: Features,
    validation_target: numpy.ndarray,
    classes: int,
    seed: int,
    budget_seconds: float = 20.0,
    class_weights: numpy.ndarray | None = None,
    strengths: tuple[float, ...] = (),
) -> Linear | None:
    """Train on the training rows with the strength of the penalty that has the smallest loss on the validation rows.

    ``classes`` is 0 for regression. ``class_weights`` weigh the rows of each class, in training and in the choice.
    ``strengths`` are those of the penalty to try, strong ones first; by default ``STRENGTHS``. None if the model would have more than
    ``MAX_WEIGHTS`` weights.

    ``budget_seconds`` bounds rows times iterations by an assumed speed and not by a clock, so that the same rows give the same
    model on a busy machine too. If it does not allow enough iterations over all rows, a sample drawn by ``seed`` is used.
    One BLAS thread is used, so that the sums do not depend on the number of cores.
    """
    best, best_loss = None, numpy.inf
    with threads.one_of_blas():
        tried = strengths or (STRENGTHS if len(validation_target) else (1.0,))
        for model in path(train, train_target, classes, seed, budget_seconds, class_weights, tried):
            loss = _loss(model.predict(validation, validation_target), class_weights) if len(validation_target) else 0.0
            if loss >= best_loss:
                break
            best, best_loss = model, loss
    return best


def path(
    train: Features,
    target: numpy.ndarray,
    classes: int,
    seed: int,
    budget_seconds: float,
    class_weights: numpy.ndarray | None,
    strengths,
    slope: float = GRADIENT,
    even: bool = True,
) -> Iterator[Linear]:
    """The models of ``strengths``, one after the other, each found from the one before. It ends early where the budget is used up, and
    it is empty where the model would be too large. The arguments are those of ``fit``; the caller bounds the threads. ``slope`` is the
    largest one at which the logistic regression counts as converged. ``even`` gives dense columns the same deviation first."""
    width, outputs = train.shape[1], classes or 1
    if width * outputs > MAX_WEIGHTS:
        return
    columns = 1 if classes == 2 else outputs  # the logistic regression of two classes has one column
    budget = budget_seconds * (_RATE if _is_sparse(train) else _DENSE_RATE) / columns
    whole = train
    train, target = _sample(train, target, int(budget / _FEW_ITERATIONS), seed)
    iterations = min(_ITERATIONS, int(budget / (1 + train.size + _PER_WEIGHT * width)))
    scaler = _Scaler(train, even)
    solver = _solver(scaler.scaled(train, in_place=train is not whole), target, classes, class_weights, slope)
    for strength in strengths:
        iterations -= solver.fit(strength, max(1, iterations))
        yield replace(scaler.unscaled(solver.weights, solver.bias, classes), strength=strength, rows=len(target))
        if iterations < 1:
            return


class _Solver(Protocol):
    weights: numpy.ndarray  # width x outputs
    bias: numpy.ndarray

    def fit(self, strength: float, iterations: int) -> int:
        """Find the weights for one strength of the penalty in at most ``iterations``; returns the number of iterations."""


def _solver(features: Features, target: numpy.ndarray, classes: int, class_weights: numpy.ndarray | None, slope: float) -> _Solver:
    if not features.shape[1] or (classes and len(numpy.unique(target)) == 1):
        return _NoFeatures(features.shape[1], target, classes)
    return _Logistic(features, target, classes, class_weights, slope) if classes else _Ridge(features, target)


class _Logistic:
    def __init__(self, features: Features, target: numpy.ndarray, classes: int, class_weights: numpy.ndarray | None, slope: float):
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.linear_model import LogisticRegression

        # The iterations are bounded on purpose. Not a context manager, which would change the filters of other threads back.
        warnings.filterwarnings("ignore", category=ConvergenceWarning)
        self._features, self._target = features, target
        self._row_weights = None if class_weights is None else class_weights[target]
        self._model = LogisticRegression(warm_start=True, tol=slope)
        self.weights = numpy.zeros((features.shape[1], classes))
        self.bias = numpy.zeros(classes)

    def fit(self, strength: float, iterations: int) -> int:
        two = len(numpy.unique(self._target)) == 2
        # Two classes share the penalty and get half the weights each, so that every class has a column for any number of classes.
        self._model.set_params(C=(2 if two else 1) / strength, max_iter=iterations).fit(self._features, self._target, self._row_weights)
        weights, bias = self._model.coef_.T, self._model.intercept_
        if two:
            weights, bias = numpy.hstack([-weights, weights]) / 2, numpy.append(-bias, bias) / 2
        self.weights[:, self._model.classes_] = weights
        self.bias = _with_absent(bias, self._model.classes_, len(self.bias), len(self._target))
        return int(self._model.n_iter_.max())


class _Ridge:
    def __init__(self, features: Features, target: numpy.ndarray):
        self._features, self._target = features, target
        self.weights = numpy.zeros((features.shape[1], 1))
        self.bias = numpy.zeros(1)

    def fit(self, strength: float, iterations: int) -> int:
        from sklearn.linear_model import Ridge

        model = Ridge(alpha=strength, solver="lsqr", max_iter=iterations, tol=1e-6).fit(self._features, self._target)
        self.weights, self.bias = model.coef_[:, None], numpy.array([model.intercept_])
        return int(model.n_iter_.max())


class _NoFeatures:
    """The model without features, or for rows of one class only: the shares of the classes, or the mean."""

    def __init__(self, width: int, target: numpy.ndarray, classes: int):
        self.weights = numpy.zeros((width, classes or 1))
        if classes:
            present, counts = numpy.unique(target, return_counts=True)
            self.bias = _with_absent(numpy.log(counts / len(target)), present, classes, len(target))
        else:
            self.bias = numpy.array([target.mean()])

    def fit(self, strength: float, iterations: int) -> int:
        return 0


def _with_absent(bias: numpy.ndarray, present: numpy.ndarray, classes: int, rows: int) -> numpy.ndarray:
    """The bias of all classes. A class without training rows gets the probability 1 / (``rows`` + 1) instead of 0."""
    full = numpy.full(classes, numpy.logaddexp.reduce(bias) - numpy.log(rows + 1))
    full[present] = bias
    return full


class _Scaler:
    """Scales dense columns to mean 0 and deviation 1 for the solver, and converts the weights back to the original columns. Of a large matrix a few
    columns at a time: scikit-learn needs two more matrices of this size for all of them."""

    def __init__(self, features: Features, even: bool):
        """Sparse columns stay as they are: tf-idf has a scale of its own, and subtracting a mean would fill them. So do all if not ``even``."""
        from sklearn.preprocessing import StandardScaler

        self._parts = []
        if even and isinstance(features, numpy.ndarray):
            width = features.shape[1]
            parts = max(1, min(-(-features.size // _BLOCK), width // 2))  # a column alone would be added up in another order
            ends = [i * width // parts for i in range(parts + 1)]
            self._parts = [(slice(a, b), StandardScaler().fit(features[:, a:b])) for a, b in zip(ends, ends[1:], strict=False) if a < b]

    def scaled(self, features: Features, in_place: bool) -> Features:
        """``in_place`` says that ``features`` may be overwritten."""
        if not self._parts:
            return features
        if len(self._parts) == 1:
            return self._parts[0][1].transform(features)
        assert isinstance(features, numpy.ndarray)
        found = features if in_place else numpy.empty_like(features)
        for part, scaler in self._parts:
            found[:, part] = scaler.transform(features[:, part])
        return found

    def unscaled(self, weights: numpy.ndarray, bias: numpy.ndarray, classes: int) -> Linear:
        if self._parts:
            scale, mean = (numpy.concatenate([getattr(scaler, name) for _, scaler in self._parts]) for name in ("scale_", "mean_"))
            weights = weights / scale[:, None]
            bias = bias - mean @ weights
        return Linear(weights.astype(numpy.float32), bias.astype(numpy.float32), classes)


def _sample(features: Features, target: numpy.ndarray, entries: int, seed: int) -> tuple[Features, numpy.ndarray]:
    """A sample of the rows with at most ``entries`` numbers, drawn by ``seed``, in their order."""
    rows = min(MAX_ROWS, int(len(target) * min(entries, MAX_ENTRIES) / max(1, features.size)))
    if rows >= len(target):
        return features, target
    kept = drawn.rows(len(target), max(1, rows), seed)
    return _taken(features, kept), target[kept]


def _taken(features: Features, kept: numpy.ndarray) -> Features:
    """These rows. Pages of a mapped matrix are given back as they were read: they would all be in memory at the end."""
    if _is_sparse(features):
        return features[kept]
    found = numpy.empty((len(kept), features.shape[1]), features.dtype)
    step = max(1, _BLOCK // max(1, features.shape[1]))
    for start in range(0, len(kept), step):
        found[start : start + step] = features[kept[start : start + step]]
        mapped.rest()
    return found


def _is_sparse(features: Features) -> bool:
    return hasattr(features, "nnz")


def _loss(p: Predictions, class_weights: numpy.ndarray | None) -> float:
    if p.continuous:
        return float(((p.predicted - p.truth) ** 2).mean())
    weights = None if class_weights is None else class_weights[p.truth]
    return float(numpy.average(-numpy.log(numpy.clip(p.likelihood, 1e-12, 1.0)), weights=weights))
