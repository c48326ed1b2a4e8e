"""NB-SVM: logistic regression on words that are scaled by how much more often they are in one class than in the others.

The scale is the log-count ratio of naive Bayes (Wang and Manning, 2012). One model for each class tells it from all others.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

STRENGTHS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0)  # of the fit to the training rows: scikit-learn's C
_MOST_ENTRIES = 60_000_000  # entries times classes, so that the slowest training stays below half a minute
_ITERATIONS = 100


def fit(
    train: "csr_matrix", target: numpy.ndarray, validation: "csr_matrix", validation_target: numpy.ndarray, classes: int, class_weights, loss
) -> tuple[float, numpy.ndarray, numpy.ndarray] | None:
    """The strength with the smallest loss on the validation rows, its weights (terms x columns) and its bias. Two classes share one column.

    ``loss`` is the loss of log-probabilities (rows x classes). None if there are too many rows and classes for the method, or if the
    training rows are of one class only.
    """
    best, least = None, numpy.inf
    tried = STRENGTHS if len(validation_target) else (1.0,)
    for strength, fitted in zip(tried, path(train, target, classes, class_weights, tried), strict=False):
        found = loss(log_probabilities(validation, *fitted), validation_target) if len(validation_target) else 0.0
        if found >= least:
            break
        best, least = (strength, *fitted), found
    return best


def path(train: "csr_matrix", target: numpy.ndarray, classes: int, class_weights, strengths) -> Iterator[tuple[numpy.ndarray, numpy.ndarray]]:
    """Weights and bias of each of ``strengths``; none where ``fit`` finds none."""
    if train.nnz * classes > _MOST_ENTRIES or len(numpy.unique(target)) < 2 or not train.shape[1]:
        return
    columns = [1] if classes == 2 else list(range(classes))
    scaled = [_Scaled(train, target == c, None if class_weights is None else class_weights[target]) for c in columns]
    for strength in strengths:
        fitted = [s.fit(strength) for s in scaled]
        weights = numpy.stack([w for w, _ in fitted], axis=1).astype(numpy.float32)
        yield weights, numpy.asarray([b for _, b in fitted], numpy.float32)


def log_probabilities(binary: "csr_matrix", weights: numpy.ndarray, bias: numpy.ndarray) -> numpy.ndarray:
    """Log-probabilities of all classes: those of the models for each class, scaled to a sum of 1."""
    scores = (binary @ weights + bias).astype(numpy.float64)
    if scores.shape[1] == 1:
        return -numpy.logaddexp(0, numpy.concatenate([scores, -scores], axis=1))
    each = -numpy.logaddexp(0, -scores)
    return each - numpy.logaddexp.reduce(each, axis=1, keepdims=True)


def one_against_rest(features: "csr_matrix", positive: numpy.ndarray, strength: float, scaled: bool) -> tuple[numpy.ndarray, float]:
    """Weights and bias that tell the rows that are ``positive`` from all others; with ``scaled``, by NB-SVM on binary features."""
    if positive.all() or not positive.any():
        return numpy.zeros(features.shape[1]), float(numpy.log(len(positive) + 1)) * (1 if positive.any() else -1)
    if scaled:
        return _Scaled(features, positive, None).fit(strength)
    return _fitted(features, positive, None, strength)


def _fitted(features: "csr_matrix", positive: numpy.ndarray, row_weights, strength: float) -> tuple[numpy.ndarray, float]:
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=strength, solver="liblinear", max_iter=_ITERATIONS, random_state=0)
    model.fit(features, positive, row_weights)
    return model.coef_[0], float(model.intercept_[0])


class _Scaled:
    """The training rows for one class against the rest, scaled by its log-count ratio."""

    def __init__(self, binary: "csr_matrix", positive: numpy.ndarray, row_weights: numpy.ndarray | None):
        self.positive, self.row_weights = positive, row_weights
        inside, outside = (numpy.asarray(binary[rows].sum(axis=0)).ravel() + 1.0 for rows in (positive, ~positive))
        self.ratio = numpy.log(inside / inside.sum()) - numpy.log(outside / outside.sum())
        self.features = binary.copy().astype(numpy.float64)
        self.features.data *= self.ratio[self.features.indices]

    def fit(self, strength: float) -> tuple[numpy.ndarray, float]:
        if not self.positive.any():
            return numpy.zeros(len(self.ratio)), -float(numpy.log(len(self.positive) + 1))
        weights, bias = _fitted(self.features, self.positive, self.row_weights, strength)
        return weights * self.ratio, bias
