"""Pictures with masks: which files they are, what their masks say, and how they are split."""

from dataclasses import dataclass, replace

from trainer.core.example import Dataset, Example
from trainer.core.input import Input
from trainer.core.kind import Kind
from trainer.data import images, rasters, splits
from trainer.data.annotations import mask_files, masks, numbered, shifted
from trainer.data.annotations.masks import Sides
from trainer.data.checks import Checks
from trainer.data.claims import FORM, Claim, Files
from trainer.data.keys import Keys
from trainer.data.sources import Sources
from trainer.errors import UserError, count, left_out, some
from trainer.kinds.annotated import looked
from trainer.kinds.pixels import arrays, codings, outlined, scanning, splitting
from trainer.kinds.pixels.content import CLASSES, MASK, NUMBERS, Pixels
from trainer.kinds.pixels.drawn import SEPARATOR, Drawing
from trainer.kinds.pixels.masks import alike, alpha, naming, others
from trainer.kinds.pixels.scanning import Pair
from trainer.run_folder.events import Events

_MOSTLY = 0.8  # share of the pixels of masks with one of few colours
MOST_ANSWERS = 9000  # files of a prediction: the service takes 10 000 from a run


@dataclass(frozen=True)
class Reading:
    """What a claim found; ``measured`` masks hold numbers, those ``in_alpha`` are in the alpha channels of their pictures."""

    sides: Sides
    measured: bool
    in_alpha: bool = False


def claim(kind: Kind, files: Files, settings) -> Claim | None:
    """Pictures that pair with masks by their names, whose values show that these are masks."""
    asked = settings.task in kind.tasks
    if settings.task != "auto" and not asked:
        return None
    if not asked and any(s.strip() for s in (settings.label_column, settings.text_column, settings.label_from)):
        return None
    reading = _find(files.sources, settings.task)
    if reading is None:
        if (settings.task == CLASSES or _has_masks_of_classes(files)) and (claimed := outlined.claim(kind, files, settings)) is not None:
            return claimed
        if settings.task == CLASSES and (sides := alpha.find(files.sources.images)) is not None:
            reading = Reading(sides, False, in_alpha=True)
        elif asked:
            raise UserError(
                "no_masks", f"The task is {settings.task}, but no pictures pair with masks by their names.",
                "Put pictures into one folder and masks of the same names and sizes into another, for example images/a.png and masks/a.png; or add "
                "annotations with outlines.",
            )  # fmt: skip
        else:
            return None
    used = frozenset(i.name for side in (reading.sides.pictures, reading.sides.masks, reading.sides.pictures_alone) for i in side)
    return Claim(kind, FORM, len(reading.sides.masks), f"{count(len(reading.sides.masks), 'picture')} with masks", reading, used)


def _has_masks_of_classes(files: Files) -> bool:
    """Whether each picture has several masks, one for each class, and there are no other annotations."""
    annotations = looked.find(files) if mask_files.of(files.sources.images) is not None else None
    return annotations is not None and annotations.format == mask_files.CLASSES


def _find(sources: Sources, task: str) -> Reading | None:
    if task != NUMBERS and mask_files.of(sources.images) is not None:
        return None  # several masks of each picture
    if (objects := numbered.sides_of(sources.images)) is not None and numbered.are_many(objects):
        return None  # outlines of single objects
    if task != NUMBERS and (sides := masks.find(sources.images) or arrays.find(sources.images, sources.tables, False)) is not None:
        return Reading(sides, False)
    if task == CLASSES:
        sides = next((s for s in masks.paired(sources.images) if _have_few_values(s)), None)
        return None if sides is None else Reading(sides, False)
    for sides in masks.paired(sources.images):
        if _are_numbers(sides) if task == "auto" else _can_be_numbers(sides):
            return Reading(sides, True)
    sides = arrays.find(sources.images, sources.tables, True)
    return None if sides is None else Reading(sides, True)


def _are_numbers(sides: Sides) -> bool:
    """Whether the second side has one number with fractions for each pixel of the first, which is another sort of picture."""
    for picture, mask in list(zip(sides.pictures, sides.masks))[:: max(1, len(sides.masks) // masks.FEW)][: masks.FEW]:
        try:
            form = rasters.form(picture.file)
            another = form.plain or form.bands > 1 or not form.dtype.startswith("float")
            if not another or not codings.has_fractions(mask.file) or rasters.size(picture.file) != rasters.size(mask.file):
                return False
        except (OSError, ValueError, SyntaxError):
            return False
    return True


def _have_few_values(sides: Sides) -> bool:
    """Whether most pixels of the second side have one of a few values and the first side has not, of whatever sizes, where the user says that
    there are masks."""
    looks = [(masks.look(p.file), masks.look(m.file)) for p, m in list(zip(sides.pictures, sides.masks))[: masks.FEW]]
    return all(p is not None and m is not None and (m.is_few or m.covered >= _MOSTLY) and not p.is_few and p.covered < m.covered for p, m in looks)


def _can_be_numbers(sides: Sides) -> bool:
    """Whether the second side has one band, and is of the size of the first, where the user says that there are numbers."""
    for picture, mask in list(zip(sides.pictures, sides.masks))[: masks.FEW]:
        try:
            if rasters.form(mask.file).bands != 1 or rasters.size(picture.file) != rasters.size(mask.file):
                return False
        except (OSError, ValueError, SyntaxError):
            return False
    return True


def load(claim: Claim, settings, checks: Checks) -> Dataset:
    """The pictures with what is right for their pixels in three splits. Raises UserError."""
    if not isinstance(claim.reading, Reading):
        return outlined.load(claim, settings, checks)
    assert claim.files is not None
    sides, measured = claim.reading.sides, claim.reading.measured
    if not measured and numbered.may_be(sides) and not naming.find(claim.files.sources).file:
        _ask_what_numbers_are(sides, settings.task, checks)
    task, what = (NUMBERS, "a number") if measured else (CLASSES, "a class")
    if claim.reading.in_alpha:
        sides, example = alpha.apart(sides, claim.files.spec.work / alpha.FOLDER), f"in their alpha channels, such as {sides.pictures[0].name}"
    else:
        example = f"that pair by their names, such as {sides.pictures[0].name} and {sides.masks[0].name}"
    checks.events.decision("task", task, f"The task is {what} for each pixel: {count(len(sides.masks), 'picture')} with masks {example}.")
    if not claim.reading.in_alpha:
        shifted.check((*sides.pictures, *sides.pictures_alone), (*sides.masks, *sides.masks_alone), zip(sides.pictures, sides.masks))
        others.tell(sides, claim.files.sources.images, checks)
    scanning.tell_of_those_alone(sides.pictures_alone, sides.masks_alone, len(sides.masks), checks)
    scanned = scanning.scan(sides.pictures, sides.masks, measured, checks)
    alike.tell_of_turned(scanned.pairs, checks)
    coding: codings.Classes | codings.Numbers = codings.Numbers(0.0, 1.0)
    labels: tuple[str, ...] = ()
    if not measured:
        coding, labels = scanning.classes(scanned, naming.find(claim.files.sources), checks)
        alike.tell_of_unlabelled(scanned.pairs, coding, checks)
        coding = replace(coding, labels=labels)
    by_name = {p.picture.name: p for p in scanned.pairs}
    filled = {p.picture.name: isinstance(coding, codings.Numbers) or coding.is_filled(p.counts) for p in scanned.pairs}
    examples = [splitting.example(p.picture.name, p.picture.file, filled[p.picture.name]) for p in scanned.pairs]
    splitting.check_empty(examples, checks)
    examples = images.of_one_sort(images.without_broken(examples, checks, every=True), checks)
    keys = Keys(claim.kind.key, claim.files.sources.sums())
    found = splitting.split(splitting.by_names(examples), claim.files.spec.inputs, keys, settings, checks)
    digest = splits.digest(found, keys)
    if isinstance(coding, codings.Classes) and not coding.halved:
        scanning.check_learnt(coding, labels, [by_name[e.file] for e in found["train"]], checks)
    if measured:
        coding = codings.Numbers(*scanning.spread([by_name[e.file] for e in found["train"]]))
    whole = {n: [_whole(e, by_name[e.file], coding, labels) for e in rows] for n, rows in found.items()}
    return Dataset(
        task, claim.kind, whole, [p.picture.name for p in scanned.pairs], (), "",
        labels=labels, types={MASK: "number" if measured else "category"}, dropped=checks.dropped, not_read=checks.not_read,
        checks=checks.entries, split_sha256=digest, separator=SEPARATOR * bool(labels),
    )  # fmt: skip


def _ask_what_numbers_are(sides: Sides, task: str, checks: Checks) -> None:
    """Values that may be classes or numbers of objects are classes where the user says so. Raises UserError where nobody does."""
    what = f"The values of masks such as {sides.masks[0].name} go from 1 on, each in one piece, and differ in their number from picture to picture"
    if task == CLASSES:
        checks.warning(
            "mask_numbers", f"{what}: if they number the objects of a picture, they are no classes. Set task to instance-segmentation then."
        )
        return
    raise UserError(
        "mask_numbers", f"{what}, so they may be classes or the numbers of objects.",
        "Set task to instance-segmentation if each value is one object, or to image-segmentation if each is one class. A file classes.txt with a "
        "name in each line says the latter, too.",
    )  # fmt: skip


def _whole(example: Example, pair: Pair, coding: codings.Classes | codings.Numbers, labels: tuple[str, ...]) -> Example:
    if labels and isinstance(coding, codings.Classes):
        held = [label for label, value in zip(labels, coding.values) if pair.counts[value]]
        target = SEPARATOR.join(held) or labels[0]
    else:
        number, total, _ = pair.sums
        target = f"{total / number if number else 0.0:.9g}"
    return replace(example, content=Pixels(pair.picture.file, pair.mask.file, coding), target=target)


def is_measured(types: dict[str, str]) -> bool:
    """Whether the masks of a model with these types hold numbers."""
    return types.get(MASK) == "number"


def has_masks(sources: Sources, measured: bool) -> bool:
    """Whether the names of pictures to be answered pair some of them with masks."""
    reading = _find(sources, NUMBERS if measured else "auto")
    return reading is not None and reading.measured == measured


def to_predict(
    sources: Sources, measured: bool, events: Events | None = None, scenes: frozenset[str] = frozenset()
) -> tuple[list[Example], list[str], int]:
    """All pictures, with their masks or drawings where some are beside them; and the names of the files. ``events`` takes warnings.
    ``scenes`` are names of those that are answered even where a part of them does not decode.

    Raises UserError where there are no pictures.
    """
    reading = _find(sources, NUMBERS if measured else "auto")
    known: dict[str, Input] = {}
    masked: frozenset[str] = frozenset()
    drawings: dict[str, Drawing] = {}
    if reading is None and not measured:
        drawings, masked = outlined.known(sources, events)
    if reading is not None and reading.measured == measured:
        known = {p.name: m for p, m in zip(reading.sides.pictures, reading.sides.masks) if _fit(p, m)}
        compared = {m.name for m in known.values()}
        unfit = [m.name for m in reading.sides.masks if m.name not in compared]
        if unfit and events is not None:
            text = "The answers are not compared with masks that cannot be read or have another size than their picture"
            events.warning("masks_unused", f"{text}: {some(unfit, 5)}.")
        masked = frozenset(m.name for m in (*reading.sides.masks, *reading.sides.masks_alone))
    pictures = [i for i in sources.images if i.name not in masked]
    fine = [p for p in pictures if p.name in scenes or images.decodes(p.file)]
    if len(fine) < len(pictures) and events is not None:
        lost = {p.name for p in pictures} - {p.name for p in fine}
        events.warning("undecodable_images", f"{left_out(len(lost), 'picture')}, because they cannot be decoded: {some(sorted(lost), 5)}.")
    if not fine:
        raise UserError("no_data", "The dataset has no pictures that can be decoded, and the model reads pictures.", "Add PNG, JPEG or TIFF files.")
    if len(fine) > MOST_ANSWERS:
        raise UserError(
            "too_many_files",
            f"The dataset has {len(fine)} pictures, and a prediction delivers at most {MOST_ANSWERS} masks.",
            "Choose a folder with fewer pictures in data_file, or divide the dataset.",
        )
    rows = []
    for picture in fine:
        mask, drawing = known.get(picture.name), drawings.get(picture.name)
        target = mask.name if mask else outlined.in_words(drawing) if drawing else ""
        rows.append(Example(picture.name, 0, Pixels(picture.file, mask.file if mask else drawing), target))
    return rows, [p.name for p in fine], len(pictures) - len(fine)


def _fit(picture: Input, mask: Input) -> bool:
    try:
        return rasters.size(picture.file) == codings.size(mask.file)
    except (OSError, ValueError, SyntaxError):
        return False
