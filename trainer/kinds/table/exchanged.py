"""The outputs of models of tables for rows that have one column from other rows: each row is encoded once, and trees follow only what changes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy

from trainer import threads
from trainer.core.example import Example
from trainer.kinds.boosted.exchanged import Paths
from trainer.kinds.boosted.forest import Forest
from trainer.kinds.table import encoded, shares
from trainer.kinds.table.columns import Columns
from trainer.kinds.table.encoder import Encoder


class Exchanging(Protocol):
    def outputs(self, part: int, rows: numpy.ndarray, others: numpy.ndarray) -> numpy.ndarray:
        """The outputs of ``rows`` with the column number ``part`` from ``others``, one for each row."""


class OfValues:
    """A model of encoded rows, whose ``scores`` are those of a block of them."""

    def __init__(self, encoder: Encoder, examples: Sequence[Example], scores: Callable[[numpy.ndarray], numpy.ndarray], classifies: bool):
        self._values, self._blocks = encoded.values(encoder, examples), encoder.blocks
        self._scores, self._classifies = scores, classifies

    def outputs(self, part: int, rows: numpy.ndarray, others: numpy.ndarray) -> numpy.ndarray:
        values, block = self._values[rows], self._blocks[part]
        values[:, block] = self._values[others, block]
        with threads.one_of_blas():
            return encoded.answers(self._scores(values), self._classifies)


class OfTrees:
    """Trees, whose ``answers`` are those of scores."""

    def __init__(self, columns: Columns, forest: Forest, examples: Sequence[Example], answers: Callable[[numpy.ndarray], numpy.ndarray]):
        self._paths, self._answers = Paths(forest, columns.cells(examples)), answers
        names = [name for name, _ in columns.sources]
        self._of = [numpy.flatnonzero([name == c["name"] for name in names]) for c in columns.columns]

    def outputs(self, part: int, rows: numpy.ndarray, others: numpy.ndarray) -> numpy.ndarray:
        return self._answers(self._paths.scores(self._of[part], rows, others))


@dataclass(frozen=True)
class OfMembers:
    members: list[Exchanging]
    shares: list[float]

    def outputs(self, part: int, rows: numpy.ndarray, others: numpy.ndarray) -> numpy.ndarray:
        return shares.mean([m.outputs(part, rows, others) for m in self.members], self.shares)
