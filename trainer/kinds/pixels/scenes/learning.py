"""Datasets of scenes that a model learns from: with masks as large as they are, or with polygons over them."""

import shutil
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

import numpy

from trainer.core.example import Dataset, Example
from trainer.core.input import Input
from trainer.core.kind import Kind
from trainer.data import names, rasters, splits
from trainer.data.annotations.masks import FEW
from trainer.data.checks import Checks
from trainer.data.claims import FORM, Claim, Files
from trainer.data.keys import Keys
from trainer.data.scenes import damage, headers, opening
from trainer.data.scenes.opening import Scene
from trainer.data.vectors import reading as vectors
from trainer.errors import UserError, count, gigabytes, some
from trainer.kinds.annotated import looked
from trainer.kinds.pixels import codings, reading, scanning, splitting
from trainer.kinds.pixels.content import MASK, Pixels
from trainer.kinds.pixels.drawn import SEPARATOR
from trainer.kinds.pixels.masks import alike, naming
from trainer.kinds.pixels.scenes import cutting, damaged as told, finding, mapped, places
from trainer.kinds.pixels.scenes.cutting import Masked, Truth
from trainer.kinds.pixels.scenes.places import Block
from trainer.run_folder import files as run_files

_CLASSES, _NUMBERS = reading.CLASSES, reading.NUMBERS
_LARGE = 1 << 24  # pixels of a picture that is read by blocks, however many there are
_SMALL = 1 << 20  # pixels of the smallest scene
_LOOKED, _MOST_FILES = 64, 2000  # files whose pixels, and whose headers, are looked at
_ENDINGS = ("tif", "tiff")
_SPARE = 1 << 30  # bytes that stay free on the disk
_MOST_VALUES = 2_000_000_000  # of the blocks that are read: pixels times bands


@dataclass(frozen=True)
class Learnt:
    """A scene to learn from, with what is right for its pixels."""

    source: Input
    scene: Scene
    truth: Truth


@dataclass(frozen=True)
class Reading:
    """What a claim found: pairs of a scene and its mask, with those that have no counterpart, or scenes and the files with polygons."""

    pairs: list[tuple[finding.Looked, finding.Looked]]
    scenes: list[tuple[Input, Scene]]
    shapes: list[Input]
    measured: bool
    attribute: str
    folder: Path
    every: list[Input]
    alone: tuple[str, ...] = ()


def claim(kind: Kind, files: Files, settings) -> Claim | None:
    """Scenes with masks or polygons; None where there are none, or where they are as small and many as pictures."""
    asked = settings.task in kind.tasks
    if settings.task != "auto" and not asked:
        return None
    sources = files.sources
    every = [*sources.tables, *sources.others, *sources.images, *sources.of_kinds]
    measured = settings.task == _NUMBERS
    folder = files.spec.work / cutting.FOLDER
    tiffs = [i for i in sources.images if names.extension(i.name) in _ENDINGS]
    if not tiffs or len(tiffs) > _MOST_FILES:
        return None
    few = tiffs if len(tiffs) == len(sources.images) and len(tiffs) < 2 * FEW else []  # names of so few tell nothing
    large = [i for i in tiffs if _pixels(i) >= _SMALL] or few
    pairs = finding.pairs(large, measured) if len(large) <= _LOOKED else []
    if pairs and (len(pairs) < splitting.FEWEST or max(p[0].scene.pixels for p in pairs) > _LARGE):
        used = frozenset(side.source.name for pair in pairs for side in pair)
        found = Reading(pairs, [], [], measured, "", folder, every, tuple(i.name for i in large if i.name not in used))
        return Claim(kind, FORM, len(pairs), f"{count(len(pairs), 'scene')} with masks", found, used)
    if not pairs and large and (asked or len(tiffs) == len(sources.images)):
        finding.check_mask(tiffs if len(tiffs) == 2 else large, measured)
    held = None if measured else looked.find(files)
    if held is None or held.format not in vectors.FORMATS:
        return None
    scenes = [(i, scene) for i in tiffs if (scene := _placed(i)) is not None]
    if not scenes:
        raise UserError(
            "no_scenes", f"The dataset has polygons over a map ({held.format} in {some(held.files, 3)}), but no GeoTIFF with a reference system.",
            "Add the scenes that they were drawn on, as GeoTIFF files with their reference system inside.", _faults(tiffs),
        )  # fmt: skip
    shapes = [s for s in every if s.name in _of_shapes(held.files, every)]
    used = frozenset(i.name for i in (*(s for s, _ in scenes), *shapes))
    found = Reading([], scenes, shapes, False, settings.label_column.strip(), folder, every)
    return Claim(kind, FORM, len(scenes), f"{count(len(scenes), 'scene')} with {held.format}", found, used)


def _faults(tiffs: list[Input]) -> str:
    """Why files that may have been meant are no scenes."""
    said = []
    for source in tiffs:
        try:
            headers.header(source.file)
        except (OSError, ValueError) as e:
            said.append(f"{source.name} cannot be read: {e}")
    return f"{some(said, 3)}." if said else ""


def _pixels(source: Input) -> int:
    try:
        if not rasters.is_tiff(source.file):
            return 0
        header = headers.header(source.file)
        return header.width * header.height
    except (OSError, ValueError):
        return 0


def _placed(source: Input) -> Scene | None:
    try:
        scene = opening.scene(source.file) if rasters.is_tiff(source.file) and headers.header(source.file).placed else None
    except (OSError, ValueError):
        return None
    return scene if scene is not None and scene.crs else None


def _of_shapes(listed: tuple[str, ...], every: list[Input]) -> set[str]:
    """The names of the files with polygons: those that a look found, and those of the same format."""
    endings = {name.rpartition(".")[2].lower() for name in listed}
    return {*listed, *(s.name for s in every if (e := s.name.rpartition(".")[2].lower()) in endings and e in vectors.ENDINGS and e != "json")}


def load(claim: Claim, settings, checks: Checks) -> Dataset:
    """The blocks of the scenes in three splits. Raises UserError."""
    found: Reading = claim.reading
    labels: tuple[str, ...] = ()
    if found.pairs:
        learnt = [Learnt(p.source, p.scene, Masked(m.source.file, m.scene, found.measured)) for p, m in found.pairs]
    else:
        layers, damaged = mapped.layers(found.shapes, found.every)
        _tell_of_damaged(damaged, len(layers), checks)
        over = mapped.over(found.scenes, layers, found.attribute, checks)
        labels = over.labels
        learnt = [Learnt(source, outlined.scene, outlined) for source, outlined in over.scenes]
    if found.alone:
        checks.warning("scenes_alone", f"Scenes without a mask, and masks without a scene, are left out: {some(found.alone, 5)}.")
        checks.drop("a scene without a mask, or a mask without a scene", len(found.alone))
    learnt = _of_one_sort(learnt, checks)
    task = _NUMBERS if found.measured else _CLASSES
    checks.events.decision("task", task, f"The task is {'a number' if found.measured else 'a class'} for each pixel: {claim.why}.")
    blocks, sums, side = _blocks(learnt, checks)
    sizes = [(x.scene.height, x.scene.width) for x in learnt]
    parts = places.split(blocks, list(zip([x.source.name for x in learnt], sums)), sizes, side, settings, checks)
    return _dataset(claim, parts, learnt, labels, checks)


def _tell_of_damaged(damaged: list[tuple[str, str]], left: int, checks: Checks) -> None:
    if damaged and not left:
        raise UserError("no_polygons", f"{damaged[0][0]} cannot be read: {damaged[0][1]}.", "Save it again, for example with QGIS.")
    if damaged:
        checks.warning("shapes_unreadable", f"Files that cannot be read are left out: {some([f'{n} ({why})' for n, why in damaged], 5)}.")


def _of_one_sort(learnt: list[Learnt], checks: Checks) -> list[Learnt]:
    """The scenes that are stored as most pixels are. Raises UserError where two sorts are as large."""
    sizes: Counter = Counter()
    for one in learnt:
        sizes[one.scene.form.sort] += one.scene.pixels
    (most, pixels), *others = sizes.most_common()
    words = {one.scene.form.sort: one.scene.form.words for one in learnt}
    if others and 2 * others[0][1] >= pixels:
        raise UserError("mixed_images", f"The scenes are stored in different ways: {some(words.values())}.", "Use scenes of one sort.")
    left = [one.source.name for one in learnt if one.scene.form.sort != most]
    if left:
        checks.warning("image_forms", f"{count(len(left), 'scene')} not stored with {words[most]} are left out: {some(left, 5)}.")
    return [one for one in learnt if one.scene.form.sort == most]


def _blocks(learnt: list[Learnt], checks: Checks) -> tuple[list[Block], list[str], int]:
    """The labelled blocks of all scenes, the sums of these, and the side of a block. Raises UserError."""
    side = places.side([(x.scene.height, x.scene.width) for x in learnt])
    counts: list[tuple[Block, Counter]] = []
    said = []
    for number, one in enumerate(learnt):
        try:
            own, words = _labelled(one, places.blocks(number, one.scene.height, one.scene.width, side))
        except (OSError, ValueError) as e:
            own, words = [], f"The scene {one.source.name} or its mask cannot be read, so it is left out: {e}."
        counts += own
        said += [words] if words else []
    total = sum((values for _, values in counts), Counter())
    if len(counts) < splitting.FEWEST:
        raise UserError(
            "too_few_pictures", f"Only {count(len(counts), 'block')} of {side} x {side} pixels of the scenes are labelled.",
            "Replace the damaged files." if said else f"Label more of them: at least {splitting.FEWEST} blocks, better fifty.", " ".join(said[:3]),
        )  # fmt: skip
    for words in said:
        checks.warning("damaged_scene", words)
    first = min(total)
    kept = [replace(block, filled=any(v != first for v in values)) for block, values in counts]
    kept = _some(kept, learnt[0].scene.bands, checks)
    text = f"The scenes are read in {count(len(kept), 'block')} of {side} x {side} pixels, by windows."
    checks.events.decision("blocks", len(kept), text)
    return kept, [one.source.sha256 or run_files.sha256(one.source.file) for one in learnt], side


def _labelled(one: Learnt, blocks: list[Block]) -> tuple[list[tuple[Block, Counter]], str]:
    """The labelled ones of the blocks of a scene with their values, and what is said of tiles that cannot be read. Raises OSError or ValueError."""
    found = []
    damaged: set[damage.Tile] = set()
    for block in blocks:
        values, known, tiles = cutting.counted(one.scene, one.truth, block.place)
        damaged.update(tiles)
        if places.is_used(known, block):
            found.append((block, values))
    words = told.of_training(one.source.name, damaged, one.truth.damaged)
    return found, words if found or not words else f"{words} Nothing is left of it."


def _some(blocks: list[Block], bands: int, checks: Checks) -> list[Block]:
    """As many blocks as are read, from all over the scenes."""
    values = sum(b.height * b.width for b in blocks) * bands
    if values <= _MOST_VALUES:
        return blocks
    each = values / _MOST_VALUES
    kept = [blocks[int(i * each)] for i in range(int(len(blocks) / each))]
    checks.warning("blocks", f"Only {len(kept)} of {len(blocks)} blocks, from all over the scenes, are read: all together are too large.")
    return kept


def _dataset(claim: Claim, parts: dict[str, list[Block]], learnt: list[Learnt], named: tuple[str, ...], checks: Checks) -> Dataset:
    found: Reading = claim.reading
    found.folder.mkdir(parents=True, exist_ok=True)
    _check_disk(found.folder, parts, learnt)
    cut = {name: [_cut(learnt[b.scene], b, found.folder) for b in blocks] for name, blocks in parts.items()}
    pictures, masks = ([pair[side] for rows in cut.values() for pair in rows] for side in (0, 1))
    coloured = _are_in_colours(learnt)
    scanned = scanning.scan(pictures, masks, found.measured, checks, coloured)
    scanned = replace(scanned, palette=_palette(found), nodata=codings.NO_COLOUR if coloured else None)
    by_name = {p.picture.name: p for p in scanned.pairs}
    coding: codings.Classes | codings.Numbers
    labels: tuple[str, ...] = ()
    if found.measured:
        coding = codings.Numbers(*scanning.spread([by_name[p.name] for p, _ in cut["train"] if p.name in by_name]))
    else:
        assert claim.files is not None
        classes = naming.Named(dict(enumerate(named))) if named else naming.find(claim.files.sources)
        coding, labels = scanning.classes(scanned, classes, checks)
        if not named:
            alike.check_blocks(scanned.pairs if not classes.values else [], coding)
            alike.tell_of_unlabelled(scanned.pairs, coding, checks)
        coding = replace(coding, labels=labels)
    rows = {name: [_example(by_name[p.name], coding, labels) for p, _ in pairs if p.name in by_name] for name, pairs in cut.items()}
    keys = Keys(claim.kind.key)
    files = [one.source.name for one in learnt]
    return Dataset(
        _NUMBERS if found.measured else _CLASSES, claim.kind, rows, files, (), "", labels=labels,
        types={MASK: "number" if found.measured else "category"}, dropped=checks.dropped, not_read=checks.not_read, checks=checks.entries,
        split_sha256=splits.digest(rows, keys), separator=SEPARATOR * bool(labels),
    )  # fmt: skip


def _are_in_colours(learnt: list[Learnt]) -> bool:
    """Whether the masks are in colours. Raises UserError where some are and others are not."""
    names: tuple[list[str], list[str]] = [], []
    for one in learnt:
        names[one.truth.unknown == codings.NO_COLOUR].append(one.source.name)
    if all(names):
        raise UserError(
            "mask_codings", f"The masks of {some(names[1], 3)} are in colours, and those of {some(names[0], 3)} are numbers.",
            "Save all masks in one way.",
        )  # fmt: skip
    return bool(names[1])


def _palette(found: Reading) -> list[int]:
    """The packed colours of the values of the first mask, by its palette; none without one."""
    if not found.pairs or not (mask := found.pairs[0][1]).scene.palette:
        return []
    with opening.opened(mask.source.file) as dataset:
        colours = dataset.colormap(1)
    return [red << 16 | green << 8 | blue for red, green, blue, _ in (colours[value] for value in sorted(colours))]


def _check_disk(folder: Path, parts: dict[str, list[Block]], learnt: list[Learnt]) -> None:
    """Raise UserError where the blocks, and the numbers of 8 bits that are made of them, may not fit on the disk."""
    each = [one.scene.bands * (numpy.dtype(one.scene.dtype).itemsize + 1) + 3 for one in learnt]
    need = sum(b.height * b.width * each[b.scene] for rows in parts.values() for b in rows)
    free = shutil.disk_usage(folder).free
    if need + _SPARE > free:
        raise UserError(
            "disk_space", f"The blocks of the scenes need up to {gigabytes(need)}, and the shared folder has {gigabytes(free)} free.",
            "Ask the administrator to make space there, or train on fewer scenes.",
        )  # fmt: skip


def _cut(one: Learnt, block: Block, folder: Path) -> tuple[Input, Input]:
    return cutting.cut(one.source, one.scene, one.truth, block, folder)


def _example(pair: scanning.Pair, coding: codings.Classes | codings.Numbers, labels: tuple[str, ...]) -> Example:
    """A block as an example. Its target lists its classes, or is the mean of its numbers."""
    if isinstance(coding, codings.Classes):
        held = [label for label, value in zip(labels, coding.values) if pair.counts[value]]
        target = SEPARATOR.join(held) or labels[0]
    else:
        number, total, _ = pair.sums
        target = f"{total / number if number else 0.0:.9g}"
    return Example(pair.picture.name, 0, Pixels(pair.picture.file, pair.mask.file, coding), target)
