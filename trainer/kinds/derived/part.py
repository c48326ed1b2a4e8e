"""What is common to the parts of columns: how they are learnt, described and restored."""

from __future__ import annotations

from typing import Protocol, Self, runtime_checkable

import numpy

from trainer.data.columns.features import DATE, LIST, NAME, PICTURE, TEXT

NO_VECTORS = "none"  # of the options that name an installed model whose vectors of a column are tried
LARGEST = 1e100  # of the numbers in a description
KEPT = 50_000  # cells whose values a part remembers: the same ones are read again and again


class Part(Protocol):
    """One column as several. ``names`` are those of its numbers, ``categories`` the values that are told apart as categories, empty for none."""

    @property
    def names(self) -> tuple[str, ...]: ...

    @property
    def categories(self) -> tuple[str, ...]: ...

    def values(self, cells: list[str]) -> numpy.ndarray:
        """The numbers of ``cells`` (rows x names, float64); NaN for what is empty or unknown. A row does not depend on the others."""

    def described(self) -> dict:
        """What ``restored`` needs, as JSON."""


class Learnt(Part, Protocol):
    """A part that is learnt from cells alone."""

    @classmethod
    def learn(cls, cells: list[str]) -> Self | None: ...

    @classmethod
    def restored(cls, described: dict) -> Self: ...


@runtime_checkable
class Widened(Protocol):
    """A part that can be read as more numbers, too many for models that read all of them at once."""

    def wide(self) -> Part: ...


def wide(part: Part) -> Part:
    """``part`` with all numbers that it can be read as."""
    return part.wide() if isinstance(part, Widened) else part


def _sorts() -> dict[str, type[Learnt]]:
    from trainer.kinds.derived.dates import DateParts
    from trainer.kinds.derived.lists import ListParts
    from trainer.kinds.derived.names import NameParts
    from trainer.kinds.derived.texts import TextParts

    return {DATE: DateParts, TEXT: TextParts, LIST: ListParts, NAME: NameParts}


def learn(sort: str, cells: list[str]) -> Part | None:
    """The part of a column of ``sort`` from the cells of the training rows; None where these tell nothing, as of pictures without a model."""
    found = None if sort == PICTURE else _sorts()[sort].learn(cells)
    return found if found is not None and (found.names or found.categories) else None


def restored(sort: str, described: dict) -> Part:
    """The part that ``described`` says, which comes from the files of a model and so from outside. Raises ValueError, KeyError or TypeError."""
    if sort in (PICTURE, TEXT):
        from trainer.kinds.derived import vectors

        if sort == PICTURE or vectors.KEY in described:
            return vectors.Vectors.restored(sort, described)
    return _sorts()[sort].restored(described)


def strings(found, most: int) -> tuple[str, ...]:
    """``found`` as different texts. Raises ValueError for another value."""
    if not isinstance(found, list) or len(found) > most or not all(isinstance(s, str) for s in found) or len(set(found)) < len(found):
        raise ValueError("a list of different texts is not described")
    return tuple(found)


def finite(found) -> float:
    """``found`` as a number. Raises ValueError for another value."""
    if type(found) not in (int, float) or not abs(found) < LARGEST:
        raise ValueError("a number is not described")
    return float(found)


def frequent(cells: list[str], least: int, most: int) -> tuple[str, ...]:
    """The values with at least ``least`` cells, the most frequent ones where there are more than ``most``, in order."""
    values, counts = numpy.unique(numpy.asarray([c for c in cells if c], dtype=object), return_counts=True)
    values, counts = values[counts >= least], counts[counts >= least]
    return tuple(sorted(values[numpy.argsort(-counts, kind="stable")[:most]].tolist()))
