"""Estimators: models that scikit-learn fits in the process of the driver, in seconds and without torch, transformers or Ray.

One module per estimator, with the functions of ``Module``. Everything it does is a function of data, settings and seed: it uses one
BLAS thread and bounds its work by counts, not by a clock, so that a repeated run gives the same bits. The other models of a training
are networks, which workers train by a plan.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from trainer.core import registry

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import numpy

    from trainer.config.settings import Settings
    from trainer.core.example import Dataset, Example
    from trainer.targets.target import Target


class Estimator(Protocol):
    """A fitted model."""

    @property
    def parameters(self) -> int:
        """How many numbers were learnt."""

    def outputs(self, examples: Sequence[Example]) -> numpy.ndarray:
        """Probabilities (examples x classes), or the predicted numbers in the unit of the data."""

    def save(self, folder: Path) -> None:
        """Write weights.safetensors, config.json (its ``model_type`` is the estimator's name) and further JSON files into ``folder``,
        which exists. No file is a pickle. What ``load`` makes of them has the same outputs, bit for bit."""


class Module(Protocol):
    """The functions of an estimator's module."""

    def fit(self, data: Dataset, target: Target, settings: Settings) -> Estimator:
        """Fit on the training rows. Strengths and parts are chosen by the loss on the validation rows, if there are any.

        An estimator may learn from the validation rows after that. Then its attribute ``judged`` is the estimator before, which answers
        the validation rows. ``held_out_rows`` are further rows, with the validation rows among them, that ``judged`` answers like new ones."""

    def load(self, folder: Path) -> Estimator:
        """The estimator that ``save`` wrote. Raises OSError, ValueError, KeyError or TypeError for other files."""


class Joined(Protocol):
    """The functions of the module of an estimator that joins others."""

    def fit(self, data: Dataset, target: Target, settings: Settings, fitted: Mapping[str, Estimator | None]) -> Estimator | None:
        """Join estimators that were ``fitted`` on the same data, None for one that does not suit it. What is missing is fitted here.

        Learns and chooses as ``Module.fit`` does. None if it does not suit the data."""

    def load(self, folder: Path) -> Estimator:
        """As that of ``Module``."""


class Leaning(Protocol):
    """What an estimator has that computes with an installed model, which is not among its files. Its module has ``missing(folder, models)``: why
    the estimator in ``folder`` cannot answer here, empty if it can."""

    def with_installed(self, models: Path) -> Estimator:
        """The same with its installed model from the folder ``models``. Raises UserError where that is not there."""

    def few(self, examples: Sequence[Example], seed: int) -> Sequence[Example] | None:
        """Those of the training examples that it answers soon; None where all can be asked. One that answers all soon may lack this."""

    @property
    def leans_alone(self) -> bool:
        """Whether it needs its installed model for single answers, too. One that never does may lack this and what follows."""

    @property
    def installed_bytes(self) -> int:
        """The memory of its installed model where this was found."""


def load(name: str, folder: Path, models: Path) -> Estimator:
    """The estimator ``name`` in ``folder``, with the installed model that it needs. Raises as its module does, and UserError."""
    found = of(name).load(folder)
    leaning = getattr(found, "with_installed", None)
    return found if leaning is None else leaning(models)


def missing(name: str, folder: Path, models: Path) -> str:
    """Why the estimator in ``folder`` cannot answer here, as the end of a sentence; empty if it can."""
    look = getattr(of(name), "missing", None)
    return "" if look is None else look(folder, models)


def of(name: str) -> Any:
    """The module of the estimator ``name``: a ``Module`` or a ``Joined``."""
    return importlib.import_module(registry.estimators()[name].module)
