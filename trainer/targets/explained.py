"""By how much parts of an example raise the answer to it."""

from typing import Protocol, runtime_checkable

import numpy

from trainer.targets.target import Target


@runtime_checkable
class Explained(Target, Protocol):
    """A target whose answers are compared with the answers to the same example without a part of it."""

    def raised(self, answer: numpy.ndarray, others: numpy.ndarray) -> tuple[str, numpy.ndarray]:
        """What ``answer`` (outputs of one example) is, in words, and by how much it is lower in each of ``others``: in the logarithm of
        the odds of the class, or in the unit of the number."""
