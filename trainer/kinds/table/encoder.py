"""The columns of a table as numbers for linear models and networks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy

from trainer.core import columnar, mapped
from trainer.core.example import Example
from trainer.core.plan import Rows
from trainer.data.columns.features import CATEGORY
from trainer.kinds.derived.part import Part
from trainer.measure import linear

LARGEST = 10  # deviations of an encoded number
_AT_ONCE = 8_000_000  # numbers of an encoding in memory at once
HIDDEN = (128, 64)  # widths of the layers of the built-in network and of the estimator perceptron


@dataclass(frozen=True)
class Cells:
    """Rows of a table as numbers (n x width)."""

    values: "numpy.ndarray | Asked"

    @property
    def lengths(self) -> numpy.ndarray:
        return numpy.ones(len(self.values), dtype=numpy.int64)

    def batch(self, rows: numpy.ndarray, augment=None) -> dict[str, numpy.ndarray]:
        return {"values": self.values[rows]}

    def first(self, width: int) -> "numpy.ndarray | Asked":
        """The first columns."""
        return self.values[:, :width] if isinstance(self.values, numpy.ndarray) else self.values.first(width)


class Asked:
    """The numbers of very many examples (rows x width, float32), which are made when they are asked for: a linear model reads some of them."""

    dtype = numpy.dtype(numpy.float32)

    def __init__(self, encoder: "Encoder", examples: Sequence[Example], width: int):
        self._encoder, self._examples = encoder, examples
        self.shape = len(examples), width

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def size(self) -> int:
        return self.shape[0] * self.shape[1]

    def __getitem__(self, rows: slice | numpy.ndarray) -> numpy.ndarray:
        examples = self._examples[rows] if isinstance(rows, slice) else columnar.taken(self._examples, rows)
        return self._encoder.numbers(examples)[:, : self.shape[1]]

    def first(self, width: int) -> "Asked":
        """The same with the first columns alone."""
        return Asked(self._encoder, self._examples, width)


class Encoder:
    """How each column becomes numbers: a number is standardised, a category is one-hot encoded.

    An empty or unreadable number counts as the mean, an unknown category as none of the known ones. A column of another type is read by its part of
    ``parts``, which are in the order of the columns. ``plain_width`` is the width of the others, which come first.
    """

    def __init__(self, columns: list[dict], parts: Sequence[Part | None] = (), folder: Path | None = None, samples: bool = False):
        """The rows of large tables go to a file on the volume of ``folder``; to memory without it. ``samples`` says that of very many
        training rows a linear model reads some alone, so they are encoded when it asks for them."""
        self.columns, self.parts = columns, list(parts) or [None] * len(columns)
        self._folder, self._samples = folder, samples
        self.width = sum(self._width(c, p) for c, p in zip(columns, self.parts, strict=True))
        self.plain_width = sum(self._width(c, None) for c, p in zip(columns, self.parts, strict=True) if p is None)
        self.shape = {"width": self.width, "columns": columns}

    @staticmethod
    def _width(column: dict, part: Part | None) -> int:
        if part is not None:
            return len(part.categories) + len(part.names)
        return len(column["categories"]) if column["type"] == CATEGORY else 1

    @property
    def blocks(self) -> list[slice]:
        """Where the numbers of each column are among those of a row."""
        ends = numpy.cumsum([self._width(c, p) for c, p in zip(self.columns, self.parts, strict=True)]).tolist()
        return [slice(a, b) for a, b in zip([0, *ends], ends, strict=False)]

    def encode(self, examples: Sequence[Example], targets: numpy.ndarray, name: str = "", training: bool = False) -> Rows:
        step = max(1, _AT_ONCE // max(1, self.width))
        if len(examples) <= step:
            return Rows(Cells(self.numbers(examples)), targets)
        blocks = (self.numbers(examples[i : i + step]) for i in range(0, len(examples), step))
        targets = mapped.kept(targets, self._folder)
        if training and self._samples and self.plain_width * len(examples) > linear.MAX_ENTRIES:
            return Rows(Cells(Asked(self, examples, self.width)), targets)
        shape = len(examples), self.width
        if self._folder is not None:
            return Rows(Cells(mapped.rows(blocks, shape, numpy.float32, self._folder)), targets)
        found = numpy.empty(shape, numpy.float32)
        for start, block in zip(range(0, len(examples), step), blocks, strict=True):
            found[start : start + step] = block
        return Rows(Cells(found), targets)

    def numbers(self, examples: Sequence[Example]) -> numpy.ndarray:
        """The encoded examples (rows x width, float32), in memory."""
        found = numpy.zeros((len(examples), self.width), numpy.float32)  # filled in place: there is no second one in memory
        for place, (column, part, block) in enumerate(zip(self.columns, self.parts, self.blocks, strict=True)):
            own = found[:, block]
            if part is not None:
                _one_hot(*columnar.codes(examples, place), part.categories, own)
                own[:, len(part.categories) :] = _standardised(part.values(columnar.texts(examples, place)), column)
            elif column["type"] == CATEGORY:
                _one_hot(*columnar.codes(examples, place), column["categories"], own)
            else:
                own[:] = _standardised(columnar.numbers(examples, place)[:, None], column)
        return found

    def forget(self) -> None:
        """Nothing is counted."""

    def described(self) -> dict:
        return {"model": {"columns": [c["name"] for c in self.columns]}, "data": {}, "encoder": {"columns": self.columns}}

    def save(self, folder: Path) -> None:
        """Writes nothing: the columns are in config.json beside the weights."""


def learned(
    names: tuple[str, ...],
    types: dict[str, str],
    examples: Sequence[Example],
    parts: Mapping[str, Part] | None = None,
    folder: Path | None = None,
    samples: bool = False,
) -> Encoder:
    """The encoder with the means, standard deviations and categories of ``examples``. ``parts`` read the columns that are neither numbers nor
    categories, by their names. ``folder`` and ``samples`` are those of the encoder."""
    columns: list[dict] = []
    parts = parts or {}
    for place, name in enumerate(names):
        column: dict = {"name": name, "type": types[name]}
        if types[name] == CATEGORY:
            cells, codes = columnar.codes(examples, place)
            there = {cells[i].strip() for i in numpy.unique(codes).tolist()}
            column["categories"] = sorted(there - {""})
        elif name not in parts:
            (mean,), (std,) = _scale(columnar.numbers(examples, place)[:, None])
            column |= {"mean": mean, "std": std}
        else:
            means, stds = _scale(parts[name].values(columnar.texts(examples, place)))
            column |= {**parts[name].described(), "mean": means, "std": stds}
        columns.append(column)
    return Encoder(columns, [parts.get(name) for name in names], folder, samples)


def _scale(values: numpy.ndarray) -> tuple[list[float], list[float]]:
    """The mean and the deviation of each column, 1 for a deviation of 0. ``values`` may be overwritten."""
    means, stds = [], []
    for column in values.T:
        empty = numpy.isnan(column)
        there = column[~empty] if empty.any() or values.shape[1] > 1 else column
        mean, std = _mean_and_std(there) if len(there) else (0.0, 1.0)
        means.append(mean)
        stds.append(std or 1.0)
    return means, stds


def _mean_and_std(values: numpy.ndarray) -> tuple[float, float]:
    """The mean and the deviation of ``values``, which are overwritten: to the bit as numpy has them, but without another array of this size."""
    mean = values.mean()
    values -= mean
    values *= values
    return float(mean), float(numpy.sqrt(values.mean()))


def _standardised(values: numpy.ndarray, column: dict) -> numpy.ndarray:
    scaled = (values - column["mean"]) / column["std"]
    # Values are clipped at ``LARGEST`` standard deviations, so that one outlier cannot dominate the row.
    return numpy.clip(numpy.nan_to_num(scaled, nan=0.0), -LARGEST, LARGEST).astype(numpy.float32)


def _one_hot(cells: list[str], codes: numpy.ndarray, categories: Sequence[str], found: numpy.ndarray) -> None:
    """Write 1 into ``found`` (rows x at least as many as ``categories``), which is 0, in the place of the category of each row, if it is known."""
    known = {c: i for i, c in enumerate(categories)}
    places = numpy.asarray([known.get(c.strip(), -1) for c in cells], numpy.int64)[codes] if len(codes) else numpy.zeros(0, numpy.int64)
    rows = numpy.flatnonzero(places >= 0)
    found[rows, places[rows]] = 1
