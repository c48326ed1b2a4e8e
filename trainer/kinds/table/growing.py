"""How the trees of a table are fitted: the rows as they read them, the rounds that the budget allows, and the losses on held-out rows."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy

from trainer.config.settings import Settings
from trainer.core.example import Dataset, Example
from trainer.core.example_targets import encoded_targets
from trainer.estimators import balance
from trainer.kinds.boosted import boosting
from trainer.kinds.boosted.boosting import Boosted, Rows, Shape
from trainer.kinds.table import held_out
from trainer.kinds.table.columns import Columns
from trainer.kinds.table.held_out import Held

NAMES = ("trees", "trees on some columns")  # of the shapes of boosting.SHAPES
BUDGET_SECONDS = 30.0  # for all fits, on one slow core
FEWEST_ROUNDS = 10


@dataclass(frozen=True)
class Way:
    """A shape with the rounds that the budget allows in each fold, and all rows of the folds as its trees read them."""

    name: str
    shape: Shape
    rounds: int
    columns: Columns
    every: Rows
    classes: int
    seed: int

    @staticmethod
    def of(place: int, data: Dataset, target, settings: Settings, held: Held, parts: int) -> "Way":
        """The way of the shape at this ``place``. The second shape learns faster where it has fewer rounds."""
        shape, classes = boosting.SHAPES[place], len(target.labels)
        columns = Columns.learn(data, held.examples, is_wide(shape))
        every = rows_of(columns, held.examples, target, data, settings)
        rounds = rounds_within(shape, len(every), len(columns.known), classes, parts * len(boosting.SHAPES))
        return Way(NAMES[place], boosting.faster(shape, rounds), rounds, columns, every, classes, settings.seed)

    def fitted(self, part: tuple[numpy.ndarray, numpy.ndarray]) -> tuple[Boosted, numpy.ndarray]:
        """The trees of the rows of ``part`` that are kept, and their losses after each round on those that are held out."""
        kept, out = part
        found = boosting.fit(self.every.chosen(kept), self.every.chosen(out), self.columns.known, self.classes, self.shape, self.rounds, self.seed)
        return found, whole_curve(found, self.every.targets[out], len(kept))


def is_wide(shape: Shape) -> bool:
    """Whether trees of this shape read columns as all numbers that these can be read as: those whose nodes see some of the columns at a time."""
    return shape.columns < 1


def whole_curve(fitted: Boosted, truth: numpy.ndarray, rows: int) -> numpy.ndarray:
    """The losses after each round over all held-out rows: scikit-learn leaves out those of a class that it was not fitted on."""
    regression = truth.dtype.kind == "f"
    known = 1.0 if regression else float(numpy.isin(truth, fitted.present).mean())
    # scikit-learn's loss of a regression is half the squared error.
    losses = (2 if regression else 1) * fitted.losses if len(fitted.losses) else numpy.zeros(1)
    return known * losses + (1 - known) * numpy.log(rows + 1)


def rounds_within(shape: Shape, rows: int, columns: int, classes: int, fits: int) -> int:
    """The rounds that the budget allows in each of ``fits``."""
    allowed = BUDGET_SECONDS / (fits * boosting.seconds(shape, rows, columns, outputs_of(classes)))
    return int(min(boosting.ROUNDS, max(FEWEST_ROUNDS, allowed)))


def outputs_of(classes: int) -> int:
    """The outputs of trees for so many classes: two classes share one."""
    return classes if classes > 2 else 1


def rows_of(columns: Columns, examples: Sequence[Example], target, data: Dataset, settings: Settings) -> Rows:
    """The rows of ``examples`` whose label is known, with the weights of their classes."""
    examples = held_out.known(examples, target) if target.labels else examples
    targets = encoded_targets(examples, target.encode)
    of_class = balance.class_weights(data, settings) if target.labels else None
    return Rows(columns.cells(examples), targets, None if of_class is None else of_class[targets])
