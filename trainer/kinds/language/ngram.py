"""A table of n-grams: the simple model beside every language model.

The probability of a token is interpolated from those after the 0, 1, 2, … tokens before it, with Witten and Bell's weights: a history
counts the more, the more often it was seen and the fewer different tokens followed it. Histories of one length are counted at a time
and then forgotten, so the memory is a small multiple of the streams', whatever the order.
"""

import math
from dataclasses import dataclass

import numpy

MOST_ORDER = 12
MAX_TOKENS = 4_000_000  # of the training stream: about 6 s and 300 MB for bytes
_ENOUGH = 0.002  # nats: a higher order must gain this much on the validation stream


@dataclass(frozen=True)
class NGrams:
    """The result: the chosen order, and the negative log-likelihood of each token of every stream in nats."""

    order: int
    nats: dict[str, numpy.ndarray]

    @property
    def title(self) -> str:
        return f"table of {self.order}-grams"


@dataclass
class _Walk:
    """One stream on its way through the lengths of history. ``history`` numbers the history of each token; -1 was not seen in training."""

    tokens: numpy.ndarray
    history: numpy.ndarray
    likelihood: numpy.ndarray


def measure(
    train: numpy.ndarray,
    streams: dict[str, numpy.ndarray],
    vocabulary: int,
    learnt: dict[str, numpy.ndarray] | None = None,
    chosen_by: str = "validation",
) -> NGrams:
    """Count ``train`` and predict each token of ``streams`` from the tokens before it in its stream.

    All are arrays of numbers below ``vocabulary``. The order grows as long as it helps on the stream ``chosen_by``, of which only the
    tokens that ``learnt`` marks count, if it is given. Of a very long ``train``, an even selection of blocks is counted.
    """
    train = _shortened(train.astype(numpy.int64, copy=False))
    history = numpy.zeros(len(train), numpy.int64)
    walks = {
        name: _Walk(s.astype(numpy.int64, copy=False), numpy.zeros(len(s), numpy.int64), numpy.full(len(s), 1 / vocabulary))
        for name, s in streams.items()
    }
    counted = (learnt or {}).get(chosen_by, slice(None))
    order, lowest, best = 0, math.inf, {name: w.likelihood for name, w in walks.items()}
    for length in range(min(MOST_ORDER, len(train))):
        _add_level(train[length:], history, walks, vocabulary)
        loss = _mean(walks[chosen_by].likelihood[counted])
        if loss > lowest - _ENOUGH and order:
            break
        order, lowest, best = length + 1, loss, {name: w.likelihood for name, w in walks.items()}
        history = _lengthen(train, history, walks, vocabulary, length)
    return NGrams(order, {name: -numpy.log(p) for name, p in best.items()})


def _add_level(tokens: numpy.ndarray, history: numpy.ndarray, walks: dict[str, _Walk], vocabulary: int) -> None:
    """Interpolate the likelihoods of all streams with what followed the histories of one length more in training."""
    grams, counts = numpy.unique(history * vocabulary + tokens, return_counts=True)
    after = grams // vocabulary
    kinds = numpy.bincount(after)
    totals = numpy.bincount(after, weights=counts)
    for walk in walks.values():
        known = walk.history >= 0
        key = walk.history[known]
        count = numpy.where(*_found(grams, key * vocabulary + walk.tokens[known], counts))
        lower = walk.likelihood[known]
        likelihood = walk.likelihood.copy()
        likelihood[known] = (count + kinds[key] * lower) / (totals[key] + kinds[key])
        walk.likelihood = likelihood


def _lengthen(train: numpy.ndarray, history: numpy.ndarray, walks: dict[str, _Walk], vocabulary: int, length: int) -> numpy.ndarray:
    """Number the histories of ``length`` + 1 tokens in all streams; returns those of ``train``, from its token ``length`` + 1 on."""
    seen, numbers = numpy.unique(history[1:] * vocabulary + train[: len(train) - length - 1], return_inverse=True)
    for walk in walks.values():
        key = numpy.full(len(walk.tokens), -1, numpy.int64)
        begin = length + 1
        key[begin:] = walk.history[begin:] * vocabulary + walk.tokens[: max(0, len(key) - begin)]
        key[walk.history < 0] = -1
        walk.history = numpy.where(*_found(seen, key, numpy.arange(len(seen)), otherwise=-1))
    return numbers


def _found(keys: numpy.ndarray, wanted: numpy.ndarray, values: numpy.ndarray, otherwise: int = 0):
    """For numpy.where: which of ``wanted`` are among the sorted ``keys``, their values, and the value of the others."""
    if not len(keys):
        return numpy.zeros(len(wanted), bool), otherwise, otherwise
    place = numpy.minimum(numpy.searchsorted(keys, wanted), len(keys) - 1)
    return keys[place] == wanted, values[place], otherwise


def _mean(likelihood: numpy.ndarray) -> float:
    return float(-numpy.log(likelihood).mean()) if len(likelihood) else 0.0


def _shortened(train: numpy.ndarray) -> numpy.ndarray:
    """``train``, or 64 blocks that are spread evenly over it."""
    if len(train) <= MAX_TOKENS:
        return train
    block = MAX_TOKENS // 64
    starts = numpy.linspace(0, len(train) - block, 64).astype(numpy.int64)
    return numpy.concatenate([train[s : s + block] for s in starts])
