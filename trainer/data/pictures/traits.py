"""Traits of pictures: their size, how bright, full of contrast and sharp they are, and how bright each of the bands of pictures of measures is."""

from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

import numpy
from PIL import Image

from trainer.data import rasters
from trainer.shift.traits import Numbers, Trait

_PICTURES = 100  # that are looked at, each of which is decoded
_SIDE = 128  # pixels of the small picture that is measured
_LARGEST = 20_000_000  # pixels of a picture of measures that is looked at
_NAMES = ("the width", "the height", "the brightness", "the contrast", "the sharpness")
_SIZES = _NAMES[:2]
_BAND = "the brightness of band {}"


def of(files: Sequence[Path | BinaryIO], sized: bool = True) -> list[Trait]:
    """The traits of evenly chosen pictures, NaN for those that cannot be read. Without ``sized`` their width and height say nothing."""
    chosen = files[:: max(1, len(files) // _PICTURES)][:_PICTURES]
    looked = [_of(file) for file in chosen]
    found = numpy.asarray([numbers for numbers, _ in looked]).reshape(len(chosen), len(_NAMES))
    bands = numpy.full((len(chosen), max((len(of) for _, of in looked), default=0)), numpy.nan)
    for row, (_, of_bands) in zip(bands, looked):
        row[: len(of_bands)] = of_bands
    return [
        *(Numbers(name, found[:, place]) for place, name in enumerate(_NAMES) if sized or name not in _SIZES),
        *(Numbers(_BAND.format(place + 1), bands[:, place]) for place in range(bands.shape[1])),
    ]


def _of(file) -> tuple[list[float], list[float]]:
    """The numbers of ``_NAMES``, and the brightness of each band of a picture of measures with several."""
    no_bands: list[float] = []
    try:
        width, height = rasters.size(file)
        if rasters.form(file).plain:
            grey, bands = _small(file), no_bands
        elif width * height > _LARGEST:
            return [width, height, *[numpy.nan] * 3], no_bands
        else:
            grey, bands = _measured(file)
    except (OSError, ValueError):
        return [numpy.nan] * len(_NAMES), no_bands
    held = grey[numpy.isfinite(grey)]
    steps = numpy.concatenate([numpy.abs(numpy.diff(grey, axis=axis)).ravel() for axis in (0, 1)])
    steps = steps[numpy.isfinite(steps)]
    if not len(held) or not len(steps):
        return [width, height, numpy.nan, numpy.nan, numpy.nan], no_bands
    return [width, height, float(held.mean()), float(held.std()), float(steps.mean())], bands


def _small(file) -> numpy.ndarray:
    """A picture for screens in grey from 0 to 1, about as small as ``_SIDE``."""
    image = rasters.seen(file)
    image.thumbnail((_SIDE, _SIDE), Image.Resampling.BOX)
    return numpy.asarray(image.convert("L"), numpy.float64) / 255


def _measured(file) -> tuple[numpy.ndarray, list[float]]:
    """The mean of the bands of a picture of measures, in their own unit, at every so many pixels (NaN without data), and that of each of several."""
    pixels, holds = rasters.values(file)
    step = max(1, max(pixels.shape[:2]) // _SIDE)
    values = pixels[::step, ::step].astype(numpy.float64)
    if holds is not None:
        values[~holds[::step, ::step]] = numpy.nan
    of_bands = [float(band[numpy.isfinite(band)].mean()) if numpy.isfinite(band).any() else numpy.nan for band in numpy.moveaxis(values, 2, 0)]
    return values.mean(axis=2), of_bands if len(of_bands) > 1 else []
