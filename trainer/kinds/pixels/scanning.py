"""One look at every mask before the training: which values it has, whether it fits its picture, and what of the masks cannot be used."""

import concurrent.futures
import math
import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy

from trainer.core.input import Input
from trainer.data import rasters
from trainer.data.checks import Checks
from trainer.errors import UserError, count, left_out, some
from trainer.kinds.pixels import codings, drawn
from trainer.kinds.pixels.masks import alike, blended, coded, naming
from trainer.kinds.pixels.masks.coded import Pair, Scanned
from trainer.kinds.pixels.masks.naming import Named

_LOOKERS = 8  # at a time: each holds a mask
_SAMPLE = 20  # masks that tell whether all are in colours
MOST_ALONE = 0.1  # share of the masks without a picture, from which the names are wrong


def scan(pictures: Sequence[Input], masks: Sequence[Input], measured: bool, checks: Checks, coloured: bool = False) -> Scanned:
    """Look at all masks. ``measured`` masks hold numbers, ``coloured`` ones are known to be in colours. Pairs of other sizes, and files that cannot
    be read, are left out.

    Raises UserError where none is left, or where all masks differ from their pictures by one factor.
    """
    sample = masks[:: max(1, len(masks) // _SAMPLE)]
    colours = coloured or (not measured and any(_safely(codings.in_colours, m.file) for m in sample))
    jpegs = any(_safely(codings.is_jpeg, m.file) for m in masks)
    found = _looked(pictures, masks, colours, measured)
    if not colours and alike.palettes_differ([p for p in found if isinstance(p, Pair)]):
        colours, found = True, _looked(pictures, masks, True, measured)
    pairs = [p for p in found if isinstance(p, Pair)]
    fitting = [p for p in pairs if rasters.size(p.picture.file) == p.size]
    _tell_of_unreadable([f for f in found if isinstance(f, str)], checks)
    _tell_of_sizes([p for p in pairs if p not in fitting], len(fitting), checks)
    if not fitting:
        raise UserError("no_masks", "No mask of the dataset can be read.", "Save the masks as PNG or TIFF files that an ordinary viewer can show.")
    mixed: frozenset[int] = frozenset()
    if not measured and not jpegs:
        mixed = blended.mixtures([p.mask.file for p in fitting], total_of(fitting), codings.packed if colours else codings.grey, colours)
    return Scanned(fitting, colours, jpegs, () if measured or colours else codings.palette(fitting[0].mask.file), mixed=mixed)


def _looked(pictures: Sequence[Input], masks: Sequence[Input], colours: bool, measured: bool) -> list[Pair | str]:
    def look(picture: Input, mask: Input) -> Pair | str:
        return _pair(picture, mask, colours, measured)

    with concurrent.futures.ThreadPoolExecutor(min(_LOOKERS, len(os.sched_getaffinity(0)))) as pool:
        return list(pool.map(look, pictures, masks))


def _safely(look: Callable[[Path], bool], file: Path) -> bool:
    try:
        return look(file)
    except (OSError, ValueError, SyntaxError):
        return False


def _pair(picture: Input, mask: Input, colours: bool, measured: bool) -> Pair | str:
    """The pair as far as it can be read; else the name of the file that cannot be."""
    try:
        rasters.form(picture.file)
    except (OSError, ValueError, SyntaxError):
        return picture.name
    try:
        size = codings.size(mask.file)
        if not measured:
            return Pair(picture, mask, size, codings.counted(mask.file, colours))
        values = codings.numbers(mask.file)
        values = values[numpy.isfinite(values)].astype(numpy.float64)
        return Pair(picture, mask, size, Counter(), (float(len(values)), float(values.sum()), float((values**2).sum())))
    except (OSError, ValueError, SyntaxError):
        return mask.name


def _tell_of_unreadable(names: list[str], checks: Checks) -> None:
    if names:
        checks.warning("masks_unreadable", f"{left_out(len(names), 'picture')}, of which the picture or the mask cannot be read: {some(names, 5)}.")
        checks.drop("the picture or its mask cannot be read", len(names))


def _tell_of_sizes(unfit: list[Pair], fitting: int, checks: Checks) -> None:
    """Leave out pictures whose masks are of another size. Raises UserError where that is so for all."""
    if not unfit:
        return
    first = unfit[0]
    width, height = rasters.size(first.picture.file)
    example = f"{first.picture.name} is {width} x {height} and {first.mask.name} {first.size[0]} x {first.size[1]} pixels"
    if first.size == (height, width) and alike.orientation(first.picture.file) > drawn.UPSIDE:
        example += "; EXIF turns the picture when it is shown, and its mask is of the turned one: save the pictures turned, without EXIF"
    if not fitting:
        raise UserError(
            "mask_sizes", f"No mask has the size of its picture: {example}.",
            "Save pictures and masks in one size. Enlarge or reduce masks by nearest neighbour, which keeps the values of classes.",
        )  # fmt: skip
    names = [p.picture.name for p in unfit]
    checks.warning("mask_sizes", f"{left_out(len(unfit), 'picture')} whose mask has another size: {some(names, 5)}; {example}.")
    checks.drop("the mask has another size than its picture", len(unfit))


def tell_of_those_alone(pictures: Sequence[Input], masks: Sequence[Input], pairs: int, checks: Checks) -> None:
    """Leave out what has no counterpart. Raises UserError where many masks have no picture."""
    if masks and len(masks) > MOST_ALONE * (len(masks) + pairs):
        raise UserError(
            "masks_alone", f"{len(masks)} of {len(masks) + pairs} masks have no picture, for example {some([m.name for m in masks], 3)}.",
            "Give each mask the name of its picture, or remove the masks without pictures.",
            f"Pictures without a mask are {some([p.name for p in pictures], 3)}." if pictures else "",
        )  # fmt: skip
    for code, files, what, other in (("masks_alone", masks, "mask", "a picture"), ("pictures_alone", pictures, "picture", "a mask")):
        if files:
            checks.warning(code, f"{left_out(len(files), what)} without {other}: {some([f.name for f in files], 5)}.")
            checks.drop(f"a {what} without {other}", len(files))


def total_of(pairs: Sequence[Pair]) -> Counter:
    """The pixels of all masks by their value."""
    total: Counter = Counter()
    for pair in pairs:
        total.update(pair.counts)
    return total


def classes(scanned: Scanned, named: Named, checks: Checks) -> tuple[codings.Classes, tuple[str, ...]]:
    """The coding of the masks and the names of its classes, by a file that names them. Raises UserError."""
    total = total_of(scanned.pairs)
    coding = coded.of_colours(total, scanned, checks) if scanned.colours else coded.of_values(total, scanned, named, checks)
    if not named.values:
        alike.check_one_coding(scanned.pairs, coding)
        alike.check_folders(scanned.pairs, coding)
    coding, labels, silent = _without_unlabelled(coding, _labels(coding, named, scanned, checks))
    if len(labels) < 2:
        raise UserError(
            "one_class", f"All pixels of all {count(len(scanned.pairs), 'mask')} are of one class ({labels[0]}), so there is nothing to learn.",
            "Add masks with at least two values, and submit again.", _unknown(coding, total),
        )  # fmt: skip
    form = "colours" if coding.colours else "values"
    listed = some([f"{label} ({total[v] / total.total():.1%})" for label, v in zip(labels, coding.values)], 12)
    unknown = " ".join(filter(None, (_unknown(coding, total), _unlabelled(silent, total))))
    checks.events.decision(
        "mask_classes", list(labels), f"The {form} of the masks are {len(labels)} classes: {listed}.{' ' * bool(unknown)}{unknown}"
    )
    return coding, labels


def _without_unlabelled(coding: codings.Classes, labels: tuple[str, ...]) -> tuple[codings.Classes, tuple[str, ...], dict[str, int]]:
    """The classes without those whose name says that nobody knows what is there, where two others are left; and these with their values."""
    silent = {label: v for label, v in zip(labels, coding.values) if naming.is_no_class(label)}
    known = [(label, v) for label, v in zip(labels, coding.values) if label not in silent]
    if not silent or len(known) < 2:
        return coding, labels, {}
    return replace(coding, values=tuple(v for _, v in known)), tuple(label for label, _ in known), silent


def _unlabelled(silent: dict[str, int], total: Counter) -> str:
    """The sentence about pixels whose class has a name that is none."""
    if not silent:
        return ""
    share = sum(total[v] for v in silent.values()) / total.total()
    return f"{share:.1%} of the pixels are {some(sorted(silent))} by name: those are not learnt. If they are ground, call them background."


def _unknown(coding: codings.Classes, total: Counter) -> str:
    """The sentence about pixels without a class."""
    if coding.nodata is None:
        return ""
    share = total[coding.nodata] / total.total()
    what = "no data of a TIFF" if coding.colours else f"no data of a TIFF or of the value {coding.nodata}"
    return f"{share:.1%} of the pixels are {what}: those have no class and are not learnt."


def _labels(coding: codings.Classes, named: Named, scanned: Scanned, checks: Checks) -> tuple[str, ...]:
    """The names of the classes. Raises UserError where the file of names lacks one."""
    plain = [codings.name(v, coding.values, coding.colours) for v in coding.values]
    labels: tuple[str, ...] = ()
    if named.values and not coding.colours:
        if not named.partial:
            _check_names(coding, named.values, named.file, scanned)
        if named.file and 0 in named.values and min(coding.values) > 0:
            checks.warning(
                "names_from_0",
                f"No mask has the value 0, which {named.file} calls {named.values[0]}. If its first line is about the value 1, write a line for 0 "
                "before it, such as background: else all names are those of the next class.",
            )
        labels = tuple(named.values.get(v) or name for v, name in zip(coding.values, plain))
    elif named.colours and coding.colours:
        labels = tuple(named.colour(v) or name for v, name in zip(coding.values, plain))
    elif named.colours and coding.values[-1] < len(scanned.palette):
        labels = tuple(named.colour(scanned.palette[v]) or name for v, name in zip(coding.values, plain))
    if len(set(labels)) == len(plain) and any(label != name for label, name in zip(labels, plain)):
        return labels
    if named.file:
        what = "values" if named.values else "colours"
        text = f"{named.file} names classes by {what}, and those of the masks are others, so the classes are called {some(plain, 4)}."
        checks.warning("names_unused", f"{text} A line such as ice,255,0,0 names a colour; of values, the first line names 0.")
    return tuple(plain)


def check_learnt(coding: codings.Classes, labels: Sequence[str], train: Sequence[Pair], checks: Checks) -> None:
    """Warn of classes that no mask of the training pictures has. Raises UserError where these have one class alone."""
    held = [label for label, value in zip(labels, coding.values) if any(p.counts[value] for p in train)]
    if len(held) < 2:
        raise UserError(
            "one_class", f"All pixels of the masks of all training pictures are of one class ({held[0] if held else 'none'}).",
            "Put pictures with other classes into the training, too.", f"The masks of all pictures have {len(labels)} classes.",
        )  # fmt: skip
    if lost := [label for label in labels if label not in held]:
        text = f"{some(lost, 6)} do not occur in the masks of the training pictures: the model cannot answer with them, and its scores suffer."
        checks.warning("unknown_labels", text)


def _check_names(coding: codings.Classes, named: dict[int, str], where: str, scanned: Scanned) -> None:
    for value in coding.values:
        if value not in named:
            file, pixels = next((p.mask.name, p.counts[value]) for p in scanned.pairs if p.counts[value])
            raise UserError(
                "unknown_class", f"The value {value} in the masks has no name in {where}: {count(pixels, 'pixel')} of {file} have it.",
                "Add its name, or correct the masks.", f"{where} names {len(named)} classes.",
            )  # fmt: skip


def spread(pairs: Sequence[Pair]) -> tuple[float, float]:
    """Mean and standard deviation of the numbers in the masks of ``pairs``. Raises UserError where they are all equal."""
    number, total, squares = (sum(p.sums[i] for p in pairs) for i in range(3))
    mean = total / number if number else 0.0
    std = math.sqrt(max(0.0, squares / number - mean * mean)) if number else 0.0
    if not std > 0:
        raise UserError(
            "one_value", "The masks of the training pictures have one value everywhere, so there is nothing to learn.", "Add other masks."
        )
    return mean, std
