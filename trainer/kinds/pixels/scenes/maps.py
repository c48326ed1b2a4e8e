"""The answer for a scene as a Cloud Optimized GeoTIFF, with the reference system, transform and size of the scene."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy

from trainer.data.scenes import opening
from trainer.data.scenes.opening import Scene
from trainer.errors import UserError
from trainer.kinds.pixels.codings import MOST, Classes
from trainer.kinds.pixels.delivery import palette, without_data, written
from trainer.kinds.pixels.scenes import parts
from trainer.kinds.pixels.scenes.units import Unit

Around = Callable[[numpy.ndarray], tuple[numpy.ndarray, numpy.ndarray]]
_BLOCK = 512
_TILED = {"tiled": True, "blockxsize": _BLOCK, "blockysize": _BLOCK, "BIGTIFF": "IF_SAFER"}
_COG = {"driver": "COG", "COMPRESS": "DEFLATE", "BLOCKSIZE": _BLOCK, "BIGTIFF": "IF_SAFER", "RESAMPLING": "NEAREST", "OVERVIEW_COMPRESS": "DEFLATE"}
_NODATA = "nodata"


def write(scene: Scene, folder: Path, digest: str, units: list[Unit], coding: object, to: Path) -> None:
    """Write the answers in ``folder`` as a map of classes or numbers. Raises OSError, and UserError where an answer is gone."""
    import rasterio.shutil

    rough = to.with_suffix(".rough.tif")
    with opening.environment():
        _rough(scene, folder, digest, units, coding, rough)
        predictor = {} if isinstance(coding, Classes) else {"PREDICTOR": "FLOATING_POINT"}
        rasterio.shutil.copy(str(rough), str(to), **_COG, **predictor)
    rough.unlink()


def scores(scene: Scene, folder: Path, digest: str, units: list[Unit], to: Path) -> None:
    """Write how likely the answers are (from 0 to ``parts.SURE``), tiled, for polygons to be read by strips."""
    import rasterio
    from rasterio.windows import Window

    profile = {"driver": opening.DRIVER, "width": scene.width, "height": scene.height, "count": 1, "dtype": "uint8"}
    with opening.environment(), rasterio.open(to, "w", **profile, **_TILED, compress="DEFLATE", zlevel=1) as made:
        for unit, values in arrays(folder, digest, units, parts.SCORES):
            made.write(values, 1, window=Window(unit.columns.start, unit.rows.start, values.shape[1], values.shape[0]))


def probabilities(scene: Scene, folder: Path, digest: str, units: list[Unit], labels: tuple[str, ...], to: Path) -> None:
    """Write the probability of each class in percent as a map with a band for each. Raises OSError, and UserError where an answer is gone."""
    of_units = arrays(folder, digest, units, parts.ODDS)
    _bands(scene, of_units, labels, "uint8", parts.NO_ODDS, lambda v: numpy.where(v == parts.NO_ODDS, v, v & ~numpy.uint8(parts.POSSIBLE)), to)


def possible(scene: Scene, folder: Path, digest: str, units: list[Unit], labels: tuple[str, ...], to: Path) -> None:
    """Write which classes are possible (1, else 0) as a map with a band for each. Raises OSError, and UserError where an answer is gone."""
    of_units = arrays(folder, digest, units, parts.ODDS)
    _bands(scene, of_units, labels, "uint8", parts.NO_ODDS, lambda v: numpy.where(v == parts.NO_ODDS, v, v // numpy.uint8(parts.POSSIBLE)), to)


def intervals(scene: Scene, folder: Path, digest: str, units: list[Unit], around: Around, to: Path) -> None:
    """Write the ends of the intervals of numbers, which ``around`` gives, as a map with two bands. Raises OSError, and UserError where an answer is
    gone."""
    of_units = ((unit, values[None]) for unit, values in arrays(folder, digest, units, parts.VALUES))
    _bands(scene, of_units, ("low", "high"), "float32", numpy.nan, lambda v: numpy.stack(around(v[0])), to)


def _bands(scene: Scene, of_units: Iterable, names: tuple[str, ...], dtype: str, empty: float, values_of: Callable, to: Path) -> None:
    """Write a map with a band for each of ``names``: ``values_of`` a part of the array of each unit."""
    import rasterio
    import rasterio.shutil
    from rasterio.windows import Window

    rough = to.with_suffix(".rough.tif")
    profile = {**_profile(scene), "count": len(names), "dtype": dtype, _NODATA: empty, "interleave": "pixel"}
    predictor = {"PREDICTOR": "FLOATING_POINT"} if dtype == "float32" else {}
    with opening.environment():
        with rasterio.open(rough, "w", **profile) as made:
            for unit, values in of_units:
                for left in range(0, values.shape[2], _BLOCK):  # whole blocks, so that each is compressed once
                    part = values_of(values[:, :, left : left + _BLOCK])
                    made.write(part, window=Window(unit.columns.start + left, unit.rows.start, part.shape[2], part.shape[1]))
            for band, name in enumerate(names, 1):
                made.set_band_description(band, name)
        rasterio.shutil.copy(str(rough), str(to), **_COG, **predictor)
    rough.unlink()


def arrays(folder: Path, digest: str, units: list[Unit], name: str) -> Iterator[tuple[Unit, numpy.ndarray]]:
    """An array of the answer for each unit. Raises UserError where one is not there as a whole."""
    for unit in units:
        values = parts.read(parts.place(folder, digest, unit.number), name)
        if values is None or values.shape[-2:] != (unit.rows.stop - unit.rows.start, unit.columns.stop - unit.columns.start):
            raise UserError("answers_gone", "The answer for a part of a scene is gone from the folder of the run.", "Submit it again.")
        yield unit, values


def _rough(scene: Scene, folder: Path, digest: str, units: list[Unit], coding: object, to: Path) -> None:
    """The map without smaller copies of itself, from which GDAL makes the other one."""
    import rasterio
    from rasterio.windows import Window

    empty = without_data(written(coding)) if isinstance(coding, Classes) else float("nan")
    profile = {**_profile(scene), "count": 1, "dtype": "uint8" if isinstance(coding, Classes) else "float32", _NODATA: empty}
    places = _values(coding) if isinstance(coding, Classes) else None
    with rasterio.open(to, "w", **profile) as made:
        for unit, values in arrays(folder, digest, units, parts.VALUES):
            window = Window(unit.columns.start, unit.rows.start, values.shape[1], values.shape[0])
            made.write(values if places is None else places[values], 1, window=window)
        if isinstance(coding, Classes):
            made.write_colormap(1, {value: (*map(int, colour), 255) for value, colour in enumerate(palette(coding))})


def _profile(scene: Scene) -> dict:
    """How a map of a scene is created, but for its bands."""
    import rasterio
    from rasterio.transform import Affine

    transform = Affine(*scene.transform)
    return {
        "driver": opening.DRIVER, "width": scene.width, "height": scene.height, "crs": rasterio.crs.CRS.from_wkt(scene.crs) if scene.crs else None,
        "compress": "DEFLATE", "zlevel": 1, **_TILED, **({"transform": transform} if transform != Affine.identity() else {}),
    }  # fmt: skip


def _values(coding: Classes) -> numpy.ndarray:
    """The delivered value of each class, and of pixels without data."""
    values = written(coding)
    found = numpy.full(256, without_data(values), numpy.uint8)
    found[: len(values)] = values
    found[MOST:] = without_data(values)
    return found
