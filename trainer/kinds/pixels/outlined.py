"""Pictures with annotations whose outlines become the class of each pixel, where the user chose that task."""

from dataclasses import dataclass, replace

import numpy

from trainer.core.example import SPLITS, Dataset, Example
from trainer.core.kind import Kind
from trainer.data import images, names, splits
from trainer.data.annotations import look, mask_files
from trainer.data.annotations.held import Annotations
from trainer.data.checks import Checks
from trainer.data.claims import FORM, Claim, Files
from trainer.data.keys import Keys
from trainer.data.sources import Sources
from trainer.errors import UserError, count, some
from trainer.kinds.annotated import looked, readers, reading, telling
from trainer.kinds.annotated.shapes import Annotated
from trainer.kinds.pixels import codings, drawn, splitting
from trainer.kinds.pixels.content import CLASSES, MASK, Pixels
from trainer.kinds.pixels.drawn import BACKGROUND, DRAWN, SEPARATOR, Drawing
from trainer.run_folder.events import Events

_NUMBERED = (
    "Masks with numbers, such as {}, are taken for those of classes, which are called by their numbers: if each mask is one object, set task to "
    "instance-segmentation."
)
_OUTLINES = (
    " and {:,} objects, whose outlines are the classes of pixels. Where outlines lie over each other, the later one counts. To count objects, set "
    "task to instance-segmentation."
)
_A = {"outline": "an outline", "mask": "a mask that shows something"}
_AREAS = ". What lies in no mask of a picture is background."
_OVERLAPPING = 0.2  # share of the pixels in masks that several classes claim, from which one class for each pixel cannot be learnt


@dataclass(frozen=True)
class Outlined:
    """What a claim has read."""

    annotated: Annotated


def claim(kind: Kind, files: Files, settings) -> Claim | None:
    """All annotated pictures; None without annotations. Raises UserError where they cannot say the class of pixels."""
    annotations = looked.find(files) if files.sources.images else None
    if annotations is None:
        return None
    if annotations.format == mask_files.EITHER:
        annotations = replace(annotations, format=mask_files.CLASSES)
        files.checks.warning("mask_numbers", _NUMBERED.format(some(annotations.files, 2)))
    if annotations.format not in readers.READERS:
        raise UserError(
            "no_masks", f"The task is {settings.task}, and {annotations.format} in {some(annotations.files, 3)} do not say the class of each pixel.",
            "Export outlines, for example as COCO polygons, or masks as PNG.", annotations.note,
        )  # fmt: skip
    annotated = reading.read(files.sources, annotations, settings.label_column.strip())
    if not annotated.has_outlines:
        raise _boxes(annotated, annotations, settings.task)
    used = frozenset((*annotated.files, *(p.source.name for p in annotated.pictures)))
    why = f"{count(len(annotated.pictures), 'picture')} with annotations ({annotations.format})"
    return Claim(kind, FORM, len(annotated.pictures), why, Outlined(annotated), used)


def _boxes(annotated: Annotated, annotations: Annotations, task: str) -> UserError:
    shapes = [s for p in annotated.pictures for s in p.shapes]
    boxes = sum(not s.has_outline for s in shapes)
    return UserError(
        "no_outlines",
        f"{boxes:,} of {count(len(shapes), 'object')} ({annotations.format}) have a box and no outline, and a box does not say which of its pixels "
        "belong to the object.",
        "Set task to object-detection to find boxes, or annotate polygons.",
        f"The task was set to {task}.",
    )


def load(claim: Claim, settings, checks: Checks) -> Dataset:
    """The pictures with their drawings in three splits. Raises UserError."""
    assert claim.files is not None
    annotated, sources = claim.reading.annotated, claim.files.sources
    outlines = [s for p in annotated.pictures for s in p.shapes]
    apart = annotated.format == readers.AREAS
    checks.events.decision("task", CLASSES, f"The task is a class for each pixel: {claim.why}{_AREAS if apart else _OUTLINES.format(len(outlines))}")
    telling.tell(annotated, checks)
    checks.ignore((n, r) for n, r in sources.ignored.items() if n not in claim.used)
    if boxes := sum(not s.has_outline for s in outlines):
        checks.warning("boxes_only", f"{count(boxes, 'object')} with a box and no outline: the pixels in the boxes are neither learnt nor measured.")
    every = (BACKGROUND, *(c for c in dict.fromkeys(map(drawn.label, annotated.classes)) if c != BACKGROUND))
    if len(every) > codings.MOST:
        raise UserError(
            "too_many_classes", f"The annotations have {len(every) - 1} classes, and a model of pixels has at most {codings.MOST - 1}.",
            "Join classes that are alike, or set task to instance-segmentation.",
        )  # fmt: skip
    drawings = {p.source.name: drawn.of(p, apart) for p in annotated.pictures}
    areas = {name: _areas(drawing, len(every), every) for name, drawing in drawings.items()}
    if apart:
        _check_overlaps(areas, drawings, checks)
    listed = {p.source.name: p.split for p in annotated.pictures}
    examples = [splitting.example(p.source.name, p.source.file, bool(areas[p.source.name][1:].any())) for p in annotated.pictures]
    if parts := telling.parts(annotated.pictures, checks):
        examples = [replace(e, group=parts.get(e.file, "")) for e in examples]
    splitting.check_empty(examples, checks)
    examples = images.of_one_sort(images.without_broken(examples, checks, every=True), checks)
    given: dict[str, list[Example]] = {name: [] for name in SPLITS}
    for e in examples:
        given[listed[e.file] or "train"].append(e)
    keys = Keys(claim.kind.key, sources.sums())
    found = splitting.split(given, claim.files.spec.inputs, keys, settings, checks)
    labels = _learnt(every, areas, found, "mask" if apart else "outline", checks)
    coding = codings.Classes(tuple(range(len(labels))), labels=labels)
    whole = {
        n: [replace(e, content=Pixels(e.content, drawings[e.file], coding), target=_target(areas[e.file], every, labels)) for e in rows]
        for n, rows in found.items()
    }
    used = sorted(claim.used, key=names.natural)
    return Dataset(
        CLASSES, claim.kind, whole, used, (), "", labels=labels, types={MASK: "category"}, dropped=checks.dropped,
        not_read=checks.not_read, checks=checks.entries, split_sha256=splits.digest(found, keys), separator=SEPARATOR,
    )  # fmt: skip


def _check_overlaps(areas: dict[str, numpy.ndarray], drawings: dict[str, Drawing], checks: Checks) -> None:
    """Warn of pixels that the masks of several classes claim. Raises UserError where these are many."""
    twice = {name: drawing.width * drawing.height - int(areas[name].sum()) for name, drawing in drawings.items()}
    claimed = sum(int(a[1:].sum()) for a in areas.values()) + sum(twice.values())
    several = [name for name, pixels in twice.items() if pixels]
    text = f"{sum(twice.values()) / max(1, claimed):.1%} of the pixels in masks are in those of several classes, for example in {some(several, 3)}"
    if sum(twice.values()) > _OVERLAPPING * claimed:
        raise UserError(
            "masks_overlap", f"{text}, and a model of pixels answers with one class for each.",
            "Save the masks so that each pixel is in that of one class, or remove the masks of classes that are not meant. If they are those of "
            "several annotators, keep those of one.",
        )  # fmt: skip
    if several:
        checks.warning("masks_overlap", f"{text}: these have no class, and are neither learnt nor measured.")


def _areas(drawing: Drawing, number: int, labels: tuple[str, ...]) -> numpy.ndarray:
    """The pixels of each class in a picture."""
    return numpy.bincount(drawing.classes(labels, codings.UNLABELLED).ravel(), minlength=number)[:number]


def _learnt(every: tuple[str, ...], areas: dict[str, numpy.ndarray], found: dict[str, list[Example]], what: str, checks: Checks) -> tuple[str, ...]:
    """The classes that training pictures have, the background first where there is one. Raises UserError where there is one class alone."""
    total = sum((areas[e.file] for e in found["train"]), numpy.zeros(len(every), numpy.int64))
    somewhere = sum(areas.values(), numpy.zeros(len(every), numpy.int64))
    labels = tuple(label for place, label in enumerate(every) if total[place])
    if len(labels) < 2:
        full = bool(labels) and labels[0] != BACKGROUND
        only = f"All pixels of the training pictures are of one class ({labels[0]})" if full else f"No training picture has {_A[what]}"
        raise UserError("one_class", f"{only}, so there is nothing to learn.", "Annotate more pictures.")
    if lost := [label for place, label in enumerate(every) if label not in labels and somewhere[place]]:
        text = f"{some(lost, 6)} do not occur in the training pictures: their pixels are neither learnt nor measured."
        checks.warning("unknown_labels", text)
    share = total / max(1, total.sum())
    words = some([f"{label} ({share[every.index(label)]:.1%})" for label in labels], 12)
    checks.events.decision(
        "mask_classes", list(labels),
        f"There are {len(labels)} classes: {words} of the pixels of the training pictures. What lies in no {what} is {BACKGROUND}.",
    )  # fmt: skip
    return labels


def _target(areas: numpy.ndarray, every: tuple[str, ...], labels: tuple[str, ...]) -> str:
    held = [label for label in labels if areas[every.index(label)]]
    return SEPARATOR.join(held) or labels[0]


def known(sources: Sources, events: Events | None) -> tuple[dict[str, Drawing], frozenset[str]]:
    """The drawings of annotated pictures by their names, to be compared with answers, and the names of the files that say so, some of which may be
    masks; none where the annotations cannot be used, which ``events`` tells."""
    annotations = look.find(sources) if sources.images else None
    if annotations is None or annotations.format not in readers.READERS:
        return {}, frozenset()
    try:
        annotated = reading.read(sources, annotations)
    except UserError as e:
        if events is not None:
            events.warning("annotations_unused", f"The answers are not compared with the annotations. {e.what}")
        return {}, frozenset(annotations.files)
    if not annotated.has_outlines:
        if events is not None:
            text = "The answers are not compared with the annotations: they are boxes, which do not say the class of pixels."
            events.warning("annotations_unused", text)
        return {}, annotated.files
    return {p.source.name: drawn.of(p, annotated.format == readers.AREAS) for p in annotated.pictures}, annotated.files


def in_words(drawing: Drawing) -> str:
    """The target of a picture to be answered: the classes that were drawn in it."""
    held = {s.label for s in drawing.shapes if s.has_outline}
    return DRAWN + (SEPARATOR.join(sorted(held, key=names.natural)) or BACKGROUND)
