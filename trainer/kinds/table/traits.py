"""The columns of a table as traits."""

from collections.abc import Sequence

from trainer.core import columnar
from trainer.core.example import Example
from trainer.data.columns.features import CATEGORY, NUMBER
from trainer.shift.traits import Categories, Numbers, Trait


def of(examples: Sequence[Example], columns: Sequence[str], types: dict[str, str]) -> list[Trait]:
    """Each column of ``examples`` that holds categories or numbers. Later dates and other texts are no sign that rows are unlike."""
    found: list[Trait] = []
    for place, name in enumerate(columns):
        if types.get(name) == CATEGORY:
            found.append(Categories(name, [c.strip() for c in columnar.texts(examples, place)]))
        elif types.get(name) == NUMBER:
            found.append(Numbers(name, columnar.numbers(examples, place)))
    return found
