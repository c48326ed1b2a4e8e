"""The columns of a table as numbers for linear models and networks."""

from dataclasses import dataclass
from pathlib import Path

import numpy

from trainer.core.example import Example
from trainer.core.plan import Rows
from trainer.targets.target import number

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

    def __init__(self, columns: list[dict]):
        self.columns = columns
        self.width = sum(len(c["categories"]) if c["type"] == "category" else 1 for c in columns)
        self.shape = {"width": self.width, "columns": columns}

    @property
    def blocks(self) -> list[slice]:
        """Where the numbers of each column are among those of a row."""
        ends = numpy.cumsum([len(c["categories"]) if c["type"] == "category" else 1 for c in self.columns]).tolist()
        return [slice(a, b) for a, b in zip([0, *ends], ends, strict=False)]

    def encode(self, examples: list[Example], targets: numpy.ndarray, name: str = "", training: bool = False) -> Rows:
        parts = [numpy.zeros((len(examples), 0), numpy.float32)]
        for place, column in enumerate(self.columns):
            cells = [e.content[place] for e in examples]
            parts.append(_one_hot(cells, column["categories"]) if column["type"] == "category" else _standardised(cells, column))
        return Rows(Cells(numpy.concatenate(parts, axis=1)), targets)

    def forget(self) -> None:
        """Nothing is counted."""

    def described(self) -> dict:
        return {"model": {"columns": [c["name"] for c in self.columns]}, "data": {}, "encoder": {"columns": self.columns}}

    def save(self, folder: Path) -> None:
        """Writes nothing: the columns are in config.json beside the weights."""


def learned(names: tuple[str, ...], types: dict[str, str], examples: list[Example]) -> Encoder:
    """The encoder with the means, standard deviations and categories of ``examples``."""
    columns: list[dict] = []
    for place, name in enumerate(names):
        cells = [e.content[place] for e in examples]
        if types[name] == "category":
            columns.append({"name": name, "type": "category", "categories": sorted({c.strip() for c in cells} - {""})})
        else:
            values = _numbers(cells)
            there = values[~numpy.isnan(values)]
            mean, std = (float(there.mean()), float(there.std())) if len(there) else (0.0, 1.0)
            columns.append({"name": name, "type": "number", "mean": mean, "std": std or 1.0})
    return Encoder(columns)


def _numbers(cells: list[str]) -> numpy.ndarray:
    return numpy.asarray([numpy.nan if (n := number(c)) is None else n for c in cells], dtype=numpy.float64)


def _standardised(cells: list[str], column: dict) -> numpy.ndarray:
    values = (_numbers(cells) - column["mean"]) / column["std"]
    # Values are clipped at ten standard deviations, so that one outlier cannot dominate the row.
    return numpy.clip(numpy.nan_to_num(values, nan=0.0), -10, 10).astype(numpy.float32)[:, None]


def _one_hot(cells: list[str], categories: list[str]) -> numpy.ndarray:
    places = {c: i for i, c in enumerate(categories)}
    found = numpy.zeros((len(cells), len(categories)), numpy.float32)
    for row, cell in enumerate(cells):
        if (place := places.get(cell.strip())) is not None:
            found[row, place] = 1
    return found
