"""Tables of numbers and categories: a small multilayer perceptron, saved as plain safetensors with a config.json."""

from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy

from trainer.config.settings import Settings
from trainer.config.spec import Spec
from trainer.data import Dataset, Example
from trainer.plan import Plan, Rows
from trainer.run_folder.events import Events
from trainer.tasks.catalogue import Base
from trainer.tasks.target import Number, number

HIDDEN = (128, 64)


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

    def encode(self, examples: list[Example], targets: numpy.ndarray, name: str = "", training: bool = False) -> Rows:
        parts = [numpy.zeros((len(examples), 0), numpy.float32)]
        for place, column in enumerate(self.columns):
            cells = [e.content[place] for e in examples]
            parts.append(_one_hot(cells, column["categories"]) if column["type"] == "category" else _standardised(cells, column))
        return Rows(Cells(numpy.concatenate(parts, axis=1)), targets)

    def described(self) -> dict:
        return {"model": {"columns": [c["name"] for c in self.columns]}, "data": {}, "encoder": {"columns": self.columns}}

    def save(self, folder: Path) -> None:
        """Writes nothing: the columns are in config.json beside the weights."""


def encoder(spec: Spec, settings: Settings, data: Dataset, base: Base, events: Events) -> tuple[Encoder, Settings]:
    """Learn means, standard deviations and categories from the training rows."""
    return learned(data.columns, data.types, data.splits["train"]), settings


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


def load_encoder(spec: Spec | None, folder: Path, description: dict) -> Encoder:
    return Encoder(description["columns"])


def baseline(encoder: Encoder, data: Dataset, rows: dict[str, Rows], max_width: int):
    return {n: cast(Cells, r.features).values for n, r in rows.items()}, None, "linear model"


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


def build(plan: Plan):
    from trainer.tasks.perceptron import Perceptron

    return Perceptron([plan.shape["width"], *HIDDEN, plan.target.outputs])


def load(folder: Path, like=None):
    from trainer.tasks.perceptron import Perceptron

    return Perceptron.load(folder)


def save(model, plan: Plan, folder: Path) -> None:
    """Save weights and config.json. A saved regression model predicts in the unit of the data."""
    from trainer.tasks import transformer

    if isinstance(plan.target, Number):
        transformer.fold(model, plan.target)
    labels = {"labels": list(plan.target.labels)} if plan.target.labels else {}
    model.save(folder, {"model_type": "mlp", "task": plan.task, "columns": plan.shape["columns"], **labels})
