"""A picture without each of its squares: they are grey."""

import io
import math
from dataclasses import replace

from PIL import Image, ImageOps

from trainer.core.contract.answering import Less
from trainer.core.example import Example
from trainer.data.images import opened

_SIDE = 256  # pixels: a larger picture is made smaller first, and compared as such
_MOST = 7  # squares side by side
_PLAIN = ("1", "L", "P", "RGB")  # forms of pictures that stay what they are when they are written again
_GREY = 128


def squares(example: Example, most: int) -> tuple[Example, list[Less]]:
    """The picture at the size at which it is compared, and without each square of a grid of at most ``most``; without squares for pictures of more
    than eight bits or with other bands. Raises UserError or OSError for a file that is no picture."""
    with opened(example.content) as image:
        if image.mode not in _PLAIN or "transparency" in image.info:
            return example, []
        upright = ImageOps.exif_transpose(image)
        plain = upright.convert("L" if upright.mode in ("1", "L") else "RGB")
    plain.thumbnail((_SIDE, _SIDE))
    count = max(1, min(_MOST, math.isqrt(most), *plain.size))
    found = []
    for row in range(count):
        for column in range(count):
            left, right = (round(place * plain.width / count) for place in (column, column + 1))
            top, bottom = (round(place * plain.height / count) for place in (row, row + 1))
            less = plain.copy()
            less.paste(_GREY if plain.mode == "L" else (_GREY,) * 3, (left, top, right, bottom))
            box = (left / plain.width, top / plain.height, (right - left) / plain.width, (bottom - top) / plain.height)
            found.append(Less(f"row {row + 1}, column {column + 1}", _written(example, less), box))
    return _written(example, plain), found


def _written(example: Example, picture: Image.Image) -> Example:
    content = io.BytesIO()
    picture.save(content, "PNG")
    content.seek(0)
    return replace(example, content=content)
