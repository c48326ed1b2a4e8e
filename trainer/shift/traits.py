"""Traits of examples: what is compared between the rows of a training and new ones."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy

CHARACTERS = 200  # of a category: longer ones are cut before they are compared


@dataclass(frozen=True)
class Numbers:
    """One number of each example (float64, NaN where it is missing). ``answer`` says that the model gave it, ``falls`` that only smaller ones are
    worth a word."""

    name: str
    values: numpy.ndarray
    answer: bool = False
    falls: bool = False


@dataclass(frozen=True)
class Categories:
    """One category of each example, empty where it is missing. ``answer`` says that the model gave it."""

    name: str
    values: Sequence[str]
    answer: bool = False


@dataclass(frozen=True)
class Words:
    """The words of each example."""

    name: str
    values: Sequence[Sequence[str]]


Trait = Numbers | Categories | Words
