"""Tables of dBase (.dbf), which shapefiles have for their attributes."""

import struct

from trainer.data.formats.decode import NotText, decode
from trainer.data.formats.repairs import Repair
from trainer.data.formats.table import NotATable, Table

_HEAD, _FIELD, _END = 32, 32, 0x0D
_VERSIONS = frozenset((0x02, 0x03, 0x04, 0x05, 0x30, 0x31, 0x32, 0x43, 0x63, 0x83, 0x8B, 0x8C, 0xCB, 0xF5, 0xFB))
_TEXTS = frozenset("CNFLD")
_DELETED = b"*"


def read(name: str, data: bytes, encoding: str) -> Table:
    """The records that are not deleted. Numbers and dates are texts in such a file; columns of bytes and memos are left out. Raises NotATable."""
    if len(data) < _HEAD + 1 or data[0] not in _VERSIONS:
        raise NotATable("is not a readable dBase file")
    count, start, width = struct.unpack_from("<IHH", data, 4)
    fields, left = _fields(data, start)
    if not fields or width < 2 or start < _HEAD or max(f[3] for f in fields) > width:
        raise NotATable("is not a readable dBase file")
    rows: list[tuple[int, list[bytes]]] = []
    deleted = 0
    for number in range(1, count + 1):
        record = data[start + (number - 1) * width : start + number * width]
        if len(record) < width:
            break
        if record[:1] == _DELETED:
            deleted += 1
        else:
            rows.append((number, [_cell(kind, record[a:b]) for _, kind, a, b in fields]))
    text, found = _decoded(b"\n".join(b"\x1f".join(cells) for _, cells in rows), encoding)
    cells = [[c.strip() for c in line.split("\x1f")] for line in text.split("\n")] if rows else []
    if any(len(row) != len(fields) for row in cells) or len(cells) != len(rows):
        raise NotATable("is not a readable dBase file")
    notes = [f"its encoding is {found}"] if found not in ("UTF-8", encoding) else []
    if left:
        notes.append(f"columns of bytes and memos are not read: {', '.join(left[:4])}")
    repairs = [Repair("deleted_records", deleted, f"{deleted} records are marked as deleted and not read.")] if deleted else []
    return Table(name, [f[0] for f in fields], list(zip((n for n, _ in rows), cells)), notes=notes, repairs=repairs)


def _fields(data: bytes, start: int) -> tuple[list[tuple[str, str, int, int]], list[str]]:
    """Name, kind and place in a record of the fields that are read, and the names of the others."""
    fields, left, place, at = [], [], 1, _HEAD
    while at + _FIELD <= min(len(data), start) and data[at] != _END:
        name = data[at : at + 11].split(b"\0")[0].decode("cp1252", "replace").strip()
        kind, length = chr(data[at + 11]), data[at + 16]
        if kind in _TEXTS or (kind == "I" and length == 4) or (kind == "O" and length == 8):
            fields.append((name, kind, place, place + length))
        else:
            left.append(name)
        place += length
        at += _FIELD
    return fields, left


def _cell(kind: str, value: bytes) -> bytes:
    if kind == "I":
        return str(struct.unpack("<i", value)[0]).encode()
    if kind == "O":
        return repr(struct.unpack("<d", value)[0]).encode()
    value = value.replace(b"\0", b"").replace(b"\n", b" ").replace(b"\x1f", b" ").strip()
    if kind == "D":
        return b"-".join((value[:4], value[4:6], value[6:])) if len(value) == 8 and value.isdigit() else b""
    if kind in "NF" and not value.strip(b"*"):
        return b""
    return b"" if kind == "L" and value == b"?" else value


def _decoded(data: bytes, encoding: str) -> tuple[str, str]:
    try:
        return decode(data, encoding)
    except NotText:
        return data.decode("cp1252", "replace"), "cp1252"
