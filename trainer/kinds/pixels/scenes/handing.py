"""What is delivered for scenes: a map of each, and its polygons. The driver makes it of the answers of the workers."""

import contextlib
import errno
import os
import shutil
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy

from trainer.data.scenes import opening
from trainer.errors import UserError, count, gigabytes, is_full
from trainer.kinds.pixels import codings
from trainer.kinds.pixels.delivery import without_data, written
from trainer.kinds.pixels.numbers import PixelNumbers
from trainer.kinds.pixels.painted import has_ground
from trainer.kinds.pixels.scenes import geojson, geopackage, maps, parts, polygons
from trainer.kinds.pixels.scenes.areas import Plane
from trainer.kinds.pixels.scenes.units import Asked, Unit
from trainer.kinds.pixels.target import PixelClasses

MOST_POLYGONS = 2_000_000  # of a scene: of more, none are delivered
_SPARE = 1 << 30  # bytes that stay free
_FULL = 1 << 24  # free bytes below which a failed write means a full disk
_EACH = {"classes": 3, "numbers": 9}  # bytes of a pixel on disk at most: the parts, the map as it is written, and the map

_EACH_ODDS = 5  # more for each class of which probabilities are asked for: the parts, their map, and that of possible classes
_EACH_END = 18  # more for numbers with intervals: the map as it is written, and the map
ODDS, POSSIBLE, INTERVALS = ".probabilities.tif", ".possible.tif", ".interval.tif"  # the ends of the names of further maps


@dataclass(frozen=True)
class Told:
    """What is said of the files of a scene: of its map, and of its polygons."""

    map: str
    polygons: str


def further(target: PixelClasses | PixelNumbers, asked: bool) -> tuple[str, ...]:
    """The ends of the names of the further maps of a scene, where they are ``asked`` for."""
    if not asked:
        return ()
    promised = target.of_pixels is not None
    return (ODDS, *[POSSIBLE] * promised) if isinstance(target, PixelClasses) else (INTERVALS,) * promised


def check_disk(folder: Path, scenes: list[Asked], classes: bool, odds: int = 0, ends: bool = False) -> None:
    """Raise UserError where the answers may not fit on the disk of the run. ``odds`` is of how many classes probabilities are asked for, and
    ``ends`` says whether those of intervals are."""
    need = sum(s.scene.pixels for s in scenes) * (_EACH["classes" if classes else "numbers"] + _EACH_ODDS * odds + _EACH_END * ends)
    free = shutil.disk_usage(folder).free
    if need + _SPARE > free:
        raise UserError(
            "disk_space", f"The answers may need {gigabytes(need)}, and the shared folder has {gigabytes(free)} free.",
            "Ask the administrator to make space there, or choose fewer scenes in data_file.",
        )  # fmt: skip


@contextlib.contextmanager
def telling_full(folder: Path) -> Iterator[None]:
    """Inside this context, what GDAL and SQLite raise on a full disk becomes the OSError that says so."""
    try:
        yield
    except (OSError, sqlite3.Error) as e:
        if is_full(e) or shutil.disk_usage(folder).free >= _FULL:
            raise
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(folder)) from e


def make(
    asked: Asked,
    units: list[Unit],
    run: Path,
    digest: str,
    coding,
    target: PixelClasses | PixelNumbers,
    to: Path,
    vectors: bool,
    more: tuple[str, ...] = (),
) -> Told:
    """Make the files of a scene: ``to`` with .tif, with .gpkg and .geojson for classes where ``vectors`` asks for them, and with the ends of ``more``
    maps (see ``further``)."""
    with telling_full(to.parent):
        for end in more:
            file = to.with_name(to.name + end)
            if isinstance(target, PixelNumbers):
                maps.intervals(asked.scene, run, digest, units, target.around, file)
            else:
                write = maps.probabilities if end == ODDS else maps.possible
                write(asked.scene, run, digest, units, target.labels, file)
        return _made(asked, units, run, digest, coding, target.labels, to, vectors)


def _made(asked: Asked, units: list[Unit], run: Path, digest: str, coding, labels: tuple[str, ...], to: Path, vectors: bool) -> Told:
    scene = asked.scene
    file = to.with_suffix(".tif")
    maps.write(scene, run, digest, units, coding, file)
    map_words = "The reference system, transform and size are those of the scene." if scene.crs else "The scene has no reference system, so no map."
    if not vectors or not labels:
        return Told(map_words, "")
    rough = to.with_suffix(".scores.tif")
    maps.scores(scene, run, digest, units, rough)
    said = _Polygons(asked, coding, labels, to).write(file, rough)
    rough.unlink()
    return Told(map_words, said)


class _Polygons:
    def __init__(self, asked: Asked, coding: codings.Classes, labels: tuple[str, ...], to: Path):
        self.scene, self.coding = asked.scene, coding
        self.labels = labels if has_ground(labels) else ("", *labels)  # the first one has no polygons
        self.plane = Plane(asked.scene)
        self.files = [to.with_suffix(".gpkg"), *([to.with_suffix(".geojson")] if asked.scene.crs else [])]

    def write(self, map_file: Path, scores: Path) -> str:
        """Write the polygons, and what is said of them."""
        package = geopackage.Writer(self.files[0], self.plane.crs)
        lines = geojson.Writer(self.files[1]) if len(self.files) > 1 else None
        number = cut = 0
        for found in polygons.polygons(self._strips(map_file, scores), len(self.labels)):
            number, cut = number + len(found.geometries), cut + found.parts
            if number > MOST_POLYGONS:
                break
            self._add(found, package, lines)
        package.close()
        if lines is not None:
            lines.close()
        if number > MOST_POLYGONS:
            for file in self.files:
                file.unlink()
            return f"The map has more than {count(MOST_POLYGONS, 'polygon')}, so these are not delivered."
        but = f" but {self.labels[0]}" if self.labels[0] else ""
        said = f"{count(number, 'polygon')} of all classes{but}, with class, score (the mean over its pixels) and area"
        said += f"; {self.plane.words}." if self.plane.words else " in pixels, because the scene has no reference system."
        return said + (f" {count(cut, 'polygon')} with very many corners are cut into parts." if cut else "")

    def _add(self, found: polygons.Found, package: geopackage.Writer, lines: geojson.Writer | None) -> None:
        if not len(found.geometries):
            return
        placed = self.plane.placed(found.geometries)
        areas = self.plane.areas(placed, found.pixels)
        columns = (
            [self.labels[i] for i in found.classes], (found.scores / parts.SURE).tolist(),
            [None] * len(placed) if areas is None else areas.tolist(), found.pixels.astype(int).tolist(),
        )  # fmt: skip
        package.add(placed, *columns)
        if lines is not None:
            lines.add(self.plane.in_degrees(placed), *columns)

    def _strips(self, map_file: Path, scores: Path):
        """The strips of the map as places of classes, with the scores."""
        values = written(self.coding)
        places = numpy.zeros(256, numpy.uint8)  # 0 is what has no data and no polygons, as the ground
        places[list(values)] = range(len(self.labels) - len(values), len(self.labels))
        assert without_data(values) not in values
        with opening.opened(map_file) as said, opening.opened(scores) as sure:
            for rows in polygons.strips(self.scene.height, self.scene.width):
                window = rows, slice(0, self.scene.width)
                yield places[opening.read_raw(said, window)[..., 0]], opening.read_raw(sure, window)[..., 0]
