"""Targets whose answers can be compared with labels that come later."""

from typing import ClassVar, Protocol, runtime_checkable

CLASS, NUMBER = "class", "number"


@runtime_checkable
class Compared(Protocol):
    """A target of which one answer and one label are compared as texts, without the model."""

    compared_as: ClassVar[str]  # CLASS, NUMBER, or empty where a text is not enough
