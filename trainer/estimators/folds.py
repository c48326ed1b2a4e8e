"""Judges models of tables with few validation rows by rows that are held out in turn: a handful of rows can hardly tell models apart."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy

from trainer.core.example import Dataset, Example
from trainer.targets.classes import Classes
from trainer.targets.number import Number

ENOUGH = 500  # validation rows that can judge alone
MOST = 10_000  # training and validation rows that are worth fitting again
COUNT = 5
_LEAST = 1e-12
_ABOUT = 1.01


@dataclass(frozen=True)
class Folds:
    """The training and validation rows together, and the rows of them that are held out in each turn."""

    examples: list[Example]
    targets: numpy.ndarray
    held_out: tuple[numpy.ndarray, ...]

    def parts(self):
        """Pairs of the rows to fit on and the rows that are held out."""
        every = numpy.arange(len(self.examples))
        for held in self.held_out:
            yield numpy.setdiff1d(every, held, assume_unique=True), held


@dataclass(frozen=True)
class OutOfFold:
    """What models answered to ``examples`` that had not seen them: probabilities (rows x classes) or numbers. An estimator that was judged by folds
    has this as ``out_of_fold``."""

    examples: Sequence[Example]
    outputs: numpy.ndarray


def of(data: Dataset, target: Classes | Number, seed: int, enough: float = ENOUGH, most: int = MOST) -> Folds | None:
    """The folds of ``data``; None where there are no validation rows, or ``enough`` of them, or where there are too few or more than ``most``
    rows.

    The rows of a group stay together. Classes are spread evenly.
    """
    rows = len(data.splits["train"]) + len(data.splits["validation"])
    if not len(data.splits["validation"]) or len(data.splits["validation"]) >= enough or not 2 * COUNT <= rows <= most:
        return None
    examples = [*data.splits["train"], *data.splits["validation"]]
    targets = target.encode([e.target for e in examples])
    drawn = numpy.random.default_rng(seed).permutation(len(examples))
    if any(e.group for e in examples):
        _, units = numpy.unique([e.group or f"row {i}" for i, e in enumerate(examples)], return_inverse=True)
        fold = numpy.random.default_rng(seed).permutation(int(units.max()) + 1)[units] % COUNT
    else:
        by_target = drawn[numpy.argsort(targets[drawn], kind="stable")]
        fold = numpy.empty(len(examples), numpy.int64)
        fold[by_target] = numpy.arange(len(examples)) % COUNT
    held_out = tuple(h for i in range(COUNT) if 0 < len(h := numpy.flatnonzero(fold == i)) < len(examples))
    return Folds(examples, targets, held_out) if len(held_out) > 1 else None


def loss(outputs: numpy.ndarray, truth: numpy.ndarray, weights: numpy.ndarray | None = None) -> float:
    """The mean log loss of probabilities (rows x classes), or the mean squared error of numbers; ``weights`` are those of the rows."""
    if outputs.ndim == 1:
        return float(losses(outputs, truth).mean())
    return log_loss(outputs[numpy.arange(len(truth)), truth], weights)


def log_loss(likelihood: numpy.ndarray, weights: numpy.ndarray | None) -> float:
    """The mean log loss of the probabilities that rows give to their own class."""
    return float(numpy.average(_log_losses(likelihood), weights=weights))


def losses(outputs: numpy.ndarray, truth: numpy.ndarray) -> numpy.ndarray:
    """The loss of each row, of which ``loss`` is the mean."""
    return (outputs - truth) ** 2 if outputs.ndim == 1 else _log_losses(outputs[numpy.arange(len(truth)), truth])


def _log_losses(likelihood: numpy.ndarray) -> numpy.ndarray:
    return -numpy.log(numpy.clip(likelihood, _LEAST, 1.0))


def best(curves: list[numpy.ndarray], sizes: list[int]) -> tuple[int, float]:
    """The place of the first loss that is about as small as the smallest, and that loss, in the mean over folds of ``sizes`` rows.

    ``curves`` are the losses of a fold after each round. One that stopped early keeps its last loss.
    """
    longest = max(map(len, curves))
    mean = numpy.average([numpy.append(c, numpy.full(longest - len(c), c[-1])) for c in curves], axis=0, weights=sizes)
    place = int(numpy.flatnonzero(mean <= _ABOUT * mean.min())[0])
    return place, float(mean[place])
