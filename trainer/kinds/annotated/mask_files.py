"""Several masks of two values for each picture: each is the outline of one object, or of all places of one class."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy

from trainer.core.input import Input
from trainer.data import rasters
from trainer.data.annotations import mask_files, shifted
from trainer.data.annotations.mask_files import CLASSES, EITHER, OBJECTS, Masks
from trainer.data.images import opened
from trainer.errors import UserError, count, some
from trainer.kinds.annotated import limits, matching, runs
from trainer.kinds.annotated.shapes import Drawn, LeftOut, Listed

BY_NUMBER = "a mask belongs to the picture with the same number, since their names have nothing else in common"
ABSENT = "a class has no mask for a picture, which is taken for one without that class"
_ALONE = 0.1  # share of the masks without a picture, from which the names are wrong
_ALIKE = 0.8  # intersection over union of two masks, from which they show the same object
_TWICE = 0.1  # share of the masks of objects that show the same as another, from which they are no masks of objects
_HALF, _NEAR = 128, 16  # of masks that were saved as JPEG


def read(images: list[Input], form: str, left: LeftOut, changed: LeftOut) -> tuple[list[Listed], Masks]:
    """The pictures with what their masks show, as masks of ``form``. A picture of which a mask is not to be used is left out, since nobody knows what
    is in it. Raises UserError."""
    held = mask_files.of(images)
    assert held is not None  # the look found it
    _check_alone(held)
    if held.form == EITHER and form == OBJECTS:
        held = replace(held, pictures=[(p, [(mask_files.kind(word), m) for word, m in listed]) for p, listed in held.pictures])
    if held.by_number:
        _check_numbers(held, images)
        for picture, listed in held.pictures:
            changed.add(BY_NUMBER, f"{listed[0][1].name} ({picture.name})", len(listed))
    elif form == CLASSES:
        pairs = [(picture, mask) for picture, listed in held.pictures for _, mask in listed]
        shifted.check(_not(images, held.files), _masks(held), pairs)
    read = {picture.name: _picture(picture, listed, form, left) for picture, listed in held.pictures}
    pictures = {name: one for name, one in read.items() if one is not None}
    if not pictures:
        raise _nothing(held)
    for mask in held.alone:
        left.add("a mask has no picture", mask.name)
    if form == CLASSES:
        pictures = _whole(pictures, left, changed)
    else:
        _check_twice(held, sum(one.twice for one in pictures.values()))
    return [Listed((name,), one.drawn, float(one.size[0]), float(one.size[1])) for name, one in pictures.items()], held


@dataclass(frozen=True)
class _Read:
    """What the masks of a picture show, without those that show nothing. ``words`` are the classes of all masks, ``twice`` counts those that show
    the same object as another."""

    drawn: list[Drawn]
    words: frozenset[str]
    size: tuple[int, int]  # width and height
    twice: int = 0

    @property
    def empty(self) -> frozenset[str]:
        """The classes of which no mask shows anything."""
        return self.words - {d.label for d in self.drawn}


def _picture(picture: Input, listed: list[tuple[str, Input]], form: str, left: LeftOut) -> _Read | None:
    """What the masks of a picture show; None where one of them is not to be used."""
    try:
        sizes = {rasters.size(picture.file), matching.upright_size(picture.file)}
    except (OSError, ValueError, SyntaxError):
        left.add("the picture cannot be read", picture.name)
        return None
    inside: list[tuple[str, numpy.ndarray]] = []
    found: set[tuple[int, int]] = set()
    for word, mask in listed:
        try:
            values = _inside(mask)
        except (OSError, ValueError, SyntaxError):
            left.add("a mask cannot be read, or has more than two values, so that its picture is left out", mask.name)
            return None
        found.add((values.shape[1], values.shape[0]))
        if found - sizes or len(found) > 1:
            left.add("a mask has another size than its picture, which is left out", mask.name)
            return None
        if values.any():
            inside.append((word, values))
        elif form != CLASSES:
            left.add("the mask is empty", mask.name)
    kept = inside if form == CLASSES else _different(picture.name, inside, left)
    drawn = [Drawn(word, runs=runs.of_mask(mask)) for word, mask in kept]
    return _Read(drawn, frozenset(word for word, _ in listed), next(iter(found)), len(inside) - len(kept))


def _inside(mask: Input) -> numpy.ndarray:
    """Where a mask is not black (height x width, bool). Raises OSError or ValueError where it has other values than 0 and one more."""
    form = rasters.form(mask.file)
    if not rasters.is_tiff(mask.file) and form.plain:
        with opened(mask.file) as image:
            jpeg = image.format == "JPEG"
            pixels = numpy.asarray(image)  # of a palette, these are its places
            if image.mode in ("RGBA", "LA"):
                pixels = pixels[..., :-1] * (pixels[..., -1:] > 0)  # what is clear is outside
    else:
        jpeg, pixels = False, rasters.values(mask.file)[0]
    if pixels.shape[0] * pixels.shape[1] > limits.PIXELS:
        raise ValueError("it is too large")
    grey = pixels.max(axis=2) if pixels.ndim == 3 else pixels
    if jpeg:
        if numpy.mean((grey <= _NEAR) | (grey >= 255 - _NEAR)) < 0.99:
            raise ValueError("it is a JPEG of other values than black and white")
        return grey >= _HALF
    values = numpy.unique(grey[grey != 0])
    if len(values) > 1 or (grey.dtype.kind == "f" and not numpy.isfinite(values).all()):
        raise ValueError("it has other values than 0 and one more")
    return grey != 0


def _whole(pictures: dict[str, _Read], left: LeftOut, changed: LeftOut) -> dict[str, _Read]:
    """The pictures of which each class is known. A class of which some masks are empty has one for each picture, so one that lacks was lost; a class
    whose masks all show something has one where it occurs."""
    every = frozenset[str]().union(*(one.words for one in pictures.values()))
    always = {word for one in pictures.values() for word in one.empty}
    kept = {}
    for name, one in pictures.items():
        missing = every - one.words
        if missing & always:
            left.add("a picture lacks a mask of a class whose masks are otherwise there, also where they are empty", name)
            continue
        if missing:
            changed.add(ABSENT, name)
        kept[name] = one
    return kept


def _different(name: str, inside: list[tuple[str, numpy.ndarray]], left: LeftOut) -> list[tuple[str, numpy.ndarray]]:
    """The objects of a picture, each once."""
    kept: list[tuple[str, numpy.ndarray]] = []
    for word, mask in inside:
        if not kept:
            latest = numpy.zeros(mask.shape, numpy.int64)  # the last one of ``kept`` that a pixel is in, from 1
        shared = numpy.bincount(latest[mask], minlength=1)
        shared[0] = 0
        other = int(shared.argmax())
        if shared[other] > _ALIKE * (mask.sum() + kept[other - 1][1].sum() - shared[other] if other else 0):
            left.add("two masks show the same object", name)
            continue
        kept.append((word, mask))
        latest[mask] = len(kept)
    return kept


def _check_alone(held: Masks) -> None:
    number = len(held.files)
    if len(held.alone) > _ALONE * number:
        raise UserError(
            "masks_alone", f"{len(held.alone)} of {number} masks have no picture, for example {some([m.name for m in held.alone], 3)}.",
            "Give each mask, or its folder, the name of its picture, or remove the masks without pictures.",
            f"Others belong to pictures, such as {held.pictures[0][1][0][1].name} to {held.pictures[0][0].name}.",
        )  # fmt: skip


def _masks(held: Masks) -> list[Input]:
    return [*(mask for _, listed in held.pictures for _, mask in listed), *held.alone]


def _not(images: list[Input], files: Iterable[str]) -> list[Input]:
    """The ``images`` without those with these names."""
    without = frozenset(files)
    return [i for i in images if i.name not in without]


def _check_numbers(held: Masks, images: list[Input]) -> None:
    """Raise UserError where masks that pair by numbers alone do not pair one to one: they may be counted from elsewhere, or be those of others."""
    folders = {picture.name.rpartition("/")[0] for picture, _ in held.pictures}
    masked = {picture.name for picture, _ in held.pictures}
    bare = [i for i in _not(images, held.files) if i.name.rpartition("/")[0] in folders and i.name not in masked]
    if bare or held.alone:
        picture, listed = held.pictures[0]
        raise UserError(
            "masks_unclear",
            f"Masks such as {listed[0][1].name} have nothing but a number in common with pictures such as {picture.name}, and the numbers are not "
            f"the same ones: {count(len(bare), 'picture')} and {count(len(held.alone), 'mask')} have no counterpart, for example "
            f"{some([i.name for i in (*bare, *held.alone)], 3)}. So a mask may be that of another picture.",
            "Give each mask the name of its picture, such as images/a.png and masks/water/a.png.",
        )  # fmt: skip


def _check_twice(held: Masks, twice: int) -> None:
    if twice > _TWICE * len(held.files):
        raise UserError(
            "masks_alike", f"{twice} of {len(held.files)} masks show the same as another mask of their picture, so they are not those of single "
            f"objects, for example those of {held.pictures[0][0].name}.",
            "Save one mask for each object, black outside of it. If each mask is a class, call all masks of a class alike, and set task to "
            "image-segmentation.",
        )  # fmt: skip


def _nothing(held: Masks) -> UserError:
    picture, listed = held.pictures[0]
    try:
        (width, height), (w, h) = rasters.size(picture.file), rasters.size(listed[0][1].file)
        example = f"{picture.name} is {width} x {height} and {listed[0][1].name} {w} x {h} pixels"
    except (OSError, ValueError, SyntaxError):
        example = f"those of {picture.name} cannot be read"
    return UserError(
        "mask_sizes", f"No picture has masks that can be used: {example}.",
        "Save pictures and masks in one size, and masks with 0 and one other value. Enlarge or reduce masks by nearest neighbour.",
    )  # fmt: skip
