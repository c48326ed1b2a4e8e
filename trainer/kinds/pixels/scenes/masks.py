"""Masks as large as scenes, by windows: which values they have, and what they say of the pixels of a window."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy

from trainer.data import rasters
from trainer.data.scenes import opening
from trainer.data.scenes.opening import Scene
from trainer.kinds.pixels import codings
from trainer.kinds.pixels.drawn import Drawing


def window(file: Path | Drawing, place: tuple[slice, slice], coding: codings.Classes | codings.Numbers) -> numpy.ndarray:
    """What a mask says of a window: classes (uint8), UNLABELLED where it says none, or numbers (float32) with NaN. Raises OSError or ValueError.

    Drawings and masks that are no TIFF, which small scenes have, are read as a whole.
    """
    if isinstance(file, Drawing) or not rasters.is_tiff(file):
        return numpy.array(coding.read(file)[place])  # type: ignore[arg-type]
    with opening.opened(file) as dataset:
        scene = opening.scene(file)
        if isinstance(coding, codings.Numbers):
            return numbers(dataset, scene, place)
        if coding.colours != in_colours(scene):
            raise ValueError("it is in colours" if in_colours(scene) else "it is not in colours, as those of the training")
        return coding.of(packed(dataset, scene, place) if coding.colours else grey(dataset, scene, place))


def in_colours(of: Scene) -> bool:
    """Whether a mask has red, green and blue."""
    return of.bands == 3 and of.dtype == "uint8"


def grey(dataset: Any, of: Scene, place: tuple[slice, slice]) -> numpy.ndarray:
    """The values of a window of the first band as whole numbers (int64), as ``codings.grey`` gives them of a picture."""
    pixels, holds = opening.read(dataset, of, place)
    first = pixels[..., 0]
    whole = numpy.rint(numpy.nan_to_num(first, nan=codings.NODATA)).astype(numpy.int64) if first.dtype.kind == "f" else first.astype(numpy.int64)
    return whole if holds is None else numpy.where(holds[..., 0], whole, codings.NODATA)


def packed(dataset: Any, of: Scene, place: tuple[slice, slice]) -> numpy.ndarray:
    """The colours of a window, each as one number (int64); NO_COLOUR where there is no data."""
    pixels, holds = opening.read(dataset, of, place)
    pixels = pixels.astype(numpy.int64)
    found = (pixels[..., 0] << 16) | (pixels[..., 1] << 8) | pixels[..., 2]
    return found if holds is None else numpy.where(holds.all(axis=2), found, codings.NO_COLOUR)


def numbers(dataset: Any, of: Scene, place: tuple[slice, slice]) -> numpy.ndarray:
    """The numbers of a window of the first band (float32), NaN where there are none."""
    pixels, holds = opening.read(dataset, of, place)
    found = pixels[..., 0].astype(numpy.float32)
    if holds is not None:
        found[~holds[..., 0]] = numpy.nan
    return found


def counted(values: numpy.ndarray) -> Counter:
    """How many pixels have each value."""
    found, counts = numpy.unique(values, return_counts=True)
    return Counter(dict(zip(found.tolist(), counts.tolist())))
