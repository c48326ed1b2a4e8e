"""The temperature of a network: one number by which its scores are divided, so that it is as sure as it is right.

A network that knows its training rows too well is too sure of new ones. The temperature with the smallest loss on the held-out rows corrects
that, and changes no answer: the order of the classes stays. It belongs to the target of a saved model and is applied where outputs are computed.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, Self, runtime_checkable

import numpy

NONE = 1.0  # of a model without a temperature
LEAST, MOST = 0.05, 20.0
FEWEST = 20  # held-out rows from which one is chosen
CELLS = 2_000_000  # of the held-out outputs that are looked at, as a bound of time and memory
_TRIED = numpy.round(numpy.geomspace(LEAST, MOST, 241), 4)  # 2.5 % apart, so that rounding of outputs rarely changes the choice
_PLAIN = len(_TRIED) // 2  # the place of NONE
_GAIN = 1.0  # of the logarithm of the likelihood of the held-out answers, at least
_LEAST = 1e-30  # a probability of zero has no logarithm


@dataclass(frozen=True)
class HeldOut:
    """``loss`` gives the mean loss of held-out answers at a temperature, ``rows`` are the rows that they belong to. ``answers`` are as many as tell
    something by themselves: at most all, and fewer where those of a row are alike."""

    rows: int
    answers: int
    loss: Callable[[float], float]


@dataclass(frozen=True)
class Chosen:
    """The temperature of a network, and ``before``: what its test answers came to without it, by the name of the figure. ``rows`` held-out
    ``things`` chose it; ``why`` says why none was chosen, empty where one was."""

    temperature: float
    rows: int
    things: str
    before: dict[str, float]
    why: str = ""


@dataclass(frozen=True)
class Measured:
    """The ``answers`` of a network by split, and its ``target`` with the temperature; without these where the target has none."""

    answers: dict[str, Any]
    target: Any = None
    calibrated: Chosen | None = None


@runtime_checkable
class Tempering(Protocol):
    """A target whose outputs are probabilities that can be corrected by a temperature."""

    @property
    def temperature(self) -> float:
        """``NONE`` where there is none."""

    def held_out(self, outputs: numpy.ndarray, truth: numpy.ndarray) -> HeldOut:
        """What the ``outputs`` for held-out rows, without a temperature, lose beside their encoded ``truth``."""

    def with_temperature(self, temperature: float) -> Self:
        """This target with that temperature."""

    def tempered(self, outputs: numpy.ndarray) -> numpy.ndarray:
        """The ``outputs`` of a network at the temperature; the same array at ``NONE``. The answers stay."""


def applied(target: Any, outputs: numpy.ndarray) -> numpy.ndarray:
    """The ``outputs`` of a network at the temperature of its target; as they are for a target without one."""
    if not isinstance(target, Tempering) or target.temperature == NONE:
        return outputs
    return target.tempered(outputs)


def chosen(held_out: HeldOut, things: str = "rows", fewest: int = FEWEST) -> Chosen:
    """The temperature with the smallest loss on held-out rows, without figures of before.

    A temperature far from 1 must gain more than chance: it costs half the square of its logarithm, as if the logarithm were normal around 0 with
    deviation 1. Without that, some rows that are all right would make a model as sure as one can be. It must also gain the likelihood that one more
    number in a model must (Akaike), or there is none.
    """
    if held_out.rows < fewest:
        why = f"A temperature is chosen from {fewest} held-out {things} on, and there are {held_out.rows}. Probabilities are those of the network."
        return Chosen(NONE, held_out.rows, things, {}, why)

    def cost(place: int) -> float:
        return held_out.answers * held_out.loss(float(_TRIED[place])) + math.log(_TRIED[place]) ** 2 / 2

    low, high = 0, len(_TRIED) - 1
    while low < high:  # the cost falls, and then rises
        middle = (low + high) // 2
        low, high = (middle + 1, high) if cost(middle + 1) < cost(middle) else (low, middle)
    found = float(_TRIED[low]) if cost(_PLAIN) - cost(low) > _GAIN else NONE
    return Chosen(found, held_out.rows, things, {})


def restored(description: dict) -> float:
    """The temperature in the description of a target. Raises TypeError or ValueError for what is none."""
    found = description.get("temperature", NONE)
    if isinstance(found, bool) or not isinstance(found, int | float):
        raise TypeError("its temperature is not a number")
    if not LEAST <= found <= MOST:
        raise ValueError(f"its temperature is not between {LEAST:g} and {MOST:g}")
    return float(found)


def described(temperature: float) -> dict[str, float]:
    """The entry of the description of a target; empty for ``NONE``."""
    return {} if temperature == NONE else {"temperature": temperature}


def of_classes(probabilities: numpy.ndarray, temperature: float) -> numpy.ndarray:
    """The ``probabilities`` of classes (rows x classes) at ``temperature``. The most likely class stays, also where rounding would make it equal to
    one before it."""
    logs = _logs(probabilities) / temperature
    found = numpy.exp(logs - numpy.logaddexp.reduce(logs, axis=1, keepdims=True)).astype(probabilities.dtype)
    every, best = numpy.arange(len(found)), probabilities.argmax(axis=1)
    moved = numpy.flatnonzero(found.argmax(axis=1) != best)
    found[moved, best[moved]] = numpy.nextafter(found[every, found.argmax(axis=1)][moved], numpy.asarray(numpy.inf, found.dtype))
    return found


def of_labels(probabilities: numpy.ndarray, temperature: float) -> numpy.ndarray:
    """The ``probabilities`` of labels, each for itself, at ``temperature``."""
    return (1 / (1 + numpy.exp(-_odds(probabilities) / temperature))).astype(probabilities.dtype)


def losses_of_classes(probabilities: numpy.ndarray, truth: numpy.ndarray, rows: int) -> HeldOut:
    """What the ``probabilities`` of classes (answers x classes) lose beside the right classes, which are -1 where nobody knows."""
    known = numpy.flatnonzero((truth >= 0) & (truth < probabilities.shape[1]))
    some = _spread(known, probabilities.shape[1])
    logs = _logs(probabilities[some])
    right = logs[numpy.arange(len(some)), truth[some]]
    return HeldOut(min(rows, len(known)), len(known), lambda t: float((numpy.logaddexp.reduce(logs / t, axis=1) - right / t).mean()))


def losses_of_labels(probabilities: numpy.ndarray, truth: numpy.ndarray) -> HeldOut:
    """What the ``probabilities`` of labels (rows x labels) lose; ``truth`` says which of them a row has, -1 where nobody knows."""
    known = numpy.flatnonzero((truth >= 0).all(axis=1))
    some = _spread(known, probabilities.shape[1])
    signed = numpy.where(truth[some] > 0, -1, 1) * _odds(probabilities[some])
    return HeldOut(len(known), len(known), lambda t: float(numpy.logaddexp(0, signed / t).mean()))


def _logs(probabilities: numpy.ndarray) -> numpy.ndarray:
    return numpy.log(numpy.maximum(probabilities.astype(numpy.float64), _LEAST))


def _odds(probabilities: numpy.ndarray) -> numpy.ndarray:
    """The logarithms of the odds. A probability that was rounded to 1 has the largest odds that its number can tell from 1."""
    likely = probabilities.astype(numpy.float64)
    rest = numpy.maximum(1 - likely, numpy.finfo(probabilities.dtype).epsneg)
    return numpy.log(numpy.maximum(likely, _LEAST)) - numpy.log(rest)


def _spread(rows: numpy.ndarray, width: int) -> numpy.ndarray:
    """As many of ``rows``, evenly spread, as may be looked at."""
    most = max(1, CELLS // max(1, width))
    return rows if len(rows) <= most else rows[numpy.linspace(0, len(rows) - 1, most).astype(numpy.int64)]
