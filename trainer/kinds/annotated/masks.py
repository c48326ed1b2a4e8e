"""Shapes as masks of pixels. A pixel belongs to a shape where its centre lies inside."""

import numpy
import skimage.draw
from PIL import Image

from trainer.kinds.annotated import runs
from trainer.kinds.annotated.shapes import Shape


def mask(shape: Shape, width: int, height: int, scale: float = 1.0) -> numpy.ndarray:
    """The mask (height x width, bool) of a shape in a picture of this size. With ``scale`` the picture is that much larger than the one in
    which the shape was drawn."""
    if shape.runs is not None:
        whole = runs.mask(shape.runs)
        if whole.shape == (height, width):
            return whole
        return numpy.asarray(Image.fromarray(whole).resize((width, height), Image.Resampling.NEAREST))
    canvas = numpy.zeros((height, width), bool)
    if not shape.rings:
        left, top, right, bottom = (round(c * scale) for c in shape.box)
        canvas[top : max(bottom, top + 1), left : max(right, left + 1)] = True
        return canvas
    for rings, inside in ((shape.rings, True), (shape.holes, False)):
        for ring in rings:
            x, y = (ring * scale - 0.5).T  # pixels are numbered by their centres
            canvas[skimage.draw.polygon(y, x, (height, width))] = inside
    return canvas
