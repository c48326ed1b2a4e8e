"""Words with tags: the entities that a network finds in texts."""

import numpy

from trainer.answer import rows
from trainer.answer.rows import Refused
from trainer.core.example import Example
from trainer.kinds.tokens import entities, words
from trainer.kinds.tokens.target import NO_WORD, Tags
from trainer.measure.predictions import softmax
from trainer.targets import temperature

OUTPUTS = [
    ("row", "INT64", [-1]),
    ("start", "INT64", [-1]),
    ("end", "INT64", [-1]),
    ("entity", "BYTES", [-1]),
    ("text", "BYTES", [-1]),
    ("probability", "FP32", [-1]),
]


class Tagger:
    """``network`` gives the logits of encoded rows; the labels of ``target`` are its tags."""

    forms = OUTPUTS

    def __init__(self, encoder, network, target: Tags):
        self._encoder, self._network, self._target = encoder, network, target

    def tensors(self, cells: dict[str, list]) -> list[dict]:
        """The output tensors for the texts in ``cells``: one value for each entity. Places are characters. Raises Refused."""
        texts = rows.plain_texts(cells[rows.TEXT])
        split = [words.split(text) for text in texts]
        if not all(split):
            raise Refused("A text has no word.")
        said, sure = self._tags([tuple(w for w, _, _ in found) for found in split])
        entities_found: list[tuple] = []
        for row, found in enumerate(split):
            tags, odds = said[: len(found)], sure[: len(found)]
            said, sure = said[len(found) :], sure[len(found) :]
            for first, behind, kind in entities.spans(tags):
                start, end = found[first][1], found[behind - 1][2]
                entities_found.append((row, start, end, kind, texts[row][start:end], round(float(odds[first:behind].min()), 7)))
        return [
            {"name": name, "datatype": kind, "shape": [len(entities_found)], "data": [r[i] for r in entities_found]}
            for i, (name, kind, _) in enumerate(OUTPUTS)
        ]

    def _tags(self, sentences: list[tuple[str, ...]]) -> tuple[list[str], numpy.ndarray]:
        """The tags of the words of all sentences, one after the other, and their probabilities."""
        examples = [Example("request", i + 1, sentence, "") for i, sentence in enumerate(sentences)]
        self._encoder.forget()
        encoded = self._encoder.encode(examples, numpy.zeros(sum(map(len, sentences)), numpy.int64), "")
        found = []
        for logits, places in self._network(encoded):
            is_word = places[:, : logits.shape[1]] != NO_WORD
            found.append(softmax(logits[:, : places.shape[1]][is_word]))
        odds = temperature.applied(self._target, numpy.concatenate(found))
        return [self._target.labels[i] for i in odds.argmax(axis=1)], odds.max(axis=1)
