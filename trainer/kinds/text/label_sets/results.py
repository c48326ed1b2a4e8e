"""The parts of the results that only models of several labels for each row have."""

from collections.abc import Sequence
from typing import Any

import numpy

from trainer.core.example import Example
from trainer.core.kind import Kind
from trainer.export import display
from trainer.export.finished import Answered, Finished
from trainer.kinds.text.label_sets import measure
from trainer.run_folder import files

SHOWN = 50  # labels whose probabilities are columns of predictions.csv


def parts(finished: Finished) -> dict:
    """``label_sets`` of result.json: precision, recall and F1 of each label."""
    target, test = finished.prepared.plan.target, finished.outcome.answers["test"]
    thresholds = dict(zip(target.labels, files.read_json(finished.folder / "config.json").get("thresholds", []), strict=False))
    return {"label_sets": measure.table(test, finished.simple.predictions, target.labels, thresholds, finished.settings.seed)}


def predictions(finished: Finished) -> str:
    """predictions.csv of a training."""
    data, test = finished.data, finished.outcome.answers["test"]
    outputs = numpy.concatenate([test.probabilities, test.predicted], axis=1)
    return _table(data.kind, data.splits["test"], finished.prepared.plan.target, outputs, list(data.columns), knows=True)


def answers_table(answered: Answered, columns: Sequence[str]) -> str:
    """predictions.csv of a prediction."""
    return _table(answered.kind, answered.examples, answered.target, answered.outputs, columns, bool(answered.known.any()))


def _table(kind: Kind, examples: Sequence[Example], target: Any, outputs: numpy.ndarray, columns: Sequence[str], knows: bool) -> str:
    """One line for each example: its labels where ``knows``, the predicted ones, and the probability of each."""
    has_id, count = any(e.id for e in examples), len(target.labels)
    head = ["file", "row", *["id"] * has_id, "content", *["label"] * knows, "predicted", *(f"probability of {n}" for n in target.labels[:SHOWN])]

    def line(i: int, e: Example) -> list:
        shown = [f"{p:.4f}" for p in outputs[i, : min(count, SHOWN)]]
        found = [e.file, e.row, *[e.id] * has_id, kind.content(e, columns), *[e.target] * knows]
        return [*found, target.text(outputs[i, count:] > 0.5), *shown]

    return display.table(head, (line(i, e) for i, e in enumerate(examples)))
