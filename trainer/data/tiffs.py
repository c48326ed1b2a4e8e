"""The first page of a TIFF as instruments write it: any number of bands, 8 to 64 bits, numbers or fractions, nodata. Memory is bounded."""

import contextlib
import html
import io
import math
import re
import struct
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy

MAX_BANDS = 64
MAX_BYTES = 1 << 30  # of a decoded picture
METADATA = 42112  # the tag with what GDAL says of the bands, as XML
NODATA = 42113  # the tag in which GDAL writes the value of pixels without data
PLACES = (33550, 33922, 34264, 34735)  # tags of the scale, the place, the transform and the reference system
_ITEM = re.compile(r"<Item\b([^<>]{0,500})>([^<]{0,1000})</Item>")
_SAMPLE, _DESCRIPTION = re.compile(r'\bsample="(\d{1,3})"'), 'role="description"'
_MOST_METADATA, _MOST_NAME = 1 << 20, 100  # characters
_SMALLER, _MASK = 1, 4  # bits of the kind of a page: a smaller copy, a mask of another page
_ALPHA = (1, 2)  # values of ExtraSamples that say how opaque a pixel is
_PLAIN, _LZW, _PACKED = 1, 5, 32773
_DEFLATE = (8, 32946)
_FLOATS = 3  # the predictor that orders the bytes of fractions by their worth
_NAMES = {6: "old JPEG", 7: "JPEG", 34887: "LERC", 34925: "LZMA", 50000: "Zstandard", 50001: "WebP", 34712: "JPEG 2000"}


@dataclass(frozen=True)
class Header:
    """What the first page says of itself.

    ``alpha`` says that its last band tells how opaque a pixel is, ``masked`` that a page of its own tells which pixels hold data, ``placed``
    that it has a place on the earth; ``pages`` is 2 for two or more.
    """

    width: int
    height: int
    bands: int
    dtype: numpy.dtype
    alpha: bool
    nodata: float | None
    masked: bool
    placed: bool
    pages: int


def header(file: Path | BinaryIO) -> Header:
    """The header of the first page. Raises ValueError or OSError for a file that is no TIFF, or whose page cannot be read."""
    with _opened(file) as tiff:
        return _header(tiff, tiff.pages[0])


def names(file: Path | BinaryIO) -> tuple[str, ...]:
    """What the first page calls its bands, as GDAL writes it; without names where not every band has one of its own. Raises ValueError or OSError."""
    with _opened(file) as tiff:
        page = tiff.pages[0]
        tag = page.tags.get(METADATA)
        if tag is None or not isinstance(tag.value, str) or len(tag.value) > _MOST_METADATA:
            return ()
        found = dict.fromkeys(range(min(int(page.samplesperpixel), MAX_BANDS)), "")
        for attributes, text in _ITEM.findall(tag.value):
            number = _SAMPLE.search(attributes)
            if number and _DESCRIPTION in attributes and int(number[1]) in found:
                found[int(number[1])] = " ".join(html.unescape(html.unescape(text)).split())[:_MOST_NAME]  # GDAL escapes them twice
        return complete(tuple(found.values()))


def complete(named: tuple[str, ...]) -> tuple[str, ...]:
    """The names of bands if each has one of its own, a last one without a name left out, which is alpha; else none."""
    named = named[:-1] if named and not named[-1] else named
    return named if all(named) and len(set(named)) == len(named) else ()


def metadata(named: tuple[str, ...]) -> str:
    """The text of the tag METADATA that calls the bands so."""
    items = (f'<Item name="DESCRIPTION" sample="{i}" role="description">{html.escape(html.escape(name))}</Item>' for i, name in enumerate(named))
    return f"<GDALMetadata>{''.join(items)}</GDALMetadata>"


def read(file: Path | BinaryIO) -> tuple[numpy.ndarray, numpy.ndarray | None, Header]:
    """The values of the first page (height x width x bands), which pixels hold data by its mask (height x width, or None), and its header.

    Raises ValueError or OSError.
    """
    with _opened(file) as tiff:
        page = tiff.pages[0]
        described = _header(tiff, page)
        values = _values(tiff, page, described)
        mask = _values(tiff, tiff.pages[1], _header(tiff, tiff.pages[1]))[..., 0] > 0 if described.masked else None
        return values, mask, described


@contextlib.contextmanager
def _opened(file: Path | BinaryIO):
    """The TIFF in ``file``. What tifffile raises for damaged files is not said, so whatever is raised while it is used becomes a ValueError."""
    import tifffile

    try:
        with tifffile.TiffFile(file) as tiff:
            yield tiff
    except tifffile.TiffFileError as e:
        raise ValueError(f"it is no readable TIFF ({e})") from e
    except (OSError, ValueError):
        raise
    except Exception as e:
        raise ValueError(f"it is no readable TIFF ({type(e).__name__}: {e})") from e


def _header(tiff, page) -> Header:
    height, width, bands = page.imagelength, page.imagewidth, page.samplesperpixel
    if page.dtype is None or page.imagedepth != 1 or not (height > 0 and width > 0 and 0 < bands <= MAX_BANDS):
        raise ValueError(f"its page of {width} x {height} pixels and {bands} bands cannot be read")
    if height * width * bands * page.dtype.itemsize > MAX_BYTES:
        raise ValueError(f"it has {width} x {height} pixels and {bands} bands, which fill more than {MAX_BYTES >> 30} GB")
    extra = tuple(int(e) for e in page.extrasamples or ())
    has_alpha = bool(extra) and extra[-1] in _ALPHA and bands in (2, 4)
    second = _second(tiff)
    masked = second is not None and bool(second.subfiletype & _MASK) and (second.imagelength, second.imagewidth) == (height, width)
    placed = any(tag in page.tags for tag in PLACES)
    pages = 1 if second is None or masked or second.subfiletype & _SMALLER else 2
    return Header(width, height, bands, numpy.dtype(page.dtype), has_alpha, _nodata(page), masked, placed, pages)


def _second(tiff):
    """The second page or None; the others are not walked through, which may be ten thousand."""
    try:
        return tiff.pages[1]
    except Exception:  # whatever a damaged second page raises: the first one counts
        return None


def _nodata(page) -> float | None:
    tag = page.tags.get(NODATA)
    try:
        return None if tag is None else float(str(tag.value).strip().strip("\0"))
    except ValueError:
        return None


def _values(tiff, page, described: Header) -> numpy.ndarray:
    compression, page.compression = int(page.compression), _PLAIN  # segments are decompressed here, up to their size
    floats = page.predictor == _FLOATS
    if floats:
        page.predictor = 1
    if compression not in (_PLAIN, _LZW, _PACKED, *_DEFLATE):
        raise ValueError(f"it is compressed as {_NAMES.get(compression, compression)}; save it with Deflate or LZW")
    contiguous = int(page.planarconfig) == 1 or described.bands == 1
    rows, columns = (page.tilelength, page.tilewidth) if page.is_tiled else (min(page.rowsperstrip, described.height), described.width)
    samples = described.bands if contiguous else 1
    size = rows * columns * samples * page.dtype.itemsize
    expected = math.ceil(described.height / rows) * math.ceil(described.width / columns) * (1 if contiguous else described.bands)
    if size > MAX_BYTES or len(page.dataoffsets) < expected:
        raise ValueError("its parts are too large, or some of them are missing")
    values = numpy.zeros((1 if contiguous else described.bands, described.height, described.width, samples), page.dtype)
    for index, (offset, length) in enumerate(zip(page.dataoffsets[:expected], page.databytecounts[:expected])):
        if length == 0:
            continue  # a part without data
        tiff.filehandle.seek(offset)
        lines = rows if page.is_tiled else min(rows, described.height - index % math.ceil(described.height / rows) * rows)
        data = _decompressed(tiff.filehandle.read(min(length, 2 * size + 1024)), compression, size // rows * lines)
        if floats:
            data = _ordered(data, columns, samples, page.dtype)
        try:
            part, place, _ = page.decode(data, index)
        except Exception as e:  # what tifffile raises is not said; damaged data can make it raise anything
            raise ValueError(f"its part {index + 1} is damaged ({e})") from e
        if part is None:
            continue
        band, _, top, left, _ = place
        room = values[band, top : top + part.shape[1], left : left + part.shape[2]]
        room[...] = part[0, : room.shape[0], : room.shape[1]]
    return values[0] if contiguous else numpy.moveaxis(values[..., 0], 0, -1)


def _decompressed(data: bytes, compression: int, size: int) -> bytes:
    """At most ``size`` bytes."""
    try:
        if compression in _DEFLATE:
            return zlib.decompressobj().decompress(data, size)
        if compression in (_LZW, _PACKED):
            return _by_pillow(data, compression, size)
    except (zlib.error, OSError, SyntaxError) as e:
        raise ValueError(f"one of its parts is damaged ({e})") from e
    return data[:size]


def _by_pillow(data: bytes, compression: int, size: int) -> bytes:
    """LZW or PackBits: the bytes are the pixels of a grey picture of one row, which Pillow decodes."""
    from PIL import Image

    tags = ((256, 4, size), (257, 4, 1), (258, 3, 8), (259, 3, compression), (262, 3, 1), (273, 4, 0), (277, 3, 1), (278, 4, 1), (279, 4, len(data)))
    start = 8 + 2 + 12 * len(tags) + 4
    entries = b"".join(struct.pack("<HHII", tag, kind, 1, start if tag == 273 else value) for tag, kind, value in tags)
    file = io.BytesIO(b"II*\0" + struct.pack("<IH", 8, len(tags)) + entries + bytes(4) + data)
    with Image.open(file, formats=("TIFF",)) as image:
        return image.tobytes()


def _ordered(data: bytes, columns: int, samples: int, dtype: numpy.dtype) -> bytes:
    """The bytes of fractions in their usual order: they were sorted by their worth within a row, and each is the difference to the one before."""
    width = columns * samples * dtype.itemsize
    rows = numpy.frombuffer(data[: len(data) // width * width], numpy.uint8).reshape(-1, width)
    sums = numpy.add.accumulate(rows.reshape(len(rows), -1, samples), axis=1, dtype=numpy.uint8).reshape(len(rows), dtype.itemsize, -1)
    values = numpy.ascontiguousarray(numpy.moveaxis(sums, 1, -1)).view(dtype.newbyteorder(">"))
    return values.astype(dtype.newbyteorder("=")).tobytes()
