"""How well columns tell the target, by the loss on held-out rows of models that are fitted in a fraction of a second.

The models are a linear one and trees with few rounds, and the loss is that of their mean with the best share. It compares columns, and is not as
small as that of the models that are delivered.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy

from trainer import threads
from trainer.core.cells import number
from trainer.data.columns.features import CATEGORY, NUMBER
from trainer.kinds.boosted import boosting
from trainer.kinds.boosted.boosting import Rows, Shape
from trainer.kinds.boosted.forest import MAX_CATEGORIES
from trainer.kinds.derived.part import Part, frequent
from trainer.measure import linear
from trainer.measure.predictions import softmax

Fold = tuple[numpy.ndarray, numpy.ndarray]  # the rows to fit on, and those that are held out

MOST = 4_000  # rows that columns are judged on
_SHAPE = Shape(0.1, 15, 20, 1.0, 1.0)
_ROUNDS, _FEWEST_ROUNDS, _BUDGET_SECONDS = 60, 10, 0.5  # of the trees of all folds together, on one slow core
_STRENGTHS, _LINEAR_SECONDS = (30.0, 3.0), 0.5
_SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
_LEAST = 1e-6  # a probability


@dataclass(frozen=True)
class View:
    """Columns as trees read them (NaN for what is empty) and as a linear model does (standardised, and one column for each category).

    ``known`` is the number of categories of each column of ``cells``, 0 for numbers.
    """

    cells: numpy.ndarray  # rows x columns, float64
    known: tuple[int, ...]
    features: numpy.ndarray  # rows x width, float32


def joined(views: Sequence[View], rows: int) -> View:
    """All columns of ``views`` side by side."""
    cells = [numpy.zeros((rows, 0)), *(v.cells for v in views)]
    features = [numpy.zeros((rows, 0), numpy.float32), *(v.features for v in views)]
    return View(numpy.concatenate(cells, axis=1), tuple(k for v in views for k in v.known), numpy.concatenate(features, axis=1))


def of_column(sort: str, cells: list[str]) -> View:
    """A column of numbers or categories."""
    if sort == NUMBER:
        return _of_numbers(numpy.asarray([number(c) for c in cells], numpy.float64)[:, None])
    assert sort == CATEGORY
    return _of_categories(cells, frequent([c.strip() for c in cells], 1, MAX_CATEGORIES))


def of_part(part: Part, cells: list[str]) -> View:
    """A column that ``part`` reads."""
    views = [_of_categories(cells, part.categories)] if part.categories else []
    return joined([*views, _of_numbers(part.values(cells))], len(cells))


def _of_numbers(values: numpy.ndarray) -> View:
    there = ~numpy.isnan(values)
    counts = numpy.maximum(there.sum(axis=0), 1)
    mean = numpy.where(there, values, 0).sum(axis=0) / counts
    centred = numpy.where(there, values - mean, 0)
    deviation = numpy.sqrt((centred**2).sum(axis=0) / counts)
    features = numpy.clip(centred / numpy.where(deviation > 0, deviation, 1), -10, 10)
    return View(values, (0,) * values.shape[1], features.astype(numpy.float32))


def _of_categories(cells: list[str], categories: tuple[str, ...]) -> View:
    places = {c: i for i, c in enumerate(categories)}
    found = numpy.asarray([places.get(c.strip(), -1) for c in cells], numpy.int64)
    features = numpy.zeros((len(cells), len(categories)), numpy.float32)
    there = numpy.flatnonzero(found >= 0)
    features[there, found[there]] = 1
    return View(numpy.where(found >= 0, found, numpy.nan).astype(numpy.float64)[:, None], (len(categories),), features)


@dataclass(frozen=True)
class Judge:
    """``targets`` are numbers (float64) or ``classes`` (int64) of the rows, ``folds`` the rows that are held out in turn."""

    targets: numpy.ndarray
    classes: int
    folds: tuple[Fold, ...]
    seed: int

    def losses(self, view: View) -> numpy.ndarray:
        """The loss of each held-out row, fold after fold: log loss of classes, squared error of numbers."""
        answers = [answer for answer in (self._linear(view), self._trees(view)) if answer is not None]
        if not answers:
            return self.of(self._constant())
        if len(answers) == 1:
            return self.of(answers[0])
        mixed = [self.of(share * answers[0] + (1 - share) * answers[1]) for share in _SHARES]
        return min(mixed, key=lambda losses: float(losses.mean()))

    def of(self, answers: numpy.ndarray) -> numpy.ndarray:
        """The losses of ``answers`` to the held-out rows, fold after fold: probabilities (rows x classes), or numbers."""
        truth = numpy.concatenate([self.targets[out] for _, out in self.folds])
        if not self.classes:
            return (answers - truth) ** 2
        return -numpy.log(numpy.clip(answers[numpy.arange(len(truth)), truth], _LEAST, 1))

    def _constant(self) -> numpy.ndarray:
        found = []
        for kept, out in self.folds:
            if self.classes:
                counts = numpy.bincount(self.targets[kept], minlength=self.classes) + 1.0
                found.append(numpy.tile(counts / counts.sum(), (len(out), 1)))
            else:
                found.append(numpy.full(len(out), self.targets[kept].mean()))
        return numpy.concatenate(found)

    def _linear(self, view: View) -> numpy.ndarray | None:
        """The answers with the better one of a few strengths of the penalty."""
        if not view.features.shape[1]:
            return None
        paths = []
        with threads.one_of_blas():
            for kept, out in self.folds:
                models = linear.path(view.features[kept], self.targets[kept], self.classes, self.seed, _LINEAR_SECONDS, None, _STRENGTHS)
                paths.append([self.answers(view.features[out] @ m.weights + m.bias) for m in models])
        found = [numpy.concatenate(of_strength) for of_strength in zip(*paths, strict=False)]
        return min(found, key=lambda answers: float(self.of(answers).mean())) if found else None

    def _trees(self, view: View) -> numpy.ndarray | None:
        columns, outputs = view.cells.shape[1], self.classes if self.classes > 2 else 1
        if not columns:
            return None
        cost = sum(boosting.seconds(_SHAPE, len(kept), columns, outputs) for kept, _ in self.folds)
        if (rounds := min(_ROUNDS, int(_BUDGET_SECONDS / cost))) < _FEWEST_ROUNDS:
            return None
        found = []
        with threads.one():
            for kept, out in self.folds:
                rows = Rows(view.cells[kept], self.targets[kept])
                fitted = boosting.fit(rows, None, list(view.known), self.classes, _SHAPE, rounds, self.seed)
                scores = fitted.forest.scores(view.cells[out])
                if not self.classes:
                    found.append(scores[:, 0])
                    continue
                answers = numpy.full((len(out), self.classes), 1 / (len(kept) + 1))
                if len(fitted.present) == 1:
                    answers[:, fitted.present] = 1
                else:
                    answers[:, fitted.present] = self.answers(numpy.hstack([0 * scores, scores]) if scores.shape[1] == 1 else scores)
                found.append(answers)
        return numpy.concatenate(found)

    def answers(self, scores: numpy.ndarray) -> numpy.ndarray:
        """The probabilities or the numbers of ``scores`` (rows x outputs)."""
        return softmax(scores) if self.classes else scores[:, 0]


def better(before: numpy.ndarray, after: numpy.ndarray, errors: float = 1.0, blocks: int = 0) -> bool:
    """Whether the losses ``after`` are smaller than those ``before``, of the same rows, by more than so many standard errors. Rows that follow each
    other in time are alike, so they count as a few ``blocks``."""
    gain = before - after
    if blocks:
        gain = numpy.asarray([block.mean() for block in numpy.array_split(gain, min(blocks, len(gain)))])
    return bool(gain.mean() > errors * gain.std() / max(1.0, numpy.sqrt(len(gain))))


def shown(losses: numpy.ndarray, classes: int) -> str:
    """A loss in a sentence: the log loss, or the root of the mean squared error."""
    return f"{losses.mean() if classes else losses.mean() ** 0.5:.3g}"
