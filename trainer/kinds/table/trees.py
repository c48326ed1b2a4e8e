"""Gradient-boosted trees for tables: scikit-learn fits them, arrays of nodes are saved, and numpy predicts."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy

from trainer import threads
from trainer.config.settings import Settings
from trainer.core import drawn
from trainer.core.example import Dataset, Example
from trainer.estimators import folds, sampled
from trainer.estimators.sampled import Sampled
from trainer.kinds.boosted import averaged, boosting, forest as forests
from trainer.kinds.boosted.boosting import Boosted, Rows, Shape
from trainer.kinds.boosted.forest import Forest
from trainer.kinds.derived.part import Part
from trainer.kinds.table import columns as columns_of, encoded, exchanged, growing, held_out as held_rows, leaning, saved
from trainer.kinds.table.columns import Columns
from trainer.kinds.table.exchanged import Exchanging
from trainer.kinds.table.held_out import Held, HeldOut
from trainer.kinds.table.leaning import Leaning
from trainer.measure.predictions import softmax
from trainer.targets.classes import Classes
from trainer.targets.number import Number

NAME = "trees"
_MAX_CELLS = 25_000_000  # to fit on: 200 MB, of which scikit-learn makes copies
_MAX_ROWS = 2_000_000  # to fit on: each costs more than a few cells do
_MOST_SECONDS = 300.0  # that the fewest rounds on few rows may be assumed to take: above, there are no trees
_USEFUL_ROUNDS = 80  # with fewer, fewer rows cost less accuracy than fewer rounds
_BEHIND = 1.05  # times the loss of the second shape in the first fold, above which the first one is not fitted in others where time is short


@dataclass(frozen=True)
class Trees(Leaning):
    """Fitted trees. ``present`` are the classes that they were fitted on; ``held_out_loss`` is None unless folds judged them."""

    forest: Forest
    columns: Columns
    labels: tuple[str, ...]  # none for regression
    present: numpy.ndarray
    rows: int  # that they were fitted on
    held_out_loss: float | None = None
    held_out: tuple[HeldOut, ...] = ()
    sampled: tuple[Sampled, ...] = ()

    @property
    def parameters(self) -> int:
        """The thresholds and the values of the leaves."""
        return len(self.forest.value)

    @property
    def parts(self) -> Sequence[Part | None]:
        return self.columns.parts

    def outputs(self, examples: Sequence[Example]) -> numpy.ndarray:
        step = encoded.at_once(len(self.labels))
        blocks = [examples[i : i + step] for i in range(0, len(examples), step)] or [examples]
        return numpy.concatenate([self.answers(self.columns.cells(block)) for block in blocks])

    def answers(self, cells: numpy.ndarray) -> numpy.ndarray:
        """The probabilities or the numbers of rows by their cells."""
        return self._answers(self.forest.scores(cells))

    def _answers(self, scores: numpy.ndarray) -> numpy.ndarray:
        if not self.labels:
            return scores[:, 0]
        return _with_absent(_probabilities(scores, len(self.present)), self.present, len(self.labels), self.rows)

    def exchanging(self, examples: Sequence[Example]) -> Exchanging:
        return exchanged.OfTrees(self.columns, self.forest, examples, self._answers)

    def tensors(self) -> dict[str, numpy.ndarray]:
        return self.forest.tensors()

    def described(self) -> dict:
        described: dict = {"model_type": NAME, "labels": list(self.labels), "columns": list(self.columns.columns)}
        return described | {"present": self.present.tolist(), "rows": self.rows}

    def save(self, folder: Path) -> None:
        saved.write(folder, self)


def fit(data: Dataset, target: Classes | Number, settings: Settings) -> Trees | None:
    """Fit on the training rows, or on an even sample of very many. The number of rounds and the size of the trees are chosen by the
    loss on held-out rows, or on a sample of them where the classes are very many. None where they are too many."""
    labels = target.labels
    if are_too_many(len(labels), columns_of.width(data)):
        return None
    examples = _sample(data, len(labels), settings.seed)
    held = held_rows.rows(data, target, settings)
    chosen = None
    with threads.one():
        if held.turns is not None:
            chosen = _by_folds(data, target, settings, held)
        columns = Columns.learn(data, examples, chosen is not None and growing.is_wide(chosen[0]))
        train = growing.rows_of(columns, examples, target, data, settings)

        def of(fitted: Boosted) -> Trees:
            return Trees(fitted.forest, columns, labels, fitted.present, len(train), sampled=some)

        some = sampled.of(NAME, len(train), data, target)
        if chosen is not None:
            shape, rounds, loss, held_out = chosen
            best = boosting.fit(train, None, columns.known, len(labels), shape, max(1, rounds), settings.seed)
            return replace(of(best), held_out_loss=loss, held_out=held_out)
        judging = drawn.examples(held.examples, max(1, held_rows.KEPT // max(1, len(labels))), settings.seed)
        validation = growing.rows_of(columns, judging, target, data, settings) if judging else None
        found = _by_validation(train, validation, columns, len(labels), settings.seed)
        best = min(found, key=lambda b: b.losses.min() if len(b.losses) else 0.0)
        if some and validation is not None:
            shape = boosting.SHAPES[[b is best for b in found].index(True)]
            some = (replace(some[0], losses=_of_fewer(train, validation, shape, best, of, columns, len(labels), settings.seed)),)
        if validation is None or not held.keeps(target):
            return of(best)
        held_out = tuple(HeldOut(name, of(b).answers(validation.cells), partial(of, b)) for name, b in zip(growing.NAMES, found, strict=True))
    return replace(of(best), held_out=held_out)


def in_folds(data: Dataset, target: Classes | Number, settings: Settings, held: Held) -> tuple[HeldOut, ...]:
    """What ``fit`` has of held-out rows where folds judge, without the trees of the training rows."""
    if are_too_many(len(target.labels), columns_of.width(data)):
        return ()
    with threads.one():
        return _by_folds(data, target, settings, held)[-1]


def load(folder: Path) -> Trees:
    """The trees that ``save`` wrote. Raises OSError, ValueError, KeyError or TypeError for other files, which may be damaged or forged."""
    return restored(*saved.read(folder))


missing = leaning.missing(load)


def restored(described: dict, tensors: dict[str, numpy.ndarray]) -> Trees:
    """The trees with this description and these tensors. Raises ValueError, KeyError or TypeError unless they fit together."""
    columns, labels = columns_of.restored(described["columns"]), tuple(described["labels"])
    if described["model_type"] != NAME or not all(isinstance(label, str) for label in labels):
        raise ValueError("its config.json does not describe trees")
    present = numpy.asarray(described["present"], numpy.int64)
    if present.ndim != 1 or not len(present) or (numpy.diff(present) <= 0).any() or present[0] < 0 or present[-1] >= max(1, len(labels)):
        raise ValueError("its classes are wrong")
    forest = forests.restored(tensors, growing.outputs_of(len(present)), columns.known)
    return Trees(forest, columns, labels, present, max(1, int(described["rows"])))


def _by_folds(data: Dataset, target, settings: Settings, held: Held) -> tuple[Shape, int, float, tuple[HeldOut, ...]]:
    """The shape, the number of rounds and the loss that are best on held-out rows, and the answers of each shape.

    Where the budget allows fewer rounds than there may be, the first shape is fitted in all folds only if it is not far behind in one of many rows.
    """
    parts, found = list(held.turns.parts()), []
    first, second = (growing.Way.of(i, data, target, settings, held, len(parts)) for i in range(len(boosting.SHAPES)))
    of_second = [second.fitted(part) for part in parts]
    of_first = [first.fitted(parts[0])]
    short = second.rounds < boosting.ROUNDS and len(parts[0][1]) >= folds.ENOUGH
    if not short or of_first[0][1].min() <= _BEHIND * of_second[0][1].min():
        of_first += [first.fitted(part) for part in parts[1:]]
    for way, of_parts in ((first, of_first), (second, of_second)):
        if len(of_parts) < len(parts):
            continue
        fitted, curves = zip(*of_parts, strict=True)
        round_, loss = folds.best(list(curves), [len(out) for _, out in parts])
        models = _of_folds(fitted, [len(kept) for kept, _ in parts], round_, way.columns, target)
        outputs = encoded.empty(len(way.every), target)
        for model, (_, out) in zip(models, parts, strict=True):
            outputs[out] = model.answers(way.every.cells[out])
        found.append((loss, way.shape, round_, HeldOut(way.name, outputs, partial(_mean, models))))
    loss, shape, rounds, _ = min(found, key=lambda f: f[0])
    return shape, rounds, loss, tuple(held_out for *_, held_out in found)


def _of_folds(fitted: Sequence[Boosted], sizes: list[int], rounds: int, columns: Columns, target) -> list[Trees]:
    """The trees of each fold after ``rounds``, with outputs for the classes that any fold has."""
    present = numpy.unique(numpy.concatenate([f.present for f in fitted]))
    whole = [averaged.with_absent(f.whole.first(rounds), f.present, present, size) for f, size in zip(fitted, sizes, strict=True)]
    return [Trees(forest, columns, target.labels, present, size) for forest, size in zip(whole, sizes, strict=True)]


def _mean(models: list[Trees]) -> Trees:
    """The trees whose scores are the mean of those of ``models``, which have the same columns and classes."""
    return replace(models[0], forest=averaged.mean([m.forest for m in models]), rows=sum(m.rows for m in models))


def _by_validation(train: Rows, validation: Rows | None, columns: Columns, classes: int, seed: int) -> list[Boosted]:
    """The trees of each shape up to their best round; without validation rows those of one shape."""
    fitted = []
    for shape in boosting.SHAPES if validation is not None else boosting.SHAPES[1:]:
        rounds = growing.rounds_within(shape, len(train), len(columns.known), classes, len(boosting.SHAPES))
        fitted.append(boosting.fit(train, validation, columns.known, classes, shape, rounds if validation else min(rounds, _USEFUL_ROUNDS), seed))
    return fitted


def _of_fewer(train: Rows, validation: Rows, shape: Shape, best: Boosted, of, columns: Columns, classes: int, seed: int) -> sampled.Losses:
    """The losses of validation rows where trees like ``best`` are fitted on a part of its rows, and its own."""
    judging = validation.chosen(numpy.arange(len(validation))[:: -(-len(validation) // sampled.ENOUGH)])
    models = []
    for rows in sampled.fewer(len(train)):
        kept = drawn.rows(len(train), rows, seed)
        models.append((rows, boosting.fit(train.chosen(kept), None, columns.known, classes, shape, max(1, best.rounds), seed)))
    return sampled.Losses.of([(rows, of(b).answers(judging.cells)) for rows, b in [*models, (len(train), best)]], judging.targets, judging.weights)


def are_too_many(classes: int, columns: int) -> bool:
    """Whether trees for so many classes would take very long, however few rows and rounds there are: each round has one for each class."""
    return growing.FEWEST_ROUNDS * sum(boosting.seconds(s, folds.MOST, columns, growing.outputs_of(classes)) for s in boosting.SHAPES) > _MOST_SECONDS


def _sample(data: Dataset, classes: int, seed: int) -> Sequence[Example]:
    """The training rows, or as many of them, drawn by ``seed``, as memory and budget allow."""
    return drawn.examples(data.splits["train"], most_rows(columns_of.width(data), classes), seed)


def most_rows(columns: int, classes: int) -> int:
    """The rows that memory and budget allow to fit on."""
    shape, room = boosting.SHAPES[0], _MAX_CELLS // columns
    fixed = boosting.seconds(shape, 0, columns, growing.outputs_of(classes))
    each = boosting.seconds(shape, 1, columns, growing.outputs_of(classes)) - fixed
    affordable = int((growing.BUDGET_SECONDS / (_USEFUL_ROUNDS * len(boosting.SHAPES)) - fixed) / each)
    return min(room, _MAX_ROWS, max(affordable, folds.MOST))


def _probabilities(scores: numpy.ndarray, classes: int) -> numpy.ndarray:
    if classes < 2:
        return numpy.ones((len(scores), 1))
    if classes == 2:
        with numpy.errstate(over="ignore"):
            second = 1 / (1 + numpy.exp(-scores[:, 0]))
        return numpy.stack([1 - second, second], axis=1)
    return softmax(scores)


def _with_absent(found: numpy.ndarray, present: numpy.ndarray, classes: int, rows: int) -> numpy.ndarray:
    """The probabilities of all classes. A class without training rows gets 1 / (``rows`` + 1) instead of 0."""
    if len(present) == classes:
        return found
    full = numpy.full((len(found), classes), 1 / (rows + 1))
    full[:, present] = found
    return full / full.sum(axis=1, keepdims=True)
