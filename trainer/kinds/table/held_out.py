"""What models of tables answer on rows that they were not fitted on: by this they are judged, and by this a mixture weighs its members."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy

from trainer.config.settings import Settings
from trainer.core import drawn
from trainer.core.columnar import known_whens, taken
from trainer.core.example import Dataset, Example
from trainer.core.example_targets import encoded_targets, known_places
from trainer.data.columns.features import DATE
from trainer.estimators import Estimator, balance, folds
from trainer.estimators.folds import Folds
from trainer.kinds.boosted import boosting
from trainer.kinds.table import columns
from trainer.targets.classes import Classes
from trainer.targets.number import Number

MOST = 20_000  # training and validation rows that are fitted in folds
_BUDGET_SECONDS = 30.0  # for the trees of all folds, on one slow core
_ROUNDS = 50  # of trees that the budget must allow in each fold

KEPT = 25_000_000  # probabilities of held-out rows that each way to fit a model keeps: 200 MB
JUDGES = 500_000  # validation rows that judge while models are fitted: more would take as long as the fits themselves, and tell no more


@dataclass(frozen=True)
class HeldOut:
    """One way to fit a model, and its answers to rows that were held out.

    ``outputs`` are probabilities (rows x classes) or numbers, for the rows of ``rows_of``. ``model`` gives what answers new rows: the models of
    all folds as one, or the model of the training rows where the validation rows were held out.
    """

    name: str
    outputs: numpy.ndarray
    model: Callable[[], Estimator]


@dataclass(frozen=True)
class Held:
    """The rows that are held out, with their targets and the weight of each row if any. ``turns`` is None where these are the validation
    rows, or a sample of very many."""

    examples: Sequence[Example]
    targets: numpy.ndarray
    weights: numpy.ndarray | None
    turns: Folds | None

    def loss(self, outputs: numpy.ndarray) -> float:
        return folds.loss(outputs, self.targets, self.weights)

    def keeps(self, target: Classes | Number) -> bool:
        """Whether a model of the training rows keeps its answers to the rows that are held out: where these are validation rows, and not too many."""
        return self.turns is None and 0 < len(self.examples) * max(1, len(target.labels)) <= KEPT


def turns(data: Dataset, target: Classes | Number, settings: Settings) -> Folds | None:
    """The folds by which models of tables are judged; None where the validation rows judge. All models are judged in the same way.

    The validation rows that a person chose are never trained on, so these judge alone. Rows whose label is unknown are left out. Where the
    validation rows are the latest ones, folds at random would flatter, so they are used only where there are few validation rows, and never where
    a model reads dates: these would tell the neighbours of a row.
    """
    if settings.validation_file:
        return None
    found = {n: known(data.splits[n], target) for n in ("train", "validation")}
    data = replace(data, splits={**data.splits, **found})
    outputs = len(target.labels) if len(target.labels) > 2 else 1
    rows = len(found["train"]) + len(found["validation"])
    cost = sum(boosting.seconds(s, rows, columns.width(data), outputs) for s in boosting.SHAPES) * folds.COUNT * _ROUNDS
    later = by_time(found["train"], found["validation"])
    if cost > _BUDGET_SECONDS or (later and any(data.types[name] == DATE for name in data.columns)):
        return None
    return folds.of(data, target, settings.seed, folds.ENOUGH if later else math.inf, MOST)


def rows(data: Dataset, target: Classes | Number, settings: Settings) -> Held:
    """The rows that are held out from the models of ``data``. Of very many validation rows they are a sample, drawn by the seed."""
    found = turns(data, target, settings)
    examples = drawn.examples(known(data.splits["validation"], target), JUDGES, settings.seed) if found is None else found.examples
    targets = encoded_targets(examples, target.encode)
    of_class = balance.class_weights(data, settings)
    return Held(examples, targets, None if of_class is None else of_class[targets], found)


def judging(data: Dataset, held: Held) -> Sequence[Example]:
    """The rows by which a model of the training rows is judged where folds do not judge it."""
    return held.examples if held.turns is None else data.splits["validation"]


def known(examples: Sequence[Example], target: Classes | Number) -> Sequence[Example]:
    """The ``examples`` whose label is known."""
    places = known_places(examples, target)
    return examples if len(places) == len(examples) else taken(examples, places)


def by_time(train: Sequence[Example], validation: Sequence[Example]) -> bool:
    """Whether the validation rows are later than the training rows."""
    before, after = (known_whens(rows) for rows in (train, validation))
    return bool(len(before) and len(after)) and bool(before.max() <= after.min())
