"""Texts as points: the words that they hold."""

from collections.abc import Sequence

import numpy

from trainer.core.example import Example
from trainer.measure.tfidf import TfIdf

_TERMS = 5000
_READ = 20_000  # characters of a text


def of(examples: Sequence[Example]) -> numpy.ndarray:
    """The weights of words and pairs of words that at least two of the texts hold, each row of length 1."""
    texts = [(e.content if isinstance(e.content, str) else " ".join(e.content))[:_READ] for e in examples]
    terms = TfIdf.learn(texts, _TERMS)
    return terms.features(texts).toarray()
