"""Masks as arrays of NumPy (.npy): whole numbers or a layer for each class, read without pickle and within bounds. The bytes are not trusted."""

from pathlib import Path

import numpy
from numpy.lib import format as layout

from trainer.core.input import Input
from trainer.data import names, rasters
from trainer.data.annotations import masks
from trainer.data.annotations.masks import Sides

ENDING = "npy"
_MAGIC = b"\x93NUMPY"
_PIXELS, _LAYERS = 80_000_000, 64
_HEADER = 10_000  # characters
_LARGEST = 1 << 31  # value
_ON = (1, 255)  # what a layer says where its class is


def is_array(file: Path) -> bool:
    with open(file, "rb") as stream:
        return stream.read(len(_MAGIC)) == _MAGIC


def size(file: Path) -> tuple[int, int]:
    """Width and height of an array that can be a mask. Raises OSError or ValueError."""
    shape, _, _, _ = _header(file)
    return shape[1], shape[0]


def _header(file: Path) -> tuple[tuple[int, ...], bool, numpy.dtype, int]:
    """Shape, order, type and the place of the first value. Raises OSError or ValueError where the array cannot be a mask."""
    with open(file, "rb") as stream:
        version = layout.read_magic(stream)
        read = {(1, 0): layout.read_array_header_1_0, (2, 0): layout.read_array_header_2_0}.get(version)
        if read is None:
            raise ValueError(f"its version {version[0]}.{version[1]} is not read")
        try:
            shape, by_columns, dtype = read(stream, max_header_size=_HEADER)
        except Exception as e:  # of the parser of literals and of the tokenizer, for bytes that are none
            raise ValueError("its header cannot be read") from e
        start = stream.tell()
        length = stream.seek(0, 2)
    if dtype.hasobject or dtype.kind not in "biuf" or dtype.itemsize > 8:
        raise ValueError("it holds other things than numbers")
    if len(shape) == 3 and shape[2] == 1:
        shape = shape[:2]
    if len(shape) not in (2, 3) or min(shape) < 1 or (len(shape) == 3 and shape[2] > _LAYERS):
        raise ValueError(f"its shape is {shape}, and neither height x width nor height x width x classes")
    if shape[0] * shape[1] > _PIXELS or int(numpy.prod(shape, dtype=object)) * dtype.itemsize != length - start:
        raise ValueError("its length is not that of its shape, or it is too large")
    return shape, by_columns, dtype, start


def _values(file: Path) -> numpy.ndarray:
    """The values, from a file that is mapped into memory."""
    shape, by_columns, dtype, start = _header(file)
    return numpy.memmap(file, dtype, "r", start, shape, "F" if by_columns else "C")


def classes(file: Path, nodata: int) -> numpy.ndarray:
    """The class of each pixel (height x width, int64): a whole number, or the layer that is not 0. ``nodata`` where there is none, and for numbers
    below 0.

    Raises OSError or ValueError, also where numbers have fractions, or where a pixel has two layers.
    """
    values = _values(file)
    if values.ndim == 3:
        return _of_layers(values, nodata)
    known = values if values.dtype.kind != "f" else values[~numpy.isnan(values)]
    fractions = known.dtype.kind == "f" and not (known == numpy.rint(known)).all()
    if fractions or (known.size and numpy.abs(known.astype(numpy.float64)).max() > _LARGEST):
        raise ValueError("its numbers have fractions or are too large, and are no classes")
    whole = numpy.nan_to_num(values, nan=nodata) if values.dtype.kind == "f" else values
    found = whole.astype(numpy.int64)
    return numpy.where(found < 0, nodata, found)


def _of_layers(values: numpy.ndarray, nodata: int) -> numpy.ndarray:
    found = numpy.full(values.shape[:2], nodata, numpy.int64)
    for layer in range(values.shape[2]):
        inside = values[..., layer] != 0
        if inside.any() and not numpy.isin(values[..., layer][inside], _ON).all():
            raise ValueError(f"its layer {layer} has other values than 0 and 1")
        if (found[inside] != nodata).any():
            raise ValueError("a pixel is in several layers")
        found[inside] = layer
    return found


def numbers(file: Path) -> numpy.ndarray:
    """The number of each pixel (height x width, float32), NaN where there is none. Raises OSError or ValueError."""
    values = _values(file)
    if values.ndim != 2:
        raise ValueError("it has several layers")
    found = values.astype(numpy.float32)
    found[~numpy.isfinite(found)] = numpy.nan
    return found


def has_fractions(file: Path) -> bool:
    """Whether an array holds numbers with fractions. Raises OSError or ValueError."""
    values = _values(file)
    if values.ndim != 2 or values.dtype.kind != "f":
        return False
    known = values[numpy.isfinite(values)]
    return bool((known != numpy.rint(known)).any())


def find(pictures: list[Input], tables: list[Input], measured: bool) -> Sides | None:
    """Pictures that pair by their names with arrays of their size, with a class or, where ``measured``, a number for each pixel. None without."""
    files = [t for t in tables if names.extension(t.name) == ENDING]
    for sides in masks.paired([*pictures, *files]) if files and pictures else ():
        if any(names.extension(p.name) == ENDING for p in sides.pictures) or any(names.extension(m.name) != ENDING for m in sides.masks):
            continue
        sample = list(zip(sides.pictures, sides.masks))[: masks.FEW]
        if all(_fits(picture, mask, measured) for picture, mask in sample):
            return sides
    return None


def _fits(picture: Input, mask: Input, measured: bool) -> bool:
    try:
        if measured != has_fractions(mask.file) or size(mask.file) != rasters.size(picture.file):
            return False
        return measured or numpy.unique(classes(mask.file, -1)).size <= _LAYERS
    except (OSError, ValueError, SyntaxError):
        return False
