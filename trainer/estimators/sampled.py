"""Models that were fitted on a part of the training rows, and what more rows would bring: their losses with still fewer rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy

from trainer.core.example import Dataset
from trainer.core.example_targets import known_places
from trainer.estimators import folds

if TYPE_CHECKING:
    from trainer.targets.target import Target

ENOUGH = 100_000  # held-out rows that are enough for these losses
_PARTS = (16, 4)  # of the rows, the smallest first
_NORMAL = 1.96  # deviations of a 95 % interval


@dataclass(frozen=True)
class Losses:
    """The rows that a model was fitted on and its loss on held-out rows, the fewest rows first; and the 95 % interval of the last fall of the loss,
    over held-out rows."""

    points: Sequence[tuple[int, float]]
    low: float
    high: float

    @staticmethod
    def of(answers: Sequence[tuple[int, numpy.ndarray]], truth: numpy.ndarray, weights: numpy.ndarray | None) -> "Losses":
        """The losses of ``answers`` to the same rows, probabilities (rows x classes) or numbers, each with the rows that the model was fitted on."""
        of_rows = [folds.losses(outputs, truth) for _, outputs in answers]
        shares = numpy.ones(len(truth)) if weights is None else weights
        shares = shares / shares.sum()
        falls = of_rows[-2] - of_rows[-1]
        fall = float(shares @ falls)
        half = _NORMAL * float(numpy.sqrt((shares**2) @ (falls - fall) ** 2))
        return Losses([(rows, float(shares @ each)) for (rows, _), each in zip(answers, of_rows, strict=True)], fall - half, fall + half)


@dataclass(frozen=True)
class Sampled:
    """The model ``name`` was fitted on ``rows`` of the ``of`` training rows. ``losses`` is None where it was not fitted on fewer, too."""

    name: str
    rows: int
    of: int
    losses: Losses | None = None


def of(name: str, rows: int, data: Dataset, target: "Target") -> tuple[Sampled, ...]:
    """That the model ``name`` was fitted on so many ``rows``; nothing where these are all training rows of ``data`` whose label is known."""
    every = len(known_places(data.splits["train"], target))
    return (Sampled(name, rows, every),) if rows < every else ()


def fewer(rows: int) -> list[int]:
    """Parts of so many rows that a model is fitted on, too."""
    return [max(1, rows // part) for part in _PARTS]


def said(found: Sequence[Sampled]) -> str:
    """The sentence about the models of one candidate; empty where all were fitted on all rows."""
    if not found:
        return ""
    if len(found) == 1:
        return f"It was fitted on {found[0].rows:,} of {found[0].of:,} training rows."
    return f"Of {found[0].of:,} training rows, {', '.join(f'{s.name} was fitted on {s.rows:,}' for s in found)}."
