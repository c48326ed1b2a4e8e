"""The parts of result.json about the predictions on the test rows, where each is one class or one number."""

from typing import TYPE_CHECKING

from trainer.core.example import Dataset
from trainer.export import display, examples
from trainer.measure import calibration, curves, metrics, mistakes
from trainer.measure.predictions import Predictions
from trainer.targets.target import Answers, Target

if TYPE_CHECKING:
    from trainer.training.baseline import Baselines


def details(data: Dataset, target: Target, test: Answers, simple: "Baselines") -> dict:
    """The parts by their names in result.json; none where an example has another sort of answer."""
    if not len(test) or not isinstance(test, Predictions):
        return {}
    classes = len(target.labels)
    wrong_labels = mistakes.wrong_labels(test, simple.predictions)
    found = {
        "mistakes": _entries(data, target, test, mistakes.mistakes(test), wrong_labels),
        "unsure": _entries(data, target, test, mistakes.unsure(test)) if classes else None,
        "examples": examples.examples(data.splits["test"], data.kind, data.columns, target, test),
    }
    if not classes:
        return {**found, "regression": curves.regression(test)}
    binary = curves.binary(test, target.labels[1]) if classes == 2 else None
    return {**found, "confusion": metrics.confusion(test, classes) or None, "calibration": calibration.calibration(test), "binary": binary}


def _entries(data: Dataset, target, test, rows, wrong_labels=None) -> list[dict]:
    found = []
    for row in rows:
        more = {"label": data.splits["test"][row].target, "predicted": target.text(test.predicted[row])}
        if test.confidence is not None:
            more["confidence"] = round(float(test.confidence[row]), 4)
        if wrong_labels is not None and wrong_labels[row]:
            more["label_doubted"] = True
        found.append(display.entry(data.splits["test"][row], data.kind, data.columns, **more))
    return found
