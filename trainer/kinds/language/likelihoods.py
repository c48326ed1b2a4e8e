"""How likely a language model finds the texts of a split: the input of its metrics, one entry for each example."""

import math
from dataclasses import dataclass

import numpy

from trainer.measure import intervals
from trainer.measure.metric import LOSS, Metric, table
from trainer.measure.predictions import diverged

DESCRIBED = table(
    Metric("exact_match", "exact match"),
    Metric("bits_per_byte", "bits per byte", higher_is_better=False),
    Metric("perplexity", "perplexity", higher_is_better=False, unit="tokens"),
    Metric("token_accuracy", "token accuracy"),
    LOSS,
)
_MOST_NATS = 700.0  # of a token: the exponential of more is no number


@dataclass(frozen=True)
class Likelihoods:
    """Of each example: the nats that its learnt tokens cost, how many they are, how many of them were the likeliest, and their bytes."""

    nats: numpy.ndarray
    tokens: numpy.ndarray
    right: numpy.ndarray
    bytes: numpy.ndarray

    def __post_init__(self):
        if not numpy.isfinite(self.nats).all():
            raise diverged()

    def __len__(self) -> int:
        return len(self.nats)

    def columns(self) -> numpy.ndarray:
        return numpy.stack([self.nats, self.tokens, self.right, self.bytes], axis=1).astype(numpy.float64)


def summary(a: Likelihoods) -> dict[str, float]:
    """Every metric over all examples together; none without a learnt token."""
    if not len(a) or not a.tokens.sum():
        return {}
    return {name: float(value[0]) for name, value in _metrics(a.columns().sum(axis=0)[None]).items()}


def report(a: Likelihoods, seed: int) -> dict[str, dict]:
    """Each metric with its 95 % interval and the number of examples. Intervals come from examples that are resampled by ``seed``:
    the tokens of one example depend on each other.
    """
    values = summary(a)
    if not values:
        return {}
    if len(a) < 2:
        return {name: {"value": value, "n": len(a)} for name, value in values.items()}
    drawn = _metrics(intervals.resampled_means(a.columns(), seed))
    ranges = {name: intervals.percentiles(drawn[name], values[name]) for name in values}
    return {name: {"value": values[name], "low": ranges[name][0], "high": ranges[name][1], "n": len(a)} for name in values}


def of_share(right: int, n: int) -> dict:
    """A share with Wilson's interval, as an entry of a report."""
    low, high = intervals.wilson(right / n, n)
    return {"value": right / n, "low": low, "high": high, "n": n}


def _metrics(sums: numpy.ndarray) -> dict[str, numpy.ndarray]:
    """The metrics from rows of sums (or means) of nats, tokens, right tokens and bytes."""
    nats, tokens, right, size = sums.T
    loss = nats / numpy.maximum(tokens, 1e-12)
    found = {"loss": loss, "perplexity": numpy.exp(numpy.minimum(loss, _MOST_NATS)), "token_accuracy": right / numpy.maximum(tokens, 1e-12)}
    if (size > 0).all():
        found["bits_per_byte"] = nats / math.log(2) / size
    return found
