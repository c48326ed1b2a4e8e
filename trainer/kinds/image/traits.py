"""Traits of pictures: their size, and how bright, full of contrast and sharp they are."""

from collections.abc import Sequence

import numpy
from PIL import Image

from trainer.core.example import Example
from trainer.data import rasters
from trainer.shift.traits import Numbers, Trait

_PICTURES = 100  # that are looked at, each of which is decoded
_SIDE = 128  # pixels of the small picture that is measured
_NAMES = ("the width", "the height", "the brightness", "the contrast", "the sharpness")


def of(examples: Sequence[Example]) -> list[Trait]:
    """The traits of evenly chosen pictures, NaN for those that cannot be read."""
    chosen = examples[:: max(1, len(examples) // _PICTURES)][:_PICTURES]
    found = numpy.asarray([_of(e.content) for e in chosen]).reshape(len(chosen), len(_NAMES))
    return [Numbers(name, found[:, place]) for place, name in enumerate(_NAMES)]


def _of(file) -> list[float]:
    try:
        width, height = rasters.size(file)
        grey = _small(file) if rasters.form(file).plain else _measured(file)
    except (OSError, ValueError):
        return [numpy.nan] * len(_NAMES)
    held = grey[numpy.isfinite(grey)]
    steps = numpy.concatenate([numpy.abs(numpy.diff(grey, axis=axis)).ravel() for axis in (0, 1)])
    steps = steps[numpy.isfinite(steps)]
    if not len(held) or not len(steps):
        return [width, height, numpy.nan, numpy.nan, numpy.nan]
    return [width, height, float(held.mean()), float(held.std()), float(steps.mean())]


def _small(file) -> numpy.ndarray:
    """A picture for screens in grey from 0 to 1, about as small as ``_SIDE``."""
    image = rasters.seen(file)
    image.thumbnail((_SIDE, _SIDE), Image.Resampling.BOX)
    return numpy.asarray(image.convert("L"), numpy.float64) / 255


def _measured(file) -> numpy.ndarray:
    """The mean of the bands of a picture of measures, in their own unit, at every so many pixels; NaN without data."""
    pixels, holds = rasters.values(file)
    step = max(1, max(pixels.shape[:2]) // _SIDE)
    values = pixels[::step, ::step].astype(numpy.float64)
    if holds is not None:
        values[~holds[::step, ::step]] = numpy.nan
    return values.mean(axis=2)
