"""Predictions of several labels for each row, and their metrics: over all labels together (micro) and as the mean of the labels (macro)."""

from dataclasses import dataclass

import numpy

from trainer.errors import UserError, some
from trainer.measure import intervals, precision_recall
from trainer.measure.metric import LOSS, Metric, table as described
from trainer.measure.predictions import diverged

DESCRIBED = described(
    Metric("f1_micro", "F1 over all labels"),
    Metric("f1_macro", "F1"),
    Metric("precision_micro", "precision over all labels"),
    Metric("recall_micro", "recall over all labels"),
    Metric("exact_rows", "rows with exactly the right labels"),
    LOSS,
)
METRICS = tuple(DESCRIBED)
_LEAST = 1e-7
_MAX_DRAWN = 200  # labels up to which the interval of the macro F1 is computed


@dataclass(frozen=True)
class LabelSets:
    """For n rows and L labels: which labels are right, which are predicted (both bool), and the probability of each."""

    truth: numpy.ndarray
    predicted: numpy.ndarray
    probabilities: numpy.ndarray

    continuous = False
    confidence = None

    def __post_init__(self):
        if not numpy.isfinite(self.probabilities).all():
            raise diverged()

    def __len__(self) -> int:
        return len(self.truth)

    def counts(self) -> numpy.ndarray:
        """Of each row and label: right, predicted, true."""
        return numpy.stack([self.truth & self.predicted, self.predicted, self.truth], axis=2)

    def losses(self) -> numpy.ndarray:
        """The mean binary cross-entropy of the labels of each row, in nats."""
        right = numpy.where(self.truth, self.probabilities, 1 - self.probabilities)
        return -numpy.log(numpy.clip(right, _LEAST, 1)).mean(axis=1)


def summary(a: LabelSets) -> dict[str, float]:
    if not len(a):
        return {}
    sums = a.counts().sum(axis=0, dtype=numpy.float64)
    return {name: float(v[0]) for name, v in _metrics(sums[None], _others(a).mean(axis=0)[None]).items()}


def report(a: LabelSets, seed: int) -> dict[str, dict]:
    """Each metric with its 95 % interval over resampled rows."""
    values, n, labels = summary(a), len(a), a.truth.shape[1]
    if n < 2:
        return {name: {"value": value, "n": n} for name, value in values.items()}
    drawn: dict[str, numpy.ndarray] = {}
    if labels <= _MAX_DRAWN:
        columns = numpy.concatenate([a.counts().reshape(n, -1), _others(a)], axis=1).astype(numpy.float64)
        means = intervals.resampled_means(columns, seed)
        drawn = _metrics(means[:, :-2].reshape(len(means), labels, 3), means[:, -2:])
    ranges = {name: intervals.percentiles(drawn[name], values[name]) for name in drawn}
    return {name: {"value": v, **({"low": ranges[name][0], "high": ranges[name][1]} if name in ranges else {}), "n": n} for name, v in values.items()}


def pick_metric(asked: str) -> tuple[str, str]:
    """The metric that chooses the best model, with a sentence of reason. Raises UserError for one that does not fit."""
    if asked == "auto":
        return "f1_micro", "F1 over all labels together chooses the best model: rows have several labels."
    if asked not in METRICS:
        raise UserError(
            "wrong_metric", f"The metric {asked} does not fit data with several labels for each row.", "Set metric to auto or to one that fits.",
            f"The metrics for it are {some(METRICS)}.",
        )  # fmt: skip
    return asked, f"{asked} chooses the best model, as requested."


def table(a: LabelSets, simple: LabelSets | None, labels: tuple[str, ...], thresholds: dict[str, float], seed: int) -> dict | None:
    """The scores of all labels together and of each; None without rows."""
    if not len(a):
        return None
    counts = a.counts().astype(numpy.int32)
    drawn = precision_recall.resampled(counts[:, :_MAX_DRAWN], seed)
    totals = counts.sum(axis=0)
    each = [
        {
            "label": label,
            "threshold": thresholds.get(label, 0.5),
            **precision_recall.scores(totals[i], drawn[:, i] if i < _MAX_DRAWN else drawn[:0, 0]),
        }
        for i, label in enumerate(labels)
    ]
    found = {"overall": precision_recall.scores(totals.sum(axis=0), drawn.sum(axis=1) if len(labels) <= _MAX_DRAWN else drawn[:0, 0]), "labels": each}
    if simple is not None:
        found["baseline"] = precision_recall.scores(simple.counts().sum(axis=(0, 1)), drawn[:0, 0])
    return found


def dummy(train: numpy.ndarray, test: numpy.ndarray) -> LabelSets:
    """The answers of a model that does not look at the rows: the most frequent label, and the shares of all as probabilities."""
    shares = (train.sum(axis=0) + 1.0) / (len(train) + 2.0)
    predicted = numpy.zeros(test.shape, bool)
    predicted[:, int(shares.argmax())] = True
    return LabelSets(test > 0, predicted, numpy.tile(shares, (len(test), 1)))


def _others(a: LabelSets) -> numpy.ndarray:
    return numpy.stack([(a.truth == a.predicted).all(axis=1), a.losses()], axis=1).astype(numpy.float64)


def _metrics(sums: numpy.ndarray, others: numpy.ndarray) -> dict[str, numpy.ndarray]:
    """The metrics from sums or means (draws x labels x 3) of right, predicted and true, and of (exact, loss)."""
    right, predicted, true = (sums[:, :, i] for i in range(3))
    f1 = _ratio(2 * right, predicted + true)
    there = numpy.maximum((predicted + true > 0).sum(axis=1), 1)
    all_right, all_predicted, all_true = right.sum(axis=1), predicted.sum(axis=1), true.sum(axis=1)
    return {
        "f1_micro": _ratio(2 * all_right, all_predicted + all_true), "f1_macro": f1.sum(axis=1) / there,
        "precision_micro": _ratio(all_right, all_predicted), "recall_micro": _ratio(all_right, all_true),
        "exact_rows": others[:, 0], "loss": others[:, 1],
    }  # fmt: skip


def _ratio(above: numpy.ndarray, below: numpy.ndarray) -> numpy.ndarray:
    return numpy.divide(above, below, out=numpy.zeros_like(above, dtype=numpy.float64), where=below > 0)
