"""The terms of texts: words, pairs of words, and characters inside words, as sparse counts.

scikit-learn counts them. The n-grams of characters are those of its analyzer char_wb, which depend on single words only: they are
counted once for each distinct word and then added up, several times faster than text by text.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy

from trainer.measure.tfidf import TfIdf

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

CHARACTERS, UNSPACED = (2, 5), (1, 3)  # of an n-gram; in scripts without spaces between words
WORDS = (1, 2)  # of a term
CUT = 20_000  # characters of a text that are read
_LONG_WORDS = 10  # characters of an average word from which a script has no spaces; German has 6, Finnish 8
_LEARNT_CHARACTERS = 1_000_000  # of the distinct words that n-grams are learnt from: some hundred bytes for each n-gram
_BLOCK, _BLOCK_CHARACTERS = 20_000, 4_000_000  # texts and their characters at once
_SURROGATES = re.compile("[\ud800-\udfff]")  # possible in JSON but not in UTF-8


@dataclass(frozen=True)
class Terms:
    """Known terms, in the order of the columns, with the number of training texts that contain each, of ``texts``."""

    terms: list[str]
    frequencies: numpy.ndarray
    texts: int

    def __len__(self) -> int:
        return len(self.terms)

    @property
    def idf(self) -> numpy.ndarray:
        return (1 + numpy.log((1 + self.texts) / (1 + self.frequencies.astype(numpy.float64)))).astype(numpy.float32)

    def kept(self, columns: numpy.ndarray) -> "Terms":
        return Terms([self.terms[c] for c in columns], self.frequencies[columns], self.texts)


def plain(text: str, lower: bool) -> str:
    """``text`` as it is read: cut, without half surrogate pairs, and in lower case if that is asked for."""
    text = text[:CUT]
    if not text.isascii():
        text = _SURROGATES.sub(" ", text)
    return text.lower() if lower else text


def blocks(texts: Iterable[str]) -> Iterator[list[str]]:
    """``texts`` in order, a few at a time: scikit-learn keeps a Python object for each term of a block."""
    block: list[str] = []
    size = 0
    for text in texts:
        block.append(text)
        size += min(len(text), CUT)
        if len(block) == _BLOCK or size > _BLOCK_CHARACTERS:
            yield block
            block, size = [], 0
    if block:
        yield block


def learn_words(texts: list[str], least: int, most: int) -> tuple[Terms, "csr_matrix"]:
    """The words and pairs that occur in at least ``least`` texts, at most ``most`` of them, and their counts in ``texts``."""
    counter = _word_counter(None)
    try:
        counts = counter.fit_transform(texts)
    except ValueError:  # scikit-learn raises it if there is no term at all
        return Terms([], numpy.zeros(0, numpy.int64), len(texts)), _nothing(len(texts))
    return _frequent(counter.get_feature_names_out(), counts, len(texts), least, most)


def sizes(texts: list[str]) -> tuple[int, int]:
    """How many characters the n-grams of ``texts`` have. Scripts without spaces have short words, written without an end."""
    words = sum(len(text.split()) for text in texts)
    return UNSPACED if sum(map(len, texts)) > (_LONG_WORDS + 1) * words else CHARACTERS


def learn_characters(texts: list[str], size: tuple[int, int], least: int, most: int) -> tuple[Terms, "csr_matrix"]:
    """The same for the characters inside words: n-grams of ``size`` (from, to)."""
    from scipy import sparse

    words, uses = _distinct(texts)
    counter = _character_counter(None, size)
    order = numpy.argsort(-numpy.bincount(uses.indices, minlength=len(words)), kind="stable")
    learnt = int(numpy.searchsorted(numpy.cumsum([len(words[i]) for i in order]), _LEARNT_CHARACTERS)) + 1
    try:
        known = counter.fit_transform([words[i] for i in order[:learnt]])
    except ValueError:
        return Terms([], numpy.zeros(0, numpy.int64), len(texts)), _nothing(len(texts))
    if learnt < len(words):
        known = sparse.vstack([known, counter.transform([words[i] for i in order[learnt:]])], format="csr")
    return _frequent(counter.get_feature_names_out(), uses[:, order] @ known, len(texts), least, most)


def count_words(texts: list[str], terms: list[str]) -> "csr_matrix":
    """How often each of ``terms`` is in each of ``texts``."""
    return _word_counter(terms).transform(texts) if terms else _nothing(len(texts))


def count_characters(texts: list[str], terms: list[str], size: tuple[int, int]) -> "csr_matrix":
    """How often each of the n-grams ``terms`` is in each of ``texts``."""
    if not terms:
        return _nothing(len(texts))
    words, uses = _distinct(texts)
    return (uses @ _character_counter(terms, size).transform(words)).tocsr() if words else _nothing(len(texts), len(terms))


def weighed(counts: "csr_matrix", idf: numpy.ndarray) -> "csr_matrix":
    """tf-idf: 1 + log(count), times idf, each row of length 1. float32."""
    from scipy import sparse
    from sklearn.preprocessing import normalize

    if not all(counts.shape):  # scikit-learn refuses it
        return counts.astype(numpy.float32)
    values = (1 + numpy.log(counts.data)).astype(numpy.float32) * idf[counts.indices]
    found = sparse.csr_matrix((values, counts.indices, counts.indptr), shape=counts.shape)
    found.sort_indices()
    return normalize(found, copy=False)


def _word_counter(terms: list[str] | None):
    from sklearn.feature_extraction.text import CountVectorizer

    return CountVectorizer(token_pattern=TfIdf.WORD, ngram_range=WORDS, lowercase=False, vocabulary=terms, dtype=numpy.int32)


def _character_counter(terms: list[str] | None, size: tuple[int, int]):
    from sklearn.feature_extraction.text import CountVectorizer

    return CountVectorizer(analyzer="char_wb", ngram_range=size, lowercase=False, vocabulary=terms, dtype=numpy.int32)


def _distinct(texts: list[str]) -> tuple[list[str], "csr_matrix"]:
    """The distinct words (between blanks) of ``texts``, and how often each text has each (texts x words)."""
    from scipy import sparse

    places: dict[str, int] = {}
    found = [places.setdefault(word, len(places)) for text in texts for word in text.split()]
    starts = numpy.concatenate([[0], numpy.cumsum([len(text.split()) for text in texts])])
    uses = sparse.csr_matrix((numpy.ones(len(found), numpy.int32), found, starts), shape=(len(texts), len(places)), dtype=numpy.int32)
    uses.sum_duplicates()
    return list(places), uses


def _frequent(names: numpy.ndarray, counts: "csr_matrix", texts: int, least: int, most: int) -> tuple[Terms, "csr_matrix"]:
    """The columns of terms that are frequent enough; if there are too many, those in the most texts."""
    frequencies = numpy.bincount(counts.indices, minlength=len(names))
    columns = numpy.flatnonzero(frequencies >= least)
    if len(columns) > most:
        columns = numpy.sort(columns[numpy.argsort(-frequencies[columns], kind="stable")[:most]])
    return Terms(names[columns].tolist(), frequencies[columns], texts), counts.tocsc()[:, columns].tocsr()


def _nothing(rows: int, width: int = 0) -> "csr_matrix":
    from scipy import sparse

    return sparse.csr_matrix((rows, width), dtype=numpy.int32)
