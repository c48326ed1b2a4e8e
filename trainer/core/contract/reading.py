"""How the files of a dataset become examples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from trainer.config.settings import Settings
    from trainer.core.columns import Columns
    from trainer.core.example import Dataset, Example
    from trainer.core.input import Input
    from trainer.data.checks import Checks
    from trainer.data.claims import Claim, Files
    from trainer.data.sources import Sources
    from trainer.run_folder.events import Events


class Reading:
    """The part of a kind that reads files. It runs in the driver."""

    # Formats of annotations of pictures that this kind is trained on, as trainer/data/annotations calls them.
    annotation_formats: ClassVar[tuple[str, ...]] = ()
    extensions: ClassVar[tuple[str, ...]] = ()  # of files that this kind alone reads, in lower case and without the dot
    claims_by_whole_files: ClassVar[bool] = False  # whether a claim reads whole files, so that it is made without files that others are sure of
    files_are_examples: ClassVar[bool] = False  # whether an example is a file also where a table names it
    text_column_replaces_columns: ClassVar[bool] = False  # whether the option text_column names other columns for a saved model to read

    def likelihood(self, inputs: Sequence[Input]) -> float:
        """How likely these files are of this kind, from 0 to 1, by a quick look: good enough to choose what the workers import in advance."""
        return 0.0

    def refuse(self, files: Files, settings: Settings) -> None:
        """Raise UserError where the files are of this kind, in a form that nothing can be trained on and that other kinds would misread.

        All kinds are asked before one makes a claim. The look must be quick, and bounded whatever the files are.
        """

    def claim(self, files: Files, settings: Settings) -> Claim | None:
        """The reading of the files as this kind, how sure it is, and why; None where they are not of this kind.

        Raises UserError where they are, but something must be changed before they can be read. Writes no event and changes nothing.
        """
        return None

    def read(self, claim: Claim, settings: Settings, checks: Checks) -> Dataset:
        """The examples of ``claim`` in three splits. Raises UserError."""
        raise NotImplementedError

    def read_rows(self, sources: Sources, columns: Columns, settings: Settings, events: Events) -> tuple[list[Example], list[str], int]:
        """The examples that a saved model is to answer, their files, and how many rows were left out. Raises UserError."""
        raise NotImplementedError

    def key(self, example: Example) -> str:
        """What is equal for copies of an example: the same words, cells or bytes (see trainer/data/keys.py)."""
        raise NotImplementedError

    def labels_of(self, target: str, separator: str) -> list[str]:
        """The labels in the target of one example."""
        return [target]
