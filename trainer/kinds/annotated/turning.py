"""Annotations of a picture as it is stored, turned to the picture as EXIF shows it."""

from collections.abc import Callable
from dataclasses import replace

import numpy
from PIL import Image

from trainer.kinds.annotated import runs
from trainer.kinds.annotated.shapes import Box, Drawn, Listed

UNCLEAR = "annotations without the size of their picture are taken for those of the picture as EXIF shows it"
SIDES = (5, 6, 7, 8)  # values of EXIF's orientation with which width and height change places
_RUNS = {
    5: Image.Transpose.TRANSPOSE, 6: Image.Transpose.ROTATE_270, 7: Image.Transpose.TRANSVERSE, 8: Image.Transpose.ROTATE_90,
}  # fmt: skip


def turned(listed: Listed, orientation: int) -> Listed:
    """The entry of a picture of this ``orientation``, one of ``SIDES``, whose coordinates are pixels as they are stored."""
    width, height = listed.width, listed.height

    def points(of: numpy.ndarray) -> numpy.ndarray:
        x, y = of[:, 0], of[:, 1]
        across = height - y if orientation in (6, 7) else y
        down = width - x if orientation in (7, 8) else x
        return numpy.column_stack([across, down])

    return replace(listed, drawn=[_turned(d, orientation, points) for d in listed.drawn], width=height, height=width)


def _turned(drawn: Drawn, orientation: int, points: Callable[[numpy.ndarray], numpy.ndarray]) -> Drawn:
    box: Box | None = None
    if drawn.box is not None:
        (a, b), (c, d) = points(numpy.asarray(drawn.box, numpy.float64).reshape(2, 2)).tolist()
        box = (min(a, c), min(b, d), max(a, c), max(b, d))
    inside = drawn.runs
    if inside is not None:
        inside = runs.of_mask(numpy.asarray(Image.fromarray(runs.mask(inside)).transpose(_RUNS[orientation])))
    return replace(drawn, rings=tuple(points(ring) for ring in drawn.rings), box=box, runs=inside)
