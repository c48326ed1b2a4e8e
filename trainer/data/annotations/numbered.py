"""Masks that number the objects of each picture: 1, 2, 3 and so on, one number for each object, as programs for microscopes save them."""

import functools
from dataclasses import dataclass
from pathlib import Path

import numpy

from trainer.core.input import Input
from trainer.data import rasters
from trainer.data.annotations import masks, sniff
from trainer.data.annotations.held import Annotations
from trainer.data.annotations.masks import Sides
from trainer.data.images import opened
from trainer.data.sources import Sources

FORMAT = "numbers of objects in masks"
OBJECT = "object"
_SAMPLE = 8  # masks that are looked at
_PIXELS = 40_000_000  # of a mask that is looked at
_ALIKE = 0.9  # share of the sample for which something holds
_WHOLE = 0.9  # share of the numbers of a mask that are one piece each
_DIFFERENT, _SEVERAL, _MANY = 3, 4, 10  # different counts of objects; objects in the fullest mask that may, and that must be numbers of objects
_KEPT = 10_000  # looks
_BORDER = 255  # between objects, where that is not their number


@dataclass(frozen=True)
class Numbers:
    """What a mask says when its values are taken for numbers of objects. ``whole`` ones go from 1 to ``objects``, each nearly in one piece."""

    size: tuple[int, int]  # width and height
    objects: int
    whole: bool


def find(found: Sources, asked: bool = False) -> Annotations | None:
    """Masks whose values must be numbers of objects, or with ``asked`` can be; None where there are none."""
    sides = sides_of(found.images)
    if sides is None or not (asked or are_many(sides)):
        return None
    return Annotations(FORMAT, tuple(m.name for m in sides.masks), classes=(OBJECT,))


def sides_of(images: list[Input]) -> Sides | None:
    """Pictures and masks that may number their objects, among ``images``; None where there are none."""
    return next((sides for sides in masks.paired(images) if may_be(sides)), None)


def may_be(sides: Sides) -> bool:
    """Whether the values of the masks may be numbers of objects: each is in one piece, and every picture has others from 1 on."""
    sample = sniff.spread(sides.masks, _SAMPLE)
    first = _look(sides.masks[0])
    whole = [s for m in sample if first is not None and (s := _look(m)) is not None and s.whole]
    counts = {s.objects for s in whole}
    if first is None or not whole or len(whole) < _ALIKE * len(sample):
        return False
    if max(counts) < _SEVERAL or len(counts) < (2 if max(counts) >= _MANY else _DIFFERENT):
        return False
    picture = masks.look(sides.pictures[0].file)
    return picture is not None and not picture.is_few and picture.size == first.size


def are_many(sides: Sides) -> bool:
    """Whether so many numbers, which differ from picture to picture, can be no classes; for sides that ``may_be``."""
    return max((s.objects for m in sniff.spread(sides.masks, _SAMPLE) if (s := _look(m)) is not None), default=0) >= _MANY


def values(file: Path) -> numpy.ndarray:
    """The numbers of a mask (height x width), 0 for no object. Raises OSError or ValueError where it has several bands, or fractions."""
    form = rasters.form(file)
    if form.bands != 1 or numpy.dtype(form.dtype).kind not in "iu":
        raise ValueError("it is no mask of one whole number for each pixel")
    if not rasters.is_tiff(file) and form.plain:
        with opened(file) as image:
            pixels = numpy.asarray(image)
    else:
        pixels = rasters.values(file)[0][..., 0]
    found = numpy.unique(pixels)
    border = len(found) > 1 and found[-1] == _BORDER and found[-2] < _BORDER - 1  # as in Pascal VOC
    return numpy.where(pixels == _BORDER, 0, pixels) if border else pixels


def _look(mask: Input) -> Numbers | None:
    try:
        stat = mask.file.stat()
        return _looked(mask.file, stat.st_size, stat.st_mtime_ns)
    except Exception:  # damaged files are told of later
        return None


@functools.lru_cache(_KEPT)
def _looked(file: Path, length: int, changed: int) -> Numbers | None:
    """``length`` and ``changed`` tell whether the file is still the one that was looked at."""
    from skimage import measure

    width, height = rasters.size(file)
    if width * height > _PIXELS:
        return None
    pixels = values(file)
    found = numpy.unique(pixels[pixels != 0])
    if not len(found) or int(found[-1]) != len(found) or len(found) > width * height // 4:
        return Numbers((width, height), len(found), not len(found))
    pieces = int(measure.label(pixels, background=0, connectivity=2).max())
    return Numbers((width, height), len(found), len(found) >= _WHOLE * pieces)
