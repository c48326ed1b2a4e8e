"""The results of a batch prediction: a table with a prediction for every row, and the data of the report."""

import itertools
from collections.abc import Iterator, Sequence

import numpy

from trainer.config.spec import Spec
from trainer.core import blocks, columnar
from trainer.core.example import Example
from trainer.errors import some
from trainer.export import display, likeness, results
from trainer.export.finished import Answered
from trainer.measure.metric import described
from trainer.run_folder import files
from trainer.run_folder.events import Events
from trainer.shift.comparison import Comparison
from trainer.targets import promise

SAMPLES, PER_FILE = 20, 10_000


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
    facts: dict[str, str] | None = None,
    unit: str = "",
) -> None:
    """Write predictions.csv and result.json. ``facts`` are what else is said of the question, ``unit`` what was predicted; empty for rows."""
    kind = answered.kind
    compared = likeness.compared(model.description, answered, columns, events)
    out = spec.work / results.OUT
    out.mkdir()
    facts = {**(facts or {}), **_without_promise(answered.target)}
    own = kind.answers_table(answered, columns)
    files.write_parts(out / "predictions.csv", [own] if own else _table(settings, answered, columns, compared))
    about = kind.answer_files(answered, spec.work, out)
    samples = kind.answers_samples(answered)
    found = {
        "model": {
            "run": model.version.run, "name": model.version.name, "version": model.version.version,
            "base": model.description["base"], "labels": list(answered.target.labels),
        },
        **({"unit": unit} if unit else {}),
        "rows": len(answered.examples),
        "skipped": skipped,
        "files": results.first(read),
        "input_columns": results.columns(columns),
        "samples": _samples(answered, columns) if samples is None else samples,
        **answered.target.overview(answered.outputs, settings),
        **_scores(settings, model, answered, label_column, events),
        **({"facts": [{"name": name, "value": value} for name, value in facts.items() if value]} if facts else {}),
    }  # fmt: skip
    if samples is None and not unit and (kind.files_are_examples or not any(e.row for e in answered.examples)):
        found["per_file"] = _per_file(spec, answered)
    sections = [*kind.answers_sections(answered), *([likeness.section(compared, kind.things)] if compared is not None else [])]
    results.finish(
        spec, settings, "prediction", model.description["task"], events, began, prediction=found, versions=versions,
        metric_info=described(answered.target.metrics), about=about,
        sections=blocks.described(sections) if sections else None,
    )  # fmt: skip


def _without_promise(target) -> dict[str, str]:
    """What is said of a model that could promise how sure its answers are and does not."""
    if not isinstance(target, promise.Promising) or target.promise is not None:
        return {}
    return {"How sure answers are": "Not promised: too few rows were held out in the training of the model, or an earlier version trained it."}


def _table(settings, answered: Answered, columns: list[str], compared: Comparison | None) -> Iterator[str]:
    """One line for each example: the answer, how sure it is, what else is possible, the next likely ones, and in what it is unlike the training where
    any is."""
    has_id, knows = columnar.have_ids(answered.examples), bool(answered.known.any())
    others = 0 if answered.confidence is None else min(settings.top_k, len(answered.target.labels))
    beside = promise.columns(answered.target, answered.outputs)
    head = ["file", "row", *["id"] * has_id, "content", *["label"] * knows, "predicted"]
    if answered.confidence is not None:
        head += [
            "confidence",
            *["unsure"] * bool(settings.min_confidence),
            *beside,
            *(f"{what} {i}" for i in range(2, others + 1) for what in ("choice", "probability")),
        ]
    else:
        head += beside
    cells = zip(*beside.values()) if beside else itertools.repeat(())
    rows = zip(answered.examples, cells)
    lines = (_line(settings, answered, i, example, columns, has_id, knows, others, more) for i, (example, more) in enumerate(rows))
    if compared is None or not compared.marked:
        return display.parts(head, lines)
    return display.parts([*head, likeness.MARKS], ([*line, some(marks, 5)] for line, marks in zip(lines, compared.marks)))


def _line(
    settings, answered: Answered, i: int, example: Example, columns: list[str], has_id: bool, knows: bool, others: int, beside: Sequence[str]
) -> list:
    target = answered.target
    line = [example.file, example.row, *[example.id] * has_id, answered.kind.content(example, columns), *[example.target] * knows]
    line.append(target.text(answered.predicted[i]))
    if answered.confidence is None:
        return [*line, *beside]
    sure = answered.confidence[i]
    line += [f"{sure:.4f}", *["yes" if sure < settings.min_confidence else "no"] * bool(settings.min_confidence), *beside]
    likely = numpy.argsort(-answered.outputs[i], kind="stable")
    for place in likely[likely != answered.predicted[i]][: max(0, others - 1)]:  # the answer need not be the likeliest class
        line += [target.labels[place], f"{answered.outputs[i][place]:.4f}"]
    return line


def _scores(settings, model, answered: Answered, label_column: str, events: Events) -> dict:
    """How good the answers are, where the data has labels that the model knows."""
    rows = numpy.flatnonzero(answered.known)
    if not len(rows):
        return {}
    scores = answered.kind.answers_scores(answered, rows, settings.seed)
    if not scores:
        events.warning("labels_unused", "The answers have no scores: nothing of what the dataset says is right can be compared with them.")
    return {"label_column": label_column, "scores": scores, "trained_scores": model.description["test"]}


def _samples(answered: Answered, columns: list[str]) -> list[dict]:
    return [
        display.entry(e, answered.kind, columns, **_answer(answered, i), **({"label": e.target} if e.target else {}))
        for i, e in enumerate(answered.examples[:SAMPLES])
    ]


def _answer(answered: Answered, i: int) -> dict:
    found = {"predicted": answered.target.text(answered.predicted[i])}
    return {**found, "confidence": round(float(answered.confidence[i]), 4)} if answered.confidence is not None else found


def _per_file(spec: Spec, answered: Answered) -> list[dict]:
    """The answer for each file of the dataset that is an example by itself."""
    ids = {i.name: i.id for i in spec.inputs if i.id}
    beside = promise.columns(answered.target, answered.outputs[:PER_FILE])
    found = []
    for i, example in enumerate(answered.examples[:PER_FILE]):
        more = {name: cells[i] for name, cells in beside.items()}
        found.append({"file": example.file, **({"id": ids[example.file]} if example.file in ids else {}), **_answer(answered, i), **more})
    return results.first(found)
