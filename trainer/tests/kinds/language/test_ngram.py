"""The table of n-grams: by its formula on small streams, and the order that the validation stream chooses."""

import math
from collections import Counter

import numpy
import pytest

from trainer.kinds.language import ngram, simple


def by_the_formula(train: list[int], stream: list[int], vocabulary: int, order: int) -> list[float]:
    """The negative log-likelihoods by Witten and Bell's recursion over dictionaries, as slow as it is plain."""
    after: Counter = Counter()
    for length in range(order):
        for i in range(length, len(train)):
            after[tuple(train[i - length : i]), train[i]] += 1

    def likelihood(history: tuple, token: int) -> float:
        lower = likelihood(history[1:], token) if history else 1 / vocabulary
        followers = [n for (seen, _), n in after.items() if seen == history]
        if not followers:
            return lower
        return (after[history, token] + len(followers) * lower) / (sum(followers) + len(followers))

    return [-math.log(likelihood(tuple(stream[max(0, i - order + 1) : i]), stream[i])) for i in range(len(stream))]


@pytest.mark.parametrize(
    ("name", "train", "stream"),
    [
        ("a stream that goes on as it began", [1, 2, 3] * 20, [1, 2, 3, 1, 2, 3, 1]),
        ("tokens that training never had", [1, 2, 1, 2, 2, 1] * 5, [4, 1, 2, 0, 4, 4, 2, 1, 2]),
        ("a stream of one token", [3, 1] * 10, [3]),
        ("an empty stream", [3, 1] * 10, []),
        ("a training stream of one token", [3], [3, 3, 1]),
    ],
)
def test_each_token_has_the_likelihood_of_the_formula(name, train, stream):
    got = ngram.measure(numpy.array(train), {"validation": numpy.array(stream, int)}, 5)
    assert got.nats["validation"] == pytest.approx(by_the_formula(train, stream, 5, got.order)), name


def test_random_streams_have_the_likelihoods_of_the_formula():
    random = numpy.random.default_rng(3)
    train, stream = random.integers(0, 3, 200), random.integers(0, 3, 40)
    got = ngram.measure(train, {"validation": stream, "test": stream[:10]}, 3)
    assert got.nats["validation"] == pytest.approx(by_the_formula(train.tolist(), stream.tolist(), 3, got.order))
    assert got.nats["test"] == pytest.approx(got.nats["validation"][:10])


@pytest.mark.parametrize(("period", "least"), [(2, 2), (5, 2), (1, 1)])
def test_the_order_grows_while_it_helps(period, least):
    """Words of three letters that each begin alike: only a longer history tells them apart."""
    stream = numpy.tile(numpy.arange(period), 300)
    got = ngram.measure(stream, {"validation": stream}, period)
    assert least <= got.order < ngram.MOST_ORDER
    assert got.nats["validation"][10:].mean() < 0.05


def test_only_marked_tokens_choose_the_order():
    random = numpy.random.default_rng(1)
    noise = random.integers(0, 4, 2000)
    copied = numpy.stack([noise, noise], 1).ravel()  # every second token repeats the one before
    marked = numpy.tile([False, True], 2000)
    got = ngram.measure(copied, {"validation": copied}, 4, {"validation": marked})
    assert got.order >= 2
    assert got.nats["validation"][marked].mean() < 0.6 < got.nats["validation"][~marked].mean()


def test_a_long_training_stream_is_counted_in_blocks(monkeypatch):
    monkeypatch.setattr(ngram, "MAX_TOKENS", 6400)
    stream = numpy.random.default_rng(2).integers(0, 2, 100_000)
    assert ngram.measure(stream, {"validation": stream[:500]}, 2).nats["validation"].mean() == pytest.approx(math.log(2), abs=0.05)


def score(value: float) -> dict:
    return {"value": value, "n": 10}


@pytest.mark.parametrize(
    ("name", "model", "table", "want"),
    [
        (
            "the table is better",
            {"loss": score(1.0), "bits_per_byte": score(2.58)},
            {"bits_per_byte": score(2.41)},
            (
                False,
                "The n-gram table predicts the text better (2.41 against 2.58 bits per byte): the model has not learnt enough. "
                "Train longer, or give more text.",
            ),
        ),
        (
            "the model is better",
            {"bits_per_byte": score(2.1)},
            {"bits_per_byte": score(2.41)},
            (True, "The model predicts the text better than the n-gram table (2.10 against 2.41 bits per byte)."),
        ),
        (
            "tokens whose bytes are not known",
            {"loss": score(math.log(2))},
            {"loss": score(2 * math.log(2))},
            (True, "The model predicts the text better than the n-gram table (1.00 against 2.00 bits per token)."),
        ),
        ("no common unit", {"loss": score(1.0)}, {"bits_per_byte": score(2.0)}, None),
        ("no test rows", {}, {}, None),
    ],
)
def test_the_verdict_compares_in_a_common_unit(name, model, table, want):
    assert simple.verdict(model, table) == want, name
