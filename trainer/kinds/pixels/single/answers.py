"""Single answers: a mask, or a map of numbers, for each picture of a request, from model.onnx.

A tensor of pictures has PNGs in base64, and its parameters say so: ``content_type`` is image/png, ``shown`` is true for pictures that are drawn for
people. Further parameters name the colours in them: ``labels`` and ``colours`` beside a share of each label, ``scale`` with its ``colours`` beside
numbers.
"""

from typing import Any, BinaryIO

import numpy

from trainer.answer import rows
from trainer.answer.rows import Refused
from trainer.core.example import Example
from trainer.data import rasters
from trainer.data.pictures import colours
from trainer.errors import UserError
from trainer.kinds.pixels import delivery, painted, shown
from trainer.kinds.pixels.codings import EMPTY, MOST
from trainer.kinds.pixels.content import Pixels
from trainer.kinds.pixels.single import sending, unsure
from trainer.kinds.pixels.target import PixelClasses
from trainer.kinds.pixels.windows import HALO, is_empty, multiple, normalised, parts
from trainer.targets import spans

MOST_PIXELS = 4_000_000  # of all pictures in a request: some seconds of one core, and masks of some megabytes
MOST_BYTES = 128 << 20  # of their decoded values
DRAWN = 1024  # pixels of the longer side of a picture that is drawn for people
_PLACES = 192  # of the network that are answered in a window, at most: 0.35 GB in all; fewer where there are many classes
_LOGITS = 8_000_000  # of a window
_TOO_LARGE = (
    f"The pictures have more than {MOST_PIXELS // 1_000_000} million pixels. Send a part of one, or submit pictures of any size to ncsa.ray.predict."
)
_LARGER = "This model answers single pictures of at most {side} x {side} pixels. Send a part of the picture, or submit it to ncsa.ray.predict."


class Painter:
    """``network`` answers for windows of pictures, which ``network.encoder`` reads; ``target`` says what its answers are."""

    def __init__(self, network: Any, target: Any):
        self._network, self._encoder, self._target = network, network.encoder, target
        self._classes = isinstance(target, PixelClasses)
        outputs = target.head
        step = self._encoder.shape["step"]
        core = _PLACES
        while core > HALO and outputs * ((core + 2 * HALO) * step) ** 2 > _LOGITS:
            core //= 2
        self._core, self._halo, self._multiple = core * step, HALO * step, multiple(step)
        if largest := self._encoder.largest:  # each picture is filled up to the one size that the network reads, as in its training
            self._core, self._halo, self._multiple = largest, 0, largest

    @property
    def forms(self) -> list[tuple[str, str, list[int]]]:
        ends = ("low", "high") if self._target.promise is not None else ()
        if self._classes:
            of_labels = [-1, len(self._target.labels)]
            found = [("overlay", "BYTES", [-1]), ("mask", "BYTES", [-1]), *((name, "FP64", of_labels) for name in ("share", *ends))]
        else:
            found = [("map", "BYTES", [-1]), ("numbers", "BYTES", [-1]), *((name, "FP64", [-1]) for name in ("mean", "smallest", "largest", *ends))]
        return found + unsure.forms(self._target)

    def tensors(self, cells: dict[str, list]) -> list[dict]:
        """The output tensors for the pictures in ``cells``. Raises Refused."""
        pictures = [self._read(file) for file in _opened(cells[rows.IMAGE], self._encoder.largest)]
        found = [self._answer(pixels, empty) for pixels, empty in pictures]
        answers, bits = [a for a, _ in found], [b for _, b in found]
        side = max(64, int(DRAWN / len(pictures) ** 0.5))
        seen = [pixels for pixels, _ in pictures]
        tensors = (self._of_classes if self._classes else self._of_numbers)(seen, answers, side)
        if self._target.of_pixels is None:
            return tensors
        if self._classes:
            return tensors + unsure.of_classes(self._target, seen, answers, bits, side)
        return tensors + unsure.of_numbers(self._target, answers, side)

    def _read(self, file: BinaryIO) -> tuple[numpy.ndarray, numpy.ndarray]:
        """The values of a picture, and which of its pixels hold no data."""
        try:
            pixels, truth = self._encoder.read(Example("request", 1, Pixels(file), ""))
        except UserError as e:
            raise Refused(f"{e.what} {e.do}" if e.code == "image_form" else UNREADABLE) from e
        return pixels, is_empty(truth, int(self._classes))

    def _answer(self, pixels: numpy.ndarray, empty: numpy.ndarray) -> tuple[numpy.ndarray, numpy.ndarray]:
        """The class (uint8) or the number (float32) of each pixel, EMPTY or NaN where there is no data; and its possible classes as bits, where the
        model promises them."""
        height, width = pixels.shape[:2]
        promised = self._classes and self._target.of_pixels is not None
        bits = numpy.zeros((height, width) if promised else 0, numpy.uint64)
        found = numpy.empty((height, width), numpy.uint8 if self._classes else numpy.float32)
        for part in parts(height, width, self._core, self._halo):
            around = tuple(slice(max(0, s.start - self._halo), min(n, s.stop + self._halo)) for s, n in zip(part, (height, width)))
            window = pixels[around]
            lacking = [-n % self._multiple for n in window.shape[:2]]
            padded = numpy.pad(window, ((0, lacking[0]), (0, lacking[1]), (0, 0)), mode="edge")
            logits = self._network.logits({"pixel_values": normalised(padded[None])})[0]
            inner = tuple(slice(s.start - a.start, s.stop - a.start) for s, a in zip(part, around))
            found[part] = logits[inner].argmax(-1) if self._classes else logits[inner][..., 0]
            if promised:
                bits[part] = unsure.possible(self._target, logits[inner], found[part])
        found[empty] = EMPTY if self._classes else numpy.nan
        return found, bits

    def _of_classes(self, pictures: list[numpy.ndarray], answers: list[numpy.ndarray], side: int) -> list[dict]:
        labels, coding = self._target.labels, self._encoder.coding
        counts = numpy.stack([numpy.bincount(a[a < MOST], minlength=len(labels)) for a in answers])
        shares = counts / numpy.maximum(1, counts.sum(axis=1, keepdims=True))
        sides = [(shown.seen(sending.smaller(p, side), self._encoder.names), sending.smaller(a, side)) for p, a in zip(pictures, answers)]
        paints = painted.of_target(self._target)
        drawn = [sending.png(sending.few_colours(shown.coloured(p, a, paints))) for p, a in sides]
        used = [sending.hexadecimal(paint) for paint in paints]
        legend = {"labels": list(labels), "colours": used, "values": list(delivery.written(coding))}
        return [
            sending.pictures("overlay", drawn, {"shown": True}),
            sending.pictures("mask", [sending.png(delivery.picture(a, coding)) for a in answers], {}),
            {"name": "share", "datatype": "FP64", "shape": list(shares.shape), "parameters": legend, "data": shares.round(6).ravel().tolist()},
            *self._within(shares, "share"),
        ]

    def _within(self, values: numpy.ndarray, of: str) -> list[dict]:
        """The intervals of ``values`` (pictures x values), where the model promises them."""
        made = self._target.promise
        return spans.tensors(made, self._target.bounds(values), of) if made is not None else []

    def _of_numbers(self, pictures: list[numpy.ndarray], answers: list[numpy.ndarray], side: int) -> list[dict]:
        low, high = shown.range_of(self._target)
        known = [a[numpy.isfinite(a)].astype(numpy.float64) for a in answers]
        known = [k if len(k) else numpy.zeros(1) for k in known]
        ends = [(float(k.min()), float(k.max())) for k in known]
        scale = {"scale": [float(f"{low:.4g}"), float(f"{high:.4g}")], "colours": [sending.hexadecimal(c) for c in colours.SCALE]}
        values = {"mean": [float(k.mean()) for k in known], "smallest": [e[0] for e in ends], "largest": [e[1] for e in ends]}
        return [
            sending.pictures(
                "map",
                [sending.png(sending.few_colours(colours.of_numbers(sending.smaller(a, side), low, high))) for a in answers],
                {"shown": True, **scale},
            ),
            sending.pictures("numbers", [sending.png(sending.levels(a, *e)) for a, e in zip(answers, ends)], {}),
            *({"name": n, "datatype": "FP64", "shape": [len(v)], "data": [float(f"{x:.9g}") for x in v]} for n, v in values.items()),
            *self._within(numpy.asarray(values["mean"]), "mean"),
        ]


UNREADABLE = "The picture cannot be decoded. Use a PNG, JPEG or TIFF like those of the training."


def _opened(cells: list, largest: int) -> list[BinaryIO]:
    """The files in a request, whose headers say that they are not too large: at most ``largest`` pixels a side, unless that is 0. Raises Refused."""
    files: list[BinaryIO] = [rows.image(cell) for cell in cells]
    pixels = held = 0
    for file in files:
        try:
            width, height = rasters.size(file)
            pixels += width * height
            if pixels > MOST_PIXELS:
                raise Refused(_TOO_LARGE, 413)
            if largest and max(width, height) > largest:
                raise Refused(_LARGER.format(side=largest), 413)
            form = rasters.form(file)
        except (OSError, ValueError, SyntaxError, UserError) as e:
            raise Refused(UNREADABLE) from e
        held += width * height * max(1, form.bands) * numpy.dtype(form.dtype).itemsize
        if held > MOST_BYTES:
            raise Refused(_TOO_LARGE, 413)
        file.seek(0)
    return files
