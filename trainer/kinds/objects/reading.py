"""Datasets of annotated pictures: whether a dataset is one, and its pictures in three splits."""

import collections
import statistics
from dataclasses import dataclass, replace

from trainer.core.example import SPLITS, Dataset, Example
from trainer.core.kind import Kind
from trainer.data import audit, chosen, duplicates, images, names, ordered, splits, subset
from trainer.data.annotations import mask_files, numbered
from trainer.data.annotations.held import Annotations
from trainer.data.checks import Checks
from trainer.data.claims import Claim, Files
from trainer.data.keys import Keys
from trainer.data.near import pictures as near
from trainer.data.sources import Sources
from trainer.errors import UserError, count, some
from trainer.kinds.annotated import looked, readers, reading, telling
from trainer.kinds.annotated.shapes import Annotated, Picture
from trainer.kinds.objects import truth as truths
from trainer.kinds.objects.decoding import MOST
from trainer.kinds.objects.tasks import BOXES, OUTLINES

SURE = 0.95  # of a claim: the annotations were read whole, and name pictures of the dataset
_LEAST_MOST = 100  # objects that are looked for in a picture, at least
_SEVERAL = 3  # objects of a picture in the median
_FEWEST = 12  # pictures with annotations
_FEW_OBJECTS = 30  # of a label in training
_FRAMES = ordered.Rule(new="parts of videos")
_TILE = "_-."  # what stands before the number of a tile in the name of its scene


@dataclass(frozen=True)
class Read:
    """What a claim has read."""

    annotated: Annotated
    task: str


def claim(kind: Kind, files: Files, settings) -> Claim | None:
    """All annotated pictures. Raises UserError where the annotations must be changed first."""
    asked = settings.task in kind.tasks
    if not files.sources.images or (not asked and looked.is_said(settings)):
        return None
    annotations = looked.find(files) or (numbered.find(files.sources, asked=True) if asked else None)
    if annotations is not None and annotations.format == readers.AREAS and asked:
        raise UserError(
            "no_objects", f"The masks, such as {annotations.files[0]}, say the class of each pixel ({some(annotations.classes, 6)}), and not which "
            "pixels are one object.", "Set task to image-segmentation, or save one mask for each object.", f"The task was set to {settings.task}.",
        )  # fmt: skip
    if annotations is None or annotations.format not in readers.FORMATS:
        return None
    if annotations.format == mask_files.EITHER:
        annotations = _objects(annotations, asked)
    annotated = reading.read(files.sources, annotations, settings.label_column.strip() if asked else "")
    task = settings.task if asked else _task(annotated)
    if task == OUTLINES and not annotated.has_outlines:
        raise UserError(
            "no_outlines",
            "Most objects of the dataset have a box and no outline.",
            f"Set task to {BOXES}, or annotate polygons.",
            f"The task was set to {task}.",
        )
    used = frozenset((*annotated.files, *(p.source.name for p in annotated.pictures)))
    why = f"{count(len(annotated.pictures), 'picture')} with annotations ({annotations.format})"
    return Claim(kind, SURE, len(annotated.pictures), why, Read(annotated, task), used)


def _objects(annotations: Annotations, asked: bool) -> Annotations:
    """Masks with numbers as masks of objects, where the user says so. Raises UserError where nobody does."""
    if not asked:
        raise UserError(
            "mask_numbers",
            f"Pictures have several masks with numbers, such as {some(annotations.files, 2)}, which may be those of single objects or of classes.",
            f"Set task to {OUTLINES} if each mask is one object, or to image-segmentation if each number is one class.",
        )
    return replace(annotations, format=mask_files.OBJECTS, classes=())


def _task(annotated: Annotated) -> str:
    """Outlines are learnt where most objects have one, and pictures have several: such polygons stand for objects and not for areas."""
    numbers = [sum(s.counts for s in p.shapes) for p in annotated.pictures]
    return OUTLINES if annotated.has_outlines and statistics.median(numbers) >= _SEVERAL else BOXES


def load(claim: Claim, settings, checks: Checks) -> Dataset:
    """The pictures in three splits. Raises UserError where there are too few."""
    annotated, task = claim.reading.annotated, claim.reading.task
    events, sources = checks.events, claim.files.sources
    objects = [s for p in annotated.pictures for s in p.shapes if s.counts]
    areas = " For a class for each pixel, without single objects, set task to image-segmentation." if annotated.has_outlines else ""
    events.decision("task", task, f"The task is {_WORDS[task]}: {claim.why} and {count(len(objects), 'object')}.{areas}")
    events.decision("labels", list(annotated.classes), f"The labels are {some(annotated.classes, 12)}.")
    telling.tell(annotated, checks)
    if task == OUTLINES and (boxes := sum(not s.has_outline for s in objects)):
        checks.warning("boxes_only", f"{count(boxes, 'object')} with a box and no outline are neither learnt nor counted.")
    checks.ignore((n, r) for n, r in sources.ignored.items() if n not in claim.used)
    given: dict[str, list[Example]] = {name: [] for name in SPLITS}
    for picture in annotated.pictures:
        given[picture.split or "train"].append(_example(picture, task == OUTLINES))
    chosen.check(claim.files.spec.inputs, given, checks.not_read)
    keys = Keys(claim.kind.key, sources.sums())
    complete = _split(given, telling.parts(annotated.pictures, checks), keys, settings, checks)
    present = {label for e in complete["train"] for label in truths.labels(e.target)}
    labels = tuple(label for label in annotated.classes if label in present)
    if not labels:
        raise UserError("no_objects", "No training picture has an object.", "Annotate objects in more pictures.")
    _check_labels(labels, annotated, complete, checks)
    for name, rows in complete.items():
        kept = images.without_broken(rows, checks, every=True) if rows else rows
        complete[name] = kept
    audit.size(complete, checks)
    audit.overlap(complete, keys, checks)
    used = sorted(annotated.files, key=names.natural)
    return Dataset(
        task, claim.kind, complete, used, (), "", labels,
        dropped=checks.dropped, not_read=checks.not_read, checks=checks.entries, split_sha256=splits.digest(complete, keys),
    )  # fmt: skip


_WORDS = {BOXES: "to find objects and their boxes", OUTLINES: "to find objects and their outlines"}


def _example(picture: Picture, outlined: bool) -> Example:
    return Example(picture.source.name, 0, picture.source.file, truths.written(picture, outlined))


def _split(given: dict[str, list[Example]], parts: dict[str, str], keys: Keys, settings, checks: Checks) -> dict[str, list[Example]]:
    """The three splits. Pictures of one scene, or of one of the ``parts`` of a video, stay together, and pictures are dealt evenly by their rarest
    label."""
    if not given["train"]:
        other = "validation" if given["validation"] else "test"
        checks.events.decision("training_pictures", other, f"No pictures are named as those for training, so the {other} pictures are used for it.")
        given = {**given, "train": given[other], other: []}
    given = subset.thin(given, settings.max_examples, keys, False, settings.seed, checks.events)
    given = duplicates.remove(given, keys, settings.duplicates, checks)
    total = sum(map(len, given.values()))
    if total < _FEWEST:
        raise UserError(
            "too_few_rows", f"There are only {total} annotated pictures, which is too few to train a model.",
            f"Annotate more: at least {_FEWEST}, better some hundred.",
        )  # fmt: skip
    scenes = parts or _scenes([e for rows in given.values() for e in rows])
    if scenes and not parts:
        checks.events.decision(
            "groups", len(set(scenes.values())),
            f"The names of the pictures say that they are parts of {len(set(scenes.values()))} scenes. Parts of one scene stay together.",
        )  # fmt: skip
    given = {name: [replace(e, group=scenes.get(e.file, "")) for e in rows] for name, rows in given.items()}
    kept, rule = near.together(given, False, settings.split, _FRAMES if parts else ordered.SCENES if scenes else None, checks)
    swapped, back = splits.by_rarest(kept, lambda e: truths.labels(e.target), 1, "")
    of_swapped = Keys(lambda e: keys(back[id(e)]))
    held = splits.hold_out(swapped, of_swapped, settings, "pictures", "the labels", "The names of files", checks, rule)
    return {name: [back[id(e)] for e in rows] for name, rows in held.items()}


def _scenes(examples: list[Example]) -> dict[str, str]:
    """The scene of each picture: its folder, and its name before the numbers of its tile; empty where names do not say that pictures are parts of few
    scenes."""
    scenes = {e.file: e.file.rpartition(".")[0].rstrip("0123456789xyrcXYRC" + _TILE) for e in examples}
    sizes = collections.Counter(scenes.values())
    tiled = len(sizes) >= 2 * splits.MIN_UNITS and all(n >= 2 for n in sizes.values()) and "" not in sizes
    return scenes if tiled else {}


def _check_labels(labels: tuple[str, ...], annotated: Annotated, complete: dict[str, list[Example]], checks: Checks) -> None:
    counts = collections.Counter(label for e in complete["train"] for label in truths.labels(e.target))
    if lost := [label for label in annotated.classes if label not in labels]:
        checks.warning("unknown_labels", f"{some(lost, 6)} do not occur in the training pictures and are not learnt.")
    if few := [f"{label} ({counts[label]})" for label in labels if counts[label] < _FEW_OBJECTS]:
        checks.warning("small_classes", f"Some labels have fewer than {_FEW_OBJECTS} objects in training, and will be found poorly: {some(few, 8)}.")


def to_predict(sources: Sources) -> tuple[list[Example], list[str], int]:
    """All pictures of a dataset, with their objects where it has annotations that can be read, and the files."""
    if not sources.images:
        raise UserError("no_data", "The dataset has no pictures, which the model reads.", "Add PNG, JPEG or TIFF files, or choose another model.")
    targets, files = _annotated(sources)
    examples = [Example(i.name, 0, i.file, targets.get(i.name, "")) for i in sources.images if i.name not in files]
    readable = [e for e in examples if images.decodes(e.content, whole=False)]
    return readable, [e.file for e in readable], len(examples) - len(readable)


def _annotated(sources: Sources) -> tuple[dict[str, str], frozenset[str]]:
    """The targets of pictures that are annotated, and the files that say so; none where the annotations cannot be used."""
    from trainer.data.annotations import look

    annotations = look.find(sources)
    if annotations is not None and annotations.format in (readers.AREAS, mask_files.EITHER):
        return {}, frozenset(annotations.files)
    if annotations is None or annotations.format not in readers.FORMATS:
        return {}, frozenset()
    try:
        annotated = reading.read(sources, annotations)
    except UserError:
        return {}, frozenset()
    return {p.source.name: truths.written(p, annotated.has_outlines) for p in annotated.pictures}, annotated.files


def most(data: Dataset) -> int:
    """How many objects are looked for in a picture: twice as many as the fullest training picture has, and at least 100."""
    fullest = max((len(truths.labels(e.target)) for e in data.splits["train"]), default=0)
    return min(MOST, max(_LEAST_MOST, 2 * fullest))
