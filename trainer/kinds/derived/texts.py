"""A column of texts as numbers: its words and pairs of words, weighed by tf-idf, in the directions in which texts differ most, and its most frequent
words one by one.

Texts that repeat, such as answers of a questionnaire, are categories as well. The words of DNA and proteins are a few neighbouring letters.
"""

import math
import re
from dataclasses import dataclass, field, replace

import numpy

from trainer import threads
from trainer.data.columns import sequences, values
from trainer.kinds.boosted.forest import MAX_CATEGORIES
from trainer.kinds.derived import part
from trainer.kinds.derived.names import LEAST
from trainer.measure.tfidf import TfIdf

TERMS, DIRECTIONS, ALONE = 1_000, 16, 100
_COMMON = 0.5  # of the texts; words in more of them tell little
_ROWS = 5_000  # from which terms are learnt
_TEXTS = 3  # that a term is in
_CUT = 20_000  # characters of a text that are read
_REPEATED = 3  # uses of a text on average, from which texts are categories, too
_WORD = re.compile(TfIdf.WORD)


@dataclass(frozen=True)
class TextParts:
    """``weights`` are the idf of ``terms``, ``directions`` (terms x directions) where they point to. ``alone`` are the places of the terms that are
    numbers of their own, too: none, or all of ``words`` where it was made ``wide``. ``letters`` make a word of sequences; 0 for other texts. Models
    that were saved before have none of either."""

    terms: tuple[str, ...]
    weights: tuple[float, ...]
    directions: numpy.ndarray
    categories: tuple[str, ...] = ()
    alone: tuple[int, ...] = ()
    letters: int = 0
    words: tuple[int, ...] = field(default=(), compare=False)
    _known: dict[str, numpy.ndarray] = field(default_factory=dict, compare=False, repr=False)
    _places: dict[str, int] = field(default_factory=dict, compare=False, repr=False)

    def __post_init__(self):
        self._places.update({term: i for i, term in enumerate(self.terms)})

    @property
    def names(self) -> tuple[str, ...]:
        directions = (f"words, direction {i + 1}" for i in range(self.directions.shape[1]))
        return ("number of words", *directions, *(f'the word "{self.terms[i]}"' for i in self.alone))

    def wide(self) -> "TextParts":
        return replace(self, alone=self.words, _known={})

    @classmethod
    def learn(cls, cells: list[str]) -> "TextParts | None":
        from sklearn.utils.extmath import randomized_svd

        texts = [c[:_CUT] for c in cells if not values.is_missing(c)]
        texts = texts[:: max(1, -(-len(texts) // _ROWS))]
        letters = sequences.step(texts)
        texts = [sequences.words(t, letters) for t in texts]
        learnt = TfIdf.learn(texts, TERMS)
        kept = [i for i, n in enumerate(learnt.frequencies) if n >= _TEXTS]
        if len(kept) < 2:
            return None
        terms = TfIdf([learnt.terms[i] for i in kept], [learnt.frequencies[i] for i in kept], learnt.texts)
        count = min(DIRECTIONS, len(kept) - 1, len(texts) - 1)
        with threads.one_of_blas():
            _, _, found = randomized_svd(terms.features(texts).astype(numpy.float64), count, random_state=0)
        directions = numpy.asarray([[float(f"{v:.6g}") for v in row] for row in found.T])
        weights = tuple(1 + math.log((1 + learnt.texts) / (1 + n)) for n in terms.frequencies)
        repeated = part.frequent(cells, LEAST, MAX_CATEGORIES) if len(set(cells)) * _REPEATED <= len(cells) else ()
        return cls(tuple(terms.terms), weights, directions, repeated, letters=letters, words=() if repeated else _frequent_words(terms))

    @classmethod
    def restored(cls, described: dict) -> "TextParts":
        terms = part.strings(described["terms"], TERMS)
        weights = tuple(map(part.finite, described["weights"]))
        directions = numpy.asarray([[part.finite(v) for v in row] for row in described["directions"]], numpy.float64)
        if directions.ndim != 2 or not len(terms) == len(weights) == len(directions) or not 1 <= directions.shape[1] <= DIRECTIONS:
            raise ValueError("the words of a column are not described")
        alone = described.get("alone", [])
        if not isinstance(alone, list) or len(alone) > ALONE or not all(type(i) is int and 0 <= i < len(terms) for i in alone):
            raise ValueError("the words of a column are not described")
        letters = described.get("letters", 0)
        if type(letters) is not int or not 0 <= letters <= sequences.MOST_LETTERS:
            raise ValueError("the words of a column are not described")
        return cls(terms, weights, directions, part.strings(described["categories"], MAX_CATEGORIES), tuple(dict.fromkeys(alone)), letters)

    def described(self) -> dict:
        found = {"terms": list(self.terms), "weights": list(self.weights), "directions": self.directions.tolist()}
        found |= {"categories": list(self.categories), "alone": list(self.alone)}
        return found | {"letters": self.letters} if self.letters else found

    def values(self, cells: list[str]) -> numpy.ndarray:
        found = numpy.empty((len(cells), len(self.names)))
        with threads.one_of_blas():
            for row, cell in enumerate(cells):
                known = self._known.get(cell)
                if known is None:
                    known = self._of(cell)
                    if len(self._known) < part.KEPT:
                        self._known[cell] = known
                found[row] = known
        return found

    def _of(self, cell: str) -> numpy.ndarray:
        found = numpy.full(len(self.names), numpy.nan)
        if values.is_missing(cell):
            return found
        words = _WORD.findall(sequences.words(cell[:_CUT].strip(), self.letters).lower())
        counts: dict[int, int] = {}
        for term in (*words, *(f"{a} {b}" for a, b in zip(words, words[1:], strict=False))):
            if (place := self._places.get(term)) is not None:
                counts[place] = counts.get(place, 0) + 1
        places = sorted(counts)
        found[0], found[1:] = math.log1p(len(words)), 0.0
        if places:
            weights = numpy.asarray([(1 + math.log(counts[p])) * self.weights[p] for p in places])
            length = math.sqrt(weights @ weights)
            found[1 : 1 + self.directions.shape[1]] = weights @ self.directions[places] / length
            of_place = dict(zip(places, (weights / length).tolist(), strict=True))
            found[1 + self.directions.shape[1] :] = [of_place.get(i, 0.0) for i in self.alone]
        return found


def _frequent_words(terms: TfIdf) -> tuple[int, ...]:
    """The places of the most frequent words that are not in most texts."""
    words = [i for i, t in enumerate(terms.terms) if t.isalnum() and terms.frequencies[i] <= _COMMON * terms.texts]
    return tuple(sorted(sorted(words, key=lambda i: (-terms.frequencies[i], terms.terms[i]))[:ALONE]))
