"""Small maps of scenes for the report: where training, validation and test lie, and what is not labelled."""

import base64
import io
import re
from collections.abc import Iterator

import numpy

from trainer.core.blocks import Block, Picture, pictures
from trainer.core.example import Dataset, Example
from trainer.data import rasters
from trainer.export import display

_NAMED = re.compile(r"(.*) at (\d+), (\d+)")
_SIDE, _MOST = 360, 4  # pixels of the longer side of a map, and maps
_COLOURS = {"train": (0, 114, 178), "validation": (230, 159, 0), "test": (0, 158, 115)}
_ELSEWHERE = (225, 225, 225)
_LEGEND = "Training is blue, validation orange and test green; what is grey is not labelled, in a gap, or not used. North lies as in the scene."


def name(scene: str, left: int, top: int) -> str:
    """What a block of a scene is called."""
    return f"{scene} at {left}, {top}"


def is_block(example: Example) -> bool:
    """Whether an example was cut from a scene: it is called so, and its pixels are in a file of another name."""
    matched = _NAMED.fullmatch(example.file)
    return matched is not None and matched[1].rpartition("/")[2] != example.content.picture.name


def maps(data: Dataset) -> list[Block]:
    """The maps of the first scenes that were cut into blocks; none where pictures are no blocks."""
    found = [Picture(_map(list(_blocks(data, scene))), display.short(scene)) for scene in data.files[:_MOST] if any(_blocks(data, scene))]
    return [pictures("Where training and test lie", found, text=[_LEGEND])] if found else []


def _blocks(data: Dataset, scene: str) -> Iterator[tuple[str, int, int, Example]]:
    """The split, left and top of each block of a scene, and the block."""
    for split, rows in data.splits.items():
        for example in rows:
            matched = _NAMED.fullmatch(example.file)
            if matched and matched[1] == scene:
                yield split, int(matched[2]), int(matched[3]), example


def _map(blocks: list[tuple[str, int, int, Example]]) -> str:
    from PIL import Image  # only where there are pictures

    placed = [(split, left, top, *rasters.size(example.content.picture)) for split, left, top, example in blocks]
    width, height = max(left + w for _, left, _, w, _ in placed), max(top + h for _, _, top, _, h in placed)
    scale = min(1.0, _SIDE / max(width, height))
    drawn = numpy.full((max(1, round(height * scale)), max(1, round(width * scale)), 3), _ELSEWHERE, numpy.uint8)
    for split, left, top, w, h in placed:
        rows, columns = (slice(round(a * scale), max(round(a * scale) + 1, round((a + n) * scale) - 1)) for a, n in ((top, h), (left, w)))
        drawn[rows, columns] = _COLOURS[split]
    data = io.BytesIO()
    Image.fromarray(drawn).quantize(8).save(data, "PNG", optimize=True)
    return base64.b64encode(data.getvalue()).decode()
