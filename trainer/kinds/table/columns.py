"""The columns of a table as numbers for trees: a category is a number of its own, an empty cell is NaN."""

import collections
from collections.abc import Sequence
from dataclasses import dataclass

import numpy

from trainer.core import columnar
from trainer.core.example import Example
from trainer.data.columns.features import CATEGORY, NUMBER
from trainer.kinds.boosted.forest import MAX_CATEGORIES


@dataclass(frozen=True)
class Columns:
    """The columns that trees read. Each has ``name`` and ``type``, and a category its ``categories``: their places are the numbers."""

    columns: tuple[dict, ...]

    @staticmethod
    def learn(names: tuple[str, ...], types: dict[str, str], examples: Sequence[Example]) -> "Columns":
        """The columns with the categories of ``examples``: the most frequent ones where there are more than trees can tell apart."""
        found: list[dict] = []
        for place, name in enumerate(names):
            column: dict = {"name": name, "type": types[name]}
            if types[name] == CATEGORY:
                column["categories"] = _frequent(*columnar.codes(examples, place))
            found.append(column)
        return Columns(tuple(found))

    @property
    def known(self) -> list[int]:
        """The number of categories of each column, 0 for numbers."""
        return [len(c["categories"]) if c["type"] == CATEGORY else 0 for c in self.columns]

    def cells(self, examples: Sequence[Example]) -> numpy.ndarray:
        """The cells of ``examples`` (rows x columns, float64). NaN stands for an empty cell, an unknown category and an unreadable number."""
        found = numpy.full((len(examples), len(self.columns)), numpy.nan)
        for place, column in enumerate(self.columns):
            if column["type"] == CATEGORY:
                places = {c: float(i) for i, c in enumerate(column["categories"])}
                cells, codes = columnar.codes(examples, place)
                found[:, place] = numpy.asarray([places.get(c.strip(), numpy.nan) for c in cells], numpy.float64)[codes]
            else:
                found[:, place] = columnar.numbers(examples, place)
        return found


def _frequent(cells: list[str], codes: numpy.ndarray) -> list[str]:
    counted: collections.Counter[str] = collections.Counter()
    for cell, count in zip(cells, numpy.bincount(codes, minlength=len(cells)).tolist(), strict=True):
        if count and (name := cell.strip()):
            counted[name] += count
    return sorted(sorted(counted, key=lambda name: (-counted[name], name))[:MAX_CATEGORIES])


def restored(columns) -> Columns:
    """The columns of a saved model. Raises ValueError, KeyError or TypeError unless they are described completely."""
    for column in columns:
        if not isinstance(column["name"], str) or column["type"] not in (CATEGORY, NUMBER):
            raise ValueError("a column is not described")
        if column["type"] == CATEGORY:
            categories = column["categories"]
            if not isinstance(categories, list) or not all(isinstance(c, str) for c in categories) or len(categories) > MAX_CATEGORIES:
                raise ValueError("the categories of a column are not described")
    return Columns(tuple(columns))
