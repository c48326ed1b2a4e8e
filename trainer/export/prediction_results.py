"""The results of a batch prediction: a table with a prediction for every row, and the data of the report."""

from collections.abc import Callable, Iterator

import numpy

from trainer.config.spec import Spec
from trainer.core import blocks
from trainer.data.labels_apart import LabelsApart
from trainer.export import answer_lines, by_id, display, likeness, results, to_label
from trainer.export.answer_lines import Layout, Marks
from trainer.export.finished import Answered, Asking, RowsRead
from trainer.measure.metric import described
from trainer.run_folder import files
from trainer.shift.comparison import Comparison
from trainer.targets import promise
from trainer.targets.target import Target

SAMPLES, PER_FILE = 20, 10_000
Table = Callable[[Layout, Answered, Marks | None], Iterator[str]]


def prediction(
    asking: Asking,
    answered: Answered,
    read: RowsRead,
    versions: dict,
    facts: dict[str, str] | None = None,
    unit: str = "",
    table: Table = answer_lines.table,
) -> None:
    """Write predictions.csv and result.json. ``facts`` are what else is said of the question, ``unit`` what was predicted, if it is
    not an example of the kind. ``table`` gives the text of predictions.csv, of kinds that have no own."""
    spec, settings, model, columns, kind = asking.spec, asking.settings, asking.model, read.columns, answered.kind
    of_examples = not unit
    compared = likeness.compared(model.description, answered, columns, asking.events)
    out = spec.work / results.OUT
    out.mkdir()
    facts = {**(facts or {}), **_without_promise(answered.target), **_without_profile(model.description)}
    own = kind.answers_table(answered, columns)
    marks = compared.marks if compared is not None and compared.marked else None
    layout = answer_lines.layout(settings, answered, columns, marks is not None)
    files.write_parts(out / "predictions.csv", [own] if own else table(layout, answered, marks))
    wanted = to_label.of(spec, model.description, answered, columns, read.label_column) if of_examples else to_label.Listed()
    wanted.write(out)
    if of_examples and not own:
        by_id.of_prediction(spec, answered, wanted.rows, read.apart, compared=not read.ids_by_name)
    about = {**kind.answer_files(answered, spec.work, out), **wanted.about}
    samples = kind.answers_samples(answered)
    found = {
        "model": _model(model, answered.target),
        "unit": unit or kind.called(model.description["task"], answered.examples),
        "rows": len(answered.examples),
        "skipped": read.skipped,
        "files": results.first(read.files),
        "input_columns": results.columns(columns),
        "samples": _samples(answered, columns) if samples is None else samples,
        **answered.target.overview(answered.outputs, settings),
        **_scores(asking, answered, read.label_column),
        **wanted.entries,
        **(_figures(answered, compared) if of_examples and not own else {}),
        **({"facts": [{"name": name, "value": value} for name, value in facts.items() if value]} if facts else {}),
    }  # fmt: skip
    if of_examples and samples is None and (kind.files_are_examples or not any(e.row for e in answered.examples)):
        found["per_file"] = _per_file(spec, answered)
    sections = [
        *kind.answers_sections(answered, spec.work),
        *([likeness.section(compared, kind.things)] if compared is not None else []),
        *wanted.sections,
    ]
    results.finish(
        spec, settings, "prediction", model.description["task"], asking.events, asking.began, prediction=found, versions=versions,
        metric_info=described(answered.target.metrics), about=about,
        sections=blocks.described(sections) if sections else None,
    )  # fmt: skip


def labels_alone(asking: Asking, target: Target, apart: LabelsApart, columns: list[str], versions: dict) -> None:
    """Write the results of a prediction that has no row to answer, but labels of rows that were predicted before."""
    spec, model = asking.spec, asking.model
    out = spec.work / results.OUT
    out.mkdir()
    files.write_text(out / "predictions.csv", display.table(["file", "row", "id", "content", "predicted"], []))
    by_id.of_labels(spec, target, apart)
    results.finish(
        spec, asking.settings, "prediction", model.description["task"], asking.events, asking.began,
        versions=versions, metric_info=described(target.metrics),
        prediction={
            "model": _model(model, target), "rows": 0, "files": results.first(apart.files), "input_columns": results.columns(columns), "samples": [],
            "facts": [{"name": "Labels of earlier predictions", "value": f"{len(apart.labels):,}"}],
        },
    )  # fmt: skip


def _model(model, target: Target) -> dict:
    version = model.version
    named = {"run": version.run, "name": version.name, "version": version.version}
    return {**named, "base": model.description["base"], "labels": list(target.labels)}


def _without_promise(target) -> dict[str, str]:
    """What is said of a model that could promise how sure its answers are and does not."""
    if not isinstance(target, promise.Promising) or target.promise is not None:
        return {}
    return {"How sure answers are": "Not promised: too little was held out in the training of the model, or an earlier version trained it."}


def _without_profile(described: dict) -> dict[str, str]:
    """What is said of a model that was trained before anything of its training rows was kept."""
    return {} if likeness.PROFILE in described else {"Like the training data": "Not compared: an earlier version trained the model."}


def _scores(asking: Asking, answered: Answered, label_column: str) -> dict:
    """How good the answers are, where the data has labels that the model knows."""
    rows = numpy.flatnonzero(answered.known)
    if not len(rows):
        return {}
    scores = answered.kind.answers_scores(answered, rows, asking.settings.seed)
    if not scores:
        asking.events.warning("labels_unused", "The answers have no scores: nothing of what the dataset says is right can be compared with them.")
    return {"label_column": label_column, "scores": scores, "trained_scores": asking.model.description["test"]}


def _figures(answered: Answered, compared: Comparison | None) -> dict:
    """What a history keeps of the answers: the mean of their probabilities or of the numbers, and how many rows are unlike the training rows."""
    found: dict = {} if compared is None else {"unlike": compared.marked}
    if answered.confidence is not None and answered.confidence.size:
        return found | {"mean_confidence": round(min(1.0, float(answered.confidence.mean())), 4)}
    numbers = answered.predicted
    if not answered.target.labels and numbers.ndim == 1 and numbers.dtype.kind == "f" and numbers.size:
        return found | {"mean": float(numbers.mean(dtype=numpy.float64))}
    return found


def _samples(answered: Answered, columns: list[str]) -> list[dict]:
    return [
        display.entry(e, answered.kind, columns, **_answer(answered, i), **({"label": answered.kind.shown_label(e)} if e.target else {}))
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
