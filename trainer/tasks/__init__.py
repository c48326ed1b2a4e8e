"""One module per kind of data: how examples are encoded, which models read them, and how both are saved.

A new kind of data is one new file here and one entry in config/kinds.py. The driver uses the encoder and never imports torch; the
workers use the model functions.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Protocol

from trainer.config.kinds import KINDS

if TYPE_CHECKING:  # all of these import this package
    from pathlib import Path

    import numpy

    from trainer.config.settings import Settings
    from trainer.config.spec import Spec
    from trainer.data import Dataset, Example
    from trainer.measure.tfidf import TfIdf
    from trainer.plan import Plan, Rows
    from trainer.run_folder.events import Events
    from trainer.tasks.catalogue import Base


class Encoder(Protocol):
    """Turns examples into rows, in the same way in training and in prediction. Fitted on the training examples only."""

    shape: dict  # what ``build`` needs to know about the rows

    def encode(self, examples: list[Example], targets: numpy.ndarray, name: str, training: bool = False) -> Rows: ...

    def described(self) -> dict:
        """The fields that this kind adds to ``model`` and ``data`` of result.json, by those names."""

    def save(self, folder: Path) -> None:
        """Write what ``load_encoder`` and the user's own libraries need beside the weights."""


class Task(Protocol):
    """One kind of data."""

    def encoder(self, spec: Spec, settings: Settings, data: Dataset, base: Base, events: Events) -> tuple[Encoder, Settings]:
        """The encoder, and the settings with what follows from the data, such as max_length."""

    def load_encoder(self, spec: Spec | None, folder: Path, description: dict) -> Encoder:
        """The encoder that ``save`` wrote. Without a spec it keeps what it encodes in memory."""

    def baseline(self, encoder: Encoder, data: Dataset, rows: dict[str, Rows], max_width: int) -> tuple[dict, TfIdf | None, str]:
        """Features of every split for a linear model, the terms behind them if they are terms, and the model's name in a sentence.

        Where the number of features can be chosen, it is at most ``max_width``.
        """

    def build(self, plan: Plan):
        """The model to train. Random weights come from torch's generator, which the caller seeds."""

    def load(self, folder: Path, like=None):
        """The model that ``save`` wrote into ``folder``. ``like`` is a model of the same class, if there is one."""

    def save(self, model, plan: Plan, folder: Path) -> None: ...


def of(kind: str) -> Task:
    """The task for ``kind`` of data: a module that has the functions of ``Task``."""
    return importlib.import_module(KINDS[kind].module)
