"""Tables as standardised numbers and one-hot categories, for estimators that read them so, and the reading of their files."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

import numpy

from trainer import threads
from trainer.config.settings import Settings
from trainer.core import drawn
from trainer.core.example import Dataset, Example
from trainer.core.example_targets import encoded_targets
from trainer.data.columns.features import CATEGORY, NUMBER
from trainer.estimators import balance, folds
from trainer.kinds.derived import part as parts
from trainer.kinds.derived.part import Part
from trainer.kinds.table import encoder as table, held_out
from trainer.kinds.table.columns import SORTS
from trainer.kinds.table.encoder import Cells, Encoder
from trainer.measure import linear
from trainer.measure.predictions import softmax
from trainer.targets.classes import Classes
from trainer.targets.number import Number

MAX_ENTRIES = 50_000_000  # of a matrix: 200 MB
ROWS = 1 << 17  # that are answered at once: a network has several matrices with a row for each. The last bits of an answer depend on it
_PROBABILITIES = 25_000_000  # of classes at once: 200 MB


@dataclass(frozen=True)
class Encoded:
    """Encoded rows (rows x width, float32), their targets (int64 classes, or float64 numbers), and the weight of each class if any."""

    encoder: Encoder
    values: numpy.ndarray
    targets: numpy.ndarray
    class_weights: numpy.ndarray | None

    @property
    def weights(self) -> numpy.ndarray | None:
        """The weight of each row."""
        return None if self.class_weights is None else self.class_weights[self.targets]

    def chosen(self, rows: numpy.ndarray) -> "Encoded":
        return Encoded(self.encoder, self.values[rows], self.targets[rows], self.class_weights)


def of(data: Dataset, target: Classes | Number, settings: Settings, examples: Sequence[Example], encoder: Encoder | None = None) -> Encoded:
    """Encode ``examples`` whose label is known; very many are sampled by the seed. ``encoder`` is learnt from them if
    none is given."""
    encoder = encoder or table.learned(data.columns, data.types, examples, data.learnt)
    examples = held_out.known(examples, target) if target.labels else examples
    examples = drawn.examples(examples, min(linear.MAX_ROWS, MAX_ENTRIES // max(1, encoder.width)), settings.seed)
    targets = encoded_targets(examples, target.encode)
    return Encoded(encoder, values(encoder, examples), targets, balance.class_weights(data, settings))


def whole(data: Dataset, target: Classes | Number, settings: Settings, examples: Sequence[Example]) -> Encoded | None:
    """All of ``examples``, which are to be fitted in folds, encoded once for all folds; None if the matrix would be too large.

    Means, deviations and categories are those of all rows. Nothing of the targets of held-out rows is in them.
    """
    encoder = table.learned(data.columns, data.types, examples, data.learnt)
    if encoder.width * len(examples) > MAX_ENTRIES:
        return None
    targets = encoded_targets(examples, target.encode)
    return Encoded(encoder, values(encoder, examples), targets, balance.class_weights(data, settings))


def empty(rows: int, target: Classes | Number) -> numpy.ndarray:
    """Room for the outputs of so many rows."""
    return numpy.zeros((rows, len(target.labels)) if target.labels else rows)


def empty_like(outputs: numpy.ndarray, rows: int) -> numpy.ndarray:
    """Room for outputs of ``rows`` like ``outputs``."""
    return numpy.zeros((rows, *outputs.shape[1:]))


def answers(scores: numpy.ndarray, classifies: bool) -> numpy.ndarray:
    """The probabilities or the numbers of ``scores`` (rows x outputs)."""
    found = scores.astype(numpy.float64)
    return softmax(found) if classifies else found[:, 0]


def values(encoder: Encoder, examples: Sequence[Example]) -> numpy.ndarray:
    return cast(numpy.ndarray, cast(Cells, encoder.encode(examples, numpy.zeros(len(examples))).features).values)


def outputs(encoder: Encoder, examples: Sequence[Example], scores: Callable[[numpy.ndarray], numpy.ndarray], classifies: bool) -> numpy.ndarray:
    """The probabilities or the numbers of ``examples``, a block at a time, on one BLAS thread: sums would depend on their number."""
    outputs_of_a_row = scores(numpy.zeros((0, encoder.width), numpy.float32)).shape[1]
    step = min(at_once(outputs_of_a_row), max(1, MAX_ENTRIES // max(1, encoder.width)))
    blocks: list[Sequence[Example]] = [examples[i : i + step] for i in range(0, len(examples), step)] or [[]]
    with threads.one_of_blas():
        return numpy.concatenate([answers(scores(values(encoder, block)), classifies) for block in blocks])


def at_once(classes: int) -> int:
    """How many rows are answered at once: a network has several matrices with a row for each, and a column for each class."""
    return max(1, min(ROWS, _PROBABILITIES // max(1, classes)))


def loss(rows: Encoded, scores: Callable[[numpy.ndarray], numpy.ndarray], classes: int) -> float:
    """The loss of the ``scores`` of rows, a block at a time. ``classes`` is 0 for regression."""
    found, step = [], at_once(classes)
    for start in range(0, len(rows.targets), step):
        part, targets = answers(scores(rows.values[start : start + step]), bool(classes)), rows.targets[start : start + step]
        found.append(part[numpy.arange(len(targets)), targets] if classes else part)
    every = numpy.concatenate(found)
    return folds.log_loss(every, rows.weights) if classes else folds.loss(every, rows.targets)


def restored(columns) -> Encoder:
    """The encoder of a saved model. Raises ValueError, KeyError or TypeError unless its columns are described completely."""
    found: list[Part | None] = []
    for column in columns:
        known = column["type"] == CATEGORY
        if not isinstance(column["name"], str) or column["type"] not in (CATEGORY, NUMBER, *SORTS):
            raise ValueError("a column is not described")
        if known and not (isinstance(column["categories"], list) and all(isinstance(c, str) for c in column["categories"])):
            raise ValueError("the categories of a column are not described")
        part = parts.restored(column["type"], column) if column["type"] in SORTS else None
        if not known:
            _check_scale(column, None if part is None else len(part.names))
        found.append(part)
    return Encoder(list(columns), found)


def _check_scale(column: dict, numbers: int | None) -> None:
    """Raise ValueError or TypeError unless a column has its mean and its deviation, or a list of each for so many ``numbers``."""
    mean, std = ([found] if numbers is None else list(found) for found in (column["mean"], column["std"]))
    if not len(mean) == len(std) == (1 if numbers is None else numbers) or 0 in [*map(parts.finite, mean), *map(parts.finite, std)][len(mean) :]:
        raise ValueError("the scale of a column is not a number")


def labels(config: dict) -> tuple[str, ...]:
    found = config["labels"]
    if not isinstance(found, list) or not all(isinstance(label, str) for label in found):
        raise ValueError("its labels are not described")
    return tuple(found)


def tensor(tensors: dict, name: str, shape: tuple[int, ...]) -> numpy.ndarray:
    """The float32 tensor of that name. Raises KeyError or ValueError unless it has ``shape`` and finite numbers."""
    found = tensors[name]
    if found.shape != shape or found.dtype != numpy.float32 or not numpy.isfinite(found).all():
        raise ValueError(f"the tensor {name} is wrong")
    return found
