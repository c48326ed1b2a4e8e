"""The linear model for tables: logistic regression for classes, ridge regression for numbers."""

from dataclasses import dataclass
from pathlib import Path

import numpy
from safetensors import numpy as safetensors

from trainer.config.settings import Settings
from trainer.core.example import Dataset, Example
from trainer.estimators import folds
from trainer.kinds.boosted.forest import WEIGHTS
from trainer.kinds.table import encoded
from trainer.kinds.table.encoder import Encoder
from trainer.measure import linear
from trainer.run_folder import files
from trainer.targets.classes import Classes
from trainer.targets.number import Number

NAME = "linear"


@dataclass(frozen=True)
class LinearTable:
    """A fitted linear model. ``held_out_loss`` is None unless folds chose its strength."""

    encoder: Encoder
    weights: numpy.ndarray  # width x outputs, float32
    bias: numpy.ndarray
    labels: tuple[str, ...]  # none for regression
    held_out_loss: float | None = None

    @property
    def parameters(self) -> int:
        return self.weights.size + self.bias.size

    def outputs(self, examples: list[Example]) -> numpy.ndarray:
        return encoded.outputs(self.encoder, examples, lambda values: values @ self.weights + self.bias, bool(self.labels))

    def save(self, folder: Path) -> None:
        tensors = {"weights": numpy.ascontiguousarray(self.weights), "bias": numpy.ascontiguousarray(self.bias)}
        files.write_bytes(folder / WEIGHTS, safetensors.save(tensors))
        files.write_json(folder / "config.json", {"model_type": NAME, "labels": list(self.labels), "columns": self.encoder.columns})


def fit(data: Dataset, target: Classes | Number, settings: Settings) -> LinearTable | None:
    """Fit on the training rows, or on a sample of very many. The strength of the penalty is chosen by the loss on the validation rows,
    or by folds where these are few. None if the model would be too large."""
    classes = len(target.labels)
    train = encoded.of(data, target, settings, data.splits["train"])
    if train.encoder.width * max(1, classes) > linear.MAX_WEIGHTS:
        return None
    strengths: tuple[float, ...] = ()
    loss = None
    if (held := folds.of(data, target, settings.seed)) is not None:
        strength, loss = _by_folds(data, target, settings, held)
        strengths = (strength,)
    validation = encoded.of(data, target, settings, data.splits["validation"], train.encoder)
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
    return LinearTable(train.encoder, fitted.weights, fitted.bias, tuple(target.labels), loss) if fitted else None


def load(folder: Path) -> LinearTable:
    """The model that ``save`` wrote. Raises OSError, ValueError, KeyError or TypeError for other files, which may be damaged or forged."""
    config, tensors = files.read_json(folder / "config.json"), safetensors.load_file(folder / WEIGHTS)
    encoder, labels = encoded.restored(config["columns"]), encoded.labels(config)
    shape = (encoder.width, max(1, len(labels)))
    weights, bias = encoded.tensor(tensors, "weights", shape), encoded.tensor(tensors, "bias", shape[1:])
    if config["model_type"] != NAME:
        raise ValueError("its config.json does not describe a linear model")
    return LinearTable(encoder, weights, bias, labels)


def _by_folds(data: Dataset, target: Classes | Number, settings: Settings, held: folds.Folds) -> tuple[float, float]:
    """The strength of the penalty with the smallest loss on held-out rows, and that loss."""
    classes, losses, sizes = len(target.labels), [], []
    for kept, out in held.parts():
        train = encoded.of(data, target, settings, [held.examples[i] for i in kept])
        other = encoded.of(data, target, settings, [held.examples[i] for i in out], train.encoder)
        row = []
        for strength in linear.STRENGTHS:
            fitted = linear.fit(
                train.values,
                train.targets,
                other.values,
                other.targets,
                classes,
                settings.seed,
                class_weights=train.class_weights,
                strengths=(strength,),
            )
            scores = (other.values @ fitted.weights + fitted.bias).astype(numpy.float64)
            row.append(folds.loss(encoded.softmax(scores) if classes else scores[:, 0], other.targets, other.weights))
        losses.append(row)
        sizes.append(len(out))
    mean = numpy.average(losses, axis=0, weights=sizes)
    best = int(mean.argmin())
    return linear.STRENGTHS[best], float(mean[best])
