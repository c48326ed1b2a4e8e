"""Makes files of other programs for tests: HDF5, classic NetCDF, NumPy, and workbooks of LibreOffice and of an old Excel."""

import io
import struct
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from xml.sax.saxutils import escape

import numpy

_MANIFEST = "urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"
_SECTOR = 512
_END, _FREE, _FAT = -2, -1, -3


def hdf5(fill: Callable, **options) -> bytes:
    """An HDF5 file; ``fill`` gets it open, and ``options`` are those of h5py."""
    import h5py

    packed = io.BytesIO()
    with h5py.File(packed, "w", **options) as target:
        fill(target)
    return packed.getvalue()


def netcdf(fill: Callable) -> bytes:
    """A classic NetCDF file; ``fill`` gets it open."""
    from scipy.io import netcdf_file

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "a.nc"
        with netcdf_file(file, "w") as target:
            fill(target)
        return file.read_bytes()


def along(target, dimension: str, columns: dict[str, numpy.ndarray], attributes: dict[str, dict] | None = None) -> None:
    """Write ``columns`` along one dimension of a classic NetCDF file, with the ``attributes`` of some of them."""
    target.createDimension(dimension, len(next(iter(columns.values()))))
    for name, values in columns.items():
        if values.dtype.kind == "S":
            length = f"length_of_{name}"
            target.createDimension(length, values.dtype.itemsize)
            target.createVariable(name, "c", (dimension, length))[:] = values.view("S1").reshape(len(values), -1)
            continue
        made = target.createVariable(name, values.dtype, (dimension,))
        made[:] = values
        for key, value in (attributes or {}).get(name, {}).items():
            setattr(made, key, value)


def npy(array: numpy.ndarray, **options) -> bytes:
    packed = io.BytesIO()
    numpy.save(packed, array, **options)
    return packed.getvalue()


def ods(rows: list[list]) -> bytes:
    """A workbook of LibreOffice with one sheet of numbers and texts."""
    lines = ("<table:table-row>" + "".join(map(_ods_cell, row)) + "</table:table-row>" for row in rows)
    spaces = "".join(f' xmlns:{n}="urn:oasis:names:tc:opendocument:xmlns:{n}:1.0"' for n in ("office", "table", "text"))
    sheet = f'<table:table table:name="Sheet1">{"".join(lines)}</table:table>'
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("META-INF/manifest.xml", f'<manifest:manifest xmlns:manifest="{_MANIFEST}"/>')
        body = f"<office:body><office:spreadsheet>{sheet}</office:spreadsheet></office:body>"
        archive.writestr("content.xml", f'<office:document-content{spaces} office:version="1.2">{body}</office:document-content>')
    return packed.getvalue()


def _ods_cell(value) -> str:
    if isinstance(value, str):
        return f'<table:table-cell office:value-type="string"><text:p>{escape(value)}</text:p></table:table-cell>'
    return f'<table:table-cell office:value-type="float" office:value="{value}"><text:p>{value}</text:p></table:table-cell>'


def xls(rows: list[list]) -> bytes:
    """A workbook of Excel 97 with one sheet of numbers and texts."""
    cells = b"".join(_xls_cell(r, c, value) for r, row in enumerate(rows) for c, value in enumerate(row))
    bound = struct.pack("<IHBB", 0, 0, 6, 0) + b"Sheet1"
    begin = _record(0x809, struct.pack("<HHHHII", 0x600, 5, 0, 0, 0, 0))
    start = len(begin) + 4 + len(bound) + 4
    book = begin + _record(0x85, struct.pack("<I", start) + bound[4:]) + _record(0x0A, b"")
    book += _record(0x809, struct.pack("<HHHHII", 0x600, 0x10, 0, 0, 0, 0)) + cells + _record(0x0A, b"")
    return _compound(book)


def _record(kind: int, content: bytes) -> bytes:
    return struct.pack("<HH", kind, len(content)) + content


def _xls_cell(row: int, column: int, value) -> bytes:
    place = struct.pack("<HHH", row, column, 0)
    if isinstance(value, str):
        return _record(0x204, place + struct.pack("<HB", len(value), 0) + value.encode("latin-1"))
    return _record(0x203, place + struct.pack("<d", value))


def _compound(book: bytes) -> bytes:
    """The container of old Office files, with the one stream Workbook."""
    book = book.ljust(max(4096, -(-len(book) // _SECTOR) * _SECTOR), b"\0")  # a shorter one would lie in another table
    count = len(book) // _SECTOR
    if count + 2 > _SECTOR // 4:
        raise ValueError("too many rows for one sector of the table")
    table = [_FAT, _END, *range(3, count + 2), _END]
    fat = struct.pack(f"<{_SECTOR // 4}i", *table, *[_FREE] * (_SECTOR // 4 - len(table)))
    root, stream = _entry("Root Entry", 5, 1, _END, 0), _entry("Workbook", 2, _FREE, 2, len(book))
    directory = (root + stream).ljust(_SECTOR, b"\0")
    head = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) + struct.pack("<HHHHH6x", 0x3E, 3, 0xFFFE, 9, 6)
    head += struct.pack("<IIiIIiIiI", 0, 1, 1, 0, 4096, _END, 0, _END, 0) + struct.pack("<109i", 0, *[_FREE] * 108)
    return head + fat + directory + book


def _entry(name: str, kind: int, child: int, start: int, size: int) -> bytes:
    raw = name.encode("utf-16-le") + b"\0\0"
    return raw.ljust(64, b"\0") + struct.pack("<HBBiii36xiQ", len(raw), kind, 1, _FREE, _FREE, child, start, size)
