"""The candidates of a training: estimators, which the driver fits in seconds, and a network, which workers train.

The candidate with the smallest loss on the validation rows is delivered, unless the user asked for one by its name.
"""

import resource
import shutil
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy

from trainer import estimators, memory
from trainer.core import drawn, mapped, registry
from trainer.core.example_targets import encoded_targets
from trainer.errors import UserError, count
from trainer.launch import preflight
from trainer.launch.outcome import MAX_TRAIN_ROWS, Outcome, Trial
from trainer.measure import predictions
from trainer.models import catalogue
from trainer.models.catalogue import AUTO, Base
from trainer.run_folder import stop
from trainer.train.position import Position

if TYPE_CHECKING:
    from trainer.core.example import Dataset, Example
    from trainer.core.kind import Kind
    from trainer.core.plan import Plan
    from trainer.estimators import Estimator
    from trainer.targets.target import Answers, Target

ESTIMATOR, NETWORK = "estimator", "network"
ALL_DONE = "all epochs done"
_AT_ONCE, _ROWS_AT_ONCE = 25_000_000, 1 << 20  # numbers of answers in memory, 200 MB, and rows


@dataclass(frozen=True)
class Wanted:
    """What is to be trained. ``named`` is the model that the user asked for. ``skipped`` are entries of result.json."""

    estimators: tuple[str, ...]
    network: Base | None
    named: str = ""
    skipped: tuple[dict, ...] = ()


class Beside(Protocol):
    """A model whose files are beside those of a network, and that answers together with it."""

    def outputs(self, of_network: numpy.ndarray, examples: list["Example"]) -> numpy.ndarray:
        """The outputs of both, from those of the network."""

    def save(self, folder: Path) -> None:
        """Write its files into the folder of the network."""


@dataclass(frozen=True)
class Candidate:
    """A trained candidate. ``fitted`` is the estimator; None for a network. ``target`` is that of the plan with what the answers to the
    validation rows decided; ``decided`` says why, empty where that needs no words."""

    base: Base
    title: str
    outcome: Outcome
    fitted: "Estimator | None" = None
    variant: str = ""  # distinguishes two ways to train the same base
    beside: "Beside | None" = None  # what answers together with the network
    target: "Target | None" = None
    decided: str = ""

    @property
    def name(self) -> str:
        return f"{self.base.name} ({self.variant})" if self.variant else self.base.name

    @property
    def held_out_loss(self) -> float | None:
        """The loss on rows that were held out in turn; None where the validation rows alone judge."""
        return getattr(self.fitted, "held_out_loss", None)

    @property
    def sort(self) -> str:
        return NETWORK if self.fitted is None else ESTIMATOR


def choose(models: Path, settings, kind: "Kind", task: str = "", begun: bool = False) -> Wanted:
    """What to train on ``kind`` of data. Raises UserError if the model of the settings cannot be used.

    ``begun`` says that the run has checkpoints of a network. v0.1.0 trained one where no model was named, so such a run goes on with it.
    """
    wanted = settings.model
    if (known := registry.estimators().get(wanted)) is not None:
        if known.kind != kind.name:
            raise catalogue.unfit(models, wanted, kind)
        return Wanted((wanted,), None, wanted)
    beside = tuple(e.name for e in kind.estimators)
    if not kind.has_network(task):
        if wanted not in ("", AUTO) and any(e.leans for e in kind.estimators):
            catalogue.choose(models, wanted, kind, task=task)
        elif wanted not in ("", AUTO):
            raise UserError(
                "model_unfit", f"The model {wanted} answers one label for each row, and this data has several.", "Set model to words or auto."
            )
        return Wanted(beside, None)
    network = catalogue.choose(models, wanted, kind, settings.start_from, task)
    if wanted not in ("", AUTO):
        return Wanted(beside if kind.compares_named else (), network, wanted)
    if begun and network.folder is None:
        return Wanted((), network)
    if beside and network.folder is None and settings.start_from != "scratch":
        return Wanted(beside, None, skipped=(_skipped(network, kind.why_no_network.format(shape=kind.shape)),))
    return Wanted(beside, network)


def suited(wanted: Wanted, data: "Dataset") -> Wanted:
    """``wanted`` without the estimators that do not suit the data, by the words of its kind. Raises UserError where nothing is left, or the model
    that was asked for does not suit it."""
    why = data.kind.leaves_out(data)
    out = [name for name in wanted.estimators if name in why]
    left = tuple(name for name in wanted.estimators if name not in why)
    if out and (wanted.named in out or not (left or wanted.network)):
        name = wanted.named or out[0]
        raise UserError("model_unfit", f"The model {name} does not suit this data.", "Set model to auto.", why[name])
    return replace(wanted, estimators=left, skipped=(*wanted.skipped, *(_entry(n, why[n]) for n in out)))


def repeats(base: Base, kind: "Kind") -> str:
    """The model in the settings of a repeated run that trains ``base`` again. Where it is the one model of its kind, which no form names, auto is."""
    return AUTO if base.name == kind.shape and base.name in registry.estimators() else base.name


def _skipped(base: Base, why: str) -> dict:
    return {"name": base.name, "title": _title(base), "sort": NETWORK, "base": base.name, "chosen": False, "why": why}


def _entry(name: str, why: str) -> dict:
    return {"name": name, "title": registry.estimators()[name].title, "sort": ESTIMATOR, "base": name, "chosen": False, "why": why}


def _title(base: Base) -> str:
    return f"{base.name} from random weights" if base.fresh else f"{base.name}, finetuned"


def fit_all(wanted: Wanted, plan: "Plan", data: "Dataset") -> tuple[list[Candidate], Wanted]:
    """Fit the estimators of ``wanted`` that suit the data, one after another: see ``fit``. Where max_minutes are over and there is a model, no
    further one begins. Gives the models, and ``wanted`` without those that did not begin."""
    found: dict[str, Candidate | None] = {}
    ends = time.monotonic() + 60 * plan.settings.max_minutes
    for place, name in enumerate(wanted.estimators):
        if time.monotonic() > ends and any(found.values()):
            return [c for c in found.values() if c is not None], _in_time(wanted, place, plan.settings.max_minutes)
        found[name] = fit(name, plan, data, found)
    return [c for c in found.values() if c is not None], wanted


def _in_time(wanted: Wanted, begun: int, minutes: int) -> Wanted:
    """``wanted`` with the first ``begun`` of its estimators."""
    why = f"It was not trained: the {count(minutes, 'minute')} of max_minutes were over."
    late = (_entry(name, why) for name in wanted.estimators[begun:])
    return replace(wanted, estimators=wanted.estimators[:begun], skipped=(*wanted.skipped, *late))


def fit(name: str, plan: "Plan", data: "Dataset", before: Mapping[str, Candidate | None]) -> Candidate | None:
    """Fit the estimator ``name``, save it, and measure what was read back; None if it does not suit the data. ``before`` are those that were
    fitted, which it may join.

    Raises UserError if the run is stopped.
    """
    stop.check(Path(plan.folder))
    began, cpu = time.monotonic(), time.process_time()
    module, joins = estimators.of(name), registry.estimators()[name].joins
    of_others = ({n: c and c.fitted for n, c in before.items()},) if joins else ()
    fitted = module.fit(data, plan.target, plan.settings, *of_others)
    seconds, cpu = time.monotonic() - began, time.process_time() - cpu
    mapped.rest()
    memory.release()
    for other in (c.outcome for c in before.values() if joins and c is not None):  # without these it could not be
        seconds, cpu = seconds + other.seconds, cpu + other.workers[0]["cpu_seconds"]
    if fitted is None:
        return None
    saved = Path(plan.work) / f"model-{name}"
    shutil.rmtree(saved, ignore_errors=True)
    saved.mkdir()
    fitted.save(saved)
    best = estimators.load(name, saved, plan.models)
    judges = {"validation": getattr(fitted, "judged", None) or best}
    measured = {**data.splits, "train": _sample(fitted, data.splits["train"], plan.settings.seed)}
    answers = {split: answered(judges.get(split, best), rows, plan.target) for split, rows in measured.items()}
    target, answers, why = _decided(answers, getattr(fitted, "held_out_rows", []), judges.get("validation", best), plan)
    answers = {split: predictions.resting(a, Path(plan.work)) for split, a in answers.items()}
    rows = len(data.splits["train"])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    rate = round(rows / max(seconds, 1e-3), 1)
    used = {
        "rank": 0, "node": preflight.node(), "samples_per_second": rate, "cpu_seconds": round(cpu, 2),
        "seconds": round(max(seconds, 0.01), 2), "peak_memory_bytes": peak,
    }  # fmt: skip
    outcome = Outcome(
        saved=saved, device="cpu", threads=1, parameters=fitted.parameters, learning_rate=0.0, accumulation=1, precision="fp32", stopped=ALL_DONE,
        epochs=0.0, position=Position(), seconds=round(seconds, 3), estimate_seconds=round(estimate(plan, data), 1),
        samples_per_second=rate, gradient_bytes=0, workers=[used], answers=answers, champion=None,
        versions=versions(), hardware=preflight.hardware(gpu=False),
    )  # fmt: skip
    return Candidate(Base(name, plan.kind.name), registry.estimators()[name].title, outcome, fitted, target=target, decided=why)


def _decided(answers: "dict[str, Answers]", held_out: list, judge: "Estimator", plan: "Plan") -> "tuple[Target, dict[str, Answers], str]":
    """The target with what held-out rows decide, the answers by it, and why. These rows are those that ``judge`` has not seen: ``held_out``
    where they are more than the validation rows."""
    if not held_out:
        return plan.target.finding_rare(answers, plan.metric)
    more = answers | {"held out": answers["validation"], "validation": answered(judge, held_out, plan.target)}
    target, more, why = plan.target.finding_rare(more, plan.metric)
    validation = more.pop("held out")
    return target, {**more, "validation": validation}, why


def _sample(fitted: "Estimator", examples: "Sequence[Example]", seed: int) -> "Sequence[Example]":
    """At most as many training examples as are measured of a network, or as the estimator answers soon."""
    few = getattr(fitted, "few", None)
    examples = (few and few(examples, seed)) or examples
    return drawn.examples(examples, MAX_TRAIN_ROWS, seed)


def answered(estimator: "Estimator", examples: "Sequence[Example]", target) -> "Answers":
    """The answers to ``examples``, in parts where they have very many numbers together."""
    truth, step = encoded_targets(examples, target.encode), max(1, min(_ROWS_AT_ONCE, _AT_ONCE // target.outputs))
    if len(examples) <= step or truth.ndim > 1:
        return target.answers(estimator.outputs(examples), truth)
    starts = range(0, len(examples), step)
    return predictions.concatenated([target.answers(estimator.outputs(examples[i : i + step]), truth[i : i + step]) for i in starts])


def held_out_answers(candidate: Candidate, plan: "Plan") -> "Answers | None":
    """The answers to the rows that were held out in turn, by models that had not seen them; None where the validation rows alone were held out.
    An estimator has them as ``held_out_rows``, which its ``judged`` answers."""
    judged, rows = (getattr(candidate.fitted, name, None) for name in ("judged", "held_out_rows"))
    return answered(judged, rows, plan.target) if judged is not None and rows else None


def trained(base: Base, outcome: Outcome, target: "Target") -> Candidate:
    """The network that the workers trained."""
    decided, outcome.answers = (outcome.target or target).decided(outcome.answers)
    return Candidate(base, _title(base), outcome, target=decided)


def as_it_is(base: Base, outcome: Outcome) -> list[Candidate]:
    """The same base with its own weights, if the workers tried it beside the training."""
    if outcome.beside is None:
        return []
    title = f"{base.name} as it is, with a linear model on its features"
    return [Candidate(base, title, outcome.beside, variant="frozen", target=outcome.beside.target)]


def without(wanted: Wanted, error: UserError) -> Wanted:
    """``wanted`` after the training of the network failed: the estimators are left."""
    return replace(wanted, network=None, skipped=(*wanted.skipped, _skipped(wanted.network, error.what)))


def estimate(plan: "Plan", data: "Dataset") -> float:
    """About how many seconds the estimators take on one core: it grows with the size of the data and the number of classes."""
    return plan.kind.estimator_seconds(data, 1 if plan.target.outputs == 2 else plan.target.outputs)


def trial(plan: "Plan", data: "Dataset") -> Trial:
    """The result of a dry run without workers."""
    return Trial(estimate(plan, data), "cpu", preflight.hardware(gpu=False), versions())


def versions() -> dict[str, str]:
    """The versions of what estimators use, without importing it."""
    import os
    import platform
    from importlib.metadata import version

    image = {"image": os.environ["RAY_IMAGE"]} if os.environ.get("RAY_IMAGE") else {}  # the service sets it in the pods that it creates
    return {"python": platform.python_version(), **{n: version(n) for n in ("numpy", "scipy", "scikit-learn", "safetensors")}, **image}
