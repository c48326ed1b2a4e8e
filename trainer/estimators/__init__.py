"""Estimators: models that scikit-learn fits in the process of the driver, in seconds and without torch, transformers or Ray.

One module per estimator, with the functions of ``Module``. Everything it does is a function of data, settings and seed: it uses one
BLAS thread and bounds its work by counts, not by a clock, so that a repeated run gives the same bits. The other models of a training
are networks, which workers train by a plan.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pathlib import Path

    import numpy

    from trainer.config.settings import Settings
    from trainer.data import Dataset, Example
    from trainer.targets.target import Classes, Number


class Estimator(Protocol):
    """A fitted model."""

    @property
    def parameters(self) -> int:
        """How many numbers were learnt."""

    def outputs(self, examples: list[Example]) -> numpy.ndarray:
        """Probabilities (examples x classes), or the predicted numbers in the unit of the data."""

    def save(self, folder: Path) -> None:
        """Write weights.safetensors, config.json (its ``model_type`` is the estimator's name) and further JSON files into ``folder``,
        which exists. No file is a pickle. What ``load`` makes of them has the same outputs, bit for bit."""


class Module(Protocol):
    """The functions of an estimator's module."""

    def fit(self, data: Dataset, target: Classes | Number, settings: Settings) -> Estimator:
        """Fit on the training rows. Strengths and parts are chosen by the loss on the validation rows, if there are any.

        An estimator may learn from the validation rows after that. Then its attribute ``judged`` is the estimator before, which answers
        the validation rows."""

    def load(self, folder: Path) -> Estimator:
        """The estimator that ``save`` wrote. Raises OSError, ValueError, KeyError or TypeError for other files."""


@dataclass(frozen=True)
class Known:
    """An estimator by its name, which the option ``model`` takes. ``title`` describes it in a sentence."""

    name: str
    kind: str  # of data
    module: str
    title: str


_KNOWN = (
    Known("words", "text", "trainer.kinds.text.words", "linear model on words and characters"),
    Known("linear", "table", "trainer.kinds.table.linear", "linear model on the columns"),
    Known("trees", "table", "trainer.kinds.table.trees", "gradient-boosted trees"),
    Known("perceptron", "table", "trainer.kinds.table.perceptron", "small neural network, fitted by scikit-learn"),
)
ESTIMATORS = {e.name: e for e in _KNOWN}


def names(kind: str) -> tuple[str, ...]:
    """The estimators for ``kind`` of data, in the order in which they are fitted: where two are equally good, the first is delivered."""
    return tuple(e.name for e in ESTIMATORS.values() if e.kind == kind)


def of(name: str) -> Module:
    """The module of the estimator ``name``."""
    return importlib.import_module(ESTIMATORS[name].module)
