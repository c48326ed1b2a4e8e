"""The columns of a table as traits."""

from collections.abc import Sequence

import numpy

from trainer.core.example import Example
from trainer.data.columns.features import CATEGORY, NUMBER
from trainer.shift.traits import Categories, Numbers, Trait
from trainer.targets.target import number


def of(examples: Sequence[Example], columns: Sequence[str], types: dict[str, str]) -> list[Trait]:
    """Each column of ``examples`` that holds categories or numbers. Later dates and other texts are no sign that rows are unlike."""
    found: list[Trait] = []
    for place, name in enumerate(columns):
        cells = [e.content[place] for e in examples]
        if types.get(name) == CATEGORY:
            found.append(Categories(name, [c.strip() for c in cells]))
        elif types.get(name) == NUMBER:
            found.append(Numbers(name, numpy.asarray([numpy.nan if (n := number(c)) is None else n for c in cells], numpy.float64)))
    return found
