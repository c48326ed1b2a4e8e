"""Small pictures for results."""

import base64
import io
from pathlib import Path
from typing import BinaryIO

from PIL import Image, ImageOps

from trainer.data import rasters
from trainer.data.images import opened
from trainer.data.pictures import bands

SIDE = 64  # pixels
MOST_BYTES = 24_000


def of(file: Path | BinaryIO) -> str | None:
    """A small PNG in base64; None where even that is large, or where the file cannot be read again."""
    try:
        return png(upright(file))
    except (OSError, ValueError):
        return None


def upright(file: Path | BinaryIO) -> Image.Image:
    """A picture of any form as a person sees it, in red, green and blue. Raises OSError or ValueError."""
    if not rasters.form(file).plain:
        return bands.preview(file)
    with opened(rasters.rewound(file)) as image:
        return ImageOps.exif_transpose(image).convert("RGB")


def png(image: Image.Image) -> str | None:
    """A thumbnail in base64, which changes ``image``; None where even that is large."""
    image.thumbnail((SIDE, SIDE))
    data = io.BytesIO()
    image.save(data, "PNG", optimize=True)
    return base64.b64encode(data.getvalue()).decode() if data.tell() <= MOST_BYTES else None
