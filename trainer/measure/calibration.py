"""Whether a model with a confidence of 80 % is correct in 80 of 100 cases."""

from typing import Any

import numpy

from trainer.measure.metric import LOSS
from trainer.measure.predictions import Predictions


def figures(target: Any, answers: Any) -> dict[str, float]:
    """How well the probabilities of ``answers`` fit, by the name of the figure: the loss, and the error of ``calibration`` where it has one."""
    found = {name: value for name, value in target.summary(answers).items() if name == LOSS.name}
    if isinstance(answers, Predictions) and (of_bins := calibration(answers)):
        found["ece"] = of_bins["ece"]
    return found


def calibration(a: Predictions, bins: int = 10) -> dict:
    """The calibration part of result.json: bins of equal width over the confidence, and the expected calibration error.

    The error (``ece``) is the mean distance between confidence and accuracy over the bins, weighted by their rows. Bins
    without rows are left out. The result is empty without rows or without confidences.
    """
    if not len(a) or a.confidence is None:
        return {}
    # scikit-learn's calibration_curve returns no counts, and its bins include their upper end: 0.5 would be in the bin below.
    index = numpy.clip((a.confidence * bins).astype(numpy.int64), 0, bins - 1)
    counts = numpy.bincount(index, minlength=bins)
    filled = numpy.flatnonzero(counts)
    confidence = numpy.bincount(index, a.confidence, bins)[filled] / counts[filled]
    accuracy = numpy.bincount(index, a.truth == a.predicted, bins)[filled] / counts[filled]
    return {
        "ece": float((numpy.abs(confidence - accuracy) * counts[filled]).sum() / len(a)),
        "bins": [
            {"low": k / bins, "high": (k + 1) / bins, "n": int(counts[k]), "confidence": float(c), "accuracy": float(r)}
            for k, c, r in zip(filled.tolist(), confidence, accuracy, strict=True)
        ],
    }
