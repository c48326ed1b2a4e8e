"""Images in results: thumbnails, and whole files to try the model with."""

import base64
import io

from PIL import ImageOps

from trainer.core.example import Example
from trainer.data.images import opened
from trainer.run_folder import files

SIDE = 64  # pixels of a thumbnail
THUMBNAIL_BYTES = 24_000
INPUT_BYTES = 64_000  # of an image to try: a larger one is left out, since a smaller copy could get another answer


def thumbnail(example: Example) -> str | None:
    """A small PNG in base64; None where even that is large or the file cannot be read again."""
    try:
        with opened(example.content) as image:
            upright = ImageOps.exif_transpose(image).convert("RGB")
            upright.thumbnail((SIDE, SIDE))
            data = io.BytesIO()
            upright.save(data, "PNG", optimize=True)
    except (OSError, ValueError):
        return None
    return base64.b64encode(data.getvalue()).decode() if data.tell() <= THUMBNAIL_BYTES else None


def inputs(example: Example) -> dict[str, str] | None:
    """The file as it is, in base64."""
    try:
        return {"image": base64.b64encode(files.read_bytes(example.content, INPUT_BYTES)).decode()}
    except (OSError, ValueError):
        return None
