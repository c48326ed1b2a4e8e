"""What the results describe: a training that is finished, and the answers of a saved model."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy

from trainer.config.settings import Settings
from trainer.config.spec import Spec
from trainer.core.blocks import Section
from trainer.core.example import Dataset, Example
from trainer.core.kind import Kind
from trainer.data.labels_apart import LabelsApart
from trainer.data.origins import ONE, Origins
from trainer.launch.outcome import Outcome
from trainer.run_folder.events import Events
from trainer.targets.target import Answers, Report, Target

if TYPE_CHECKING:
    from trainer.export.doubted import Looked
    from trainer.predict import Model
    from trainer.training.baseline import Baselines
    from trainer.training.prepare import Prepared


@dataclass(frozen=True)
class Finished:
    """``reports`` are the metrics of each split, ``simple`` the baselines on the test rows."""

    settings: Settings
    data: Dataset
    prepared: "Prepared"
    outcome: Outcome
    simple: "Baselines"
    reports: dict[str, Report]
    events: Events
    folder: Path  # of the delivered model
    origins: Origins = ONE  # the datasets that the run read


@dataclass(frozen=True)
class Findings:
    """What was found out beside the delivered model. ``candidates`` are the entries of result.json; None where nothing was compared. ``search``
    describes the search that chose the settings. ``held_out`` are answers to more held-out rows than the validation rows, by models that had not
    seen them, ``looked`` the rows whose labels are checked by such answers, and ``relied`` the sections on what the model relies on."""

    candidates: list[dict] | None
    search: dict | None
    held_out: Answers | None
    looked: Sequence["Looked"]
    relied: Sequence[Section]


@dataclass(frozen=True)
class Asking:
    """What a saved model is asked with. ``began`` is the monotonic time of the start."""

    spec: Spec
    settings: Settings
    model: "Model"
    events: Events
    began: float


@dataclass(frozen=True)
class RowsRead:
    """Where the rows that a model answers come from: ``files``, and the ``columns`` that the model reads. ``skipped`` counts the rows that were left
    out, ``label_column`` tells what is right, and ``apart`` has labels of rows that were predicted before. ``ids_by_name`` says that no setting names
    the column of their ids."""

    files: list[str]
    columns: list[str]
    skipped: int
    label_column: str
    apart: LabelsApart = field(default_factory=LabelsApart)
    ids_by_name: bool = False


@dataclass(frozen=True)
class Answered:
    """Examples with the outputs of a model (see ``Target.read``) and, where ``known``, what would be right."""

    kind: Kind
    examples: Sequence[Example]
    outputs: numpy.ndarray
    truth: numpy.ndarray
    known: numpy.ndarray
    target: Target

    @functools.cached_property
    def predicted(self) -> numpy.ndarray:
        return self.target.predicted(self.outputs)

    @functools.cached_property
    def confidence(self) -> numpy.ndarray | None:
        """How likely each predicted value is; None where the outputs do not say so."""
        return self.target.confidence(self.outputs)
