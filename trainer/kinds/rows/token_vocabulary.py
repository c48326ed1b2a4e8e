"""Files of tokens: train.bin, val.bin and meta.pkl, as nanoGPT writes them.

A .bin file is a row of numbers without a header: 16 bits each, or 32. meta.pkl says how many different numbers there are, and may
say which text each stands for. The numbers are mapped from the file when they are needed, and never read as a whole.
"""

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy

from trainer.errors import UserError
from trainer.kinds.rows import plain_pickle
from trainer.run_folder import files

if TYPE_CHECKING:  # most runs need none
    from tokenizers import Tokenizer

MAX_VOCABULARY = 1_000_000
_SHORT: numpy.dtype = numpy.dtype("<u2")
_LONG: numpy.dtype = numpy.dtype("<u4")
_HEADERS = {20240520: "llm.c for GPT-2", 20240801: "llm.c for Llama 3"}  # the first number of files that begin with a header
_CHUNK = 4_000_000


@dataclass(frozen=True)
class TokenFile:
    """A file of tokens in the dataset. ``name`` is what the user calls it; ``highest`` is its largest number."""

    name: str
    path: Path
    dtype: numpy.dtype
    count: int
    highest: int

    def read(self) -> numpy.ndarray:
        """The tokens, mapped from the file."""
        return numpy.memmap(self.path, self.dtype, mode="r", shape=(self.count,))


@dataclass(frozen=True, slots=True)
class Passage:
    """Consecutive tokens of a file, from number ``begin`` up to ``end``: an example. ``sha256`` is that of their bytes."""

    file: TokenFile
    vocabulary: "Vocabulary"
    begin: int
    end: int
    sha256: str

    def __str__(self) -> str:
        return f"tokens {self.begin:,} to {self.end - 1:,}"

    def read(self) -> numpy.ndarray:
        return self.file.read()[self.begin : self.end]


@dataclass(frozen=True)
class Vocabulary:
    """How many different tokens there are and, where it is known, the text of each. ``source`` names where both come from."""

    size: int
    pieces: tuple[str, ...] | None
    source: str
    tokenizer: "Tokenizer | None" = None

    @property
    def characters(self) -> bool:
        """Whether each token is one character."""
        return self.pieces is not None and all(len(p) <= 1 for p in self.pieces)

    def text(self, tokens) -> str:
        """What ``tokens`` say; the numbers themselves where there are no texts."""
        if self.pieces is None:
            return " ".join(str(int(t)) for t in tokens)
        return "".join(self.pieces[int(t)] for t in tokens)

    def byte_lengths(self) -> numpy.ndarray | None:
        """The bytes in UTF-8 that each token stands for; None where that is not known."""
        return None if self.pieces is None else numpy.asarray([len(p.encode("utf-8", "replace")) for p in self.pieces], numpy.int64)


def inspect(path: Path, name: str, size: int = 0) -> TokenFile:
    """Find the width of the numbers in a file and its largest one. ``size`` is that of the vocabulary, if it is known.

    Numbers of 32 bits are recognised by their high halves, which are all zero or much smaller than the low ones.
    Raises UserError for a file that holds something else.
    """
    length = _length(path, name)
    first = numpy.fromfile(path, _LONG, 1) if length >= _LONG.itemsize else numpy.zeros(1, _LONG)
    if program := _HEADERS.get(int(first[0])):
        raise UserError(
            "token_header",
            f"{name} begins with a header of {program}, and its tokens follow after that.",
            "Give a file of bare tokens, as nanoGPT's prepare.py writes it: remove the first 1,024 bytes.",
            f"Its first number is {int(first[0])}.",
        )
    if not length or length % _SHORT.itemsize:
        raise _not_tokens(name, f"It has {length} bytes, and a token takes 2 or 4.")
    dtype = _SHORT
    if length % _LONG.itemsize == 0 and (size > 1 << 16 or _is_long(numpy.memmap(path, _SHORT, mode="r"))):
        dtype = _LONG
    values = numpy.memmap(path, dtype, mode="r")
    return TokenFile(name, path, dtype, len(values), _highest(values))


def vocabulary(path: Path | None, given: int = 0) -> Vocabulary | None:
    """The vocabulary of ``meta.pkl``, or of the ``given`` size; None where there is neither. Raises UserError.

    The file is read as plain values only. If it holds more and a size is given, the size is used.
    """
    if path is None:
        return Vocabulary(given, None, "vocab_size") if given else None
    try:
        meta = plain_pickle.read(files.read_bytes(path, plain_pickle.MAX_BYTES))
        found = _of_meta(meta)
    except (plain_pickle.NotPlain, ValueError) as e:
        if given:
            return Vocabulary(given, None, "vocab_size")
        raise UserError(
            "token_vocabulary",
            "meta.pkl holds more than plain values, so it is not read."
            if isinstance(e, plain_pickle.NotPlain)
            else f"meta.pkl does not describe a vocabulary: {e}.",
            "Give vocab_size, or a tokenizer.json.",
        ) from e
    return found if not given or given == found.size else Vocabulary(given, None, "vocab_size")


def assumed(found: list[TokenFile]) -> Vocabulary:
    """The vocabulary where nothing describes it: as many entries as the largest number needs, and GPT-2's if that fits closely."""
    size = max(f.highest for f in found) + 1
    if 50_000 < size <= 50_257:
        size = 50_257
    _check_size(size)
    return Vocabulary(size, None, "the largest token")


def check(file: TokenFile, of: Vocabulary) -> None:
    """Raise UserError if ``file`` holds a number that the vocabulary does not have."""
    if file.highest < of.size:
        return
    raise UserError(
        "token_range",
        f"{file.name} holds the number {file.highest:,} and the vocabulary has {of.size:,} entries (0 to {of.size - 1:,}).",
        "The file belongs to another tokenizer, or vocab_size is wrong.",
    )


def _of_meta(meta) -> Vocabulary:
    """The vocabulary in nanoGPT's form: vocab_size, and itos or stoi. Raises ValueError with the end of a sentence."""
    if not isinstance(meta, dict):
        raise ValueError("it is not a dict")
    size = meta.get("vocab_size")
    by_number = meta.get("itos")
    if isinstance(by_number, (list, tuple)):
        by_number = dict(enumerate(by_number))
    elif not isinstance(by_number, dict) and isinstance(meta.get("stoi"), dict):
        by_number = {number: piece for piece, number in meta["stoi"].items() if _is_number(number)}
    if size is None and isinstance(by_number, dict) and by_number:
        size = max((n for n in by_number if _is_number(n)), default=-1) + 1
    if not _is_number(size) or not 1 < size <= MAX_VOCABULARY:
        raise ValueError(f"it has no vocab_size from 2 to {MAX_VOCABULARY:,}")
    pieces = _pieces(by_number, size) if isinstance(by_number, dict) else None
    return Vocabulary(size, pieces, "meta.pkl")


def _pieces(by_number: dict, size: int) -> tuple[str, ...] | None:
    """The text of each token; None unless every one has a text."""
    found = tuple(by_number.get(number) for number in range(size))
    return found if all(isinstance(piece, str) for piece in found) else None


def _is_number(value) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _check_size(size: int) -> None:
    if size > MAX_VOCABULARY:
        raise UserError(
            "token_range",
            f"The files hold the number {size - 1:,}, and a vocabulary of up to {MAX_VOCABULARY:,} entries is supported.",
            "Check that the files hold tokens, and that all numbers have the same width (16 or 32 bits).",
        )


def _is_long(halves: numpy.ndarray) -> bool:
    high = _highest(halves[1::2])
    return high == 0 or (high < MAX_VOCABULARY >> 16 and _highest(halves[0::2]) > 1000)


def _highest(values: numpy.ndarray) -> int:
    return max((int(values[i : i + _CHUNK].max()) for i in range(0, len(values), _CHUNK)), default=0)


def _length(path: Path, name: str) -> int:
    """The bytes of a regular file. Raises UserError for anything else."""
    there = os.stat(path)
    if not stat.S_ISREG(there.st_mode):
        raise _not_tokens(name, "It is not a regular file.")
    return there.st_size


def _not_tokens(name: str, why: str) -> UserError:
    return UserError(
        "not_tokens", f"{name} is not a file of tokens.", "Give bare numbers of 16 or 32 bits, as nanoGPT's prepare.py writes them.", why
    )
