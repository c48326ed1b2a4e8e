"""Pictures as arrays: how a file stores its picture, and its values with the pixels that hold data.

Pictures of 8 bits that a screen shows are *plain*; Pillow reads them. All others, as instruments make them, are read as their bands are.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy

from trainer.data import pngs, tiffs
from trainer.data.images import opened

_PLAIN = ("1", "L", "P", "RGB", "CMYK", "YCbCr", "LAB")
_CLEAR = ("LA", "PA", "RGBA", "RGBa", "La")  # plain, with a value for how opaque a pixel is
_TIFF = "TIFF"
_MAGIC = (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")
_COLOURS = 3
MEASURED = 0.5  # share of the pixels of a fourth band that are neither fully clear nor opaque, from which it is no alpha
GREY = 127  # in place of what holds no data


PLAIN = "8 bits, as screens show them"  # the form of plain pictures


@dataclass(frozen=True)
class Form:
    """How a picture is stored.

    ``plain`` pictures are of 8 bits and one, three or four colours; ``clear`` ones have pixels that may hold nothing to see. ``dtype`` is the
    name of numpy's type. ``pages`` is 2 for two or more.
    """

    bands: int
    dtype: str
    plain: bool
    clear: bool = False
    pages: int = 1

    @property
    def sort(self) -> tuple[int, str]:
        """What is equal for pictures that one model can read: 0 bands stand for plain ones, which are made alike."""
        return (0, "uint8") if self.plain else (self.bands, self.dtype)

    @property
    def words(self) -> str:
        """The form as a noun phrase: "3 bands of 16 bits"."""
        if self.plain:
            return PLAIN
        return words(self.bands, self.dtype)


def words(bands: int, dtype: str) -> str:
    """Bands and numbers of a picture as a noun phrase."""
    kind = {"u": "bits", "i": "bits with a sign", "f": "bits with fractions"}.get(numpy.dtype(dtype).kind, "bits")
    return f"{'1 band' if bands == 1 else f'{bands} bands'} of {8 * numpy.dtype(dtype).itemsize} {kind}"


def form(file: Path | BinaryIO) -> Form:
    """How the picture in ``file`` is stored, by its header. Raises OSError or ValueError where it cannot be read."""
    if is_tiff(file):
        return _of_tiff(file, tiffs.header(rewound(file)))
    with opened(rewound(file)) as image:
        return _of_pillow(image)


def names(file: Path | BinaryIO) -> tuple[str, ...]:
    """What a picture calls its bands; none where not every band has a name of its own. Raises OSError or ValueError."""
    return tiffs.names(rewound(file)) if is_tiff(file) else ()


def size(file: Path | BinaryIO) -> tuple[int, int]:
    """Width and height of a picture. Raises OSError or ValueError."""
    if is_tiff(file):
        header = tiffs.header(rewound(file))
        return header.width, header.height
    with opened(rewound(file)) as image:
        return image.size


def _of_pillow(image) -> Form:
    clear = image.mode in _CLEAR or "transparency" in image.info
    pages = 2 if getattr(image, "is_animated", False) else 1
    if deep := pngs.bands(image):
        return Form(deep - pngs.has_alpha(image), pngs.DTYPE, False, clear, pages)
    if image.mode in (*_PLAIN, *_CLEAR):
        return Form(len(image.getbands()), "uint8", True, clear, pages)
    dtype = {"F": "float32", "I": "int32"}.get(image.mode, "uint16" if image.mode.startswith("I;16") else "")
    if not dtype:
        raise ValueError(f"its pixels are stored as {image.mode}, which is not read")
    return Form(1, dtype, False, False, pages)


def _of_tiff(file: Path | BinaryIO, header: tiffs.Header) -> Form:
    bands, dtype = header.bands, header.dtype.name
    if header.dtype.itemsize > 1 or header.dtype.kind not in "ub" or bands > _COLOURS + 1:
        return Form(bands - header.alpha, dtype, False, header.alpha, header.pages)
    if header.alpha and bands > _COLOURS and header.placed and _is_measured(rewound(file)):
        return Form(bands, dtype, False, False, header.pages)
    with opened(rewound(file)) as image:
        plain = (image.mode in _PLAIN and not (image.mode == "RGB" and bands > _COLOURS)) or (image.mode in _CLEAR and header.alpha)
    clear = header.alpha or header.nodata is not None or header.masked
    return Form(bands - (header.alpha and not plain), dtype, plain, clear, header.pages)


def _is_measured(file: Path | BinaryIO) -> bool:
    """Whether a band that is called alpha holds measures: some programs call the fourth of four bands so, whatever it is."""
    band = tiffs.read(file)[0][..., -1]
    return bool(numpy.mean((band > 0) & (band < 255)) >= MEASURED)


def is_tiff(file: Path | BinaryIO) -> bool:
    if isinstance(file, Path):
        with open(file, "rb") as stream:
            return stream.read(4) in _MAGIC
    file.seek(0)
    return file.read(4) in _MAGIC


def rewound(file: Path | BinaryIO) -> Path | BinaryIO:
    """``file``, to be read from its beginning."""
    if not isinstance(file, Path):
        file.seek(0)
    return file


def values(file: Path | BinaryIO, bands: int = 0) -> tuple[numpy.ndarray, numpy.ndarray | None]:
    """The values of a picture (height x width x bands), and which of them hold data (of the same shape, or None for all).

    Values without data are those of nodata, those that are no number, those outside of a mask, and pixels that are fully clear. With ``bands``
    a last band that is called alpha is one of the bands where that makes as many. Raises OSError or ValueError.
    """
    if not is_tiff(file):
        with opened(rewound(file)) as image:
            if not pngs.bands(image):
                pixels = numpy.asarray(image)
                return pixels.reshape(*pixels.shape[:2], -1), None
        return pngs.values(rewound(file))
    pixels, mask, header = tiffs.read(rewound(file))
    holds = numpy.isfinite(pixels) if pixels.dtype.kind == "f" else numpy.ones(pixels.shape, bool)
    if header.nodata is not None and fits(header.nodata, pixels.dtype):
        holds &= pixels != numpy.array(header.nodata).astype(pixels.dtype)
    if mask is not None:
        holds &= mask[..., None]
    if header.alpha and bands != header.bands:
        holds = holds[..., :-1] & (pixels[..., -1:] > 0)
        pixels = pixels[..., :-1]
    return pixels, None if holds.all() else holds


def fits(value: float, dtype: numpy.dtype) -> bool:
    if dtype.kind == "f" or not numpy.isfinite(value):
        return dtype.kind == "f" and bool(numpy.isfinite(value))
    return value == int(value) and numpy.iinfo(dtype).min <= value <= numpy.iinfo(dtype).max


def seen(file: Path | BinaryIO):
    """A plain picture as red, green and blue, upright, with grey in place of what is clear or holds no data. Raises OSError or ValueError."""
    from PIL import ExifTags, Image, ImageOps

    with opened(rewound(file)) as image:
        if image.format != _TIFF:
            upright = ImageOps.exif_transpose(image).convert("RGBA")
            return Image.alpha_composite(Image.new("RGBA", upright.size, (GREY, GREY, GREY, 255)), upright).convert("RGB")
        holds = values(rewound(file))[1]
        if holds is None:
            return ImageOps.exif_transpose(image).convert("RGB")
        empty = Image.fromarray(numpy.all(~holds, axis=2))  # one colour without data may be a dark one
        empty.getexif()[ExifTags.Base.Orientation] = image.getexif().get(ExifTags.Base.Orientation, 1)
        colours = image.convert("RGB")  # Pillow turns a TIFF when it decodes it
        colours.paste((GREY, GREY, GREY), mask=ImageOps.exif_transpose(empty))
        return colours
