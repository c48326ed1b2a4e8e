"""From examples to the plan of a training: encodes the data and chooses the metric and the class weights."""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy

from trainer import estimators, memory
from trainer.config.digest import digest
from trainer.config.settings import Settings
from trainer.config.spec import Spec
from trainer.core import registry
from trainer.core.contract.networks import Encoder
from trainer.core.example import SPLITS, Dataset
from trainer.core.example_targets import encoded_targets
from trainer.core.kind import Kind
from trainer.core.plan import Plan, Rows, Saved
from trainer.errors import UserError, some
from trainer.estimators import balance
from trainer.measure.metric import described
from trainer.models import finetuning, saved_model, training_length
from trainer.models.catalogue import Base
from trainer.run_folder import files
from trainer.run_folder.events import Events
from trainer.targets.target import Answers, Target
from trainer.training import candidates
from trainer.training.candidates import Wanted

IMBALANCE = 5  # ratio of the largest to the smallest class from which auto weights the classes
CUT_SHARE = 0.1  # of truncated texts from which the user is warned


@dataclass(frozen=True)
class Prepared:
    """The plan, and the encoder that the driver needs to write the results."""

    plan: Plan
    encoder: Encoder


@dataclass
class NoEncoder:
    """The encoder beside an estimator, which reads the examples themselves."""

    model: dict
    shape: dict

    def encode(self, examples, targets: numpy.ndarray, name: str, training: bool = False) -> Rows:
        raise TypeError("an estimator reads examples")

    def described(self) -> dict:
        return {"model": self.model, "data": {}, "encoder": {}}

    def forget(self) -> None:
        """Nothing is counted."""

    def save(self, folder) -> None:
        """Writes nothing: the estimator saves itself."""


def delivering(prepared: Prepared, chosen: candidates.Candidate) -> Prepared:
    """``prepared`` for the candidate that is delivered."""
    encoder, plan = prepared.encoder, replace(prepared.plan, base=chosen.base, target=chosen.target or prepared.plan.target)
    if chosen.fitted is not None:
        described = encoder.described()
        encoder = NoEncoder({n: v for n, v in described["model"].items() if n == "columns"}, {})
    return Prepared(plan, encoder)


def make(spec: Spec, settings: Settings, data: Dataset, wanted: Wanted, events: Events, on_gpu: bool = False) -> Prepared:
    """Encode the data and choose the settings that are still open. Texts are encoded for a network only.

    ``on_gpu`` says that the workers have GPUs.
    """
    kind = data.kind
    base = wanted.network or Base(wanted.estimators[0], kind.name)
    settings = _report_base_model(settings, base, wanted, kind, events)
    if wanted.network and base.fresh and kind.epochs:
        why = f"The training runs for up to {kind.epochs} epochs: they are short, and it stops when the model no longer improves."
        settings = training_length.with_epochs(settings, kind.epochs, why, events).with_default(early_stopping_patience=training_length.PATIENCE)
    target = kind.target(data)
    encoder: Encoder = NoEncoder({}, {})
    splits = {}
    if wanted.network or kind.encodes_always:
        encoder, settings = kind.encoder(spec, settings, data, base, events)
        splits = {n: encoder.encode(data.splits[n], encoded_targets(data.splits[n], target.encode), n, training=n == "train") for n in SPLITS}
        memory.release()
        kind.advise(encoder, data, base, events)
        _check_lengths(settings, data, encoder, events)
        if kind.rows_are_examples(base):
            _note_dropped(data, splits["train"])
    metric, why = target.choose_metric(settings.metric, data)
    if settings.metric == "auto":
        settings = settings.with_chosen(metric=metric)
    events.decision("metric", metric, why)
    events.metrics(described(target.metrics))
    weights, settings = _class_weights(settings, data, wanted, target, events)
    if wanted.network:
        place = finetuning.Place(spec.folder, on_gpu)
        rows = splits["train"]
        settings = kind.choose_epochs(settings, base, rows, place, lambda s: digest(s, data.split_sha256, base, encoder.shape), events)
    plan = Plan(
        run=spec.run,
        attempt=spec.attempt,
        folder=str(spec.folder),
        work=str(spec.work),
        kind=kind,
        task=data.task,
        target=target,
        base=base,
        shape=encoder.shape,
        splits=splits,
        weights=weights,
        metric=metric,
        settings=settings,
        digest=digest(settings, data.split_sha256, base, encoder.shape),
        champion=champion(spec, data, target),
        details=kind.details(encoder, data, settings),
        called=kind.called(data.task, data.splits["train"]),
    )
    return Prepared(plan, encoder)


def champion(spec: Spec, data: Dataset, target) -> Saved | None:
    """The best earlier version with the test rows of this run in its own encoding, or why the two cannot be compared."""
    if spec.champion is None:
        return None
    folder = spec.champion.folder
    try:
        described = saved_model.read_description(folder)
        saved_model.check(folder)
        kind, theirs = registry.of(described["kind"]), registry.restored(described["target"])
        why = _incomparable(described, data, theirs, target)
        if why:
            return Saved(folder, kind, theirs, None, why)
        examples = kind.as_read_by(described, data)
        if described["base"] in registry.estimators():
            return Saved(folder, kind, theirs, None, estimators.missing(described["base"], folder, spec.models))
        kind.load_beside(folder)
        encoder = kind.load_encoder(spec, folder, described["encoder"])
        rows = encoder.encode(examples, encoded_targets(examples, theirs.encode), "champion")
        return Saved(folder, kind, theirs, rows)
    except (OSError, ValueError, KeyError, TypeError) as e:
        return Saved(folder, data.kind, target, None, saved_model.unreadable(e))


def _incomparable(described: dict, data: Dataset, theirs, target) -> str:
    if described["task"] != data.task:
        return f"it was trained for {described['task']}"
    if theirs.labels != target.labels:
        return "it predicts different classes"
    if not data.splits["test"]:
        return "there are no test rows"
    if data.kept_by and described.get("kept_by") != data.kept_by:
        return f"it may have learnt from rows with the same {data.kept_by} as the test rows"
    if data.kind.lacks(described, data):
        return "it reads columns that the data no longer has"
    return ""


def champions_answers(saved: Saved, data: Dataset, models: Path) -> Answers | None:
    """The predictions of a champion that is an estimator on the test rows; None for a network, or if it cannot be compared. ``models`` is the folder
    of the installed models."""
    if saved is None or saved.rows is not None or saved.why:
        return None
    described = files.read_json(saved.folder / saved_model.DESCRIPTION)
    estimator = estimators.load(described["base"], saved.folder, models)
    return candidates.answered(estimator, saved.kind.as_read_by(described, data), saved.target)


def _report_base_model(settings: Settings, base: Base, wanted: Wanted, kind: Kind, events: Events) -> Settings:
    if wanted.network is None and len(wanted.estimators) > 1:
        titles = some(f"{n} ({registry.estimators()[n].title})" for n in wanted.estimators)
        events.decision("candidates", list(wanted.estimators), f"Trained are {titles}; the one with the smallest loss on held-out rows is delivered.")
        return settings
    if beside := [n for n in wanted.estimators if n != base.name]:
        titles = some(f"{n} ({registry.estimators()[n].title})" for n in beside)
        why = "for comparison" if wanted.named else "the model with the smallest loss on the validation rows is delivered"
        events.decision("candidates", beside, f"Beside {base.name}, {titles} {'are' if len(beside) > 1 else 'is'} trained: {why}.")
    if wanted.network is None:
        how = "as requested" if wanted.named else f"the default for {kind.name} data"
        events.decision("model", base.name, f"The model {base.name} ({registry.estimators()[base.name].title}) is trained, {how}.")
    elif base.folder is not None and not base.fresh:
        how = "as requested" if settings.model == base.name else "the default for this data" if base.preferred else "the smallest one that fits"
        events.decision("model", base.name, f"The installed model {base.name} is used, {how}.")
    else:
        why = kind.from_random_weights if base.folder is None else Kind.from_random_weights
        events.decision("model", base.name, why.format(model=base.name))
        if settings.model == "auto" and kind.gains_by_installed_models:
            events.warning(
                "from_scratch",
                f"No base model for {kind.name} data is installed, so a small model ({base.name}) is trained from scratch on this data alone; "
                "an installed pretrained model would probably perform better.",
            )
    again = candidates.repeats(base, kind)
    return settings if settings.model == again else settings.with_chosen(model=again)


def _check_lengths(settings: Settings, data: Dataset, encoder: Encoder, events: Events) -> None:
    """Report how many texts are truncated."""
    share = encoder.described()["data"].get("truncated_share")
    if share is None:
        return
    length = encoder.described()["model"]["max_length"]
    things = data.kind.things
    subject = f"{100 * share:.1f} % of the {things} are" if share else f"No {things.removesuffix('s')} is"
    text = f"{subject} longer than the {length} tokens that the model reads."
    warn = share > CUT_SHARE and settings.long_text != "sliding_window"
    data.checks.append({"code": "truncation", "level": "warning" if warn else "ok", "text": text})
    if warn:
        events.warning("truncation", f"{text} {data.kind.advice_for_long}")


def _note_dropped(data: Dataset, train: Rows) -> None:
    """Record how many training examples the encoder dropped. Raises UserError if fewer than two are left."""
    left = len(data.splits["train"]) - train.examples
    if left <= 0:  # a long sentence with tags is several rows
        return
    data.dropped.append(("the training text is longer than the model reads", left))
    if train.examples < 2:
        raise UserError(
            "all_too_long",
            f"All but {train.examples} of the training texts are longer than the model reads, and long_text is set to drop them.",
            "Increase max_length, or set long_text to truncate or sliding_window.",
        )


def _class_weights(settings: Settings, data: Dataset, wanted: Wanted, target: Target, events: Events) -> tuple[tuple[float, ...] | None, Settings]:
    """The weights of the classes in the loss of a network, None for no weights; and the settings that say so."""
    if data.labels and not target.weighs_classes and settings.class_weights == "auto":
        settings = settings.with_chosen(class_weights="none")
    if not data.labels or data.separator or settings.class_weights == "none":
        return None, settings
    counts = numpy.asarray(list(data.counts().values()), dtype=numpy.float64)
    uneven = counts.max() > IMBALANCE * counts.min()
    if settings.class_weights == "auto":
        weighs = uneven and wanted.network is not None
        settings = settings.with_chosen(class_weights="balanced" if weighs else "none")
        if not weighs:
            return None, settings
        events.decision(
            "class_weights",
            "balanced",
            f"Rare classes have a higher weight in training: the largest class has {counts.max():.0f} rows, the smallest {counts.min():.0f}.",
        )
    return tuple(balance.balanced(data).tolist()), settings
