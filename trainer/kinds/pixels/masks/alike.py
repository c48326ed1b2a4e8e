"""Whether all masks of a dataset say their classes in one way: with one palette, and with one number for one class."""

from collections.abc import Sequence
from pathlib import Path

from trainer.data.checks import Checks
from trainer.errors import UserError, count, some
from trainer.kinds.pixels import codings, drawn

_OBJECT = 1
_TURNS = 8  # the last value of EXIF's orientation
_MANY, _BLOCKS, _BLOCK_SHARE = 10, 4, 0.1  # values of a scene; blocks in which most of them occur, and these as a share of all
_MOSTLY = 0.5  # share of the pixels of masks without a class, from which the user is warned
_SHARE = 0.1  # of the masks, from which 255 may be their object


def palettes_differ(masks: Sequence) -> bool:
    """Whether a place of the palette stands for different colours in different masks (pairs with their ``counts``), while the colours are as few
    as the places: programs that choose a palette for each file order it as they like."""
    seen: dict[int, set[int]] = {}
    for pair in masks:
        if colours := codings.palette(pair.mask.file):
            for value in pair.counts:
                seen.setdefault(value, set()).add(colours[value] if value < len(colours) else -1)
    different = set().union(*seen.values()) if seen else set()
    return any(len(colours) > 1 for colours in seen.values()) and len(different) <= max(2, len(seen))


def check_one_coding(pairs: Sequence, coding: codings.Classes) -> None:
    """Raise UserError where some masks have an object with 1 and others one with 255, or with small values beside masks of two ends."""
    if coding.halved:
        small = [p for p in pairs if not codings.is_jpeg(p.mask.file) and len(p.counts) > 1 and max(p.counts) <= codings.NEAR_EDGE]
        large = [p for p in pairs if p not in small]
    elif coding.nodata == codings.NODATA and coding.values == (0, _OBJECT):
        small = [p for p in pairs if p.counts[_OBJECT]]
        large = [p for p in pairs if p.counts[codings.NODATA]]
        if len(large) < _SHARE * len(pairs) or any(p.counts[_OBJECT] and p.counts[codings.NODATA] for p in pairs):
            return
    else:
        return
    if small and large:
        examples = f"for example {some([p.mask.name for p in small], 2)} and {some([p.mask.name for p in large], 2)}"
        raise UserError(
            "mask_codings",
            f"{len(small)} masks have objects of small values such as 1, and {len(large)} others have the value 255 in their place, {examples}.",
            "Save all masks with one value for the object. If 255 is no data, name the classes 0 and 1 in the lines of a file classes.txt.",
            "No mask has both, so 255 may be the same object or no data.",
        )


def check_folders(pairs: Sequence, coding: codings.Classes) -> None:
    """Raise UserError where the masks of one folder have the classes 0, 1, 2 and so on, and as many in another one begin with 1: programs number
    classes from 0 or from 1, and each value would stand for two of them."""
    values: dict[str, set[int]] = {}
    for pair in pairs:
        values.setdefault(pair.mask.name.rpartition("/")[0], set()).update(v for v in pair.counts if v in coding.values)
    if coding.colours or coding.halved or len(values) < 2:
        return
    number = max(coding.values)
    first = [folder for folder, held in values.items() if held == set(range(number))]
    second = [folder for folder, held in values.items() if held == set(range(1, number + 1))]
    if number > 1 and first and len(first) + len(second) == len(values):
        raise UserError(
            "mask_codings",
            f"The masks in {some(first, 3)} have the values 0 to {number - 1}, and those in {some(second, 3)} 1 to {number}, so the same classes "
            "seem to have other numbers there.",
            "Save all masks with one number for each class. If these are different classes, name all of them in the lines of a file classes.txt, 0 "
            "first.",
        )


def check_blocks(pairs: Sequence, coding: codings.Classes) -> None:
    """Raise UserError where the values of the mask of a scene, in blocks, number its objects: there are many, and each is in one place."""
    numbers = [v for v in coding.values if v]
    if coding.colours or len(numbers) < _MANY or numbers != list(range(1, len(numbers) + 1)):
        return
    places = sorted(sum(v in p.counts for p in pairs) for v in numbers)
    if places[len(places) // 2] <= _BLOCKS < _BLOCK_SHARE * len(pairs):
        raise UserError(
            "mask_numbers",
            f"The mask of the scene has {len(numbers)} values from 1 on, and most of them occur in one place alone, so they seem to number objects.",
            "Save one value for each class. If each value is a class, name all of them in the lines of a file classes.txt, 0 first.",
        )


def tell_of_turned(pairs: Sequence, checks: Checks) -> None:
    """Warn of photos that EXIF turns to the size they are stored in: whether their masks are turned as well, sizes do not say."""
    turned = [p.picture.name for p in pairs if 1 < orientation(p.picture.file) <= (_TURNS if p.size[0] == p.size[1] else drawn.UPSIDE)]
    if turned:
        checks.warning(
            "turned_pictures",
            f"{count(len(turned), 'picture')} are turned or mirrored when they are shown (EXIF): {some(turned, 5)}. Their masks are taken for "
            "those of the pixels as they are stored. If the masks are of the pictures as they are seen, save the pictures turned, without EXIF.",
        )


def orientation(picture: Path) -> int:
    """How EXIF turns a JPEG before it is shown; 1 for not at all, for other formats, which would be decoded for it, and where it cannot be read."""
    try:
        return drawn.orientation(picture) if codings.is_jpeg(picture) else 1
    except (OSError, ValueError, SyntaxError):
        return 1


def tell_of_unlabelled(pairs: Sequence, coding: codings.Classes, checks: Checks) -> None:
    """Warn where most pixels have no class, since what is no class for a program is often the background for people."""
    unknown, pixels = sum(p.counts[coding.nodata] for p in pairs), sum(p.counts.total() for p in pairs)
    if not coding.colours and not coding.halved and coding.nodata is None:
        unknown = pixels - sum(p.counts[v] for p in pairs for v in coding.values)
    if unknown > _MOSTLY * pixels:
        checks.warning(
            "mostly_unlabelled",
            f"{unknown / pixels:.1%} of the pixels of the masks have no class: they are {coding.nodata_in_words}. The model does not "
            "learn what they show, and answers with one of the classes there as well. If they are a class such as the background, give it a value of "
            "its own, and do not declare that value as no data.",
        )
