"""What the header of a TIFF says, read without GDAL and before any pixel: whether it is a scene, and whether it may be opened at all."""

from dataclasses import dataclass
from pathlib import Path

import numpy

from trainer.data import rasters, tiffs
from trainer.data.images import MAX_PIXELS

MOST_PIXELS, MOST_BANDS, MOST_BLOCK = 10**11, 64, 256 << 20  # of the full-size page; bytes of a tile or strip
_MOST_PAGES = 32  # that are looked at: a scene has its smaller copies and its mask, and no more
_SMALLER, _MASK = 1, 4  # bits of the kind of a page
_KEYS, _MODEL = 34735, 1024  # the tag with the keys of the reference system, four numbers each, and the key of its kind


@dataclass(frozen=True)
class Header:
    """``bands`` counts all samples of a pixel, ``block`` is height and width of a tile or strip. ``placed`` says that it has a reference system."""

    width: int
    height: int
    bands: int
    dtype: numpy.dtype
    block: tuple[int, int]
    placed: bool

    @property
    def is_scene(self) -> bool:
        """Whether it is answered as a scene: it has a place, or it is too large to be read as one picture."""
        size = self.width * self.height
        return self.placed or size > MAX_PIXELS or size * self.bands * self.dtype.itemsize > tiffs.MAX_BYTES


def header(file: Path) -> Header:
    """The header of a TIFF. Raises ValueError or OSError where it is none, is over a limit, is cut off, or has several full-size pages."""
    import tifffile

    try:
        with tifffile.TiffFile(file) as tiff:
            page = tiff.pages[0]
            found = _of(page)
            _check_whole(page, file.stat().st_size)
            _check_pages(tiff, found)
            return found
    except tifffile.TiffFileError as e:
        raise ValueError(f"it is no readable TIFF ({e})") from e
    except (OSError, ValueError):
        raise
    except Exception as e:  # what tifffile raises for damaged files is not said
        raise ValueError(f"it is no readable TIFF ({type(e).__name__}: {e})") from e


def is_scene(file: Path) -> bool:
    """Whether a file is a TIFF that is answered as a scene; False where ``header`` refuses it."""
    try:
        return rasters.is_tiff(file) and header(file).is_scene
    except (OSError, ValueError):
        return False


def _of(page) -> Header:
    width, height, bands = page.imagewidth, page.imagelength, page.samplesperpixel
    if page.dtype is None or page.imagedepth != 1 or min(width, height, bands) < 1:
        raise ValueError(f"its page of {width} x {height} pixels and {bands} bands cannot be read")
    if width * height > MOST_PIXELS:
        raise ValueError(f"it declares {width} x {height} pixels, more than {MOST_PIXELS / 1e9:.0f} thousand million")
    if bands > MOST_BANDS:
        raise ValueError(f"it declares {bands} bands, more than {MOST_BANDS}")
    rows, columns = (page.tilelength, page.tilewidth) if page.is_tiled else (min(page.rowsperstrip, height), width)
    dtype = numpy.dtype(page.dtype)
    size = rows * columns * dtype.itemsize * (bands if int(page.planarconfig) == 1 else 1)
    if size > MOST_BLOCK:
        raise ValueError(
            f"its blocks of {columns} x {rows} pixels fill {size / 1e6:,.0f} MB each, more than {MOST_BLOCK >> 20} MB: store it in tiles "
            "(gdal_translate -co TILED=YES)"
        )
    return Header(width, height, bands, dtype, (rows, columns), _is_placed(page))


def _is_placed(page) -> bool:
    """Whether the page names a reference system; one that says how large its pixels are alone is on no map."""
    tag = page.tags.get(_KEYS)
    return tag is not None and not isinstance(tag.value, int | float) and _MODEL in tuple(tag.value)[4::4]


def _check_whole(page, length: int) -> None:
    """Raise ValueError where a tile or strip begins or ends behind the end of the file."""
    starts = numpy.asarray(page.dataoffsets, numpy.float64)
    ends = starts + numpy.asarray(page.databytecounts, numpy.float64)
    if not len(ends) or len(starts) != len(ends) or ends.max() > length:
        raise ValueError("it is cut off: some of its tiles lie behind the end of the file")


def _check_pages(tiff, first: Header) -> None:
    for number in range(1, _MOST_PAGES + 1):
        try:
            page = tiff.pages[number]
        except Exception:  # no more pages, or a damaged one: the first one counts
            return
        if page.subfiletype & (_SMALLER | _MASK):
            continue
        if (page.imagewidth, page.imagelength) == (first.width, first.height):
            raise ValueError("it has more than one full-size page: save each page as a file of its own")
    raise ValueError(f"it has more than {_MOST_PAGES} pages: save each page as a file of its own")
