"""An ensemble of the models of tables: the weighted mean of their answers, or of their log-probabilities of classes.

The shares are chosen on rows that the models have not seen. Models of numbers that span orders of magnitude are fitted on their logarithms, too.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy

from trainer import estimators
from trainer.config.settings import Settings
from trainer.core.columnar import taken
from trainer.core.example import Dataset, Example
from trainer.estimators import Estimator
from trainer.estimators.folds import OutOfFold
from trainer.estimators.sampled import Sampled
from trainer.kinds.derived.part import Part
from trainer.kinds.table import encoded, exchanged, held_out as held_rows, leaning, logarithm, saved, shares
from trainer.kinds.table.exchanged import Exchanging
from trainer.kinds.table.held_out import Held
from trainer.kinds.table.leaning import Leaning
from trainer.kinds.table.logarithm import Scale, Way
from trainer.targets.classes import Classes
from trainer.targets.number import Number

NAME = "ensemble"
MEMBERS = ("linear", "trees", "perceptron")  # estimators
_LOGARITHM = "logarithm"  # the kind of a saved member that answers logarithms: versions that do not know them refuse it
_MOST = 12  # members of a saved ensemble
_FEWEST = 100  # validation rows that can choose shares where no folds do


@dataclass(frozen=True)
class Member:
    """One model of an ensemble. ``loss`` is its own on the held-out rows."""

    title: str
    kind: str  # an estimator of ``MEMBERS``
    share: float
    loss: float
    model: Any
    scale: Scale | None = None  # of a model that answers logarithms

    def outputs(self, examples: Sequence[Example]) -> numpy.ndarray:
        found = self.model.outputs(examples)
        return found if self.scale is None else self.scale.numbers(found)

    def exchanging(self, examples: Sequence[Example]) -> Exchanging:
        found = self.model.exchanging(examples)
        return found if self.scale is None else logarithm.Exchanged(found, self.scale)

    def described(self) -> dict:
        kind = {"kind": self.kind} if self.scale is None else {"kind": _LOGARITHM, "of": self.kind, "scale": self.scale.described()}
        return {"title": self.title, **kind, "share": self.share, "loss": self.loss, "model": self.model.described()}


@dataclass(frozen=True)
class Ensemble(Leaning):
    """``loss`` is that of the mean on the held-out rows, ``held_out_loss`` the same where these were held out in turn. ``other_loss`` is that of the
    best mean without models of logarithms, or with them where these are not used, and ``usual_error`` the share of the number by which half of the
    answers to these rows are off at most; None where logarithms were not tried."""

    members: tuple[Member, ...]
    labels: tuple[str, ...]  # none for regression
    loss: float
    left_out: tuple[tuple[str, float], ...] = ()  # models without a share, and their losses
    held_out_loss: float | None = None
    judged: "_Judged | None" = None
    other_loss: float | None = None
    usual_error: float | None = None
    sampled: tuple[Sampled, ...] = ()

    @property
    def parameters(self) -> int:
        return sum(m.model.parameters for m in self.members)

    @property
    def parts(self) -> Sequence[Part | None]:
        return [p for m in self.members for p in m.model.parts]

    @property
    def held_out_rows(self) -> Sequence[Example]:
        """The rows that ``judged`` answers like new ones."""
        return self.judged.held.examples if self.judged is not None else []

    @property
    def out_of_fold(self) -> OutOfFold | None:
        return OutOfFold(self.judged.held.examples, self.judged.answers) if self.judged is not None else None

    def outputs(self, examples: Sequence[Example]) -> numpy.ndarray:
        return shares.mean([m.outputs(examples) for m in self.members], [m.share for m in self.members])

    def exchanging(self, examples: Sequence[Example]) -> Exchanging:
        return exchanged.OfMembers([m.exchanging(examples) for m in self.members], [m.share for m in self.members])

    def tensors(self) -> dict[str, numpy.ndarray]:
        """Those of each member, behind its title and a slash."""
        return {f"{m.title}/{name}": tensor for m in self.members for name, tensor in m.model.tensors().items()}

    def described(self) -> dict:
        """The ``model`` of each member is what its estimator has in its config.json."""
        members = [m.described() for m in self.members]
        left_out = [{"title": title, "loss": loss} for title, loss in self.left_out]
        other = {} if self.other_loss is None else {"other_loss": self.other_loss, "usual_error": self.usual_error}
        return {"model_type": NAME, "labels": list(self.labels), "members": members, "left_out": left_out, "loss": self.loss, **other}

    def save(self, folder: Path) -> None:
        saved.write(folder, self)


@dataclass(frozen=True)
class _Judged:
    """Answers rows that were held out as the models did that had not seen them, and other rows as ``whole`` does."""

    whole: Ensemble
    held: Held
    answers: numpy.ndarray

    @property
    def parameters(self) -> int:
        return self.whole.parameters

    def outputs(self, examples: Sequence[Example]) -> numpy.ndarray:
        places = {id(e): i for i, e in enumerate(self.held.examples)}
        at = numpy.asarray([places.get(id(e), -1) for e in examples], numpy.int64)
        found = encoded.empty_like(self.answers, len(examples))
        found[at >= 0] = self.answers[at[at >= 0]]
        if len(others := numpy.flatnonzero(at < 0)):
            found[others] = self.whole.outputs(taken(examples, others))
        return found

    def save(self, folder: Path) -> None:
        raise TypeError("the ensemble itself is saved")


def fit(data: Dataset, target: Classes | Number, settings: Settings, fitted: Mapping[str, Estimator | None]) -> Ensemble | None:
    """The ensemble of the estimators ``MEMBERS``. ``fitted`` are those that were fitted on the same data before; the others are fitted here.

    Its models are those of the folds, where models are judged by folds: the mean of them. None if there are no or few rows that were held out.
    """
    models = {n: fitted[n] if n in fitted else estimators.of(n).fit(data, target, settings) for n in MEMBERS}
    held = held_rows.rows(data, target, settings)
    if held.turns is None and len(held.examples) < _FEWEST:
        return None
    found = [
        Way(name, h.name, h.outputs, h.model)
        for name, model in models.items()
        for h in getattr(model, "held_out", ())
        if len(h.outputs) == len(held.targets)
    ]
    if not found:
        return None
    chosen, loss = shares.greedy([w.outputs for w in found], held.loss)
    other_loss = None
    if of_logarithms := logarithm.ways(MEMBERS, data, target, settings, held):
        found, chosen, loss, other_loss = logarithm.chosen(found, of_logarithms, chosen, loss, held)
    losses = [held.loss(w.outputs) for w in found]
    members = tuple(
        Member(w.name, w.kind, share, own, w.model(), w.scale) for w, share, own in zip(found, chosen, losses, strict=True) if share
    )  # fmt: skip
    left_out = tuple((w.name, own) for w, share, own in zip(found, chosen, losses, strict=True) if not share)
    answers = shares.mean([w.outputs for w in found], chosen)
    usual = None if other_loss is None else logarithm.usual_error(answers, held.targets)
    some = tuple(s for m in models.values() for s in getattr(m, "sampled", ()))
    whole = Ensemble(members, tuple(target.labels), loss, left_out, other_loss=other_loss, usual_error=usual, sampled=some)
    if held.turns is None:
        return whole
    return replace(whole, held_out_loss=loss, judged=_Judged(whole, held, answers))


def load(folder: Path) -> Ensemble:
    """The ensemble that ``save`` wrote. Raises OSError, ValueError, KeyError or TypeError for other files, which may be damaged or forged."""
    config, tensors = saved.read(folder)
    labels, described = encoded.labels(config), config["members"]
    if config["model_type"] != NAME or not isinstance(described, list) or not 1 <= len(described) <= _MOST:
        raise ValueError("its config.json does not describe an ensemble")
    members = tuple(_member(m, tensors, labels) for m in described)
    if len({m.title for m in members}) < len(members) or abs(sum(m.share for m in members) - 1) > 1e-6:
        raise ValueError("its members do not fit together")
    left_out = tuple((str(m["title"]), float(m["loss"])) for m in config["left_out"][:_MOST])
    other_loss, usual = (_finite(config[name]) if "other_loss" in config else None for name in ("other_loss", "usual_error"))
    return Ensemble(members, labels, _finite(config["loss"]), left_out, other_loss=other_loss, usual_error=usual)


missing = leaning.missing(load)


def _member(described: dict, tensors: dict[str, numpy.ndarray], labels: tuple[str, ...]) -> Member:
    title, kind, share = described["title"], described["kind"], _finite(described["share"])
    scale = None
    if kind == _LOGARITHM and not labels:
        kind, scale = described["of"], logarithm.restored(described["scale"])
    if kind not in MEMBERS or not isinstance(title, str) or not 0 < share <= 1:
        raise ValueError("a member is not described")
    own = {name.removeprefix(f"{title}/"): tensor for name, tensor in tensors.items() if name.startswith(f"{title}/")}
    model = estimators.of(kind).restored(described["model"], own)
    if model.labels != labels:
        raise ValueError("its members have different labels")
    return Member(title, kind, share, _finite(described["loss"]), model, scale)


def _finite(value) -> float:
    if not math.isfinite(found := float(value)):
        raise ValueError("a share or a loss is not a number")
    return found
