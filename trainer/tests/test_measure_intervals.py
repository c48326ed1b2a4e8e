"""Intervals against values worked out by hand, and how often they hold what they are to hold."""

from collections import Counter

import numpy
import pytest

from trainer.measure import intervals, metrics, predictions


@pytest.mark.parametrize(
    ("share", "n", "low", "high"),
    [
        (0.5, 100, 0.403832, 0.596168),  # 1/2 -+ 1.96 * sqrt(1/400 + 1.96²/40000) / (1 + 1.96²/100)
        (0.0, 10, 0.0, 0.277533),  # z² / (n + z²)
        (1.0, 10, 0.722467, 1.0),
        (0.0, 0, 0.0, 1.0),
    ],
)
def test_wilson(share, n, low, high):
    assert intervals.wilson(share, n) == pytest.approx((low, high), abs=1e-6)


@pytest.mark.parametrize(
    ("value", "error", "n", "low", "high"),
    [
        (0.5, 0.05, 1000, 0.403832, 0.596168),  # the error of a share over 100 rows, whatever their number
        (0.9, 0.001, 10, *intervals.wilson(0.9, 10)),  # never as if there were more rows
        (1.0, 0.0, 10, 0.722467, 1.0),
        (0.5, 0.0, 10, 0.5, 0.5),  # equal scores everywhere
    ],
)
def test_like_a_share(value, error, n, low, high):
    assert intervals.like_a_share(value, error, n) == pytest.approx((low, high), abs=1e-6)


@pytest.mark.parametrize(("rows", "apart"), [(15, 1.2), (50, 0.5), (50, 2.0)])
def test_the_intervals_of_a_classifier_hold_what_many_rows_give(rows, apart):
    """Drawn again and again, some 95 of 100 intervals hold the figure over very many rows, also where few rows show no mistake."""
    chance = numpy.random.default_rng(0)

    def drawn(n):
        truth = chance.integers(0, 2, n)
        scores = chance.normal(size=n) + apart * (2 * truth - 1)
        return predictions.of_scores(truth, numpy.stack([-scores, scores], axis=1))

    true, held = metrics.summary(drawn(200_000), 2), Counter()
    reports = [metrics.report(drawn(rows), 2, seed) for seed in range(150)]
    names = ("accuracy", "f1_macro", "mcc", "roc_auc")
    for report in reports:
        held.update(name for name in names if report[name]["low"] <= true[name] <= report[name]["high"])
    assert all(held[name] / len(reports) >= 0.85 for name in names), held


def test_a_faultless_answer_to_few_rows_is_not_held_for_certain():
    scores = metrics.report(predictions.of_scores(numpy.arange(20) % 2, numpy.eye(2)[numpy.arange(20) % 2]), 2, 1)
    least = intervals.wilson(1.0, 20)[0]
    assert [scores[name]["low"] for name in ("accuracy", "f1_macro", "f1_weighted", "roc_auc")] == pytest.approx([least] * 4)
    assert scores["mcc"]["low"] == pytest.approx(1 - (1 - least) / 0.5)
    assert {scores[name]["high"] for name in ("f1_macro", "mcc", "roc_auc")} == {1.0}
