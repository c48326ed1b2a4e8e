"""Keys that are equal for duplicate examples."""

import hashlib
from collections.abc import Callable
from pathlib import Path

from trainer.core.example import Example


class Sum(str):
    """A key that is a hash already."""


def texts(example: Example) -> str:
    """The key of a text, or of several: equal whatever their case and spaces."""
    content = example.content
    return words(content) if isinstance(content, str) else "\x1f".join(map(words, content))


def words(text: str) -> str:
    return " ".join(text.lower().split())


class Keys:
    """``keys(example)`` is equal for copies: the same words, the same cells, the same bytes of an image.

    ``key`` is that of the kind of data. ``known`` holds sha256 sums of files that are known already.
    With ``by_row`` no two rows are copies: rows of a few categories are equal by chance. With ``by_time`` rows of different times are none.
    """

    def __init__(self, key: Callable[[Example], str] = texts, known: dict[Path, str] | None = None, by_row: bool = False, by_time: bool = False):
        self._key_of, self._sums, self._by_row = key, known or {}, by_row
        self._by_time = by_time
        self._keys: dict[int, str] = {}  # by identity, which is much faster than by value
        self._held: list[Example] = []  # so that no identity is used again

    def __call__(self, example: Example) -> str:
        key = self._keys.get(id(example))
        if key is None:
            key = self._keys[id(example)] = self._key(example)
            self._held.append(example)
        return key

    def _key(self, example: Example) -> str:
        if isinstance(example.content, Path) and (known := self._sums.get(example.content)):
            return known
        text = self._key_of(example)
        if isinstance(text, Sum):
            return text
        if self._by_row:
            text = f"{text}\0{example.file}\0{example.row}"
        if self._by_time:
            text = f"{text}\0{example.when}"
        return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
