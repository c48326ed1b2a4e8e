"""Pictures and masks beside those that are learnt from: several masks of each picture, and several pictures of each mask."""

import numpy

from trainer.core.input import Input
from trainer.data import rasters
from trainer.data.annotations import masks, numbered
from trainer.data.annotations.masks import Sides
from trainer.data.checks import Checks
from trainer.errors import UserError, count, some
from trainer.kinds.pixels import codings

_MOSTLY = 0.5  # share of the pairs whose picture or mask has a second counterpart


def tell(sides: Sides, images: list[Input], checks: Checks) -> None:
    """Warn of pictures and masks that are not read. Raises UserError where each picture has several masks of two values, one for each class."""
    pictures, truths = ({i.name for i in side} for side in (sides.pictures, sides.masks))
    told: set[str] = set()
    for other in masks.paired(images):
        others = {i.name for i in other.masks}
        seen = {i.name for i in other.pictures}
        if len(seen & pictures) >= _MOSTLY * len(pictures) and not others & (pictures | truths | told):
            if masks.are_masks(other) and not numbered.may_be(other) and _differ(sides, other):
                told |= others
                _tell_of_masks(sides, other, checks)
        elif len(others & truths) >= _MOSTLY * len(truths) and not seen & (pictures | truths | told) and _are_pictures(other):
            told |= seen
            checks.warning(
                "more_pictures",
                f"{count(len(other.pictures), 'further picture')} such as {other.pictures[0].name} have the same masks and are not read: the model "
                f"sees pictures such as {sides.pictures[0].name} alone. If the masks say what differs between two pictures, save both as the "
                "bands of one TIFF.",
            )


def _differ(sides: Sides, other: Sides) -> bool:
    """Whether the second masks of a picture say something else than the first ones, and not the same in other colours."""
    first = {p.name: m for p, m in zip(sides.pictures, sides.masks)}
    for picture, mask in zip(other.pictures, other.masks):
        if picture.name in first:
            try:
                a, b = (codings.packed(m.file) if codings.in_colours(m.file) else codings.grey(m.file) for m in (first[picture.name], mask))
            except (OSError, ValueError, SyntaxError):
                continue
            kinds = [len(numpy.unique(side)) for side in (a, b)]
            if a.shape != b.shape or len(numpy.unique(numpy.stack([a.ravel(), b.ravel()]), axis=1).T) > max(kinds):
                return True
    return False


def _tell_of_masks(sides: Sides, other: Sides, checks: Checks) -> None:
    example = f"{sides.pictures[0].name} has {sides.masks[0].name} and {other.masks[0].name}"
    if masks.two_valued([m.file for m in sides.masks]) and masks.two_valued([m.file for m in other.masks]):
        raise UserError(
            "several_masks", f"Each picture has several masks of two values: {example}.",
            "Join them: save one mask for each picture, with one value for each class. Or remove the masks that are not meant.",
            "A model from one of them would take the classes of the others for background.",
        )  # fmt: skip
    more = some([m.name for m in other.masks], 3)
    checks.warning("more_masks", f"The pictures have further masks, which say something else and are not read: {example}. Not read: {more}.")


def _are_pictures(other: Sides) -> bool:
    look = masks.look(other.pictures[0].file)
    try:
        return look is not None and not look.is_few and look.size == rasters.size(other.masks[0].file)
    except (OSError, ValueError, SyntaxError):
        return False
