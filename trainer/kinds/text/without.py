"""A text without each of its words."""

import re
from dataclasses import replace

from trainer.core.contract.answering import Less
from trainer.core.example import Example

_WORD = re.compile(r"\w+(?:['’]\w+)*")
_LEAST = 2  # words: nothing is left without the only one


def words(example: Example, most: int) -> list[Less]:
    """The first ``most`` different words of a text, or of a pair of texts, and the example without each of them wherever it stands. Words that
    differ in capitals only are the same word."""
    texts = (example.content,) if isinstance(example.content, str) else tuple(example.content)
    places: dict[str, list[tuple[int, int, int]]] = {}
    named: dict[str, str] = {}
    for number, text in enumerate(texts):
        for found in _WORD.finditer(text):
            key = found[0].casefold()
            named.setdefault(key, found[0])
            places.setdefault(key, []).append((number, found.start(), found.end()))
    if len(places) < _LEAST:
        return []
    return [Less(named[key], replace(example, content=_without(example.content, texts, at))) for key, at in list(places.items())[:most]]


def _without(content: str | tuple[str, ...], texts: tuple[str, ...], places: list[tuple[int, int, int]]) -> str | tuple[str, ...]:
    less = list(texts)
    for number, start, end in reversed(places):
        less[number] = less[number][:start] + less[number][end:]
    return less[0] if isinstance(content, str) else tuple(less)
