"""Shapes that were drawn on a picture, in the place of its mask: polygons, run lengths and boxes become the class of each pixel."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy
from PIL import Image

from trainer.data import rasters
from trainer.data.images import opened
from trainer.kinds.annotated import masks
from trainer.kinds.annotated.shapes import Picture, Shape

BACKGROUND = "background"
SEPARATOR = "; "  # between the classes of a picture
DRAWN = "outlines: "  # before the classes that were drawn in a picture to be answered
_ORIENTATION = 0x0112  # of EXIF: how a picture is turned before it is shown
UPSIDE = 4  # the last of its values that keep width and height
_BACK = {  # from a picture as it is seen to the same as it is stored
    2: Image.Transpose.FLIP_LEFT_RIGHT, 3: Image.Transpose.ROTATE_180, 4: Image.Transpose.FLIP_TOP_BOTTOM, 5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_90, 7: Image.Transpose.TRANSVERSE, 8: Image.Transpose.ROTATE_270,
}  # fmt: skip


@dataclass(frozen=True)
class Drawing:
    """The shapes of a picture in the order in which they cover each other, the last one on top.

    ``width`` and ``height`` are those of the picture as it is seen, which the shapes are in. ``orientation`` is the value of EXIF by which it is
    turned for that; 1 for not at all. With ``apart`` the shapes have no order: where two classes lie over each other, nobody knows which it is.
    """

    shapes: tuple[Shape, ...]
    width: int
    height: int
    orientation: int = 1
    apart: bool = False

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the picture as it is stored."""
        return (self.height, self.width) if self.orientation > UPSIDE else (self.width, self.height)

    def classes(self, labels: Sequence[str], unknown: int) -> numpy.ndarray:
        """The place in ``labels`` of the class of each pixel, as the picture is stored (height x width, uint8).

        What no shape covers is background. Shapes with a label that is not there, and boxes without an outline, are ``unknown``.
        """
        places = {label: place for place, label in enumerate(labels)}
        canvas = numpy.full((self.height, self.width), places.get(BACKGROUND, unknown), numpy.uint8)
        drawn = numpy.zeros(canvas.shape if self.apart else 0, bool)
        for shape in self.shapes:
            place, inside = masks.part(shape, self.width, self.height)
            value = places.get(shape.label, unknown) if shape.has_outline else unknown
            twice = inside & drawn[place] & (canvas[place] != value) if self.apart else ()
            canvas[place][inside] = value
            if self.apart:
                canvas[place][twice] = unknown
                drawn[place] |= inside
        if self.orientation in _BACK:
            return numpy.asarray(Image.fromarray(canvas).transpose(_BACK[self.orientation]))
        return canvas


def of(picture: Picture, apart: bool) -> Drawing:
    """The drawing of an annotated picture. A class that is called background is the same as no shape."""
    shapes = tuple(replace(s, label=label(s.label)) for s in picture.shapes)
    return Drawing(shapes, picture.width, picture.height, orientation(picture.source.file), apart)


def label(name: str) -> str:
    """The name of a class as it is shown beside others."""
    return BACKGROUND if name.strip().lower() == BACKGROUND else name.replace(SEPARATOR.strip(), ",")


def orientation(file: Path) -> int:
    """How a picture is turned before it is shown; 1 for one that is read band by band, and where nothing is known."""
    if not rasters.form(file).plain:
        return 1
    with opened(file) as image:
        return image.getexif().get(_ORIENTATION, 1)
