"""Masks in the alpha channel of their pictures: opaque is the object, clear is not. Read where the user says that there are masks."""

from dataclasses import dataclass
from pathlib import Path

import numpy
from PIL import Image

from trainer.core.input import Input
from trainer.data import rasters
from trainer.data.annotations import sniff
from trainer.data.annotations.masks import FEW, Sides
from trainer.data.images import opened
from trainer.errors import UserError

FOLDER = "alpha"  # in the folder of a start: pictures and masks apart
_MOSTLY = 0.9  # share of a sample whose alpha is a mask
_ERASED = 8  # colours under clear pixels, up to which the picture was erased there
_CLEAR, _OPAQUE = 0, 255


@dataclass(frozen=True)
class _Look:
    """``masked`` says that all pixels are either clear or opaque, ``both`` that there are some of each; ``hidden`` counts the colours under clear
    ones."""

    masked: bool
    both: bool
    hidden: int


def find(images: list[Input]) -> Sides | None:
    """The pictures, each as its own mask; None where the alpha channels are no masks. Raises UserError where the pictures are erased outside of their
    objects."""
    sample = [(i, seen) for i in sniff.spread(images) if (seen := _look(i)) is not None]
    both = [(i, seen) for i, seen in sample if seen.both]
    if len(both) < FEW or sum(seen.masked for _, seen in sample) < _MOSTLY * len(sniff.spread(images)):
        return None
    if 2 * sum(seen.hidden <= _ERASED for _, seen in both) > len(both):
        raise UserError(
            "alpha_erased",
            f"The pictures, such as {both[0][0].name}, have an alpha channel that may be a mask, but they are erased where they are clear: what is "
            "beside the objects cannot be learnt, and a model would learn the colour that was put there.",
            "Add the pictures as they were taken, and the masks as files of their own, for example images/a.png and masks/a.png.",
        )
    masked = [(look := _look(i)) is not None and look.masked for i in images]
    pictures = [i for i, has in zip(images, masked) if has]
    return Sides(pictures, pictures, [i for i, has in zip(images, masked) if not has], [])


def _look(image: Input) -> _Look | None:
    """What the alpha channel of a picture says; None where there is none, and where it cannot be read."""
    try:
        if not rasters.form(image.file).plain:
            return None
        with opened(image.file) as picture:
            if picture.mode not in ("RGBA", "LA"):
                return None
            pixels = numpy.asarray(picture)
    except (OSError, ValueError, SyntaxError):
        return None
    clear = pixels[..., -1] == _CLEAR
    masked = bool((clear | (pixels[..., -1] == _OPAQUE)).all())
    hidden = pixels[clear][:: max(1, int(clear.sum()) // 10_000), :-1]
    return _Look(masked, bool(clear.any() and not clear.all()), len(numpy.unique(hidden, axis=0)))


def apart(sides: Sides, folder: Path) -> Sides:
    """The same with pictures without alpha, and with masks, in files in ``folder``. Raises OSError where one cannot be written."""
    folder.mkdir(parents=True, exist_ok=True)
    pictures: list[Input] = []
    masks: list[Input] = []
    for number, source in enumerate(sides.pictures):
        files = folder / f"{number}.png", folder / f"{number}-mask.png"
        with opened(source.file) as picture:
            picture.convert("RGB").save(files[0], compress_level=1)
            Image.fromarray(numpy.asarray(picture)[..., -1]).save(files[1], compress_level=1)
        for listed, file, name in zip((pictures, masks), files, (source.name, f"the alpha channel of {source.name}")):
            listed.append(Input(name, file, file.stat().st_size, ""))
    return Sides(pictures, masks, sides.pictures_alone, [])
