"""Texts as bags of words: the words and pairs of neighbouring words in them, rare ones weighing more than common ones.

One core learns from some 15 000 texts of 40 words in a second, and turns twice as many into features.
"""

import re
from array import array
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy

from trainer.measure.sparse import Sparse

MAX_TERMS = 50_000
_MIN_TEXTS = 2  # a term of a single text teaches nothing about others
_MAX_COUNTED = 2_000_000  # terms counted at once, some hundred MB; when more, those seen once so far are forgotten
# A word, one sign of a script that writes without spaces between words, or a mark. Half a surrogate pair, which JSON can
# hold but UTF-8 cannot, is none of them.
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W\u3040-\u30ff\u3400-\u9fff]+|[^\w\s\ud800-\udfff]")


@dataclass(frozen=True)
class TfIdf:
    """The terms that count, in the order of the columns, with the number of training texts that hold each."""

    WORD: ClassVar[str] = _WORD.pattern

    terms: list[str]
    frequencies: list[int]
    texts: int

    @staticmethod
    def learn(texts: Iterable[str]) -> "TfIdf":
        """The most frequent terms of the training texts; among equally frequent ones the first in the alphabet."""
        counts, n = Counter(), 0
        for text in texts:
            counts.update(set(_terms(text)))
            n += 1
            if len(counts) > _MAX_COUNTED:
                counts = Counter({term: count for term, count in counts.items() if count > 1})
        kept = sorted((-count, term) for term, count in counts.items() if count >= _MIN_TEXTS)[:MAX_TERMS]
        return TfIdf([term for _, term in kept], [-count for count, _ in kept], n)

    def features(self, texts: Iterable[str]) -> Sparse:
        """tf-idf, each row of length 1: (1 + ln of the count in the text) x ln of the inverse share of texts with the term."""
        index = {term: i for i, term in enumerate(self.terms)}
        columns, counts, offsets = array("i"), array("i"), [0]
        for text in texts:
            found = Counter(i for term in _terms(text) if (i := index.get(term)) is not None)
            columns.extend(found)
            counts.extend(found.values())
            offsets.append(len(columns))
        columns, offsets = numpy.array(columns, numpy.int32), numpy.array(offsets)
        values = (1 + numpy.log(numpy.array(counts, numpy.float64))) * self._rarity()[columns]
        return Sparse(offsets, columns, _unit_rows(values, offsets), len(self.terms))

    def _rarity(self) -> numpy.ndarray:
        return 1 + numpy.log((1 + self.texts) / (1 + numpy.array(self.frequencies, numpy.float64)))


def _terms(text: str) -> list[str]:
    words = _WORD.findall(text.lower())
    return words + [f"{first} {second}" for first, second in zip(words, words[1:], strict=False)]


def _unit_rows(values: numpy.ndarray, offsets: numpy.ndarray) -> numpy.ndarray:
    sums = numpy.diff(numpy.append(0.0, numpy.cumsum(values * values))[offsets])
    lengths = numpy.sqrt(sums)
    return (values / numpy.repeat(lengths, numpy.diff(offsets))).astype(numpy.float32)
