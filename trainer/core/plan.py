"""The plan: everything that the workers need to know. The driver makes it from the data and the settings."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy

if TYPE_CHECKING:
    from trainer.config.settings import Settings
    from trainer.core.kind import Kind
    from trainer.models.catalogue import Base
    from trainer.search.trials import Search
    from trainer.targets.target import Target

IGNORED = -100  # in ``labels`` of the inputs of a model: a place that is not learnt
CHECKPOINTS, INDEX = "checkpoints", "index.json"  # the folder of checkpoints in the run folder, and the index in it

FIRST_TRIAL = "trial-00"  # in the folder of checkpoints, during a search


class Features(Protocol):
    """Encoded examples without their targets."""

    @property
    def lengths(self) -> numpy.ndarray:
        """The cost of each row for the model. Rows of similar cost are batched together."""

    def batch(self, rows: numpy.ndarray, augment: numpy.random.Generator | None = None) -> dict[str, numpy.ndarray]:
        """Inputs of the model for ``rows``, by argument name. ``augment`` is given only in training."""


@dataclass(frozen=True)
class Rows:
    """Encoded examples. ``targets`` has one entry for each row of ``features``.

    ``owner`` is None if each row is one example. Otherwise it holds, in ascending order, the example that each row is a piece of.
    ``epoch`` is the number of rows in an epoch where there are too many to train on all of them in each; 0 takes all.
    """

    features: Features
    targets: numpy.ndarray
    owner: numpy.ndarray | None = None
    epoch: int = 0

    @property
    def per_epoch(self) -> int:
        """The rows that an epoch trains on."""
        return min(self.epoch, len(self)) if self.epoch else len(self)

    def __len__(self) -> int:
        return len(self.targets)

    @property
    def examples(self) -> int:
        return len(self) if self.owner is None else int(self.owner[-1]) + 1 if len(self.owner) else 0

    def example_targets(self) -> numpy.ndarray:
        """The target of each example."""
        if self.owner is None:
            return self.targets
        found = numpy.zeros((self.examples, *self.targets.shape[1:]), self.targets.dtype)
        if self.targets.ndim > 1:
            numpy.add.at(found, self.owner, self.targets)  # counts of each piece
        else:
            found[self.owner] = self.targets
        return found

    def chosen(self, rows: numpy.ndarray) -> "Rows":
        """A selection of rows by ascending numbers. It must contain all pieces of an example or none."""
        owner = None if self.owner is None else numpy.unique(self.owner[rows], return_inverse=True)[1]
        return Rows(_Selected(self.features, rows), self.targets[rows], owner)

    def parts(self, count: int) -> list["Rows"]:
        """The rows in at most ``count`` parts of about the same number of examples, in order."""
        owner = numpy.arange(len(self)) if self.owner is None else self.owner
        bounds = numpy.linspace(0, self.examples, count + 1).astype(int)
        parts = [numpy.flatnonzero((owner >= a) & (owner < b)) for a, b in zip(bounds, bounds[1:], strict=False)]
        return [self.chosen(rows) for rows in parts if len(rows)]


@dataclass(frozen=True)
class _Selected:
    """A selection of other features."""

    features: Features
    rows: numpy.ndarray

    @property
    def lengths(self) -> numpy.ndarray:
        return self.features.lengths[self.rows]

    def batch(self, rows: numpy.ndarray, augment: numpy.random.Generator | None = None) -> dict[str, numpy.ndarray]:
        return self.features.batch(self.rows[rows], augment)


def all_of(features: Features) -> tuple[Features, numpy.ndarray]:
    """The features that a selection was made of, and the numbers of its rows in them; of other features all."""
    if isinstance(features, _Selected):
        whole, rows = all_of(features.features)
        return whole, rows[features.rows]
    return features, numpy.arange(len(features.lengths))


@dataclass(frozen=True)
class Saved:
    """A saved model and the rows to evaluate it on, encoded by its own encoder. ``why`` says why it cannot be evaluated."""

    folder: Path
    kind: "Kind"
    target: "Target"
    rows: Rows | None
    why: str = ""
    base: Path | None = None  # of an adapter: the folder of the model that it belongs to
    details: Any = None  # what the kind itself needs to answer the rows


@dataclass(frozen=True)
class Plan:
    """What to train, on which data and how. Plain values and arrays only, because it is sent between processes.

    ``folder`` is the run folder and ``work`` the folder of the start that made the plan. ``weights`` is the weight of each class in
    the loss, or None. ``metric`` selects the best model. ``digest`` identifies everything that decides the result, so that a
    checkpoint is only resumed by the same training.
    """

    run: str
    attempt: int
    folder: str
    work: str
    kind: "Kind"
    task: str
    target: "Target"
    base: "Base"
    shape: dict
    splits: dict[str, Rows]
    weights: tuple[float, ...] | None
    metric: str
    settings: "Settings"
    digest: str
    champion: Saved | None = None
    details: Any = None  # what the kind itself needs in the workers
    search: "Search | None" = None
    called: str = ""  # an example, in the singular; empty for what the kind calls one

    @property
    def thing(self) -> str:
        """What an example is called, in the singular."""
        return self.called or self.kind.thing(self.task)

    @property
    def models(self) -> Path:
        """The folder of the installed base models."""
        return Path(self.folder).parent.parent / "models"
