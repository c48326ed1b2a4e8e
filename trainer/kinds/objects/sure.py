"""How sure counts of objects are: an interval for the number of objects of each label in a picture, and of all together.

The error of a count grows about with the square root of the count, so errors are taken in units of it.
"""

import numpy

from trainer.targets import promise as promises, spans
from trainer.targets.promise import Kept, Promise, Unit

PICTURES = Unit("counts of pictures", "pictures")
FORMS = [("count", "INT64", [-1]), ("low", "INT64", [-1]), ("high", "INT64", [-1])]


def made(there: numpy.ndarray, said: numpy.ndarray, coverage: float) -> tuple[Promise | None, str]:
    """The promise that true and predicted counts of held-out pictures allow (pictures x labels), with a limit for each label and, of several, one
    for all together. The sentence says what is promised, or why nothing is."""
    true, found = with_all(there), with_all(said)
    what = "the true number of objects" if true.shape[1] == 1 else "the true number of objects of a label, or of all objects,"
    return spans.made(numpy.abs(true - found) / _scale(found), coverage, what)


def bounds(promise: Promise, said: numpy.ndarray) -> tuple[numpy.ndarray, numpy.ndarray]:
    """The smallest and the largest number that is possible beside ``said`` (pictures x labels); of several labels the last column is of all."""
    every = with_all(said)
    half = numpy.asarray(promise.limits) * _scale(every)
    return numpy.maximum(0, numpy.ceil(every - half)).astype(numpy.int64), numpy.floor(every + half).astype(numpy.int64)


def kept(promise: Promise, there: numpy.ndarray, said: numpy.ndarray) -> Kept:
    low, high = bounds(promise, said)
    exact = promises.percent(round(float((low[:, -1] == high[:, -1]).mean()), 3))
    size = f"{(high - low)[:, -1].mean():.3g} objects from the lowest to the highest number, on average; {exact} of pictures have one number"
    return spans.kept((low, high), with_all(there), size)


def columns(promise: Promise, said: numpy.ndarray) -> dict[str, list[str]]:
    """The interval of the number of all objects of each picture."""
    low, high = bounds(promise, said)
    return {"low": [str(n) for n in low[:, -1]], "high": [str(n) for n in high[:, -1]]}


def tensors(promise: Promise, said: numpy.ndarray) -> list[dict]:
    """The number of all objects of each picture, and its interval."""
    low, high = bounds(promise, said)
    count = {"name": "count", "datatype": "INT64", "shape": [len(said)], "data": said.sum(axis=1).tolist()}
    return [count, *spans.tensors(promise, (low[:, -1], high[:, -1]), "count", "INT64")]


def with_all(counted: numpy.ndarray) -> numpy.ndarray:
    """The counts of labels (pictures x labels) and, of several labels, their sum."""
    return numpy.concatenate([counted, counted.sum(axis=1, keepdims=True)], axis=1) if counted.shape[1] > 1 else counted


def _scale(said: numpy.ndarray) -> numpy.ndarray:
    return numpy.sqrt(said + 1.0)
