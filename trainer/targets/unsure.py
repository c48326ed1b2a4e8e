"""How unsure the answers of a model are, and how people write labels: for the choice of rows that they are to label."""

from typing import Protocol, runtime_checkable

import numpy


@runtime_checkable
class Unsure(Protocol):
    """A target whose labels people can give to rows, one after the other."""

    def uncertainty(self, outputs: numpy.ndarray) -> numpy.ndarray | None:
        """From 0 for a sure answer to 1 for one of which the model knows nothing, for each row of ``outputs``; None where outputs do not say it."""

    def label_form(self) -> dict:
        """How a label is written, as ``label_form`` of result.json; empty for one of the classes."""
