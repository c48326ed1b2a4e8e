"""Pictures as the detector gets them: plain ones as red, green and blue, those of instruments by the ranges of their bands."""

from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

import numpy

from trainer.data import rasters
from trainer.data.pictures import bands
from trainer.data.pictures.bands import Bands
from trainer.errors import UserError
from trainer.run_folder.events import Events

_COLOURS = 3


def count(ranges: Bands | None) -> int:
    """The number of bands of pictures with these ranges; None is for plain pictures."""
    return ranges.count if ranges else _COLOURS


def read(file: Path | BinaryIO, name: str, ranges: Bands | None) -> numpy.ndarray:
    """The upright picture (height x width x bands, 8 bits). Raises OSError, ValueError, or UserError where it is stored in another way."""
    if ranges is not None:
        return bands.scaled(*bands.values(file, name, ranges.count, ranges.dtype, ranges.names), ranges)
    if not rasters.form(file).plain:
        raise UserError(
            "image_form",
            f"The image {name or 'that was sent'} holds measured values, but the model reads 8 bits, as screens show them.",
            "Use images as in the training, from the same instrument and saved in the same way.",
        )
    return numpy.asarray(rasters.seen(file))


def learnt(pictures: Sequence[tuple[Path, str]], events: Events) -> Bands | None:
    """The ranges of the bands of training pictures, which have the form of the first one; None for plain ones. Raises UserError."""
    form = rasters.form(pictures[0][0])
    if form.plain:
        return None
    ranges, _ = bands.learnt(pictures, form)
    written = ", ".join(f"{low:.6g} to {high:.6g}" for low, high in list(zip(ranges.low, ranges.high))[:8])
    events.decision("bands", ranges.described(), f"The pictures have {ranges.words}. Each band is scaled from most of its values ({written}).")
    return ranges
