"""The results of a training: model, metrics, predictions on the test rows, and the data of the report."""

import importlib.metadata
import itertools
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from trainer.config.settings import Settings
from trainer.config.spec import Spec
from trainer.core import blocks, columnar
from trainer.core.blocks import Section
from trainer.core.example import Dataset, Example
from trainer.core.plan import Plan
from trainer.data import origins
from trainer.export import by_id, display, doubted, likeness, promised, results, tempered, tested
from trainer.export.description import describe, use
from trainer.export.finished import Findings, Finished
from trainer.launch.outcome import Outcome, Trial
from trainer.measure.metric import described
from trainer.measure.predictions import Predictions
from trainer.models import license
from trainer.models.saved_model import DESCRIPTION
from trainer.run_folder import files
from trainer.run_folder.events import Events
from trainer.targets import promise

if TYPE_CHECKING:
    from trainer.training.baseline import Baselines
    from trainer.training.carry_out import Run
    from trainer.training.prepare import Prepared

_BLOCK = 1 << 16  # rows that are asked for their labels at once
SAMPLES = 5
BEST_FIRST = "accuracy", "r2"  # by which model and baseline are compared


def training(
    run: "Run",
    settings: Settings,
    data: Dataset,
    prepared: "Prepared",
    outcome: Outcome,
    simple: "Baselines",
    workers: int,
    findings: Findings,
) -> None:
    """Write all results that the worker did not write, and result.json last. ``settings`` are those of ``run`` with what the trainer chose, and
    ``simple`` the baselines on the test rows."""
    spec, events, out = run.spec, run.events, run.spec.work / results.OUT
    prepared, sections = promised.training(prepared, outcome.answers, settings, events, findings.held_out)
    sections += tempered.training(outcome, prepared.plan.target, events)
    plan = prepared.plan
    reports = {n: plan.target.report(a, settings.seed) for n, a in outcome.answers.items()}
    finished = Finished(settings, data, prepared, outcome, simple, reports, events, out / "model", origins.of(spec.inputs))
    figures = _figures(finished)
    _warn_single_class(outcome.answers["train"], plan.target, settings, events)
    _model(outcome, finished.folder, prepared, data, reports["test"])
    doubts = doubted.training(findings.looked, data, plan.target, events, finished.origins)
    _write(finished, figures, doubts, out)
    add_event_files(spec, settings, out)
    by_id.of_training(spec, plan.target, data.splits)
    if outcome.learning_rate and not settings.learning_rate:
        settings = settings.with_chosen(learning_rate=outcome.learning_rate)
    model = _described_model(prepared, outcome, finished.folder)
    results.finish(
        spec, settings, "training", plan.task, events, run.began,
        checks=data.checks,
        warnings=outcome.warnings,
        estimate_seconds=outcome.estimate_seconds,
        hardware=outcome.hardware,
        versions={**outcome.versions, "ray": importlib.metadata.version("ray")},
        unit=plan.thing, metric_info=described(plan.target.metrics),
        metric=plan.metric, best_epoch=figures["best_epoch"], best_step=figures["best_step"], metrics=figures,
        model=model, usage=usage(prepared, data, model, finished.folder),
        data=results.data_of(data, prepared.encoder.described(), _samples(data), plan.target),
        training=described_training(settings, outcome, workers),
        champion=compared_champion(spec, plan, outcome),
        candidates=findings.candidates,
        search=findings.search,
        **_parts(finished, [*sections, *findings.relied, *doubts.sections], doubts.about),
        **tested.details(plan.kind.by_answers(data), plan.target, outcome.answers["test"], simple),
    )  # fmt: skip


def _figures(finished: Finished) -> dict:
    """The document metrics.json, with what the kind adds. The scores on the test rows are an event, too."""
    plan, at, reports = finished.prepared.plan, finished.outcome.position, finished.reports
    found = {
        "task": plan.task,
        "metric": plan.metric,
        "best_epoch": at.best_epoch,
        "best_step": at.best_step,
        **reports,
        "baselines": [*finished.simple.reports, *plan.kind.add_scores(finished)],
    }
    if reports["test"]:
        finished.events.eval(at.best_epoch, at.best_step, "test", {name: score["value"] for name, score in reports["test"].items()})
    return found


def _write(finished: Finished, figures: dict, doubts: doubted.Listed, out: Path) -> None:
    """Write the files beside the model: metrics, predictions on the test rows, labels to check, and a baseline that is as good."""
    plan = finished.prepared.plan
    files.write_json(out / "metrics.json", figures)
    of_kind = plan.kind.predictions(finished)
    files.write_parts(out / "predictions.csv", [of_kind] if of_kind else _predictions(finished))
    doubts.write(out)
    if _baseline_wins(finished.reports["test"], finished.simple):
        _save_baseline(finished.simple, out / "baseline", plan, finished.data, finished.prepared)


def _parts(finished: Finished, sections: list[Section], about: dict) -> dict:
    """What the kind adds to result.json, with these sections behind its own, and ``about``, which describes files."""
    parts = finished.prepared.plan.kind.parts(finished)
    if sections:
        parts = {**parts, "sections": [*parts.get("sections", []), *blocks.described(sections)]}
    return {**parts, "about": {**parts.get("about", {}), **about}}


def check(run: "Run", settings: Settings, data: Dataset, prepared: "Prepared", trial: Trial, parts: dict | None = None) -> None:
    """Write the result of a dry run: the checks of data and cluster, and the estimated time of the training. ``parts`` has the ``data`` of
    result.json where it is not that of examples, and ``sections``."""
    packages = " and ".join(f"{name} {trial.versions[name]}" for name in ("torch", "transformers") if name in trial.versions)
    ready = f"A worker was started; it trains on {trial.device.upper()}, can write to the shared folder and has {packages}."
    if not packages:
        ready = (
            f"The model {settings.model} needs no worker: it is trained on one CPU of the driver, with scikit-learn {trial.versions['scikit-learn']}."
        )
    results.finish(
        run.spec, settings, "check", data.task, run.events, run.began,
        checks=[{"code": "worker", "level": "ok", "text": ready}, *data.checks],
        estimate_seconds=round(trial.seconds, 1), hardware=trial.hardware, versions=trial.versions,
        unit=data.kind.called(data.task, data.splits["train"]),
        **(parts or {"data": results.data_of(data, prepared.encoder.described(), _samples(data), prepared.plan.target)}),
    )  # fmt: skip


def _model(outcome: Outcome, to: Path, prepared: "Prepared", data: Dataset, test: dict) -> None:
    """Take over the model folder from the worker, and complete it with what belongs to the weights. A merged model has its adapter in
    a folder of its own: beside the merged weights, libraries would apply it a second time."""
    to.parent.mkdir()
    merged = getattr(outcome.details, "merged", None)
    os.rename(merged or outcome.saved, to)
    if merged:
        os.rename(outcome.saved, to / "adapter")
    prepared.encoder.save(to)
    if prepared.plan.target.labels:
        files.write_json(to / "labels.json", list(prepared.plan.target.labels))
    description = {**describe(prepared, data, test), likeness.PROFILE: likeness.learnt(data, prepared.plan.target, outcome.answers["test"])}
    files.write_json(to / DESCRIPTION, {**description, "use": use(prepared, description, to)})


def _warn_single_class(train: Predictions, target, settings: Settings, events: Events) -> None:
    """Warn if the model predicts the same class for all training rows."""
    if not isinstance(train, Predictions) or not target.labels or len(set(train.predicted.tolist())) > 1 or len(set(train.truth.tolist())) == 1:
        return
    do = "Set a smaller learning_rate, or 0 to choose it automatically." if settings.learning_rate else "More epochs or more examples may help."
    label = target.labels[int(train.predicted[0])]
    events.warning("one_answer", f"The model predicts {label} for every row: it did not learn to distinguish the classes. {do}")


def usage(prepared: "Prepared", data: Dataset, model: dict, folder: Path) -> dict:
    """``usage`` of result.json: how the model in ``folder`` is used. ``model`` is that of result.json."""
    plan = prepared.plan
    found = {
        "snippet": plan.kind.snippet(plan.base.name, plan.task, folder),
        "baseline": plan.kind.baseline_snippet,
        "input": plan.kind.reads(model),
        "output": plan.kind.answers_in_words(plan.target.labels, data),
    }
    return {name: words for name, words in found.items() if words}


def _described_model(prepared: "Prepared", outcome: Outcome, folder: Path) -> dict:
    plan = prepared.plan
    described = prepared.encoder.described()["model"]
    if "columns" in described:
        described = {**described, "columns": results.columns(described["columns"])}
    licensed = "" if plan.base.fresh else license.of(plan.base.folder)
    return {
        **({"license": licensed} if licensed else {}),
        **({"base_commit": plan.base.commit} if plan.base.commit else {}),
        "kind": plan.kind.name,
        "base": plan.base.name,
        "from_scratch": plan.base.fresh,
        "gains_by_base": plan.kind.gains_by_base,
        "parameters": outcome.parameters,
        "labels": list(plan.target.labels),
        **described,
        **plan.kind.described_model(folder),
        "weights_sha256": files.sha256(next(iter(sorted(folder.glob("*.safetensors"))))),
    }


def add_event_files(spec: Spec, settings: Settings, out: Path) -> None:
    """Add the event files of TensorBoard to ``out``, if the user wants everything."""
    if settings.upload == "everything" and (spec.folder / "tensorboard").is_dir():
        shutil.copytree(spec.folder / "tensorboard", out / "tensorboard", dirs_exist_ok=True)


def described_training(settings: Settings, outcome: Outcome, workers: int) -> dict:
    """The ``training`` of result.json."""
    return {
        "seed": settings.seed,
        "device": outcome.device,
        "workers": workers,
        "threads": outcome.threads,
        "seconds": outcome.seconds,
        "samples_per_second": outcome.samples_per_second,
        "peak_memory_bytes": max(w["peak_memory_bytes"] for w in outcome.workers),
        "epochs": outcome.epochs,
        "steps": outcome.position.step,
        "learning_rate": outcome.learning_rate,
        "batch_size": settings.batch_size,
        "accumulation": outcome.accumulation,
        "precision": outcome.precision,
        "resumed": outcome.position.resumed,
        "gradient_bytes": outcome.gradient_bytes,
        "stopped": outcome.stopped,
        "per_worker": outcome.workers,
    }


def compared_champion(spec: Spec, plan, outcome: Outcome) -> dict | None:
    """The ``champion`` of result.json; None where there is none."""
    if spec.champion is None:
        return None
    found = {"run": spec.champion.run, "name": spec.champion.name, "version": spec.champion.version}
    if outcome.champion is None:
        return {**found, "comparable": False, "why": plan.champion.why}
    return {**found, "comparable": True, "test": plan.target.report(outcome.champion, plan.settings.seed)}


def _samples(data: Dataset) -> list[dict]:
    """A few training examples, of different labels where there are some."""
    train = data.splits["train"]
    first: dict[str, int] = {}
    for start in range(0, len(train), _BLOCK):
        for place, target in enumerate(columnar.targets(train[start : start + _BLOCK]), start):
            first.setdefault(target, place)
        if len(first) >= SAMPLES:
            break
    chosen: list[Example] = [train[i] for i in itertools.islice(first.values(), SAMPLES)]
    chosen += [e for e in train[: 2 * SAMPLES] if e not in chosen][: SAMPLES - len(chosen)]
    return [display.entry(e, data.kind, data.columns, label=data.kind.shown_label(e)) for e in chosen]


def _predictions(finished: Finished) -> Iterator[str]:
    """predictions.csv in parts: one line for each test row, in the order of the data."""
    data, target, test = finished.data, finished.prepared.plan.target, finished.outcome.answers["test"]
    has_id, classifies = columnar.have_ids(data.splits["test"]), test.confidence is not None
    beside = promise.columns(target, test.probabilities if classifies else test.predicted)
    head = ["file", "row", *["id"] * has_id, "content", "label", "predicted", *["confidence", "probability of label"] * classifies, *beside]

    def line_of(i: int, example: Example) -> list:
        line = [example.file, example.row, *[example.id] * has_id, data.kind.content(example, data.columns), example.target]
        line.append(target.text(test.predicted[i]))
        if classifies:
            line += [f"{test.confidence[i]:.4f}", f"{test.likelihood[i]:.4f}"]
        return [*line, *(cells[i] for cells in beside.values())]

    return display.parts(head, itertools.starmap(line_of, enumerate(data.splits["test"])), finished.origins)


def _save_baseline(simple: "Baselines", to: Path, plan: Plan, data: Dataset, prepared: "Prepared") -> None:
    simple.save(to, {
        "kind": plan.kind.name, "title": simple.title, "task": plan.task, "columns": list(data.columns), "labels": list(plan.target.labels),
        "encoder": prepared.encoder.described()["encoder"],
    })  # fmt: skip


def _baseline_wins(test: dict, simple: "Baselines") -> bool:
    """Whether the linear model is as good as the trained one on the test rows, so that it is worth delivering."""
    metric = next((m for m in BEST_FIRST if m in test), None)
    score = simple.score(metric) if metric else None
    return simple.linear is not None and score is not None and score >= test[metric]["value"]
