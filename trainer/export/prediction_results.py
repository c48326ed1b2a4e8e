"""The results of a batch prediction: a table with a prediction for every row, and the data of the report."""

import collections
import functools
from dataclasses import dataclass

import numpy

from trainer.config.spec import Spec
from trainer.data import Example
from trainer.export import display, results
from trainer.kinds.language import likelihoods
from trainer.kinds.text.label_sets import results as label_results
from trainer.kinds.tokens import results as token_results
from trainer.measure import metrics
from trainer.measure.histogram import histogram
from trainer.run_folder import files
from trainer.run_folder.events import Events
from trainer.targets.target import Classes, Labels, Number, Target, Tokens

SAMPLES, PER_FILE = 20, 10_000


@dataclass(frozen=True)
class Answered:
    """Examples with the outputs of a model (see Objective.outputs) and, where ``known``, what would be right."""

    examples: list[Example]
    outputs: numpy.ndarray
    wanted: numpy.ndarray
    known: numpy.ndarray
    target: Target

    @property
    def classifies(self) -> bool:
        return isinstance(self.target, Classes)

    @functools.cached_property
    def predicted(self) -> numpy.ndarray:
        if isinstance(self.target, Labels):
            return self.outputs[:, len(self.target.labels) :] > 0.5
        return self.outputs.argmax(axis=1) if self.classifies else self.outputs

    @functools.cached_property
    def confidence(self) -> numpy.ndarray:
        return self.outputs.max(axis=1)


def prediction(
    spec: Spec,
    settings,
    model,
    answered: Answered,
    read: list[str],
    columns: list[str],
    skipped: int,
    label_column: str,
    versions: dict,
    events: Events,
    began: float,
    graph: dict | None = None,
) -> None:
    """Write predictions.csv and result.json. ``graph`` says what was asked of a graph."""
    kind = model.description["kind"]
    (spec.work / results.OUT).mkdir()
    words = answered.examples if isinstance(answered.examples, token_results.Words) else None
    if words is None:
        written = _table(settings, answered, kind, columns)
    else:
        written = token_results.table(words, answered.target.labels, answered.predicted, answered.confidence, None)
    files.write_text(spec.work / results.OUT / "predictions.csv", written)
    found = {
        "model": {
            "run": model.version.run, "name": model.version.name, "version": model.version.version,
            "base": model.description["base"], "labels": list(answered.target.labels),
        },
        "rows": len(answered.examples),
        "skipped": skipped,
        "files": results.first(read),
        "input_columns": results.columns(columns),
        "samples": _samples(answered, kind, columns) if words is None else token_results.samples(words, answered.target.labels, answered.predicted),
        **_summary(settings, answered),
        **_scores(settings, model, answered, label_column),
        **({} if graph is None else {"graph": graph}),
    }  # fmt: skip
    if words is None and graph is None and (kind == "image" or all(e.row == 0 for e in answered.examples)):
        found["per_file"] = _per_file(spec, answered)
    results.finish(spec, settings, "prediction", model.description["task"], events, began, prediction=found, versions=versions)


def _table(settings, answered: Answered, kind: str, columns: list[str]) -> str:
    """One line for each example: the answer, how sure it is, and the next likely ones."""
    has_id, knows = any(e.id for e in answered.examples), bool(answered.known.any())
    if isinstance(answered.target, Labels):
        return label_results.table(answered.examples, answered.target, answered.outputs, kind, columns, knows)
    others = min(settings.top_k, len(answered.target.labels)) if answered.classifies else 0
    head = ["file", "row", *["id"] * has_id, "content", *["label"] * knows, "predicted"]
    if answered.classifies:
        head += [
            "confidence",
            *["unsure"] * bool(settings.min_confidence),
            *(f"{what} {i}" for i in range(2, others + 1) for what in ("choice", "probability")),
        ]
    return display.table(head, (_line(settings, answered, i, kind, columns, has_id, knows, others) for i in range(len(answered.examples))))


def _line(settings, answered: Answered, i: int, kind: str, columns: list[str], has_id: bool, knows: bool, others: int) -> list:
    example, target = answered.examples[i], answered.target
    line = [example.file, example.row, *[example.id] * has_id, display.content(example, kind, columns), *[example.target] * knows]
    line.append(target.text(answered.predicted[i]))
    if not answered.classifies:
        return line
    sure = answered.confidence[i]
    line += [f"{sure:.4f}", *["yes" if sure < settings.min_confidence else "no"] * bool(settings.min_confidence)]
    for place in numpy.argsort(-answered.outputs[i], kind="stable")[1:others]:
        line += [target.labels[place], f"{answered.outputs[i][place]:.4f}"]
    return line


def _summary(settings, answered: Answered) -> dict:
    if isinstance(answered.target, Tokens):
        return {"values": histogram([len(text.split()) for text in answered.outputs], unit="words")}
    if isinstance(answered.target, Labels):
        counts = dict(zip(answered.target.labels, answered.predicted.sum(axis=0).tolist(), strict=True))
        return {"counts": counts, "values": histogram(answered.predicted.sum(axis=1), unit="labels of a row")}
    if not answered.classifies:
        return {"values": histogram(answered.outputs)}
    counts = collections.Counter(answered.target.labels[p] for p in answered.predicted)
    return {
        "counts": {label: counts[label] for label in answered.target.labels},
        "values": histogram(answered.confidence, unit="confidence"),
        "min_confidence": settings.min_confidence,
        "unsure": int((answered.confidence < settings.min_confidence).sum()),
    }


def _scores(settings, model, answered: Answered, label_column: str) -> dict:
    """How good the answers are, where the data has labels that the model knows."""
    rows = numpy.flatnonzero(answered.known)
    if not len(rows):
        return {}
    if isinstance(answered.target, Tokens):
        right = sum(answered.outputs[i].split() == answered.examples[i].target.split() for i in rows)
        scores = {"exact_match": likelihoods.of_share(right, len(rows))}
        return {"label_column": label_column, "scores": scores, "trained_scores": model.description["test"]}
    answers = answered.target.answers(answered.outputs[rows], answered.wanted[rows])
    classes, scale = (0, answered.target.std) if isinstance(answered.target, Number) else (answered.target.outputs, 1.0)
    scores = metrics.report(answers, classes, settings.seed, scale)
    return {"label_column": label_column, "scores": scores, "trained_scores": model.description["test"]}


def _samples(answered: Answered, kind: str, columns: list[str]) -> list[dict]:
    return [
        display.entry(e, kind, columns, **_answer(answered, i), **({"label": e.target} if e.target else {}))
        for i, e in enumerate(answered.examples[:SAMPLES])
    ]


def _answer(answered: Answered, i: int) -> dict:
    found = {"predicted": answered.target.text(answered.predicted[i])}
    return {**found, "confidence": round(float(answered.confidence[i]), 4)} if answered.classifies else found


def _per_file(spec: Spec, answered: Answered) -> list[dict]:
    """The answer for each file of the dataset that is an example by itself."""
    ids = {i.name: i.id for i in spec.inputs if i.id}
    found = []
    for i, example in enumerate(answered.examples[:PER_FILE]):
        found.append({"file": example.file, **({"id": ids[example.file]} if example.file in ids else {}), **_answer(answered, i)})
    return results.first(found)
