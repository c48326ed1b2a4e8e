"""Scenes with damaged tiles: what can be read of a window, and which tiles cannot."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy

from trainer.data import rasters
from trainer.data.scenes import opening
from trainer.data.scenes.opening import Scene

Place = tuple[slice, slice]
Tile = tuple[int, int, int, int]  # top, left, height and width


def read(
    dataset: Any, scene: Scene, place: Place, bands: int, values: Callable[[Any, Place], tuple], dtype: Any = numpy.uint8
) -> tuple[numpy.ndarray, Any, list[Tile]]:
    """What ``values`` gives of a window, numbers of ``dtype`` (height x width x bands) and which pixels hold data (None for all); and tiles that
    cannot be read, whose pixels hold none then. Raises OSError or ValueError where the scene cannot be opened.

    A window that fails is read once more from the file opened again, tile by tile: a fault of the network that passes is no damage.
    """
    try:
        return (*values(dataset, place), [])
    except OSError:
        with opening.opened(scene.file) as again:
            return _by_tiles(again, place, bands, values, dtype)


def _by_tiles(
    dataset: Any, place: Place, bands: int, values: Callable[[Any, Place], tuple], dtype: Any
) -> tuple[numpy.ndarray, numpy.ndarray, list[Tile]]:
    rows, columns = (slice(max(0, s.start), min(n, s.stop)) for s, n in zip(place, (dataset.height, dataset.width)))
    shape = rows.stop - rows.start, columns.stop - columns.start
    pixels, holds = numpy.full((*shape, bands), rasters.GREY, dtype), numpy.zeros(shape, bool)
    damaged: list[Tile] = []
    for part, tile in _tiles(dataset, rows, columns):
        try:
            found, held = values(dataset, part)
        except OSError:
            damaged.append(tile)
            continue
        to = tuple(slice(p.start - s.start, p.stop - s.start) for p, s in zip(part, (rows, columns)))
        pixels[to], holds[to] = found, True if held is None else held
    return pixels, holds, damaged


def _tiles(dataset: Any, rows: slice, columns: slice) -> Iterator[tuple[Place, Tile]]:
    """The part of each tile or strip that lies in a window, and the tile."""
    high, wide = dataset.block_shapes[0]
    for top in range(rows.start // high * high, rows.stop, high):
        for left in range(columns.start // wide * wide, columns.stop, wide):
            part = slice(max(top, rows.start), min(top + high, rows.stop)), slice(max(left, columns.start), min(left + wide, columns.stop))
            yield part, (top, left, min(high, dataset.height - top), min(wide, dataset.width - left))
