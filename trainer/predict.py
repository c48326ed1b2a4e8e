"""Batch prediction: the model of an earlier run predicts the rows of a dataset."""

import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

import numpy

from trainer import estimators, export, parted
from trainer.archive.zips import Archive, NotAnArchive
from trainer.config.spec import Spec, Version
from trainer.core import registry
from trainer.core.columnar import targets
from trainer.core.columns import Columns
from trainer.core.example import Example
from trainer.core.input import Input
from trainer.core.kind import Kind
from trainer.data import sources
from trainer.data.columns.features import PICTURE
from trainer.errors import UserError, count, reading_model, some
from trainer.export import answer_lines
from trainer.models import saved_model
from trainer.models.catalogue import Base
from trainer.parted.pieces import AT_ONCE, Question
from trainer.run_folder import stop
from trainer.run_folder.events import Events
from trainer.targets import threshold as thresholds
from trainer.targets.target import fits

_KINDS = (".json", ".txt", ".safetensors", ".model", ".jinja")  # the files of a model of this trainer; none of them runs code


@dataclass(frozen=True)
class Model:
    """A saved model: its folder, its description, and its registered version."""

    folder: Path
    description: dict
    version: Version

    @property
    def kind(self) -> Kind:
        return registry.of(self.description["kind"])

    @property
    def base(self) -> Base:
        size = sum(f.stat().st_size for f in self.folder.glob("*.safetensors"))
        return Base(self.description["base"], self.description["kind"], self.folder, size, fresh=False)

    @property
    def needs_no_worker(self) -> bool:
        return self.kind.needs_no_worker(self.description)


def find(spec: Spec, settings) -> Model:
    """The model of the spec, otherwise the model_file of the dataset. Raises UserError."""
    if spec.model is not None:
        return Model(spec.model.folder, _description(spec.model.folder, f"the model {spec.model.name or spec.model.run}"), spec.model)
    if not settings.model_file:
        raise UserError("no_model", "There is no model to predict with.", "Set model, or set model_file to a model.zip of the dataset.")
    file = _file(spec, settings.model_file)
    folder = _unpacked(file, spec)
    described = _description(folder, file.name)
    return Model(folder, described, Version(folder, described.get("run", "")))


def run(spec: Spec, settings, model: Model, launcher, events: Events, began: float) -> None:
    """Read the rows, predict them, and write the results."""
    saved = _file(spec, settings.model_file) if settings.model_file else None
    others = tuple(i for i in spec.inputs if i != saved)
    model.kind.answer(export.Asking(replace(spec, inputs=others), settings, model, events, began), launcher)


def examples(asking: export.Asking, launcher) -> None:
    """Predict the examples of the dataset, one by one."""
    spec, settings, model, events = asking.spec, asking.settings, asking.model, asking.events
    described, kind = model.description, model.kind
    with reading_model("The model"):
        target = registry.restored(described["target"])
        encoder = None if model.needs_no_worker else kind.load_encoder(spec, model.folder, described["encoder"])
        beside = kind.load_beside(model.folder)
    label_column = settings.label_column or described["label_column"]
    columns = tuple(described["columns"])
    if settings.text_column and kind.text_column_replaces_columns:
        columns = tuple(c.strip() for c in settings.text_column.split(","))
    found = sources.find(spec, settings.data_file, events)
    wanted = Columns(columns, described["types"], label_column, saved_model.styles(described))
    try:
        rows_read, files, skipped = kind.read_rows(found, wanted, settings, events)
    except UserError as e:
        if e.code != "no_data" or not found.labels_apart.labels:
            raise
        export.labels_alone(asking, target, found.labels_apart, list(columns), _versions())
        return
    if not rows_read:
        raise UserError(
            "no_rows", f"No row of {some(files, 3)} can be predicted: the columns that the model reads are empty in every row.",
            "Fill in these columns, or choose another data_file.", f"The model reads {some(columns)}." if columns else "",
        )  # fmt: skip
    if settings.threshold:
        target, why = thresholds.chosen(target, settings.threshold)
        events.decision("threshold", settings.threshold, why)
    events.decision("rows", len(rows_read), f"A model for {described['task']} predicts {len(rows_read)} rows of {some(files, 3)}.")
    truth = target.encode(targets(rows_read))
    stop.check(spec.folder)
    events.phase("predict", f"Predicting {count(len(rows_read), kind.called(described['task'], rows_read))}.")
    many = parted.are_many(kind, rows_read) and PICTURE not in wanted.types.values()  # which other processes do not find by their names
    in_parts = parted.Parted(Question(spec, settings, model, target), rows_read, truth, launcher, events) if many else None
    if in_parts is not None:
        if encoder is None:
            _loaded(spec, model, target, rows_read)
        outputs, versions = in_parts.outputs()
    elif encoder is None:
        outputs, versions = _estimated(spec, model, target, rows_read, events)
    else:
        outputs, versions = launcher.predict(kind.question(spec, settings, model, encoder, target, rows_read, truth))
        outputs = kind.answered(encoder, outputs, events)
        if beside is not None:
            outputs = beside.outputs(outputs, rows_read)
    events.phase("export", "Writing the predictions.")
    answered = _answered(model, rows_read, outputs, truth, target, events)
    table = answer_lines.table if in_parts is None else in_parts.table
    read = export.RowsRead(files, list(columns), skipped, label_column, found.labels_apart, found.ids_by_name)
    export.prediction(asking, answered, read, versions, table=table)
    if in_parts is not None:
        in_parts.remove()


def _answered(model: Model, rows: Sequence[Example], outputs: numpy.ndarray, truth: numpy.ndarray, target, events: Events) -> export.Answered:
    """The answers, with a warning of labels that they cannot be compared with."""
    answers = model.kind.answers_to(rows)
    labelled = numpy.asarray([bool(t) for t in targets(answers)])
    known = labelled & target.known(truth)
    if unknown := [t for t, is_unknown in zip(targets(answers), labelled & ~known) if is_unknown]:
        text = f"Of {count(int(labelled.sum()), 'label')}, {len(unknown):,} cannot be compared with the answers, because the model does not know them"
        events.warning("labels_unused", f"{text}: {some(list(dict.fromkeys(unknown)), 5)}.")
    return export.Answered(model.kind, answers, outputs, truth, known, target)


def _estimated(spec: Spec, model: Model, target, examples: Sequence[Example], events: Events) -> tuple[numpy.ndarray, dict[str, str]]:
    """The outputs of an estimator, in this process. Raises UserError if the run is stopped: partial predictions are not kept."""
    estimator = _loaded(spec, model, target, examples)
    outputs, began = [], time.monotonic()
    for start in range(0, len(examples), AT_ONCE):
        stop.check(spec.folder)
        outputs.append(estimator.outputs(examples[start : start + AT_ONCE]))
        done = min(len(examples), start + AT_ONCE)
        rate = done / max(1e-6, time.monotonic() - began)
        events.progress(1, 1, done, len(examples), samples_per_second=rate, eta_seconds=(len(examples) - done) / rate)
    return numpy.concatenate(outputs), _versions()


def _versions() -> dict[str, str]:
    from trainer.training import candidates

    return candidates.versions()


def _loaded(spec: Spec, model: Model, target, examples: Sequence[Example]) -> Any:
    """The estimator of ``model``. Raises UserError where its outputs do not fit, or an installed model that it needs is not there."""
    with reading_model("The model"):
        estimator = estimators.load(model.description["base"], model.folder, spec.models)
        if not fits(target, estimator.outputs(examples[:1])):
            raise ValueError("its outputs do not fit its description")
    return estimator


def _file(spec: Spec, wanted: str) -> Input:
    for same in (lambda i: wanted in (i.id, i.name), lambda i: PurePosixPath(i.name).name == wanted):
        if found := next(filter(same, spec.inputs), None):
            return found
    raise UserError(
        "unknown_file", f"There is no file {wanted} in the dataset.", "Set model_file to a model.zip of an earlier run.",
        f"ZIP files in the dataset: {some(i.name for i in spec.inputs if i.name.endswith('.zip'))}.",
    )  # fmt: skip


def _unpacked(file: Input, spec: Spec) -> Path:
    """Unpack a model.zip and return the folder. Only plain files with known extensions are written, under their base names."""
    to = spec.work / "model"
    shutil.rmtree(to, ignore_errors=True)
    to.mkdir(parents=True)
    try:
        with Archive(file, spec.budget, "model_file") as archive:
            archive.unpack((m, to / PurePosixPath(m.name).name) for m in archive.members if _is_model_file(m.name))
    except NotAnArchive as e:
        raise UserError(
            "model_file", f"The model file {file.name} cannot be read as a ZIP archive.", "Choose a model.zip that an earlier run wrote."
        ) from e
    return to


def _is_model_file(name: str) -> bool:
    path = PurePosixPath(name)
    return path.parts[:-1] == ("model",) and path.suffix in _KINDS and not path.name.startswith(".")


def _description(folder: Path, what: str) -> dict:
    try:
        return saved_model.description(folder)
    except saved_model.NewerModel as e:
        raise UserError(
            "model_newer",
            f"A newer version of this program wrote {what}.",
            "Update this program to the version that trained the model, or train the model again with this version.",
            f"{str(e)[:1].upper()}{str(e)[1:]}.",
        ) from e
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as e:
        raise UserError(
            "model_file",
            f"There is no model of an earlier run in {what}.",
            "Choose a model.zip that an earlier run wrote, or a registered model.",
        ) from e
