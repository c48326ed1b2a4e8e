"""A small neural network for tables that scikit-learn fits in the driver, in seconds and without torch; numpy predicts."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy

from trainer import threads
from trainer.config.settings import Settings
from trainer.core import drawn
from trainer.core.example import Dataset, Example
from trainer.estimators import sampled
from trainer.estimators.sampled import Sampled
from trainer.kinds.derived.part import Part
from trainer.kinds.table import encoded, exchanged, held_out as held_rows, leaning, ranges, saved
from trainer.kinds.table.encoded import Encoded
from trainer.kinds.table.encoder import HIDDEN, Encoder
from trainer.kinds.table.exchanged import Exchanging
from trainer.kinds.table.held_out import Held, HeldOut
from trainer.kinds.table.leaning import Leaning
from trainer.kinds.table.ranges import Layer, Ranges
from trainer.targets.classes import Classes
from trainer.targets.number import Number

NAME = "perceptron"
_OF_RANGES = "perceptron on ranges"
_EPOCHS, _PATIENCE, _FEWEST_EPOCHS = 100, 10, 8
_BATCH, _BATCHES, _LARGEST_BATCH = 32, 128, 512  # of at least so many rows; about so many of them in an epoch
_RATE, _DECAY = 1e-3, 1e-3
_BUDGET_SECONDS = 30.0  # for all fits, on one slow core
_BUDGET_OF_RANGES = 0.5  # of it, for the same fits on ranges of the numbers, too
_FLOPS, _BATCH_SECONDS = 5e9, 4e-4
_MAX_LAYERS = 16


@dataclass(frozen=True)
class PerceptronTable(Leaning):
    """Fitted layers with ReLU between them. ``held_out_loss`` is None unless folds chose the number of epochs."""

    encoder: Encoder
    layers: tuple[Layer, ...]
    labels: tuple[str, ...]  # none for regression
    held_out_loss: float | None = None
    held_out: tuple[HeldOut, ...] = ()
    sampled: tuple[Sampled, ...] = ()

    @property
    def parameters(self) -> int:
        return sum(w.size + b.size for w, b in self.layers)

    @property
    def parts(self) -> Sequence[Part | None]:
        return self.encoder.parts

    def outputs(self, examples: Sequence[Example]) -> numpy.ndarray:
        return encoded.outputs(self.encoder, examples, self.scores, bool(self.labels))

    def scores(self, values: numpy.ndarray) -> numpy.ndarray:
        """The scores (rows x outputs) of encoded rows."""
        return _scores(self.layers, values)

    def exchanging(self, examples: Sequence[Example]) -> Exchanging:
        return exchanged.OfValues(self.encoder, examples, self.scores, bool(self.labels))

    def tensors(self) -> dict[str, numpy.ndarray]:
        """They have the names and the shapes of torch's linear layers."""
        found: dict[str, numpy.ndarray] = {}
        for i, (weights, bias) in enumerate(self.layers):
            found |= {f"layers.{i}.weight": weights.T, f"layers.{i}.bias": bias}
        return found

    def described(self) -> dict:
        return {"model_type": NAME, "labels": list(self.labels), "columns": self.encoder.columns, "layers": len(self.layers)}

    def save(self, folder: Path) -> None:
        saved.write(folder, self)


def fit(data: Dataset, target: Classes | Number, settings: Settings) -> PerceptronTable | None:
    """Fit on the training rows, or on a sample of very many. The number of epochs is chosen by the loss on held-out rows. None if the table is
    so wide that this would take too long.

    Where folds judge, a second network that reads ranges of the numbers is fitted in them, and the better one is the model. Both may be members
    of an ensemble.
    """
    train = encoded.of(data, target, settings, data.splits["train"])
    weights = _weights(train.encoder.width, target)
    held, labels = held_rows.rows(data, target, settings), tuple(target.labels)
    with threads.one_of_blas():
        if networks := _in_folds(data, target, settings, held) if held.turns is not None else []:
            best = min(networks, key=lambda f: f.loss)
            return PerceptronTable(train.encoder, _of_all(train, target, settings, best), labels, best.loss, tuple(f.held_out for f in networks))
        train = _affordable(train, weights, settings.seed)
        epochs = _epochs(len(train.targets), weights, 1)
        if epochs <= 1:
            return None
        validation = encoded.of(data, target, settings, held_rows.judging(data, held), train.encoder)
        layers, _ = _fitted([(train, validation if len(validation.targets) else None)], target, settings, epochs)
    found = PerceptronTable(train.encoder, layers[0], labels, sampled=sampled.of(NAME, len(train.targets), data, target))
    if held.keeps(target):
        found = replace(found, held_out=(HeldOut(NAME, found.outputs(held.examples), lambda: found),))
    return found


def in_folds(data: Dataset, target: Classes | Number, settings: Settings, held: Held) -> tuple[HeldOut, ...]:
    """What ``fit`` has of held-out rows where folds judge, without the network of the training rows."""
    with threads.one_of_blas():
        return tuple(f.held_out for f in _in_folds(data, target, settings, held))


def load(folder: Path) -> PerceptronTable:
    """The model that ``save`` wrote. Raises OSError, ValueError, KeyError or TypeError for other files, which may be damaged or forged."""
    return restored(*saved.read(folder))


missing = leaning.missing(load)


def restored(described: dict, tensors: dict[str, numpy.ndarray]) -> PerceptronTable:
    """The model with this description and these tensors. Raises ValueError, KeyError or TypeError unless they fit together."""
    encoder, labels = encoded.restored(described["columns"]), encoded.labels(described)
    if described["model_type"] != NAME or not 1 <= int(described["layers"]) <= _MAX_LAYERS:
        raise ValueError("its config.json does not describe a perceptron")
    layers: list[Layer] = []
    width = encoder.width
    for i in range(described["layers"]):
        outputs = max(1, len(labels)) if i + 1 == described["layers"] else tensors[f"layers.{i}.bias"].size
        weights = encoded.tensor(tensors, f"layers.{i}.weight", (outputs, width))
        layers.append((numpy.ascontiguousarray(weights.T), encoded.tensor(tensors, f"layers.{i}.bias", (outputs,))))
        width = outputs
    return PerceptronTable(encoder, tuple(layers), labels)


def _scores(layers: tuple[Layer, ...], values: numpy.ndarray) -> numpy.ndarray:
    for weights, bias in layers[:-1]:
        values = numpy.maximum(values @ weights + bias, 0)
    return values @ layers[-1][0] + layers[-1][1]


def _weights(width: int, target: Classes | Number) -> int:
    sizes = (width, *HIDDEN, target.outputs)
    return sum(a * b for a, b in zip(sizes, sizes[1:], strict=False))


def _batch(rows: int) -> int:
    return min(max(1, rows), _LARGEST_BATCH, max(_BATCH, rows // _BATCHES))


def _epochs(rows: int, weights: int, fits: int, share: float = 1.0) -> int:
    """The epochs that a ``share`` of the budget allows in each of ``fits``."""
    each = rows * 6 * weights / _FLOPS + (rows / _batch(rows)) * (_BATCH_SECONDS + 30 * weights / _FLOPS)
    return int(min(_EPOCHS, share * _BUDGET_SECONDS / fits / each))


def _affordable(train: Encoded, weights: int, seed: int) -> Encoded:
    """``train``, or a sample of it that is drawn by ``seed`` and small enough for a few epochs."""
    rows = len(train.targets)
    while _epochs(rows, weights, 1) < _FEWEST_EPOCHS and rows > 1000:
        rows = rows * 3 // 4
    if rows == len(train.targets):
        return train
    return train.chosen(drawn.rows(len(train.targets), rows, seed))


@dataclass(frozen=True)
class _InFolds:
    """A network that was fitted in folds: the number of epochs with the smallest loss on held-out rows, that loss, and the answers."""

    epochs: int
    loss: float
    held_out: HeldOut
    of_ranges: bool


def _in_folds(data: Dataset, target: Classes | Number, settings: Settings, held: Held) -> list[_InFolds]:
    """The networks on the numbers and, where there are ranges and time for them, on ranges; none where there is no time."""
    assert held.turns is not None
    every = encoded.whole(data, target, settings, held.examples)
    if every is None:
        return []
    epochs = _epochs(len(every.targets), _weights(every.encoder.width, target), len(held.turns.held_out))
    if epochs <= _FEWEST_EPOCHS:
        return []
    found = [_by_folds(every, target, settings, held, epochs, None)]
    of_numbers = ranges.learn(every.values)
    if of_numbers is not None and of_numbers.read_width * len(every.targets) <= encoded.MAX_ENTRIES:
        weights = _weights(of_numbers.read_width, target)
        epochs = _epochs(len(every.targets), weights, len(held.turns.held_out), _BUDGET_OF_RANGES)
        if epochs > _FEWEST_EPOCHS:
            found.append(_by_folds(every, target, settings, held, epochs, of_numbers))
    return found


def _by_folds(every: Encoded, target: Classes | Number, settings: Settings, held: Held, epochs: int, of_numbers: Ranges | None) -> _InFolds:
    assert held.turns is not None
    parts, labels = list(held.turns.parts()), tuple(target.labels)
    rows = every if of_numbers is None else replace(every, values=of_numbers.read(every.values))
    fitted, losses = _fitted([(rows.chosen(kept), rows.chosen(out)) for kept, out in parts], target, settings, epochs)
    outputs = encoded.empty(len(held.targets), target)
    for (_, out), of_fold in zip(parts, fitted, strict=True):
        outputs[out] = encoded.answers(_scores(of_fold, rows.values[out]), bool(labels))

    def whole() -> PerceptronTable:
        joined = mean(fitted)
        return PerceptronTable(every.encoder, joined if of_numbers is None else of_numbers.before(joined), labels)

    held_out = HeldOut(NAME if of_numbers is None else _OF_RANGES, outputs, whole)
    return _InFolds(int(losses.argmin()) + 1, float(losses.min()), held_out, of_numbers is not None)


def _of_all(train: Encoded, target: Classes | Number, settings: Settings, best: _InFolds) -> tuple[Layer, ...]:
    """The network of all training rows that reads as the ``best`` of the folds does, after as many epochs."""
    of_numbers = ranges.learn(train.values) if best.of_ranges else None
    if of_numbers is None:
        return _fitted([(train, None)], target, settings, best.epochs)[0][0]
    return of_numbers.before(_fitted([(replace(train, values=of_numbers.read(train.values)), None)], target, settings, best.epochs)[0][0])


def mean(networks: list[tuple[Layer, ...]]) -> tuple[Layer, ...]:
    """One network that answers the mean of the scores of ``networks``: they stand side by side in its layers."""
    joined: list[Layer] = []
    for place, of_layer in enumerate(zip(*networks, strict=True)):
        weights, biases = [w for w, _ in of_layer], [b for _, b in of_layer]
        if place + 1 == len(networks[0]):
            scale = numpy.float32(1 / len(networks))
            weight = numpy.concatenate(weights) if place else numpy.sum(weights, axis=0)
            joined.append((weight * scale, numpy.sum(biases, axis=0) * scale))
            continue
        heights, widths = (numpy.cumsum([0, *(w.shape[axis] for w in weights)]) for axis in (0, 1))
        weight = numpy.concatenate(weights, axis=1) if place == 0 else numpy.zeros((heights[-1], widths[-1]), numpy.float32)
        for i, w in enumerate(weights if place else ()):
            weight[heights[i] : heights[i + 1], widths[i] : widths[i + 1]] = w
        joined.append((weight, numpy.concatenate(biases)))
    return tuple(joined)


def _fitted(
    parts: list[tuple[Encoded, Encoded | None]], target: Classes | Number, settings: Settings, epochs: int
) -> tuple[list[tuple[Layer, ...]], numpy.ndarray]:
    """A network for each of ``parts``, pairs of rows to fit on and rows to judge by, and the losses of the epochs in the mean over all rows.

    The layers are those after the epoch with the smallest loss; without rows to judge by, after the last one.
    """
    networks = [_Network(train, target, settings.seed) for train, _ in parts]
    best, losses, since = None, [], 0
    for _ in range(max(1, epochs)):
        for network in networks:
            network.learn()
        judged = [(n.layers(), other) for n, (_, other) in zip(networks, parts, strict=True) if other is not None]
        if not judged:
            continue
        sizes = [len(other.targets) for _, other in judged]
        losses.append(float(numpy.average([_loss(layers, other, len(target.labels)) for layers, other in judged], weights=sizes)))
        since = since + 1 if losses[-1] >= min(losses[:-1], default=numpy.inf) else 0
        best = [layers for layers, _ in judged] if since == 0 else best
        if since >= _PATIENCE:
            break
    return best or [n.layers() for n in networks], numpy.asarray(losses)


def _loss(layers: tuple[Layer, ...], rows: Encoded, classes: int) -> float:
    return encoded.loss(rows, partial(_scores, layers), classes)


class _Network:
    """A network of scikit-learn on some rows, which learns epoch by epoch."""

    def __init__(self, train: Encoded, target: Classes | Number, seed: int):
        from sklearn.neural_network import MLPClassifier, MLPRegressor

        self._classes = len(target.labels)
        self._mean, self._scale = (0.0, 1.0) if self._classes else (float(train.targets.mean()), float(train.targets.std()) or 1.0)
        self._train, self._targets = train, train.targets if self._classes else (train.targets - self._mean) / self._scale
        self._model = (MLPClassifier if self._classes else MLPRegressor)(
            hidden_layer_sizes=HIDDEN, batch_size=_batch(len(train.targets)), learning_rate_init=_RATE, alpha=_DECAY,
            random_state=numpy.random.RandomState(seed),  # an object: every epoch goes on with it
        )  # fmt: skip

    def learn(self) -> None:
        more = {"classes": numpy.arange(self._classes)} if self._classes else {}
        self._model.partial_fit(self._train.values, self._targets, sample_weight=self._train.weights, **more)

    def layers(self) -> tuple[Layer, ...]:
        return _layers(self._model, self._classes, self._mean, self._scale)


def _layers(model, classes: int, mean: float, scale: float) -> tuple[Layer, ...]:
    """The layers of scikit-learn's ``model``, of which the last answers in the unit of the data and has one output for each class."""
    layers = [(w.astype(numpy.float32, order="C"), b.astype(numpy.float32)) for w, b in zip(model.coefs_, model.intercepts_, strict=True)]
    weights, bias = layers[-1]
    if classes == 2:  # scikit-learn has one output for two classes
        layers[-1] = numpy.hstack([-weights, weights]) / 2, numpy.append(-bias, bias) / 2
    elif not classes:
        layers[-1] = weights * numpy.float32(scale), bias * numpy.float32(scale) + numpy.float32(mean)
    return tuple(layers)
