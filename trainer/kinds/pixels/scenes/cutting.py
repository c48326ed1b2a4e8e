"""Scenes as pictures with masks: each block of place is written as one, by windows, so a scene is never in memory as a whole."""

from collections import Counter
from collections.abc import Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy

from trainer.core.input import Input
from trainer.data import tiffs
from trainer.data.scenes import damage, opening
from trainer.data.scenes.damage import Tile
from trainer.data.scenes.opening import Scene
from trainer.kinds.pixels import codings
from trainer.kinds.pixels.codings import NO_COLOUR, NODATA
from trainer.kinds.pixels.scenes import masks, where
from trainer.kinds.pixels.scenes.places import Block

FOLDER = "blocks"  # in the folder of a start


class Truth(Protocol):
    """What is right for the pixels of a scene. ``damaged`` are tiles of its file that could not be read so far."""

    @property
    def damaged(self) -> Set[Tile]: ...

    @property
    def unknown(self) -> float:
        """What ``window`` says of pixels of which nothing is known."""

    def window(self, place: tuple[slice, slice]) -> numpy.ndarray:
        """Whole numbers, packed colours, or numbers with fractions."""


@dataclass
class Masked:
    """A mask as large as its scene. ``measured`` ones hold numbers. What cannot be read of it is unknown."""

    file: Path
    scene: Scene
    measured: bool
    damaged: set[Tile] = field(default_factory=set)

    @property
    def unknown(self) -> float:
        return numpy.nan if self.measured else NO_COLOUR if masks.in_colours(self.scene) else NODATA

    def window(self, place: tuple[slice, slice]) -> numpy.ndarray:
        values, dtype = (masks.numbers, numpy.float32) if self.measured else (masks.grey, numpy.int64)
        if masks.in_colours(self.scene):
            values = masks.packed
        with opening.opened(self.file) as dataset:
            right, holds, tiles = damage.read(dataset, self.scene, place, 1, lambda d, part: (values(d, self.scene, part)[..., None], None), dtype)
        if holds is not None:
            right[~holds] = self.unknown
        self.damaged.update(tiles)
        return right[..., 0]


def counted(scene: Scene, truth: Truth, place: tuple[slice, slice]) -> tuple[Counter, int, list[Tile]]:
    """How many pixels of a block have each value (of numbers 1 for all), how many are known and hold data, and tiles of the scene that cannot be
    read. Raises OSError or ValueError where the scene cannot be opened."""
    right = truth.window(place)
    _, holds, tiles = _read(scene, place)
    known = numpy.isfinite(right) if right.dtype.kind == "f" else right != truth.unknown
    if holds is not None:
        known &= holds
    values = right[known]
    return (Counter({1: len(values)}) if right.dtype.kind == "f" else masks.counted(values)), int(known.sum()), tiles


def _read(scene: Scene, place: tuple[slice, slice]) -> tuple[numpy.ndarray, numpy.ndarray | None, list[Tile]]:
    """The values of a window (height x width x bands), which pixels hold data (height x width, None for all), and tiles that cannot be read. Their
    pixels hold no data, and have the medians of the others in the window, so that they move no range of a band."""

    def values(dataset: Any, part: tuple[slice, slice]) -> tuple[numpy.ndarray, Any]:
        pixels, holds = opening.colours(dataset, scene, part) if scene.palette else opening.read(dataset, scene, part)
        return pixels, holds if holds is None or holds.ndim == 2 else holds.all(axis=2)

    bands, dtype = (3, numpy.uint8) if scene.palette else (scene.bands, numpy.dtype(scene.dtype))
    with opening.opened(scene.file) as dataset:
        pixels, holds, tiles = damage.read(dataset, scene, place, bands, values, dtype)
    if holds is not None and tiles and holds.any():
        lost = numpy.zeros(holds.shape, bool)
        for top, left, height, width in tiles:
            lost[max(0, top - place[0].start) : top + height - place[0].start, max(0, left - place[1].start) : left + width - place[1].start] = True
        pixels[lost] = numpy.median(pixels[holds], axis=0).astype(dtype)
    return pixels, holds, tiles


def cut(source: Input, scene: Scene, truth: Truth, block: Block, folder: Path) -> tuple[Input, Input]:
    """Write a block and its mask into ``folder``. Raises OSError or ValueError."""
    name = where.name(source.name, block.left, block.top)
    stem = f"{block.scene}-{block.top}-{block.left}"
    pixels, holds, _ = _read(scene, block.place)
    right = truth.window(block.place)
    if holds is not None:
        right = numpy.where(holds, right, right.dtype.type(truth.unknown))
    picture, mask = folder / f"{stem}.tif", folder / f"{stem}-mask.tif"
    _write(picture, pixels, scene.nodata if scene.nodata is not None and not scene.palette else None, tiffs.complete(scene.names))
    if truth.unknown == NO_COLOUR:
        right = codings.unpacked(right).astype(numpy.uint8)
    _write(mask, right.astype(numpy.float32) if right.dtype.kind == "f" else _small(right), None, ())
    return tuple(Input(n, f, f.stat().st_size, "") for n, f in ((name, picture), (f"the mask of {name}", mask)))  # type: ignore[return-value]


def _small(right: numpy.ndarray) -> numpy.ndarray:
    return right.astype(numpy.uint8) if right.min() >= 0 and right.max() <= NODATA else right.astype(numpy.int32)


def _write(file: Path, values: numpy.ndarray, nodata: float | None, named: tuple[str, ...]) -> None:
    import tifffile  # only where there are scenes

    tags = [(tiffs.METADATA, "s", 0, tiffs.metadata(named), True)] if named else []
    tags += [(tiffs.NODATA, "s", 0, f"{nodata:.17g}", True)] if nodata is not None else []
    more: dict[str, Any] = {"extratags": tags} if tags else {}
    several = values.ndim == 3 and values.shape[2] > 1
    plain = several and values.shape[2] == 3 and values.dtype == numpy.uint8
    flat = values if several else values.reshape(values.shape[:2])
    if several:
        more["planarconfig"] = "contig"
    tifffile.imwrite(file, flat, photometric="rgb" if plain else "minisblack", compression="zlib", metadata=None, **more)
