"""Texts as token ids for a transformer, either an installed model or a new one with the architecture of BERT-tiny."""

import shutil
from dataclasses import dataclass
from pathlib import Path

import numpy
from tokenizers import Tokenizer

from trainer.config.settings import Settings
from trainer.core.example import Example
from trainer.core.plan import Plan, Rows
from trainer.measure.histogram import histogram
from trainer.models import vocabulary
from trainer.models.catalogue import Base
from trainer.run_folder import files
from trainer.run_folder.events import Events

MAX_POSITIONS = 512  # of a model from scratch
PERCENTILE = 95
# A small model from scratch soon memorises its few texts. Hiding words reduces that: test accuracies on SST-2 were 0.797 to 0.809
# with it and 0.785 to 0.796 without (three seeds each).
WORD_DROPOUT = 0.2
_BATCH, _BATCH_CHARACTERS = 2000, 1_000_000
_NO_IDS, _NO_TYPES = numpy.zeros(0, numpy.int32), numpy.zeros(0, numpy.int8)
# What an installed model's tokenizer consists of, besides tokenizer.json, which is always written.
_TOKENIZER_FILES = ("tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "vocab.txt", "vocab.json", "merges.txt")


@dataclass(frozen=True)
class Texts:
    """Token ids of many texts, one after the other: text i is ids[offsets[i]:offsets[i+1]].

    ``types`` (which of two texts a token is of) is None where all are of the first. Batches are filled up with ``pad_id`` to
    their longest text, or to ``pad_to`` tokens where that is not 0. In training, WORD_DROPOUT of the tokens from number
    ``words`` on become ``unknown``, where that is not None.
    """

    ids: numpy.ndarray
    offsets: numpy.ndarray
    types: numpy.ndarray | None
    pad_id: int
    pad_to: int
    unknown: int | None = None
    words: int = 0

    @property
    def lengths(self) -> numpy.ndarray:
        return numpy.diff(self.offsets)

    def batch(self, rows: numpy.ndarray, augment: numpy.random.Generator | None = None) -> dict[str, numpy.ndarray]:
        begin = self.offsets[rows]
        lengths = self.offsets[rows + 1] - begin
        places = numpy.arange(max(self.pad_to, int(lengths.max())))
        mask = places < lengths[:, None]
        flat = (begin[:, None] + places)[mask]
        ids = numpy.full(mask.shape, self.pad_id, dtype=numpy.int64)
        ids[mask] = self.ids[flat]
        if augment is not None and self.unknown is not None:
            ids[(ids >= self.words) & (augment.random(ids.shape) < WORD_DROPOUT)] = self.unknown
        inputs = {"input_ids": ids, "attention_mask": mask.astype(numpy.int64)}
        if self.types is not None:
            inputs["token_type_ids"] = numpy.zeros(mask.shape, dtype=numpy.int64)
            inputs["token_type_ids"][mask] = self.types[flat]
        return inputs


class Encoder:
    """A tokenizer with a maximum length chosen by the training texts."""

    def __init__(self, tokenizer: Tokenizer, description: dict, base: Base | None = None):
        self.tokenizer, self.base = tokenizer, base
        self.max_length, self.pad_id = description["max_length"], description["pad_id"]
        self.padding, self.side = description["padding"], description["truncation_side"]
        self.long_text, self.stride = description["long_text"], description["stride"]
        self.description = description
        self.shape = {"vocabulary_size": tokenizer.get_vocab_size(), "pad_id": self.pad_id, "max_length": self.max_length}
        self.cut = self.seen = 0
        self.lengths: list[int] = []

    def encode(self, examples: list[Example], targets: numpy.ndarray, name: str, training: bool = False) -> Rows:
        """Rows of token ids. Long texts are truncated, split into overlapping pieces or, in training, dropped."""
        pieces_of = self._tokenize([e.content for e in examples], drop_long=training and self.long_text == "drop")
        pieces = [p for found in pieces_of for p in found]
        offsets = numpy.concatenate([[0], numpy.cumsum([len(ids) for ids, _ in pieces])]).astype(numpy.int64)
        ids = numpy.concatenate([ids for ids, _ in pieces] or [_NO_IDS])
        types = numpy.concatenate([types for _, types in pieces] or [_NO_TYPES])
        from_scratch = self.base is None or self.base.folder is None
        unknown = self.tokenizer.token_to_id("[UNK]") if training and from_scratch else None
        pad_to = self.max_length if self.padding == "max_length" else 0
        texts = Texts(ids, offsets, types if types.any() else None, self.pad_id, pad_to, unknown, len(vocabulary.SPECIAL))
        if len(pieces) == len(examples):
            return Rows(texts, targets)
        owner = numpy.repeat(numpy.arange(len(examples)), [len(found) for found in pieces_of])
        return Rows(texts, targets[owner], owner if self.long_text == "sliding_window" else None)

    def _tokenize(self, contents: list, drop_long: bool) -> list[list[tuple[numpy.ndarray, numpy.ndarray]]]:
        """The pieces of every text: one, several in a sliding window, or none if it is dropped. Counts the long texts."""
        self.tokenizer.no_truncation()
        found, long = [], []
        for i, one in enumerate(encodings(self.tokenizer, contents)):
            is_long = len(one.ids) > self.max_length
            found.append([] if is_long else [_tokens(one)])
            long += [i] * is_long
            self.lengths.append(len(one.ids))
        self.cut, self.seen = self.cut + len(long), self.seen + len(contents)
        self._truncate()
        if drop_long:
            return found
        for i, one in zip(long, encodings(self.tokenizer, [contents[i] for i in long]), strict=True):
            overflowing = one.overflowing if self.long_text == "sliding_window" else []
            found[i] = [_tokens(piece) for piece in (one, *overflowing)]
        return found

    def _truncate(self) -> None:
        stride = min(self.stride, self.max_length // 2) if self.long_text == "sliding_window" else 0
        self.tokenizer.enable_truncation(self.max_length, stride=stride, direction=self.side)

    def forget(self) -> None:
        self.lengths.clear()

    def described(self) -> dict:
        return {
            "model": {"max_length": self.max_length},
            "data": {
                "truncated_share": round(self.cut / max(1, self.seen), 6),
                "lengths": histogram(self.lengths, unit="tokens", cut=self.max_length),
            },
            "encoder": self.description,
        }

    def save(self, folder: Path) -> None:
        """Save the tokenizer for transformers, with the truncation of the training."""
        self.tokenizer.enable_truncation(self.max_length, direction=self.side)
        files.write_text(folder / "tokenizer.json", self.tokenizer.to_str(pretty=False))
        if self.base is not None and self.base.folder is not None:
            for name in _TOKENIZER_FILES:
                if (self.base.folder / name).is_file():
                    shutil.copyfile(self.base.folder / name, folder / name)
            return
        words = sorted(self.tokenizer.get_vocab().items(), key=lambda w: w[1])
        files.write_text(folder / "vocab.txt", "".join(f"{word}\n" for word, _ in words))
        settings = {
            "tokenizer_class": "BertTokenizerFast",
            "do_lower_case": self.description["lower_case"],
            "model_max_length": self.max_length,
            "truncation_side": self.side,
            **{f"{name}_token": f"[{name.upper()}]" for name in ("pad", "unk", "cls", "sep", "mask")},
        }
        files.write_json(folder / "tokenizer_config.json", settings)


def position_limit(base: Base) -> int:
    """The longest text in tokens that an installed model can read."""
    config = base.config
    limits = [vocabulary.settings(base.folder).get("model_max_length")]
    positions = config.get("max_position_embeddings")
    if positions and config.get("model_type") in ("roberta", "xlm-roberta", "camembert", "mpnet"):
        positions -= (config.get("pad_token_id") or 0) + 1  # these count positions from behind the padding id
    limits.append(positions)
    usable = [int(n) for n in limits if isinstance(n, (int, float)) and 0 < n < 100_000]
    return min(usable, default=MAX_POSITIONS)


def max_length(settings: Settings, lengths: list[int], limit: int, events: Events) -> tuple[int, Settings]:
    """The longest text in tokens: as the user says, else that of most texts, within what the model reads. Also the settings with it."""
    if wanted := settings.max_length:
        length = max(8, min(wanted, limit))
        if length != wanted:
            events.warning("max_length", f"Texts are truncated to {length} tokens instead of {wanted}: the model reads between 8 and {limit}.")
        return length, settings
    usual = int(numpy.percentile(lengths, PERCENTILE, method="higher"))
    length = max(8, min(usual, limit))
    why = f"{PERCENTILE} % of the training texts have at most {usual} tokens"
    why += "" if length >= usual else f", but the model reads at most {limit}"
    events.decision("max_length", length, f"Texts are truncated to {length} tokens: {why}.")
    return length, settings.with_chosen(max_length=length)


def pad_id(tokenizer: Tokenizer, base: Base) -> int:
    """The id to fill short texts with. It is masked out, so any id does for a model that has none of its own."""
    configured = base.config.get("pad_token_id") if base.folder else None
    if isinstance(configured, int):
        return configured
    for token in ("[PAD]", "<pad>"):
        if (found := tokenizer.token_to_id(token)) is not None:
            return found
    return 0


def parts(content) -> tuple[str, ...]:
    return (content,) if isinstance(content, str) else content


def _tokens(one) -> tuple[numpy.ndarray, numpy.ndarray]:
    """Ids and type ids of an encoding as arrays, which take a hundredth of its memory."""
    return numpy.asarray(one.ids, numpy.int32), numpy.asarray(one.type_ids, numpy.int8)


def encodings(tokenizer: Tokenizer, contents: list):
    """The encodings of ``contents``, a few at a time: they are large."""
    batch, size = [], 0
    for content in contents:
        batch.append(content)
        size += sum(map(len, parts(content)))
        if len(batch) == _BATCH or size > _BATCH_CHARACTERS:
            yield from tokenizer.encode_batch_fast(batch)
            batch, size = [], 0
    yield from tokenizer.encode_batch_fast(batch)


def tiny(plan: Plan):
    """The configuration of BERT-tiny for the rows of ``plan``.

    Embeddings start with a standard deviation of 0.02 (BertConfig's initializer_range); torch's own default of 1 costs several
    points of accuracy.
    """
    from transformers.models.bert.configuration_bert import BertConfig

    return BertConfig(
        vocab_size=plan.shape["vocabulary_size"],
        hidden_size=128,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=512,
        max_position_embeddings=MAX_POSITIONS,
        pad_token_id=plan.shape["pad_id"],
        **plan.target.configuration(),
    )
