"""The columns of a table as numbers for linear models and networks."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy

from trainer.core import columnar, mapped
from trainer.core.example import Example
from trainer.core.plan import Rows

_AT_ONCE = 8_000_000  # numbers of an encoding in memory at once
HIDDEN = (128, 64)  # widths of the layers of the built-in network and of the estimator perceptron


@dataclass(frozen=True)
class Cells:
    """Rows of a table as numbers (n x width)."""

    values: numpy.ndarray

    @property
    def lengths(self) -> numpy.ndarray:
        return numpy.ones(len(self.values), dtype=numpy.int64)

    def batch(self, rows: numpy.ndarray, augment=None) -> dict[str, numpy.ndarray]:
        return {"values": self.values[rows]}


class Encoder:
    """How each column becomes numbers: a number is standardised, a category is one-hot encoded.

    An empty or unreadable number counts as the mean, an unknown category as none of the known ones.
    """

    def __init__(self, columns: list[dict], folder: Path | None = None):
        """The rows of large tables go to a file on the volume of ``folder``; to memory without it."""
        self.columns = columns
        self._folder = folder
        self.width = sum(len(c["categories"]) if c["type"] == "category" else 1 for c in columns)
        self.shape = {"width": self.width, "columns": columns}

    def encode(self, examples: Sequence[Example], targets: numpy.ndarray, name: str = "", training: bool = False) -> Rows:
        step = max(1, _AT_ONCE // max(1, self.width))
        if self._folder is None or len(examples) <= step:
            return Rows(Cells(self._values(examples)), targets)
        blocks = (self._values(examples[i : i + step]) for i in range(0, len(examples), step))
        return Rows(Cells(mapped.rows(blocks, (len(examples), self.width), numpy.float32, self._folder)), targets)

    def _values(self, examples: Sequence[Example]) -> numpy.ndarray:
        parts = [numpy.zeros((len(examples), 0), numpy.float32)]
        for place, column in enumerate(self.columns):
            if column["type"] == "category":
                parts.append(_one_hot(*columnar.codes(examples, place), column["categories"]))
            else:
                parts.append(_standardised(columnar.numbers(examples, place), column))
        return numpy.concatenate(parts, axis=1)

    def forget(self) -> None:
        """Nothing is counted."""

    def described(self) -> dict:
        return {"model": {"columns": [c["name"] for c in self.columns]}, "data": {}, "encoder": {"columns": self.columns}}

    def save(self, folder: Path) -> None:
        """Writes nothing: the columns are in config.json beside the weights."""


def learned(names: tuple[str, ...], types: dict[str, str], examples: Sequence[Example], folder: Path | None = None) -> Encoder:
    """The encoder with the means, standard deviations and categories of ``examples``."""
    columns: list[dict] = []
    for place, name in enumerate(names):
        if types[name] == "category":
            cells, codes = columnar.codes(examples, place)
            there = {cells[i].strip() for i in numpy.unique(codes).tolist()}
            columns.append({"name": name, "type": "category", "categories": sorted(there - {""})})
        else:
            values = columnar.numbers(examples, place)
            known = values[~numpy.isnan(values)]
            mean, std = (float(known.mean()), float(known.std())) if len(known) else (0.0, 1.0)
            columns.append({"name": name, "type": "number", "mean": mean, "std": std or 1.0})
    return Encoder(columns, folder)


def _standardised(values: numpy.ndarray, column: dict) -> numpy.ndarray:
    values = (values - column["mean"]) / column["std"]
    # Values are clipped at ten standard deviations, so that one outlier cannot dominate the row.
    return numpy.clip(numpy.nan_to_num(values, nan=0.0), -10, 10).astype(numpy.float32)[:, None]


def _one_hot(cells: list[str], codes: numpy.ndarray, categories: list[str]) -> numpy.ndarray:
    known = {c: i for i, c in enumerate(categories)}
    places = numpy.asarray([known.get(c.strip(), -1) for c in cells], numpy.int64)[codes] if len(codes) else numpy.zeros(0, numpy.int64)
    found = numpy.zeros((len(codes), len(categories)), numpy.float32)
    rows = numpy.flatnonzero(places >= 0)
    found[rows, places[rows]] = 1
    return found
