"""Numbers that span orders of magnitude, by their logarithms: models of tables are fitted on these, too, and answer in the unit of the data."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy

from trainer import estimators
from trainer.config.settings import Settings
from trainer.core.example import Dataset, Example
from trainer.core.example_targets import encoded_targets
from trainer.kinds.table import held_out as held_rows, shares
from trainer.kinds.table.exchanged import Exchanging
from trainer.kinds.table.held_out import Held, HeldOut
from trainer.targets import magnitudes
from trainer.targets.number import Number

OF_LOGARITHMS = " of logarithms"  # behind the name of a model
_WORTH = 0.95  # of the loss, which models of logarithms must reach: the shares of both sorts are chosen on the same rows


@dataclass(frozen=True)
class Scale:
    """How an answered logarithm becomes a number: the power of e, times ``factor``, less ``shift``. Logarithms are kept between ``low`` and ``high``,
    those of the known numbers: a small error of a larger one would be a huge number."""

    shift: float
    factor: float
    low: float
    high: float

    def numbers(self, logarithms: numpy.ndarray) -> numpy.ndarray:
        return numpy.exp(numpy.clip(logarithms, self.low, self.high)) * self.factor - self.shift

    def described(self) -> dict:
        return {"shift": self.shift, "factor": self.factor, "low": self.low, "high": self.high}


@dataclass(frozen=True)
class Logarithms(Number):
    """A number plus ``shift``, by its logarithm."""

    shift: float = 0.0

    def encode(self, targets: list[str]) -> numpy.ndarray:
        return numpy.log(super().encode(targets) + self.shift)


@dataclass(frozen=True)
class Exchanged:
    """The answers of a model of logarithms, as numbers."""

    model: Exchanging
    scale: Scale

    def outputs(self, part: int, rows: numpy.ndarray, others: numpy.ndarray) -> numpy.ndarray:
        return self.scale.numbers(self.model.outputs(part, rows, others))


@dataclass(frozen=True)
class Way:
    """A way to fit a model that answers numbers. ``outputs`` are its answers to the rows that were held out."""

    kind: str  # of the estimator
    name: str
    outputs: numpy.ndarray
    model: Callable[[], Any]
    scale: Scale | None = None


def suits(examples: Sequence[Example], target: Number) -> bool:
    """Whether models are fitted on the logarithms of the targets, too."""
    return magnitudes.shift(encoded_targets(examples, target.encode)) is not None


def ways(names: Sequence[str], data: Dataset, target, settings: Settings, held: Held) -> list[Way]:
    """The estimators ``names``, fitted on logarithms; none where these do not suit the targets.

    The power of e of a mean of logarithms is too small as the mean of numbers. ``factor`` makes up for it: with it, the answers to the rows that
    were held out have the sum of their numbers. The mean of the single ratios would depend on the smallest answer.
    """
    if target.labels:
        return []
    known = numpy.concatenate([encoded_targets(data.splits["train"], target.encode), held.targets])
    added = magnitudes.shift(known)
    if added is None:
        return []
    logs = numpy.log(known + added)
    of_logs = Logarithms(float(logs.mean()), float(logs.std()) or 1.0, shift=added)
    bounds = (float(logs.min()), float(logs.max()))
    judged, found = held_rows.rows(data, of_logs, settings), []
    for name in names:
        model = estimators.of(name)
        by_folds = judged.turns is not None
        answered = model.in_folds(data, of_logs, settings, judged) if by_folds else getattr(model.fit(data, of_logs, settings), "held_out", ())
        found += [_way(name, a, held.targets, added, bounds) for a in answered if len(a.outputs) == len(held.targets)]
    return found


def chosen(plain: list[Way], of_logs: list[Way], plain_shares: list[float], loss: float, held: Held) -> tuple[list[Way], list[float], float, float]:
    """All ways with their shares, the loss of their mean, and the loss without the others: models of logarithms are used where the loss is smaller.

    They are used alone where the mean of both sorts is not better by more than chance: squared errors see the largest numbers only, and models
    of logarithms are right about the small ones, too.
    """
    every = [*plain, *of_logs]
    both, of_both = shares.greedy([w.outputs for w in every], held.loss)
    alone, of_alone = shares.greedy([w.outputs for w in of_logs], held.loss)
    if of_alone <= _WORTH * loss and not _clearly_better(every, both, [*(0.0 for _ in plain), *alone], held.targets):
        return every, [*(0.0 for _ in plain), *alone], of_alone, loss
    if of_both <= _WORTH * loss:
        return every, both, of_both, loss
    return every, [*plain_shares, *(0.0 for _ in of_logs)], loss, min(of_both, of_alone)


def _clearly_better(ways: list[Way], one: list[float], other: list[float], truth: numpy.ndarray) -> bool:
    """Whether the squared errors with the shares ``one`` are smaller than with ``other`` by more than one standard error."""
    errors = [(shares.mean([w.outputs for w in ways], found) - truth) ** 2 for found in (one, other)]
    gain = errors[1] - errors[0]
    return bool(gain.mean() > gain.std() / math.sqrt(len(gain)))


def _way(name: str, held_out: HeldOut, truth: numpy.ndarray, added: float, bounds: tuple[float, float]) -> Way:
    plain = Scale(added, 1.0, *bounds)
    factor = float((truth + added).sum() / (plain.numbers(held_out.outputs) + added).sum())
    scale = Scale(added, factor, *bounds)
    return Way(name, held_out.name + OF_LOGARITHMS, scale.numbers(held_out.outputs), held_out.model, scale)


def usual_error(answers: numpy.ndarray, truth: numpy.ndarray) -> float:
    """The share of the number by which half of ``answers`` are off at most. Numbers of 0 do not count."""
    there = truth > 0
    return float(numpy.median(numpy.abs(answers - truth)[there] / truth[there]))


def restored(described: dict) -> Scale:
    """The scale of a saved model. Raises KeyError, TypeError or ValueError for another description."""
    shift, factor, low, high = (float(described[name]) for name in ("shift", "factor", "low", "high"))
    if not all(map(math.isfinite, (shift, factor, low, high))) or shift < 0 or factor <= 0 or not low <= high <= math.log(1e300):
        raise ValueError("the scale of a member is not one")
    return Scale(shift, factor, low, high)
