"""The linear baseline of rows with several labels: logistic regression tells each label from its absence."""

import numpy

from trainer.measure import label_thresholds, linear
from trainer.measure.label_sets import LabelSets
from trainer.measure.linear import Features

SECONDS = 20.0  # for all labels together, by the assumed speed of ``linear.fit``


def answers(features: dict[str, Features], truth: dict[str, numpy.ndarray], seed: int) -> LabelSets | None:
    """The answers on the test rows, from features and labels (rows x labels, 0 or 1) of each split. None if the model would be too large.

    The thresholds are those that fit the validation rows best.
    """
    labels = truth["train"].shape[1]
    if features["train"].shape[1] * labels > linear.MAX_WEIGHTS:
        return None
    odds: dict[str, list[numpy.ndarray]] = {"validation": [], "test": []}
    for i in range(labels):
        of_label = {name: encoded[:, i] for name, encoded in truth.items()}
        model = linear.fit(
            features["train"], of_label["train"], features["validation"], of_label["validation"], 2, seed, budget_seconds=SECONDS / labels
        )
        if model is None:
            return None
        for name, found in odds.items():
            scores = features[name] @ model.weights + model.bias
            found.append(1 / (1 + numpy.exp(numpy.clip(scores[:, 0] - scores[:, 1], -30, 30))))
    likely = {name: numpy.stack(found, axis=1).astype(numpy.float64) for name, found in odds.items()}
    thresholds = numpy.full(labels, label_thresholds.USUAL)
    if len(likely["validation"]):
        thresholds = label_thresholds.best(likely["validation"], truth["validation"] > 0)
    return LabelSets(truth["test"] > 0, likely["test"] >= thresholds, likely["test"])
