"""Successive halving: how long each trial is trained before it is compared with the others.

The trials of a rung are compared when all of them have been measured. So who goes on is a function of the measured losses and not of
the order or the speed in which they arrive.
"""

import math
from dataclasses import dataclass

SHARE = 3  # one of so many trials goes on, to so many times the length
RUNGS = 2  # comparisons before the last trials are trained to their end
MOST_EVALUATIONS = 50  # per epoch, the limit of evals_per_epoch


@dataclass(frozen=True)
class Rung:
    """The trials that are trained up to the same length and then compared. ``share`` is of the length of the default's training."""

    number: int
    share: float
    trials: tuple[int, ...]


def first(trials: list[int]) -> Rung:
    """The rung in which every trial begins, after the default settings were trained to their end."""
    return Rung(1, 1 / SHARE**RUNGS, tuple(trials))


def following(rung: Rung, losses: dict[int, float]) -> Rung | None:
    """The rung after ``rung``, with the better third of its trials; None after the last, or if no trial has a finite loss.

    Of two equal losses the trial with the lower number goes on.
    """
    measured = sorted((losses[t], t) for t in rung.trials if math.isfinite(losses.get(t, math.inf)))
    if rung.number > RUNGS or not measured:
        return None
    keep = max(1, len(rung.trials) // SHARE)
    return Rung(rung.number + 1, min(1.0, rung.share * SHARE), tuple(sorted(t for _, t in measured[:keep])))


def evaluations_per_epoch(own: int, epochs: float) -> int:
    """How often a trial is evaluated in an epoch, so that a default training of ``epochs`` epochs has a place for every rung."""
    return max(own, min(MOST_EVALUATIONS, math.ceil(SHARE**RUNGS / max(epochs, 1e-9))))


def until(share: float, epochs: float, per_epoch: int) -> int:
    """The number of evaluations after which a trial has the length ``share`` of a default training of ``epochs`` epochs."""
    return max(1, round(share * epochs * per_epoch))


def work(others: int) -> float:
    """The length of a whole search with ``others`` trials beside the default one, in default trainings."""
    total, trained, left, share = 1.0, 0.0, others, 1 / SHARE**RUNGS
    for _ in range(RUNGS + 1):
        total += left * (share - trained)
        trained, share, left = share, min(1.0, share * SHARE), max(1, left // SHARE) if left else 0
    return total


def affordable(others: int, budget: float) -> int:
    """How many of ``others`` trials fit into ``budget`` default trainings."""
    return next((n for n in range(others, 0, -1) if work(n) <= budget), 0)
