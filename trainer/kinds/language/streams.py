"""Long streams of tokens, in memory or in files, and the windows of them that a model reads."""

import bisect
from dataclasses import dataclass
from pathlib import Path

import numpy

from trainer.core.plan import IGNORED

_CHUNK = 4_000_000  # tokens whose bytes are added up at once


@dataclass(frozen=True)
class FilePart:
    """The tokens from number ``begin`` to ``end`` of a file of bare numbers. They are mapped where they are needed: a plan carries none."""

    path: Path
    dtype: str
    begin: int
    end: int

    def __len__(self) -> int:
        return self.end - self.begin

    def __getitem__(self, places: slice) -> numpy.ndarray:
        mapped = numpy.memmap(self.path, self.dtype, mode="r")
        return mapped[self.begin + places.start : min(self.end, self.begin + places.stop)]


class Stream:
    """Parts of a stream, one after the other: arrays or parts of files."""

    def __init__(self, parts: list):
        self.parts = [p for p in parts if len(p)]
        self.offsets = numpy.concatenate([[0], numpy.cumsum([len(p) for p in self.parts])]).astype(numpy.int64)

    def __len__(self) -> int:
        return int(self.offsets[-1])

    def read(self, begin: int, end: int) -> numpy.ndarray:
        """The tokens from ``begin`` up to ``end``."""
        found, number = [], bisect.bisect_right(self.offsets, begin) - 1
        while begin < end:
            stop = min(end, int(self.offsets[number + 1]))
            first = int(self.offsets[number])
            found.append(numpy.asarray(self.parts[number][begin - first : stop - first]))
            begin, number = stop, number + 1
        return found[0] if len(found) == 1 else numpy.concatenate(found or [numpy.zeros(0, numpy.int64)])


@dataclass(frozen=True)
class Windows:
    """Windows of a stream as rows: each from ``begin`` up to ``end``, of which the tokens from ``learnt`` on are predicted.

    In training, where ``moves`` is set, each window is moved by up to half its length, so that a token is not at the same place of
    its window in every epoch. The distance is drawn from the random numbers of the step.
    """

    stream: Stream
    begin: numpy.ndarray
    learnt: numpy.ndarray
    end: numpy.ndarray
    pad_id: int
    moves: bool = False

    @property
    def lengths(self) -> numpy.ndarray:
        return self.end - self.begin

    def batch(self, rows: numpy.ndarray, augment: numpy.random.Generator | None = None) -> dict[str, numpy.ndarray]:
        """The inputs of a causal model, and ``labels``: the token that is learnt at each place, or IGNORED."""
        begin, lengths = self.begin[rows], self.lengths[rows]
        if self.moves and augment is not None:
            half = lengths // 2
            begin = numpy.clip(begin + augment.integers(-half, half + 1), 0, len(self.stream) - lengths)
        ids = numpy.full((len(rows), int(lengths.max())), self.pad_id, numpy.int64)
        for row, (first, length) in enumerate(zip(begin.tolist(), lengths.tolist(), strict=True)):
            ids[row, :length] = self.stream.read(first, first + length)
        places = numpy.arange(ids.shape[1])
        there = places < lengths[:, None]
        labels = numpy.where(there & (places >= (self.learnt - self.begin)[rows][:, None]), ids, IGNORED)
        inputs = {"input_ids": ids, "labels": labels}
        # Without a mask the library takes the faster way for a causal model.
        return inputs if there.all() else {**inputs, "attention_mask": there.astype(numpy.int64)}


def blocks(stream: Stream, length: int, pad_id: int) -> Windows:
    """Windows of ``length`` tokens to train on. Each shares one token with the window before: its first token is not predicted."""
    step = length - 1
    count = max(1, (len(stream) - 1) // step)
    begin = numpy.arange(count, dtype=numpy.int64) * step
    return Windows(stream, begin, begin + 1, numpy.minimum(begin + length, len(stream)), pad_id, moves=True)


def pieces(begin: int, end: int, first: int, length: int) -> list[tuple[int, int, int]]:
    """Windows that predict every token from ``begin`` up to ``end``, each after at least half a ``length`` of what comes before it.

    Nothing before ``first`` is read, so the token there is not predicted. At least one window, be it without a predicted token.
    """
    place, found = max(begin, first + 1), []
    while place < end:
        stop = min(end, place + max(1, length // 2))
        found.append((max(first, stop - length), place, stop))
        place = stop
    return found or [(begin, end, end)]


def sizes(windows: Windows, byte_lengths: numpy.ndarray | None) -> numpy.ndarray:
    """Of each window in ascending order: how many tokens it predicts, and the bytes that they stand for (0 where that is not known)."""
    found = numpy.zeros((len(windows.begin), 2), numpy.int64)
    found[:, 0] = windows.end - windows.learnt
    start = 0
    while byte_lengths is not None and start < len(found):
        first = int(windows.learnt[start])
        stop = max(start + 1, int(numpy.searchsorted(windows.end, first + _CHUNK)))
        last = int(windows.end[stop - 1])
        total = numpy.concatenate([[0], numpy.cumsum(byte_lengths[windows.stream.read(first, last)])])
        found[start:stop, 1] = total[windows.end[start:stop] - first] - total[windows.learnt[start:stop] - first]
        start = stop
    return found
