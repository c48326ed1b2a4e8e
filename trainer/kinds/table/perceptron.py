"""A small neural network for tables that scikit-learn fits in the driver, in seconds and without torch; numpy predicts."""

from dataclasses import dataclass
from pathlib import Path

import numpy
from safetensors import numpy as safetensors

from trainer import threads
from trainer.config.settings import Settings
from trainer.core.example import Dataset, Example
from trainer.estimators import folds
from trainer.kinds.boosted.forest import WEIGHTS
from trainer.kinds.table import encoded
from trainer.kinds.table.encoded import Encoded
from trainer.kinds.table.encoder import HIDDEN, Encoder
from trainer.run_folder import files
from trainer.targets.classes import Classes
from trainer.targets.number import Number

NAME = "perceptron"
_EPOCHS, _PATIENCE, _FEWEST_EPOCHS = 100, 10, 8
_BATCH, _BATCHES, _LARGEST_BATCH = 32, 128, 512  # of at least so many rows; about so many of them in an epoch
_RATE, _DECAY = 1e-3, 1e-3
_BUDGET_SECONDS = 30.0  # for all fits, on one slow core
_FLOPS, _BATCH_SECONDS = 5e9, 4e-4
_MAX_LAYERS = 16

Layer = tuple[numpy.ndarray, numpy.ndarray]  # weights (inputs x outputs) and bias, float32


@dataclass(frozen=True)
class PerceptronTable:
    """Fitted layers with ReLU between them. ``held_out_loss`` is None unless folds chose the number of epochs."""

    encoder: Encoder
    layers: tuple[Layer, ...]
    labels: tuple[str, ...]  # none for regression
    held_out_loss: float | None = None

    @property
    def parameters(self) -> int:
        return sum(w.size + b.size for w, b in self.layers)

    def outputs(self, examples: list[Example]) -> numpy.ndarray:
        return encoded.outputs(self.encoder, examples, lambda values: _scores(self.layers, values), bool(self.labels))

    def save(self, folder: Path) -> None:
        """The tensors have the names and the shapes of torch's linear layers."""
        tensors: dict[str, numpy.ndarray] = {}
        for i, (weights, bias) in enumerate(self.layers):
            tensors |= {f"layers.{i}.weight": numpy.ascontiguousarray(weights.T), f"layers.{i}.bias": bias}
        files.write_bytes(folder / WEIGHTS, safetensors.save(tensors))
        files.write_json(
            folder / "config.json", {"model_type": NAME, "labels": list(self.labels), "columns": self.encoder.columns, "layers": len(self.layers)}
        )


def fit(data: Dataset, target: Classes | Number, settings: Settings) -> PerceptronTable | None:
    """Fit on the training rows, or on a sample of very many. The number of epochs is chosen by the loss on the validation rows, or by
    folds where these are few. None if the table is so wide that this would take too long."""
    train = encoded.of(data, target, settings, data.splits["train"])
    weights = _weights(train, target)
    with threads.one_of_blas():
        held, loss = folds.of(data, target, settings.seed), None
        if held is not None and (epochs := _epochs(len(held.examples), weights, len(held.held_out))) > _FEWEST_EPOCHS:
            epochs, loss = _by_folds(data, target, settings, held, epochs)
            layers, _ = _fitted(train, None, target, settings, max(1, epochs))
        else:
            train = _affordable(train, weights, settings.seed)
            epochs = _epochs(len(train.targets), weights, 1)
            if epochs <= 1:
                return None
            validation = encoded.of(data, target, settings, data.splits["validation"], train.encoder)
            layers, _ = _fitted(train, validation if len(validation.targets) else None, target, settings, epochs)
    return PerceptronTable(train.encoder, layers, tuple(target.labels), loss)


def load(folder: Path) -> PerceptronTable:
    """The model that ``save`` wrote. Raises OSError, ValueError, KeyError or TypeError for other files, which may be damaged or forged."""
    config, tensors = files.read_json(folder / "config.json"), safetensors.load_file(folder / WEIGHTS)
    encoder, labels = encoded.restored(config["columns"]), encoded.labels(config)
    if config["model_type"] != NAME or not 1 <= int(config["layers"]) <= _MAX_LAYERS:
        raise ValueError("its config.json does not describe a perceptron")
    layers: list[Layer] = []
    width = encoder.width
    for i in range(config["layers"]):
        outputs = max(1, len(labels)) if i + 1 == config["layers"] else tensors[f"layers.{i}.bias"].size
        weights = encoded.tensor(tensors, f"layers.{i}.weight", (outputs, width))
        layers.append((numpy.ascontiguousarray(weights.T), encoded.tensor(tensors, f"layers.{i}.bias", (outputs,))))
        width = outputs
    return PerceptronTable(encoder, tuple(layers), labels)


def _scores(layers: tuple[Layer, ...], values: numpy.ndarray) -> numpy.ndarray:
    for weights, bias in layers[:-1]:
        values = numpy.maximum(values @ weights + bias, 0)
    return values @ layers[-1][0] + layers[-1][1]


def _weights(train: Encoded, target: Classes | Number) -> int:
    sizes = (train.encoder.width, *HIDDEN, target.outputs)
    return sum(a * b for a, b in zip(sizes, sizes[1:], strict=False))


def _batch(rows: int) -> int:
    return min(max(1, rows), _LARGEST_BATCH, max(_BATCH, rows // _BATCHES))


def _epochs(rows: int, weights: int, fits: int) -> int:
    """The epochs that the budget allows in each of ``fits``."""
    each = rows * 6 * weights / _FLOPS + (rows / _batch(rows)) * (_BATCH_SECONDS + 30 * weights / _FLOPS)
    return int(min(_EPOCHS, _BUDGET_SECONDS / fits / each))


def _affordable(train: Encoded, weights: int, seed: int) -> Encoded:
    """``train``, or a sample of it that is drawn by ``seed`` and small enough for a few epochs."""
    rows = len(train.targets)
    while _epochs(rows, weights, 1) < _FEWEST_EPOCHS and rows > 1000:
        rows = rows * 3 // 4
    if rows == len(train.targets):
        return train
    kept = numpy.sort(numpy.random.default_rng(seed).permutation(len(train.targets))[:rows])
    return Encoded(train.encoder, train.values[kept], train.targets[kept], train.class_weights)


def _by_folds(data: Dataset, target: Classes | Number, settings: Settings, held: folds.Folds, epochs: int) -> tuple[int, float]:
    """The number of epochs with the smallest loss on held-out rows, and that loss."""
    curves, sizes = [], []
    for kept, out in held.parts():
        train = encoded.of(data, target, settings, [held.examples[i] for i in kept])
        other = encoded.of(data, target, settings, [held.examples[i] for i in out], train.encoder)
        curves.append(_fitted(train, other, target, settings, epochs)[1])
        sizes.append(len(out))
    epoch, loss = folds.best(curves, sizes)
    return epoch + 1, loss


def _fitted(
    train: Encoded, other: Encoded | None, target: Classes | Number, settings: Settings, epochs: int
) -> tuple[tuple[Layer, ...], numpy.ndarray]:
    """The layers after the epoch with the smallest loss on ``other``, otherwise after the last; and the losses of the epochs."""
    from sklearn.neural_network import MLPClassifier, MLPRegressor

    classes = len(target.labels)
    mean, scale = (0.0, 1.0) if classes else (float(train.targets.mean()), float(train.targets.std()) or 1.0)
    model = (MLPClassifier if classes else MLPRegressor)(
        hidden_layer_sizes=HIDDEN, batch_size=_batch(len(train.targets)), learning_rate_init=_RATE, alpha=_DECAY,
        random_state=numpy.random.RandomState(settings.seed),  # an object: every epoch goes on with it
    )  # fmt: skip
    more = {"classes": numpy.arange(classes)} if classes else {}
    targets = train.targets if classes else (train.targets - mean) / scale
    best, losses, since = None, [], 0
    for _ in range(epochs):
        model.partial_fit(train.values, targets, sample_weight=train.weights, **more)
        if other is None:
            continue
        layers = _layers(model, classes, mean, scale)
        scores = _scores(layers, other.values).astype(numpy.float64)
        losses.append(folds.loss(encoded.softmax(scores) if classes else scores[:, 0], other.targets, other.weights))
        since = since + 1 if losses[-1] >= min(losses[:-1], default=numpy.inf) else 0
        best = layers if since == 0 else best
        if since >= _PATIENCE:
            break
    return best or _layers(model, classes, mean, scale), numpy.asarray(losses)


def _layers(model, classes: int, mean: float, scale: float) -> tuple[Layer, ...]:
    """The layers of scikit-learn's ``model``, of which the last answers in the unit of the data and has one output for each class."""
    layers = [(w.astype(numpy.float32, order="C"), b.astype(numpy.float32)) for w, b in zip(model.coefs_, model.intercepts_, strict=True)]
    weights, bias = layers[-1]
    if classes == 2:  # scikit-learn has one output for two classes
        layers[-1] = numpy.hstack([-weights, weights]) / 2, numpy.append(-bias, bias) / 2
    elif not classes:
        layers[-1] = weights * numpy.float32(scale), bias * numpy.float32(scale) + numpy.float32(mean)
    return tuple(layers)
