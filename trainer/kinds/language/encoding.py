"""Conversations and documents as token ids with the places that are learnt."""

import collections
import shutil
from dataclasses import dataclass
from pathlib import Path

import numpy
from tokenizers import Tokenizer

from trainer.core.example import Dataset, Example
from trainer.core.plan import Rows
from trainer.kinds.language import masks, samples, sequences
from trainer.kinds.rows import conversations as forms, documents
from trainer.kinds.rows.conversations import ASSISTANT
from trainer.measure.histogram import histogram
from trainer.run_folder import files

TEMPLATE = "chat_template.jinja"
_TOKENIZER_FILES = ("special_tokens_map.json", "added_tokens.json", "vocab.json", "merges.txt", "tokenizer.model")
_SPECIAL = ("bos_token", "eos_token", "unk_token", "pad_token")
_MEASURED = 5000  # training examples that are enough to choose a length
_EXAMPLE_TOKENS = 400  # of the example that shows what is learnt


@dataclass(frozen=True)
class Words:
    """A tokenizer with its chat template, the ids that end an answer, and the id that fills up batches."""

    tokenizer: Tokenizer
    template: masks.Template
    settings: dict  # tokenizer_config.json
    own_template: bool
    stop: tuple[int, ...]
    pad_id: int

    @property
    def end(self) -> int | None:
        """The token behind a document."""
        text = self.template.special.get("eos_token", "")
        return self.tokenizer.token_to_id(text) if text else None


def words(folder: Path, tokenizer: Tokenizer, config: dict) -> Words:
    """The tokenizer of an installed or a saved model with what belongs to it in ``folder``."""
    settings = _json(folder / "tokenizer_config.json")
    special = {name: _text(settings[name]) for name in _SPECIAL if settings.get(name)}
    generation = _json(folder / "generation_config.json")
    ends = [config.get("eos_token_id"), generation.get("eos_token_id"), tokenizer.token_to_id(special.get("eos_token", "") or "\0")]
    stop = sorted({i for entry in ends for i in (entry if isinstance(entry, list) else [entry]) if isinstance(i, int)})
    if "eos_token" not in special and stop:
        special["eos_token"] = tokenizer.id_to_token(stop[0]) or ""
    special.setdefault("eos_token", "")
    special.setdefault("bos_token", "")
    own = _template(folder, settings)
    pads = (config.get("pad_token_id"), tokenizer.token_to_id(special.get("pad_token", "") or "\0"), *stop, 0)
    pad = next(i for i in pads if isinstance(i, int) and i >= 0)
    return Words(tokenizer, masks.Template(tokenizer, own or masks.PLAIN, special), settings, bool(own), tuple(stop), pad)


class Encoder:
    """Turns conversations and documents into sequences. Counts how the answers were found, and what did not fit."""

    def __init__(self, words: Words, description: dict, shape: dict, source: Path | None = None):
        self.words, self.description, self.source = words, description, source
        self.max_length = description["max_length"]
        self.shape = {"pad_id": words.pad_id, "max_length": self.max_length, "vocabulary_size": words.tokenizer.get_vocab_size(), **shape}
        self.ways: collections.Counter[str] = collections.Counter()
        self.notes: collections.Counter[str] = collections.Counter()
        self.lengths: list[int] = []
        self.cut = self.ended = self.learnt_tokens = self.rows = 0
        self.example: list[dict] = []
        self.refused: list[str] = []
        self.shown: list[str] = []  # the prompts whose answers are shown, as a person wrote them

    def encode(self, examples: list[Example], targets: numpy.ndarray, name: str, training: bool = False) -> Rows:
        """Rows with their learnt tokens and bytes as targets. In training, what has no learnt token within max_length is left out."""
        parts, counts, owner = [], [], []
        for i, example in enumerate(examples):
            pieces = self._pieces(example, count=training)
            learnt = [int(places.sum()) for _, places in pieces]
            keep = [p for p, n in enumerate(learnt) if n] if training else list(range(len(pieces))) if any(learnt) else [0]
            size = _learnt_bytes(example.content)
            for p in keep:
                parts.append(pieces[p])
                counts.append((learnt[p], size if p == keep[0] else 0))
                owner.append(i)
        self.learnt_tokens += sum(n for n, _ in counts) * training
        rows = sequences.of(parts, self.words.pad_id)
        wanted = numpy.array(counts, numpy.int64).reshape(-1, 2)
        places = numpy.unique(owner, return_inverse=True)[1]
        return Rows(rows, wanted, None if owner == list(range(len(examples))) else places)

    def prompts(self, examples: list[Example]) -> Rows:
        """The prompts of ``examples`` as rows, of which nothing is learnt."""
        parts = [(numpy.array(ids, numpy.int32), numpy.zeros(len(ids), bool)) for ids in (self.prompt(e.content) for e in examples)]
        return Rows(sequences.of(parts, self.words.pad_id), numpy.zeros((len(parts), 2), numpy.int64))

    def prompt(self, content: forms.Conversation | str) -> list[int]:
        """The token ids after which the model writes: the beginning of an answer, or a document as it is. Of a prompt that is longer
        than the model reads, the end."""
        most = self.description.get("reads", self.max_length)
        if isinstance(content, str):
            return self.words.tokenizer.encode(content).ids[-most:]
        try:
            return self.words.template.prompt(content)[-most:]
        except masks.Refused:
            return self.words.tokenizer.encode(forms.question(content)).ids[-most:]

    @property
    def room(self) -> int:
        """The tokens that the model may write behind a prompt."""
        return samples.MAX_SHOWN_TOKENS

    def opening(self, content: str) -> list[int]:
        """The beginning of a document, which the model is to continue."""
        return self.prompt(content[: min(200, max(20, len(content) // 2))])

    def text(self, ids: list[int]) -> str:
        """The text of an answer, without control characters: it goes into tables and pages."""
        written = self.words.tokenizer.decode(ids, skip_special_tokens=True)
        return "".join(c for c in written if c.isprintable() or c in "\n\t ").strip()

    def _pieces(self, example: Example, count: bool) -> list[masks.Piece]:
        """The sequences of an example, each at most max_length long; at least one, be it without learnt tokens."""
        whole = self._learnt(example, count)
        if not count:
            return [(ids[: self.max_length], places[: self.max_length]) for ids, places in whole]
        self.rows += 1
        self.lengths += [len(ids) for ids, _ in whole]
        self.cut += any(len(ids) > self.max_length for ids, _ in whole)
        cut = [(ids[: self.max_length], places[: self.max_length]) for ids, places in whole]
        self.ended += any(len(ids) <= self.max_length for ids, _ in whole)
        if not self.example and any(places.any() for _, places in cut):
            ids, places = next(p for p in cut if p[1].any())
            self.example = masks.marked(self.words.tokenizer, (ids[:_EXAMPLE_TOKENS], places[:_EXAMPLE_TOKENS]))
        return cut

    def _learnt(self, example: Example, count: bool) -> list[masks.Piece]:
        if isinstance(example.content, str):
            return self._document(example)
        try:
            found = self.words.template.learn(example.content)
        except masks.Refused as e:
            if count:
                self.notes["refused"] += 1
                self.refused.append(str(e))
            return [(numpy.zeros(1, numpy.int32), numpy.zeros(1, bool))]
        if count:
            self.ways[found.way] += 1
            self.notes["examples"] += len(found.pieces)
            self.notes["system turn moved"] += found.moved
            self.notes["turns dropped"] += found.dropped
        return found.pieces

    def _document(self, example: Example) -> list[masks.Piece]:
        """A document in pieces that fit, with its end where it is known."""
        ids = self.words.tokenizer.encode(example.content).ids
        is_passage = example.file.lower().rpartition(".")[2] in documents.EXTENSIONS
        if not is_passage and self.words.end is not None and ids[-1:] != [self.words.end]:
            ids.append(self.words.end)
        starts = range(0, max(1, len(ids)), self.max_length)
        return [(numpy.array(part, numpy.int32), numpy.ones(len(part), bool)) for part in (ids[s : s + self.max_length] for s in starts)]

    def described(self) -> dict:
        return {
            "model": {"max_length": self.max_length},
            "data": {
                "truncated_share": round(self.cut / max(1, self.rows), 6),
                "lengths": histogram(self.lengths, unit="tokens", cut=self.max_length),
            },
            "encoder": self.description,
        }

    def save(self, folder: Path) -> None:
        """Save the tokenizer and the chat template, so that the library of the model writes prompts as the training did."""
        files.write_text(folder / "tokenizer.json", self.words.tokenizer.to_str(pretty=False))
        files.write_text(folder / TEMPLATE, self.words.template.text)
        settings = {k: v for k, v in self.words.settings.items() if k not in ("chat_template", "auto_map")}
        settings.setdefault("tokenizer_class", "PreTrainedTokenizerFast")
        if self.words.template.special["eos_token"]:
            settings.setdefault("eos_token", self.words.template.special["eos_token"])
        files.write_json(folder / "tokenizer_config.json", settings)
        for name in _TOKENIZER_FILES:
            if self.source is not None and (self.source / name).is_file():
                shutil.copyfile(self.source / name, folder / name)


def of(encoder) -> Encoder:
    """``encoder``, which is that of a language model."""
    assert isinstance(encoder, Encoder)
    return encoder


def usual_length(words: Words, data: Dataset, percentile: int) -> tuple[int, float]:
    """The number of tokens that ``percentile`` of the training examples have at most, and the median of their last answers."""
    lengths, answers = [], []
    train = data.splits["train"]
    for example in train[:: -(-len(train) // _MEASURED)]:
        if isinstance(example.content, str):
            lengths.append(len(words.tokenizer.encode(example.content).ids) + 1)
        else:
            try:
                lengths += [len(ids) for ids, _ in words.template.learn(example.content).pieces]
            except masks.Refused:
                continue
            answers.append(len(words.tokenizer.encode(forms.answer(example.content), add_special_tokens=False).ids))
    return int(numpy.percentile(lengths or [1], percentile, method="higher")), float(numpy.median(answers)) if answers else 0.0


def _learnt_bytes(content) -> int:
    """The bytes of the text that is learnt, which do not depend on a tokenizer."""
    if isinstance(content, str):
        return len(content.encode("utf-8", "replace"))
    return sum(len(t.text.encode("utf-8", "replace")) for t in content if t.role == ASSISTANT and t.learnt)


def _template(folder: Path, settings: dict) -> str:
    if (file := folder / TEMPLATE).is_file():
        return file.read_text(encoding="utf-8")
    found = settings.get("chat_template")
    if isinstance(found, list):  # several by name
        found = next((t.get("template") for t in found if isinstance(t, dict) and t.get("name") == "default"), None)
    return found if isinstance(found, str) else ""


def _text(token) -> str:
    return token.get("content", "") if isinstance(token, dict) else str(token)


def _json(file: Path) -> dict:
    return files.read_json(file) if file.is_file() else {}
