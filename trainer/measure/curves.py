"""The curves of the report: ROC, precision and recall, thresholds; for regression, predicted and true values."""

import numpy

from trainer.measure.histogram import histogram
from trainer.measure.predictions import Predictions

_THRESHOLDS = tuple(k / 10 for k in range(1, 10))
_BINS = 20  # of the residuals


def binary(a: Predictions, positive_name: str, points: int = 100) -> dict | None:
    """The binary part of result.json, for the second of two classes.

    None if there are not two classes, or if all rows are of one class. Each curve has at most ``points`` points.
    """
    from sklearn import metrics

    if a.probabilities is None or a.probabilities.shape[1] != 2 or len(numpy.unique(a.truth)) < 2:
        return None
    scores, positive = a.probabilities[:, 1], a.truth == 1
    # Every threshold is kept, so that equal steps along the curve are equal steps in rows.
    fallout, recall, _ = metrics.roc_curve(positive, scores, drop_intermediate=False)
    precision, hit_rate, _ = metrics.precision_recall_curve(positive, scores)
    return {
        "positive": positive_name,
        "roc": _thinned(numpy.stack([fallout, recall], axis=1), points),
        "pr": _thinned(numpy.stack([hit_rate, precision], axis=1)[-2::-1], points),  # without the point for no rows at all
        "thresholds": [_at(threshold, scores, positive) for threshold in _THRESHOLDS],
    }


def regression(a: Predictions, points: int = 500) -> dict:
    """The regression part of result.json: pairs of true and predicted in ascending order of the target, and the residuals.

    A residual is true minus predicted, in the unit of the target.
    """
    pairs = numpy.stack([a.truth, a.predicted], axis=1)[numpy.argsort(a.truth, kind="stable")]
    return {"points": _thinned(pairs, points), "residuals": histogram(a.truth - a.predicted, _BINS)}


def _at(threshold: float, scores: numpy.ndarray, positive: numpy.ndarray) -> dict[str, float]:
    """Precision, recall and F1 if scores of at least ``threshold`` count as positive; 0 if there are none."""
    from sklearn.metrics import precision_recall_fscore_support

    precision, recall, f1, _ = precision_recall_fscore_support(positive, scores >= threshold, average="binary", zero_division=0)
    return {"threshold": threshold, "precision": round(float(precision), 6), "recall": round(float(recall), 6), "f1": round(float(f1), 6)}


def _thinned(curve: numpy.ndarray, points: int) -> list[list[float]]:
    """At most ``points`` rows of ``curve`` at equal steps, including the first and the last."""
    kept: numpy.ndarray | list[int] = numpy.unique(numpy.linspace(0, len(curve) - 1, points).round().astype(int)) if len(curve) else []
    return [[float(f"{value:.6g}") for value in row] for row in curve[kept]]
