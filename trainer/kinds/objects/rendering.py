"""What a network is to answer for each place of a picture: how near it is to the centre of an object, and how far from its sides."""

from collections.abc import Sequence

import numpy

from trainer.kinds.objects import decoding, outlines
from trainer.kinds.objects.decoding import SIDES, STRIDE

_WIDE = 0.54  # share of an object's half side that is near its centre
_NEAR = 0.25  # nearness from which a place answers with the sides of the object


def maps(
    classes: numpy.ndarray,
    boxes: numpy.ndarray,
    counted: numpy.ndarray,
    labels: int,
    height: int,
    width: int,
    rings: Sequence[numpy.ndarray] | None = None,
) -> numpy.ndarray:
    """The maps for objects with ``boxes`` in pixels of the input (n x 4): nearness for each label, the sides, their weight, and places to ignore,
    those of objects that are not ``counted``. With ``rings`` the distances to the outline follow the sides. Places that belong to several objects
    answer for the smallest one."""
    rows, columns = height // STRIDE, width // STRIDE
    made = numpy.zeros((decoding.answered(labels, rings is not None) + 2, rows, columns), numpy.float32)
    sizes = numpy.prod(boxes[:, 2:] - boxes[:, :2], axis=1) if len(boxes) else ()
    for i in numpy.argsort(sizes)[::-1] if len(boxes) else ():
        box = boxes[i]
        if not counted[i]:
            left, top, right, bottom = (int(c) for c in numpy.clip(box / STRIDE, 0, (columns, rows, columns, rows)))
            made[-1, top : bottom + 1, left : right + 1] = 1
            continue
        middle = numpy.clip(((box[:2] + box[2:]) / 2 / STRIDE).astype(int), 0, (columns - 1, rows - 1))
        _one(made, int(classes[i]), box, middle, labels, None if rings is None else rings[i])
    return made


def _one(made: numpy.ndarray, label: int, box: numpy.ndarray, middle: numpy.ndarray, labels: int, ring: numpy.ndarray | None) -> None:
    x, y = middle
    radius = numpy.maximum(1, ((box[2:] - box[:2]) / 2 / STRIDE * _WIDE)).astype(int)
    low, high = numpy.maximum(middle - radius, 0), numpy.minimum(middle + radius, (made.shape[2] - 1, made.shape[1] - 1))
    place = numpy.s_[low[1] : high[1] + 1, low[0] : high[0] + 1]
    columns, rows = numpy.arange(low[0], high[0] + 1), numpy.arange(low[1], high[1] + 1)
    spread = (2 * radius + 1) / 6
    near = numpy.exp(-(((rows - y)[:, None] / spread[1]) ** 2 + ((columns - x)[None] / spread[0]) ** 2) / 2).astype(numpy.float32)
    made[label][place] = numpy.maximum(made[label][place], near)
    answering = near >= _NEAR
    weight = near * answering / (near * answering).sum()
    middle_x, middle_y = numpy.meshgrid((columns + 0.5) * STRIDE, (rows + 0.5) * STRIDE)
    sides = (middle_x - box[0], middle_y - box[1], box[2] - middle_x, box[3] - middle_y)
    for k, distances in enumerate(sides):
        part = made[labels + k][place]
        part[answering] = numpy.maximum(distances, 0.5)[answering]
    part = made[-2][place]
    part[answering] = weight[answering]
    if ring is not None:
        places = numpy.stack([middle_x[answering], middle_y[answering]], axis=1)
        distances, inside = outlines.rays(ring, places)
        for k in range(outlines.RAYS):
            part = made[labels + SIDES + k][place]
            part[answering] = numpy.where(inside, distances[:, k], 0.0)
