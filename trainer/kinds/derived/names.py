"""A column of names with many values, such as towns, as its most frequent values and how frequent a value is."""

import collections
import math
from dataclasses import dataclass
from typing import ClassVar

import numpy

from trainer.kinds.boosted.forest import MAX_CATEGORIES
from trainer.kinds.derived import part

LEAST = 3  # rows of a value that is told apart: fewer are noise
_MOST = 5_000  # values whose frequency is known
_LARGEST = 1 << 40  # rows
FREQUENCY = "frequency"


@dataclass(frozen=True)
class NameParts:
    """``counts`` are the training rows of the values that have ``LEAST``; the most frequent ones are ``categories``."""

    categories: tuple[str, ...]
    counts: dict[str, int]

    names: ClassVar[tuple[str, ...]] = (FREQUENCY,)

    @classmethod
    def learn(cls, cells: list[str]) -> "NameParts | None":
        counts = {c: n for c, n in collections.Counter(c for c in cells if c).most_common(_MOST) if n >= LEAST}
        return cls(part.frequent(cells, LEAST, MAX_CATEGORIES), dict(sorted(counts.items()))) if counts else None

    @classmethod
    def restored(cls, described: dict) -> "NameParts":
        counts = described["counts"]
        if not isinstance(counts, dict) or len(counts) > _MOST or not all(type(n) is int and 0 < n < _LARGEST for n in counts.values()):
            raise ValueError("the names of a column are not described")
        return cls(part.strings(described["categories"], MAX_CATEGORIES), counts)

    def described(self) -> dict:
        return {"categories": list(self.categories), "counts": self.counts}

    def values(self, cells: list[str]) -> numpy.ndarray:
        logs = {c: math.log1p(n) for c, n in self.counts.items()}
        return numpy.asarray([logs.get(c, 0.0) if c else math.nan for c in cells], numpy.float64).reshape(-1, 1)
