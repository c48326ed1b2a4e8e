"""Keys that are equal for duplicate examples."""

import hashlib
from pathlib import Path

from trainer.core.example import Example
from trainer.kinds.language import forms
from trainer.kinds.language.tokens import Passage
from trainer.run_folder import files


class Keys:
    """``keys(example)`` is equal for copies: the same words, the same cells, the same bytes of an image.

    Texts are compared whatever their case and spaces. ``known`` holds sha256 sums of image files that are known already.
    With ``by_row`` no two rows are copies: rows of a few categories are equal by chance.
    """

    def __init__(self, kind: str = "text", known: dict[Path, str] | None = None, by_row: bool = False):
        self._kind, self._sums, self._by_row = kind, known or {}, by_row
        self._keys: dict[int, str] = {}  # by identity, which is much faster than by value
        self._held: list[Example] = []  # so that no identity is used again

    def __call__(self, example: Example) -> str:
        key = self._keys.get(id(example))
        if key is None:
            key = self._keys[id(example)] = self._key(example)
            self._held.append(example)
        return key

    def _key(self, example: Example) -> str:
        content = example.content
        if self._kind == "image":
            return self._sums.get(content) or files.sha256(content)
        if isinstance(content, Passage):
            return content.sha256
        if self._kind == "language":  # examples with the same prompt count as copies
            text = _words(forms.before_answer(content))
        elif self._kind == "table":
            text = "\x1f".join(content)
        elif isinstance(content, str):
            text = _words(content)
        else:
            text = "\x1f".join(map(_words, content))
        if self._by_row:
            text = f"{text}\0{example.file}\0{example.row}"
        return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _words(text: str) -> str:
    return " ".join(text.lower().split())
