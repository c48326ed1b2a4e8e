"""The weighted mean of the answers of several models, and the shares of the models in it, chosen on rows that none of them has seen."""

from collections.abc import Callable, Sequence

import numpy

from trainer.measure.predictions import softmax

STEPS = 25
_LEAST = 1e-12  # a probability of zero has no logarithm


def mean(outputs: Sequence[numpy.ndarray], shares: Sequence[float]) -> numpy.ndarray:
    """The weighted mean of ``outputs``: of numbers, or of the log-probabilities of classes (rows x classes), as probabilities again."""
    total: numpy.ndarray | float = 0.0
    for found, share in zip(outputs, shares, strict=True):  # one after another: sums of floats depend on their order
        total = total + share * (numpy.log(numpy.maximum(found, _LEAST)) if found.ndim > 1 else found)
    total = numpy.asarray(total)
    return softmax(total) if total.ndim > 1 else total


def greedy(outputs: Sequence[numpy.ndarray], loss: Callable[[numpy.ndarray], float], steps: int = STEPS) -> tuple[list[float], float]:
    """The share of each of ``outputs`` (probabilities of classes or numbers, of the same rows), and the loss of their ``mean``.

    In each step the model is added, once more or for the first time, with which the mean has the smallest loss (Caruana and others, 2004). The
    shares are those of the step with the smallest loss.
    """
    classifies = outputs[0].ndim > 1
    summands = [numpy.log(numpy.maximum(o, _LEAST)) if classifies else o for o in outputs]
    total, counts = numpy.zeros_like(outputs[0]), numpy.zeros(len(outputs))
    best, smallest = counts, numpy.inf
    for step in range(1, steps + 1):
        means = ((total + s) / step for s in summands)
        losses = [loss(softmax(m) if classifies else m) for m in means]
        added = int(numpy.argmin(losses))
        total, counts = total + summands[added], counts + (numpy.arange(len(outputs)) == added)
        if losses[added] < smallest:
            best, smallest = counts / step, losses[added]
    return best.tolist(), float(smallest)
