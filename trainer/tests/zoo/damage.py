"""The data sets of the zoo with damaged files: whatever the bytes are, a data set is read or refused, and no reader crashes."""

import contextlib
import io
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from trainer.tests.zoo import reading
from trainer.tests.zoo.row import Reads, Row

_HEAD = 512  # bytes at the beginning of a file that most damages are in: there are the numbers that a format is read by
_LOOK_FAILED = "could not be looked at"  # printed where a kind is left out because its claim crashed


def _bits(data: bytearray, at: int, chance: random.Random) -> bytearray:
    for _ in range(chance.choice((1, 2, 8))):
        place = min(len(data) - 1, at + chance.randrange(16))
        data[place] = chance.choice((0, 0xFF, 0x7F, 0x80, chance.randrange(256), data[place] ^ 1 << chance.randrange(8)))
    return data


def _cut(data: bytearray, at: int, _: random.Random) -> bytearray:
    return data[:at]


def _without(data: bytearray, at: int, chance: random.Random) -> bytearray:
    return data[:at] + data[at + chance.randrange(1, 40) :]


def _twice(data: bytearray, at: int, chance: random.Random) -> bytearray:
    end = at + chance.randrange(1, 200)
    return data[:end] + data[at:]


def _noise(data: bytearray, at: int, chance: random.Random) -> bytearray:
    return data[:at] + chance.randbytes(chance.randrange(1, 40)) + data[at:]


_DAMAGES: tuple[Callable[[bytearray, int, random.Random], bytearray], ...] = (_bits, _bits, _bits, _cut, _without, _twice, _noise)


def damaged(row: Row, seed: int) -> Row:
    """``row`` with damage in one to three of its files, the same for the same seed."""

    def make(folder: Path) -> None:
        row.make(folder)
        chance = random.Random(f"{row.name} {seed}")
        files = sorted(f for f in folder.rglob("*") if f.is_file() and f.stat().st_size)
        for file in chance.sample(files, min(len(files), chance.choice((1, 1, 3)))):
            data = bytearray(file.read_bytes())
            at = chance.randrange(min(len(data), _HEAD) if chance.random() < 0.7 else len(data))
            file.write_bytes(chance.choice(_DAMAGES)(data, at, chance))

    return replace(row, make=make, outcome=Reads(encoder={}))


def crash(row: Row, seed: int, folder: Path) -> str:
    """What crashed when ``row`` was read with damaged files; empty where it was read or refused."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        outcome = reading.read(damaged(row, seed), folder)
    return printed.getvalue() if outcome.crash or _LOOK_FAILED in printed.getvalue() else ""
