"""Bounded looks into files: the beginning of a JSON document, the first elements of an XML document, the first lines of a text."""

import json
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, TypeVar
from xml.parsers import expat

from trainer.core.input import Input

WHOLE = 8 << 20  # bytes up to which a JSON document is read to its end
PART = 4 << 20  # bytes that are read of a longer one
TAIL = 1 << 20
LINES = 64 << 10
XML = 1 << 20
SAMPLE = 20  # files of one sort that are looked at
_DEPTH = 6  # of the values in a document that is cut
_ELEMENTS = 30  # within each other, of an XML document that is read on
T = TypeVar("T")
_SPACE = re.compile(r"[ \t\r\n]*")


def head(source: Input, size: int) -> bytes:
    """At most ``size`` bytes from the beginning; none where the file cannot be read."""
    try:
        with open(source.file, "rb") as file:
            return file.read(size)
    except OSError:
        return b""


def tail(source: Input) -> bytes:
    """At most ``TAIL`` bytes from the end."""
    try:
        with open(source.file, "rb") as file:
            file.seek(max(0, source.size - TAIL))
            return file.read(TAIL)
    except OSError:
        return b""


def spread(sources: list[T], size: int = SAMPLE) -> list[T]:
    """At most ``size`` of the files, or of pairs of them, from all over the list."""
    return sources[:: max(1, -(-len(sources) // size))] if sources else []


def text(data: bytes) -> str:
    """The beginning of a text. Bytes that are not UTF-8 are replaced: only marks and numbers matter here."""
    return data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig", "replace")


def lines(source: Input) -> list[str]:
    """The first whole lines that are not empty."""
    data = head(source, LINES + 1)
    listed = text(data).splitlines()
    return [line.strip() for line in (listed[:-1] if len(data) > LINES else listed) if line.strip()]


def document(source: Input) -> tuple[Any, bool]:
    """The value of a JSON file, or the whole parts at its beginning, and whether it is cut. None where it is no JSON."""
    long = source.size > WHOLE
    written = text(head(source, PART if long else WHOLE + 1))
    if not long:
        try:
            return json.loads(written), False
        except (ValueError, RecursionError):
            pass
    return _beginning(written, 0, 0)[0], True


def _beginning(written: str, at: int, depth: int) -> tuple[Any, int, bool]:
    """The value at this place as far as it can be read, the place behind it, and whether it is whole."""
    at = _SPACE.match(written, at).end()
    try:
        return *json.JSONDecoder(strict=False).raw_decode(written, at), True
    except (ValueError, RecursionError):
        pass
    opening = written[at : at + 1]
    if depth == _DEPTH or opening not in ("{", "["):
        return None, len(written), False
    held: Any = {} if opening == "{" else []
    while True:
        key, at = _key(written, at + 1) if opening == "{" else ("", at + 1)
        if key is None:
            return held, len(written), False
        value, at, whole = _beginning(written, at, depth + 1)
        if value is not None or whole:
            held.append(value) if opening == "[" else held.__setitem__(key, value)
        at = _SPACE.match(written, at).end()
        if not whole or written[at : at + 1] != ",":
            return held, at, False


def _key(written: str, at: int) -> tuple[str | None, int]:
    """The key at this place and the place of its value; None where there is no whole one."""
    try:
        key, at = json.JSONDecoder(strict=False).raw_decode(written, _SPACE.match(written, at).end())
    except (ValueError, RecursionError):
        return None, at
    at = _SPACE.match(written, at).end()
    return (key, at + 1) if isinstance(key, str) and written[at : at + 1] == ":" else (None, at)


@dataclass
class Elements:
    """The beginning of an XML document: how often each path of names occurs, and the texts and attributes of the first ones."""

    root: str = ""
    paths: Counter = field(default_factory=Counter)
    texts: dict[str, list[str]] = field(default_factory=dict)
    attributes: dict[str, list[dict]] = field(default_factory=dict)
    cut: bool = False


class _Forbidden(Exception):
    pass


def elements(source: Input) -> Elements:
    """The elements in the beginning of an XML file. A document that declares entities or nests deeply is not read on."""
    seen, path = Elements(), []
    parser = expat.ParserCreate()
    parser.buffer_text = True

    def begin(name: str, attributes: dict) -> None:
        path.append(name.rpartition(":")[2])
        if len(path) > _ELEMENTS:
            raise _Forbidden  # each path holds the names of all above it
        where = "/".join(path[1:])
        seen.root = seen.root or path[0]
        seen.paths[where] += 1
        seen.attributes.setdefault(where, []).append(attributes)

    def end(name: str) -> None:
        path.pop()

    def characters(written: str) -> None:
        if written.strip():
            seen.texts.setdefault("/".join(path[1:]), []).append(written.strip()[:200])

    def forbid(*declared) -> None:
        raise _Forbidden

    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = begin, end, characters
    parser.EntityDeclHandler = parser.ExternalEntityRefHandler = forbid
    try:
        parser.Parse(head(source, XML), source.size <= XML)
    except (expat.ExpatError, _Forbidden, ValueError):
        seen.cut = True
    seen.cut = seen.cut or source.size > XML
    return seen
