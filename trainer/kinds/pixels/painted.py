"""The colours of classes of pixels: the same in pictures, in legends and in the palettes of delivered masks."""

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

import numpy

from trainer.data.pictures.colours import NAMES, PALETTE

if TYPE_CHECKING:
    from trainer.kinds.pixels.target import PixelClasses

Colour = tuple[int, int, int]
_Paint = TypeVar("_Paint")
_Ground = TypeVar("_Ground")
LIGHT: Colour = (245, 245, 245)  # of the ground in palettes
GREY: Colour = (150, 150, 150)  # of the ground in pictures, where it is the grey picture
_APART, _APART_TO_SOME = 20.0, 10.0  # of CIE L*a*b*: two colours over a picture are told apart from there on; and by those without red or green cones
_DULL, _DARK = 20.0, 45.0  # chroma and lightness of a colour below which it is taken for the grey picture, or for unknown pixels
# What people without red or green cones see of red, green and blue that are linear in light: Machado, Oliveira and Fernandes (2009), severity 1.
_SEEN_BY_SOME = (
    numpy.asarray([[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]),
    numpy.asarray([[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]),
)
# Names of a first class that is what lies around all others. Masks without names have 0 or black for it.
_GROUND = frozenset("background backgrounds ground bg none nothing other others rest void empty unlabelled unlabeled unclassified 0 #000000".split())


def has_ground(labels: Sequence[str]) -> bool:
    """Whether the first class is what lies around the others, which is neither painted nor given as polygons; also where nobody names the classes."""
    return not labels or labels[0].strip().lower() in _GROUND


def colours_of(labels: Sequence[str]) -> list[Colour | None]:
    """The colour of each class; None for the ground. They are used again where there are more classes than colours."""
    return _each(labels, PALETTE, None)


def of_target(target: "PixelClasses") -> list[Colour | None]:
    """The colour of each class in pictures; None for the ground: those of the masks that the model learnt from where people can tell them apart."""
    if not has_own(target):
        return colours_of(target.labels)
    return [None, *target.colours[1:]] if has_ground(target.labels) else list(target.colours)


def has_own(target: "PixelClasses") -> bool:
    """Whether pictures have the colours of the masks."""
    return bool(target.colours) and _are_apart(target.colours[has_ground(target.labels) :], has_ground(target.labels))


@functools.cache
def _are_apart(colours: tuple[Colour, ...], on_grey: bool) -> bool:
    """Whether people tell these colours from unknown pixels, where they lie ``on_grey`` ground from that, and from each other, also people who do
    not see red or green."""
    shares = numpy.asarray(colours, float) / 255
    linear = numpy.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)
    lightness, *chroma = _lab(linear).T
    if ((numpy.hypot(*chroma) < _DULL) & (on_grey | (lightness < _DARK))).any():
        return False
    seen = (_lab(linear), _APART), *((_lab(linear @ by.T), _APART_TO_SOME) for by in _SEEN_BY_SOME)
    pairs = numpy.triu_indices(len(colours), 1)
    return all((numpy.linalg.norm(lab[pairs[0]] - lab[pairs[1]], axis=1) >= apart).all() for lab, apart in seen)


def _lab(linear: numpy.ndarray) -> numpy.ndarray:
    """Colours that are linear in light (colours x 3) in CIE L*a*b*."""
    import skimage.color

    found = linear.clip(0, 1)
    return numpy.asarray(skimage.color.rgb2lab(numpy.where(found <= 0.0031308, 12.92 * found, 1.055 * found ** (1 / 2.4) - 0.055)[None])[0])


def names_of(target: "PixelClasses") -> list[str]:
    """The name of the colour of each class; empty for the ground."""
    if has_own(target):
        return ["" if colour is None else "#{:02x}{:02x}{:02x}".format(*colour) for colour in of_target(target)]
    return _each(target.labels, NAMES, "")


def repeat(labels: Sequence[str]) -> bool:
    """Whether several classes have the same colour."""
    return len(labels) - has_ground(labels) > len(PALETTE)


def _each(labels: Sequence[str], paints: Sequence[_Paint], of_ground: _Ground) -> list[_Paint | _Ground]:
    ground = int(has_ground(labels))
    return [of_ground if number < ground else paints[(number - ground) % len(paints)] for number in range(len(labels))]
