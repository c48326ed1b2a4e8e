"""Vectors of texts by an installed text model: the mean of the vectors of the tokens."""

from collections.abc import Sequence

import numpy

from trainer.models import bert
from trainer.models.catalogue import Base
from trainer.models.leaned import Described, Leaning
from trainer.models.vectors import Reader, Source
from trainer.models.weights import Unusable, Weights, configuration

LEANING = Leaning("text", "reads texts with", "text_vectors", ("tokenizer.json", "vocab.txt", "tokenizer_config.json"))
MOST_TOKENS = 128  # of a text; what comes later is not read
_MOST_CHARACTERS = 2_000
_PER_SECOND, _OVERHEAD_TOKENS = 2e10, 25  # multiplications of one core in float32; what a text takes beside its tokens: all weights are read


class TextReader(Reader):
    """Reads texts."""

    def __init__(self, base: Base, about: Described):
        super().__init__(base, about)
        assert base.folder is not None
        self._encoder = bert.Encoder(configuration(base.folder), Weights(base.folder))
        self._tokenizer = _tokenizer(base, self._encoder.shape.words)
        self.width = self._encoder.shape.width

    def seconds(self, cells: Sequence[str]) -> float:
        some = cells[:: max(1, len(cells) // 500)]
        tokens = sum(len(t) + _OVERHEAD_TOKENS for t in map(self._tokens, some))
        return tokens * self._encoder.shape.per_token / _PER_SECOND * len(cells) / max(1, len(some))

    def _mean(self, cell: str) -> numpy.ndarray:
        return self._encoder.mean(self._tokens(cell))

    def _tokens(self, text: str) -> list[int]:
        """At least one token: a text of signs that the tokenizer drops counts as its first word."""
        known = text[:_MOST_CHARACTERS].strip().encode("utf-8", "replace").decode()
        return self._tokenizer.encode(known).ids or [0]


def _tokenizer(base: Base, words: int):
    """The tokenizer, which knows no more than so many ``words``. Raises Unusable."""
    from trainer.models import texts, vocabulary

    try:
        found = vocabulary.installed(base.folder)
        found.enable_truncation(min(MOST_TOKENS, texts.position_limit(base)))
    except Exception as e:  # the library has no classes of errors
        raise Unusable("has no tokenizer that can be read") from e
    if max(found.get_vocab().values(), default=0) >= words:
        raise Unusable("has a tokenizer with words that its weights do not know")
    return found


SOURCE = Source(LEANING, "free texts", "text", "meaning", "their words", TextReader)
