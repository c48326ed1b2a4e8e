"""Pictures of any size as rows: windows that are drawn again in every step of a training, and whole pictures in an evaluation."""

from dataclasses import dataclass
from typing import Any

import numpy

from trainer.data.pictures.turns import Turn
from trainer.kinds.pixels.codings import EMPTY, MOST, UNLABELLED

HALVINGS = 4  # of width and height in the network
STEP_OF_INSTALLED = 2  # ``step`` of installed models, which halve width and height once more and answer at a quarter of them
MEAN, STD = 127.5, 63.75  # of values from 0 to 255, so that the network reads -2 to 2
HALO = 64  # places of the network around those of a window that are answered: computed, and not used
CORE_PLACES = 256  # that are answered in a window, at least
_FILLED = 0.5  # share of the windows that are drawn around a pixel of a class that is not the first
_LIGHT, _CONTRAST = 0.2, 0.25  # the largest changes of brightness (in units of STD) and of contrast
_TRIES = 4  # pixels that are looked at for one of a rare class


@dataclass(frozen=True)
class Windows:
    """The rows of one split, in two files that every worker maps into memory: values of 8 bits, and what is right for each pixel.

    ``sizes`` are heights and widths of the pictures, ``owner`` the picture of each row. ``side`` is that of a window, ``step`` that of the
    squares that the network reads as one place. ``classes`` is their number, 0 for numbers; ``spread`` is their mean and standard deviation
    then. ``bare`` are the pictures that have no class but the first. ``names`` are those of the bands, or empty.
    """

    pixels_file: str
    truth_file: str
    sizes: numpy.ndarray
    owner: numpy.ndarray
    bands: int
    side: int
    step: int
    classes: int
    spread: tuple[float, float]
    augmentation: str
    bare: numpy.ndarray
    names: tuple[str, ...] = ()

    @property
    def lengths(self) -> numpy.ndarray:
        return numpy.ones(len(self.owner), numpy.int64)

    @property
    def cost(self) -> float:
        """What an evaluation of all pictures costs, in windows."""
        return float(numpy.prod(self.sizes, axis=1).sum()) / self.side**2

    @property
    def pictures(self) -> int:
        return len(self.sizes)

    def picture(self, number: int) -> numpy.ndarray:
        """The values of a picture (height x width x bands, uint8)."""
        return self._part(self.pixels_file, numpy.uint8, number, (self.bands,))

    def truth(self, number: int) -> numpy.ndarray:
        """What is right for each pixel of a picture: classes (uint8), or numbers (float32)."""
        return self._part(self.truth_file, numpy.uint8 if self.classes else numpy.float32, number, ())

    def _part(self, file: str, dtype: Any, number: int, more: tuple[int, ...]) -> numpy.ndarray:
        height, width = (int(n) for n in self.sizes[number])
        start = int(numpy.prod(self.sizes[:number], axis=1, dtype=numpy.int64).sum()) * int(numpy.prod(more, dtype=numpy.int64))
        return numpy.memmap(file, dtype, "r", start * numpy.dtype(dtype).itemsize, (height, width, *more))

    def batch(self, rows: numpy.ndarray, augment: numpy.random.Generator | None = None) -> dict[str, numpy.ndarray]:
        """Windows of the pictures of ``rows``: in training drawn at random, with what is right as ``learnt``; else their middles."""
        drawn = [self._drawn(int(self.owner[row]), augment) for row in rows]
        values = normalised(numpy.stack([pixels for pixels, _ in drawn]))
        if augment is None:
            return {"pixel_values": values}
        if self.augmentation == "strong":
            light = augment.uniform(-_LIGHT, _LIGHT, (len(rows), 1, 1, 1))
            contrast = augment.uniform(1 - _CONTRAST, 1 + _CONTRAST, (len(rows), 1, 1, 1))
            values = (values * contrast + light).astype(numpy.float32)
        return {"pixel_values": values, "learnt": numpy.stack([truth for _, truth in drawn])}

    def _drawn(self, number: int, random: numpy.random.Generator | None) -> tuple[numpy.ndarray, numpy.ndarray]:
        if random is None:
            height, width = self.sizes[number]
            return self._filled(*self._part_of(number, (int(height) - self.side) // 2, (int(width) - self.side) // 2))
        number = self._balanced(number, random)
        pixels, truth = self._part_of(number, *self._place(number, random))
        if self.augmentation != "none":
            turn = Turn.drawn(random)
            pixels, truth = turn.pixels(pixels), turn.pixels(truth)
        pixels, truth = self._filled(pixels, truth)
        return numpy.ascontiguousarray(pixels), numpy.ascontiguousarray(truth)

    def _balanced(self, number: int, random: numpy.random.Generator) -> int:
        """The picture, or in place of one without rare classes another one, so that those without are at most half of all."""
        share = float(self.bare.mean())
        if not self.bare[number] or share in (0.0, 1.0) or share <= _FILLED or random.random() < _FILLED / share:
            return number
        return int(random.choice(numpy.flatnonzero(~self.bare)))

    def _place(self, number: int, random: numpy.random.Generator) -> tuple[int, int]:
        """Where a window begins: anywhere, or around a pixel of a class that is not the first where one is soon met."""
        height, width = (int(n) for n in self.sizes[number])
        free = tuple(max(0, n - self.side) for n in (height, width))
        top, left = (int(random.integers(n + 1)) for n in free)
        if not self.classes or random.random() >= _FILLED:
            return top, left
        truth = self.truth(number)
        for y, x in zip(random.integers(height, size=_TRIES), random.integers(width, size=_TRIES)):
            if 0 < truth[y, x] < MOST:
                shift = random.integers(self.side, size=2)
                return int(numpy.clip(y - shift[0], 0, free[0])), int(numpy.clip(x - shift[1], 0, free[1]))
        return top, left

    def _part_of(self, number: int, top: int, left: int) -> tuple[numpy.ndarray, numpy.ndarray]:
        """The part of a picture in a window, which is smaller than the window where the picture is."""
        height, width = (int(n) for n in self.sizes[number])
        top, left = max(0, top), max(0, left)
        part = slice(top, min(height, top + self.side)), slice(left, min(width, left + self.side))
        return numpy.asarray(self.picture(number)[part]), numpy.asarray(self.truth(number)[part])

    def _filled(self, pixels: numpy.ndarray, truth: numpy.ndarray) -> tuple[numpy.ndarray, numpy.ndarray]:
        """A window, filled up below and on the right as in an answer: pixels by the nearest ones, what is right by unknown."""
        lacking = self.side - pixels.shape[0], self.side - pixels.shape[1]
        if any(lacking):
            pixels = numpy.pad(pixels, ((0, lacking[0]), (0, lacking[1]), (0, 0)), mode="edge")
            truth = numpy.pad(truth, ((0, lacking[0]), (0, lacking[1])), constant_values=UNLABELLED if self.classes else numpy.nan)
        return pixels, truth

    def together(self, model: Any, device: Any, rank: int, world: int) -> numpy.ndarray:
        """The figures of the answers for all pictures (see ``measures``), by a model that is being trained. Runs in workers."""
        from trainer.kinds.pixels import inference

        return inference.figures(model, self, device, rank, world, self.spread)


def multiple(step: int) -> int:
    """The sides of what the network reads are multiples of this many pixels; ``step`` is the side of the squares that it reads as one place."""
    return step << HALVINGS


def normalised(pixels: numpy.ndarray) -> numpy.ndarray:
    """Values of 8 bits (pictures x height x width x bands) as the network reads them: channels first, though they stay last in memory."""
    return ((pixels.astype(numpy.float32) - MEAN) / STD).transpose(0, 3, 1, 2)


def is_empty(truth: numpy.ndarray, classes: int) -> numpy.ndarray:
    """Where a picture holds no data, by its array of what is right."""
    return truth == EMPTY if classes else numpy.isinf(truth)


def parts(height: int, width: int, core: int, halo: int) -> list[tuple[slice, slice]]:
    """The parts of a picture that are answered one by one: the whole of a small one."""
    if max(height, width) <= core + 2 * halo:
        return [(slice(0, height), slice(0, width))]
    rows, columns = ([slice(start, min(n, start + core)) for start in range(0, n, core)] for n in (height, width))
    return [(r, c) for r in rows for c in columns]
