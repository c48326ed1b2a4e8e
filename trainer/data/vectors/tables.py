"""Tables of dBase (.dbf), as they stand beside shapefiles. The bytes are not trusted."""

import codecs
import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from trainer.data.vectors.layer import MOST_BYTES

_HEAD, _FIELD, _END = 32, 32, 13
_DELETED = ord("*")
_MARK = 29  # where the head names the encoding
_LONGEST = 4  # bytes of a character
_UTF8 = "utf-8"
_MARKS = {
    0x01: "cp437", 0x02: "cp850", 0x03: "cp1252", 0x13: "cp932", 0x26: "cp866", 0x4D: "cp936", 0x4E: "cp949", 0x4F: "cp950", 0x57: "cp1252",
    0x58: "cp1252", 0x59: "cp1252", 0x64: "cp852", 0x65: "cp866", 0x7D: "cp1255", 0x7E: "cp1256", 0xC8: "cp1250", 0xC9: "cp1251", 0xCA: "cp1254",
    0xCB: "cp1253",
}  # fmt: skip
_ISO = re.compile(r"(?:iso)?[ _-]*8859[ _-]*(\d{1,2})")
_PAGE = re.compile(r"(?:ansi|oem|cp|windows)?[ _-]*(\d{3,5})")
_LDID = re.compile(r"ldid/(\d{1,3})")


def content(file: Path) -> bytes:
    """The bytes of a file. Raises ValueError where they are too many."""
    if file.stat().st_size > MOST_BYTES:
        raise ValueError(f"it is larger than {MOST_BYTES >> 20} MB; save it as a GeoPackage")
    return file.read_bytes()


def rows(file: Path, named: Path | None) -> Iterator[dict[str, Any] | None]:
    """What the table says of each record, None for one that was deleted. ``named`` is the file .cpg with the encoding."""
    data = content(file)
    if len(data) < _HEAD:
        return
    count, head, width = struct.unpack_from("<IHH", data, 4)
    codes = _encodings(named, data[_MARK])
    fields = []
    at, place = _HEAD, 1
    while at + _FIELD <= min(head, len(data)) and data[at] != _END:
        name = _text(data[at : at + 11].split(b"\0")[0], codes)
        fields.append((name, chr(data[at + 11]), place, data[at + 16]))
        place, at = place + data[at + 16], at + _FIELD
    for number in range(min(count, max(0, len(data) - head) // max(1, width))):
        record = data[head + number * width : head + (number + 1) * width]
        if record[:1] == bytes([_DELETED]):
            yield None
        else:
            yield {name: _value(_text(record[start : start + length], codes), kind) for name, kind, start, length in fields}


def _encodings(named: Path | None, mark: int) -> tuple[str, ...]:
    """Those to be tried: what .cpg says, else UTF-8 and then what the table says itself."""
    if named is not None and named.stat().st_size <= 100 and (code := _known(named.read_text("ascii", "replace").strip().lower())):
        return (code,)
    return (_UTF8, _MARKS.get(mark, "cp1252"))


def _known(name: str) -> str:
    """An encoding by one of its names; empty for one that is not known."""
    if match := _LDID.fullmatch(name):
        return _MARKS.get(int(match[1]), "")
    if match := _ISO.fullmatch(name):
        name = f"iso8859-{match[1]}"
    elif match := _PAGE.fullmatch(name):
        name = _UTF8 if match[1] == "65001" else f"cp{match[1]}"
    try:
        "".encode(name)  # it is no text encoding otherwise
    except (LookupError, ValueError):
        return ""
    return codecs.lookup(name).name


def _text(cell: bytes, codes: tuple[str, ...]) -> str:
    """A cell as text. Programs cut texts at the width of a field, also within a character of UTF-8."""
    for code in codes:
        for cut in range(_LONGEST if codes == (_UTF8,) else 1):
            try:
                return cell[: len(cell) - cut].decode(code).strip(" \0")
            except UnicodeError:
                continue
    return cell.decode("latin-1").strip(" \0")


def _value(text: str, kind: str) -> str | float | None:
    if kind in "NF" and text:
        try:
            number = float(text)
        except ValueError:
            return None
        return int(number) if number.is_integer() else number
    return text or None
