"""What an example of this kind holds."""

from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from trainer.kinds.pixels import codings
from trainer.kinds.pixels.drawn import Drawing

CLASSES, NUMBERS = "image-segmentation", "pixel-regression"
MASK = "mask"  # among the types of a model: what its masks hold


@dataclass(frozen=True)
class Pixels:
    """The content of an example: a picture, in a request its bytes, and its mask or drawing if there is one, with how it is read."""

    picture: Path | BinaryIO
    mask: Path | Drawing | None = None
    coding: codings.Classes | codings.Numbers | None = None
