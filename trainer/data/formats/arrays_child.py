"""Prints the columns of a file of arrays (NetCDF, HDF5, NumPy) as JSON lines. Runs in a process of its own with limits: others wrote the file.

Its arguments are the path of the file and the number of cells that fit into the memory of its reader. A line is a column: its name and its cells.
An object with notes ends the output, or one with an error: the end of a sentence that starts with "it". What lies outside of the file is not read.
"""

import datetime
import functools
import json
import math
import os
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # each thread reserves addresses, of which this process has few

import numpy

MAX_VARIABLES = 10_000
MAX_COLUMNS = 2000  # of an array of two dimensions
_CLASSIC = (b"CDF\x01", b"CDF\x02")
_SINCE = re.compile(
    r"(\w+) since (\d{1,4}-\d{1,2}-\d{1,2})(?:[T ]+(\d{1,2}:\d{1,2}(?::\d{1,2})?)(?:\.0*)?)?(?: ?(?:Z|UTC|[+-]?0?0:?00))?", re.IGNORECASE
)
_UNITS = (("milliseconds millisecond msec ms", 0.001), ("seconds second secs sec s", 1), ("minutes minute mins min", 60),
          ("hours hour hrs hr h", 3600), ("days day d", 86400))  # fmt: skip
_SECONDS = {unit: seconds for units, seconds in _UNITS for unit in units.split()}
_CALENDARS = ("", "standard", "gregorian", "proleptic_gregorian")
_GREGORIAN = 1583  # the first whole year in which they all agree
_LONGER = (
    "has variables with more than one dimension ({}), which are no columns: write the values that are columns as CSV, for example with to_dataframe "
    "and to_csv of xarray in Python"
)


class NoTable(Exception):
    """The end of a sentence that starts with "it"."""


class TooLarge(Exception):
    """A sentence with the size."""


@dataclass
class Variable:
    """``dimensions`` are their names, or their lengths as texts where they have none. ``attributes`` are plain values."""

    name: str
    dimensions: tuple[str, ...]
    shape: tuple[int, ...]
    attributes: dict
    read: Callable[[], numpy.ndarray]
    is_text: bool = False


def classic(path: str) -> list[Variable]:
    """The variables of a classic NetCDF file."""
    from scipy.io import netcdf_file

    source = netcdf_file(path, "r", mmap=True)
    found = []
    for name, v in list(source.variables.items())[:MAX_VARIABLES]:
        attributes = {k: _plain(a) for k, a in v._attributes.items()}
        is_text, shape = v.typecode() == "c", tuple(v.shape)
        dimensions = tuple(v.dimensions)
        if is_text and len(shape) > 1:  # the last dimension are the characters
            found.append(Variable(name, dimensions[:-1], shape[:-1], attributes, functools.partial(_joined, v), True))
        else:
            found.append(Variable(name, dimensions, shape, attributes, functools.partial(_copied, v), is_text))
    return found


def _copied(variable) -> numpy.ndarray:
    return numpy.array(variable[:])


def _joined(variable) -> numpy.ndarray:
    """The texts in an array of characters."""
    whole = numpy.ascontiguousarray(variable[:])
    return whole.view(f"S{whole.shape[-1]}")[..., 0] if whole.shape[-1] else numpy.full(whole.shape[:-1], b"")


def hdf5(path: str) -> list[Variable]:
    """The datasets of an HDF5 file, in which netCDF-4 files are written, too. Links to other files are not followed."""
    import h5py

    source = h5py.File(path, "r")  # open until this process ends: its variables are read later
    if "keras_version" in source.attrs or "layer_names" in source.attrs or "model_weights" in source:
        raise NoTable("holds the weights of a model, which are never loaded")
    found: list[Variable] = []
    groups = [source]
    while groups and len(found) < MAX_VARIABLES:
        group = groups.pop(0)
        if "pandas_type" in group.attrs:
            raise NoTable('is a store of pandas: save its table as Parquet, with pandas.read_hdf(file).to_parquet("table.parquet") in Python')
        for name in group:
            if not isinstance(group.get(name, getlink=True), h5py.HardLink):
                continue
            one = group[name]
            if isinstance(one, h5py.Group):
                if len(groups) < MAX_VARIABLES:
                    groups.append(one)
            elif isinstance(one, h5py.Dataset):
                if one.external or one.is_virtual:
                    raise NoTable(f"has its values of {_short(one)} in another file: write all of them into one")
                found += _variables(h5py, one)
    return found


def _short(dataset) -> str:
    return dataset.name.lstrip("/")


def _variables(h5py, dataset) -> list[Variable]:
    """A dataset as a variable, or each field of a table as one; none for a dimension without values."""
    attributes = {k: _plain(v) for k in list(dataset.attrs)[:100] if k not in ("DIMENSION_LIST", "REFERENCE_LIST") for v in [dataset.attrs[k]]}
    if str(attributes.get("NAME", "")).startswith("This is a netCDF dimension but not a netCDF variable") or dataset.shape is None:
        return []
    name, shape, kind = _short(dataset), tuple(dataset.shape), dataset.dtype
    dimensions = tuple(_dimension(dataset, i) for i in range(len(shape)))
    if kind.names:
        return [
            Variable(field, (*dimensions, *map(str, kind[field].shape)), (*shape, *kind[field].shape), {}, functools.partial(_field, dataset, field))
            for field in kind.names
        ]
    if h5py.check_string_dtype(kind) is not None:
        return [Variable(name, dimensions, shape, attributes, lambda: dataset.asstr(errors="replace")[()], True)]
    if named := h5py.check_enum_dtype(kind):
        values = {v: k for k, v in named.items()}
        return [Variable(name, dimensions, shape, attributes, lambda: numpy.array([values.get(int(v), "") for v in dataset[()].flat], object), True)]
    return [Variable(name, dimensions, shape, attributes, lambda: dataset[()])] if kind.kind in "iufb" else []


def _field(dataset, name: str) -> numpy.ndarray:
    return dataset.fields(name)[()]


def _dimension(dataset, i: int) -> str:
    scales = dataset.dims[i]
    if len(scales):
        return scales[0].name
    return dataset.name if dataset.attrs.get("CLASS") == b"DIMENSION_SCALE" and dataset.ndim == 1 else str(dataset.shape[i])


def numbers(path: str, cells: int) -> list[tuple[str, numpy.ndarray]]:
    """The columns of a NumPy array: fields of records, or the second dimension, whose values are numbered; one column where there is none."""
    try:
        array = numpy.load(path, mmap_mode="r", allow_pickle=False)
    except ValueError as e:
        raise NoTable("holds objects of Python, which are never loaded, or is damaged") from e
    if array.dtype.names and array.ndim == 1:
        if any(array.dtype[n].shape for n in array.dtype.names):
            raise NoTable("has fields with more than one value, which are no columns")
        _check_size(len(array), len(array.dtype.names), cells)
        return [(n, array[n]) for n in array.dtype.names]
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2 or array.dtype.kind not in "iufbUS":
        raise NoTable(f"is an array of {' × '.join(map(str, array.shape)) or 1}, and not of rows and columns")
    if array.shape[1] > MAX_COLUMNS:
        raise NoTable(f"is an array of {array.shape[1]} columns without names: at most {MAX_COLUMNS} are read")
    _check_size(array.shape[0], array.shape[1], cells)
    return [(f"value {i + 1}", array[:, i]) for i in range(array.shape[1])]


def columns(variables: list[Variable], cells: int) -> tuple[list[tuple[str, list]], list[str]]:
    """The variables along the one dimension as columns, and notes. Raises NoTable where there are more dimensions."""
    bounds = {str(v.attributes[k]) for v in variables for k in ("bounds", "climatology") if k in v.attributes}
    known = [v for v in variables if v.shape and v.name not in bounds]
    if longer := [f"{v.name}: {' × '.join(d.rpartition('/')[2] for d in v.dimensions)}" for v in known if len(v.shape) > 1]:
        raise NoTable(_LONGER.format(", ".join(longer[:3]) + (f" and {len(longer) - 3} more" if len(longer) > 3 else "")))
    if not known:
        raise NoTable("has no variables with values along a dimension")
    along = {(v.dimensions[0], v.shape[0]): v.name for v in reversed(known)}
    named = [length for name, length in along if name != str(length)]
    along = {key: v for key, v in along.items() if key[0] != str(key[1]) or named.count(key[1]) != 1}  # without a name, it is the one of this length
    if len(along) > 1:
        listed = ", ".join(f"{name}: {length} values" for (_, length), name in reversed(along.items()))
        raise NoTable(
            f"has variables along several dimensions ({listed}), which are no columns of one table: write those that belong together as CSV"
        )
    _check_size(known[0].shape[0], len(known), cells)
    same = {v.name.rpartition("/")[0] for v in known}
    found, notes, gaps = [], [], 0
    for v in known:
        read, empty, note = _cells(v)
        gaps += empty
        notes += [note] if note else []
        found.append((v.name.rpartition("/")[2] if len(same) == 1 else v.name, read))
    return found, [*notes, *([f"cells with the fill value that the file names are empty: {gaps}"] if gaps else [])]


def _check_size(rows: int, width: int, cells: int) -> None:
    if rows * max(1, width) > cells:
        raise TooLarge(f"It has {rows} rows of {width} columns.")


def _cells(v: Variable) -> tuple[list, int, str]:
    """The cells of a variable, how many of them are empty because they have its fill value, and what else was done with them."""
    values = v.read()
    if v.is_text or values.dtype.kind in "SUO":
        return texts(values), 0, ""
    gap = numpy.zeros(values.shape, bool)
    for name in ("_FillValue", "missing_value"):
        named = v.attributes.get(name)
        for value in named if isinstance(named, list) else [named]:
            if isinstance(value, (int, float)) and not math.isnan(value):
                gap |= values == numpy.asarray(value).astype(values.dtype)
    scale, offset = (v.attributes.get(k, d) for k, d in (("scale_factor", 1), ("add_offset", 0)))
    scaled = isinstance(scale, (int, float)) and isinstance(offset, (int, float)) and (scale, offset) != (1, 0)
    plain = [float(f"{x:.10g}") for x in (values.astype(float) * scale + offset).tolist()] if scaled else exact(values)
    moments = _moments(plain, v.attributes)
    cells = [None if empty else cell for cell, empty in zip(moments or plain, gap.tolist())]
    return cells, int(gap.sum()), f"the times in {v.name} are written as dates" if moments else ""


def _moments(values: list, attributes: dict) -> list | None:
    """The moments that numbers such as hours since 1900-01-01 mean; None where they mean none, or those of a calendar of a model."""
    match = _SINCE.fullmatch(str(attributes.get("units", "")).strip())
    if match is None or match[1].lower() not in _SECONDS or str(attributes.get("calendar", "")).lower() not in _CALENDARS:
        return None
    try:
        start = datetime.datetime.fromisoformat("-".join(f"{int(p):0{w}}" for p, w in zip(match[2].split("-"), (4, 2, 2))))
        if match[3]:
            hour, minute, *second = map(int, match[3].split(":"))
            start += datetime.timedelta(hours=hour, minutes=minute, seconds=second[0] if second else 0)
        seconds = _SECONDS[match[1].lower()]
        found = [None if x is None else start + datetime.timedelta(seconds=round(x * seconds)) for x in values]
    except (ValueError, OverflowError):
        return None
    known = [f for f in found if f is not None]
    return [None if f is None else str(f) for f in found] if known and min(start, *known).year >= _GREGORIAN else None


def exact(values: numpy.ndarray) -> list:
    """Numbers as they were written: a float of 32 bits without the digits that it has as one of 64. None for NaN."""
    if values.dtype.kind == "f":
        short = values.dtype.itemsize < 8
        return [None if math.isnan(x) else x for x in (map(float, values.astype(str).tolist()) if short else values.astype(float).tolist())]
    return values.tolist()


def texts(values: numpy.ndarray) -> list[str]:
    plain = (v.decode("utf-8", "replace") if isinstance(v, bytes) else str(v) for v in values.ravel().tolist())
    return [v.rstrip("\0").strip() for v in plain]


def _plain(value):
    """An attribute as a text, a number, or a list of them; None for anything else."""
    array = numpy.asarray(value.decode("utf-8", "replace") if isinstance(value, bytes) else value)
    if array.dtype.kind == "S":
        array = numpy.char.decode(array, "utf-8", "replace")
    if array.dtype.kind not in "iufU" and not (array.ndim == 0 and isinstance(array.item(), str)):
        return None
    listed = exact(array.ravel()[:100])
    return listed[0] if array.size == 1 else listed


def say(value) -> None:
    sys.stdout.write(json.dumps(value, ensure_ascii=False) + "\n")


def main(path: str, cells: int) -> None:
    with open(path, "rb") as file:
        head = file.read(8)
    notes: list[str] = []
    by_name = False
    if head.startswith(b"\x93NUMPY"):
        found = [(n, texts(v) if v.dtype.kind in "SU" else exact(v)) for n, v in numbers(path, cells)]
    elif head.startswith(_CLASSIC):
        found, notes = columns(classic(path), cells)
    elif head.startswith(b"CDF"):
        raise NoTable("is a NetCDF file of the kind CDF-5: write it as netCDF-4, with nccopy -k nc4")
    else:
        found, notes = columns(hdf5(path), cells)
        names = [name for name, _ in found]
        by_name = len(names) > 1 and names == sorted(names)  # HDF5 often keeps no other order
    for name, values in found:
        say([name, values])
    say({"notes": notes, "by_name": by_name})


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8", errors="replace")  # type: ignore[union-attr]
    try:
        main(sys.argv[1], int(sys.argv[2]))
    except NoTable as e:
        say({"error": str(e)})
    except TooLarge as e:
        say({"size": str(e)})
    except MemoryError:
        say({"size": "Its values take more memory than there is for them."})
    except Exception as e:  # libraries of formats raise anything for damaged files
        say({"error": f"cannot be read as a file of NetCDF, HDF5 or NumPy: it may be damaged ({type(e).__name__})"})
