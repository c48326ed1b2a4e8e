"""How sure answers are: an interval or a set of classes for each answer that holds what is right for a promised share of rows.

It is split conformal prediction. The answers of the delivered model to held-out rows, which it has not learnt from, decide how wide intervals and
sets are. If new rows are like these rows, the promise holds on average over rows, whatever the model is. Where a row has several truths, such as
labels, the promised share is one of all truths, and rows are what chance draws (conformal risk control).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, Self, runtime_checkable

import numpy

OF_THEIR_OWN = 50  # held-out rows from which classes have a limit of their own
_HUGE = 1e300
_LOWER = 1 - 1e-6  # of a probability: the same one may have been rounded to float32
_LISTED = 50  # what is possible, in one cell of a table
_AT_ONCE = 1_000_000  # outputs that are looked at together, as a bound of memory
_EXACT = 9  # decimals: 100 times 0.55 is 55.000000000000007


@dataclass(frozen=True)
class Promise:
    """``coverage`` is the promised share, and ``rows`` is the number of held-out rows that set the ``limits``: half the width of an interval; or the
    probability from which a class is possible, one for all classes or one for each.

    ``together`` are the places of limits that were set for all of them at once, so that the promise is one of these together."""

    coverage: float
    rows: int
    limits: tuple[float, ...]
    together: tuple[int, ...] = ()

    def described(self) -> dict:
        together = {"together": list(self.together)} if self.together else {}
        return {"coverage": self.coverage, "rows": self.rows, "limits": list(self.limits), **together}


@dataclass(frozen=True)
class Kept:
    """What a promise came to on rows whose truth is known: whether each is ``inside``, and the ``size`` of an answer in words. ``rows`` is the row of
    each truth where rows have several."""

    inside: numpy.ndarray  # bool
    size: str = ""
    rows: numpy.ndarray | None = None


@dataclass(frozen=True)
class Unit:
    """The words for what is promised: ``of`` has the promised share, and ``rows`` are what is held out."""

    of: str = "rows"
    rows: str = "rows"


ROWS = Unit()


@runtime_checkable
class Promising(Protocol):
    """A target that can promise how often the truth is within what its answers allow."""

    promise_of: ClassVar[Unit]

    @property
    def promise(self) -> Promise | None:
        """None where nothing is promised."""

    def promising(self, answers: Any, coverage: float) -> tuple[Self, str]:
        """This target with the promise that the ``answers`` to held-out rows allow. The sentence says what is promised, or why
        nothing is; empty where that needs no words."""

    def kept(self, answers: Any) -> Kept:
        """What the promise came to for the ``answers``."""

    def columns(self, outputs: numpy.ndarray) -> dict[str, list[str]]:
        """What stands beside the predicted values of ``outputs`` in a table, by its column; empty where nothing is promised."""


def columns(target: Any, outputs: numpy.ndarray | None) -> dict[str, list[str]]:
    """``Promising.columns``; empty for other targets, and where the outputs were not kept."""
    return target.columns(outputs) if isinstance(target, Promising) and outputs is not None else {}


def restored(description: Any, limits: tuple[int, ...], most: float) -> Promise | None:
    """The promise that ``described`` wrote; None where there is none, as in models of earlier versions. ``limits`` are the numbers of limits that
    it may have, ``most`` is the largest limit. Raises KeyError, TypeError or ValueError for another description."""
    if description is None:
        return None
    if not isinstance(description["limits"], list) or len(description["limits"]) not in limits:
        raise ValueError("its limits do not fit its answers")
    found = Promise(
        _number(description["coverage"]), int(_number(description["rows"])), tuple(_number(limit) for limit in description["limits"]),
        tuple(int(_number(place)) for place in description.get("together", ())),
    )  # fmt: skip
    fit = all(0 <= limit <= most for limit in found.limits) and set(found.together) <= set(range(len(found.limits)))
    if not 0 < found.coverage < 1 or found.rows < 1 or not fit:
        raise ValueError("its promise is not one")
    return found


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= _HUGE:
        raise TypeError("a number of its promise is not one")
    return float(value)


def rank(rows: int, coverage: float, most: int = 1) -> int:
    """Which of the errors of ``rows`` held-out rows, counted from the smallest, a new one is at most as large as with probability ``coverage``. It is
    larger than ``rows`` where these are too few. Where rows have several errors, up to ``most`` each, ``rows`` counts the errors, and ``coverage``
    is the share of all errors of new rows: what a row loses is the number of its larger errors less the allowed share of all of them."""
    return math.ceil(round((rows + most) * coverage, _EXACT))


def limit(errors: numpy.ndarray, coverage: float, most: int = 1) -> float:
    """The limit of new errors that the ``errors`` of held-out rows set, up to ``most`` of a row; there must be ``fewest`` of them."""
    place = rank(len(errors), coverage, most) - 1
    return float(numpy.partition(errors, place)[place])


def fewest(coverage: float, most: int = 1) -> int:
    """The number of errors of held-out rows from which ``coverage`` can be promised, where a row has up to ``most``."""
    return math.ceil(round(most * coverage / (1 - coverage), _EXACT))


def most_of_a_row(rows: numpy.ndarray) -> int:
    """How often the most frequent of the numbers ``rows`` is among them; 1 without any."""
    return int(numpy.unique(rows, return_counts=True)[1].max()) if len(rows) else 1


def too_few(rows: int, coverage: float, name: str = ROWS.rows) -> str:
    """The sentence that says why ``coverage`` cannot be promised; empty where the rows, called ``name``, suffice."""
    if rows >= fewest(coverage):
        return ""
    return f"A promise of {percent(coverage)} needs {fewest(coverage)} held-out {name} or more, and there are {rows}."


def groups(truth: numpy.ndarray, classes: int, coverage: float) -> numpy.ndarray:
    """The group of each class, from 0. A class with ``OF_THEIR_OWN`` held-out rows, or as many as ``coverage`` needs, is a group. The others are one
    group together, which the smallest of these classes join until it has as many rows."""
    enough = max(OF_THEIR_OWN, fewest(coverage))
    counts = numpy.bincount(truth, minlength=classes)
    order = numpy.argsort(-counts, kind="stable")
    alone = int((counts >= enough).sum())
    rest = int(counts[order[alone:]].sum())
    while alone and alone < classes and rest < enough:
        alone -= 1
        rest += int(counts[order[alone]])
    found = numpy.full(classes, min(alone, classes - 1), numpy.int64)
    found[order[:alone]] = numpy.arange(alone)
    return found


def least_likely(likelihood: numpy.ndarray, truth: numpy.ndarray, rows: numpy.ndarray, classes: int, coverage: float) -> tuple[float, ...]:
    """The probability from which a class is possible: one for all, or one for each of them. ``truth`` are the right classes of held-out rows with
    their ``likelihood`` and the row of each. It is empty where these are too few."""
    for group in (groups(truth, classes, coverage), numpy.zeros(classes, numpy.int64)):
        found = []
        for g in range(int(group.max()) + 1):
            mine = group[truth] == g
            most = most_of_a_row(rows[mine])
            if mine.sum() >= fewest(coverage, most):
                found.append(1 - limit(1 - likelihood[mine], coverage, most))
        if len(found) > group.max():
            limits = numpy.clip(numpy.asarray(found) * _LOWER, 0, 1)[group if len(found) > 1 else [0]]
            return tuple(float(limit) for limit in limits)
    return ()


def all_listed(labels: Sequence[str], possible: Callable[[numpy.ndarray], numpy.ndarray], outputs: numpy.ndarray) -> list[str]:
    """``listed`` for the outputs of each row, which are the likelihoods. Most rows have the same, so each text is made once."""
    found: list[str] = []
    step = max(1, _AT_ONCE // max(1, len(labels)))
    for start in range(0, len(outputs), step):
        some = outputs[start : start + step]
        there, order = possible(some), numpy.argsort(-some, axis=1, kind="stable")
        front = numpy.argsort(~numpy.take_along_axis(there, order, axis=1), axis=1, kind="stable")[:, :_LISTED]
        shown = numpy.take_along_axis(order, front, axis=1)
        counts = there.sum(axis=1)
        shown[numpy.arange(shown.shape[1]) >= counts[:, None]] = -1
        different, which = numpy.unique(numpy.column_stack([counts, shown]), axis=0, return_inverse=True)
        texts = [_text([labels[place] for place in places if place >= 0], count) for count, *places in different.tolist()]
        found += [texts[i] for i in which.ravel().tolist()]
    return found


def listed(labels: Sequence[str], possible: numpy.ndarray, likelihood: numpy.ndarray) -> str:
    """The labels of a row that are ``possible``, the likeliest first."""
    places = numpy.flatnonzero(possible)
    order = places[numpy.argsort(-likelihood[places], kind="stable")]
    return _text([labels[place] for place in order[:_LISTED]], len(order))


def _text(first: list[str], count: int) -> str:
    """The ``first`` of ``count`` labels, and how many more there are."""
    return "; ".join([*first, *([f"and {count - _LISTED} more"] if count > _LISTED else [])])


def possible_tensor(made: Promise, possible: numpy.ndarray) -> dict:
    """What is ``possible`` (rows x labels) by the promise that was ``made``, as a tensor of the Open Inference Protocol."""
    of = {"parameters": {"coverage": made.coverage}, "data": possible.ravel().tolist()}
    return {"name": "possible", "datatype": "BOOL", "shape": list(possible.shape), **of}


def percent(share: float) -> str:
    return f"{100 * share:.4g} %"
