"""Metrics against values worked out by hand."""

import pytest

from trainer import metrics


@pytest.mark.parametrize(
    ("confusion", "accuracy", "f1"),
    [
        ([[5, 0], [0, 5]], 1.0, 1.0),
        ([[0, 5], [5, 0]], 0.0, 0.0),
        # Class 0: precision 8/10, recall 8/9, F1 16/19. Class 1: precision 9/10, recall 9/11, F1 18/21.
        ([[8, 1], [2, 9]], 17 / 20, (16 / 19 + 18 / 21) / 2),
        # All said to be class 0: F1 of class 0 is 2*6/(6+10), of class 1 zero.
        ([[6, 0], [4, 0]], 0.6, 0.375),
        # The third class never occurs and is never predicted: it does not count.
        ([[3, 1, 0], [1, 3, 0], [0, 0, 0]], 0.75, 0.75),
        ([[0, 0], [0, 0]], 0.0, 0.0),
    ],
)
def test_accuracy_and_f1(confusion, accuracy, f1):
    assert metrics.accuracy(confusion) == pytest.approx(accuracy)
    assert metrics.f1_macro(confusion) == pytest.approx(f1)


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
    assert metrics.wilson(share, n) == pytest.approx((low, high), abs=1e-6)
