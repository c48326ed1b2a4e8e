"""The target of a model: one of several classes, several labels, a number, the tokens of a text, or the edges of a graph."""

import math
from dataclasses import dataclass

import numpy

from trainer.config.kinds import LINKS
from trainer.kinds.graph.links import LinkAnswers
from trainer.kinds.language.likelihoods import Likelihoods
from trainer.kinds.text.label_sets import forms
from trainer.kinds.text.label_sets.measure import LabelSets
from trainer.measure.predictions import MAX_CLASSES, Predictions

NO_WORD = -2  # a place of a row where no word begins


@dataclass(frozen=True)
class Classes:
    """The label map: the position of a label is the model's output for it."""

    labels: tuple[str, ...]

    @property
    def outputs(self) -> int:
        return len(self.labels)

    def encode(self, targets: list[str]) -> numpy.ndarray:
        """Class numbers; -1 for a label that is not in the map."""
        places = {label: i for i, label in enumerate(self.labels)}
        return numpy.asarray([places.get(t, -1) for t in targets], dtype=numpy.int64)

    def text(self, value) -> str:
        return self.labels[int(value)]

    def answers(self, outputs: numpy.ndarray, wanted: numpy.ndarray) -> Predictions:
        """The answers behind ``outputs`` (probabilities of all classes) for examples of which the classes ``wanted`` are right."""
        every = numpy.arange(len(outputs))
        predicted = outputs.argmax(axis=1)
        kept = outputs if self.outputs <= MAX_CLASSES else None
        return Predictions(wanted, predicted, outputs[every, predicted], outputs[every, wanted], kept)


@dataclass(frozen=True)
class Tags(Classes):
    """A tag for each word of a text. Examples have the tags of all their words, with spaces between them; predictions are of words.

    The targets of encoded rows are one number for each place of a row: a tag, -1 where it is not known, or NO_WORD.
    """

    def encode(self, targets: list[str]) -> numpy.ndarray:
        """The tags of the words of all examples, one after the other; -1 for a tag that is not in the map."""
        return super().encode([tag for text in targets for tag in text.split(" ")])

    def answers(self, outputs: numpy.ndarray, wanted: numpy.ndarray) -> Predictions:
        """The answers behind ``outputs`` (words x tags). ``wanted`` are the tags of the words, or the targets of rows."""
        return super().answers(outputs, wanted if wanted.ndim == 1 else wanted[wanted != NO_WORD])


@dataclass(frozen=True)
class Labels:
    """Several labels for each row. ``separator`` stands between them in the data. A model's outputs are the probability of each label,
    and then of each whether it is predicted."""

    labels: tuple[str, ...]
    separator: str = ";"

    std = 1.0

    @property
    def outputs(self) -> int:
        return 2 * len(self.labels)

    def encode(self, targets: list[str]) -> numpy.ndarray:
        """1 for each label that a row has, else 0 (rows x labels); -1 throughout where nobody knows."""
        places = {label: i for i, label in enumerate(self.labels)}
        found = numpy.zeros((len(targets), len(self.labels)), numpy.int64)
        for row, target in zip(found, targets, strict=True):
            row[:] = 0 if target.strip() else -1
            row[[places[p] for p in forms.parts(target, self.separator) if p in places]] = 1
        return found

    def text(self, value) -> str:
        """The labels that are predicted: ``value`` has 1 for each."""
        return forms.joined([self.labels[i] for i in numpy.flatnonzero(value)], self.separator)

    def answers(self, outputs: numpy.ndarray, wanted: numpy.ndarray) -> LabelSets:
        count = len(self.labels)
        return LabelSets(wanted > 0, outputs[:, count:] > 0.5, outputs[:, :count].astype(numpy.float64))


@dataclass(frozen=True)
class Number:
    """A number. The model works in units of the training targets' standard deviation around their mean."""

    mean: float
    std: float

    outputs = 1
    labels = ()

    def encode(self, targets: list[str]) -> numpy.ndarray:
        """The numbers in their own unit; NaN for a text that is not a number."""
        return numpy.asarray([numpy.nan if (n := number(t)) is None else n for t in targets], dtype=numpy.float64)

    def text(self, value) -> str:
        return f"{value:.6g}"

    def answers(self, outputs: numpy.ndarray, wanted: numpy.ndarray) -> Predictions:
        return Predictions(wanted, outputs)


@dataclass(frozen=True)
class Tokens:
    """The next token of a text. Of each row, the encoder counts the learnt tokens and the bytes that they stand for."""

    labels = ()
    std = 1.0  # nats are the unit of its loss
    outputs = 3  # of each example: nats, learnt tokens, tokens that were the likeliest

    def encode(self, targets: list[str]) -> numpy.ndarray:
        """Room for the counts, which only the encoder knows."""
        return numpy.zeros((len(targets), 2), dtype=numpy.int64)

    def text(self, value) -> str:
        """An answer, which is a text already."""
        return str(value)

    def answers(self, outputs: numpy.ndarray, wanted: numpy.ndarray) -> Likelihoods:
        """How likely the learnt tokens of the examples are; ``wanted`` holds their number and their bytes."""
        return Likelihoods(outputs[:, 0], outputs[:, 1], outputs[:, 2], wanted[:, 1])


@dataclass(frozen=True)
class Links:
    """Whether two nodes are joined by an edge. Rows are edges, and have no targets: what they are told from is drawn."""

    labels = ()
    std = 1.0
    outputs = 5  # of each measured edge: its score, that of another pair, its rank, its source, and how many candidates were ranked

    def encode(self, targets: list[str]) -> numpy.ndarray:
        return numpy.zeros(len(targets), dtype=numpy.int8)

    def text(self, value) -> str:
        return f"{value:.6g}"

    def answers(self, outputs: numpy.ndarray, wanted) -> LinkAnswers:
        """The answers behind the ``outputs`` of ``trainer.kinds.graph.rows.Edges``."""
        positive, negative, ranks, sources, candidates = outputs.T
        return LinkAnswers(positive, negative, ranks, sources.astype(numpy.int64), int(candidates[0]) if len(candidates) else 0)


Target = Classes | Number | Tokens | Labels | Links


def of(task: str, labels: tuple[str, ...], train: list[str]) -> Target:
    """The target of ``task``, learnt from the training targets."""
    if task == forms.TASK:
        return Labels(tuple(labels))
    if task == "token-classification":
        return Tags(tuple(labels))
    if task.endswith("classification"):
        return Classes(tuple(labels))
    if task.endswith("generation"):
        return Tokens()
    if task == LINKS:
        return Links()
    values = Number(0.0, 1.0).encode(train)
    return Number(float(values.mean()), float(values.std()) or 1.0)


def described(target: Target) -> dict:
    """``target`` as JSON, for the description beside the weights."""
    if isinstance(target, Tokens):
        return {"tokens": True}
    if isinstance(target, Links):
        return {"links": True}
    if isinstance(target, Labels):
        return {"label_sets": list(target.labels), "separator": target.separator}
    if isinstance(target, Tags):
        return {"tags": list(target.labels)}
    return {"labels": list(target.labels)} if isinstance(target, Classes) else {"mean": target.mean, "std": target.std}


def restored(description: dict) -> Target:
    if "tokens" in description:
        return Tokens()
    if "links" in description:
        return Links()
    if "label_sets" in description:
        return Labels(tuple(description["label_sets"]), str(description["separator"]))
    if "tags" in description:
        return Tags(tuple(description["tags"]))
    return Classes(tuple(description["labels"])) if "labels" in description else Number(description["mean"], description["std"])


def probabilities(logits: numpy.ndarray) -> numpy.ndarray:
    """The probabilities of all classes (rows x classes) behind the logits of a network."""
    odds = numpy.exp(logits - logits.max(axis=1, keepdims=True))
    return odds / odds.sum(axis=1, keepdims=True)


def number(text: str) -> float | None:
    """``text`` as a number; None if it is not a finite number."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
