"""The parts of the results that only models of several labels for each row have."""

from pathlib import Path
from typing import cast

import numpy

from trainer.baseline import Baselines
from trainer.data import Dataset, Example
from trainer.export import display
from trainer.kinds.text.label_sets import measure
from trainer.kinds.text.label_sets.measure import LabelSets
from trainer.run_folder import files
from trainer.targets.target import Labels

SHOWN = 50  # labels whose probabilities are columns of predictions.csv


def described(target: Labels, test: LabelSets, simple: Baselines, model: Path, seed: int) -> dict | None:
    """``label_sets`` of result.json; None without test rows. ``model`` is the folder of the delivered model."""
    thresholds = dict(zip(target.labels, files.read_json(model / "config.json").get("thresholds", []), strict=False))
    return measure.table(test, cast(LabelSets, simple.predictions), target.labels, thresholds, seed)


def predictions(data: Dataset, target: Labels, test: LabelSets) -> str:
    """predictions.csv of a training."""
    outputs = numpy.concatenate([test.probabilities, test.predicted], axis=1)
    return table(data.splits["test"], target, outputs, data.kind, list(data.columns), knows=True)


def table(examples: list[Example], target: Labels, outputs: numpy.ndarray, kind: str, columns: list[str], knows: bool) -> str:
    """One line for each example: its labels where ``knows``, the predicted ones, and the probability of each."""
    has_id, count = any(e.id for e in examples), len(target.labels)
    head = ["file", "row", *["id"] * has_id, "content", *["label"] * knows, "predicted", *(f"probability of {n}" for n in target.labels[:SHOWN])]

    def line(i: int, e: Example) -> list:
        shown = [f"{p:.4f}" for p in outputs[i, : min(count, SHOWN)]]
        found = [e.file, e.row, *[e.id] * has_id, display.content(e, kind, columns), *[e.target] * knows]
        return [*found, target.text(outputs[i, count:] > 0.5), *shown]

    return display.table(head, (line(i, e) for i, e in enumerate(examples)))
