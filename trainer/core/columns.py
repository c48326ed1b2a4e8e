"""What a saved model reads of a table."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trainer.data.columns.values import Style


@dataclass(frozen=True)
class Columns:
    """The columns that a saved model reads, with the types of its description. ``label`` is the column with what would be right; empty for none.
    ``styles`` says how numbers were written in the training data; the label is a number where it has a style that names no classes."""

    names: tuple[str, ...]
    types: dict[str, str]
    label: str = ""
    styles: dict[str, "Style"] = field(default_factory=dict)
