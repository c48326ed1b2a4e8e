"""Kinds whose examples are told from each other by more than what their simple models read."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy

from trainer.core.example import Example


@runtime_checkable
class Likened(Protocol):
    """A kind that has numbers by which a small model knows examples of one plant, site or camera."""

    def looks(self, examples: Sequence[Example]) -> numpy.ndarray | None:
        """The numbers of each example (examples x features); None where looking at them would take long."""
