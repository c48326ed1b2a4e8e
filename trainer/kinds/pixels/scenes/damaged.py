"""What is said of tiles of scenes, and of their masks, that could not be read."""

from collections.abc import Iterable
from pathlib import Path

import numpy

from trainer.data.scenes.damage import Tile
from trainer.errors import count, some
from trainer.kinds.pixels.scenes import parts
from trainer.kinds.pixels.scenes.units import Unit

OF_MASK = 4  # the place, behind the four numbers of a tile, that is 1 for a window of the mask


def of_scene(run: Path, digest: str, units: list[Unit]) -> numpy.ndarray:
    """The damaged tiles of a scene and windows of its mask, each once (n x 5: top, left, height, width, and whether of the mask)."""
    found = [parts.read(parts.place(run, digest, u.number), parts.DAMAGED) for u in units]
    listed = [f for f in found if f is not None and len(f)]
    return numpy.unique(numpy.concatenate(listed), axis=0) if listed else numpy.zeros((0, 5), numpy.int64)


def words(tiles: numpy.ndarray) -> list[str]:
    """One sentence for the tiles, and one for the windows of the mask; none where there are none."""
    said = []
    if len(own := tiles[tiles[:, OF_MASK] == 0]):
        said.append(f"{count(len(own), 'tile')} cannot be read and {'has' if len(own) == 1 else 'have'} no data in the answer: {_places(own)}.")
    if len(masked := tiles[tiles[:, OF_MASK] == 1]):
        said.append(f"The mask cannot be read in {count(len(masked), 'window')}, which {'is' if len(masked) == 1 else 'are'} not measured: "
                    f"{_places(masked)}.")  # fmt: skip
    return said


def of_training(name: str, scene: Iterable[Tile], mask: Iterable[Tile]) -> str:
    """What is said of a scene to learn from, and of its mask, of which these tiles cannot be read; empty where there are none."""
    said = []
    for what, tiles in ((f"the scene {name}", sorted(scene)), (f"the mask of {name}", sorted(mask))):
        if tiles:
            verb = "is" if len(tiles) == 1 else "are"
            said.append(
                f"{count(len(tiles), 'tile')} of {what} cannot be read and {verb} neither learnt nor measured: {_places(numpy.asarray(tiles))}."
            )
    return " ".join(said)


def _places(tiles: numpy.ndarray) -> str:
    return some([f"at {left}, {top} ({width} x {height} pixels)" for top, left, height, width, *_ in tiles.tolist()], 5)
