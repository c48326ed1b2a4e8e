"""Pictures as numbers by which a small model tells pictures of one plant, site or camera from others: colours, where they are, and the directions of
edges. They are for the comparison of splits; no model that is delivered reads them."""

from collections.abc import Sequence

import numpy

from trainer.core.example import Example
from trainer.data.images import opened
from trainer.data.pictures.looks import SIDE, small
from trainer.errors import UserError

_CELLS = 4  # side by side, for colours and for edges
_BINS = 8  # of a histogram of colours, and directions of edges
_MOST = 500_000_000  # pixels of all pictures, which take some seconds
WIDTH = _CELLS * _CELLS * (6 + _BINS) + 3 * _BINS


def of(examples: Sequence[Example]) -> numpy.ndarray | None:
    """The numbers of each picture (pictures x ``WIDTH``); zeros where one cannot be read. None for pictures that have too many pixels together."""
    if sum(_pixels(e.content) for e in examples) > _MOST:
        return None
    found = numpy.zeros((len(examples), WIDTH), numpy.float32)
    for place, example in enumerate(examples):
        try:
            found[place] = _numbers(small(example.content))
        except (OSError, ValueError, UserError):
            continue
    return found


def _pixels(file) -> int:
    try:
        with opened(file) as image:
            return image.width * image.height
    except (OSError, ValueError, UserError):
        return 0


def _numbers(picture: numpy.ndarray) -> numpy.ndarray:
    """Mean and deviation of each colour in each cell, the directions of edges in each cell, and a histogram of each colour."""
    step = SIDE // _CELLS
    cells = picture.reshape(_CELLS, step, _CELLS, step, 3)
    down, right = numpy.gradient(picture.mean(axis=2))
    direction = ((numpy.arctan2(down, right) % numpy.pi) / numpy.pi * _BINS).astype(int) % _BINS
    strength = numpy.hypot(down, right)
    rows, columns = (place // step for place in numpy.indices(strength.shape))
    edges = numpy.bincount(((rows * _CELLS + columns) * _BINS + direction).ravel(), strength.ravel(), _CELLS * _CELLS * _BINS)
    colours = [numpy.histogram(picture[:, :, band], _BINS, (0, 1))[0] / (SIDE * SIDE) for band in range(3)]
    return numpy.concatenate([cells.mean((1, 3)).ravel(), cells.std((1, 3)).ravel(), edges / step**2, *colours])
