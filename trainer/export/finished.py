"""A training that is finished, as the results describe it; and examples with a model's answers."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy

from trainer.config.settings import Settings
from trainer.core.example import Dataset, Example
from trainer.core.kind import Kind
from trainer.data.origins import ONE, Origins
from trainer.launch.outcome import Outcome
from trainer.run_folder.events import Events
from trainer.targets.target import Report, Target

if TYPE_CHECKING:
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
