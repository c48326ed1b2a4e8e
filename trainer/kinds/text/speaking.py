"""The words that speak for an answer, of a model of words, by the texts that it has not seen."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy

from trainer.core import blocks
from trainer.core.blocks import COUNT, NUMBER, RESULT, Cell, Column, Section
from trainer.core.example import Example
from trainer.kinds.text import text_terms, words
from trainer.kinds.text.words import BAG, RATIO, Features, Words, text_of
from trainer.run_folder import files

TITLE = "Words that speak for an answer"
_TEXTS = 2000  # test texts that are read
_CLASSES, _WORDS = 10, 8  # classes, and words of each
_FEWEST = 20, 2  # texts, and those that a word is in
_NOTE = (
    "By how much a word raises the score of the class (a logarithm of its odds), or the number, in the texts that it is in. The words are those "
    "with the largest sum over the test texts. Parts of words, which the model also reads, are not listed."
)


@dataclass(frozen=True)
class Spoken:
    """``weights`` (terms x outputs) is by how much each of ``terms`` raises an output, in the mean over the texts that it is in: ``texts``."""

    terms: list[str]
    weights: numpy.ndarray
    texts: numpy.ndarray

    def first(self, output: int, most: int, sign: int = 1) -> list[int]:
        """The terms with the largest sum over the texts for ``output``, or with the smallest one for a ``sign`` of -1. Of a word and pairs with it
        that are always in the same texts, the shortest one."""
        sums = sign * self.weights[:, output] * self.texts
        kept: list[int] = []
        for term in numpy.argsort(-sums, kind="stable").tolist():
            if sums[term] <= 0 or len(kept) > most:
                break
            if self.texts[term] < _FEWEST[1]:
                continue
            twin = next((i for i, other in enumerate(kept) if self._are_one(term, other, output)), None)
            if twin is None:
                kept.append(term)
            elif len(self.terms[term]) < len(self.terms[kept[twin]]):
                kept[twin] = term
        return kept[:most]

    def _are_one(self, a: int, b: int, output: int) -> bool:
        """Whether two terms share a word and say the same of the same number of texts."""
        same = self.texts[a] == self.texts[b] and numpy.isclose(self.weights[a, output], self.weights[b, output])
        return bool(same) and not set(self.terms[a].split()).isdisjoint(self.terms[b].split())


def of(model: Words, examples: Sequence[Example]) -> Spoken:
    """What the words of ``examples`` bring, exactly: the linear models of ``model`` add them up. Parts of words are left out."""
    texts = [text_terms.plain(text_of(e), model.lower) for e in examples]
    counts = text_terms.count_words(texts, model.terms)
    features = Features(counts, counts[:, :0], model)  # parts of words are not counted, which takes longest
    total = numpy.zeros((len(model.terms), max(1, model.classes)))
    for name, share in model.shares.items():
        weights = model.weights[name].astype(numpy.float64)
        values = features.of(RATIO if name == RATIO else BAG)
        weights = weights[: values.shape[1]]
        if name == RATIO and model.classes == 2:  # one column for both
            weights = numpy.hstack([-weights, weights]) / 2
        sums = numpy.asarray(values.sum(axis=0)).ravel()
        centred = weights - weights.mean(axis=1, keepdims=True) if model.classes else weights
        total[: len(sums)] += share * sums[:, None] * centred / model.temperature
    within = numpy.bincount(counts.indices, minlength=len(model.terms))
    return Spoken(model.terms, total / numpy.maximum(within, 1)[:, None], within)


def sections(folder: Path, labels: Sequence[str], test: Sequence[Example]) -> list[Section]:
    """The section of the model in ``folder``; none if it is no model of words for one class or a number."""
    if not (folder / words.CONFIG).is_file() or files.read_json(folder / words.CONFIG).get("model_type") != "words":
        return []
    model = words.load(folder)
    if not isinstance(model, Words):
        return []
    if len(test) < _FEWEST[0]:
        return [Section(RESULT, TITLE, [blocks.text(f"They are found from {_FEWEST[0]} test texts on, and there are {len(test)}.")])]
    found = of(model, test[:_TEXTS])
    rows = []
    outputs = [(label, i, 1) for i, label in enumerate(labels[:_CLASSES])] or [("a larger number", 0, 1), ("a smaller number", 0, -1)]
    for label, output, sign in outputs:
        for term in found.first(output, _WORDS, sign):
            rows.append([Cell(label), Cell(found.terms[term]), Cell(value=float(found.weights[term, output])), Cell(value=float(found.texts[term]))])
    if not rows:
        return [Section(RESULT, TITLE, [blocks.text("No word of the test texts speaks for an answer: the model relies on parts of words.")])]
    more = f"The first {_CLASSES} of {len(labels)} classes are shown. " if len(labels) > _CLASSES else ""
    columns = [Column("For"), Column("Word"), Column("Weight", NUMBER), Column("Test texts with it", COUNT)]
    return [Section(RESULT, TITLE, [blocks.table("", columns, rows, note=more + _NOTE, folded=len(rows) > 20)])]
