"""What the results of a training say. A person reads them, so they are short texts and small pictures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from pathlib import Path

    from trainer.core.example import Dataset, Example
    from trainer.export.finished import Finished


class Results:
    """The part of a kind that describes examples, answers and models in the results."""

    label_words: ClassVar[str] = ""  # where the labels are if no column has them; empty for the names of folders
    tried: ClassVar[int] = 0  # test rows of a sort that are kept to try the model with
    baseline_snippet: ClassVar[str] = ""  # the lines of Python for the linear model beside it; empty for none

    def content(self, example: Example, columns: Sequence[str]) -> str:
        """What a model reads of an example, as one short line."""
        raise NotImplementedError

    def picture(self, example: Example) -> str | None:
        """A small PNG in base64 of an example; None for none."""
        return None

    def shown_label(self, example: Example) -> str:
        """What is right for an example, as one short line."""
        return example.target

    def inputs_of(self, example: Example, columns: Sequence[str]) -> dict[str, str] | None:
        """The inputs of a single answer that are this example, by their names; None where they are too large."""
        return None

    def by_answers(self, data: Dataset) -> Dataset:
        """``data`` with one test example for each answer."""
        return data

    def add_scores(self, finished: Finished) -> list[dict]:
        """Add metrics that only this kind has to the reports, and return further baselines."""
        return []

    def parts(self, finished: Finished) -> dict:
        """The parts of result.json that only this kind has."""
        return {}

    def described_model(self, folder: Path) -> dict:
        """What ``model`` of result.json says of the delivered model in ``folder``."""
        return {}

    def predictions(self, finished: Finished) -> str | None:
        """predictions.csv of a training; None for one line for each test row with its label and the answer."""
        return None

    def reads(self, model: dict) -> str:
        """What the model reads, in words. ``model`` is that of result.json."""
        return ""

    def answers_in_words(self, labels: Sequence[str], data: Dataset) -> str:
        """What the model answers, in words; empty for one of its labels or a number."""
        return ""
