"""The scenes among the files of a prediction, the question to the workers, and what becomes of their answers."""

import hashlib
import json
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy

from trainer.core.example import Example
from trainer.core.input import Input
from trainer.core.plan import Rows, Saved
from trainer.data import rasters
from trainer.data.scenes import headers, opening
from trainer.data.sources import Sources
from trainer.errors import UserError, some
from trainer.export import sheet
from trainer.kinds.pixels import codings, overlay, reading
from trainer.kinds.pixels.drawn import Drawing
from trainer.kinds.pixels.question import OfScenes
from trainer.kinds.pixels.scenes import damaged, handing, overview, parts, units
from trainer.kinds.pixels.scenes.finding import masks_of
from trainer.kinds.pixels.scenes.units import Asked, Unit, Units
from trainer.run_folder import files
from trainer.run_folder.lease import Lease
from trainer.targets import promise as promises

_FORM = 3  # of the parts: another number computes all again
_EACH = 3  # files of a scene with polygons
_TITLES = {
    handing.ODDS: "Probabilities", handing.POSSIBLE: "Possible classes", handing.INTERVALS: "Intervals", ".tif": "Map",
    ".gpkg": "Polygons (GeoPackage)", ".geojson": "Polygons (GeoJSON)",
}  # fmt: skip
SAID = "scenes.json"  # in the folder of a start: what is said of the files of scenes


@dataclass(frozen=True)
class Outcome:
    """Where the answers for scenes are, for ``made``: see ``Units`` and ``OfScenes``. ``numbers`` are the places of the scenes among the examples."""

    run: Path
    work: Path
    target: Any
    scenes: tuple[Asked, ...]
    units: tuple[Unit, ...]
    digests: tuple[str, ...]
    numbers: tuple[int, ...]
    owner: numpy.ndarray
    examples: int
    more: tuple[str, ...] = ()  # the ends of the names of further maps of each scene
    lacks: bool = False  # whether further maps were asked for, and there are none


def to_predict(sources: Sources, measured: bool, events) -> tuple[list[Example], list[str], int]:
    """All pictures and scenes, with their masks; the names of their files, and how many are left out. Raises UserError."""
    inputs, refused = _scenes(sources.images)
    large = [i for i in inputs if not _is_small(i)]
    unread = {name for name, _ in refused}
    rest = replace(sources, images=[i for i in sources.images if i not in large and i.name not in unread])
    # Small scenes are pictures, too: where these have no masks by their names, the pixels tell which are masks, as in a training.
    known = masks_of(large if reading.has_masks(rest, measured) else inputs, measured)
    own = [i for i in inputs if i in large or i.name in known]
    taken = {m.name for m in known.values()}
    rest = replace(rest, images=[i for i in rest.images if i not in own and i.name not in taken])
    rows: list[Example] = []
    named: list[str] = []
    skipped = len(refused)
    for source in own:
        if source.name not in taken:
            mask = known.get(source.name)
            rows.append(_asked(source, mask.file if mask else None, mask.name if mask else ""))
            named.append(source.name)
    if rest.images or not rows:
        if refused and not rest.images:
            raise _refused(refused)
        small, names, left = reading.to_predict(rest, measured, events, frozenset(i.name for i in inputs))
        by_name = {i.name: i for i in inputs}
        rows += [_asked(by_name[e.file], e.content.mask, e.target) if e.file in by_name else e for e in small]
        named, skipped = named + names, skipped + left
    if refused:
        events.warning("scenes_refused", f"{len(refused)} files are left out: {some([f'{name} ({why})' for name, why in refused], 5)}.")
    return rows, named, skipped


def _scenes(images: list[Input]) -> tuple[list[Input], list[tuple[str, str]]]:
    """The scenes among ``images``, and files that are refused as scenes, with the reason, since nothing else reads them."""
    found: list[Input] = []
    refused: list[tuple[str, str]] = []
    for image in images:
        try:
            if not rasters.is_tiff(image.file):
                continue
            if headers.header(image.file).is_scene:
                opening.scene(image.file)
                found.append(image)
        except (OSError, ValueError) as e:
            try:
                rasters.form(image.file)
            except (OSError, ValueError):
                refused.append((image.name, str(e)))
    return found, refused


def _is_small(source: Input) -> bool:
    header = headers.header(source.file)
    return not replace(header, placed=False).is_scene


def _asked(source: Input, mask: Path | Drawing | None, said: str) -> Example:
    """A scene as an example. ``said`` names its mask, empty where there is none."""
    with numpy.printoptions(threshold=sys.maxsize, floatmode="unique"):  # every corner of an outline counts
        known = repr(mask) if isinstance(mask, Drawing) else files.sha256(mask) if mask else ""
    digest = hashlib.sha256(f"{source.sha256 or files.sha256(source.file)} {known}".encode()).hexdigest()
    return Example(source.name, 0, Asked(source.name, opening.scene(source.file), mask, digest), said)


def _refused(refused: list[tuple[str, str]]) -> UserError:
    name, why = refused[0]
    more = f" {len(refused) - 1} more files are refused as well." if len(refused) > 1 else ""
    return UserError("scene_refused", f"The scene {name} cannot be read: {why}.{more}", "Replace it, then submit again.")


def has_scenes(examples: list[Example]) -> bool:
    return any(isinstance(e.content, Asked) for e in examples)


def question(spec, settings, model, kind, target, encoder, examples: list[Example], truth: numpy.ndarray) -> tuple[Saved, Outcome]:
    """What the workers are asked about pictures and scenes, and where their answers for scenes will be. Raises UserError."""
    numbers = [i for i, e in enumerate(examples) if isinstance(e.content, Asked)]
    pictures = [i for i in range(len(examples)) if i not in set(numbers)]
    step = encoder.description["step"]
    scenes = tuple(
        replace(examples[i].content, scene=units.check_form(examples[i].content.scene, examples[i].file, encoder.bands, encoder.colours))
        for i in numbers
    )
    classes = isinstance(encoder.coding, codings.Classes)
    odds = len(target.labels) if classes and settings.probabilities else 0
    more = handing.further(target, settings.probabilities)
    if more and len(examples) + len(more) * len(scenes) > reading.MOST_ANSWERS:
        raise UserError(
            "too_many_files", f"The dataset has {len(examples)} scenes and pictures, which with maps of probabilities would have too many answers.",
            f"Leave probabilities out, or choose at most {reading.MOST_ANSWERS // (1 + len(more))} of them in data_file.",
        )  # fmt: skip
    handing.check_disk(spec.folder, list(scenes), classes, odds, handing.INTERVALS in more)
    made = tuple(u for n, s in enumerate(scenes) for u in units.of_scene(n, s.scene.width, s.scene.height, step, max(1, odds)))
    rows = encoder.encode([examples[i] for i in pictures], truth[pictures], "predict").features if pictures else None
    owner = numpy.asarray([*pictures, *(numbers[u.scene] for u in made)], numpy.int64)
    side = encoder.description["side"]
    asked = Units(rows, scenes, made, owner, encoder.bands, step, side)
    digests = tuple(_digest(model.folder, encoder.description, target, s.digest, odds) for s in scenes)
    lacks = settings.probabilities and not more
    outcome = Outcome(spec.folder, spec.work, target, scenes, made, digests, tuple(numbers), owner, len(examples), more, lacks)
    details = OfScenes(spec.folder, spec.work, encoder.coding, digests, odds > 0)
    return Saved(model.folder, kind, target, Rows(asked, truth[owner]), details=details), outcome


def _digest(folder: Path, description: dict, target: Any, scene: str, odds: int) -> str:
    """Says which model answers which scene, how it is cut, and of how many classes probabilities are kept."""
    weights = [files.sha256(f) for f in sorted(folder.glob("*.safetensors"))]
    text = json.dumps([_FORM, weights, description, target.described(), scene, units.CORE, units.HALO, units.PIXELS, odds], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def answered(outcome: Outcome, encoder, outputs: numpy.ndarray, place: str, events) -> numpy.ndarray:
    """The figures of each example, from those of pictures and units. Makes the files of scenes in the folder ``place`` of the start."""
    found = numpy.zeros((outcome.examples, outputs.shape[1]), outputs.dtype)
    numpy.add.at(found, outcome.owner, outputs)
    folder = outcome.work / place
    folder.mkdir(parents=True, exist_ok=True)
    vectors = outcome.examples + (_EACH - 1 + len(outcome.more)) * len(outcome.scenes) <= reading.MOST_ANSWERS
    said = {}
    for number, scene in enumerate(outcome.scenes):
        own = [u for u in outcome.units if u.scene == number]
        to = folder / str(outcome.numbers[number])
        target, example = outcome.target, outcome.numbers[number]
        told = handing.make(scene, own, outcome.run, outcome.digests[number], encoder.coding, target, to, vectors, outcome.more)
        if example < sheet.MOST:
            overview.draw(scene, outcome.run, outcome.digests[number], own, outcome.target, outcome.work / overlay.FOLDER, example)
        broken = damaged.words(damaged.of_scene(outcome.run, outcome.digests[number], own))
        if broken:
            events.warning("damaged_scene", f"The scene {scene.name} is damaged. {' '.join(broken)}")
        said[f"{to.name}.tif"] = " ".join([f"The answer for {scene.name}.", told.map, *broken])
        said |= {f"{to.name}{end}": text for end, text in _further(target).items()}
        said |= {f"{to.name}.{ending}": told.polygons for ending in ("gpkg", "geojson")}
    if outcome.lacks:
        events.warning("probabilities_unused", "There are no maps of intervals, because the model promises nothing for single pixels.")
    files.write_json(outcome.work / SAID, said)
    Lease(outcome.work).remove(outcome.run / parts.FOLDER)
    return found


def _further(target: Any) -> dict[str, str]:
    """What is said of further maps, by the ends of their names."""
    share = promises.percent(target.of_pixels.coverage) if target.of_pixels is not None else ""
    bands = f"a band for each: {some(target.labels, 20)}. 255 has no data."
    return {
        handing.ODDS: f"The probability of each class in percent, {bands}",
        handing.POSSIBLE: f"1 where a class is possible, so that the right one is for {share} of the pixels of a class, {bands}",
        handing.INTERVALS: f"The ends of the interval of each pixel, low and high, which hold the true number for {share} of pixels.",
    }


def told(work: Path, out: Path, moved: dict[str, Path]) -> dict[str, dict]:
    """What is said of the delivered files of scenes, by their paths in the result. ``moved`` has their places by their names before."""
    try:
        said = files.read_json(work / SAID)
    except OSError:
        return {}
    return {to.relative_to(out.parent).as_posix(): {"title": _title(name), "text": said[name]} for name, to in moved.items() if name in said}


def _title(name: str) -> str:
    return next(title for ending, title in _TITLES.items() if name.endswith(ending))
