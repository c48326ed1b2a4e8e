"""The probability from which one of two classes is answered, where a person chooses it for a prediction."""

from typing import Any, Protocol, Self, runtime_checkable

from trainer.errors import UserError


@runtime_checkable
class Thresholded(Protocol):
    """A target that may answer a class from another probability on than the one that it was trained with."""

    def answering_from(self, threshold: float) -> tuple[Self, str] | None:
        """This target with the ``threshold`` for the second of its two classes, and a sentence that says so; None where it has no two classes."""


def chosen(target: Any, threshold: float) -> tuple[Any, str]:
    """``target`` with the ``threshold`` that a person chose, and a sentence that says so. Raises UserError for a model without two classes."""
    found = target.answering_from(threshold) if isinstance(target, Thresholded) else None
    if found is None:
        raise UserError(
            "no_threshold",
            f"threshold is {threshold:g}, but the model does not tell two classes apart.",
            "Leave threshold at 0, or choose another model.",
        )
    return found
