"""Traits of texts: how long they are, and their words."""

import re
from collections.abc import Sequence

import numpy

from trainer.core.example import Example
from trainer.shift.traits import Numbers, Trait, Words

_WORD = re.compile(r"\w+")
_READ = 2000  # characters of a text whose words are looked at
_TEXTS = 5000  # whose words are looked at


def of(examples: Sequence[Example]) -> list[Trait]:
    texts = [e.content if isinstance(e.content, str) else " ".join(e.content) for e in examples]
    some = texts[:: max(1, len(texts) // _TEXTS)]
    words = [_WORD.findall(text[:_READ].lower()) for text in some]
    return [Numbers("the length in characters", numpy.asarray([len(t) for t in texts], numpy.float64)), Words("the texts", words)]
