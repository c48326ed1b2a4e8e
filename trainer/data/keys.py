"""What makes two examples copies of each other."""

import hashlib
from pathlib import Path

from trainer import files
from trainer.data.example import Example


class Keys:
    """``keys(example)`` is equal for copies: the same words, the same cells, the same bytes of an image.

    Texts are compared whatever their case and spaces. ``known`` holds sha256 sums of image files that are known already.
    With ``by_row`` no two rows are copies: rows of a few categories are equal by chance.
    """

    def __init__(self, known: dict[Path, str] | None = None, by_row: bool = False):
        self._sums, self._by_row = dict(known or {}), by_row
        self._keys: dict[int, tuple[Example, str]] = {}  # by identity; holding the example keeps its identity from being reused

    def __call__(self, example: Example) -> str:
        if found := self._keys.get(id(example)):
            return found[1]
        key = self._key(example)
        self._keys[id(example)] = example, key
        return key

    def _key(self, example: Example) -> str:
        content = example.content
        if isinstance(content, Path):
            if not (known := self._sums.get(content)):
                known = self._sums[content] = files.sha256(content)
            return known
        if isinstance(content, str):
            text = " ".join(content.lower().split())
        else:
            text = "\x1f".join(" ".join(part.lower().split()) for part in content)
        if self._by_row:
            text = f"{text}\0{example.file}\0{example.row}"
        return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
