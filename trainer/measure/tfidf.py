"""tf-idf features of texts: words and pairs of neighbouring words. Rare terms weigh more than common terms.

scikit-learn counts and weighs them. The class here can be saved without pickle and limits the memory.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

MAX_TERMS = 50_000
_MIN_TEXTS = 2  # a term of a single text is of no use for other texts
_MAX_CHARACTERS = 40_000_000  # of the texts that terms are learnt from: every distinct pair is counted, some hundred bytes each
_BLOCK = 20_000  # texts at once: scikit-learn keeps a Python object for each term of a block
# A word, one character of a script without spaces between words, or a punctuation mark, but not half a surrogate pair, which is
# possible in JSON but not in UTF-8.
_WORD = r"[\u3040-\u30ff\u3400-\u9fff]|[^\W\u3040-\u30ff\u3400-\u9fff]+|[^\w\s\ud800-\udfff]"
_TOKENS = {"token_pattern": _WORD, "ngram_range": (1, 2)}


@dataclass(frozen=True)
class TfIdf:
    """The known terms, in the order of the columns, with the number of training texts that contain each."""

    WORD: ClassVar[str] = _WORD

    terms: list[str]
    frequencies: list[int]
    texts: int  # that the terms were learnt from

    @staticmethod
    def learn(texts: list[str], max_terms: int = MAX_TERMS) -> "TfIdf":
        """The most frequent terms of the training texts, or of an even sample of very many texts. Does not depend on their order."""
        from sklearn.feature_extraction.text import CountVectorizer

        texts = texts[:: 1 + sum(map(len, texts)) // _MAX_CHARACTERS]
        if len(texts) < _MIN_TEXTS:
            return TfIdf([], [], len(texts))
        counter = CountVectorizer(**_TOKENS, min_df=_MIN_TEXTS, max_features=max_terms, dtype=numpy.int32)
        try:
            counts = counter.fit_transform(texts)
        except ValueError:  # scikit-learn raises it if no term is frequent enough
            return TfIdf([], [], len(texts))
        terms = counter.get_feature_names_out().tolist()
        return TfIdf(terms, numpy.bincount(counts.indices, minlength=len(terms)).tolist(), len(texts))

    def features(self, texts: list[str]) -> "csr_matrix":
        """The float32 features of ``texts`` (texts x terms), each row of length 1."""
        from scipy import sparse
        from sklearn.feature_extraction.text import TfidfVectorizer

        blocks = [sparse.csr_matrix((0, len(self.terms)), dtype=numpy.float32)]
        if not self.terms:
            return sparse.csr_matrix((len(texts), 0), dtype=numpy.float32)
        vectorizer = TfidfVectorizer(**_TOKENS, vocabulary=self.terms, sublinear_tf=True, dtype=numpy.float32)
        vectorizer.idf_ = 1 + numpy.log((1 + self.texts) / (1 + numpy.array(self.frequencies, numpy.float64)))
        blocks += [vectorizer.transform(texts[i : i + _BLOCK]) for i in range(0, len(texts), _BLOCK)]
        return sparse.vstack(blocks, format="csr")
