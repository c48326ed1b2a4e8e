"""Examples as points, for what looks for examples that are alike."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy

from trainer.core.example import Example


@runtime_checkable
class Placed(Protocol):
    """A kind whose examples are points: those that are alike lie near each other."""

    def points(self, examples: Sequence[Example], columns: Sequence[str], types: dict[str, str]) -> numpy.ndarray:
        """The points of a few hundred ``examples`` (examples x features), by these examples alone; no features where they cannot be told apart."""
