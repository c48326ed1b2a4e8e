"""Signals as numbers: the powers of each reading."""

from dataclasses import dataclass
from pathlib import Path

import numpy

from trainer.core.example import Example
from trainer.core.plan import Rows
from trainer.tests.toy.reading import SENSORS


@dataclass(frozen=True)
class Signals:
    """The numbers that the network reads of each signal (signals x width, float32)."""

    values: numpy.ndarray

    @property
    def lengths(self) -> numpy.ndarray:
        return numpy.ones(len(self.values), numpy.int64)

    def batch(self, rows: numpy.ndarray, augment: numpy.random.Generator | None = None) -> dict[str, numpy.ndarray]:
        return {"values": self.values[rows]}


class Encoder:
    """Learns nothing of the data: ``powers`` is the option."""

    def __init__(self, powers: int):
        self.powers = powers
        self.shape = {"width": powers * len(SENSORS)}

    def encode(self, examples: list[Example], targets: numpy.ndarray, name: str = "", training: bool = False) -> Rows:
        readings = numpy.asarray([[float(cell or 0) for cell in e.content] for e in examples], numpy.float32).reshape(-1, len(SENSORS))
        return Rows(Signals(numpy.concatenate([readings**power for power in range(1, self.powers + 1)], axis=1)), targets)

    def forget(self) -> None:
        """Nothing is counted."""

    def described(self) -> dict:
        return {"model": {"columns": list(SENSORS)}, "data": {}, "encoder": {"powers": self.powers}}

    def save(self, folder: Path) -> None:
        """Writes nothing: the description of the model says it all."""
