"""The limits from which a class of a pixel is possible, or within which its number is, for a promised share of the pixels of pictures.

It is conformal risk control (ADR 51). Pixels of one picture are alike, so pictures are what is held out. What a picture loses is the share of its
pixels that the limit misses, which is at most 1. Groups have limits of their own: pixels of a class, or pixels whose answers are about as large. Only
counts are kept of each picture: its pixels by group and by level, which says how far the answer was from the truth.
"""

from collections.abc import Sequence

import numpy

from trainer.errors import some
from trainer.targets import promise as promises
from trainer.targets.promise import Promise

LEVELS = 200  # limits that are told apart, beside that which misses nothing
RANGES = (-1.5, -0.5, 0.5, 1.5)  # where groups of answered numbers begin and end, in deviations from the mean of the training pixels
_CELLS = 20_000_000  # of the counts of all pictures
_EXACT = 1e-9
_PROBABILITIES = (1 / (1 + numpy.exp(-numpy.linspace(-9, 6, LEVELS)))).astype(numpy.float32)
_ERRORS = numpy.geomspace(1e-3, 1e2, LEVELS)  # in deviations of the training pixels


def most_pictures(groups: int) -> int:
    """The pictures whose counts are kept at most."""
    return max(50, _CELLS // (groups * (LEVELS + 1)))


def of_classes(odds: numpy.ndarray, answered: numpy.ndarray, truth: numpy.ndarray, classes: int) -> numpy.ndarray:
    """The counts (classes x levels) of pixels with the probabilities ``odds`` (pixels x classes), by the class that was ``answered`` and the
    ``truth``."""
    right = odds[numpy.arange(len(truth)), truth]
    level = LEVELS - numpy.searchsorted(_PROBABILITIES, right, side="right")
    level[answered == truth] = 0  # the answered class is always possible
    return _counted(truth.astype(numpy.int64), level, classes)


def of_numbers(answered: numpy.ndarray, truth: numpy.ndarray, mean: float, std: float) -> numpy.ndarray:
    """The counts (ranges x levels) of pixels by the number that was ``answered`` and the ``truth``."""
    level = numpy.searchsorted(_ERRORS, numpy.abs(answered.astype(numpy.float64) - truth) / std, side="left")
    return _counted(ranges(answered, mean, std), level, len(RANGES) + 1)


def ranges(answered: numpy.ndarray, mean: float, std: float) -> numpy.ndarray:
    """The group of each answered number."""
    return numpy.searchsorted(RANGES, (answered.astype(numpy.float64) - mean) / std, side="right")


def _counted(group: numpy.ndarray, level: numpy.ndarray, groups: int) -> numpy.ndarray:
    found = numpy.bincount(group * (LEVELS + 1) + level, minlength=groups * (LEVELS + 1))
    return found.reshape(groups, LEVELS + 1).astype(numpy.uint32)


def limits(counts: numpy.ndarray, coverage: float) -> numpy.ndarray | None:
    """The level of each group that is still within the promise, by the ``counts`` of held-out pictures (pictures x groups x levels); None where
    these are too few.

    Groups that too few pictures have share a level with each other and with the groups that the next fewest pictures have.
    """
    alone, shared = _divided(counts, coverage)
    found = numpy.zeros(counts.shape[1], numpy.int64)
    for mine in (*alone[:, None], shared) if len(shared) else alone[:, None]:
        missed = 1 - shares(counts, mine)
        if len(missed) < promises.fewest(coverage):
            return None
        risk = (missed.sum(axis=0) + 1) / (len(missed) + 1)  # the next picture may lose as much as one can
        found[mine] = numpy.flatnonzero(risk <= 1 - coverage + _EXACT)[0]
    return found


def together(counts: numpy.ndarray, coverage: float) -> tuple[int, ...]:
    """The groups that share a level by ``limits``, where these are several."""
    shared = sorted(_divided(counts, coverage)[1].tolist())
    return tuple(shared) if len(shared) > 1 else ()


def _divided(counts: numpy.ndarray, coverage: float) -> tuple[numpy.ndarray, numpy.ndarray]:
    """The groups that have a level of their own, and those that share one."""
    held = (counts.sum(axis=2, dtype=numpy.int64) > 0).sum(axis=0)
    order = numpy.argsort(-held, kind="stable")
    alone = int((held >= promises.fewest(coverage)).sum())
    while alone and alone < len(order) and _pictures(counts, order[alone:]) < promises.fewest(coverage):
        alone -= 1
    return order[:alone], order[alone:]


def of_each(made: Promise, names: Sequence[str], each: str) -> str:
    """Of what the promise is one, in words: of ``each`` of the groups called ``names``, but of those that share a limit together."""
    if not made.together:
        return each
    listed = f"{some([names[place] for place in made.together], 6)} only together, since few held-out pictures have them"
    return listed if len(made.together) == len(names) else f"{each}, but of {listed}"


def shares(counts: numpy.ndarray, groups: numpy.ndarray) -> numpy.ndarray:
    """The share of the pixels of ``groups`` within each level, of each picture that has any (pictures x levels)."""
    mine = counts[:, groups].sum(axis=1, dtype=numpy.int64)
    mine = mine[mine.sum(axis=1) > 0]
    return numpy.cumsum(mine, axis=1) / numpy.maximum(1, mine.sum(axis=1, keepdims=True))


def _pictures(counts: numpy.ndarray, groups: numpy.ndarray) -> int:
    return int((counts[:, groups].sum(axis=(1, 2), dtype=numpy.int64) > 0).sum())


def probabilities(levels: numpy.ndarray) -> tuple[float, ...]:
    """The probability from which the class of each of these ``levels`` is possible."""
    return tuple(float(_PROBABILITIES[LEVELS - level - 1]) if level < LEVELS else 0.0 for level in levels.tolist())


def errors(levels: numpy.ndarray, std: float) -> tuple[float, ...]:
    """Half the width of the intervals of these ``levels``; infinite for the last one."""
    return tuple(float(_ERRORS[level]) * std if level < LEVELS else numpy.inf for level in levels.tolist())


def level_of_probability(limit: float) -> int:
    """The level that ``probabilities`` gave this limit for."""
    return LEVELS - int(numpy.searchsorted(_PROBABILITIES, numpy.float32(limit), side="right"))


def level_of_error(limit: float, std: float) -> int:
    """The level that ``errors`` gave this limit for."""
    return int(numpy.argmin(numpy.abs(numpy.log(_ERRORS) - numpy.log(max(limit / std, 1e-30)))))


def made(counts: numpy.ndarray, coverage: float, limits_of) -> tuple[Promise | None, str]:
    """The promise of pixels that the ``counts`` of held-out pictures allow, with the limits that ``limits_of`` gives for levels; or why there is
    none."""
    held = int((counts.sum(axis=(1, 2), dtype=numpy.int64) > 0).sum())
    if why := promises.too_few(held, coverage, "pictures"):
        return None, why
    found = limits(counts, coverage)
    values = () if found is None else limits_of(found)
    if not values or not all(numpy.isfinite(values)):
        return None, "The answers for held-out pixels are too far off for a promise."
    return Promise(coverage, held, values, together(counts, coverage)), ""
