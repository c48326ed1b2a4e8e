"""The driver's part of a search before the training: which trials there are, each with its data encoded for its model."""

from dataclasses import replace

from trainer.config.settings import CHOSEN, Settings
from trainer.config.spec import Spec
from trainer.core.example import Dataset
from trainer.core.kind import Kind
from trainer.errors import UserError, count
from trainer.models import catalogue
from trainer.models.catalogue import Base
from trainer.run_folder.events import Events
from trainer.search import space as spaces
from trainer.search.trials import Search, Trial
from trainer.train.rate import learning_rate
from trainer.training import prepare
from trainer.training.candidates import Wanted
from trainer.training.prepare import Prepared

TRIALS = 28  # if only the time of the search is limited
MAX_MODELS = 4  # installed models that are tried beside the default one
FEW_ROWS = 500  # validation rows, below which a search can hardly tell settings apart
_BYTES = 4  # of a weight


class Silent(Events):
    """Writes nothing: what is decided for another model is no news about the run."""

    def _write(self, kind: str, **fields) -> None:
        pass

    def phase(self, phase: str, text: str) -> None:
        pass

    def decision(self, what: str, choice, why: str) -> None:
        pass

    def warning(self, code: str, text: str) -> None:
        pass


def with_network(wanted: Wanted, kind: Kind, task: str) -> Wanted:
    """``wanted`` with a network, because the settings of networks are searched: the built-in one where no other is to be trained."""
    if wanted.network is not None:
        return wanted
    if wanted.named or not kind.has_network(task):
        raise UserError(
            "search_model",
            f"The model {wanted.named or wanted.estimators[0]} has no settings to search.",
            "Set model to auto or to a network, or search.trials to 0.",
        )
    return replace(wanted, network=Base(kind.shape, kind.name), skipped=())


def make(spec: Spec, settings: Settings, data: Dataset, prepared: Prepared, events: Events, on_gpu: bool) -> tuple[Prepared, dict[int, Prepared]]:
    """The plan of the search, and by trial what was prepared for it where it begins with another model."""
    rows = len(data.splits["validation"])
    if rows < FEW_ROWS:
        events.warning("few_validation_rows", f"With {count(rows, 'validation row')} a search can hardly tell settings apart.")
    others = _other_models(spec, settings, data, prepared, events, on_gpu)
    wanted = settings.trials or TRIALS
    if spaces.is_list(settings.space):
        trials, own = _repeated(spaces.listed(settings.space), others)
    else:
        trials, own = _drawn(settings, prepared, others, wanted)
    plan = replace(prepared.plan, search=Search(tuple(trials), settings.minutes, spaces.is_list(settings.space)))
    return replace(prepared, plan=plan), own


def _drawn(settings: Settings, default: Prepared, others: list[Prepared], wanted: int) -> tuple[list[Trial], dict[int, Prepared]]:
    """The default, then every other model with its default settings, then drawn settings for each of the models in turn."""
    trials, own = [Trial(0, {})], {}
    models: list[Prepared | None] = [None, *others]
    for number in range(1, wanted):
        model = models[number] if number < len(models) else models[(number - len(models)) % len(models)]
        values = {} if number < len(models) else spaces.draw(_space(settings, model or default), settings.seed, number)
        trials.append(Trial(number, values, model.plan if model else None))
        if model:
            own[number] = model
    return trials, own


def _repeated(listed: list[dict], others: list[Prepared]) -> tuple[list[Trial], dict[int, Prepared]]:
    """The trials of an earlier search."""
    by_name = {p.plan.base.name: p for p in others}
    trials, own = [Trial(0, {})], {}
    for number, values in enumerate(listed, 1):
        model = by_name.get(values.pop(spaces.MODEL, ""))
        trials.append(Trial(number, values, model.plan if model else None))
        if model:
            own[number] = model
    return trials, own


def _space(settings: Settings, prepared: Prepared) -> spaces.Space:
    if settings.space:
        return spaces.parse(settings.space)
    base = prepared.plan.base
    return spaces.default(settings, learning_rate(base.fresh, base.size // _BYTES)[0], base.fresh, prepared.plan.target.smooths)


def _other_models(spec: Spec, settings: Settings, data: Dataset, default: Prepared, events: Events, on_gpu: bool) -> list[Prepared]:
    """The other installed models that fit, prepared with their own encoding; none if somebody chose the model."""
    named = {values.get(spaces.MODEL) for values in spaces.listed(settings.space)} if spaces.is_list(settings.space) else None
    if named is None and (settings.source("model") != CHOSEN or settings.space):
        return []
    used = default.plan.base.name
    there = [b for b in catalogue.fitting(spec.models, data.kind, data.task) if b.kind == data.kind.name and b.name != used]
    fitting = [b for b in there if (b.name in named if named is not None else not b.chosen_only)]
    found = []
    for base in fitting[:MAX_MODELS]:
        own = settings.with_chosen(model=base.name)
        quiet = Silent(events.path, events.attempt)
        checked = replace(data, checks=list(data.checks), dropped=list(data.dropped))
        found.append(prepare.make(spec, own, checked, Wanted((), base), quiet, on_gpu))
    return found


def repeat(trials: tuple[Trial, ...], begun: set[int], default: Settings, rate: float) -> dict:
    """The options that repeat a search: the list of its trials, and the default's values of the options in which the trials differ."""
    listed = [({spaces.MODEL: t.plan.base.name} if t.plan else {}) | t.values for t in trials if t.number and t.number in begun]
    names = {n for t in trials for n in t.values}
    values = {n: getattr(default, n) for n in (*sorted(names), "evals_per_epoch", "early_stopping_patience", "model")}
    if "learning_rate" in values:
        values["learning_rate"] = rate
    if default.source("model") == CHOSEN:
        values["model"] = catalogue.AUTO
    return {**values, "trials": 1 + len(listed), "minutes": 0, "space": spaces.as_list(listed)}
