"""Decodes a file: detects its encoding, and whether it is text at all."""

import codecs
import re

from trainer.errors import UserError, count

WITH_MARK = "UTF-8 with a byte order mark"
# UTF-32 starts with the bytes of UTF-16's mark, so it comes first.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig", WITH_MARK),
    (codecs.BOM_UTF32_LE, "utf-32", "UTF-32"),
    (codecs.BOM_UTF32_BE, "utf-32", "UTF-32"),
    (codecs.BOM_UTF16_LE, "utf-16", "UTF-16"),
    (codecs.BOM_UTF16_BE, "utf-16", "UTF-16"),
)

_NOT_ASCII = re.compile("[^\x00-\x7f]+")
_ESCAPED = re.compile("[\udc80-\udcff]+")  # bytes that are not UTF-8, as surrogateescape passes them on


class NotText(Exception):
    """The bytes are not text. The message is the end of a sentence that starts with "it"."""


def decode(data: bytes, wanted: str = "") -> tuple[str, str]:
    """The text of ``data`` and the name of its encoding: ``wanted``, else the one that is found. Raises NotText.

    The order is: a byte order mark, UTF-8, UTF-16 without a mark (every other byte of plain text is zero), cp1252.
    cp1252 fits nearly any bytes, so it is tried last and only where no zero byte speaks against text. Files that were put together
    are of both: each byte that is not UTF-8 is then read as cp1252.
    """
    if wanted:
        return _wanted(data, wanted), wanted
    for mark, codec, name in _MARKS:
        if data.startswith(mark):
            try:
                return data.decode(codec), name
            except UnicodeDecodeError as e:
                raise NotText(f"starts like {name} but cannot be read as such ({e.reason} at byte {e.start})") from e
    if b"\0" not in data:
        try:
            return data.decode("utf-8"), "UTF-8"
        except UnicodeDecodeError:
            return _windows(data)
    for codec, zeros in (("utf-16-le", data[1:2000:2]), ("utf-16-be", data[0:2000:2])):
        if zeros and zeros.count(0) > 0.4 * len(zeros) and len(data) % 2 == 0:
            try:
                return data.decode(codec), "UTF-16"
            except UnicodeDecodeError:
                continue
    raise NotText(f"is not a text file (it contains zero bytes, the first in line {data[: data.index(0)].count(10) + 1})")


def _wanted(data: bytes, encoding: str) -> str:
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as e:
        raise NotText(f"cannot be read as {encoding} ({e.reason} at byte {e.start})") from e
    except (LookupError, ValueError) as e:
        raise UserError(
            "wrong_setting", f"There is no encoding called {encoding}.", "Set encoding to one like utf-8 or cp1252, or leave it empty."
        ) from e
    return text.removeprefix("\ufeff")


def _windows(data: bytes) -> tuple[str, str]:
    if sum(b < 9 or 13 < b < 32 for b in data[:4096]) > len(data[:4096]) * 0.02:
        raise NotText("is not a text file (it contains control characters)")
    text = data.decode("utf-8", "surrogateescape")
    strange = _ESCAPED.findall(text)
    if 2 * sum(map(len, strange)) > sum(map(len, _NOT_ASCII.findall(text))):
        return data.decode("cp1252", "replace"), "cp1252"
    mixed = _ESCAPED.sub(lambda m: m[0].encode("utf-8", "surrogateescape").decode("cp1252", "replace"), text)
    return mixed, f"UTF-8 with {count(sum(map(len, strange)), 'byte')} of cp1252"
