"""Simple models on the same rows, to compare the trained model with: a constant prediction, and a linear model."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trainer import memory
from trainer.core import mapped
from trainer.core.example import Dataset
from trainer.core.example_targets import encoded_targets
from trainer.measure import label_sets_linear, linear, linear_files
from trainer.measure.linear import Linear
from trainer.measure.tfidf import TfIdf
from trainer.training.prepare import Prepared

if TYPE_CHECKING:
    from trainer.estimators import Estimator


@dataclass(frozen=True)
class Baselines:
    """``reports`` are the baselines of metrics.json; ``linear`` is None where the linear model would be too large.

    ``predictions`` are the linear model's on the test rows.
    """

    reports: list[dict]
    linear: Linear | None
    predictions: Any
    tfidf: TfIdf | None
    title: str

    def score(self, metric: str) -> float | None:
        """The linear model's score on the test rows."""
        found: dict = next((r["test"] for r in self.reports if r["name"] == "linear"), {})
        return found[metric]["value"] if metric in found else None

    def save(self, folder: Path, description: dict) -> None:
        linear_files.save(folder, self.linear, description, self.tfidf)


def compute(prepared: Prepared, data: Dataset, fitted: dict[str, "Estimator"]) -> Baselines:
    """Compute the baselines. ``fitted`` are the estimators on the same rows by name, one of which may have the linear model already.

    Do not call it in a thread during the training: SciPy looks for torch among the loaded modules and fails if another thread is still
    importing it.
    """
    plan = prepared.plan
    target, seed = plan.target, plan.settings.seed
    if (entries := plan.kind.baselines(data, seed)) is not None:
        return Baselines(entries, None, None, None, "")
    truth = {n: mapped.kept(encoded_targets(rows, target.encode), Path(plan.work)) for n, rows in data.splits.items()}
    constant, title = target.constant(truth["train"], truth["test"])
    reports = [{"name": "constant", "title": title, "role": "constant", "test": target.report(constant, seed)}]
    if (simple := plan.kind.simple_answers(data, target, truth, fitted)) is not None:
        answers, title = simple
        reports.append({"name": "linear", "title": title, "role": "simple", "test": target.report(answers, seed)})
        return Baselines(reports, None, answers, None, title)
    # The rows of a text model may be pieces of long texts, or lack texts that were left out. The linear model takes the examples.
    memory.release()
    classes = len(target.labels)
    read = plan.kind.linear_features(prepared.encoder, data, plan.splits, linear.max_width(classes))
    if read is None:
        return Baselines(reports, None, None, None, "")
    if data.separator:
        several = label_sets_linear.answers(read.features, truth, seed)
        if several is None:
            return Baselines(reports, None, None, None, "")
        reports.append({"name": "linear", "title": read.title, "role": "simple", "test": target.report(several, seed)})
        return Baselines(reports, None, several, None, read.title)
    model = linear.fit(read.features["train"], truth["train"], read.features["validation"], truth["validation"], classes, seed)
    mapped.rest()
    memory.release()
    predictions = None
    if model is not None:
        answers = {n: model.predict(read.features[n], truth[n]) for n in ("validation", "test")}
        predictions = target.finding_rare(answers, plan.metric)[1]["test"]
        reports.append({"name": "linear", "title": read.title, "role": "simple", "test": target.report(predictions, seed)})
    mapped.rest()
    return Baselines(reports, model, predictions, read.terms, read.title)
