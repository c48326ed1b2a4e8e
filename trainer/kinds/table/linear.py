"""The linear model for tables: logistic regression for classes, ridge regression for numbers."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy

from trainer import threads
from trainer.config.settings import Settings
from trainer.core.example import Dataset, Example
from trainer.estimators import sampled
from trainer.estimators.sampled import Sampled
from trainer.kinds.derived.part import Part
from trainer.kinds.table import encoded, exchanged, held_out as held_rows, leaning, saved
from trainer.kinds.table.encoder import Encoder
from trainer.kinds.table.exchanged import Exchanging
from trainer.kinds.table.held_out import Held, HeldOut
from trainer.kinds.table.leaning import Leaning
from trainer.measure import linear
from trainer.targets.classes import Classes
from trainer.targets.number import Number

NAME = "linear"


_FOLDS_SECONDS = 20.0  # for the fits of all folds, on one slow core


@dataclass(frozen=True)
class LinearTable(Leaning):
    """A fitted linear model. ``held_out_loss`` is None unless folds chose its strength."""

    encoder: Encoder
    weights: numpy.ndarray  # width x outputs, float32
    bias: numpy.ndarray
    labels: tuple[str, ...]  # none for regression
    held_out_loss: float | None = None
    held_out: tuple[HeldOut, ...] = ()
    sampled: tuple[Sampled, ...] = ()

    @property
    def parameters(self) -> int:
        return self.weights.size + self.bias.size

    @property
    def parts(self) -> Sequence[Part | None]:
        return self.encoder.parts

    def outputs(self, examples: Sequence[Example]) -> numpy.ndarray:
        return encoded.outputs(self.encoder, examples, self.scores, bool(self.labels))

    def scores(self, values: numpy.ndarray) -> numpy.ndarray:
        """The scores (rows x outputs) of encoded rows."""
        return values @ self.weights + self.bias

    def exchanging(self, examples: Sequence[Example]) -> Exchanging:
        return exchanged.OfValues(self.encoder, examples, self.scores, bool(self.labels))

    def tensors(self) -> dict[str, numpy.ndarray]:
        return {"weights": self.weights, "bias": self.bias}

    def described(self) -> dict:
        return {"model_type": NAME, "labels": list(self.labels), "columns": self.encoder.columns}

    def save(self, folder: Path) -> None:
        saved.write(folder, self)


def fit(data: Dataset, target: Classes | Number, settings: Settings) -> LinearTable | None:
    """Fit on the training rows, or on a sample of very many. The strength of the penalty is chosen by the loss on held-out rows. None if the
    model would be too large."""
    classes = len(target.labels)
    train = encoded.of(data, target, settings, data.splits["train"])
    if train.encoder.width * max(1, classes) > linear.MAX_WEIGHTS:
        return None
    strengths: tuple[float, ...] = ()
    loss, held_out = None, tuple[HeldOut, ...]()
    held = held_rows.rows(data, target, settings)
    if held.turns is not None and (chosen := _by_folds(data, target, settings, held)):
        strength, loss, held_out = chosen
        strengths = (strength,)
    validation = encoded.of(data, target, settings, held_rows.judging(data, held), train.encoder)
    fitted = linear.fit(
        train.values,
        train.targets,
        validation.values,
        validation.targets,
        classes,
        settings.seed,
        class_weights=train.class_weights,
        strengths=strengths,
    )
    if fitted is None:
        return None
    some = sampled.of(NAME, fitted.rows, data, target)
    found = LinearTable(train.encoder, fitted.weights, fitted.bias, tuple(target.labels), loss, held_out, some)
    if held.keeps(target):
        found = replace(found, held_out=(HeldOut(NAME, found.outputs(held.examples), lambda: found),))
    return found


def in_folds(data: Dataset, target: Classes | Number, settings: Settings, held: Held) -> tuple[HeldOut, ...]:
    """What ``fit`` has of held-out rows where folds judge, without the model of the training rows."""
    chosen = _by_folds(data, target, settings, held)
    return chosen[-1] if chosen else ()


def load(folder: Path) -> LinearTable:
    """The model that ``save`` wrote. Raises OSError, ValueError, KeyError or TypeError for other files, which may be damaged or forged."""
    return restored(*saved.read(folder))


missing = leaning.missing(load)


def restored(described: dict, tensors: dict[str, numpy.ndarray]) -> LinearTable:
    """The model with this description and these tensors. Raises ValueError, KeyError or TypeError unless they fit together."""
    encoder, labels = encoded.restored(described["columns"]), encoded.labels(described)
    shape = (encoder.width, max(1, len(labels)))
    if described["model_type"] != NAME:
        raise ValueError("its config.json does not describe a linear model")
    return LinearTable(encoder, encoded.tensor(tensors, "weights", shape), encoded.tensor(tensors, "bias", shape[1:]), labels)


def _by_folds(data: Dataset, target: Classes | Number, settings: Settings, held: Held) -> tuple[float, float, tuple[HeldOut, ...]] | None:
    """The strength of the penalty with the smallest loss on held-out rows, that loss, and the answers; None for a very wide table."""
    every = encoded.whole(data, target, settings, held.examples)
    if every is None:
        return None
    classes, models, parts = len(target.labels), [], list(held.turns.parts())
    with threads.one_of_blas():
        for kept, _ in parts:
            seconds = _FOLDS_SECONDS / len(parts)
            path = linear.path(
                every.values[kept], every.targets[kept], classes, settings.seed, seconds, every.class_weights, linear.STRENGTHS
            )  # fmt: skip
            models.append([LinearTable(every.encoder, m.weights, m.bias, tuple(target.labels)) for m in path])
        found = []
        for of_strength in zip(*models, strict=False):  # the strengths that all folds had time for
            outputs = encoded.empty(len(held.targets), target)
            for (_, out), model in zip(parts, of_strength, strict=True):
                outputs[out] = encoded.answers(model.scores(every.values[out]), bool(classes))
            found.append((held.loss(outputs), outputs))
    best = min(range(len(found)), key=lambda i: found[i][0])
    loss, outputs = found[best]
    return linear.STRENGTHS[best], loss, (HeldOut(NAME, outputs, lambda: _mean([of_fold[best] for of_fold in models])),)


def _mean(models: list[LinearTable]) -> LinearTable:
    """The model whose scores are the mean of those of ``models``, which have the same encoder."""
    weights, bias = (numpy.stack([getattr(m, name) for m in models]).mean(axis=0, dtype=numpy.float64) for name in ("weights", "bias"))
    return replace(models[0], weights=numpy.asarray(weights, numpy.float32), bias=numpy.asarray(bias, numpy.float32))
