"""Vectors of texts by an installed text model as it is: the mean of the vectors of the tokens, of length 1. Computed with numpy, without torch."""

import functools
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy

from trainer import threads
from trainer.errors import UserError, size_in_words
from trainer.memory import available
from trainer.models import bert
from trainer.models.catalogue import Base
from trainer.models.leaned import Described, Leaning
from trainer.models.weights import Unusable, Weights, configuration

LEANING = Leaning("text", "reads texts with", "text_vectors", ("tokenizer.json", "vocab.txt", "tokenizer_config.json"))
MOST_TOKENS = 128  # of a text; what comes later is not read
_MOST_CHARACTERS = 2_000
_ROOM = 1.5  # bytes of memory for each byte of weights
_PER_SECOND, _OVERHEAD_TOKENS = 2e10, 25  # multiplications of one core in float32; what a text takes beside its tokens: all weights are read


class Reader:
    """Reads texts with an installed model. One object serves all parts of a process that read with the same files.

    ``watch`` is called before each text; it may raise UserError to stop. ``kept`` is for those who read the same texts again and again.
    """

    def __init__(self, base: Base, about: Described):
        """Raises Unusable for a model that is not computed here."""
        assert base.folder is not None
        self.about, self.bytes = about, int(_ROOM * base.size)
        if self.bytes > (free := available()):
            raise Unusable(f"needs {size_in_words(self.bytes)} of memory, and {size_in_words(free)} are free")
        self._encoder = bert.Encoder(configuration(base.folder), Weights(base.folder))
        self._tokenizer = _tokenizer(base, self._encoder.shape.words)
        self._lock = threading.Lock()
        self.watch: Callable[[], None] = lambda: None
        self.kept: dict[str, dict[str, numpy.ndarray]] = {}

    @property
    def width(self) -> int:
        return self._encoder.shape.width

    def seconds(self, found: Sequence[str]) -> float:
        """About how long one core reads these texts, by at most some of them."""
        some = found[:: max(1, len(found) // 500)]
        tokens = sum(len(t) + _OVERHEAD_TOKENS for t in map(self._tokens, some))
        return tokens * self._encoder.shape.per_token / _PER_SECOND * len(found) / max(1, len(some))

    def vector(self, text: str) -> numpy.ndarray:
        """The vector of a text (float32). Each text is computed alone on one thread of BLAS, so no bit depends on other texts."""
        with self._lock:
            self.watch()
            with threads.one_of_blas():
                found = self._encoder.mean(self._tokens(text))
        length = numpy.sqrt(found @ found)
        return found / length if length > 0 else found

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


@functools.lru_cache(maxsize=2)
def _read(base: Base, about: Described) -> Reader:
    return Reader(base, about)


def read(base: Base) -> Reader:
    """What reads texts with the installed model ``base``. Raises Unusable."""
    return _read(base, LEANING.described(base))


def restored(models: Path, about: Described) -> Reader:
    """What reads texts with the installed model that a delivered one names. Raises UserError where it is not there or cannot be used."""
    base = LEANING.found(models, about)
    try:
        return _read(base, about)
    except Unusable as e:
        raise UserError(
            "model_unusable", f"The model reads texts with the installed model {base.name}, which {e}.",
            "Ask the administrator, or train again with text_vectors set to none.",
        ) from e  # fmt: skip
