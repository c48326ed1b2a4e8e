"""How pictures of instruments become numbers of 8 bits: each band between two percentiles of the training pictures, the same in predictions."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy
from PIL import Image

from trainer.data import rasters
from trainer.data.images import undecodable
from trainer.errors import UserError, some

PERCENTILES = (1, 99)
_NAMED = 12  # bands in a sentence
PICTURES, VALUES = 200, 1_000_000  # of a sample: pictures, and values of each band
MIDDLE = 127.5  # in place of what holds no data: it is 0 once the values are normalised


@dataclass(frozen=True)
class Bands:
    """The bands of all pictures of a model, and the range of each that becomes 0 to 255. ``names`` are those in the training pictures, or empty."""

    count: int
    dtype: str
    low: tuple[float, ...]
    high: tuple[float, ...]
    names: tuple[str, ...] = ()

    def described(self) -> dict:
        """As JSON, in the description of an encoder."""
        named = {"names": list(self.names)} if self.names else {}
        return {"bands": self.count, "dtype": self.dtype, "low": list(self.low), "high": list(self.high), **named}

    @property
    def words(self) -> str:
        return words(self.count, self.dtype, self.names)


def words(count: int, dtype: str, names: tuple[str, ...]) -> str:
    """Bands and numbers of a picture as a noun phrase, with the names of the bands where they have some."""
    return rasters.words(count, dtype) + (f" ({some(names, _NAMED)})" if names else "")


def order_of(what: str, form: tuple[int, str], own: tuple[str, ...], wanted: tuple[str, ...]) -> tuple[int, ...]:
    """The same as ``places``, for the picture or scene ``what`` with bands and numbers of ``form``. Raises UserError."""
    try:
        return places(own, wanted)
    except LookupError as e:
        raise _otherwise(what, words(*form, own), str(e)) from e


def places(own: tuple[str, ...], wanted: tuple[str, ...]) -> tuple[int, ...]:
    """Where the bands called ``wanted`` are among those called ``own``; empty where they are in the same places, or where one of both has no names.

    Raises LookupError with the names that are missing.
    """
    if not own or not wanted or own == wanted:
        return ()
    if missing := [name for name in wanted if name not in own]:
        raise LookupError(some(missing, _NAMED))
    return tuple(own.index(name) for name in wanted)


def as_colours(names: Sequence[str]) -> tuple[int, ...]:
    """Where the bands for red, green and blue are, by the words in their ``names``; the first three where these do not say it."""
    of_words = [[i for i, name in enumerate(names) if colour in re.findall("[a-z]+", name.lower())] for colour in ("red", "green", "blue")]
    return tuple(places[0] for places in of_words) if all(len(places) == 1 for places in of_words) else (0, 1, 2)


def restored(description: dict) -> Bands | None:
    """The bands that ``described`` wrote; None for a model of plain pictures."""
    if "bands" not in description:
        return None
    low, high, names = (tuple(description.get(key, ())) for key in ("low", "high", "names"))
    return Bands(description["bands"], description["dtype"], low, high, names)


def learnt(pictures: Sequence[tuple[Path, str]], form: rasters.Form) -> tuple[Bands, float]:
    """The ranges of the bands over a sample of ``pictures``, which are files with their names, and the share of their values that hold data.

    Raises UserError."""
    sample = pictures[:: max(1, len(pictures) // PICTURES)][:PICTURES]
    each = max(1, VALUES // len(sample))
    names = rasters.names(sample[0][0])
    names = names if len(names) == form.bands else ()
    parts: list[list[numpy.ndarray]] = [[] for _ in range(form.bands)]
    held = total = 0
    for file, name in sample:
        pixels, holds = values(file, name, form.bands, form.dtype, names)
        flat = pixels.reshape(-1, form.bands)
        step = max(1, len(flat) // each)
        known = None if holds is None else holds.reshape(-1, form.bands)[::step]
        for band, held_values in enumerate(flat[::step].T):
            parts[band].append(held_values if known is None else held_values[known[:, band]])
            held, total = held + len(parts[band][-1]), total + len(held_values)
    ranges = [_range(numpy.concatenate(band)) for band in parts]
    return Bands(form.bands, form.dtype, tuple(r[0] for r in ranges), tuple(r[1] for r in ranges), names), held / max(1, total)


def _range(values: numpy.ndarray) -> tuple[float, float]:
    """Two different numbers between which most of ``values`` are."""
    if not len(values):
        return 0.0, 1.0
    low, high = (float(p) for p in numpy.percentile(values.astype(numpy.float64), PERCENTILES))
    if not low < high:
        low, high = float(values.min()), float(values.max())
    return (low, high) if low < high else (low, low + 1)


def square(file: Path | BinaryIO, name: str, size: int, bands: Bands) -> numpy.ndarray:
    """A picture as numbers of 8 bits (size x size x bands). Raises UserError where it cannot be read, or is stored in another way."""
    pixels, holds = values(file, name, bands.count, bands.dtype, bands.names)
    scaled = numpy.empty((size, size, bands.count), numpy.uint8)
    for band in range(bands.count):
        resized = Image.fromarray(_stretched(pixels, holds, band, bands)).resize((size, size), Image.Resampling.BILINEAR)
        scaled[..., band] = numpy.clip(numpy.rint(numpy.asarray(resized)), 0, 255)
    return scaled


def scaled(pixels: numpy.ndarray, holds: numpy.ndarray | None, bands: Bands) -> numpy.ndarray:
    """``pixels`` (height x width x bands) as numbers of 8 bits, with ``MIDDLE`` where ``holds`` says that there is no data."""
    found = numpy.empty(pixels.shape, numpy.uint8)
    for band in range(bands.count):
        found[..., band] = numpy.rint(_stretched(pixels, holds, band, bands))
    return found


def _stretched(pixels: numpy.ndarray, holds: numpy.ndarray | None, band: int, bands: Bands) -> numpy.ndarray:
    """One band between its range, from 0 to 255 (float32)."""
    low, high = bands.low[band], bands.high[band]
    stretched = numpy.clip((pixels[..., band].astype(numpy.float64) - low) / (high - low), 0, 1) * 255
    if holds is not None:
        stretched[~holds[..., band]] = MIDDLE
    return stretched.astype(numpy.float32)


def values(file: Path | BinaryIO, name: str, bands: int, dtype: str, names: tuple[str, ...] = ()) -> tuple[numpy.ndarray, Any]:
    """The pixels of a picture of this form, and which of them hold data, as ``rasters.values`` gives them. Raises UserError.

    Bands that are called otherwise than ``names`` are refused, and those in other places are put into theirs.
    """
    try:
        own = rasters.names(file) if names else ()
        pixels, holds = rasters.values(file, len(own) or bands)
    except (OSError, ValueError, SyntaxError) as e:
        raise undecodable(name, e) from e
    order = order_of(f"The image {name or 'that was sent'}", (pixels.shape[2], pixels.dtype.name), own, names)
    if order and max(order) < pixels.shape[2]:
        pixels, holds = pixels[..., list(order)], None if holds is None else holds[..., list(order)]
    if pixels.shape[2] != bands or pixels.dtype.name != dtype:
        raise other_form(name, rasters.words(pixels.shape[2], pixels.dtype.name), words(bands, dtype, names))
    return pixels, holds


def other_form(name: str, has: str, reads: str) -> UserError:
    """The error for a picture that is stored in another way than those of the training."""
    return UserError(
        "image_form", f"The image {name or 'that was sent'} has {has}, but the model reads {reads}.",
        "Use images as in the training, from the same instrument and saved in the same way.",
    )  # fmt: skip


def _otherwise(what: str, has: str, missing: str) -> UserError:
    """The error for a picture or scene whose bands have other names."""
    return UserError(
        "image_form", f"{what} has {has}, but lacks bands that the model reads: {missing}.",
        "Use the same bands as in the training, or name them alike if they are the same.",
    )  # fmt: skip


def preview(file) -> Image.Image:
    """A picture of any form as a person sees it: its first bands, each stretched over its own values. Raises OSError or ValueError."""
    return seen(*rasters.values(file))


def seen(pixels: numpy.ndarray, holds: numpy.ndarray | None) -> Image.Image:
    """Bands (height x width x bands) as a person sees them; ``holds`` says which values hold data, None for all."""
    shown = []
    for band in range(min(3, pixels.shape[2]) if pixels.shape[2] > 2 else 1):
        values = pixels[..., band]
        low, high = _range(values if holds is None else values[holds[..., band]])
        stretched = numpy.clip((values.astype(numpy.float64) - low) / (high - low), 0, 1) * 255
        shown.append(numpy.where(numpy.isfinite(stretched), stretched, MIDDLE).astype(numpy.uint8))
    return Image.merge("RGB", [Image.fromarray(band) for band in (shown if len(shown) == 3 else shown * 3)])
