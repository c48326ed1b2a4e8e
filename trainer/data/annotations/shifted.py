"""Masks whose numbers begin elsewhere than those of their pictures, as where one program counts from 0 and another one from 1."""

import collections
import re
from collections.abc import Iterable

from trainer.core.input import Input
from trainer.data import names
from trainer.errors import UserError

_NUMBER = re.compile(r"(\d+)\D*$")  # the last one of a name


def check(pictures: Iterable[Input], masks: Iterable[Input], pairs: Iterable[tuple[Input, Input]]) -> None:
    """Raise UserError where a folder has as many pictures as another one has masks, and all numbers of these differ by the same from those of the
    pictures: ``pairs`` of equal numbers would then be those of neighbours. The other arguments are all files, also those that pair with none."""
    folders = dict.fromkeys((_folder(picture), _folder(mask)) for picture, mask in pairs)
    sides = [_by_folder(side) for side in (pictures, masks)]
    for of_pictures, of_masks in folders:
        first, second = (side[folder] for side, folder in zip(sides, (of_pictures, of_masks)))
        if shift := _shift(first, second):
            a, b = (min(side, key=_last) for side in (first, second))
            raise UserError(
                "masks_shifted",
                f"There are {len(first)} pictures and as many masks, but the pictures are numbered from {_last(a)} on ({a.name}) and the masks from "
                f"{_last(b)} on ({b.name}). By their names, each mask would belong to another picture than by its place in the list.",
                "Give each mask the name of its picture. If the names are right, remove the pictures without a mask and the masks without a picture.",
                f"The numbers differ by {abs(shift)}.",
            )


def _folder(file: Input) -> str:
    return file.name.rpartition("/")[0]


def _by_folder(files: Iterable[Input]) -> dict[str, list[Input]]:
    found: dict[str, list[Input]] = collections.defaultdict(list)
    for file in files:
        found[_folder(file)].append(file)
    return found


def _last(file: Input) -> int:
    """The last number in the name of a file; -1 without one."""
    found = _NUMBER.search(names.stem(file.name))
    return int(found[1]) if found else -1


def _shift(pictures: list[Input], masks: list[Input]) -> int:
    """By how much the numbers of ``masks`` are larger than those of as many ``pictures``; 0 where they are the same, or where names do not say it."""
    first, second = (sorted(map(_last, side)) for side in (pictures, masks))
    if len(first) != len(second) or any(len(set(side)) < len(side) or side[0] < 0 for side in (first, second)):
        return 0
    apart = {b - a for a, b in zip(first, second)}
    return apart.pop() if len(apart) == 1 else 0
