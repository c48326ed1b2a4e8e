"""Intervals against values worked out by hand."""

import pytest

from trainer.measure import intervals


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
