"""Which coding the values or the colours of all masks have: which of them are classes, and which are none."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy

from trainer.core.input import Input
from trainer.data.checks import Checks
from trainer.errors import UserError, some
from trainer.kinds.pixels import codings
from trainer.kinds.pixels.masks.naming import Named

_ENDS, _LEAST = 0.99, 1e-4  # shares of the pixels that are near 0 or 255, and that must be near each, where masks have two values
_BETWEEN = 8  # values from 64 on that are neither near 0 nor near 255
_MOST_MIXED = 0.05  # share of the pixels that are mixtures of classes, from which masks are refused


@dataclass(frozen=True)
class Pair:
    """A picture with its mask; ``sums`` are the pixels by their value, or of numbers their count, sum and sum of squares."""

    picture: Input
    mask: Input
    size: tuple[int, int]  # width and height
    counts: Counter
    sums: tuple[float, float, float] = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Scanned:
    """The pairs that can be used. ``jpegs`` says that some masks are JPEG files. ``palette`` has the packed colours of the values of masks with a
    palette, and ``nodata`` is the colour of pixels that have no class. ``mixed`` are values between those of classes (see ``blended``)."""

    pairs: list[Pair]
    colours: bool
    jpegs: bool
    palette: Sequence[int] = ()
    nodata: int | None = None
    mixed: frozenset[int] = frozenset()


def of_values(total: Counter, scanned: Scanned, named: Named, checks: Checks) -> codings.Classes:
    two_ends = _has_two_ends(total)
    if scanned.jpegs:
        if not two_ends:
            first = next(p.mask.name for p in scanned.pairs if codings.is_jpeg(p.mask.file))
            raise UserError(
                "masks_jpeg", f"Masks are JPEG files, for example {first}, and JPEG changes the values of classes.",
                "Export the masks as PNG or TIFF.", f"They have {len(total)} different values.",
            )  # fmt: skip
        checks.warning("masks_jpeg", "Masks are JPEG files, which change values: pixels from 128 on count as 255, the others as 0.")
        return codings.Classes((0, 255), halved=True)
    if two_ends and (len(total) > codings.MOST or _is_blended(total)):
        checks.warning("masks_blended", "The masks have values between 0 and 255 at edges: pixels from 128 on count as 255, the others as 0.")
        return codings.Classes((0, 255), halved=True)
    _tell_of_mixtures(sum(total[v] for v in scanned.mixed) / total.total(), sorted(scanned.mixed), checks)
    total = Counter({value: number for value, number in total.items() if value not in scanned.mixed})
    if len(total) > codings.MOST:
        raise UserError(
            "mask_values", f"The masks have {len(total)} different values, which are too many for classes: at most {codings.MOST}.",
            "Save one value for each class. For a number per pixel, such as a height, set task to pixel-regression; where values number the "
            "objects of a picture, set it to instance-segmentation.",
        )  # fmt: skip
    values, below = sorted(v for v in total if v >= 0), [v for v in total if v < 0]
    if len(values) < 2:
        return codings.Classes(tuple(sorted(total)))
    others = [v for v in values if v != codings.NODATA]
    if codings.NODATA in total and codings.NODATA not in named.values and len(others) > 1 and max(others) < codings.MOST:
        return codings.Classes(tuple(others), codings.NODATA)
    return codings.Classes(tuple(values), max(below, key=lambda v: total[v], default=None))


def _has_two_ends(total: Counter) -> bool:
    """Whether nearly all pixels are near 0 or near 255, and some near each."""
    pixels = total.total()
    low = sum(n for v, n in total.items() if v <= codings.NEAR_EDGE) / pixels
    high = sum(n for v, n in total.items() if v >= 255 - codings.NEAR_EDGE) / pixels
    return low + high >= _ENDS and min(low, high) >= _LEAST


def _is_blended(total: Counter) -> bool:
    """Whether there are many values between those of classes and 255, as where masks of two values were scaled."""
    between = [v for v in total if codings.MOST <= v < 255 - codings.NEAR_EDGE]
    return len(between) >= _BETWEEN


def of_colours(total: Counter, scanned: Scanned, checks: Checks) -> codings.Classes:
    """The main colours: no two of them are near each other, and pixels of other colours are few."""
    if scanned.jpegs:
        raise UserError(
            "masks_jpeg", f"The masks are JPEG files in colours, for example {scanned.pairs[0].mask.name}, and JPEG changes colours.",
            "Export the masks as PNG or TIFF.",
        )  # fmt: skip
    nodata = scanned.nodata if scanned.nodata is not None and total[scanned.nodata] else None
    total = Counter({colour: number for colour, number in total.items() if colour != nodata})
    main: list[int] = []
    pixels = total.total()
    for colour, number in total.most_common(4 * codings.MOST):
        if colour in scanned.mixed:
            continue
        near = numpy.abs(codings.unpacked(numpy.asarray(main, numpy.int64)) - codings.unpacked(numpy.asarray(colour))).max(axis=-1) if main else None
        if number >= 1e-4 * pixels and len(main) < codings.MOST and (near is None or near.min() > codings.NEAR_COLOUR):
            main.append(colour)
    coding = codings.Classes(tuple(sorted(main)), nodata, colours=True)
    colours = numpy.asarray(list(total), numpy.int64)
    apart = numpy.min([numpy.abs(codings.unpacked(colours) - codings.unpacked(numpy.asarray(m))).max(axis=1) for m in main], axis=0)
    unlike = sum(total[int(c)] for c in colours[apart > codings.NEAR_COLOUR]) / pixels
    if unlike > _MOST_MIXED:
        raise UserError(
            "masks_blended", f"{unlike:.0%} of the pixels of the masks have a colour between those of classes.",
            "Export the masks without anti-aliasing, and with one colour for each class. Enlarge or reduce masks by nearest neighbour.",
            f"Main ones are {some(map('#{:06x}'.format, main), 6)}.",
        )  # fmt: skip
    if unlike:
        checks.warning("masks_blended", f"{unlike:.2%} of the pixels of the masks have a colour between those of classes; they are not learnt.")
    return coding


def _tell_of_mixtures(share: float, values: Sequence[int], checks: Checks) -> None:
    """Warn of values that are mixtures of others. Raises UserError where many pixels have one."""
    if not values:
        return
    text = f"{share:.2%} of the pixels of the masks have values that occur only at edges, between two others: {some(map(str, values), 6)}"
    if share > _MOST_MIXED:
        raise UserError(
            "masks_blended", f"{text}. The masks seem to be scaled or smoothed, which mixes the values of classes.",
            "Export the masks again with one value for each class. Enlarge or reduce masks by nearest neighbour.",
        )  # fmt: skip
    checks.warning("masks_blended", f"{text}. They are taken for mixtures, as smoothing makes them, and are not learnt.")
