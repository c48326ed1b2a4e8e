"""Pictures with what is right for their pixels, in three splits: as folders and lists say, else by scene, else by content."""

import collections
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from trainer.core.example import Example
from trainer.core.input import Input
from trainer.data import audit, chosen, names, ordered, splits
from trainer.data.checks import Checks
from trainer.data.duplicates import remove
from trainer.data.keys import Keys
from trainer.data.near import pictures as near
from trainer.errors import UserError, count

FEWEST = 6  # pictures
FILLED, BARE = "filled", "bare"
_TILE = re.compile(r"([_. -]+(tile|crop|patch|frame|slice|row|col|[xyrc])?\d*)+$", re.IGNORECASE)
_MANY = 10  # scenes, so that some can be held out
_EMPTY = 0.95  # share of the pictures with their first class alone, from which the user is warned
_SCENES = (
    "Pictures of one scene may be in training and in the test, because the names tell of fewer than 10 scenes: the metrics are better than for "
    "scenes that the model has not seen. Put pictures of other scenes into a folder test to measure that."
)


def example(name: str, file: Path, filled: bool) -> Example:
    """A picture to be split: its target says whether it has more than the first class."""
    return Example(name, 0, file, FILLED if filled else BARE, group=scene(name))


def check_empty(examples: list[Example], checks: Checks) -> None:
    bare = sum(e.target == BARE for e in examples)
    if bare > _EMPTY * len(examples):
        text = f"{bare} of {len(examples)} masks have their first class alone: windows with other classes are drawn as often as those without."
        checks.warning("empty_masks", text)


def scene(name: str) -> str:
    """The scene that a picture was cut out of, by its name: what is before the number of the tile, else its folder; empty where there is none."""
    folder, _, base = name.rpartition("/")
    stem = base.rpartition(".")[0]
    parts = _TILE.sub("", stem)
    return f"{folder}/{parts}".lstrip("/") if parts and parts != stem else folder


def split(given: dict[str, list[Example]], inputs: Iterable[Input], keys: Keys, settings, checks: Checks) -> dict[str, list[Example]]:
    """The pictures by split; ``given`` says which are known, ``inputs`` are the files of the run. Raises UserError where there are too few."""
    chosen.check(inputs, given, checks.not_read)
    if not given["train"] and any(given.values()):
        other = "validation" if given["validation"] else "test"
        checks.events.decision("training_pictures", other, f"No pictures are named as those for training, so the {other} pictures are used for it.")
        given = {**given, "train": given[other], other: []}
    if (total := sum(map(len, given.values()))) < FEWEST:
        raise UserError(
            "too_few_pictures", f"There are only {count(total, 'picture')} with a class or a number for each pixel.",
            f"Add pictures with masks or outlines: at least {FEWEST}, better fifty. A large picture can be cut into several.",
        )  # fmt: skip
    scenes = collections.Counter(e.group for e in given["train"] if e.group)
    together = len(scenes) >= _MANY and len(scenes) < len(given["train"])
    rows = {n: [e if together else replace(e, group="") for e in part] for n, part in given.items()}
    few = min(collections.Counter(e.target for e in rows["train"]).values()) < splits.MIN_UNITS
    if few:
        rows["train"] = [replace(e, target=FILLED) for e in rows["train"]]
    audit.copies(rows, keys, True, checks)
    rows = remove(rows, keys, settings.duplicates, checks)
    kept, rule = near.together(rows, False, settings.split, ordered.SCENES if together else None, checks)
    mixed = len({e.target for e in rows["train"]}) > 1
    even = f"{len(scenes)} scenes, whose pictures stay together" if together else "pictures with and without rare classes" * mixed
    found = splits.hold_out(kept, keys, settings, "pictures", even, "Folders", checks, rule)
    if not found["validation"]:
        raise UserError(
            "too_few_pictures",
            "No pictures are left for validation, which chooses the model.",
            "Add pictures with masks, or set data.validation_fraction.",
        )
    audit.size(found, checks)
    audit.overlap(found, keys, checks)
    if 1 < len(scenes) < min(_MANY, len(given["train"])) and not given["test"]:
        checks.warning("scenes", _SCENES)
    return {name: [*part] for name, part in found.items()}


def by_names(examples: list[Example]) -> dict[str, list[Example]]:
    """The pictures by the split that their names say; those without one are for training."""
    given: dict[str, list[Example]] = {"train": [], "validation": [], "test": []}
    for e in examples:
        given[names.split_of(e.file) or "train"].append(e)
    return given
