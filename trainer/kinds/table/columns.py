"""The columns of a table as numbers for trees: a category is a number of its own, an empty cell is NaN, and a date or a text is several numbers."""

import collections
from collections.abc import Sequence
from dataclasses import dataclass

import numpy

from trainer.core import columnar
from trainer.core.example import Dataset, Example
from trainer.data.columns.features import CATEGORY, DATE, LIST, NAME, NUMBER, PICTURE, TEXT
from trainer.kinds.boosted.forest import MAX_CATEGORIES
from trainer.kinds.derived import part as parts
from trainer.kinds.derived.part import Part

SORTS = (DATE, TEXT, LIST, NAME, PICTURE)


@dataclass(frozen=True)
class Columns:
    """The columns that trees read. Each has ``name`` and ``type``, and a category its ``categories``: their places are the numbers.

    ``parts`` has, for each column, what reads it as several columns of numbers; None for numbers and categories.
    """

    columns: tuple[dict, ...]
    parts: tuple[Part | None, ...]

    @staticmethod
    def learn(data: Dataset, examples: Sequence[Example], wide: bool = False) -> "Columns":
        """The columns with the categories of ``examples``: the most frequent ones where there are more than trees can tell apart. ``wide`` reads
        parts as all numbers that they can be read as."""
        learnt = {name: parts.wide(part) if wide else part for name, part in data.learnt.items()}
        found: list[dict] = []
        for place, name in enumerate(data.columns):
            sort = data.types[name]
            column: dict = {"name": name, "type": sort}
            if sort == CATEGORY:
                column["categories"] = _frequent(*columnar.codes(examples, place))
            elif sort != NUMBER:
                column |= learnt[name].described()
            found.append(column)
        return Columns(tuple(found), tuple(learnt.get(name) for name in data.columns))

    @property
    def known(self) -> list[int]:
        """The number of categories of each column that trees read, 0 for numbers."""
        found: list[int] = []
        for column, part in zip(self.columns, self.parts, strict=True):
            if part is None:
                found.append(len(column["categories"]) if column["type"] == CATEGORY else 0)
            else:
                found += [*([len(part.categories)] if part.categories else []), *(0 for _ in part.names)]
        return found

    @property
    def sources(self) -> list[tuple[str, str]]:
        """For each column that trees read the column of the table that it comes from, and its part of it; empty for the whole."""
        found: list[tuple[str, str]] = []
        for column, part in zip(self.columns, self.parts, strict=True):
            of_part = ("",) if part is None else (*(["value"] if part.categories else []), *part.names)
            found += [(column["name"], name) for name in of_part]
        return found

    def cells(self, examples: Sequence[Example]) -> numpy.ndarray:
        """The cells of ``examples`` (rows x columns, float64). NaN stands for an empty cell, an unknown category and an unreadable number."""
        found, at = numpy.full((len(examples), len(self.known)), numpy.nan), 0
        for place, (column, part) in enumerate(zip(self.columns, self.parts, strict=True)):
            categories = column.get("categories", ()) if part is None else part.categories
            if categories or column["type"] == CATEGORY:
                places = {c: float(i) for i, c in enumerate(categories)}
                cells, codes = columnar.codes(examples, place)
                found[:, at] = numpy.asarray([places.get(c.strip(), numpy.nan) for c in cells], numpy.float64)[codes]
                at += 1
            elif part is None:
                found[:, at] = columnar.numbers(examples, place)
                at += 1
            if part is not None:
                found[:, at : at + len(part.names)] = part.values(columnar.texts(examples, place))
                at += len(part.names)
        return found


def _frequent(cells: list[str], codes: numpy.ndarray) -> list[str]:
    counted: collections.Counter[str] = collections.Counter()
    for cell, count in zip(cells, numpy.bincount(codes, minlength=len(cells)).tolist(), strict=True):
        if count and (name := cell.strip()):
            counted[name] += count
    return sorted(sorted(counted, key=lambda name: (-counted[name], name))[:MAX_CATEGORIES])


def width(data: Dataset) -> int:
    """How many columns trees read of ``data``."""
    return sum(1 if (part := data.learnt.get(name)) is None else len(part.names) + bool(part.categories) for name in data.columns)


def restored(columns) -> Columns:
    """The columns of a saved model. Raises ValueError, KeyError or TypeError unless they are described completely."""
    found: list[Part | None] = []
    for column in columns:
        if not isinstance(column["name"], str) or column["type"] not in (CATEGORY, NUMBER, *SORTS):
            raise ValueError("a column is not described")
        if column["type"] == CATEGORY:
            categories = column["categories"]
            if not isinstance(categories, list) or not all(isinstance(c, str) for c in categories) or len(categories) > MAX_CATEGORIES:
                raise ValueError("the categories of a column are not described")
        found.append(parts.restored(column["type"], column) if column["type"] in SORTS else None)
    return Columns(tuple(columns), tuple(found))
