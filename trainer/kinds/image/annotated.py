"""Datasets with annotations of pictures, which would be misread as classes, texts or tables."""

import collections
from dataclasses import replace
from pathlib import Path

from trainer.core.example import Example
from trainer.data import names, views
from trainer.data.annotations import held, masks
from trainer.data.claims import Claim, Files
from trainer.errors import UserError, some
from trainer.kinds.annotated import looked
from trainer.run_folder import files

_SEVERAL = 0.05  # share of the pictures with several labels, from which these are no mistakes


def refuse(files: Files, settings) -> None:
    """Raise UserError for annotations of pictures that no kind of data is trained on, unless the user said what else the files are."""
    if looked.is_said(settings) or (annotations := looked.find(files)) is None:
        return
    if not looked.is_trained(annotations.format):
        raise held.refusal(annotations, len(files.sources.images))
    if not files.sources.images:
        raise held.without_pictures(annotations)


def asked_back(claim: Claim, settings) -> Claim:
    """``claim``, with a fault where classes in folders may be views or masks of the same things, or pictures have several classes."""
    if settings.task != "auto" or claim.reading.roles.regression:
        return claim
    by_class: dict[str, list[Example]] = collections.defaultdict(list)
    for examples in claim.reading.given.values():
        for e in examples:
            by_class[e.target].append(e)
    fault = None
    if not claim.reading.roles.label:
        fault = _several(by_class) or (None if looked.is_said(settings) else _views(claim, by_class) or _masks(claim, by_class))
    return claim if fault is None else replace(claim, fault=fault)


def _several(by_class: dict[str, list[Example]]) -> UserError | None:
    """The error for pictures that many of are there under more than one class, as the same file or as a copy of it."""
    by_size: dict[int, list[tuple[str, Path]]] = collections.defaultdict(list)
    for label, examples in by_class.items():
        for e in examples:
            by_size[e.content.stat().st_size].append((label, e.content))
    classes: dict[object, set[str]] = collections.defaultdict(set)
    for same in by_size.values():
        alone = len({file for _, file in same}) == 1
        for label, file in same:
            classes[file if alone else files.sha256(file)].add(label)
    several = [sorted(labels) for labels in classes.values() if len(labels) > 1]
    if len(several) < max(views.FEWEST, _SEVERAL * len(classes)):
        return None
    return UserError(
        "several_labels",
        f"{len(several)} of {len(classes)} pictures are there with several labels, for example {some(several[0], 4)}.",
        "To train on several labels for each picture, name each picture once in a table, with a semicolon between its labels. Otherwise keep one "
        "of its copies. To train on all copies as they are, set task to image-classification.",
    )


def _views(claim: Claim, by_class: dict[str, list[Example]]) -> UserError | None:
    """The question whether folders with pictures of the same names are classes, or views, bands, times or masks."""
    below = {label: [_without(e.file, label) for e in examples] for label, examples in by_class.items()}
    sides = {label: [name for name in listed if name] for label, listed in below.items()}
    if not all(sides.values()) or not views.belong_together(sides):
        return None
    example = sorted(next(iter(sides.values())))[0]
    return UserError(
        "ambiguous_pictures",
        f"The folders {some(sorted(sides), 4)} have pictures of the same names, for example {example}, so they may be views, bands, times or masks "
        "of the same things, or classes of their own.",
        f"If the folders are classes, set task to {claim.kind.tasks[0]}. If not, put the pictures of one view or band into folders named after "
        "what they show. If one folder has masks, set task to image-segmentation. Several pictures for each example are trained on with a script "
        f"of your own, with {held.SCRIPT}.",
    )


def _without(name: str, label: str) -> str:
    """The name of a file without the folder that is its label; empty where there is none."""
    parts = name.split("/")
    place = next((i for i, part in enumerate(parts[:-1]) if (names.nfc(part).strip() or part) == label), -1)
    return "" if place < 0 else "/".join(parts[:place] + parts[place + 1 :])


def _masks(claim: Claim, by_class: dict[str, list[Example]]) -> UserError | None:
    """The question whether a folder has masks: all of its pictures have two values, and those of other folders more."""
    flat = {label: masks.two_valued([e.content for e in examples]) for label, examples in by_class.items()}
    masked = [label for label, two in flat.items() if two]
    if not masked or len(masked) == len(flat):
        return None
    return UserError(
        "ambiguous_pictures",
        f"The pictures in the folder {some(masked, 3)} have two values each, so they may be masks of other pictures, or a class of their own.",
        f"If the folders are classes, set task to {claim.kind.tasks[0]}. If they are masks, give each the name of its picture.",
        f"The pictures in {some([label for label in flat if label not in masked], 3)} have more values.",
    )
