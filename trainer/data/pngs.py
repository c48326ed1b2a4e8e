"""PNG pictures of 16 bits and several bands, of which Pillow gives the upper 8 bits only.

Pillow is asked for the upper and for the lower bytes of the same pixels, one after the other.
"""

from pathlib import Path
from typing import BinaryIO

import numpy

from trainer.data.images import opened

DTYPE = "uint16"
_BANDS = {"LA;16B": 2, "RGB;16B": 3, "RGBA;16B": 4}  # by how Pillow calls the stored pixels, with the alpha
_UPPER_AND_LOWER = {"RGB;16B": ("RGB;16B", "RGB;16L"), "RGBA;16B": ("RGBA;16B", "RGBA;16L")}
_GREY_BYTES = "RGBA"  # grey and alpha of 16 bits are as many bytes as four bands of 8 bits


def bands(image) -> int:
    """The bands, with the alpha, of an image that Pillow has opened and not decoded; 0 where Pillow gives all of its bits."""
    return _BANDS.get(_stored(image), 0)


def has_alpha(image) -> bool:
    """Whether the last of its ``bands`` tells how opaque a pixel is."""
    return bands(image) in (2, 4)


def values(file: Path | BinaryIO) -> tuple[numpy.ndarray, numpy.ndarray | None]:
    """The values of such a picture without its alpha, and which of them are to be seen (of the same shape, or None for all).

    Raises OSError or ValueError.
    """
    with opened(file) as image:
        stored, clear = _stored(image), image.info.get("transparency")
    if stored in _UPPER_AND_LOWER:
        upper, lower = (_bytes(file, way).astype(numpy.uint16) for way in _UPPER_AND_LOWER[stored])
    else:
        both = _bytes(file, _GREY_BYTES).astype(numpy.uint16)
        upper, lower = both[..., ::2], both[..., 1::2]
    pixels = upper << 8 | lower
    if _BANDS[stored] in (2, 4):
        seen = pixels[..., -1:] > 0
        pixels = pixels[..., :-1]
    elif isinstance(clear, tuple):
        seen = (pixels != numpy.array(clear, numpy.uint16)).any(axis=2, keepdims=True)
    else:
        return pixels, None
    return pixels, None if seen.all() else numpy.broadcast_to(seen, pixels.shape)


def _stored(image) -> str:
    return image.tile[0][3] if image.format == "PNG" and image.tile and isinstance(image.tile[0][3], str) else ""


def _bytes(file: Path | BinaryIO, way: str) -> numpy.ndarray:
    """The bytes that Pillow takes for the bands where the pixels are said to be stored in this way."""
    if not isinstance(file, Path):
        file.seek(0)
    with opened(file) as image:
        image.tile = [(*image.tile[0][:3], way)]
        return numpy.asarray(image)
