"""Simple models on the same rows, to compare the trained model with: a constant prediction, and a linear model."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from trainer import tasks
from trainer.data import Dataset
from trainer.kinds.text.label_sets import measure as label_sets
from trainer.kinds.tokens import memorised, reading as tokens
from trainer.measure import linear, linear_files, metrics
from trainer.measure.dummy import dummy
from trainer.measure.linear import Linear
from trainer.measure.predictions import Predictions
from trainer.measure.tfidf import TfIdf
from trainer.prepare import Prepared
from trainer.targets.target import Classes, Labels

if TYPE_CHECKING:
    from trainer.kinds.text.words import Words


@dataclass(frozen=True)
class Baselines:
    """``reports`` are the baselines of metrics.json; ``linear`` is None where the linear model would be too large.

    ``predictions`` are the linear model's on the test rows.
    """

    reports: list[dict]
    linear: Linear | None
    predictions: Predictions | None
    tfidf: TfIdf | None
    title: str

    def score(self, metric: str) -> float | None:
        """The linear model's score on the test rows."""
        found: dict = next((r["test"] for r in self.reports if r["name"] == "linear"), {})
        return found[metric]["value"] if metric in found else None

    def save(self, folder: Path, description: dict) -> None:
        linear_files.save(folder, self.linear, description, self.tfidf)


def compute(prepared: Prepared, data: Dataset, words: "Words | None" = None) -> Baselines:
    """Compute the baselines. ``words`` is the estimator on the same texts, if one was fitted: it has the linear model already.

    Do not call it in a thread during the training: SciPy looks for torch among the loaded modules and fails if another thread is still
    importing it.
    """
    plan = prepared.plan
    if plan.kind == "language":
        from trainer.kinds.language import simple

        table = simple.baseline(data, plan.settings.seed)
        return Baselines([table] if table else [], None, None, None, "")
    classes, scale = (plan.target.outputs, 1.0) if isinstance(plan.target, Classes) else (0, plan.target.std)
    seed = plan.settings.seed
    truth = {n: plan.target.encode([e.target for e in examples]) for n, examples in data.splits.items()}
    if isinstance(plan.target, Labels):
        same, title = metrics.report(label_sets.dummy(truth["train"], truth["test"]), classes, seed, scale), "most frequent label"
    else:
        same = metrics.report(dummy(truth["train"], truth["test"], classes), classes, seed, scale)
        title = "most frequent class" if classes else "mean"
    reports = [{"name": "constant", "title": title, "test": same}]
    if plan.kind == tokens.KIND:
        looked_up = memorised.predict(data.splits["train"], truth["train"], data.splits["test"], truth["test"], classes)
        reports.append({"name": "linear", "title": memorised.TITLE, "test": metrics.report(looked_up, classes, seed, scale)})
        return Baselines(reports, None, looked_up, None, memorised.TITLE)
    if words is not None:
        by_words = plan.target.answers(words.simple_outputs(data.splits["test"]), truth["test"])
        reports.append({"name": "linear", "title": "bag of words", "test": metrics.report(by_words, classes, seed, scale)})
        return Baselines(reports, None, cast(Predictions, by_words), None, "bag of words")
    # The rows of a text model may be pieces of long texts, or lack texts that were left out. The linear model takes the examples.
    features, tfidf, title = tasks.of(plan.kind).baseline(prepared.encoder, data, plan.splits, linear.max_width(classes))
    fitted = linear.fit(features["train"], truth["train"], features["validation"], truth["validation"], classes, seed)
    predictions = None
    if fitted is not None:
        predictions = fitted.predict(features["test"], truth["test"])
        scores = metrics.report(predictions, classes, seed, scale)
        reports.append({"name": "linear", "title": title, "test": scores})
    return Baselines(reports, fitted, predictions, tfidf, title)
