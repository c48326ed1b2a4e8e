"""Masks that number the objects of a picture: each number is the outline of one object."""

import numpy

from trainer.core.input import Input
from trainer.data.annotations import numbered
from trainer.kinds.annotated import limits
from trainer.kinds.annotated.shapes import Drawn, LeftOut, Listed, Runs


def read(picture: str, mask: Input, left: LeftOut) -> Listed | None:
    """The objects of ``picture`` by its mask; None for a mask that cannot be read."""
    try:
        pixels = numbered.values(mask.file)
    except (OSError, ValueError, SyntaxError):
        left.add("the mask cannot be read", mask.name)
        return None
    height, width = pixels.shape
    if height * width > limits.PIXELS:
        left.add("the mask is too large", mask.name)
        return None
    drawn = [Drawn(numbered.OBJECT, runs=runs) for runs in _runs(pixels)]
    return Listed((picture,), drawn, float(width), float(height))


def _runs(pixels: numpy.ndarray) -> list[Runs]:
    """The runs of each number but 0, in the order of the numbers."""
    flat = pixels.ravel(order="F")
    starts = numpy.concatenate([[0], numpy.flatnonzero(flat[1:] != flat[:-1]) + 1])
    ends = numpy.concatenate([starts[1:], [len(flat)]])
    order = numpy.argsort(flat[starts], kind="stable")
    values = flat[starts][order]
    found = []
    for part in numpy.split(order, numpy.flatnonzero(values[1:] != values[:-1]) + 1):
        if flat[starts[part[0]]]:
            edges = numpy.concatenate([[0], numpy.stack([starts[part], ends[part]], axis=1).ravel(), [len(flat)]])
            found.append(Runs(numpy.diff(edges), *pixels.shape))
    return found
