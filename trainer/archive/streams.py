"""Decompresses single files (gzip, bzip2, xz, Zstandard) from untrusted sources, in pieces and within the budget of the run."""

import bz2
import contextlib
import gzip
import lzma
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from trainer.archive.budget import Budget
from trainer.core.input import Input
from trainer.errors import UserError, is_full

CODE = "compressed"  # of all errors here
MARKS = {"gz": b"\x1f\x8b", "bz2": b"BZh", "xz": b"\xfd7zXZ\x00", "zst": b"\x28\xb5\x2f\xfd"}  # the first bytes, by file extension
NAMES = {"gz": "gzip", "bz2": "bzip2", "xz": "xz", "zst": "Zstandard"}
_XZ_BYTES = 128 << 20  # of memory: twice what xz -9 needs; a file may ask for gigabytes
_PIECE = 1 << 20


class NotCompressed(Exception):
    """The file is not compressed as its name says. The message is the end of a sentence that starts with "it"."""


def unpack(source: Input, codec: str, target: Path, budget: Budget) -> int:
    """Write the decompressed ``source`` to ``target``, whose folder must exist, and return its size in bytes.

    ``codec`` is a key of MARKS. Raises NotCompressed for a file that does not start with its mark, and UserError for one that is damaged,
    incomplete, or too large for what is left of the ``budget``.
    """
    size, packed = 0, source.file.stat().st_size
    share = budget.begin(source.name, packed, CODE)
    share.list(1)
    try:
        with open(source.file, "rb") as raw, open(target, "xb") as out:
            if not raw.read(len(MARKS[codec])).startswith(MARKS[codec]):
                raise NotCompressed(f"is not compressed with {NAMES[codec]}, as its name says")
            raw.seek(0)
            for piece in _OPENERS[codec](raw):
                share.take(len(piece), target.parent)
                out.write(piece)
                size += len(piece)
    except (EOFError, zlib.error, lzma.LZMAError, ValueError) as e:
        raise _damaged(source) from e
    except OSError as e:
        if is_full(e):
            raise share.full(f"{e.strerror}.") from e
        if e.errno is None:  # these libraries raise it without a number for damaged data
            raise _damaged(source) from e
        raise
    return size


def _gzip(raw: BinaryIO) -> Iterator[bytes]:
    with gzip.GzipFile(fileobj=raw) as file:
        yield from iter(lambda: file.read(_PIECE), b"")


def _bzip2(raw: BinaryIO) -> Iterator[bytes]:
    with bz2.BZ2File(raw) as file:
        yield from iter(lambda: file.read(_PIECE), b"")


def _xz(raw: BinaryIO) -> Iterator[bytes]:
    """The pieces of all streams in the file. LZMAFile has no limit for the memory that a file asks for."""
    data = raw.read(_PIECE)
    while data.strip(b"\0"):  # zeros may follow a stream
        stream = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_BYTES)
        while not stream.eof:
            if stream.needs_input and not data and not (data := raw.read(_PIECE)):
                raise EOFError
            yield stream.decompress(data, _PIECE)
            data = b""
        data = stream.unused_data.lstrip(b"\0") or raw.read(_PIECE)


def _zstandard(raw: BinaryIO) -> Iterator[bytes]:
    import pyarrow  # heavy, so only where there is such a file

    with contextlib.closing(pyarrow.CompressedInputStream(raw, "zstd")) as file:
        yield from iter(lambda: file.read(_PIECE), b"")


_OPENERS: dict[str, Callable[[BinaryIO], Iterator[bytes]]] = {"gz": _gzip, "bz2": _bzip2, "xz": _xz, "zst": _zstandard}


def _damaged(source: Input) -> UserError:
    return UserError(
        CODE,
        f"The compressed file {source.name} is damaged or incomplete.",
        "Upload it again, or add the file without compression, then submit again.",
    )
