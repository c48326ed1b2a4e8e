"""Masks: pictures of a few values that pair with other pictures, in a folder of their own or beside them, or named in a table."""

import collections
import functools
import itertools
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy

from trainer.core.input import Input
from trainer.data import names, rasters
from trainer.data.annotations import sniff
from trainer.data.images import opened

_PAIRED = 0.9  # share of the smaller side that belongs to a picture of the other
_ALIKE = 0.9  # share of a sample for which something holds
FEW = 3  # pairs
_VALUES = 64  # of a mask
_FOLDERS, _LEVELS = 12, 4  # names in a level of folders that are compared with each other, and levels
_NEAR = 16  # of 0 or 255, in a mask that was saved as JPEG
_SUFFIXES = 8  # of names in one folder that are tried
_NUMBER = re.compile(r"\d+")
_SIDE = 512  # pixels of a side that are looked at, from all over it
_LOOKS = 10_000  # that are kept: the same pictures are looked at as either side of a pair


@dataclass(frozen=True)
class Sides:
    """Two lists of pictures that pair one to one by their names, and those of either side that have no counterpart."""

    pictures: list[Input]
    masks: list[Input]
    pictures_alone: list[Input]
    masks_alone: list[Input]

    def turned(self) -> "Sides":
        """The same with the sides in the place of each other."""
        return Sides(self.masks, self.pictures, self.masks_alone, self.pictures_alone)


def find(images: list[Input]) -> Sides | None:
    """Pictures and their masks among ``images``; None where there are none. Pictures pair by their names, and their values decide which of them
    are masks. A picture may have few masks beside it: not all of a set need be annotated."""
    return next((sides for sides in paired(images) if are_masks(sides)), None)


def are_masks(sides: Sides) -> bool:
    """Whether the values of a sample say that the second side has masks of the first."""
    return _are_masks(sides.pictures, sides.masks)


def paired(images: list[Input]) -> Iterator[Sides]:
    """All ways in which the names pair ``images`` in two sides, each in both directions."""
    for sides in itertools.chain(_in_folders(images), _by_endings(images)):
        yield sides
        yield sides.turned()


def _in_folders(images: list[Input]):
    """Pairs of folders at one level of the names, whose other folders are the same."""
    split = [(i, i.name.split("/")[:-1]) for i in images]
    for level in range(min(_LEVELS, max((len(parts) for _, parts in split), default=0))):
        by_name: dict[str, list[tuple[Input, list[str]]]] = collections.defaultdict(list)
        for image, parts in split:
            if len(parts) > level:
                by_name[parts[level]].append((image, parts[:level] + parts[level + 1 :]))
        names = sorted(by_name)
        for a in names if len(names) <= _FOLDERS else ():
            for b in names[names.index(a) + 1 :]:
                if sides := _paired(by_name[a], by_name[b]):
                    yield sides


def _paired(a: list[tuple[Input, list[str]]], b: list[tuple[Input, list[str]]]) -> Sides | None:
    """The pairs of two folders: by equal stems, by stems without what all of a folder have in common, or by the only number in them."""
    if min(len(a), len(b)) < FEW:
        return None
    for key in (_stems, _bare_stems, _numbers):
        keys_a, keys_b = key(a), key(b)
        common = [k for k in keys_a if k in keys_b] if keys_a and keys_b else []
        if len(common) >= max(FEW, _PAIRED * min(len(a), len(b))):
            alone = [[i for k, i in keys.items() if k not in others] for keys, others in ((keys_a, keys_b), (keys_b, keys_a))]
            return Sides([keys_a[k] for k in common], [keys_b[k] for k in common], *alone)
    return None


def _stems(side: list[tuple[Input, list[str]]]) -> dict[tuple, Input]:
    return {(*parts, names.stem(i.name)): i for i, parts in side}


def _bare_stems(side: list[tuple[Input, list[str]]]) -> dict[tuple, Input]:
    stems = [names.stem(i.name) for i, _ in side]
    start = _common(stems)
    end = _common([s[start:][::-1] for s in stems])
    found = {(*parts, s[start : len(s) - end]): i for (i, parts), s in zip(side, stems)}
    return found if len(found) == len(side) else {}


def _common(names: list[str]) -> int:
    """The length of the beginning that all ``names`` share, without digits at its end."""
    first, last = min(names), max(names)
    length = next((i for i, (a, b) in enumerate(zip(first, last)) if a != b), min(len(first), len(last)))
    return len(first[:length].rstrip("0123456789"))


def _numbers(side: list[tuple[Input, list[str]]]) -> dict[tuple, Input]:
    numbers = [_NUMBER.findall(names.stem(i.name)) for i, _ in side]
    found = {(*parts, int(n[0])): i for (i, parts), n in zip(side, numbers) if len(n) == 1}
    return found if len(found) == len(side) else {}


def _by_endings(images: list[Input]):
    """Pictures beside others in one folder: x_mask.png beside x.png, or x.png beside x.jpg."""
    by_stem: dict[tuple[str, str], list[Input]] = collections.defaultdict(list)
    for image in images:
        by_stem[(image.name.rpartition("/")[0], names.stem(image.name))].append(image)
    twins = [sorted(same, key=lambda i: i.name) for same in by_stem.values() if len(same) == 2]
    if len(twins) >= max(FEW, _PAIRED * len(by_stem)):
        alone = [i for same in by_stem.values() if len(same) != 2 for i in same]
        yield Sides([t[0] for t in twins], [t[1] for t in twins], alone, [])
    endings: dict[str, list[tuple[Input, Input]]] = collections.defaultdict(list)
    for (folder, stem), same in by_stem.items():
        for cut in [m.start() for m in re.finditer(r"[_. -]", stem)][-2:]:
            if other := by_stem.get((folder, stem[:cut])):
                endings[stem[cut:]].append((other[0], same[0]))
    for ending, pairs in sorted(endings.items(), key=lambda e: -len(e[1]))[:_SUFFIXES]:
        if len(pairs) >= FEW and not ending[1:].isdecimal():
            used = {i.file for pair in pairs for i in pair}
            alone = [i for i in images if i.file not in used]
            masks = [i for i in alone if names.stem(i.name).endswith(ending)]
            yield Sides([p for p, _ in pairs], [m for _, m in pairs], [i for i in alone if i not in masks], masks)


def _are_masks(pictures: list[Input], masks: list[Input]) -> bool:
    """Whether the second side has a few values in each picture, the first has not, and both are of the same size, in a sample."""
    pairs = sniff.spread(list(zip(pictures, masks)))
    sizes: dict[int, tuple[int, int]] = {}

    def is_mask(number: int) -> bool | None:
        if (seen := look(pairs[number][1].file)) is None:
            return None
        sizes[number] = seen.size
        return seen.is_few

    def is_picture(number: int) -> bool | None:
        if (seen := look(pairs[number][0].file)) is None or number not in sizes:
            return None
        return not seen.is_few and seen.size == sizes[number]

    return _mostly(is_mask, len(pairs)) and _mostly(is_picture, len(pairs))


def _mostly(holds: Callable[[int], bool | None], count: int) -> bool:
    """Whether it holds for most of the first ``count`` numbers. The first few tell where it does not, since every look takes a while. Files that
    cannot be read, for which it is None, say nothing, as long as there are others."""
    failures = unknown = 0
    for number in range(count):
        held = holds(number)
        unknown += held is None
        failures += held is False
        if failures > (1 - _ALIKE) * count:
            return False
    return 2 * unknown < count


@dataclass(frozen=True)
class Look:
    """What the pixels of a picture tell. ``values`` counts the different colours up to a limit, ``is_few`` says that they can be classes, and
    ``is_extreme`` that nearly all are near black or white, as those of a mask of two values that was saved as JPEG.

    ``covered`` is the share of the pixels that have one of the most frequent colours, as many as there can be classes.
    """

    size: tuple[int, int]
    values: int
    is_few: bool
    covered: float
    is_extreme: bool


def look(file: Path) -> Look | None:
    """The size of a picture and its different values, from a part of its pixels; None where it cannot be read."""
    try:
        stat = file.stat()
        return _look(file, stat.st_size, stat.st_mtime_ns)
    except Exception:  # damaged files are told of later
        return None


@functools.lru_cache(_LOOKS)
def _look(file: Path, length: int, changed: int) -> Look:
    """As ``look``; ``length`` and ``changed`` tell whether the file is still the one that was looked at."""
    size, pixels = _pixels(file)
    down, across = (-(-side // _SIDE) for side in pixels.shape[:2])
    part = pixels[::down, ::across]
    colours = _colours(part)
    extreme = bool(part.dtype == numpy.uint8 and numpy.mean((part <= _NEAR) | (part >= 255 - _NEAR)) >= 0.99)
    few = colours <= _VALUES and (part.dtype.kind in "iub" or bool((part == numpy.round(part)).all()))
    extreme = extreme and bool(numpy.ptp(part) > 255 - 2 * _NEAR)
    return Look(size, colours, few or extreme, 1.0 if colours <= _VALUES else _covered(part), extreme)


def _covered(part: numpy.ndarray) -> float:
    """The share of the pixels with one of the most frequent colours."""
    _, counts = numpy.unique(part.reshape(-1, part.shape[2]), axis=0, return_counts=True)
    return float(numpy.sort(counts)[-_VALUES:].sum() / counts.sum())


def _colours(part: numpy.ndarray) -> int:
    """How many different colours there are; where they are more than can be classes, any number above."""
    packed = numpy.zeros(part.shape[:2], numpy.int64)
    number = 1
    for band in range(part.shape[2]):
        values, place = numpy.unique(part[..., band], return_inverse=True)
        different, packed = numpy.unique(packed * len(values) + place.reshape(packed.shape), return_inverse=True)
        packed, number = packed.reshape(part.shape[:2]), len(different)
        if number > _VALUES:
            break
    return number


def _pixels(file: Path) -> tuple[tuple[int, int], numpy.ndarray]:
    """The size of a picture, and its values; those of a JPEG at a part of its size."""
    if not rasters.is_tiff(file) and rasters.form(file).plain:
        with opened(file) as image:
            size = image.size
            image.draft("", (_SIDE, _SIDE))  # of a JPEG; others stay as they are
            pixels = numpy.asarray(image)
        return size, pixels.reshape(*pixels.shape[:2], -1)
    pixels, _ = rasters.values(file)
    return (pixels.shape[1], pixels.shape[0]), pixels


def two_valued(files: list[Path]) -> bool:
    """Whether a sample of pictures has only two values in each."""
    two = False
    sample = sniff.spread(files)
    for file in sample:
        seen = look(file)
        if seen is None or seen.values > 2:
            return False
        two = two or seen.values == 2
    return two and len(sample) >= FEW
