"""Reading ZIP archives from untrusted sources: which members are plain files, and how they are written to disk.

Files are read in pieces, so that neither the archive nor a member is ever held in memory as a whole.
"""

import contextlib
import io
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from trainer.archive.budget import Budget
from trainer.core.input import Input
from trainer.errors import UserError, is_full

MAX_NAME = 1000  # characters
MAX_DEPTH = 50  # folders
_DIRECTORY_BYTES = 32 << 20  # limit for the list of files: each entry becomes an object of several hundred bytes
_PIECE = 1 << 20
_LOCAL_HEADER = 30  # bytes before each file, at least
_ENCRYPTED = 1
# zipfile unpacks only these methods in bounded pieces: with the others, a kilobyte may become gigabytes of memory at once.
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
# What zipfile raises for files that are not archives, and for damaged archives.
_DAMAGED = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, ValueError, OverflowError, NotImplementedError, RuntimeError, IndexError)


class NotAnArchive(Exception):
    """The file is not a readable ZIP archive. The message is the end of a sentence that starts with "it"."""


@dataclass(frozen=True)
class Member:
    """A plain file in an archive: ``name`` always with slashes, ``size`` as the archive claims it."""

    name: str
    size: int
    info: zipfile.ZipInfo


class Archive:
    """An open archive; a context manager. ``members`` are its plain files. ``refused`` counts the others: links, devices, names that
    point outside the archive, and absurd names.

    Raises NotAnArchive for a file that is not an archive, and UserError with ``code`` for one that is too large, damaged, encrypted
    or inconsistent.
    """

    def __init__(self, source: Input, budget: Budget, code: str = "archive"):
        self.name, self._code = source.name, code
        with contextlib.ExitStack() as stack:
            self._file = stack.enter_context(_BoundedReader(open(source.file, "rb", buffering=0)))  # noqa: SIM115 - closed by the stack
            packed = self._file.seek(0, io.SEEK_END)
            self._share = budget.begin(source.name, packed, code)
            try:
                self._zip = stack.enter_context(zipfile.ZipFile(self._file))
            except _LongList as e:
                raise self._misleading("Its list of files is too long to read.") from e
            except _DAMAGED as e:
                raise NotAnArchive("is not a readable ZIP archive") from e
            self._look(self._zip.infolist())
            self._stack = stack.pop_all()

    def __enter__(self) -> "Archive":
        return self

    def __exit__(self, *_) -> None:
        self._stack.close()

    def unpack(self, wanted: Iterable[tuple[Member, Path]]) -> list[int]:
        """Write each member to its path, whose folder must exist, and return the sizes."""
        wanted = list(wanted)
        names = [member.name for member, _ in wanted]
        if twice := next((n for n, after in zip(sorted(names), sorted(names)[1:]) if n == after), None):
            raise self._misleading(f"It has two files named {twice}, so it is unclear which one counts.")
        if wanted:
            self._share.expect(sum(member.size for member, _ in wanted), wanted[0][1].parent)
        return [self._write(member, target) for member, target in wanted]

    def _look(self, infos: list[zipfile.ZipInfo]) -> None:
        self._share.list(len(infos))
        end = self._zip.start_dir
        for info in sorted(infos, key=lambda i: i.header_offset, reverse=True):
            if info.header_offset < 0 or info.header_offset + _LOCAL_HEADER + info.compress_size > end:
                raise self._misleading("Files in it overlap, or it is damaged.")
            end = info.header_offset
        files = [i for i in infos if not i.filename.endswith("/")]
        self.members = [Member(_slashed(i.filename), i.file_size, i) for i in files if _is_plain(i)]
        self.refused = len(files) - len(self.members)

    def _write(self, member: Member, target: Path) -> int:
        size = 0
        try:
            if member.info.compress_type not in _METHODS:
                raise NotImplementedError
            with self._zip.open(member.info) as source, open(target, "xb") as out:
                while piece := source.read(_PIECE):
                    self._share.take(len(piece), target.parent)
                    out.write(piece)
                    size += len(piece)
        except _DAMAGED as e:
            why = "It is encrypted." if member.info.flag_bits & _ENCRYPTED else "It is damaged or uses an unsupported compression method."
            raise self._error(f"The file {member.name} in the archive {self.name} cannot be read.", why) from e
        except OSError as e:
            if is_full(e):
                raise self._share.full(f"{e.strerror}.") from e
            raise
        return size

    def _misleading(self, why: str) -> UserError:
        return self._error(f"The archive {self.name} was not unpacked.", why)

    def _error(self, what: str, why: str) -> UserError:
        return UserError(self._code, what, "Create the archive again as a plain ZIP without a password.", why)


class _LongList(Exception):
    """The list of files of an archive would fill the memory."""


class _BoundedReader(io.BufferedReader):
    """A file that is read only in bounded pieces: zipfile reads the whole list of files at once, however long the archive claims it is."""

    def read(self, size: int | None = -1) -> bytes:
        if size is not None and size > _DIRECTORY_BYTES:
            raise _LongList
        return super().read(size if size is not None and size >= 0 else _PIECE)  # the rest of the file: at most 64 KiB


def _is_plain(info: zipfile.ZipInfo) -> bool:
    """Whether a member is a regular file with a plausible name that stays inside the archive."""
    name = info.orig_filename.replace("\\", "/")
    kind = stat.S_IFMT(info.external_attr >> 16)  # 0 if the archive was made on a system without file types
    parts = name.split("/")
    leads_out = name.startswith("/") or ".." in parts or re.match(r"[A-Za-z]:", name) is not None
    strange = len(name) > MAX_NAME or len(parts) > MAX_DEPTH or re.search(r"[\x00-\x1f\x7f]", name) is not None or not _slashed(name)
    return kind in (0, stat.S_IFREG) and not leads_out and not strange


def _slashed(filename: str) -> str:
    return "/".join(p for p in filename.replace("\\", "/").split("/") if p not in ("", "."))
