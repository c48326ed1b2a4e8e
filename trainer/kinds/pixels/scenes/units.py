"""What a prediction answers, in pieces: each picture is one, and a scene is as many as fit its size. Workers share the pieces."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy

from trainer.data import tiffs
from trainer.data.pictures import bands, thumbnails
from trainer.data.pictures.bands import Bands
from trainer.data.scenes import damage, opening
from trainer.data.scenes.opening import Scene
from trainer.errors import UserError
from trainer.kinds.pixels.drawn import Drawing
from trainer.kinds.pixels.windows import Windows, normalised

CORE, HALO = 512, 64  # places of the network that are answered in a window, and around them: computed and thrown away
PIXELS = 1 << 25  # of a unit at most
_COLOURS = 3
_SHOWN = 512  # pixels to each side of the middle of a scene, in its small picture


@dataclass(frozen=True)
class Asked:
    """The content of an example of a prediction: the scene in the file ``name``, with its mask if there is one. ``digest`` is that of the files."""

    name: str
    scene: Scene
    mask: Path | Drawing | None
    digest: str

    @property
    def picture(self) -> Path:
        return self.scene.file


def thumbnail(asked: Asked) -> str | None:
    """A small PNG in base64 of the middle of a scene, which is never read as a whole; None where it cannot be read."""
    scene = asked.scene
    place = tuple(slice(max(0, n // 2 - _SHOWN), n // 2 + _SHOWN) for n in (scene.height, scene.width))
    try:
        with opening.opened(scene.file) as dataset:
            return thumbnails.png(bands.seen(*opening.read(dataset, scene, place)))  # type: ignore[arg-type]
    except (OSError, ValueError):
        return None


@dataclass(frozen=True)
class Unit:
    """The rows and columns of a scene that are answered together; ``scene`` and ``number`` count scenes, and units in a scene, from 0."""

    scene: int
    number: int
    rows: slice
    columns: slice


def of_scene(scene: int, width: int, height: int, step: int, bands: int = 1) -> list[Unit]:
    """The units of a scene for a network that reads squares of ``step`` pixels as one place: rows of windows, of wide scenes parts of them.
    ``bands`` is how many numbers of a pixel are kept."""
    core = CORE * step
    across = max(1, PIXELS // bands // core**2) * core
    places = [(top, left) for top in range(0, height, core) for left in range(0, width, across)]
    return [
        Unit(scene, number, slice(top, min(height, top + core)), slice(left, min(width, left + across))) for number, (top, left) in enumerate(places)
    ]


@dataclass(frozen=True)
class Units:
    """The rows of a prediction: those of ``pictures`` (None without any), then the units of all scenes.

    ``owner`` is the example of each row. ``form`` are the bands that the model reads, None for plain pictures.
    """

    pictures: Windows | None
    scenes: tuple[Asked, ...]
    units: tuple[Unit, ...]
    owner: numpy.ndarray
    form: Bands | None
    step: int
    side: int

    @property
    def lengths(self) -> numpy.ndarray:
        return numpy.ones(len(self.owner), numpy.int64)

    @property
    def number_of_pictures(self) -> int:
        return self.pictures.pictures if self.pictures is not None else 0

    def batch(self, rows: numpy.ndarray, augment: numpy.random.Generator | None = None) -> dict[str, numpy.ndarray]:
        """The middles of the rows, by which a model is checked before it answers."""
        if self.pictures is not None and rows.max() < self.pictures.pictures:
            return self.pictures.batch(rows)
        return {"pixel_values": normalised(numpy.stack([self._middle(int(row)) for row in rows]))}

    def _middle(self, row: int) -> numpy.ndarray:
        unit = self.units[row - self.number_of_pictures]
        with opening.opened(self.scenes[unit.scene].scene.file) as dataset:
            place = tuple(slice(s.start, s.start + self.side) for s in (unit.rows, unit.columns))
            part = sound(dataset, self.scenes[unit.scene].scene, place, self.form)[0]  # type: ignore[arg-type]
        return numpy.pad(part, ((0, self.side - part.shape[0]), (0, self.side - part.shape[1]), (0, 0)), mode="edge")


def read(dataset: Any, scene: Scene, place: tuple[slice, slice], form: Bands | None) -> tuple[numpy.ndarray, Any]:
    """A window of a scene as the network's numbers of 8 bits (height x width x bands), and which pixels hold data (None for all)."""
    if form is None:
        pixels, seen = opening.colours(dataset, scene, place)
        return pixels[..., list(scene.order)] if scene.order else pixels, seen
    raw, held = opening.read(dataset, scene, place, len(scene.names) if scene.order else form.count)
    if scene.order:
        raw, held = raw[..., list(scene.order)], None if held is None else held[..., list(scene.order)]
    return bands.scaled(raw, held, form), None if held is None else held.all(axis=2)


def sound(dataset: Any, scene: Scene, place: tuple[slice, slice], form: Bands | None) -> tuple[numpy.ndarray, Any, list[damage.Tile]]:
    """The same of a scene that may have damaged tiles: they hold no data, and are listed."""
    return damage.read(dataset, scene, place, form.count if form else _COLOURS, lambda source, part: read(source, scene, part, form))


def check_form(scene: Scene, name: str, form: Bands | None, colours: tuple[str, ...] = ()) -> Scene:
    """``scene`` as the model reads it, its bands by their names where both have some. Raises UserError where it has other bands than the pictures of
    the training. ``colours`` are the names of the three bands of plain ones, or empty."""
    own = tiffs.complete(scene.names)
    if form is None:
        if scene.form.plain:
            wanted_names = colours if len(own) == len(colours) else ()
            return replace(scene, order=bands.order_of(f"The scene {name}", (scene.bands, scene.dtype), own, wanted_names))
        wanted = "8 bits, as screens show them"
    else:
        order = bands.order_of(f"The scene {name}", (scene.bands, scene.dtype), own, form.names)
        if order and scene.dtype == form.dtype:
            return replace(scene, order=order)
        if scene.dtype == form.dtype and scene.bands == form.count:
            return scene
        if scene.dtype == form.dtype and scene.alpha and scene.bands + 1 == form.count:
            return replace(scene, bands=scene.bands + 1, alpha=False)
        wanted = form.words
    raise UserError(
        "image_form", f"The scene {name} has {scene.form.words}, but the model reads {wanted}.",
        "Use scenes as in the training, from the same instrument and saved in the same way.",
    )  # fmt: skip


def windows(unit: Unit, width: int, height: int, step: int) -> list[tuple[tuple[slice, slice], tuple[slice, slice], tuple[slice, slice]]]:
    """For each window of a unit: what is read of the scene, what of that is answered, and where it belongs in the unit."""
    core, halo = CORE * step, HALO * step
    found = []
    for left in range(unit.columns.start, unit.columns.stop, core):
        answered = unit.rows, slice(left, min(unit.columns.stop, left + core))
        around = tuple(slice(max(0, s.start - halo), min(n, s.stop + halo)) for s, n in zip(answered, (height, width)))
        inner = tuple(slice(s.start - a.start, s.stop - a.start) for s, a in zip(answered, around))
        place = slice(0, unit.rows.stop - unit.rows.start), slice(left - unit.columns.start, answered[1].stop - unit.columns.start)
        found.append((around, inner, place))
    return found  # type: ignore[return-value]
