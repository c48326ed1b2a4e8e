"""Scenes as pictures with masks: each block of place is written as one, by windows, so a scene is never in memory as a whole."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy

from trainer.core.input import Input
from trainer.data import tiffs
from trainer.data.scenes import opening
from trainer.data.scenes.opening import Scene
from trainer.kinds.pixels.codings import NODATA
from trainer.kinds.pixels.scenes import masks, where
from trainer.kinds.pixels.scenes.places import Block

FOLDER = "blocks"  # in the folder of a start


class Truth(Protocol):
    """What is right for the pixels of a scene."""

    def window(self, place: tuple[slice, slice]) -> numpy.ndarray:
        """Whole numbers with NODATA for unknown pixels, or numbers with NaN."""


@dataclass
class Masked:
    """A mask as large as its scene. ``measured`` ones hold numbers."""

    file: Path
    scene: Scene
    measured: bool

    def window(self, place: tuple[slice, slice]) -> numpy.ndarray:
        with opening.opened(self.file) as dataset:
            return (masks.numbers if self.measured else masks.grey)(dataset, self.scene, place)


def counted(scene: Scene, truth: Truth, place: tuple[slice, slice]) -> tuple[Counter, int]:
    """How many pixels of a block have each value (of numbers 1 for all), and how many are known and hold data."""
    right = truth.window(place)
    with opening.opened(scene.file) as dataset:
        _, holds = opening.read(dataset, scene, place)
    known = numpy.isfinite(right) if right.dtype.kind == "f" else right != NODATA
    if holds is not None:
        known &= holds.all(axis=2)
    values = right[known]
    return (Counter({1: len(values)}) if right.dtype.kind == "f" else masks.counted(values)), int(known.sum())


def cut(source: Input, scene: Scene, truth: Truth, block: Block, folder: Path) -> tuple[Input, Input]:
    """Write a block and its mask into ``folder``. Raises OSError or ValueError."""
    name = where.name(source.name, block.left, block.top)
    stem = f"{block.scene}-{block.top}-{block.left}"
    with opening.opened(scene.file) as dataset:
        pixels, holds = opening.colours(dataset, scene, block.place) if scene.palette else opening.read(dataset, scene, block.place)
    right = truth.window(block.place)
    if holds is not None:
        whole = holds if holds.ndim == 2 else holds.all(axis=2)
        right = numpy.where(whole, right, numpy.nan if right.dtype.kind == "f" else NODATA)
    picture, mask = folder / f"{stem}.tif", folder / f"{stem}-mask.tif"
    _write(picture, pixels, scene.nodata if scene.nodata is not None and not scene.palette else None, tiffs.complete(scene.names))
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
