"""Pictures with annotations whose outlines become the class of each pixel, where the user chose that task."""

from dataclasses import dataclass, replace

import numpy

from trainer.core.example import SPLITS, Dataset, Example
from trainer.core.kind import Kind
from trainer.data import images, names, splits
from trainer.data.annotations import look
from trainer.data.annotations.held import Annotations
from trainer.data.checks import Checks
from trainer.data.claims import FORM, Claim, Files
from trainer.data.keys import Keys
from trainer.data.sources import Sources
from trainer.errors import UserError, count, some
from trainer.kinds.annotated import looked, readers, reading, telling
from trainer.kinds.annotated.shapes import Annotated
from trainer.kinds.pixels import codings, drawn, splitting
from trainer.kinds.pixels.content import MASK, Pixels
from trainer.kinds.pixels.drawn import BACKGROUND, DRAWN, SEPARATOR, Drawing
from trainer.run_folder.events import Events


@dataclass(frozen=True)
class Outlined:
    """What a claim has read."""

    annotated: Annotated


def claim(kind: Kind, files: Files, settings) -> Claim | None:
    """All annotated pictures; None without annotations. Raises UserError where they cannot say the class of pixels."""
    annotations = looked.find(files) if files.sources.images else None
    if annotations is None:
        return None
    if annotations.format not in readers.FORMATS:
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
    checks.events.decision(
        "task", settings.task,
        f"The task is a class for each pixel: {claim.why} and {count(len(outlines), 'object')}, whose outlines are the classes of pixels. Where "
        "outlines lie over each other, the later one counts. To count objects, set task to instance-segmentation.",
    )  # fmt: skip
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
    drawings = {p.source.name: drawn.of(p) for p in annotated.pictures}
    areas = {name: _areas(drawing, len(every), every) for name, drawing in drawings.items()}
    listed = {p.source.name: p.split for p in annotated.pictures}
    examples = [splitting.example(p.source.name, p.source.file, bool(areas[p.source.name][1:].any())) for p in annotated.pictures]
    splitting.check_empty(examples, checks)
    examples = images.of_one_sort(images.without_broken(examples, checks, every=True), checks)
    given: dict[str, list[Example]] = {name: [] for name in SPLITS}
    for e in examples:
        given[listed[e.file] or "train"].append(e)
    keys = Keys(claim.kind.key, sources.sums())
    found = splitting.split(given, claim.files.spec.inputs, keys, settings, checks)
    labels = _learnt(every, areas, found, checks)
    coding = codings.Classes(tuple(range(len(labels))), labels=labels)
    whole = {
        n: [replace(e, content=Pixels(e.content, drawings[e.file], coding), target=_target(areas[e.file], every, labels)) for e in rows]
        for n, rows in found.items()
    }
    used = sorted(claim.used, key=names.natural)
    return Dataset(
        settings.task, claim.kind, whole, used, (), "", labels=labels, types={MASK: "category"}, dropped=checks.dropped,
        not_read=checks.not_read, checks=checks.entries, split_sha256=splits.digest(found, keys), separator=SEPARATOR,
    )  # fmt: skip


def _areas(drawing: Drawing, number: int, labels: tuple[str, ...]) -> numpy.ndarray:
    """The pixels of each class in a picture."""
    return numpy.bincount(drawing.classes(labels, codings.UNLABELLED).ravel(), minlength=number)[:number]


def _learnt(every: tuple[str, ...], areas: dict[str, numpy.ndarray], found: dict[str, list[Example]], checks: Checks) -> tuple[str, ...]:
    """The classes that training pictures have, the background first. Raises UserError where there is no other."""
    total = sum((areas[e.file] for e in found["train"]), numpy.zeros(len(every), numpy.int64))
    labels = tuple(label for place, label in enumerate(every) if not place or total[place])
    if len(labels) < 2:
        raise UserError("one_class", "No training picture has an outline, so there is nothing to learn.", "Annotate more pictures.")
    if lost := [label for label in every if label not in labels]:
        text = f"{some(lost, 6)} do not occur in the training pictures: their pixels are neither learnt nor measured."
        checks.warning("unknown_labels", text)
    share = total / max(1, total.sum())
    words = some([f"{label} ({share[every.index(label)]:.1%})" for label in labels], 12)
    checks.events.decision(
        "mask_classes", list(labels),
        f"There are {len(labels)} classes: {words} of the pixels of the training pictures. What lies in no outline is {BACKGROUND}.",
    )  # fmt: skip
    return labels


def _target(areas: numpy.ndarray, every: tuple[str, ...], labels: tuple[str, ...]) -> str:
    held = [label for label in labels if areas[every.index(label)]]
    return SEPARATOR.join(held) or labels[0]


def known(sources: Sources, events: Events | None) -> dict[str, Drawing]:
    """The drawings of annotated pictures by their names, to be compared with answers; none where the annotations cannot be used, which ``events``
    tells."""
    annotations = look.find(sources) if sources.images else None
    if annotations is None or annotations.format not in readers.FORMATS:
        return {}
    try:
        annotated = reading.read(sources, annotations)
    except UserError as e:
        if events is not None:
            events.warning("annotations_unused", f"The answers are not compared with the annotations. {e.what}")
        return {}
    if not annotated.has_outlines:
        if events is not None:
            text = "The answers are not compared with the annotations: they are boxes, which do not say the class of pixels."
            events.warning("annotations_unused", text)
        return {}
    return {p.source.name: drawn.of(p) for p in annotated.pictures}


def in_words(drawing: Drawing) -> str:
    """The target of a picture to be answered: the classes that were drawn in it."""
    held = {s.label for s in drawing.shapes if s.has_outline}
    return DRAWN + (SEPARATOR.join(sorted(held, key=names.natural)) or BACKGROUND)
