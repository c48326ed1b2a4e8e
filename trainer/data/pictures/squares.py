"""A plain picture as a square of pixels, as models of pictures read it."""

from pathlib import Path
from typing import BinaryIO

import numpy
from PIL import Image, ImageOps

from trainer.data import rasters
from trainer.data.images import opened


def plain(file: Path | BinaryIO, size: int, clear: bool) -> numpy.ndarray:
    """Red, green and blue (size x size x 3, 8 bit), upright; with ``clear``, what is clear or holds no data is grey. Raises OSError, ValueError or
    SyntaxError for a picture that cannot be decoded."""
    with opened(file) as image:
        image.draft("RGB", (size, size))
        upright = rasters.seen(file) if clear and rasters.form(rasters.rewound(file)).clear else ImageOps.exif_transpose(image).convert("RGB")
        return numpy.asarray(upright.resize((size, size), Image.Resampling.BILINEAR))
