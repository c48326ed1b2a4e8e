"""Windows of the test pictures for the report: the worst and typical ones, as pictures with what is right and what the model answers on them."""

import base64
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy
from PIL import Image

from trainer.data.pictures import bands, colours
from trainer.export import sheet
from trainer.kinds.pixels import painted
from trainer.kinds.pixels.codings import MOST
from trainer.kinds.pixels.numbers import PixelNumbers
from trainer.kinds.pixels.target import PixelClasses
from trainer.kinds.pixels.windows import Windows

EACH = 12  # windows of a sort
SIDE = 256  # of a window
_DRAWN = 128  # pixels of a side in the report
_COLOURS = 64  # of a drawn picture, so that it is small
_BYTES = 24_000
_KNOWN = 0.25  # share of a window whose truth must be known
_OPAQUE = 0.6
_DARKEST, _LIGHTEST = 120.0, 255.0  # grey of a picture below its colours: neither is taken for a class or for what is unknown
_ENDS, _FLAT = (2, 98), 64.0  # percentiles of a picture that get these greys, and how far apart they are at least, so that noise stays noise
_UNKNOWN = 0.25  # of the grey, where a pixel has no class
DARK: painted.Colour = (44, 44, 44)  # of such pixels, in the mean
_GAP = 4
WORST, TYPICAL = "worst", "typical"
TRUTH, ANSWER = "truth", "answer"  # of a typical window, each as a PNG of its own


@dataclass(frozen=True)
class Shown:
    """A window: the number of its picture, where it begins, how good the answer is, and a PNG in base64: of picture, truth and answer, or of one of
    the last two."""

    sort: str
    picture: int
    top: int
    left: int
    score: float
    png: str


class Chooser:
    """Keeps the score of each window of the pictures that go by, and then draws the worst and the typical ones."""

    def __init__(self, data: Windows, target: PixelClasses | PixelNumbers):
        self.data, self.target = data, target
        self.scores: list[tuple[float, int, int, int]] = []
        self.filled: set[tuple[int, int, int]] = set()  # windows with other classes than the first, or with numbers

    def look(self, number: int, answer: numpy.ndarray) -> None:
        truth = numpy.asarray(self.data.truth(number))
        for top, left, part in _tiles(*truth.shape):
            known = truth[part] < MOST if self.data.classes else numpy.isfinite(truth[part])
            if known.mean() >= _KNOWN:
                self.scores.append((self._score(truth[part][known], answer[part][known]), number, top, left))
                if not self.data.classes or truth[part][known].any():
                    self.filled.add((number, top, left))

    def _score(self, truth: numpy.ndarray, answer: numpy.ndarray) -> float:
        """The share of the pixels that are right, or the negative root of the mean squared error."""
        return float((truth == answer).mean()) if self.data.classes else -float(numpy.sqrt(((truth - answer) ** 2).mean()))

    def chosen(self, again: Any) -> list[Shown]:
        """The windows to show; ``again`` gives the answer for a picture by its number."""
        order = sorted(self.scores)
        middle = max(0, len(order) // 2 - EACH // 2)
        typical = [s for s in order[middle : middle + EACH] if s not in order[:EACH]]
        found = []
        answers: dict[int, numpy.ndarray] = {}
        for sort, scores in ((WORST, order[:EACH]), (TYPICAL, typical)):
            for score, number, top, left in scores:
                if number not in answers:
                    answers = {number: again(number)}
                if png := self._drawn(number, top, left, answers[number]):
                    found.append(Shown(sort, number, top, left, abs(score), png))
        for score, number, top, left in self._overlaid(order):
            if number not in answers:
                answers = {number: again(number)}
            found += self._sides(number, top, left, abs(score), answers[number])
        return found

    def _overlaid(self, order: list[tuple[float, int, int, int]]) -> list[tuple[float, int, int, int]]:
        """The windows nearest to the middle, of different pictures, and with something in them where there are such."""
        from_middle = sorted(range(len(order)), key=lambda i: abs(i - len(order) // 2))
        found: dict[int, tuple[float, int, int, int]] = {}
        for filled in (True, False):
            for window in (order[i] for i in from_middle):
                if (window[1:] in self.filled) == filled and len(found) < sheet.MOST:
                    found.setdefault(window[1], window)
        return list(found.values())

    def _sides(self, number: int, top: int, left: int, score: float, answer: numpy.ndarray) -> list[Shown]:
        """Truth and answer of a window as they are in the overlay of a training."""
        part = slice(top, top + SIDE), slice(left, left + SIDE)
        pixels, sides = seen(self.data.picture(number)[part], self.data.names), (numpy.asarray(self.data.truth(number)[part]), answer[part])
        drawn = [overlaid(pixels, side, self.target) for side in sides]
        return [Shown(sort, number, top, left, score, _encoded(side)) for sort, side in zip((TRUTH, ANSWER), drawn)]

    def _drawn(self, number: int, top: int, left: int, answer: numpy.ndarray) -> str | None:
        part = slice(top, top + SIDE), slice(left, left + SIDE)
        pixels = seen(self.data.picture(number)[part], self.data.names)
        truth = numpy.asarray(self.data.truth(number)[part])
        sides = [pixels, *(overlaid(pixels, side, self.target) for side in (truth, answer[part]))]
        return _png([Image.fromarray(numpy.ascontiguousarray(s)) for s in sides])


def _tiles(height: int, width: int) -> Iterator[tuple[int, int, tuple[slice, slice]]]:
    """Windows that cover a picture; its ends are left out where they are less than half of one."""
    for top in range(0, max(1, height - SIDE // 2), SIDE):
        for left in range(0, max(1, width - SIDE // 2), SIDE):
            yield top, left, (slice(top, top + SIDE), slice(left, left + SIDE))


def seen(pixels: numpy.ndarray, names: Sequence[str] = ()) -> numpy.ndarray:
    """Three of the bands as red, green and blue, by the ``names`` of the bands where these say it; one for all where there are fewer."""
    if pixels.shape[2] < 3:
        return numpy.repeat(pixels[..., :1], 3, axis=2)
    return numpy.asarray(pixels[..., list(bands.as_colours(names))])


def range_of(target: PixelNumbers) -> tuple[float, float]:
    """The numbers that have the first and the last colour."""
    return target.mean - 2 * target.std, target.mean + 2 * target.std


def overlaid(pixels: numpy.ndarray, answer: numpy.ndarray, target: PixelClasses | PixelNumbers) -> numpy.ndarray:
    """Classes as colours over a picture (height x width x 3), or numbers as colours in its place."""
    if isinstance(target, PixelClasses):
        return coloured(pixels, answer, painted.of_target(target))
    return colours.of_numbers(answer, *range_of(target))


def coloured(pixels: numpy.ndarray, classes: numpy.ndarray, paints: Sequence[painted.Colour | None]) -> numpy.ndarray:
    """A picture in light grey with its classes in the colours ``paints`` on it. A class without a colour stays grey, unknown pixels are dark.

    All is grey below, so that the colours are those of the legend, and false colours of bands are not taken for classes."""
    grey = _light(pixels)
    found = numpy.repeat(grey, 3, axis=2)
    for number, paint in enumerate(paints):
        if paint is not None:
            here = classes == number
            found[here] = (1 - _OPAQUE) * grey[here] + _OPAQUE * numpy.asarray(paint, numpy.float32)
    found[classes >= MOST] *= _UNKNOWN
    return found.astype(numpy.uint8)


def _light(pixels: numpy.ndarray) -> numpy.ndarray:
    """A picture in grey between two light ends (height x width x 1, float32), with the contrast that most of its pixels have."""
    grey = pixels.mean(axis=2, keepdims=True, dtype=numpy.float32)
    low, high = numpy.percentile(grey, _ENDS)
    return (_DARKEST + (_LIGHTEST - _DARKEST) * ((grey - low) / max(high - low, _FLAT)).clip(0, 1)).astype(numpy.float32)


def _encoded(pixels: numpy.ndarray) -> str:
    data = io.BytesIO()
    Image.fromarray(numpy.ascontiguousarray(pixels)).save(data, "PNG")
    return base64.b64encode(data.getvalue()).decode()


def _png(sides: list[Image.Image]) -> str | None:
    """The pictures beside each other; None where even that is large."""
    scale = min(1.0, _DRAWN / max(sides[0].size))
    width, height = (max(1, round(n * scale)) for n in sides[0].size)
    whole = Image.new("RGB", (len(sides) * width + (len(sides) - 1) * _GAP, height), (255, 255, 255))
    for place, side in enumerate(sides):
        whole.paste(side.resize((width, height), Image.Resampling.BILINEAR if place == 0 else Image.Resampling.BOX), (place * (width + _GAP), 0))
    for number in (_COLOURS, _COLOURS // 4):
        data = io.BytesIO()
        whole.quantize(number).save(data, "PNG", optimize=True)
        if data.tell() <= _BYTES:
            return base64.b64encode(data.getvalue()).decode()
    return None
