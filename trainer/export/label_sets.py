"""The parts of the results that only models of several labels for each row have."""

from collections.abc import Sequence
from typing import Any

import numpy

from trainer.core import blocks
from trainer.core.blocks import RESULT, Cell, Column, Section
from trainer.core.example import Example
from trainer.core.kind import Kind
from trainer.data.origins import ONE, Origins
from trainer.export import display, score_cells
from trainer.export.finished import Answered, Finished
from trainer.measure import label_sets as measure
from trainer.run_folder import files
from trainer.targets import promise

_MEANING = (
    "Precision: the share of the predicted labels that are right. Recall: the share of the true labels that the model finds. "
    "Predicted from: the probability from which the model predicts the label, chosen on rows other than the test rows."
)
SHOWN = 50  # labels whose probabilities are columns of predictions.csv


def sections(finished: Finished) -> list[Section]:
    """Precision, recall and F1 of each label in the report."""
    target: Any = finished.prepared.plan.target
    test = finished.outcome.answers["test"]
    held = target.thresholds or files.read_json(finished.folder / "config.json").get("thresholds", [])
    thresholds = dict(zip(target.labels, held, strict=False))
    found = measure.table(test, finished.simple.predictions, target.labels, thresholds, finished.settings.seed)
    if found is None:
        return []
    every = found["overall"]
    said = (
        f"The model finds {every['right']:,} of the {every['true']:,} labels of the test rows; "
        f"{every['right']:,} of its {every['predicted']:,} predictions are right."
    )
    if "baseline" in found:
        said += f" With a {finished.simple.title}, F1 is {found['baseline']['f1']['value']:.3f}."
    rows = [[*score_cells.row("all", every), Cell()], *([*score_cells.row(f["label"], f), Cell(value=f["threshold"])] for f in found["labels"])]
    columns = [*score_cells.columns("Label", "Rows"), Column("Predicted from")]
    return [Section(RESULT, "Labels", [blocks.table("", columns, rows, text=[said], note=_MEANING)])]


def predictions(finished: Finished) -> str:
    """predictions.csv of a training."""
    data, test = finished.data, finished.outcome.answers["test"]
    outputs = numpy.concatenate([test.probabilities, test.predicted], axis=1)
    return _table(data.kind, data.splits["test"], finished.prepared.plan.target, outputs, list(data.columns), True, finished.origins)


def answers_table(answered: Answered, columns: Sequence[str]) -> str:
    """predictions.csv of a prediction."""
    return _table(answered.kind, answered.examples, answered.target, answered.outputs, columns, bool(answered.known.any()))


def _table(
    kind: Kind, examples: Sequence[Example], target: Any, outputs: numpy.ndarray, columns: Sequence[str], knows: bool, origins: Origins = ONE
) -> str:
    """One line for each example: its labels where ``knows``, the predicted ones, the possible ones, and the probability of each."""
    has_id, count, beside = any(e.id for e in examples), len(target.labels), promise.columns(target, outputs)
    probabilities = [f"probability of {n}" for n in target.labels[:SHOWN]]
    head = ["file", "row", *["id"] * has_id, "content", *["label"] * knows, "predicted", *beside, *probabilities]

    def line(i: int, e: Example) -> list:
        shown = [f"{p:.4f}" for p in outputs[i, : min(count, SHOWN)]]
        found = [e.file, e.row, *[e.id] * has_id, kind.content(e, columns), *[e.target] * knows]
        return [*found, target.text(outputs[i, count:] > 0.5), *(cells[i] for cells in beside.values()), *shown]

    return display.table(head, (line(i, e) for i, e in enumerate(examples)), origins)
