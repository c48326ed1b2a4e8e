"""Pictures as they are sent: PNGs in base64, within the tensors of the Open Inference Protocol."""

import base64
import io

import numpy
from PIL import Image

_PNG = {"content_type": "image/png"}
_LEVELS = 65_534  # grey values between the smallest and the largest number; the next one has no data


def levels(values: numpy.ndarray, smallest: float, largest: float) -> Image.Image:
    """Numbers as 16 bits of grey: 0 is the smallest, 65534 the largest, 65535 has no data."""
    known = numpy.isfinite(values)
    shares = (numpy.where(known, values, smallest).astype(numpy.float64) - smallest) / max(largest - smallest, 1e-30)
    return Image.fromarray(numpy.where(known, numpy.rint(shares * _LEVELS), _LEVELS + 1).astype(numpy.uint16))


def smaller(pixels: numpy.ndarray, side: int) -> numpy.ndarray:
    """Every so many pixels of a picture or an answer, so that it has at most ``side`` a side."""
    step = -(-max(pixels.shape[:2]) // side)
    return pixels[::step, ::step]


def few_colours(drawn: numpy.ndarray) -> Image.Image:
    """A drawing of few colours is small as a file."""
    return Image.fromarray(numpy.ascontiguousarray(drawn)).quantize(256, dither=Image.Dither.NONE)


def pictures(name: str, data: list[str], parameters: dict) -> dict:
    return {"name": name, "datatype": "BYTES", "shape": [len(data)], "parameters": {**_PNG, **parameters}, "data": data}


def png(image: Image.Image) -> str:
    data = io.BytesIO()
    image.save(data, "PNG")
    return base64.b64encode(data.getvalue()).decode()


def hexadecimal(colour: tuple[int, int, int] | None) -> str:
    return "" if colour is None else "#{:02x}{:02x}{:02x}".format(*colour)
