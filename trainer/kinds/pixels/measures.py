"""What is counted of the answers for a picture, from which all metrics of many pictures follow; and how near the borders of classes are."""

import numpy

from trainer.kinds.pixels.codings import MOST

NEAR = 2  # pixels between a border and a true one that count as the same
_STRIP = 2048  # rows of a picture at once
FIGURES = 5  # behind the confusion: the loss, and the pixels of borders: hit and all that are predicted, hit and all that are true
NUMBERS = 7  # count, squared errors, absolute errors, sum and squares of the truth, sum of the answers, pixels without truth


def width(classes: int) -> int:
    """The numbers that are counted for each picture: the confusion, ``FIGURES``, and the answers by class; ``NUMBERS`` without classes."""
    return classes * classes + FIGURES + classes if classes else NUMBERS


def of_classes(truth: numpy.ndarray, answer: numpy.ndarray, loss: float, classes: int) -> numpy.ndarray:
    """The figures of a picture. ``truth`` and ``answer`` are its classes (uint8); those from MOST on are unknown. ``loss`` is over known ones."""
    known = truth < MOST
    counted = numpy.bincount(truth[known].astype(numpy.int64) * classes + answer[known], minlength=classes * classes)
    areas = numpy.bincount(answer[answer < MOST], minlength=classes)
    return numpy.concatenate([counted, [loss, *borders(truth, answer)], areas]).astype(numpy.float64)


def of_numbers(truth: numpy.ndarray, answer: numpy.ndarray) -> numpy.ndarray:
    """The figures of a picture of numbers, NaN or infinite where they are unknown."""
    known = numpy.isfinite(truth)
    right, said = truth[known].astype(numpy.float64), answer[known].astype(numpy.float64)
    apart = said - right
    every = answer[numpy.isfinite(answer)].astype(numpy.float64)
    figures = [len(right), (apart**2).sum(), numpy.abs(apart).sum(), right.sum(), (right**2).sum(), every.sum(), len(every)]
    return numpy.asarray(figures, numpy.float64)


def borders(truth: numpy.ndarray, answer: numpy.ndarray) -> tuple[int, int, int, int]:
    """Predicted pixels at borders that are near a true one, all of them, true ones near a predicted one, all of them."""
    from scipy import ndimage  # every run imports this module

    total = numpy.zeros(4, numpy.int64)
    for top in range(0, len(truth), _STRIP):
        above = min(top, NEAR + 1)
        part = slice(top - above, min(len(truth), top + _STRIP + NEAR + 1))
        true, said = truth[part], answer[part]
        known = true < MOST
        true_edges, said_edges = _edges(true, known), _edges(said, known & (said < MOST))
        inside = numpy.zeros(known.shape, bool)
        inside[above : above + min(_STRIP, len(truth) - top)] = True
        for place, (edges, others) in enumerate(((said_edges, true_edges), (true_edges, said_edges))):
            near = ndimage.maximum_filter(others.view(numpy.uint8), 2 * NEAR + 1) > 0
            total[2 * place] += int((edges & near & inside).sum())
            total[2 * place + 1] += int((edges & inside).sum())
    return tuple(total.tolist())  # type: ignore[return-value]


def _edges(classes: numpy.ndarray, known: numpy.ndarray) -> numpy.ndarray:
    """The pixels whose right or lower neighbour is of another class."""
    found = numpy.zeros(classes.shape, bool)
    found[:, :-1] |= (classes[:, :-1] != classes[:, 1:]) & known[:, :-1] & known[:, 1:]
    found[:-1] |= (classes[:-1] != classes[1:]) & known[:-1] & known[1:]
    return found
