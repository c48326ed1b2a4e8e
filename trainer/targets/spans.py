"""Intervals for several values of each picture at once, such as the counts of labels or the areas of classes.

Objects and pixels of a picture are alike, so pictures are what chance draws. Each value has an interval of its own, which holds the true value in the
promised share of pictures.
"""

import numpy

from trainer.targets import promise as promises
from trainer.targets.promise import Kept, Promise

_WIDER = 1 + 1e-9  # of a limit: the same difference may be rounded in another way
_HUGE = 1e150


def made(errors: numpy.ndarray, coverage: float, what: str) -> tuple[Promise | None, str]:
    """The promise that the ``errors`` of held-out pictures allow (pictures x values), with a limit for each value. The sentence says what is
    promised, or why nothing is; ``what`` are the true values in it."""
    if why := promises.too_few(len(errors), coverage, "pictures"):
        return None, why
    limits = tuple(promises.limit(of, coverage) * _WIDER for of in errors.T)
    if not all(limit < _HUGE for limit in limits):
        return None, "The held-out numbers are too large for an interval."
    text = f"The interval of an answer holds {what} in {promises.percent(coverage)} of pictures like the held-out ones."
    return Promise(coverage, len(errors), limits), text


def kept(ends: tuple[numpy.ndarray, numpy.ndarray], true: numpy.ndarray, size: str) -> Kept:
    """What the intervals with these ends came to (pictures x values each)."""
    inside = (ends[0] <= true) & (true <= ends[1])
    return Kept(inside.ravel(), size, numpy.repeat(numpy.arange(len(true)), true.shape[1]))


def tensors(promise: Promise, ends: tuple[numpy.ndarray, numpy.ndarray], of: str, datatype: str = "FP64") -> list[dict]:
    """The ends of the intervals of the output ``of`` as tensors of the Open Inference Protocol."""
    about = {"parameters": {"coverage": promise.coverage, "of": of}}
    return [
        {"name": n, "datatype": datatype, "shape": list(end.shape), **about, "data": end.ravel().tolist()} for n, end in zip(("low", "high"), ends)
    ]
