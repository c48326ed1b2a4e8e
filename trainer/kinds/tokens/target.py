"""A tag for each word of a text."""

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy

from trainer.kinds.tokens.entities import OUTSIDE
from trainer.measure.predictions import Predictions
from trainer.targets import promise as promises, target, temperature as temperatures
from trainer.targets.classes import Classes
from trainer.targets.promise import Kept, Promise, Unit
from trainer.targets.temperature import HeldOut

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
class TaggedWords(Predictions):
    """``text`` is the row that each word is in; None where nobody knows."""

    text: numpy.ndarray | None = None


@dataclass(frozen=True)
class Tags(Classes):
    """Examples have the tags of all their words, with spaces between them; predictions are of words. The promise is one for the words that are
    tagged as something: nearly all words are not, and are easily right. Words of a text are alike, so texts are what chance draws.

    The targets of encoded rows are one number for each place of a row: a tag, -1 where it is not known, or NO_WORD.
    """

    key: ClassVar[str] = "tags"
    promise_of: ClassVar[Unit] = Unit("words of entities", "texts")
    weighs_classes: ClassVar[bool] = False  # most words are outside of entities, which weights would hide

    def encode(self, targets: list[str]) -> numpy.ndarray:
        """The tags of the words of all examples, one after the other; -1 for a tag that is not in the map."""
        return super().encode([tag for text in targets for tag in text.split(" ")])

    def answers(self, outputs: numpy.ndarray, truth: numpy.ndarray) -> Predictions:
        """The answers behind ``outputs`` (words x tags). ``truth`` are the tags of the words, or the targets of rows."""
        text = None if truth.ndim == 1 else numpy.nonzero(truth != NO_WORD)[0]
        made = super().answers(outputs, truth if truth.ndim == 1 else truth[truth != NO_WORD])
        return TaggedWords(made.truth, made.predicted, made.confidence, made.likelihood, made.probabilities, text)

    def held_out(self, outputs: numpy.ndarray, truth: numpy.ndarray) -> HeldOut:
        """Texts are the rows, because the words of one are alike. ``truth`` are the targets of rows."""
        return temperatures.losses_of_classes(outputs, truth[truth != NO_WORD], int((truth >= 0).any(axis=1).sum()))

    def promising(self, answers: Predictions, coverage: float) -> tuple[Self, str]:
        text = getattr(answers, "text", None)
        if text is None or answers.likelihood is None:
            return self, ""  # the words of one text are too alike to count as so many rows
        likelihood, plain, share = numpy.asarray(answers.likelihood, numpy.float64), replace(self, promise=None), promises.percent(coverage)
        inside = self._entities(answers.truth)
        truth, rows = answers.truth[inside], text[inside]
        if why := promises.too_few(len(numpy.unique(rows)), coverage, "texts with entities"):
            return plain, why
        if len(numpy.unique(truth)) < 2:
            return plain, "All words of held-out entities have the same tag, so nothing can be promised of the others."
        limits = promises.least_likely(likelihood[inside], truth, rows, len(self.labels), coverage)
        if not limits:
            most = promises.most_of_a_row(rows)
            needed = f"{promises.fewest(coverage, most)} words of held-out entities or more, where a text has up to {most}"
            return plain, f"A promise of {share} needs {needed}, and there are {len(rows)}."
        found = replace(self, promise=Promise(coverage, len(numpy.unique(rows)), self._with_outside(limits, answers, text, coverage)))
        return found, f"The possible tags of words hold the right one for {share} of the words of entities in texts like the held-out ones."

    def kept(self, answers: Predictions) -> Kept:
        inside = self._entities(answers.truth)
        limits = numpy.resize(self._limits, len(self.labels))
        right = (answers.likelihood >= limits[answers.truth]) | (answers.predicted == answers.truth)
        text = getattr(answers, "text", None)
        kept = Kept(right[inside], "", None if text is None else text[inside])
        if answers.probabilities is None or not inside.any():
            return kept
        sizes = self.possible(answers.probabilities).sum(axis=1)
        alone = f"{promises.percent(round((sizes == 1).mean(), 3))} of all words have one"
        return replace(kept, size=f"{sizes[inside].mean():.2f} of {len(self.labels)} tags for a word of an entity; {alone}")

    def _entities(self, truth: numpy.ndarray) -> numpy.ndarray:
        """Which words have a tag that is known and stands for something (bool)."""
        outside = self.labels.index(OUTSIDE) if OUTSIDE in self.labels else -1
        return (truth >= 0) & (truth != outside)

    def _with_outside(self, limits: tuple[float, ...], answers: Predictions, text: numpy.ndarray, coverage: float) -> tuple[float, ...]:
        """The limits of all tags, with that of words outside of entities: their own words set it."""
        every = list(numpy.resize(limits, len(self.labels)).tolist())
        if OUTSIDE in self.labels:
            place = self.labels.index(OUTSIDE)
            mine = answers.truth == place
            alone = numpy.zeros(int(mine.sum()), numpy.int64)
            own = promises.least_likely(numpy.asarray(answers.likelihood)[mine], alone, text[mine], 1, coverage) if mine.any() else ()
            every[place] = own[0] if own else 0.0
        return tuple(every)

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
