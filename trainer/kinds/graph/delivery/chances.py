"""From the score of a pair to a probability."""

from dataclasses import dataclass

import numpy

from trainer.kinds.graph.links import LinkAnswers

_STEPS, _RIDGE = 50, 1e-3
_LEAST = 1e-6  # a probability rises with the score


@dataclass(frozen=True)
class Chance:
    """The probability that a pair with a score is an edge, among as many edges as random pairs: a logistic curve over the score."""

    slope: float
    shift: float

    def of(self, scores: numpy.ndarray) -> numpy.ndarray:
        return 1 / (1 + numpy.exp(-numpy.clip(self.slope * numpy.asarray(scores, numpy.float64) + self.shift, -50, 50)))

    def described(self) -> dict:
        return {"slope": self.slope, "shift": self.shift}


def fitted(validation: LinkAnswers) -> Chance:
    """The curve that fits the validation edges and their random pairs best (Platt scaling)."""
    if not len(validation):
        return Chance(1.0, 0.0)
    scores, n = validation.scores, len(validation)
    middle, width = float(scores.mean()), float(scores.std()) or 1.0
    x = numpy.column_stack([(scores - middle) / width, numpy.ones(2 * n)])
    y = numpy.where(validation.truth == 1, (n + 1) / (n + 2), 1 / (n + 2))  # Platt's targets: no score is certain
    w = numpy.zeros(2)
    for _ in range(_STEPS):
        p = 1 / (1 + numpy.exp(-x @ w))
        step = numpy.linalg.solve((x * (p * (1 - p))[:, None]).T @ x + _RIDGE * numpy.eye(2), x.T @ (p - y) + _RIDGE * w)
        w = w - step
        if numpy.abs(step).max() < 1e-9:
            break
    slope = max(_LEAST, float(w[0])) / width
    return Chance(slope, float(w[1]) - slope * middle)


def restored(described: dict) -> Chance:
    """The curve that ``described`` gave. Raises KeyError, TypeError or ValueError for something else."""
    slope, shift = float(described["slope"]), float(described["shift"])
    if not (numpy.isfinite(slope) and numpy.isfinite(shift)):
        raise ValueError("the curve of its probabilities is not finite")
    return Chance(slope, shift)
