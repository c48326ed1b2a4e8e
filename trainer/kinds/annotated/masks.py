"""Shapes as masks of pixels. A pixel belongs to a shape where its centre lies inside."""

import math

import numpy
import skimage.draw
from PIL import Image

from trainer.kinds.annotated import runs
from trainer.kinds.annotated.shapes import Shape


def mask(shape: Shape, width: int, height: int) -> numpy.ndarray:
    """The mask (height x width, bool) of a shape in a picture of this size."""
    if shape.runs is not None:
        whole = runs.mask(shape.runs)
        if whole.shape == (height, width):
            return whole
        return numpy.asarray(Image.fromarray(whole).resize((width, height), Image.Resampling.NEAREST))
    canvas = numpy.zeros((height, width), bool)
    if not shape.rings:
        left, top, right, bottom = map(round, shape.box)
        canvas[top : max(bottom, top + 1), left : max(right, left + 1)] = True
        return canvas
    for rings, inside in ((shape.rings, True), (shape.holes, False)):
        for ring in rings:
            x, y = (ring - 0.5).T  # pixels are numbered by their centres
            canvas[skimage.draw.polygon(y, x, (height, width))] = inside
    return canvas


def part(shape: Shape, width: int, height: int) -> tuple[tuple[slice, slice], numpy.ndarray]:
    """The rows and columns of a picture of this size that hold a shape, and the mask of the shape there. Of a small shape in a large picture, this
    is a small array."""
    left, top = max(0, math.floor(shape.box[0])), max(0, math.floor(shape.box[1]))
    right, bottom = min(width, math.ceil(shape.box[2]) + 1), min(height, math.ceil(shape.box[3]) + 1)
    place = slice(top, max(top, bottom)), slice(left, max(left, right))
    if shape.runs is not None:
        return place, mask(shape, width, height)[place]
    moved = Shape(
        shape.label, (shape.box[0] - left, shape.box[1] - top, shape.box[2] - left, shape.box[3] - top),
        tuple(r - (left, top) for r in shape.rings), tuple(h - (left, top) for h in shape.holes),
    )  # fmt: skip
    return place, mask(moved, place[1].stop - left, place[0].stop - top)
