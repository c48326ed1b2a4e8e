"""Splits a text into words, and gives each word the tag that marked characters say."""

import re

from trainer.kinds.tokens.entities import OUTSIDE

# A character of Chinese or Japanese is a word; so is a sign. Numbers keep their points and words their apostrophes.
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|\d+(?:[.,]\d+)+|(?:(?![\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff])\w)+|[^\w\s]")


def split(text: str) -> list[tuple[str, int, int]]:
    """The words of ``text`` with their first character and the one behind their last."""
    return [(m[0], m.start(), m.end()) for m in _WORD.finditer(text)]


def tagged(text: str, marked: list[tuple[int, int, str]]) -> tuple[tuple[str, ...], list[str]]:
    """The words of ``text`` with BIO tags for the characters that are ``marked``. Of marks that overlap, the longer one counts."""
    found = split(text)
    tags = [OUTSIDE] * len(found)
    for start, end, name in sorted(marked, key=lambda m: (m[0] - m[1], m[0])):
        inside = [i for i, (_, a, b) in enumerate(found) if a < end and b > start]
        if inside and all(tags[i] == OUTSIDE for i in inside):
            for i in inside:
                tags[i] = f"{'B' if i == inside[0] else 'I'}-{name}"
    return tuple(w for w, _, _ in found), tags
