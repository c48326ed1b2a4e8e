"""The metrics of classes and of numbers: their values, their 95 % intervals, and which of them chooses the best model."""

import numpy

from trainer.errors import UserError, some
from trainer.measure import classification, intervals, metric, rank_statistics, regression, values as final
from trainer.measure.predictions import MAX_CLASSES, Predictions

CLASSIFICATION, REGRESSION = tuple(metric.CLASSIFICATION), tuple(metric.REGRESSION)
MAX_CONFUSION = 1000  # classes; a larger table cannot be read, and it would fill most of result.json
_UNEVEN = 1.5  # ratio of the largest class to the smallest, from which classes count as uneven


def summary(a: Predictions, classes: int, scale: float = 1.0) -> dict[str, float]:
    """Every metric that can be computed from the predictions, for an evaluation during the training; ``classes`` is 0 for regression.

    ``scale`` is the standard deviation of the target in the training rows: the loss of a regression is the mean squared error in
    its units. Without rows there are no metrics. roc_auc is left out if all rows are of one class or there are no probabilities.
    """
    if not len(a):
        return {}
    values = {name: float(value[0]) for name, value in _metrics(a, classes, scale).scores().items()}
    if area := _roc_auc(a):
        values["roc_auc"] = area[0]
    if classes and a.likelihood is not None:
        values["loss"] = float(classification.losses(a).mean())
    return values


def report(a: Predictions, classes: int, seed: int, scale: float = 1.0) -> dict[str, dict]:
    """One split of metrics.json: each metric of ``summary`` with its 95 % interval and the number of rows.

    Accuracy has Wilson's interval. roc_auc has a similar one with DeLong's standard error. The other metrics have the middle 95 %
    over rows that are resampled by ``seed``. One row does not show how much rows vary, so only its accuracy has an interval.
    """
    values, n = {**summary(a, classes, scale), **_final(a, classes, scale)}, len(a)
    ranges = _resampled(a, classes, seed, scale, values) if n > 1 else {}
    if "accuracy" in values:
        ranges["accuracy"] = intervals.wilson(values["accuracy"], n)
        if values["accuracy"] == 1 and n > 1:
            _widen_perfect(ranges, a, values)
    return {name: {"value": value, **_low_and_high(ranges.get(name)), "n": n} for name, value in values.items()}


def confusion(a: Predictions, classes: int) -> list[list[int]]:
    """The confusion matrix: a row for each true class, a column for each predicted class; empty above ``MAX_CONFUSION`` classes."""
    if not 0 < classes <= MAX_CONFUSION:
        return []
    return final.confusion(a, classes)


def pick_metric(asked: str, label_counts: dict[str, int] | None) -> tuple[str, str]:
    """The metric that chooses the best model, with a sentence of reason.

    ``label_counts`` are the training rows of each label, None for regression. A metric that does not fit raises a UserError.
    """
    if asked != "auto":
        _check_fits(asked, label_counts)
        return asked, f"{asked} chooses the best model, as requested."
    if label_counts is None:
        return "rmse", "The root mean squared error chooses the best model: it is in the unit of the target and weighs large errors more."
    most, fewest = max(label_counts.values()), min(label_counts.values())
    if most > _UNEVEN * fewest:
        return "f1_macro", f"The classes are uneven ({fewest} to {most} rows), so the mean F1 of the classes chooses the best model."
    return "accuracy", "The classes are about even, so accuracy chooses the best model."


def _check_fits(asked: str, label_counts: dict[str, int] | None) -> None:
    known, task = (REGRESSION, "numbers") if label_counts is None else (CLASSIFICATION, "labels")
    if asked not in known:
        what, why = f"The metric {asked} does not fit data with {task} as the target.", f"The metrics for it are {some(known)}."
    elif asked == "roc_auc" and len(label_counts) > MAX_CLASSES:
        what, why = f"The metric roc_auc does not fit data with {len(label_counts)} labels.", f"It is computed for up to {MAX_CLASSES} labels."
    else:
        return
    raise UserError("wrong_metric", what, "Set metric to auto or to one that fits.", why)


def _metrics(a: Predictions, classes: int, scale: float) -> classification.Cells | regression.Moments:
    return classification.cells(a) if classes else regression.moments(a, scale)


def _final(a: Predictions, classes: int, scale: float) -> dict[str, float]:
    if not len(a):
        return {}
    return final.classification(a) if classes else final.regression(a, scale)


def _roc_auc(a: Predictions) -> tuple[float, float | None] | None:
    return None if a.probabilities is None else rank_statistics.roc_auc(a.truth, a.probabilities)


def _resampled(a: Predictions, classes: int, seed: int, scale: float, values: dict[str, float]) -> dict[str, tuple[float, float]]:
    """The interval of each of ``values`` that has one."""
    drawn = _metrics(a, classes, scale).resampled(seed)
    if classes and "loss" in values:
        drawn["loss"] = intervals.resampled_means(classification.losses(a)[:, None], seed)
    ranges = {name: intervals.percentiles(drawn[name], values[name]) for name in drawn}
    if (area := _roc_auc(a)) and area[1] is not None:
        ranges["roc_auc"] = intervals.like_a_share(*area, len(a))
    return ranges


def _widen_perfect(ranges: dict[str, tuple[float, float]], a: Predictions, values: dict[str, float]) -> None:
    """Widen the intervals if every prediction is correct: every resample is correct too, so its percentiles would be too narrow.

    The lower end of the accuracy's interval is used instead. F1 is about as large as the accuracy. Matthews' coefficient is 0 for
    guessing, so the lower end is converted to its scale.
    """
    least = ranges["accuracy"][0]
    guessed = float(((numpy.bincount(a.truth) / len(a)) ** 2).sum())
    for name in ("f1_macro", "f1_weighted"):
        ranges[name] = least, 1.0
    if values["mcc"] == 1:
        ranges["mcc"] = 1 - (1 - least) / (1 - guessed), 1.0


def _low_and_high(interval: tuple[float, float] | None) -> dict[str, float]:
    return {} if interval is None else {"low": interval[0], "high": interval[1]}
