"""A tag for each word of a text."""

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy

from trainer.measure.predictions import Predictions
from trainer.targets import target
from trainer.targets.classes import Classes

NO_WORD = -2  # a place of a row where no word begins


class WordPlaces:
    """Where the words of rows are: which places of a row begin a word, and the number of each word over all rows."""

    def __init__(self, targets: numpy.ndarray):
        self._begins = targets != NO_WORD
        self._first = numpy.concatenate([[0], numpy.cumsum(self._begins.sum(axis=1))]).astype(numpy.int64)

    @property
    def count(self) -> int:
        return int(self._first[-1])

    def of(self, rows: numpy.ndarray) -> numpy.ndarray:
        return numpy.concatenate([numpy.arange(self._first[r], self._first[r + 1]) for r in rows])

    def chosen(self, rows: numpy.ndarray, outputs: numpy.ndarray) -> numpy.ndarray:
        width = min(outputs.shape[1], self._begins.shape[1])
        return outputs[:, :width][self._begins[rows][:, :width]]


@dataclass(frozen=True)
class Tags(Classes):
    """Examples have the tags of all their words, with spaces between them; predictions are of words.

    The targets of encoded rows are one number for each place of a row: a tag, -1 where it is not known, or NO_WORD.
    """

    key: ClassVar[str] = "tags"
    weighs_classes: ClassVar[bool] = False  # most words are outside of entities, which weights would hide

    def encode(self, targets: list[str]) -> numpy.ndarray:
        """The tags of the words of all examples, one after the other; -1 for a tag that is not in the map."""
        return super().encode([tag for text in targets for tag in text.split(" ")])

    def answers(self, outputs: numpy.ndarray, truth: numpy.ndarray) -> Predictions:
        """The answers behind ``outputs`` (words x tags). ``truth`` are the tags of the words, or the targets of rows."""
        return super().answers(outputs, truth if truth.ndim == 1 else truth[truth != NO_WORD])

    def promising(self, answers: Predictions, coverage: float) -> tuple[Self, str]:
        return self, ""  # words of one sentence are too alike to count as so many rows

    def weight(self, targets: numpy.ndarray, weights: numpy.ndarray | None) -> float:
        return float(max(1, (targets >= 0).sum()))

    def loss(self, logits, targets, weights: numpy.ndarray | None, smoothing: float):
        import torch

        targets = targets[:, : logits.shape[1]]
        known = targets >= 0
        of_words = logits[:, : targets.shape[1]][torch.from_numpy(known).to(logits.device)]
        return super().loss(of_words, targets[known].astype(numpy.int64), weights, smoothing)

    def places(self, targets: numpy.ndarray) -> target.Places:
        return WordPlaces(targets)
