"""Texts with a tag for each word: token ids for a transformer that answers at the first piece of each word."""

from pathlib import Path

import numpy
from tokenizers import Tokenizer

from trainer.config.settings import Settings
from trainer.config.spec import Spec
from trainer.core.example import Dataset, Example
from trainer.core.plan import Rows
from trainer.kinds.tokens.target import NO_WORD
from trainer.measure.histogram import histogram
from trainer.models import texts as text, vocabulary
from trainer.models.catalogue import Base
from trainer.run_folder.events import Events

_BATCH = 10_000  # words at once


class Encoder(text.Encoder):
    """A tokenizer that encodes each word by itself. Long sentences become several rows, so that every word has a tag."""

    def __init__(self, tokenizer: Tokenizer, description: dict, base: Base | None = None):
        super().__init__(tokenizer, description, base)
        self._words = _Words(tokenizer, self.max_length)
        self._lengths: list[int] = []

    def encode(self, examples: list[Example], targets: numpy.ndarray, name: str, training: bool = False) -> Rows:
        """Rows of token ids. ``targets`` are the tags of the words of all examples, one after the other."""
        self._words.learn(word for e in examples for word in e.content)
        rows: list[list[int]] = []
        wanted: list[list[int]] = []
        tags = iter(targets.tolist())
        for e in examples:
            before = len(rows)
            self._encode(e.content, tags, rows, wanted)
            self.seen += 1
            self.cut += len(rows) - before > 1
            self._lengths.append(sum(map(len, rows[before:])))
        width = max(map(len, wanted), default=0)
        table = numpy.full((len(rows), width), NO_WORD, numpy.int32)
        for line, tags_of in zip(table, wanted):
            line[: len(tags_of)] = tags_of
        offsets = numpy.concatenate([[0], numpy.cumsum([len(r) for r in rows])]).astype(numpy.int64)
        ids = numpy.asarray([i for r in rows for i in r], numpy.int32)
        from_scratch = self.base is None or self.base.folder is None
        unknown = self.tokenizer.token_to_id("[UNK]") if training and from_scratch else None
        pad_to = self.max_length if self.padding == "max_length" else 0
        return Rows(text.Texts(ids, offsets, None, self.pad_id, pad_to, unknown, len(vocabulary.SPECIAL)), table)

    def _encode(self, words: tuple[str, ...], tags, rows: list[list[int]], wanted: list[list[int]]) -> None:
        """Add the rows of one sentence, each as full as whole words allow."""
        begin, end = self._words.begin, self._words.end
        ids, places = list(begin), [NO_WORD] * len(begin)
        for word in words:
            pieces = self._words.of(word)
            if len(ids) + len(pieces) + len(end) > self.max_length and len(ids) > len(begin):
                rows.append(ids + end)
                wanted.append(places)
                ids, places = list(begin), [NO_WORD] * len(begin)
            ids += pieces
            places += [next(tags), *[NO_WORD] * (len(pieces) - 1)]
        rows.append(ids + end)
        wanted.append(places)

    def forget(self) -> None:
        """Drop what was kept of earlier sentences, for a process that encodes without end."""
        self._lengths.clear()
        self._words.forget()

    def described(self) -> dict:
        found = super().described()
        share = {"truncated_share": 0.0, "lengths": histogram(self._lengths, unit="tokens", cut=self.max_length)}
        return {**found, "data": share}


class _Words:
    """The token ids of words, each encoded once, and the ids that begin and end every row."""

    def __init__(self, tokenizer: Tokenizer, max_length: int):
        self._tokenizer = tokenizer
        self._known: dict[str, list[int]] = {}
        tokenizer.no_truncation()
        around = tokenizer.encode("").ids
        self.begin, self.end = around[: len(around) // 2], around[len(around) // 2 :]
        self._room = max(1, max_length - len(around))
        self._nothing = next((i for t in ("[UNK]", "<unk>") if (i := tokenizer.token_to_id(t)) is not None), 0)
        # Where a piece says whether a space stands before it, every word is read as the later words of a text are.
        self._space = " " if any(t.startswith("\u0120") for t in tokenizer.get_vocab()) else ""

    def learn(self, words) -> None:
        new = sorted(set(words) - self._known.keys())
        self._tokenizer.no_truncation()
        for start in range(0, len(new), _BATCH):
            some = new[start : start + _BATCH]
            encoded = self._tokenizer.encode_batch_fast([self._space + w for w in some], add_special_tokens=False)
            self._known.update((w, one.ids[: self._room] or [self._nothing]) for w, one in zip(some, encoded, strict=True))

    def forget(self) -> None:
        self._known.clear()

    def of(self, word: str) -> list[int]:
        return self._known[word]


def encoder(spec: Spec, settings: Settings, data: Dataset, base: Base, events: Events) -> tuple[Encoder, Settings]:
    """Load or learn the tokenizer, and choose the maximum length of rows."""
    lower = settings.lower_case == "yes" or (settings.lower_case != "no" and base.folder is not None)
    train = [" ".join(e.content) for e in data.splits["train"]]
    if base.folder is None:
        tokenizer, limit = vocabulary.learn(train, lower), text.MAX_POSITIONS
        size = tokenizer.get_vocab_size()
        events.decision("vocabulary", size, f"A vocabulary of {size} word pieces is learned from the training texts, upper and lower case apart.")
    else:
        tokenizer, limit = vocabulary.installed(base.folder), text.position_limit(base)
    lengths = [len(one.ids) for one in text.encodings(tokenizer, train)]
    length, settings = text.max_length(settings, lengths, limit, events)
    description = {
        "max_length": length,
        "pad_id": text.pad_id(tokenizer, base),
        "padding": settings.padding,
        "truncation_side": "right",
        "long_text": "truncate",
        "stride": 0,
        "lower_case": lower,
    }
    return Encoder(tokenizer, description, base), settings


def load_encoder(spec: Spec, folder: Path, description: dict) -> Encoder:
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    return Encoder(tokenizer, description)
