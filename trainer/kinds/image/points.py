"""Pictures as points: a few coarse pixels of each."""

from collections.abc import Sequence

import numpy
from PIL import Image

from trainer.core.example import Example
from trainer.data import rasters

_SIDE = 12  # pixels of the coarse picture


def of(examples: Sequence[Example]) -> numpy.ndarray:
    """The colours of the coarse pixels from 0 to 1; those of measured pictures are the mean of their bands, in order of size. Zeros where a picture
    cannot be read."""
    found = numpy.zeros((len(examples), _SIDE * _SIDE * 3), numpy.float32)
    for place, example in enumerate(examples):
        try:
            found[place] = _coarse(example.content)
        except (OSError, ValueError):
            continue
    return found


def _coarse(file) -> numpy.ndarray:
    if rasters.form(file).plain:
        image = rasters.seen(file)
        image.thumbnail((8 * _SIDE, 8 * _SIDE), Image.Resampling.BOX)
        return numpy.asarray(image.convert("RGB").resize((_SIDE, _SIDE), Image.Resampling.BOX), numpy.float32).ravel() / 255
    pixels, _ = rasters.values(file)
    rows, columns = (numpy.linspace(0, size - 1, _SIDE).round().astype(int) for size in pixels.shape[:2])
    values = numpy.nan_to_num(pixels[numpy.ix_(rows, columns)].astype(numpy.float64).mean(axis=2), posinf=0, neginf=0).ravel()
    ranks = values.argsort(kind="stable").argsort(kind="stable") / max(1, len(values) - 1)
    return numpy.repeat(ranks.astype(numpy.float32), 3)
