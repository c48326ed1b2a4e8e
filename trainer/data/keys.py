"""Keys that are equal for duplicate examples."""

import binascii
import hashlib
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy

from trainer.core import by_blocks, mapped
from trainer.core.columnar import Columnar, Store
from trainer.core.example import Example

_HEX = 32  # digits of a key of a row in columns
_BLOCK = 1 << 16  # keys at once
_SHARES = 16  # in which digests are ordered, by their first bits
_LARGE = 1 << 20  # rows from which their digests are in a mapped file


class Sum(str):
    """A key that is a hash already."""


def texts(example: Example) -> str:
    """The key of a text, or of several: equal whatever their case and spaces."""
    content = example.content
    return words(content) if isinstance(content, str) else "\x1f".join(map(words, content))


def words(text: str) -> str:
    return " ".join(text.lower().split())


class Keys:
    """``keys(example)`` is equal for copies: the same words, the same cells, the same bytes of an image.

    ``key`` is that of the kind of data; rows in columns are a table's, whose first ``cells``
    are their key (None: all).
    ``known`` holds sha256 sums of files that are known already.
    Keys of very many rows are in a file on the volume of ``folder``.
    With ``by_row`` no two rows are copies: rows of a few categories are equal by chance. With ``by_time`` rows of different times are none.
    """

    def __init__(
        self,
        key: Callable[[Example], str] = texts,
        known: dict[Path, str] | None = None,
        by_row: bool = False,
        by_time: bool = False,
        cells: int | None = None,
        folder: Path | None = None,
    ):
        self._key_of, self._sums, self._by_row = key, known or {}, by_row
        self._by_time, self._cells, self._folder = by_time, cells, folder
        self._keys: dict[int, str] = {}  # by identity, which is much faster than by value
        self._held: list[Example] = []  # so that no identity is used again
        self._digests: dict[int, tuple[Store, numpy.ndarray, numpy.ndarray]] = {}

    def __call__(self, example: Example) -> str:
        key = self._keys.get(id(example))
        if key is None:
            key = self._keys[id(example)] = self._key(example)
            self._held.append(example)
        return key

    def texts(self, examples: Sequence[Example]) -> Iterator[str]:
        """The key of each example."""
        if not isinstance(examples, Columnar):
            return map(self, examples)
        blocks = (block.decode() for block in _hexes(self._of(examples)[0], examples.at))
        return (block[i : i + _HEX] for block in blocks for i in range(0, len(block), _HEX))

    def lines(self, examples: Sequence[Example], before: str) -> Iterator[bytes]:
        """A line with ``before`` and its key for each example, in the order of the keys; many of them together."""
        if not isinstance(examples, Columnar):
            keys = iter(sorted(map(self, examples)))
            while some := list(itertools.islice(keys, _BLOCK)):
                yield "".join(f"{before}{key}\n" for key in some).encode()
            return
        digests = self._of(examples)[0]
        start = numpy.frombuffer(before.encode(), numpy.uint8)
        ordered = (at[_order(digests[at])] for at in _shares(digests, examples.at))
        for block in itertools.chain.from_iterable(_hexes(digests, at) for at in ordered):
            made = numpy.empty((len(block) // _HEX, len(start) + _HEX + 1), numpy.uint8)
            made[:, : len(start)], made[:, -1] = start, ord("\n")
            made[:, len(start) : -1] = numpy.frombuffer(block, numpy.uint8).reshape(-1, _HEX)
            yield made.tobytes()

    def codes(self, *parts: Sequence[Example]) -> list[numpy.ndarray]:
        """A number for each example of each part, equal for equal keys and for no others."""
        first = next((p for p in parts if isinstance(p, Columnar)), None)
        if first is not None and all(not len(p) or (isinstance(p, Columnar) and p.store is first.store) for p in parts):
            return [by_blocks.chosen(self._of(p)[1], p.at) if isinstance(p, Columnar) else numpy.zeros(0, numpy.int64) for p in parts]
        known: dict[str, int] = {}
        return [numpy.fromiter((known.setdefault(k, len(known)) for k in self.texts(p)), numpy.int64, len(p)) for p in parts]

    def _of(self, examples: Columnar) -> tuple[numpy.ndarray, numpy.ndarray]:
        """The digests of all rows of the store (rows x 16 bytes), and a number for each that is equal for equal ones."""
        store = examples.store
        if id(store) not in self._digests:
            digests = self._digested(Columnar(store))
            self._digests[id(store)] = store, digests, mapped.kept(_codes(digests), self._folder)
            mapped.rest()
        return self._digests[id(store)][1:]

    def _digested(self, whole: Columnar) -> numpy.ndarray:
        ends: Iterator[bytes] = itertools.repeat(b"")
        store = whole.store
        if self._by_row:
            ends = (f"\0{file}\0{row}".encode("utf-8", "surrogatepass") for file, row in zip(store.files.texts(whole.at), store.rows.tolist()))
        if self._by_time:
            times = itertools.repeat(None, len(whole)) if store.whens is None else (None if w != w else w for w in store.whens.tolist())
            ends = (end + f"\0{when}".encode() for end, when in zip(ends, times))
        blocks = (
            numpy.frombuffer(b"".join([hashlib.blake2b(text + end, digest_size=_HEX // 2).digest() for text, end in zip(block, ends)]), numpy.uint8)
            for block in whole.joined(self._cells)
        )
        shape = len(whole), _HEX // 2
        if self._folder is not None and len(whole) >= _LARGE:
            return mapped.rows(blocks, shape, numpy.uint8, self._folder)
        found, at = numpy.empty(math.prod(shape), numpy.uint8), 0
        for block in blocks:
            found[at : at + len(block)] = block
            at += len(block)
        return found.reshape(shape)

    def _key(self, example: Example) -> str:
        if isinstance(example.content, Path) and (known := self._sums.get(example.content)):
            return known
        text = self._key_of(example)
        if isinstance(text, Sum):
            return text
        if self._by_row:
            text = f"{text}\0{example.file}\0{example.row}"
        if self._by_time:
            text = f"{text}\0{example.when}"
        return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _hexes(digests: numpy.ndarray, at: numpy.ndarray) -> Iterator[bytes]:
    """The digests at these places in hexadecimal digits, many of them together."""
    for start in range(0, len(at), _BLOCK):
        yield binascii.hexlify(digests[at[start : start + _BLOCK]].tobytes())


def _order(digests: numpy.ndarray) -> numpy.ndarray:
    """The order of digests (rows x 16 bytes) as texts have it."""
    words = numpy.ascontiguousarray(digests).view(">u8")
    order = numpy.argsort(words[:, 0].astype(numpy.uint64), kind="stable")
    new, equal = _changes(words, order)
    return order if new[equal].sum() == 0 else numpy.lexsort((words[:, 1], words[:, 0]))


def _changes(words: numpy.ndarray, order: numpy.ndarray) -> tuple[numpy.ndarray, numpy.ndarray]:
    """Which of the digests (rows x 2) in this order differ from the one before, and those of them whose first word does not."""
    new = numpy.ones(len(order), bool)
    for i in range(1, len(order), _BLOCK):
        new[i : i + _BLOCK] = words[order[i : i + _BLOCK], 0] != words[order[i - 1 : i - 1 + _BLOCK][: len(order) - i], 0]
    equal = numpy.flatnonzero(~new)
    new[equal] = words[order[equal], 1] != words[order[equal - 1], 1]
    return new, equal


def _shares(digests: numpy.ndarray, at: numpy.ndarray) -> Iterator[numpy.ndarray]:
    """The positions ``at`` in parts, those of the smallest digests first."""
    shares = numpy.empty(len(at), numpy.uint8)
    for start in range(0, len(at), _BLOCK):
        shares[start : start + _BLOCK] = digests[at[start : start + _BLOCK], 0] // (256 // _SHARES)
    for share in range(_SHARES):
        yield at[shares == share]


def _codes(digests: numpy.ndarray) -> numpy.ndarray:
    """A number for each digest, equal for equal ones and for no others: its rank among the different ones. Shares of the digests are ordered one
    after another, which takes less memory."""
    codes, known = numpy.empty(len(digests), by_blocks.positions(len(digests))), 0
    for places in _shares(digests, numpy.arange(len(digests), dtype=codes.dtype)):
        own = digests[places]
        order = _order(own)
        new, _ = _changes(own.view(">u8"), order)
        codes[places[order]] = numpy.cumsum(new, dtype=codes.dtype) + (known - 1)
        known += int(new.sum())
    return codes
