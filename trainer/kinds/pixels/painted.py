"""The colours of classes of pixels: the same in pictures, in legends and in the palettes of delivered masks."""

from collections.abc import Sequence

from trainer.data.pictures.colours import NAMES, PALETTE

Colour = tuple[int, int, int]
LIGHT: Colour = (245, 245, 245)  # of the ground, in legends and palettes
# Names of a first class that is what lies around all others. Masks without names have 0 or black for it.
_GROUND = frozenset("background backgrounds ground bg none nothing other others rest void empty unlabelled unlabeled unclassified 0 #000000".split())


def has_ground(labels: Sequence[str]) -> bool:
    """Whether the first class is what lies around the others, which is not painted; also where nobody names the classes."""
    return not labels or labels[0].strip().lower() in _GROUND


def colours_of(labels: Sequence[str]) -> list[Colour | None]:
    """The colour of each class; None for the ground. They are used again where there are more classes than colours."""
    ground = int(has_ground(labels))
    return [None if number < ground else PALETTE[(number - ground) % len(PALETTE)] for number in range(len(labels))]


def names_of(labels: Sequence[str]) -> list[str]:
    """The name of the colour of each class; empty for the ground."""
    ground = int(has_ground(labels))
    return ["" if number < ground else NAMES[(number - ground) % len(NAMES)] for number in range(len(labels))]


def repeat(labels: Sequence[str]) -> bool:
    """Whether several classes have the same colour."""
    return len(labels) - has_ground(labels) > len(PALETTE)
