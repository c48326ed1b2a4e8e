"""The objects that a model finds in pictures beside those that are there, and what is counted of them."""

import functools
from dataclasses import dataclass, replace

import numpy

from trainer.kinds.objects import scores
from trainer.kinds.objects.scores import Boxes
from trainer.kinds.objects.truth import Truth


@dataclass(frozen=True)
class Answers:
    """The predictions of pictures beside their objects. ``threshold`` is the score from which one counts."""

    truths: list[Truth]
    predicted: list[Boxes]
    classes: int
    most: int
    threshold: float
    outlined: bool = False
    confidence: None = None

    def __len__(self) -> int:
        return len(self.truths)

    @functools.cached_property
    def overlaps(self) -> list[numpy.ndarray]:
        """How much the predictions of each picture cover its objects."""
        return [scores.matrix(t, b) for t, b in zip(self.truths, self.predicted)]

    def fitting(self, row: int) -> tuple[numpy.ndarray, numpy.ndarray, numpy.ndarray]:
        """See ``scores.fitting``, for one picture."""
        return scores.fitting(self.truths[row], self.predicted[row], self.overlaps[row], self.threshold)

    def at(self, threshold: float) -> "Answers":
        """The same with another score from which objects count."""
        other = replace(self, threshold=threshold)
        other.__dict__["overlaps"] = self.overlaps
        return other


def hits(answers: Answers, row: int) -> tuple[int, int, int]:
    """Right predictions of a picture, all that count, and objects to find."""
    fits, counts, _ = answers.fitting(row)
    return int(fits.sum()), int(counts.sum()), int(answers.truths[row].counted.sum())


def f1(right: int, said: int, there: int) -> float:
    """1 where there is nothing to find and nothing was found."""
    return 2 * right / (said + there) if said + there else 1.0


def count_errors(answers: Answers) -> numpy.ndarray:
    """By how many objects the number of each picture is wrong, over all labels."""
    there, said = counts(answers)
    return numpy.abs(said - there).sum(axis=1).astype(numpy.float64)


def counts(answers: Answers) -> tuple[numpy.ndarray, numpy.ndarray]:
    """How many objects of each label a picture has and how many are found (pictures x labels each). Those in crowds do not count."""
    there, said = numpy.zeros((2, len(answers), answers.classes), numpy.int64)
    for row, (truth, boxes) in enumerate(zip(answers.truths, answers.predicted)):
        _, counted, _ = answers.fitting(row)
        there[row] = numpy.bincount(truth.classes[truth.counted], minlength=answers.classes)
        said[row] = numpy.bincount(boxes.sure(answers.threshold).classes[counted], minlength=answers.classes)
    return there, said
