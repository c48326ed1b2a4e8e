"""The colours of classes of pixels: the same in pictures, in legends and in the palettes of delivered masks."""

from collections.abc import Sequence
from typing import TypeVar

from trainer.data.pictures.colours import NAMES, PALETTE

Colour = tuple[int, int, int]
_Paint = TypeVar("_Paint")
_Ground = TypeVar("_Ground")
LIGHT: Colour = (245, 245, 245)  # of the ground, in legends and palettes
# Names of a first class that is what lies around all others. Masks without names have 0 or black for it.
_GROUND = frozenset("background backgrounds ground bg none nothing other others rest void empty unlabelled unlabeled unclassified 0 #000000".split())


def has_ground(labels: Sequence[str]) -> bool:
    """Whether the first class is what lies around the others, which is neither painted nor given as polygons; also where nobody names the classes."""
    return not labels or labels[0].strip().lower() in _GROUND


def colours_of(labels: Sequence[str]) -> list[Colour | None]:
    """The colour of each class; None for the ground. They are used again where there are more classes than colours."""
    return _each(labels, PALETTE, None)


def names_of(labels: Sequence[str]) -> list[str]:
    """The name of the colour of each class; empty for the ground."""
    return _each(labels, NAMES, "")


def repeat(labels: Sequence[str]) -> bool:
    """Whether several classes have the same colour."""
    return len(labels) - has_ground(labels) > len(PALETTE)


def _each(labels: Sequence[str], paints: Sequence[_Paint], of_ground: _Ground) -> list[_Paint | _Ground]:
    ground = int(has_ground(labels))
    return [of_ground if number < ground else paints[(number - ground) % len(paints)] for number in range(len(labels))]
