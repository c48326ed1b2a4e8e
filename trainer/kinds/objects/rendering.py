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


def masks(classes: numpy.ndarray, rings: Sequence[numpy.ndarray], height: int, width: int) -> numpy.ndarray:
    """The label of each object, and whether each place belongs to it (objects x (1 + places))."""
    import skimage.draw

    rows, columns = height // STRIDE, width // STRIDE
    made = numpy.zeros((len(rings), 1 + rows * columns), numpy.int16)
    made[:, 0] = classes
    for one, ring in zip(made, rings):
        x, y = ring.T / STRIDE - 0.5  # a place belongs to an object where its middle does
        one[1:].reshape(rows, columns)[skimage.draw.polygon(y, x, (rows, columns))] = 1
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
    down, across = numpy.nonzero(answering)
    down, across = down + low[1], across + low[0]
    there_x, there_y = (across + 0.5) * STRIDE, (down + 0.5) * STRIDE
    sides = numpy.stack([there_x - box[0], there_y - box[1], box[2] - there_x, box[3] - there_y])
    made[labels : labels + SIDES, down, across] = numpy.maximum(sides, 0.5)
    made[-2, down, across] = weight[answering]
    if ring is not None:
        distances, inside = outlines.rays(ring, numpy.stack([there_x, there_y], axis=1))
        made[labels + SIDES : -2, down, across] = numpy.where(inside, distances.T, 0.0)
