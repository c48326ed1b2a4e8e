"""Kinds whose score under another split is not measured."""

from typing import Protocol, runtime_checkable


@runtime_checkable
class OneSplit(Protocol):
    """A kind for which no small model says what the score would be under another split. ``why_one_split`` is a sentence for the report: why, and what
    a person can do to learn it."""

    why_one_split: str
