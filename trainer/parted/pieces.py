"""The pieces of work of a large prediction. They run in workers, or in the driver where it answers alone."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy

from trainer import estimators, threads
from trainer.config.spec import Spec
from trainer.core.example import Example
from trainer.errors import reading_model
from trainer.export import answer_lines
from trainer.export.answer_lines import Layout, Marks
from trainer.export.finished import Answered
from trainer.run_folder import parts
from trainer.run_folder.events import Events
from trainer.targets.target import Target

if TYPE_CHECKING:
    from trainer.config.settings import Settings
    from trainer.predict import Model

OUTPUTS, VERSIONS, LINES = "outputs", "versions", "lines"  # arrays of a part: answers, and texts in UTF-8
AT_ONCE = 5000  # rows that an estimator answers together


@dataclass(frozen=True)
class Question:
    """What is asked of all rows: by which model, and how its outputs are read."""

    spec: Spec
    settings: Settings
    model: Model
    target: Target


@dataclass(frozen=True)
class OutputsOf:
    """The outputs of the model for some rows, into ``place``."""

    question: Question
    examples: Sequence[Example]
    truth: numpy.ndarray
    place: Path

    def carried_out(self, device: str, events: Events) -> None:
        asked = self.question
        if asked.model.needs_no_worker:
            from trainer.training import candidates

            estimator = _estimator(asked.model.description["base"], asked.model.folder, asked.spec.models)
            with threads.one_of_blas():
                outputs, versions = numpy.concatenate([estimator.outputs(some) for some in _blocks(self.examples)]), candidates.versions()
        else:
            outputs, versions = self._of_network(device, events)
        parts.write(events.lease, self.place, {OUTPUTS: outputs, VERSIONS: _bytes(json.dumps(versions))}, packed=False)

    def _of_network(self, device: str, events: Events) -> tuple[numpy.ndarray, dict[str, str]]:
        from trainer.launch import work

        asked, kind = self.question, self.question.model.kind
        with reading_model("The model"):
            encoder = kind.load_encoder(asked.spec, asked.model.folder, asked.model.description["encoder"])
            beside = kind.load_beside(asked.model.folder)
        saved = kind.question(asked.spec, asked.settings, asked.model, encoder, asked.target, self.examples, self.truth)
        outputs, versions = work.predict(saved, events, device, reports=False)
        outputs = kind.answered(encoder, outputs, events)
        return outputs if beside is None else beside.outputs(outputs, list(self.examples)), versions


@dataclass(frozen=True)
class LinesOf:
    """The lines of predictions.csv for some rows, into ``place``. ``first`` says that the file begins with them."""

    layout: Layout
    answered: Answered
    marks: Marks | None
    first: bool
    place: Path

    def carried_out(self, device: str, events: Events) -> None:
        text = "".join(answer_lines.table(self.layout, self.answered, self.marks, self.first))
        parts.write(events.lease, self.place, {LINES: _bytes(text)}, packed=False)


@functools.lru_cache(maxsize=1)
def _estimator(name: str, folder: Path, models: Path) -> Any:
    """The estimator in ``folder``, which answers one part after another. ``models`` is the folder of the installed models."""
    with reading_model("The model"):
        return estimators.load(name, folder, models)


def _blocks(examples: Sequence[Example]) -> Iterator[Sequence[Example]]:
    for start in range(0, len(examples), AT_ONCE):
        yield examples[start : start + AT_ONCE]


def _bytes(text: str) -> numpy.ndarray:
    return numpy.frombuffer(text.encode("utf-8"), numpy.uint8)
