"""Doubts about labels: rows whose label does not fit what models say of them that had not seen the rows."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable


@dataclass(frozen=True)
class Doubt:
    """``row`` is the number of the row among the answers, ``likely`` the value that fits better, and ``reason`` a sentence. ``probability`` is
    that of ``likely`` and ``of_label`` that of the label; None for numbers. ``score`` is higher for a label that is more probably wrong."""

    row: int
    likely: str
    reason: str
    score: float
    probability: float | None = None
    of_label: float | None = None


@dataclass(frozen=True)
class Doubts:
    """``found``, or the sentence ``why`` nothing could be found out. ``warning`` is a sentence with the number of rows as ``{rows}`` where there is
    evidence of wrong labels; empty where chance could explain what was found."""

    found: Sequence[Doubt] = field(default_factory=tuple)
    why: str = ""
    warning: str = ""


@runtime_checkable
class Doubting(Protocol):
    """A target whose labels can be doubted. ``doubts_title`` is what such rows are called."""

    @property
    def doubts_title(self) -> str: ...

    def doubts(self, answers: Any) -> Doubts:
        """The rows whose label is probably wrong, from ``answers`` by models that had not seen them."""
