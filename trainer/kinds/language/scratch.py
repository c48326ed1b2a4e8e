"""Language models from random weights: documents, conversations or files of tokens as one long stream."""

import itertools
from dataclasses import dataclass

import numpy
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

from trainer.config.settings import CHOSEN, Settings
from trainer.config.spec import Spec
from trainer.core.example import Dataset, Example
from trainer.core.plan import Rows
from trainer.errors import count
from trainer.kinds.language import bpe, encoding, masks, shapes, streams
from trainer.kinds.language.encoding import Encoder, Words
from trainer.kinds.language.streams import FilePart, Stream
from trainer.kinds.rows import conversations as forms, documents
from trainer.kinds.rows.token_vocabulary import Passage, Vocabulary
from trainer.models import training_length
from trainer.models.catalogue import Base
from trainer.run_folder.events import Events

STEP_TOKENS = 2048  # of a training step: small models learn more from many small steps than from few large ones
SEEN_TOKENS, MOST_EPOCHS = 6_000_000, 30  # a training sees so many tokens, if that takes no more epochs
STEPS_BETWEEN = 1000  # two evaluations
PATIENCE = 4  # evaluations
SHORTEST = 16
PAIRS, PIECES, NUMBERS = "byte pairs", "pieces", "numbers"  # what tokens stand for: bytes, texts of a vocabulary, nothing that is known
_USUAL = 95  # percentile of the lengths of conversations


@dataclass(frozen=True)
class Piece:
    """An example in the stream of its split: its tokens, and the first token of its document."""

    begin: int
    end: int
    first: int


class ScratchEncoder(Encoder):
    """Learns from every token of a stream, cut into blocks.

    To measure, each passage is predicted after what comes before it in its document; of a conversation only the answers count, as with
    installed models. ``byte_lengths`` are the bytes of each token, or None.
    """

    def __init__(self, words: Words, description: dict, shape: dict, byte_lengths: numpy.ndarray | None):
        super().__init__(words, description, shape)
        self.byte_lengths = byte_lengths

    def encode(self, examples: list[Example], targets: numpy.ndarray, name: str, training: bool = False) -> Rows:
        if not training and any(isinstance(e.content, tuple) for e in examples):
            return super().encode(examples, targets, name)
        stream, found = self._stream(examples, training)
        if training:
            windows = streams.blocks(stream, self.max_length, self.words.pad_id)
            counts = streams.sizes(windows, self.byte_lengths)
            self.learnt_tokens = int(counts[:, 0].sum())
            self.rows = self.ended = len(examples)
            return Rows(windows, counts)
        bounds = [streams.pieces(p.begin, p.end, p.first, self.max_length) for p in found]
        begin, learnt, end = numpy.asarray([w for some in bounds for w in some], numpy.int64).reshape(-1, 3).T
        windows = streams.Windows(stream, begin, learnt, end, self.words.pad_id)
        return Rows(windows, streams.sizes(windows, self.byte_lengths), numpy.repeat(numpy.arange(len(bounds)), [len(b) for b in bounds]))

    def described(self) -> dict:
        return {"model": {"max_length": self.max_length}, "data": {}, "encoder": self.description}

    @property
    def room(self) -> int:
        return min(super().room, self.max_length // 2)  # prompts have at most the other half

    def opening(self, content) -> list[int]:
        """The beginning of a document or of a passage, which the model is to continue."""
        if isinstance(content, Passage):
            return content.read()[: min(64, self.max_length // 2)].astype(int).tolist()
        return super().opening(content)

    def prompt(self, content) -> list[int]:
        if isinstance(content, tuple):
            return super().prompt(content)
        start = [] if self.words.end is None else [self.words.end]
        return [*start, *bpe.encode(self.words.tokenizer, content).tolist()][-self.max_length // 2 :] or [0]

    def _stream(self, examples: list[Example], training: bool) -> tuple[Stream, list[Piece]]:
        """The documents, with an end before and after each if there is one, and where each example is."""
        between = [] if self.words.end is None else [numpy.asarray([self.words.end], numpy.int32)]
        parts: list = []
        found: list[Piece] = []
        at = first = 0
        for i, example in enumerate(examples):
            if i == 0 or not _continues(examples[i - 1], example):
                parts, first, at = parts + between, at, at + len(between)
            parts.append(self._part(example, training))
            found.append(Piece(at, at + len(parts[-1]), first))
            at += len(parts[-1])
        return Stream(_joined(parts + between)), found

    def _part(self, example: Example, training: bool):
        content = example.content
        if isinstance(content, Passage):
            if content.vocabulary.size != self.words.tokenizer.get_vocab_size():
                raise ValueError("the tokens are of another vocabulary")
            return FilePart(content.file.path, content.file.dtype.str, content.begin, content.end)
        if isinstance(content, str):
            return bpe.encode(self.words.tokenizer, content).astype(numpy.int32)
        return numpy.concatenate([ids for ids, _ in self._learnt(example, training)]).astype(numpy.int32)


def encoder(spec: Spec, settings: Settings, data: Dataset, base: Base, events: Events) -> tuple[ScratchEncoder, Settings]:
    """Learn the vocabulary, or take the one of the files of tokens, and choose the settings that are still open."""
    first = data.splits["train"][0].content
    if isinstance(first, Passage):
        words, lengths, size = (
            _of_tokens(first.vocabulary),
            first.vocabulary.byte_lengths(),
            sum(e.content.end - e.content.begin for e in data.splits["train"]),
        )
    else:
        texts = [forms.whole(e.content) for e in data.splits["train"]]
        size = sum(len(t.encode("utf-8", "replace")) for t in texts)
        tokenizer = bpe.learn(texts)
        words, lengths = _of_texts(tokenizer), bpe.byte_lengths(tokenizer)
        events.decision(
            "vocabulary", tokenizer.get_vocab_size(), f"A vocabulary of {tokenizer.get_vocab_size()} pieces is learnt from the training texts."
        )
    answer, length = 0.0, settings.max_length or shapes.LENGTH
    if isinstance(first, tuple):
        usual, answer = encoding.usual_length(words, data, _USUAL)
        length = settings.max_length or max(shapes.LENGTH, min(usual, 4 * shapes.LENGTH))
    length = max(SHORTEST, length)
    shape = shapes.choose(size, words.tokenizer.get_vocab_size(), length, settings.experts, settings.router_loss)
    _explain(shape, settings.source("model") == CHOSEN, events)
    tokens = size if isinstance(first, Passage) else int(size / max(1.0, float(lengths.mean())))
    settings = _choose(settings, tokens, length, shape, events)
    described = {"finetuning": "full", "end": words.end, **shape.described()}
    unit = PAIRS if not isinstance(first, Passage) else NUMBERS if lengths is None else PIECES
    return ScratchEncoder(words, {"max_length": length, "answer_tokens": answer, "finetuning": "full", "unit": unit}, described, lengths), settings


def loaded(words: Words, description: dict) -> ScratchEncoder:
    """The encoder of a saved model, for example of an earlier version that is compared with a new one."""
    pieces = words.tokenizer.get_vocab()
    lengths = None
    if description["unit"] == PAIRS:
        lengths = bpe.byte_lengths(words.tokenizer)
    elif description["unit"] == PIECES:
        lengths = numpy.zeros(len(pieces), numpy.int64)
        for piece, number in pieces.items():
            lengths[number] = len(piece.encode("utf-8", "replace"))
    return ScratchEncoder(words, description, {}, lengths)


def _of_texts(tokenizer: Tokenizer) -> Words:
    settings = {"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": bpe.END, "bos_token": bpe.END, "clean_up_tokenization_spaces": False}
    end = tokenizer.token_to_id(bpe.END)
    return Words(tokenizer, masks.Template(tokenizer, masks.PLAIN, {"eos_token": bpe.END, "bos_token": ""}), settings, False, (end,), end)


def _of_tokens(vocabulary: Vocabulary) -> Words:
    """The tokens' own tokenizer, one that writes single characters, or one that writes their numbers."""
    tokenizer = vocabulary.tokenizer or _written(vocabulary)
    settings = {"tokenizer_class": "PreTrainedTokenizerFast", "clean_up_tokenization_spaces": False}
    return Words(tokenizer, masks.Template(tokenizer, masks.PLAIN, {"eos_token": "", "bos_token": ""}), settings, False, (), 0)


def _written(vocabulary: Vocabulary) -> Tokenizer:
    pieces = vocabulary.pieces
    if pieces is not None and len(set(pieces)) == len(pieces):
        tokenizer = Tokenizer(models.BPE({piece: number for number, piece in enumerate(pieces)}, []))
        tokenizer.decoder = decoders.Fuse()
        return tokenizer
    tokenizer = Tokenizer(models.WordLevel({str(number): number for number in range(vocabulary.size)}, unk_token="0"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return tokenizer


def _explain(shape: shapes.Shape, chosen: bool, events: Events) -> None:
    experts = f" with {shape.experts} experts in each layer, of which a token uses {shapes.CHOSEN_EXPERTS}" if shape.experts > 1 else ""
    what = f"{shape.layers} layers of width {shape.width}{experts}: {shape.parameters:,} weights"
    events.decision("shape", shape.parameters, f"The model has {what}. Its size follows from the amount of text.")
    size = f"{shape.parameters / 1e6:.1f}".removesuffix(".0")
    if chosen:
        events.warning(
            "from_scratch",
            f"No language model is installed here, so a small one (gpt-small, {size} million weights) is trained from random weights on this "
            "text alone. It will imitate the text; it will not answer questions.",
        )


def _choose(settings: Settings, tokens: int, length: int, shape: shapes.Shape, events: Events) -> Settings:
    """The settings with batches, epochs and evaluations that suit ``tokens`` of training text."""
    settings = settings.with_default(batch_size=max(1, round(STEP_TOKENS / length)), early_stopping_patience=PATIENCE)
    steps = tokens / length / settings.batch_size
    settings = settings.with_default(evals_per_epoch=min(50, max(1, round(steps / STEPS_BETWEEN))))
    epochs = min(MOST_EPOCHS, max(1, round(SEEN_TOKENS / max(1, tokens))))
    why = f"The training reads its {tokens:,} tokens up to {count(epochs, 'time')}; it stops when the model no longer improves."
    settings = training_length.with_epochs(settings, epochs, why, events)
    if not settings.learning_rate:
        settings = settings.with_chosen(learning_rate=shape.learning_rate)
        events.decision(
            "learning_rate",
            shape.learning_rate,
            f"The learning rate is {shape.learning_rate:g}, which suits a model of this size from random weights.",
        )
    return settings


def _continues(before: Example, example: Example) -> bool:
    """Whether two examples follow each other in one document."""
    if before.file != example.file:
        return False
    if isinstance(example.content, Passage):
        return before.content.end == example.content.begin
    is_passage = isinstance(before.content, str) and before.file.lower().rpartition(".")[2] in documents.EXTENSIONS
    return is_passage and before.row + before.content.count("\n") == example.row


def _joined(parts: list) -> list:
    """``parts`` with those that follow each other as one: arrays, and parts of one file."""
    found: list = []
    for is_file, some in itertools.groupby(parts, key=lambda p: isinstance(p, FilePart)):
        if not is_file:
            found.append(numpy.concatenate(list(some)))
            continue
        for part in some:
            if found and isinstance(found[-1], FilePart) and (found[-1].path, found[-1].end) == (part.path, part.begin):
                part = FilePart(part.path, part.dtype, found.pop().begin, part.end)
            found.append(part)
    return found
