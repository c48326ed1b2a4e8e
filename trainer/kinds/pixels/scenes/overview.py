"""A scene in a small picture with the answer over it: workers keep every so many pixels of what they read and answer anyhow."""

from pathlib import Path
from typing import Any

import numpy

from trainer.kinds.pixels import overlay, shown
from trainer.kinds.pixels.codings import EMPTY
from trainer.kinds.pixels.scenes import parts
from trainer.kinds.pixels.scenes.units import Asked, Unit
from trainer.kinds.pixels.target import PixelClasses


class Part:
    """What a unit of a scene of ``size`` (height, width) shows of it. ``names`` are those of its bands, or empty."""

    def __init__(self, unit: Unit, size: tuple[int, int], dtype: Any, names: tuple[str, ...] = ()):
        self.unit, self.step, self.names = unit, overlay.every(size), names
        self.top, self.left, height, width = _place(unit, self.step)
        self.pixels = numpy.zeros((height, width, 3), numpy.uint8)
        self.answer = numpy.zeros((height, width), dtype)

    def add(self, pixels: numpy.ndarray, answer: numpy.ndarray, place: tuple[slice, slice]) -> None:
        """Keep what is needed of a window at ``place`` in the unit: numbers of 8 bits (height x width x bands) and their answer."""
        top, left = self.unit.rows.start + place[0].start, self.unit.columns.start + place[1].start
        every = slice(-top % self.step, None, self.step), slice(-left % self.step, None, self.step)
        kept = answer[every]
        begins = -(-top // self.step) - self.top, -(-left // self.step) - self.left
        where = tuple(slice(start, start + n) for start, n in zip(begins, kept.shape))
        self.answer[where], self.pixels[where] = kept, shown.seen(pixels[every], self.names)

    def arrays(self) -> dict[str, numpy.ndarray]:
        return {parts.SEEN: self.pixels, parts.SAID: self.answer}


def draw(asked: Asked, run: Path, digest: str, units: list[Unit], target: Any, to: Path, number: int) -> None:
    """Draw the scene of ``units``, the example ``number``, into a file below ``to`` as ``overlay.draw`` does; nothing where a part is gone."""
    size = asked.scene.height, asked.scene.width
    step = overlay.every(size)
    height, width = (-(-n // step) for n in size)
    classes = isinstance(target, PixelClasses)
    pixels = numpy.zeros((height, width, 3), numpy.uint8)
    answer = numpy.full((height, width), EMPTY if classes else numpy.nan, numpy.uint8 if classes else numpy.float32)
    for unit in units:
        file = parts.place(run, digest, unit.number)
        seen, said = parts.read(file, parts.SEEN), parts.read(file, parts.SAID)
        top, left, high, wide = _place(unit, step)
        if seen is None or said is None or said.shape != (high, wide) or seen.shape != (high, wide, 3):
            return
        place = slice(top, top + high), slice(left, left + wide)
        pixels[place], answer[place] = seen, said
    overlay.draw(to, number, pixels, answer, target)


def _place(unit: Unit, step: int) -> tuple[int, int, int, int]:
    """Where a unit is in the small picture: top, left, height and width."""
    (top, below), (left, right) = ((-(-s.start // step), -(-s.stop // step)) for s in (unit.rows, unit.columns))
    return top, left, below - top, right - left
