"""How masks say what their pixels are: as numbers of classes, colours, the places of a palette, or measured numbers."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy

from trainer.data import rasters
from trainer.data.images import opened
from trainer.kinds.pixels import arrays
from trainer.kinds.pixels.drawn import Drawing

UNLABELLED, EMPTY = 254, 255  # in arrays of classes: nobody knows the class, and the picture holds no data
MOST = 64  # classes
NODATA = 255  # in a mask whose other values are below MOST
NO_COLOUR = 0x01FE03  # of pixels without a class, in masks in colours that are cut out of those of scenes
NEAR_EDGE = 16  # of 0 or 255: in a mask that was saved as JPEG
NEAR_COLOUR = 8  # of a main colour: in a mask with blended edges
_HALF = 128
_JPEG = b"\xff\xd8\xff"


@dataclass(frozen=True)
class Classes:
    """``values`` are those of the classes in masks, in order; colours are packed as red, green, blue. ``nodata`` is one more, or None.

    ``halved`` masks were saved as JPEG: what is below the middle is the first class. ``colours`` says that masks are in colours. ``labels`` are
    the names of the classes, by which drawings tell theirs.
    """

    values: tuple[int, ...]
    nodata: int | None = None
    halved: bool = False
    colours: bool = False
    labels: tuple[str, ...] = ()

    def read(self, mask: Path | Drawing) -> numpy.ndarray:
        """The class of each pixel of a mask (height x width, uint8), UNLABELLED where it has none. Raises OSError or ValueError."""
        if isinstance(mask, Drawing):
            return mask.classes(self.labels, UNLABELLED)
        return self.of(packed(mask) if self.colours else grey(mask))

    def of(self, raw: numpy.ndarray) -> numpy.ndarray:
        """The class of each of the values ``raw`` of a mask, as ``grey`` or ``packed`` give them."""
        if self.halved:
            return (raw >= _HALF).astype(numpy.uint8)
        order = numpy.argsort(self.values)
        known = numpy.asarray(self.values)[order]
        place = numpy.minimum(numpy.searchsorted(known, raw), len(known) - 1)
        found = numpy.where(known[place] == raw, order[place], UNLABELLED).astype(numpy.uint8)
        if self.colours and (blended := found == UNLABELLED).any():
            found[blended] = self._nearest(raw[blended])
        return found

    def _nearest(self, raw: numpy.ndarray) -> numpy.ndarray:
        """The classes of colours that are near one of a class, else UNLABELLED."""
        colours, which = numpy.unique(raw, return_inverse=True)
        apart = numpy.abs(unpacked(colours)[:, None] - unpacked(numpy.asarray(self.values))[None]).max(axis=2)
        nearest = numpy.where(apart.min(axis=1) <= NEAR_COLOUR, apart.argmin(axis=1), UNLABELLED)
        if self.nodata is not None:
            nearest[colours == self.nodata] = UNLABELLED
        return nearest[which].astype(numpy.uint8)

    @property
    def in_colours(self) -> tuple[tuple[int, int, int], ...]:
        """The colour of each class in masks in colours; empty for masks of numbers."""
        return tuple((v >> 16, v >> 8 & 255, v & 255) for v in self.values) if self.colours else ()

    @property
    def nodata_in_words(self) -> str:
        """What pixels without a class are in the masks."""
        if self.nodata is None:
            return "of values that have no class"
        return "no data of a TIFF" if self.colours else f"{self.nodata}, or no data of a TIFF"

    def is_filled(self, counts: Counter) -> bool:
        """Whether a mask with these pixels by value has more than the first class."""
        return any(counts[v] for v in self.values[1:])

    def described(self) -> dict:
        described = {"values": list(self.values), "nodata": self.nodata, "halved": self.halved, "colours": self.colours}
        return {**described, "labels": list(self.labels)}


@dataclass(frozen=True)
class Numbers:
    """Masks of numbers, with mean and standard deviation over the training pixels."""

    mean: float
    std: float

    def read(self, file: Path) -> numpy.ndarray:
        """The number of each pixel of a mask (height x width, float32), NaN where there is none. Raises OSError or ValueError."""
        return numbers(file)

    def described(self) -> dict:
        return {"mean": self.mean, "std": self.std}


def restored(description: dict) -> Classes | Numbers:
    """The coding that ``described`` wrote."""
    if "mean" in description:
        return Numbers(description["mean"], description["std"])
    labels = tuple(description.get("labels", ()))
    return Classes(tuple(description["values"]), description["nodata"], description["halved"], description["colours"], labels)


def numbers(file: Path) -> numpy.ndarray:
    """The number of each pixel (height x width, float32), NaN where there is none. Raises OSError or ValueError."""
    if arrays.is_array(file):
        return arrays.numbers(file)
    pixels, holds = rasters.values(file)
    found = pixels[..., 0].astype(numpy.float32)
    if holds is not None:
        found[~holds[..., 0]] = numpy.nan
    return found


def grey(file: Path) -> numpy.ndarray:
    """The values of a mask of one band as whole numbers (height x width, int64), NODATA where a raster has none. Raises OSError or ValueError."""
    if arrays.is_array(file):
        return arrays.classes(file, NODATA)
    if not rasters.is_tiff(file) and rasters.form(file).plain:
        with opened(file) as image:
            pixels = numpy.asarray(image)  # of a palette, these are its places
        return (pixels if pixels.ndim == 2 else pixels[..., 0]).astype(numpy.int64)
    pixels, holds = rasters.values(file)
    first = pixels[..., 0]
    whole = numpy.rint(numpy.nan_to_num(first, nan=NODATA)).astype(numpy.int64) if first.dtype.kind == "f" else first.astype(numpy.int64)
    return whole if holds is None else numpy.where(holds[..., 0], whole, NODATA)


def packed(file: Path) -> numpy.ndarray:
    """The colours of a mask, each as one number (height x width, int64). Raises OSError or ValueError."""
    with opened(file) as image:
        pixels = numpy.asarray(image.convert("RGB")).astype(numpy.int64)
    return (pixels[..., 0] << 16) | (pixels[..., 1] << 8) | pixels[..., 2]


def unpacked(colours: numpy.ndarray) -> numpy.ndarray:
    """Red, green and blue of packed colours."""
    return numpy.stack([colours >> 16 & 255, colours >> 8 & 255, colours & 255], axis=-1)


def in_colours(file: Path) -> bool:
    """Whether a mask has colours that are no shades of grey. Raises OSError or ValueError."""
    if arrays.is_array(file) or (rasters.is_tiff(file) and not rasters.form(file).plain):
        return False
    with opened(file) as image:
        if image.mode not in ("RGB", "RGBA"):
            return False
        pixels = numpy.asarray(image.convert("RGB"))
    return bool((pixels[..., 0] != pixels[..., 1]).any() or (pixels[..., 0] != pixels[..., 2]).any())


def size(file: Path) -> tuple[int, int]:
    """Width and height of a mask. Raises OSError or ValueError."""
    return arrays.size(file) if arrays.is_array(file) else rasters.size(file)


def is_jpeg(file: Path) -> bool:
    with open(file, "rb") as stream:
        return stream.read(3) == _JPEG


def palette(file: Path) -> list[int]:
    """The packed colours of the palette of a mask; none without one, and where it cannot be read."""
    try:
        if arrays.is_array(file):
            return []
        with opened(file) as image:
            colours = image.getpalette("RGB") if image.mode == "P" else None
    except (OSError, ValueError, SyntaxError):
        return []
    entries = numpy.asarray(colours or [], numpy.int64).reshape(-1, 3)
    return (entries @ (1 << 16, 1 << 8, 1)).tolist()


def has_fractions(file: Path) -> bool:
    """Whether a picture is of one band of numbers with fractions. Raises OSError or ValueError."""
    if arrays.is_array(file):
        return arrays.has_fractions(file)
    form = rasters.form(file)
    if form.plain or form.bands != 1 or numpy.dtype(form.dtype).kind != "f":
        return False
    values = numbers(file)
    values = values[numpy.isfinite(values)]
    return bool((values != numpy.rint(values)).any())


def counted(file: Path, colours: bool) -> Counter:
    """How many pixels of a mask have each value, or each packed colour. Raises OSError or ValueError."""
    values, counts = numpy.unique(packed(file) if colours else grey(file), return_counts=True)
    return Counter(dict(zip(values.tolist(), counts.tolist())))


def name(value: int, values: Sequence[int], colours: bool) -> str:
    """What a class is called whose mask says no name: by its value or its colour; of two, the one with 0 is the background."""
    if colours:
        return f"#{value:06x}"
    if len(values) == 2 and values[0] == 0 and values[1] in (1, NODATA):
        return "object" if value else "background"
    return str(value)
