"""How sure the answers for the pixels of a request are, by the promise of the model (ADR 51): drawings with a sentence each, and possible classes.

Possible classes of a pixel are bits of one number: the first class is the lowest bit; 0 is a pixel without data.
"""

import numpy
from PIL import Image

from trainer.data.pictures import colours
from trainer.errors import count, some
from trainer.kinds.pixels import shown
from trainer.kinds.pixels.codings import EMPTY
from trainer.kinds.pixels.numbers import PixelNumbers
from trainer.kinds.pixels.single import sending
from trainer.kinds.pixels.sure import levels
from trainer.kinds.pixels.sure.levels import RANGES, ranges
from trainer.kinds.pixels.target import PixelClasses
from trainer.measure.predictions import softmax
from trainer.targets.promise import percent
from trainer.targets.temperature import NONE

NAME, POSSIBLE = "unsure", "possible"
_BITS = 16  # of a pixel in a picture of possible classes: models of more classes send none
_SEVERAL = colours.PALETTE[0]
_OPAQUE = 0.75
_DARK = 0.6  # of the brightness of a picture beneath a drawing
_PAIRS = 2  # that are named


def forms(target: PixelClasses | PixelNumbers) -> list[tuple[str, str, list[int]]]:
    """The names of the tensors; none without a promise."""
    if target.of_pixels is None:
        return []
    names = [NAME, *([POSSIBLE] if isinstance(target, PixelClasses) and len(target.labels) <= _BITS else [])]
    return [(name, "BYTES", [-1]) for name in names]


def possible(target: PixelClasses, logits: numpy.ndarray, answered: numpy.ndarray) -> numpy.ndarray:
    """The possible classes of each pixel as bits (uint64), by its ``logits`` (height x width x classes)."""
    scaled = logits.astype(numpy.float32) / (1.0 if target.temperature == NONE else target.temperature)
    found = numpy.zeros(answered.shape, numpy.uint64)
    for number, inside in enumerate(numpy.moveaxis(target.possible(softmax(scaled), answered), -1, 0)):
        found |= inside.astype(numpy.uint64) << numpy.uint64(number)
    return found


def of_classes(target: PixelClasses, pictures: list[numpy.ndarray], answers: list[numpy.ndarray], bits: list[numpy.ndarray], side: int) -> list[dict]:
    """Pictures whose pixels with several possible classes are coloured, and the possible classes of each pixel."""
    assert target.of_pixels is not None
    several = [(numpy.bitwise_count(b) > 1) & (a != EMPTY) for a, b in zip(answers, bits)]
    shares = [float(s.sum() / max(1, (a != EMPTY).sum())) for s, a in zip(several, answers)]
    drawn = [_drawn(sending.smaller(p, side), sending.smaller(s, side)) for p, s in zip(pictures, several)]
    said = [_in_words(target, s, share, b) for s, share, b in zip(several, shares, bits)]
    about = {"shown": True, "says": said, "share": [round(s, 6) for s in shares], "coverage": target.of_pixels.coverage}
    found = [sending.pictures(NAME, drawn, about)]
    if len(target.labels) <= _BITS:
        values = [numpy.where(a == EMPTY, 0, b).astype(numpy.uint16) for a, b in zip(answers, bits)]
        found.append(sending.pictures(POSSIBLE, [sending.png(Image.fromarray(v)) for v in values], {"labels_by_bit": list(target.labels)}))
    return found


def _drawn(pixels: numpy.ndarray, several: numpy.ndarray) -> str:
    grey = shown.seen(pixels).astype(numpy.float32).mean(axis=2, keepdims=True).repeat(3, axis=2) * _DARK
    grey[several] = (1 - _OPAQUE) * grey[several] + _OPAQUE * numpy.asarray(_SEVERAL, numpy.float32)
    return sending.png(sending.few_colours(grey.astype(numpy.uint8)))


def _in_words(target: PixelClasses, several: numpy.ndarray, share: float, bits: numpy.ndarray) -> str:
    assert target.of_pixels is not None
    of = levels.of_each(target.of_pixels, target.labels, "each class")
    kept = f"The right class is among the possible ones for {percent(target.of_pixels.coverage)} of the pixels of {of}."
    number = int(several.sum())
    if not number:
        return f"For every pixel one class alone is possible. {kept}"
    together, counts = numpy.unique(bits[several], return_counts=True)
    order = numpy.argsort(-counts, kind="stable")[:_PAIRS]
    most = [f"{_labels(target, int(together[i]))} ({share * counts[i] / number:.1%})" for i in order]
    verb = "is" if number == 1 else "are"
    return f"Two or more classes are possible for {count(number, 'pixel')} ({share:.1%}), which {verb} orange; mostly {some(most, _PAIRS)}. {kept}"


def _labels(target: PixelClasses, bits: int) -> str:
    return some([label for number, label in enumerate(target.labels) if bits >> number & 1], 4)


def of_numbers(target: PixelNumbers, answers: list[numpy.ndarray], side: int) -> list[dict]:
    """Maps of half the width of the interval of each pixel, from none to the widest."""
    assert target.of_pixels is not None
    limits = numpy.asarray(target.of_pixels.limits)
    halves = [numpy.where(numpy.isfinite(a), limits[ranges(a, target.mean, target.std)], numpy.nan) for a in answers]
    widest = float(limits.max())
    drawn = [sending.png(sending.few_colours(colours.of_numbers(sending.smaller(h, side), 0.0, widest))) for h in halves]
    about = {
        "shown": True, "says": [_of_halves(target, h) for h in halves], "coverage": target.of_pixels.coverage,
        "scale": [0.0, float(f"{widest:.4g}")], "colours": [sending.hexadecimal(c) for c in colours.SCALE],
        "off": [float(f"{limit:.9g}") for limit in limits], "from": [float(f"{target.mean + target.std * end:.9g}") for end in RANGES],
    }  # fmt: skip
    return [sending.pictures(NAME, drawn, about)]


def _of_halves(target: PixelNumbers, halves: numpy.ndarray) -> str:
    assert target.of_pixels is not None
    values, counts = numpy.unique(halves[numpy.isfinite(halves)], return_counts=True)
    if not len(values):
        return "No pixel holds data."
    parts = [f"±{value:.4g} ({share:.1%})" for value, share in zip(values.tolist(), (counts / counts.sum()).tolist())]
    said = f"The number of a pixel is off by at most the drawn value for {percent(target.of_pixels.coverage)} of pixels"
    return f"{said}: {some(parts, len(RANGES) + 1)} of {count(int(counts.sum()), 'pixel')}."
