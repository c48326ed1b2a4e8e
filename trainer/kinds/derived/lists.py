"""A column whose cells are lists, such as "wool; silk", as one column of 0 and 1 for each frequent item, and the number of items."""

from dataclasses import dataclass
from typing import ClassVar

import numpy

from trainer.data.columns import values
from trainer.kinds.derived import part

SEPARATORS = (";", "|", ",")
MOST = 50  # items
_LEAST = 5  # rows of an item
_SHARE, _REPEATED, _WORDS = 0.2, 5, 3  # cells with several items; uses of an item on average; words of an item
COUNT = "number of items"


@dataclass(frozen=True)
class ListParts:
    """``items`` are told apart; they are between ``separator``."""

    separator: str
    items: tuple[str, ...]

    categories: ClassVar[tuple[str, ...]] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return (COUNT, *self.items)

    @classmethod
    def learn(cls, cells: list[str]) -> "ListParts | None":
        separator = separator_of([c for c in cells if not values.is_missing(c)])
        if not separator:
            return None
        items = part.frequent([i for c in cells for i in set(split(c, separator))], _LEAST, MOST)
        return cls(separator, tuple(i for i in items if i != COUNT)) if items else None

    @classmethod
    def restored(cls, described: dict) -> "ListParts":
        if described["separator"] not in SEPARATORS:
            raise ValueError("the lists of a column are not described")
        return cls(described["separator"], part.strings(described["items"], MOST))

    def described(self) -> dict:
        return {"separator": self.separator, "items": list(self.items)}

    def values(self, cells: list[str]) -> numpy.ndarray:
        places = {item: i for i, item in enumerate(self.items, 1)}
        found = numpy.zeros((len(cells), len(self.items) + 1))
        for row, cell in enumerate(cells):
            if values.is_missing(cell):
                found[row] = numpy.nan
                continue
            items = set(split(cell, self.separator))
            found[row, 0] = len(items)
            found[row, [places[i] for i in items if i in places]] = 1
        return found


def split(cell: str, separator: str) -> list[str]:
    """The items in a cell, without brackets and quotation marks around them."""
    return [item for piece in cell.strip().strip("[]").split(separator) if (item := piece.strip().strip("\"'").strip())]


def separator_of(known: list[str]) -> str:
    """What separates the items of these cells; empty where they are no lists: items are short and repeat."""
    known = values.sample(known)
    for separator in SEPARATORS:
        several = [found for c in known if len(found := split(c, separator)) > 1]
        if len(several) < max(_LEAST, _SHARE * len(known)):
            continue
        items = [item for found in several for item in found]
        short = sum(len(item.split()) <= _WORDS for item in items)
        if len(items) >= _REPEATED * len(set(items)) and short >= values.MOSTLY * len(items):
            return separator
    return ""
