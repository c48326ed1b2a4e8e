"""The predictions of a model beside the true values: the input of every metric."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy

from trainer.core import mapped
from trainer.errors import UserError

MAX_CLASSES = 50  # with more classes their probabilities are not kept: rows x classes would fill the memory
_HUGE = 1e150  # the square of anything smaller is still a number


def diverged() -> UserError:
    """The error about answers that are not numbers."""
    return UserError(
        "diverged",
        "The predictions of the model are not numbers.",
        "Set a smaller learning_rate, or mixed_precision to fp32.",
        "Its training diverged.",
    )


@dataclass(frozen=True)
class Predictions:
    """The predictions of a model for n rows. Numbers that are not finite raise a UserError, so no metric is computed from them."""

    truth: numpy.ndarray  # int64 classes, or float64 targets in their own unit
    predicted: numpy.ndarray  # the same kind
    confidence: numpy.ndarray | None = None  # probability of the predicted class
    likelihood: numpy.ndarray | None = None  # probability given to the true class
    probabilities: numpy.ndarray | None = None  # n x classes float32, only up to MAX_CLASSES classes

    def __post_init__(self):
        for name in ("predicted", "confidence", "likelihood", "probabilities"):
            values = getattr(self, name)
            if values is None:
                continue
            if len(values) != len(self.truth):
                raise ValueError(f"{len(values)} values of {name} for {len(self.truth)} rows")
            if values.dtype.kind == "f" and not _sound(values):
                raise diverged()

    def __len__(self) -> int:
        return len(self.truth)

    def chosen(self, rows: numpy.ndarray) -> "Predictions":
        """The predictions for ``rows``."""
        columns = (self.truth, self.predicted, self.confidence, self.likelihood, self.probabilities)
        return Predictions(*(None if column is None else column[rows] for column in columns))

    @property
    def continuous(self) -> bool:
        """True for regression."""
        return self.truth.dtype.kind == "f"


def _sound(values: numpy.ndarray) -> bool:
    """Whether all of ``values`` are finite and can be squared. A comparison with NaN is false, so this test is enough."""
    return bool((numpy.abs(values) < min(_HUGE, float(numpy.finfo(values.dtype).max))).all())


def softmax(scores: numpy.ndarray) -> numpy.ndarray:
    """The probabilities behind ``scores``, of which the last axis has those of all classes."""
    odds = numpy.exp(scores - scores.max(axis=-1, keepdims=True))
    return odds / odds.sum(axis=-1, keepdims=True)


def of_scores(truth: numpy.ndarray, scores: numpy.ndarray) -> Predictions:
    """The predictions of a classifier from its ``scores`` (rows x classes, before the softmax)."""
    probabilities = softmax(scores)
    predicted = probabilities.argmax(axis=1).astype(numpy.int64)
    rows = numpy.arange(len(truth))
    return Predictions(
        numpy.asarray(truth, numpy.int64),
        predicted,
        probabilities[rows, predicted].astype(numpy.float64),
        probabilities[rows, truth].astype(numpy.float64),
        probabilities.astype(numpy.float32) if scores.shape[1] <= MAX_CLASSES else None,
    )


def of_values(truth: numpy.ndarray, predicted: numpy.ndarray) -> Predictions:
    """The predictions of a regression."""
    return Predictions(numpy.asarray(truth, numpy.float64), numpy.asarray(predicted, numpy.float64))


def resting(found: Any, folder: Path) -> Any:
    """The same answers; those of very many rows in files without a name on the volume of ``folder``. Answers of other forms stay as they are."""
    if not isinstance(found, Predictions):
        return found
    columns = (found.truth, found.predicted, found.confidence, found.likelihood, found.probabilities)
    return Predictions(*(None if column is None else mapped.kept(column, folder) for column in columns))


def concatenated(parts: list[Predictions]) -> Predictions:
    """The predictions for all rows from the predictions for consecutive parts of them; at least one part."""
    names = ("truth", "predicted", "confidence", "likelihood", "probabilities")
    columns = ([getattr(part, name) for part in parts] for name in names)
    return Predictions(*(None if column[0] is None else numpy.concatenate(column) for column in columns))
