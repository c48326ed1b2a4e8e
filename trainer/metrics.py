"""Figures of a classifier, computed from its confusion matrix (rows: true class, columns: predicted)."""

import math

Z95 = 1.959963984540054  # the 97.5th percentile of the normal distribution


def accuracy(confusion: list[list[int]]) -> float:
    total = sum(map(sum, confusion))
    return sum(confusion[i][i] for i in range(len(confusion))) / total if total else 0.0


def f1_macro(confusion: list[list[int]]) -> float:
    """The mean over the classes of F1. A class that occurs neither as true nor as predicted counts for nothing."""
    scores = []
    for i in range(len(confusion)):
        true, predicted = sum(confusion[i]), sum(row[i] for row in confusion)
        if true + predicted:
            scores.append(2 * confusion[i][i] / (true + predicted))
    return sum(scores) / len(scores) if scores else 0.0


def wilson(share: float, n: int) -> tuple[float, float]:
    """The 95 % interval (Wilson's score interval) of a share that was seen over ``n`` rows."""
    if n == 0:
        return 0.0, 1.0
    z2 = Z95 * Z95
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = Z95 * math.sqrt(share * (1 - share) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    return max(0.0, middle - half), min(1.0, middle + half)


def report(confusion: list[list[int]], loss: float) -> dict[str, dict]:
    """One split of metrics.json; ``loss`` is the mean cross-entropy in nats."""
    n = sum(map(sum, confusion))
    share = accuracy(confusion)
    low, high = wilson(share, n)
    return {
        "accuracy": {"value": share, "low": low, "high": high, "n": n},
        "f1_macro": {"value": f1_macro(confusion), "n": n},
        "loss": {"value": loss, "n": n},
    }
