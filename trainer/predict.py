"""Batch prediction: the model of an earlier run predicts the rows of a dataset."""

import shutil
import time
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import cast

import numpy

from trainer import data, estimators, export, tasks
from trainer.archive.zips import Archive, NotAnArchive
from trainer.config.spec import Input, Spec, Version
from trainer.core import saved_model
from trainer.core.plan import Saved
from trainer.data import Example
from trainer.errors import UserError, reading_model, some
from trainer.estimators import ESTIMATORS
from trainer.kinds.text import averaged
from trainer.kinds.tokens import reading as tokens, results as token_results
from trainer.models.catalogue import Base
from trainer.run_folder import stop
from trainer.run_folder.events import Events
from trainer.targets import target as targets

_AT_ONCE = 5000  # rows that an estimator predicts between two looks at whether the run is stopped
_KINDS = (".json", ".txt", ".safetensors", ".model", ".jinja")  # the files of a model of this trainer; none of them runs code


@dataclass(frozen=True)
class Model:
    """A saved model: its folder, its description, and its registered version."""

    folder: Path
    description: dict
    version: Version

    @property
    def base(self) -> Base:
        size = sum(f.stat().st_size for f in self.folder.glob("*.safetensors"))
        return Base(self.description["base"], self.description["kind"], self.folder, size, fresh=False)

    @property
    def is_estimator(self) -> bool:
        """Whether it needs no worker."""
        if self.description["kind"] == "graph":
            return not self.description["graph"]["network"]
        return self.description["base"] in ESTIMATORS


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
    described = model.description
    others = tuple(i for i in spec.inputs if not settings.model_file or i != _file(spec, settings.model_file))
    if described["kind"] == "graph":
        from trainer.kinds.graph.asking import predict as graphs

        graphs.run(replace(spec, inputs=others), settings, model, launcher, events, began)
        return
    with reading_model("The model"):
        target = targets.restored(described["target"])
        encoder = None if model.is_estimator else tasks.of(described["kind"]).load_encoder(spec, model.folder, described["encoder"])
        beside = averaged.load(model.folder)
    label_column = settings.label_column or described["label_column"]
    columns = described["columns"]
    if settings.text_column and described["kind"] == "text":
        columns = [c.strip() for c in settings.text_column.split(",")]
    styles = saved_model.styles(described)
    examples, files, skipped = data.read(
        replace(spec, inputs=others), settings, events, described["kind"], columns, described["types"], label_column, styles
    )
    if not examples:
        raise UserError(
            "no_rows", f"No row of {some(files, 3)} can be predicted: the columns that the model reads are empty in every row.",
            "Fill in these columns, or choose another data_file.", f"The model reads {some(columns)}." if columns else "",
        )  # fmt: skip
    events.decision("rows", len(examples), f"A model for {described['task']} predicts {len(examples)} rows of {some(files, 3)}.")
    wanted = target.encode([e.target for e in examples])
    rows, base, asks = None, None, None
    if described["kind"] == "language":
        from trainer.kinds.language import (
            encoding,  # heavy
            network as language,
        )

        writer = encoding.of(encoder)
        base, asks = language.base_folder(spec, model.folder, described["base"]), language.answering(writer, settings)
        rows = writer.prompts(examples)
    elif encoder is not None:
        rows = encoder.encode(examples, wanted, "predict")
    stop.check(spec.folder)
    events.phase("predict", f"Predicting {len(examples)} rows.")
    if rows is None:
        outputs, versions = _estimated(spec, model, target, examples, events)
    else:
        outputs, versions = launcher.predict(Saved(model.folder, described["kind"], target, rows, base=base, asks=asks))
        if beside is not None:
            outputs = beside.outputs(outputs, examples)
    events.phase("export", "Writing the predictions.")
    if described["kind"] == tokens.KIND:
        examples = cast(list[Example], token_results.Words(examples))
    known = numpy.asarray([bool(e.target) for e in examples])
    if asks is not None:
        outputs = numpy.array([writer.text([i for i in row if i >= 0]) for row in outputs.tolist()], dtype=object)
    else:
        known &= (wanted >= 0 if wanted.ndim == 1 else (wanted >= 0).all(axis=1)) if target.labels else ~numpy.isnan(wanted)
    answered = export.Answered(examples, outputs, wanted, known, target)
    export.prediction(spec, settings, model, answered, files, list(columns), skipped, label_column, versions, events, began)


def _estimated(spec: Spec, model: Model, target, examples: list[Example], events: Events) -> tuple[numpy.ndarray, dict[str, str]]:
    """The outputs of an estimator, in this process. Raises UserError if the run is stopped: partial predictions are not kept."""
    from trainer import candidates

    with reading_model("The model"):
        estimator = estimators.of(model.description["base"]).load(model.folder)
        if not saved_model.fits(estimator.outputs(examples[:1]), target.outputs if target.labels else 0):
            raise ValueError("its outputs do not fit its description")
    outputs, began = [], time.monotonic()
    for start in range(0, len(examples), _AT_ONCE):
        stop.check(spec.folder)
        outputs.append(estimator.outputs(examples[start : start + _AT_ONCE]))
        done = min(len(examples), start + _AT_ONCE)
        rate = done / max(1e-6, time.monotonic() - began)
        events.progress(1, 1, done, len(examples), samples_per_second=rate, eta_seconds=(len(examples) - done) / rate)
    return numpy.concatenate(outputs), candidates.versions()


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
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as e:
        raise UserError(
            "model_file",
            f"There is no model of an earlier run in {what}.",
            "Choose a model.zip that an earlier run wrote, or a registered model.",
        ) from e
