"""Whether a file of a checkpoint is whole, by its own format and without unpickling anything.

A script that is killed while it saves leaves a file that is empty or cut. Most formats have at their end, or in their header, what tells
this in a few reads: the central directory of a ZIP archive (torch.save, Keras, NumPy), the offsets of safetensors, the size in HDF5.
"""

import json
import math
import os
import re
import struct

WHOLE, TORN, UNKNOWN = "whole", "torn", "unknown"
_ZIP_END, _ZIP64_PLACE = b"PK\x05\x06", b"PK\x06\x07"
_ZIP_TAIL = 22 + (1 << 16)
_HEADER_BYTES = 16 << 20  # of safetensors and JSON; a larger header is not looked at
_ZIPPED = (".pt", ".pth", ".ckpt", ".keras", ".npz", ".bin", ".zip")
_HDF5 = b"\x89HDF\r\n\x1a\n"


def judge(handle: int, name: str, size: int) -> str:
    """WHOLE, TORN, or UNKNOWN where the format has no proof. ``handle`` is open for reading; its position does not change."""
    suffix = os.path.splitext(name)[1].lower()
    if size == 0:
        return TORN
    first = os.pread(handle, 512, 0)
    try:
        if first.startswith(b"PK\x03\x04"):
            return _zip(handle, size)
        if suffix == ".safetensors":
            return _safetensors(handle, size)
        if first.startswith(_HDF5):
            return _hdf5(first, size)
        if first.startswith(b"\x93NUMPY"):
            return _numpy(first, size)
        if suffix == ".json":
            return _json(handle, size)
    except (OSError, ValueError, struct.error, RecursionError, OverflowError, LookupError, TypeError, AttributeError):
        return TORN
    if suffix in (".keras", ".npz", ".h5", ".hdf5", ".npy") or (suffix in _ZIPPED and not first.strip(b"\0")):
        return TORN  # it has not the beginning that it must have
    if first[:1] == b"\x80" and first[1:2] in b"\x02\x03\x04\x05" and suffix in (".pkl", ".pickle"):
        return WHOLE if os.pread(handle, 1, size - 1) == b"." else TORN
    return UNKNOWN


def _zip(handle: int, size: int) -> str:
    """The directory of a ZIP archive is written last, and says where it is itself."""
    tail = os.pread(handle, min(size, _ZIP_TAIL), max(0, size - _ZIP_TAIL))
    at = tail.rfind(_ZIP_END)
    if at < 0 or len(tail) - at < 22:
        return TORN
    length, start, comment = struct.unpack("<IIH", tail[at + 12 : at + 22])
    end = size - len(tail) + at
    if at + 22 + comment != len(tail):
        return TORN
    place = tail[max(0, at - 20) : at]
    if place.startswith(_ZIP64_PLACE):
        end64 = struct.unpack("<Q", place[8:16])[0]
        record = os.pread(handle, 56, end64)
        length, start = struct.unpack("<QQ", record[40:56])
        return WHOLE if record.startswith(b"PK\x06\x06") and start + length <= end64 < end else TORN
    return WHOLE if start + length <= end else TORN


def _safetensors(handle: int, size: int) -> str:
    length = struct.unpack("<Q", os.pread(handle, 8, 0))[0]
    if length > min(size - 8, _HEADER_BYTES):
        return TORN if length > size - 8 else UNKNOWN
    header = json.loads(os.pread(handle, length, 8))
    ends = [entry["data_offsets"][1] for name, entry in header.items() if name != "__metadata__" and isinstance(entry, dict)]
    return WHOLE if 8 + length + max(ends, default=0) == size else TORN


def _hdf5(first: bytes, size: int) -> str:
    """The header has the size of the file, which the library writes when it closes the file."""
    version = first[8]
    at = {0: 40, 1: 44}.get(version, 28)
    return WHOLE if struct.unpack("<Q", first[at : at + 8])[0] <= size else TORN


def _numpy(first: bytes, size: int) -> str:
    length, begin = (struct.unpack("<H", first[8:10])[0], 10) if first[6] == 1 else (struct.unpack("<I", first[8:12])[0], 12)
    if size < begin + length:
        return TORN
    header = first[begin : begin + length].decode("latin-1")
    item = re.search(r"'descr': '[<>|=]?[a-zA-Z](\d{1,4})'", header)
    shape = re.search(r"'shape': \(([\d, ]{0,200})\)", header)
    if not item or not shape:
        return UNKNOWN
    values = math.prod(int(n) for n in shape[1].replace(" ", "").split(",") if n)
    width = int(item[1]) * (4 if "'<U" in header else 1)
    return WHOLE if begin + length + values * width == size else TORN


def _json(handle: int, size: int) -> str:
    if size > _HEADER_BYTES:
        return UNKNOWN
    json.loads(os.pread(handle, size, 0))
    return WHOLE
