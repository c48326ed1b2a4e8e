"""How much a model relies on each part of what it reads: the rise of its loss when the part is exchanged between rows (permutation importance)."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy

FEWEST = 20  # rows
_FIRST, _TRIED, _AT_ONCE = 100, 4, 3  # rows and parts that are answered to see how long it takes, and so many exchanges of each at once
_FEWEST_PARTS = 10  # that are looked at however long it takes
_AT_LEAST = 0.3  # of the time, however long it took to find out how long it takes
_LADDER = ((1000, 5), (500, 5), (500, 3), (200, 5), (200, 3), (100, 3), (50, 3), (50, 1))  # rows, and how often each part is exchanged
_NORMAL = 1.96  # deviations of a 95 % interval


@dataclass(frozen=True)
class Weight:
    """The mean rise of the loss without one part, its 95 % interval over rows, and the score without it (NaN where there is none)."""

    name: str
    rise: float
    low: float
    high: float
    score: float


@dataclass(frozen=True)
class Weights:
    """The weights of the parts that there was time for, the heaviest first. ``parts`` is how many there are, ``score`` that of the whole rows."""

    weights: Sequence[Weight]
    parts: int
    rows: int
    times: int
    score: float


Losses = Callable[[int, numpy.ndarray, numpy.ndarray], tuple[numpy.ndarray, float]]


def measure(names: Sequence[str], rows: int, prepare: Callable[[numpy.ndarray], Losses], seed: int, seconds: float) -> Weights:
    """The weights of the parts ``names`` on at most ``rows`` rows, as many as about ``seconds`` allow; some parts are left out where there are many.

    ``prepare`` takes the numbers of rows. What it gives takes the number of a part (-1 for none), places among these rows, and the places of the rows
    that the part is from, one for each; it gives the loss of each row, and their score.
    """
    every = numpy.random.default_rng(seed).permutation(rows)
    most, times, looked = _affordable(len(names), min(rows, _FIRST), rows, lambda: prepare(numpy.sort(every[:_FIRST])), seconds)
    chosen = numpy.sort(every[:most])
    losses, places = prepare(chosen), numpy.arange(len(chosen))
    whole, score = losses(-1, places, places)
    found = []
    for part in range(looked):
        chance = numpy.random.default_rng((seed, part))
        others = numpy.concatenate([chance.permutation(places) for _ in range(times)])
        without, score_without = losses(part, numpy.tile(places, times), others)
        rises = (without.reshape(times, -1) - whole).mean(axis=0)
        rise, half = float(rises.mean()), _NORMAL * float(rises.std(ddof=1)) / len(rises) ** 0.5
        found.append(Weight(names[part], rise, rise - half, rise + half, score_without))
    return Weights(sorted(found, key=lambda w: -w.rise), len(names), len(chosen), times, score)


def _affordable(parts: int, tried: int, rows: int, prepared: Callable[[], Losses], seconds: float) -> tuple[int, int, int]:
    """How many rows, exchanges and parts fit into ``seconds``, by the time that some parts of the ``tried`` rows take."""
    began, some = time.monotonic(), range(0, parts, -(-parts // min(parts, _TRIED)))
    losses, places = prepared(), numpy.tile(numpy.arange(tried), _AT_ONCE)
    losses(0, places[:1], places[:1])  # it also loads what it needs
    warm = time.monotonic()
    for part in some:
        losses(part, places, places[::-1])
    now = time.monotonic()
    allowed = max(_AT_LEAST * seconds, seconds - (now - began)) * len(places) * len(some) / max(1e-6, now - warm)
    most, times = next(((n, t) for n, t in _LADDER if parts * min(n, rows) * t <= allowed), _LADDER[-1])
    return most, times, min(parts, max(_FEWEST_PARTS, int(allowed / (min(most, rows) * times))))
