"""The simple model of tagged words: each word has the tag that it most often had in training."""

import collections

import numpy

from trainer.core.example import Example
from trainer.measure.predictions import MAX_CLASSES, Predictions

TITLE = "most frequent tag of each word"


def predict(train: list[Example], train_tags: numpy.ndarray, test: list[Example], truth: numpy.ndarray, tags: int) -> Predictions:
    """The predictions for the words of ``test``. A word is looked up as it is, else in lower case; words that never occurred have the
    tags of all words. Every count is mixed with one word's worth of these shares, so that no tag is impossible.
    """
    shares = (numpy.bincount(train_tags[train_tags >= 0], minlength=tags) + 1e-3) / (len(train_tags) + 1e-3 * tags)
    counts: dict[str, collections.Counter] = collections.defaultdict(collections.Counter)
    for word, tag in zip((w for e in train for w in e.content), train_tags.tolist(), strict=True):
        counts[word][tag] += 1
    known = {}
    for word in {w for e in test for w in e.content}:
        found = counts.get(word) or counts.get(word.lower()) or collections.Counter()
        row = shares.copy()
        for tag, n in found.items():
            row[tag] += n
        known[word] = row / row.sum()
    probabilities = numpy.asarray([known[w] for e in test for w in e.content], numpy.float32).reshape(-1, tags)
    every = numpy.arange(len(truth))
    predicted = probabilities.argmax(axis=1).astype(numpy.int64)
    return Predictions(
        truth, predicted, probabilities[every, predicted].astype(numpy.float64), probabilities[every, truth].astype(numpy.float64),
        probabilities if tags <= MAX_CLASSES else None,
    )  # fmt: skip
