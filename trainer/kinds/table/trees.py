"""Gradient-boosted trees for tables: scikit-learn fits them, arrays of nodes are saved, and numpy predicts."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy

from trainer import threads
from trainer.config.settings import Settings
from trainer.core.columnar import taken
from trainer.core.example import Dataset, Example
from trainer.core.example_targets import encoded_targets
from trainer.estimators import balance, folds, sampled
from trainer.estimators.sampled import Sampled
from trainer.kinds.boosted import averaged, boosting, forest as forests
from trainer.kinds.boosted.boosting import Boosted, Rows, Shape
from trainer.kinds.boosted.forest import Forest
from trainer.kinds.derived.part import Part
from trainer.kinds.table import columns as columns_of, encoded, exchanged, held_out as held_rows, leaning, saved
from trainer.kinds.table.columns import Columns
from trainer.kinds.table.exchanged import Exchanging
from trainer.kinds.table.held_out import Held, HeldOut
from trainer.kinds.table.leaning import Leaning
from trainer.measure.predictions import softmax
from trainer.targets.classes import Classes
from trainer.targets.number import Number

NAME = "trees"
_NAMES = ("trees", "trees on some columns")  # of the shapes of boosting.SHAPES
_MAX_CELLS = 25_000_000  # to fit on: 200 MB, of which scikit-learn makes copies
_MAX_ROWS = 2_000_000  # to fit on: each costs more than a few cells do
_BUDGET_SECONDS = 30.0  # for all fits, on one slow core
_MOST_SECONDS = 300.0  # that the fewest rounds on few rows may be assumed to take: above, there are no trees
_USEFUL_ROUNDS, _FEWEST_ROUNDS = 80, 10  # with fewer than the first, fewer rows cost less accuracy than fewer rounds
_ROUNDS_OF_BOTH = 300  # where folds have time for fewer rounds of both shapes, one alone is better
_SHARE_ALONE = 0.6  # of the budget, for one shape alone


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
        columns = Columns.learn(data, examples, chosen is not None and _is_wide(chosen[0]))
        train = _rows(columns, examples, target, data, settings)

        def of(fitted: Boosted) -> Trees:
            return Trees(fitted.forest, columns, labels, fitted.present, len(train), sampled=some)

        some = sampled.of(NAME, len(train), data, target)
        if chosen is not None:
            shape, rounds, loss, held_out = chosen
            best = boosting.fit(train, None, columns.known, len(labels), shape, max(1, rounds), settings.seed)
            return replace(of(best), held_out_loss=loss, held_out=held_out)
        judging = held_rows.drawn(held.examples, max(1, held_rows.KEPT // max(1, len(labels))), settings.seed)
        validation = _rows(columns, judging, target, data, settings) if judging else None
        found = _by_validation(train, validation, columns, len(labels), settings.seed)
        best = min(found, key=lambda b: b.losses.min() if len(b.losses) else 0.0)
        if some and validation is not None:
            shape = boosting.SHAPES[[b is best for b in found].index(True)]
            some = (replace(some[0], losses=_of_fewer(train, validation, shape, best, of, columns, len(labels), settings.seed)),)
        if validation is None or not held.keeps(target):
            return of(best)
        held_out = tuple(HeldOut(name, of(b).answers(validation.cells), partial(of, b)) for name, b in zip(_NAMES, found, strict=True))
    return replace(of(best), held_out=held_out)


def held_out(data: Dataset, target: Classes | Number, settings: Settings) -> tuple[HeldOut, ...]:
    """Those of ``fit``, without the trees of the training rows where folds judge."""
    held = held_rows.rows(data, target, settings)
    if held.turns is None:
        return getattr(fit(data, target, settings), "held_out", ())
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
    forest = forests.restored(tensors, _outputs(len(present)), columns.known)
    return Trees(forest, columns, labels, present, max(1, int(described["rows"])))


def _outputs(classes: int) -> int:
    """The outputs of trees for so many classes: two classes share one."""
    return classes if classes > 2 else 1


def _by_folds(data: Dataset, target, settings: Settings, held: Held) -> tuple[Shape, int, float, tuple[HeldOut, ...]]:
    """The shape, the number of rounds and the loss that are best on held-out rows, and the answers of each shape."""
    parts, found = list(held.turns.parts()), []
    for name, shape, rounds in _affordable(data, len(held.examples), len(target.labels), len(parts)):
        columns = Columns.learn(data, held.examples, _is_wide(shape))
        every = _rows(columns, held.examples, target, data, settings)
        fitted = [
            boosting.fit(every.chosen(kept), every.chosen(out), columns.known, len(target.labels), shape, rounds, settings.seed)
            for kept, out in parts
        ]  # fmt: skip
        curves = [_whole_curve(f, every.targets[out], len(kept)) for f, (kept, out) in zip(fitted, parts, strict=True)]
        round_, loss = folds.best(curves, [len(out) for _, out in parts])
        models = _of_folds(fitted, [len(kept) for kept, _ in parts], round_, columns, target)
        outputs = encoded.empty(len(every), target)
        for model, (_, out) in zip(models, parts, strict=True):
            outputs[out] = model.answers(every.cells[out])
        found.append((loss, shape, round_, HeldOut(name, outputs, partial(_mean, models))))
    loss, shape, rounds, _ = min(found, key=lambda f: f[0])
    return shape, rounds, loss, tuple(held_out for *_, held_out in found)


def _affordable(data: Dataset, rows: int, classes: int, parts: int) -> list[tuple[str, Shape, int]]:
    """The names of the shapes that are fitted in each of ``parts``, the shapes, and their rounds. The second one learns faster where it has fewer
    rounds, and is fitted alone where there is time for few rounds of both."""
    first, second = boosting.SHAPES
    widths = [columns_of.width(data, _is_wide(shape)) for shape in boosting.SHAPES]
    rounds = [_rounds(s, rows, width, classes, parts * len(boosting.SHAPES)) for s, width in zip(boosting.SHAPES, widths, strict=True)]
    if rounds[1] >= _ROUNDS_OF_BOTH:
        return list(zip(_NAMES, (first, boosting.faster(second, rounds[1])), rounds, strict=True))
    alone = _rounds(second, rows, widths[1], classes, parts, _SHARE_ALONE)
    return [(_NAMES[1], boosting.faster(second, alone), alone)]


def _is_wide(shape: Shape) -> bool:
    """Whether trees of this shape read columns as all numbers that these can be read as: those whose nodes see some of the columns at a time."""
    return shape.columns < 1


def _of_folds(fitted: list[Boosted], sizes: list[int], rounds: int, columns: Columns, target) -> list[Trees]:
    """The trees of each fold after ``rounds``, with outputs for the classes that any fold has."""
    present = numpy.unique(numpy.concatenate([f.present for f in fitted]))
    whole = [averaged.with_absent(f.whole.first(rounds), f.present, present, size) for f, size in zip(fitted, sizes, strict=True)]
    return [Trees(forest, columns, target.labels, present, size) for forest, size in zip(whole, sizes, strict=True)]


def _mean(models: list[Trees]) -> Trees:
    """The trees whose scores are the mean of those of ``models``, which have the same columns and classes."""
    return replace(models[0], forest=averaged.mean([m.forest for m in models]), rows=sum(m.rows for m in models))


def _whole_curve(fitted: Boosted, truth: numpy.ndarray, rows: int) -> numpy.ndarray:
    """The losses after each round over all held-out rows: scikit-learn leaves out those of a class that it was not fitted on."""
    regression = truth.dtype.kind == "f"
    known = 1.0 if regression else float(numpy.isin(truth, fitted.present).mean())
    # scikit-learn's loss of a regression is half the squared error.
    losses = (2 if regression else 1) * fitted.losses if len(fitted.losses) else numpy.zeros(1)
    return known * losses + (1 - known) * numpy.log(rows + 1)


def _by_validation(train: Rows, validation: Rows | None, columns: Columns, classes: int, seed: int) -> list[Boosted]:
    """The trees of each shape up to their best round; without validation rows those of one shape."""
    fitted = []
    for shape in boosting.SHAPES if validation is not None else boosting.SHAPES[1:]:
        rounds = _rounds(shape, len(train), len(columns.known), classes, len(boosting.SHAPES))
        fitted.append(boosting.fit(train, validation, columns.known, classes, shape, rounds if validation else min(rounds, _USEFUL_ROUNDS), seed))
    return fitted


def _of_fewer(train: Rows, validation: Rows, shape: Shape, best: Boosted, of, columns: Columns, classes: int, seed: int) -> sampled.Losses:
    """The losses of validation rows where trees like ``best`` are fitted on a part of its rows, and its own."""
    judging = validation.chosen(numpy.arange(len(validation))[:: -(-len(validation) // sampled.ENOUGH)])
    models = []
    for rows in sampled.fewer(len(train)):
        kept = numpy.sort(numpy.random.default_rng(seed).permutation(len(train))[:rows])
        models.append((rows, boosting.fit(train.chosen(kept), None, columns.known, classes, shape, max(1, best.rounds), seed)))
    return sampled.Losses.of([(rows, of(b).answers(judging.cells)) for rows, b in [*models, (len(train), best)]], judging.targets, judging.weights)


def _rounds(shape: Shape, rows: int, columns: int, classes: int, fits: int, share: float = 1.0) -> int:
    """The rounds that a ``share`` of the budget allows in each of ``fits``."""
    allowed = share * _BUDGET_SECONDS / (fits * boosting.seconds(shape, rows, columns, _outputs(classes)))
    return int(min(boosting.ROUNDS, max(_FEWEST_ROUNDS, allowed)))


def are_too_many(classes: int, columns: int) -> bool:
    """Whether trees for so many classes would take very long, however few rows and rounds there are: each round has one for each class."""
    return _FEWEST_ROUNDS * sum(boosting.seconds(s, folds.MOST, columns, _outputs(classes)) for s in boosting.SHAPES) > _MOST_SECONDS


def _sample(data: Dataset, classes: int, seed: int) -> Sequence[Example]:
    """The training rows, or as many of them, drawn by ``seed``, as memory and budget allow."""
    return held_rows.drawn(data.splits["train"], most_rows(columns_of.width(data), classes), seed)


def most_rows(columns: int, classes: int) -> int:
    """The rows that memory and budget allow to fit on."""
    shape, room = boosting.SHAPES[0], _MAX_CELLS // columns
    fixed = boosting.seconds(shape, 0, columns, _outputs(classes))
    each = boosting.seconds(shape, 1, columns, _outputs(classes)) - fixed
    affordable = int((_BUDGET_SECONDS / (_USEFUL_ROUNDS * len(boosting.SHAPES)) - fixed) / each)
    return min(room, _MAX_ROWS, max(affordable, folds.MOST))


def _rows(columns: Columns, examples: Sequence[Example], target, data: Dataset, settings: Settings) -> Rows:
    """The rows of ``examples`` whose label is known, with the weights of their classes."""
    targets = encoded_targets(examples, target.encode)
    weights = None
    if target.labels:
        kept = numpy.flatnonzero(targets >= 0)
        if len(kept) < len(targets):
            examples, targets = taken(examples, kept), targets[kept]
        of_class = balance.class_weights(data, settings)
        weights = None if of_class is None else of_class[targets]
    return Rows(columns.cells(examples), targets, weights)


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
