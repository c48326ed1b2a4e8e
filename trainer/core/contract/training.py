"""The driver's part of a training: what is chosen, fitted and compared."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import numpy

    from trainer.config.settings import Settings
    from trainer.config.spec import Spec
    from trainer.core.contract.networks import Encoder
    from trainer.core.example import Dataset
    from trainer.core.plan import Plan, Rows
    from trainer.data.claims import Claim
    from trainer.measure.tfidf import TfIdf
    from trainer.models.catalogue import Base
    from trainer.run_folder.events import Events
    from trainer.targets.target import Answers, Target
    from trainer.training.candidates import Beside, Candidate
    from trainer.training.carry_out import Run


@dataclass(frozen=True)
class Estimator:
    """A model that the driver fits, by the name that the option ``model`` takes. ``module`` has the functions of ``trainer.estimators.Module``,
    or of ``trainer.estimators.Joined`` if it ``joins`` the estimators before it; ``title`` describes it in a sentence. One that ``leans`` may compute
    with an installed model: see ``trainer.estimators.Leaning``."""

    name: str
    module: str
    title: str
    kind: str  # the name of its kind of data
    joins: bool = False
    leans: bool = False


@dataclass(frozen=True)
class LinearFeatures:
    """What a linear model reads: features of every split, the terms behind them if they are terms, and the model's name in a sentence."""

    features: dict[str, Any]
    terms: TfIdf | None
    title: str


class Training:
    """The part of a kind that decides how the training goes, beside the network. It runs in the driver."""

    epochs: ClassVar[int] = 0  # default of the built-in model, if its epochs are short
    longest_on_cpus: ClassVar[float] = math.inf  # estimated seconds of a training on CPUs from which it is refused
    estimators: ClassVar[tuple[Estimator, ...]] = ()
    compares_named: ClassVar[bool] = False  # whether the estimators are also fitted beside a network that the user named
    encodes_always: ClassVar[bool] = True  # whether rows are encoded where no network is trained
    lists_candidates: ClassVar[bool] = True  # whether the report compares candidates
    advice_for_long: ClassVar[str] = "Increase max_length."  # where the model reads only a part of many examples
    enough: ClassVar[int] = 500  # training examples for a reliable training; 0 where their number says nothing

    def train(self, run: Run, claim: Claim) -> None:
        """Read the files of ``claim``, train, and write the results. Raises UserError."""
        raise NotImplementedError

    def encoder(self, spec: Spec, settings: Settings, data: Dataset, base: Base, events: Events) -> tuple[Encoder, Settings]:
        """The encoder, fitted on the training examples, and the settings with what it chose."""
        raise NotImplementedError

    def load_encoder(self, spec: Spec | None, folder: Path, description: dict) -> Encoder:
        """The encoder that ``save`` wrote. Without a spec it keeps what it encodes in memory."""
        raise NotImplementedError

    def choose_epochs(self, settings: Settings, base: Base, rows: Rows, place: Any, digest: Any, events: Events) -> Settings:
        """The settings, with fewer epochs where nobody chose them and they would take too long."""
        return settings

    def advise(self, encoder: Encoder, data: Dataset, base: Base, events: Events) -> None:
        """Warn of data that the model can hardly learn from. Raises UserError where it cannot."""

    def details(self, encoder: Encoder, data: Dataset, settings: Settings) -> Any:
        """What this kind itself needs in the workers: ``Plan.details``."""
        return None

    def rows_are_examples(self, base: Base) -> bool:
        """Whether rows that are fewer than the examples mean that examples were left out."""
        return True

    def tries_frozen(self, plan: Plan, cut: bool) -> bool:
        """Whether the installed model is also tried as it is, under a linear head. ``cut`` says that the time limit ends its training."""
        return False

    def combine(self, network: Candidate, others: list[Candidate], plan: Plan) -> list[Candidate]:
        """Further candidates that answer with ``network`` and another one together."""
        return []

    def load_beside(self, folder: Path) -> Beside | None:
        """What answers together with the network in ``folder``; None where there is none. Raises OSError, ValueError, KeyError or TypeError
        for damaged files."""
        return None

    def leaves_out(self, data: Dataset) -> Mapping[str, str]:
        """The estimators that do not suit the data, each with the reason as a sentence."""
        return {}

    def estimator_seconds(self, data: Dataset, outputs: int) -> float:
        """About how many seconds the estimators take on one core. ``outputs`` counts the models that one of them consists of."""
        return 1.0

    def baselines(self, data: Dataset, seed: int) -> list[dict] | None:
        """The entries of metrics.json for simple models, where neither a constant answer nor a linear model is one; None where they are."""
        return None

    def simple_answers(self, data: Dataset, target: Target, truth: dict[str, numpy.ndarray], fitted: dict[str, Any]) -> tuple[Answers, str] | None:
        """The answers of a simple model of this kind on the test examples, and its name in a sentence; None to take a linear model on
        ``linear_features``. ``truth`` has the encoded targets of each split, ``fitted`` the estimators by name."""
        return None

    def linear_features(self, encoder: Encoder, data: Dataset, rows: dict[str, Rows], max_width: int) -> LinearFeatures | None:
        """What a linear model reads, for comparison; None where it cannot answer. Where the number of features can be chosen, it is at most
        ``max_width``."""
        return None
