"""The curves of the report: ROC, precision against recall, thresholds; for regression, predicted against true."""

import numpy

from trainer.measure.histogram import histogram
from trainer.measure.predictions import Predictions

_THRESHOLDS = tuple(k / 10 for k in range(1, 10))


def binary(a: Predictions, positive_name: str, points: int = 100) -> dict | None:
    """The binary part of result.json, for the second of two classes.

    None where there are not two classes or the rows are all of one of them. Each curve has at most ``points`` points.
    """
    if a.probabilities is None or a.probabilities.shape[1] != 2 or len(numpy.unique(a.truth)) < 2:
        return None
    scores, positive = a.probabilities[:, 1], a.truth == 1
    order = numpy.argsort(-scores, kind="stable")
    # Equal scores cannot be told apart: a point stands behind the last of them.
    last = numpy.append(numpy.flatnonzero(numpy.diff(scores[order])), len(scores) - 1)
    hits, said = numpy.cumsum(positive[order])[last], last + 1
    recall = hits / positive.sum()
    fallout = (said - hits) / (~positive).sum()
    roc = numpy.stack([numpy.append(0, fallout), numpy.append(0, recall)], axis=1)
    return {
        "positive": positive_name,
        "roc": _thinned(roc, points),
        "pr": _thinned(numpy.stack([recall, hits / said], axis=1), points),
        "thresholds": [_at(threshold, scores, positive) for threshold in _THRESHOLDS],
    }


def regression(a: Predictions, points: int = 500, bins: int = 20) -> dict:
    """The regression part of result.json: pairs of true and predicted from the smallest target to the largest, and the residuals.

    A residual is true minus predicted, in the unit of the target.
    """
    pairs = numpy.stack([a.truth, a.predicted], axis=1)[numpy.argsort(a.truth, kind="stable")]
    return {"points": _thinned(pairs, points), "residuals": histogram(a.truth - a.predicted, bins)}


def _at(threshold: float, scores: numpy.ndarray, positive: numpy.ndarray) -> dict[str, float]:
    """Precision, recall and F1 where scores from ``threshold`` on count as positive; 0 where nothing does."""
    said = scores >= threshold
    hits = int((said & positive).sum())
    precision, recall = hits / max(1, int(said.sum())), hits / int(positive.sum())
    f1 = 2 * hits / (int(said.sum()) + int(positive.sum()))
    return {"threshold": threshold, "precision": round(precision, 6), "recall": round(recall, 6), "f1": round(f1, 6)}


def _thinned(curve: numpy.ndarray, points: int) -> list[list[float]]:
    """At most ``points`` rows of ``curve`` at equal steps, the first and the last among them."""
    kept = numpy.unique(numpy.linspace(0, len(curve) - 1, points).round().astype(int)) if len(curve) else []
    return [[float(f"{value:.6g}") for value in row] for row in curve[kept]]
