"""A vocabulary of byte-level pairs that is learnt from the training texts, for models from scratch.

Every text can be written in it, in any script, and read back exactly. The same texts give the same vocabulary.
"""

import itertools
import math
from collections.abc import Iterable, Iterator

import numpy
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

END = "<|endoftext|>"  # between two documents; number 0
MIN_SIZE, MAX_SIZE = 512, 16_384
_PIECES_OF_A_MEGABYTE = 2048
_LEARNT_BYTES = 32_000_000  # of the texts; more hardly changes the vocabulary
_CHUNK = 50_000  # characters that are encoded at once: the library needs hundreds of bytes for each token
_BATCH = 64


def size_for(size: int) -> int:
    """How many pieces suit texts of ``size`` bytes: a power of two that grows with the root of the size.

    On 1 MB of plays 512 pieces gave 2.38 bits per byte and 2,048 gave 2.36, but each doubling costs time in the last layer.
    """
    wanted = _PIECES_OF_A_MEGABYTE * math.sqrt(size / 1e6)
    return min(MAX_SIZE, max(MIN_SIZE, 1 << max(0, round(math.log2(max(1.0, wanted))))))


def learn(documents: list[str], special: tuple[str, ...] = ()) -> Tokenizer:
    """A tokenizer whose vocabulary comes from ``documents``. END and the ``special`` tokens have the first numbers."""
    size = sum(len(d.encode("utf-8", "replace")) for d in documents)
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size_for(size),
        min_frequency=2,
        special_tokens=[END, *special],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    step = math.ceil(size / _LEARNT_BYTES) or 1
    tokenizer.train_from_iterator(itertools.islice(_chunks(documents), 0, None, step), trainer)
    return tokenizer


def encode(tokenizer: Tokenizer, text: str) -> numpy.ndarray:
    """The tokens of ``text``. A text that spells a special token does not get its number."""
    dtype = numpy.uint16 if tokenizer.get_vocab_size() <= 1 << 16 else numpy.uint32
    tokenizer.encode_special_tokens = True
    chunks, found = _chunks([text]), [numpy.zeros(0, dtype)]
    while batch := list(itertools.islice(chunks, _BATCH)):
        found += [numpy.asarray(e.ids, dtype) for e in tokenizer.encode_batch(batch, add_special_tokens=False)]
    tokenizer.encode_special_tokens = False
    return numpy.concatenate(found)


def byte_lengths(tokenizer: Tokenizer) -> numpy.ndarray:
    """The bytes that each token stands for. The text of a byte-level token has one character for each byte; special tokens have none."""
    found = numpy.zeros(tokenizer.get_vocab_size(), numpy.int64)
    special = set(tokenizer.get_added_tokens_decoder())
    for piece, number in tokenizer.get_vocab().items():
        found[number] = 0 if number in special else len(piece)
    return found


def _chunks(documents: Iterable[str]) -> Iterator[str]:
    """The documents in parts, each ending with a line if there are lines."""
    for document in documents:
        begin = 0
        while begin < len(document):
            end = begin + _CHUNK
            if end < len(document):
                end = max(document.rfind("\n", begin, end) + 1, 0) or end
            yield document[begin:end]
            begin = end
