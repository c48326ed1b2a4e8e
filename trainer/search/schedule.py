"""Successive halving: how long each trial is trained before it is compared with the others.

The trials of a rung are compared when all of them have been measured. So who goes on is a function of the measured losses and not of
the order or the speed in which they arrive.
"""

import math
from dataclasses import dataclass

SHARE = 3  # one of so many trials goes on, to so many times the length
RUNGS = 2  # comparisons before the last trials are trained to their end
MOST_EVALUATIONS = 50  # per epoch, the limit of evals_per_epoch
SLACK = 1.05  # a rung ends at an evaluation, so it may be so much longer than its share


@dataclass(frozen=True)
class Rung:
    """The trials that are trained up to the same length and then compared. ``share`` is of the length of the default's training."""

    number: int
    share: float
    trials: tuple[int, ...]


def first(trials: list[int]) -> Rung:
    """The rung in which every trial begins, after the default settings were trained to their end."""
    return Rung(1, share(1), tuple(trials))


def following(rung: Rung, losses: dict[int, float]) -> Rung | None:
    """The rung after ``rung``, with the better third of its trials; None after the last, or if no trial has a finite loss.

    Of two equal losses the trial with the lower number goes on.
    """
    measured = sorted((losses[t], t) for t in rung.trials if math.isfinite(losses.get(t, math.inf)))
    if rung.number > RUNGS or not measured:
        return None
    keep = max(1, len(rung.trials) // SHARE)
    return Rung(rung.number + 1, min(1.0, rung.share * SHARE), tuple(sorted(t for _, t in measured[:keep])))


def share(rung: int) -> float:
    """The share of the default's training at whose end the trials of a rung are compared."""
    return float(SHARE) ** (rung - 1 - RUNGS)


def evaluations_per_epoch(own: int, epochs: float) -> int:
    """How often a trial of ``epochs`` epochs is evaluated in an epoch, so that every rung has a place."""
    return max(own, min(MOST_EVALUATIONS, math.ceil(SHARE**RUNGS / max(epochs, 1e-9))))


def until(share: float, evaluations: float) -> int:
    """The number of evaluations after which a trial has the length ``share`` of a training of so many evaluations.

    It is at most SLACK times that long, unless that is less than one evaluation.
    """
    return max(1, min(round(share * evaluations), math.floor(SLACK * share * evaluations)))


def work(others: int) -> float:
    """The length of a whole search with ``others`` trials beside the default one, in default trainings."""
    total, trained, left, share = 1.0, 0.0, others, 1 / SHARE**RUNGS
    for _ in range(RUNGS + 1):
        total += left * (share - trained)
        trained, share, left = share, min(1.0, share * SHARE), max(1, left // SHARE) if left else 0
    return total


def budget(others: int) -> float:
    """The most work of a search with ``others`` trials beside the default one, in default trainings: 3.45 for nine."""
    return 1.0 + SLACK * (work(others) - 1.0)


def most(rungs: list[list[float]]) -> float:
    """The most work of a search, in default trainings. ``rungs`` has the work of each trial up to the end of each rung."""
    total, left = 1.0 + sum(r[0] for r in rungs), len(rungs)
    for number in range(1, RUNGS + 1):
        left = max(1, left // SHARE)
        total += sum(sorted((max(0.0, r[number] - r[number - 1]) for r in rungs), reverse=True)[:left])
    return total


def affordable(others: int, budget: float) -> int:
    """How many of ``others`` trials fit into ``budget`` default trainings."""
    return next((n for n in range(others, 0, -1) if work(n) <= budget), 0)
