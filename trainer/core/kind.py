"""A kind of data: everything that differs between texts, images, tables and so on, behind one interface.

A kind is a folder ``trainer/kinds/<name>`` with a subclass of ``Kind`` in ``kind.py``, and one entry in ``trainer/kinds/__init__.py``. No other
module asks which kind it has: it calls a method, or reads a fact, of the kind. The methods import what they need when they are called,
because a driver must not import torch, and the process that answers single rows must stay small.

The interface has five parts, which are files of ``trainer/core/contract``. Most of their methods have a default.

- ``Reading``: files become examples (``claim``, ``read``, ``read_rows``).
- ``Training``: what the driver chooses, fits and compares around the network (``encoder``, ``choose_epochs``, ``baselines``).
- ``Networks``: networks are made, saved and asked (``build``, ``load``, ``save``, ``predict``). Workers call them.
- ``Results``: the report and result.json (``content``, ``parts``, ``predictions``).
- ``Answering``: a saved model answers a dataset or single rows (``answers_table``, ``inputs``), and what an answer relies on (``without_parts``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from trainer.core.contract.answering import Answering
from trainer.core.contract.networks import Networks
from trainer.core.contract.reading import Reading
from trainer.core.contract.results import Results
from trainer.core.contract.training import Training

if TYPE_CHECKING:
    from pathlib import Path

    import numpy

    from trainer.config.options import Option
    from trainer.config.settings import Settings
    from trainer.config.spec import Spec
    from trainer.core.contract.networks import Encoder
    from trainer.core.example import Dataset, Example
    from trainer.core.plan import Saved
    from trainer.predict import Model
    from trainer.targets.target import Target


class Kind(Reading, Training, Networks, Results, Answering):
    """One kind of data. The facts are of the class, so that a kind can be sent to workers by its name alone."""

    name: ClassVar[str]
    tasks: ClassVar[tuple[str, ...]]
    tasks_of_numbers: ClassVar[tuple[str, ...]] = ()  # those of ``tasks`` whose target is a number
    targets: ClassVar[tuple[type[Target], ...]]
    things: ClassVar[str] = "rows"  # examples, in the plural, in a sentence
    choosing_metrics: ClassVar[tuple[str, ...]] = ()  # metrics of this kind alone that the option metric takes
    options: ClassVar[tuple[Option, ...]] = ()
    takes_options: ClassVar[tuple[str, ...]] = ()  # names of options of other kinds that have an effect here, too
    options_place: ClassVar[int] = 0  # of its options in forms, beside those of other kinds; equal places are in the order of the kinds

    def thing(self, task: str) -> str:
        """What an example of ``task`` is called, in the singular."""
        return self.things.removesuffix("s")

    def called(self, task: str, examples: Sequence[Example]) -> str:
        """What these ``examples`` are called, in the singular, where that depends on more than the task."""
        return self.thing(task)

    def target(self, data: Dataset) -> Target:
        """The target of ``data``, learnt from the training targets."""
        raise NotImplementedError

    def question(
        self, spec: Spec, settings: Settings, model: Model, encoder: Encoder, target: Target, examples: Sequence[Example], truth: numpy.ndarray
    ) -> Saved:
        """What the workers are asked about ``examples``."""
        from trainer.core.plan import Saved

        return Saved(model.folder, self, target, encoder.encode(examples, truth, "predict"))

    def snippet(self, base: str, task: str, folder: Path) -> str:
        """The name of the lines of Python that load the model in ``folder``: a file in ``snippets`` of the folder of a kind."""
        return f"{self.name}/{self.name}"
