"""From the maps of a network to boxes: peaks of the map of each label, with the distances to the four sides of their object. Or from the boxes of
a model that answers with these.

snippets/objects.py does the same for users of a model.
"""

import numpy

from trainer.kinds.objects import scores
from trainer.kinds.objects.outlines import DIRECTIONS, RAYS
from trainer.kinds.objects.scores import Boxes

STRIDE = 4  # pixels of the network's input for each place of its maps
SIDES = 4  # maps with the distances from a place to the left, top, right and bottom, in pixels of the input
PLACE = 3  # maps that say how the picture lies in the input: its scale, width and height, the same for all places
_BOX = 6  # numbers of a box in an output: the label, the score, and left, top, right, bottom in pixels of the picture
MOST = 2000  # boxes of a picture
_SAME = 0.6  # overlap from which two boxes of one label are of the same object
_SECOND_LABEL = 0.5  # share of its score that an answer keeps whose object has a surer one with another label
_CANDIDATES = 3  # times as many peaks are looked at as boxes are kept
_LEAST = 0.01  # score


def numbers(outlined: bool) -> int:
    """Of an object in an output: those of its box, and the points of its outline."""
    return _BOX + 2 * RAYS * outlined


def answered(labels: int, outlined: bool) -> int:
    """Maps that a network answers with."""
    return labels + SIDES + RAYS * outlined


def with_probabilities(logits: numpy.ndarray, labels: int) -> numpy.ndarray:
    """The maps (pictures x maps x height x width) with probabilities in place of the logits of labels."""
    maps = numpy.asarray(logits, numpy.float32).copy()
    maps[:, :labels] = 1 / (1 + numpy.exp(-numpy.clip(maps[:, :labels], -80, 80)))
    return maps


def packed(maps: numpy.ndarray, labels: int, most: int, outlined: bool = False) -> numpy.ndarray:
    """The objects in each picture as one row of numbers (pictures x most * numbers); places that are not used are 0."""
    return _rows([_boxes(one, labels, most, outlined) for one in maps], most, outlined)


def packed_boxes(answers: numpy.ndarray, labels: int, most: int, outlined: bool = False) -> numpy.ndarray:
    """The objects in each picture as one row of numbers. ``answers`` are pictures x boxes x (labels + SIDES): probabilities of the labels, and
    left, top, right and bottom in pixels of the picture. If they are ``outlined``, the points of the outline follow."""
    return _rows([_chosen(numpy.asarray(one, numpy.float64), labels, most, outlined) for one in answers], most, outlined)


def _chosen(answers: numpy.ndarray, labels: int, most: int, outlined: bool) -> Boxes:
    """The surest pairs of a box and a label."""
    flat = answers[:, :labels].ravel()
    order = numpy.argsort(-flat, kind="stable")[: _CANDIDATES * most]
    order = order[flat[order] > _LEAST]
    box, label = numpy.divmod(order, labels)
    corners = answers[box, labels : labels + SIDES]
    inside = (corners[:, 2] > corners[:, 0]) & (corners[:, 3] > corners[:, 1])
    rings = tuple(answers[box[inside], labels + SIDES :].reshape(-1, RAYS, 2)) if outlined else ()
    return _once(Boxes(label[inside], flat[order][inside], corners[inside], rings), most)


def _rows(found: list[Boxes], most: int, outlined: bool) -> numpy.ndarray:
    rows = numpy.zeros((len(found), most, numbers(outlined)), numpy.float32)
    for row, boxes in zip(rows, found):
        row[: len(boxes), 0], row[: len(boxes), 1], row[: len(boxes), 2:_BOX] = boxes.classes, boxes.scores, boxes.boxes
        if outlined and len(boxes):
            row[: len(boxes), _BOX:] = numpy.stack(boxes.outlines).reshape(len(boxes), 2 * RAYS)
    return rows.reshape(len(found), most * numbers(outlined))


def unpacked(row: numpy.ndarray, outlined: bool = False) -> Boxes:
    """The objects behind a row of numbers."""
    held = row.reshape(-1, numbers(outlined)).astype(numpy.float64)
    held = held[held[:, 1] > 0]
    rings = tuple(held[:, _BOX:].reshape(len(held), RAYS, 2)) if outlined else ()
    return Boxes(held[:, 0].astype(numpy.int64), held[:, 1], held[:, 2:_BOX], rings)


def _boxes(maps: numpy.ndarray, labels: int, most: int, outlined: bool) -> Boxes:
    heat, sides, (scale, width, height) = maps[:labels], maps[labels : labels + SIDES], maps[-PLACE:, 0, 0]
    peaks = numpy.where(heat == _highest_around(heat), heat, 0.0)
    count = min(_CANDIDATES * most, peaks.size)
    flat = peaks.ravel()
    chosen = numpy.argpartition(-flat, count - 1)[:count]
    chosen = chosen[numpy.lexsort((chosen, -flat[chosen]))]
    chosen = chosen[flat[chosen] > _LEAST]
    label, y, x = numpy.unravel_index(chosen, peaks.shape)
    middle_x, middle_y = (x + 0.5) * STRIDE, (y + 0.5) * STRIDE
    left, top, right, bottom = sides[:, y, x].astype(numpy.float64)
    boxes = numpy.stack([middle_x - left, middle_y - top, middle_x + right, middle_y + bottom], axis=1) / max(float(scale), 1e-6)
    limits = numpy.asarray([width, height, width, height], numpy.float64)
    boxes = numpy.clip(boxes, 0, limits)
    inside = (boxes[:, 2] - boxes[:, 0] > 0) & (boxes[:, 3] - boxes[:, 1] > 0)
    rings: tuple[numpy.ndarray, ...] = ()
    if outlined:
        distances = maps[labels + SIDES : -PLACE, y, x].astype(numpy.float64)  # rays x peaks
        made = (numpy.stack([middle_x, middle_y], axis=1)[:, None] + distances.T[..., None] * DIRECTIONS) / max(float(scale), 1e-6)
        rings = tuple(numpy.clip(made[inside], 0, limits[:2]))
    return _once(Boxes(label[inside], flat[chosen][inside].astype(numpy.float64), boxes[inside], rings), most)


def _highest_around(heat: numpy.ndarray) -> numpy.ndarray:
    """The highest value in the 3 x 3 places around each."""
    padded = numpy.pad(heat, ((0, 0), (1, 1), (1, 1)), constant_values=-1.0)
    rows = numpy.maximum(numpy.maximum(padded[:, :-2], padded[:, 1:-1]), padded[:, 2:])
    return numpy.maximum(numpy.maximum(rows[..., :-2], rows[..., 1:-1]), rows[..., 2:])


def _once(boxes: Boxes, most: int) -> Boxes:
    """Each object once: of boxes of one label that overlap much, the surest. One of another label than a surer one is rarely a second object, so
    it keeps a part of its score."""
    kept: list[int] = []
    sure: list[float] = []
    for i in range(len(boxes)):
        same = scores.overlaps(boxes.boxes[i : i + 1], boxes.boxes[kept])[0] >= _SAME
        mine = boxes.classes[kept] == boxes.classes[i]
        if not (same & mine).any():
            kept.append(i)
            sure.append(float(boxes.scores[i]) * (_SECOND_LABEL if same.any() else 1.0))
        if len(kept) == most:
            break
    order = numpy.argsort(-numpy.asarray(sure), kind="stable")
    chosen = numpy.asarray(kept, numpy.int64)[order]
    rings = tuple(boxes.outlines[k] for k in chosen) if boxes.outlines else ()
    return Boxes(boxes.classes[chosen], numpy.asarray(sure, numpy.float64)[order], boxes.boxes[chosen], rings)
