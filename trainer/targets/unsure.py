"""How unsure the answers of a model are, for the choice of rows that people are to label."""

from typing import Protocol, runtime_checkable

import numpy


@runtime_checkable
class Unsure(Protocol):
    """A target whose answers say how sure they are, and whose labels people can choose from."""

    def uncertainty(self, outputs: numpy.ndarray) -> numpy.ndarray:
        """From 0 for a sure answer to 1 for one that is no more likely than the next one, for each row of ``outputs``."""
