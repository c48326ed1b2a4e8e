"""Scenes as GDAL opens them: the driver of TIFF alone, no file beside the scene, no other machine, and little memory."""

import contextlib
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy

from trainer.data import rasters
from trainer.data.scenes import headers

CACHE = 64 << 20  # bytes of blocks that GDAL keeps
DRIVER = "GTiff"
_ENVIRONMENT = {
    "GDAL_CACHEMAX": CACHE,
    "GDAL_DISABLE_READDIR_ON_OPEN": "EMPTY_DIR",  # no world file, overview or description beside the scene is looked for
    "GDAL_PAM_ENABLED": "NO",
    "GDAL_TIFF_INTERNAL_MASK": "YES",
    "GDAL_NUM_THREADS": "1",
    "CPL_VSIL_CURL_ALLOWED_EXTENSIONS": "none",
    "PROJ_NETWORK": "OFF",
}
_LOOKS, _LOOK = 9, 256  # windows, and pixels of a side, that tell whether a band called alpha holds measures


@dataclass(frozen=True)
class Scene:
    """What is known of a scene. ``bands`` are without alpha where ``alpha`` says that the last one tells how opaque a pixel is.

    ``crs`` is WKT, empty where there is none; ``transform`` are the six numbers from columns and rows to the plane of ``crs``, in the order of
    ``affine.Affine``. ``names`` are the descriptions of the bands. ``palette`` says that its values are places in a palette.
    ``order`` are the places of the bands that are wanted, in their order; empty for all as they are.
    """

    file: Path
    width: int
    height: int
    bands: int
    dtype: str
    alpha: bool
    masked: bool
    nodata: float | None
    crs: str
    transform: tuple[float, float, float, float, float, float]
    names: tuple[str, ...] = ()
    palette: bool = False
    order: tuple[int, ...] = ()

    @property
    def pixels(self) -> int:
        return self.width * self.height

    @property
    def form(self) -> rasters.Form:
        """How it is stored, as pictures say it."""
        plain = self.dtype == "uint8" and self.bands in (1, 3)
        return rasters.Form(self.bands, self.dtype, plain, self.alpha or self.masked or self.nodata is not None)


@contextlib.contextmanager
def environment() -> Iterator[None]:
    """Inside this context GDAL has its limits. Errors of GDAL become OSError."""
    import rasterio
    from rasterio._err import CPLE_BaseError  # rasterio lets some errors of GDAL through as they are, such as those of the colours of bands

    with rasterio.Env(**_ENVIRONMENT), warnings.catch_warnings():
        warnings.simplefilter("ignore", rasterio.errors.NotGeoreferencedWarning)
        try:
            yield
        except (rasterio.errors.RasterioError, CPLE_BaseError) as e:
            raise OSError(str(e)) from e


@contextlib.contextmanager
def opened(file: Path) -> Iterator[Any]:
    """The scene in ``file``, as a dataset of rasterio. Raises ValueError or OSError; its header is checked first."""
    import rasterio

    header = headers.header(file)
    with environment(), rasterio.open(file, driver=DRIVER) as dataset:
        if (dataset.width, dataset.height, dataset.count) != (header.width, header.height, header.bands):
            raise ValueError("its header can be read in two ways")
        yield dataset


def scene(file: Path) -> Scene:
    """What the scene in ``file`` says of itself. Raises ValueError or OSError."""
    from rasterio.enums import ColorInterp, MaskFlags

    with opened(file) as dataset:
        dtypes = set(dataset.dtypes)
        if len(dtypes) != 1 or numpy.dtype(next(iter(dtypes))).kind not in "uif":
            raise ValueError(f"its bands hold {', '.join(sorted(dtypes))}, and one kind of numbers is read")
        alpha = dataset.count in (2, 4) and dataset.colorinterp[-1] == ColorInterp.alpha and not _is_measured(dataset)
        bands = dataset.count - alpha
        masked = MaskFlags.per_dataset in dataset.mask_flag_enums[0] and MaskFlags.alpha not in dataset.mask_flag_enums[0]
        crs = dataset.crs.to_wkt() if dataset.crs else ""
        names = tuple(str(d or "") for d in dataset.descriptions[:bands])
        palette = dataset.count == 1 and dataset.colorinterp[0] == ColorInterp.palette
        nodata = None if dataset.nodata is None else float(dataset.nodata)
        size, transform = (dataset.width, dataset.height), tuple(dataset.transform)[:6]
        return Scene(file, *size, bands, dataset.dtypes[0], alpha, masked, nodata, crs, transform, names, palette)


def _is_measured(dataset: Any) -> bool:
    """Whether a band that is called alpha holds measures, as ``rasters`` asks it of pictures, by some windows."""
    side = int(_LOOKS**0.5)
    between = total = 0
    for row in range(side):
        for column in range(side):
            top, left = dataset.height * row // side, dataset.width * column // side
            try:
                part = read_raw(dataset, (slice(top, top + _LOOK), slice(left, left + _LOOK)), [dataset.count])
            except OSError:  # a damaged tile: the others tell
                continue
            between, total = between + int(((part > 0) & (part < 255)).sum()), total + part.size
    return between >= rasters.MEASURED * total


def read_raw(dataset: Any, place: tuple[slice, slice], bands: list[int] | None = None) -> numpy.ndarray:
    """The values of a window, cut at the ends of the scene (height x width x bands)."""
    from rasterio.windows import Window

    rows, columns = (slice(max(0, s.start), min(n, s.stop)) for s, n in zip(place, (dataset.height, dataset.width)))
    window = Window(columns.start, rows.start, columns.stop - columns.start, rows.stop - rows.start)
    return numpy.moveaxis(dataset.read(bands, window=window), 0, -1)


def read(dataset: Any, of: Scene, place: tuple[slice, slice], bands: int = 0) -> tuple[numpy.ndarray, numpy.ndarray | None]:
    """The values of a window (height x width x bands), and which of them hold data (of the same shape, or None for all).

    As ``rasters.values`` says it of pictures: with ``bands`` a last band that is called alpha is one of the bands where that makes as many.
    """
    pixels = read_raw(dataset, place)
    holds = numpy.isfinite(pixels) if pixels.dtype.kind == "f" else numpy.ones(pixels.shape, bool)
    if of.nodata is not None and rasters.fits(of.nodata, pixels.dtype):
        holds &= pixels != numpy.array(of.nodata).astype(pixels.dtype)
    if of.masked:
        from rasterio.windows import Window

        window = Window(place[1].start, place[0].start, pixels.shape[1], pixels.shape[0])
        holds &= dataset.read_masks(1, window=window)[..., None] > 0
    if of.alpha and bands != dataset.count:
        holds = holds[..., :-1] & (pixels[..., -1:] > 0)
        pixels = pixels[..., :-1]
    return pixels, None if holds.all() else holds


def colours(dataset: Any, of: Scene, place: tuple[slice, slice]) -> tuple[numpy.ndarray, Any]:
    """Red, green and blue of a window of a plain scene (uint8), and which pixels hold data (height x width, or None for all)."""
    pixels, holds = read(dataset, of, place)
    if of.palette:
        table = numpy.zeros((256, 3), numpy.uint8)
        for value, colour in dataset.colormap(1).items():
            if 0 <= value < 256:
                table[value] = colour[:3]
        pixels = table[pixels[..., 0]]
    elif pixels.shape[2] == 1:
        pixels = numpy.repeat(pixels, 3, axis=2)
    if holds is None:
        return pixels, None
    seen = holds.any(axis=2)
    pixels = numpy.ascontiguousarray(pixels)
    pixels[~seen] = rasters.GREY
    return pixels, seen
