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
DIRECTORY_BYTES = 32 << 20  # limit for the list of files: each entry becomes an object of several hundred bytes
_PIECE = 1 << 20
_LOCAL_HEADER = 30  # bytes before each file, at least
_ENCRYPTED = 1
# zipfile unpacks only these methods in bounded pieces: with the others, a kilobyte may become gigabytes of memory at once.
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_DEFLATE64 = 9
_OTHER_METHODS = {12: "bzip2", 14: "LZMA", 93: "Zstandard", 95: "xz", 98: "PPMd", 99: "AES encryption"}  # by the numbers of the format
_UTF8_NAME = 0x800  # the flag for a name in UTF-8; without it the name is in a code page that the archive does not tell
CODE_PAGES = ("cp1252", "cp850", "gbk", "shift_jis")  # besides cp437, which zipfile takes
# What zipfile raises for files that are not archives, and for damaged archives.
_DAMAGED = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, ValueError, OverflowError, NotImplementedError, RuntimeError, IndexError)


class NotAnArchive(Exception):
    """The file is not a readable ZIP archive. The message is the end of a sentence that starts with "it"."""


@dataclass(frozen=True)
class Member:
    """A plain file in an archive: ``name`` always with slashes, ``size`` and ``packed`` in bytes as the archive claims them.

    ``aliases`` are the names that it has in other code pages, where the archive does not tell the one of its names.
    """

    name: str
    size: int
    info: zipfile.ZipInfo
    packed: int = 0
    aliases: tuple[str, ...] = ()


class Archive:
    """An open archive; a context manager. ``members`` are its plain files. ``refused`` counts the others: links, devices, names that
    point outside the archive, and absurd names. ``packed`` is the size in bytes of an archive inside another one, as it is packed there.

    Raises NotAnArchive for a file that is not an archive, and UserError with ``code`` for one that is too large, damaged, encrypted
    or inconsistent.
    """

    def __init__(self, source: Input, budget: Budget, code: str = "archive", packed: int | None = None):
        self.name, self._code = source.name, code
        with contextlib.ExitStack() as stack:
            self._file = stack.enter_context(BoundedReader(open(source.file, "rb", buffering=0)))  # noqa: SIM115 - closed by the stack
            size = self._file.seek(0, io.SEEK_END)
            self._share = budget.begin(source.name, size if packed is None else packed, code, inner=packed is not None)
            try:
                self._zip = stack.enter_context(zipfile.ZipFile(self._file))
            except LongList as e:
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
        for member, _ in wanted:
            self._check_method(member)
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
        self.members = [_member(i) for i in files if _is_plain(i)]
        self.refused = len(files) - len(self.members)

    def _write(self, member: Member, target: Path) -> int:
        size = 0
        try:
            with self._zip.open(member.info) as source, open(target, "xb") as out:
                while piece := source.read(_PIECE):
                    self._share.take(len(piece), target.parent)
                    out.write(piece)
                    size += len(piece)
        except _DAMAGED as e:
            why = "It is encrypted." if member.info.flag_bits & _ENCRYPTED else "It is damaged."
            raise self._error(f"The file {member.name} in the archive {self.name} cannot be read.", why) from e
        except OSError as e:
            if is_full(e):
                raise self._share.full(f"{e.strerror}.") from e
            raise
        return size

    def _check_method(self, member: Member) -> None:
        """Refuse a file that is packed in a way that cannot be unpacked in bounded pieces, with the name of that way."""
        method, encrypted = member.info.compress_type, member.info.flag_bits & _ENCRYPTED
        if method in _METHODS or (encrypted and method not in _OTHER_METHODS):
            return
        what = f"The file {member.name} in the archive {self.name} cannot be read."
        if method == _DEFLATE64:
            raise UserError(
                self._code,
                what,
                'Pack the files again with 7-Zip: right-click them, then choose 7-Zip and "Add to … .zip". Windows itself uses Deflate64 again.',
                "It is packed with Deflate64, which Windows Explorer uses for files above 2 GB.",
            )
        named = f"with {_OTHER_METHODS[method]}" if method in _OTHER_METHODS else f"with the method {method}"
        raise self._error(what, f"It is packed {named}, but only Deflate and files without compression are read.")

    def _misleading(self, why: str) -> UserError:
        return self._error(f"The archive {self.name} was not unpacked.", why)

    def _error(self, what: str, why: str) -> UserError:
        return UserError(self._code, what, "Create the archive again as a plain ZIP without a password.", why)


class LongList(Exception):
    """The list of files of an archive would fill the memory."""


class BoundedReader(io.BufferedReader):
    """A file that is read only in bounded pieces: zipfile reads the whole list of files at once, however long the archive claims it is.

    ``most`` are the bytes of one piece. Raises LongList for a longer one.
    """

    def __init__(self, raw: io.RawIOBase, most: int = DIRECTORY_BYTES):
        super().__init__(raw)
        self._most = most

    def read(self, size: int | None = -1) -> bytes:
        if size is not None and size > self._most:
            raise LongList
        return super().read(size if size is not None and size >= 0 else _PIECE)  # the rest of the file: at most 64 KiB


def _is_plain(info: zipfile.ZipInfo) -> bool:
    """Whether a member is a regular file with a plausible name that stays inside the archive."""
    name = _name(info).replace("\\", "/")
    kind = stat.S_IFMT(info.external_attr >> 16)  # 0 if the archive was made on a system without file types
    parts = name.split("/")
    leads_out = name.startswith("/") or ".." in parts or re.match(r"[A-Za-z]:", name) is not None
    strange = len(name) > MAX_NAME or len(parts) > MAX_DEPTH or re.search(r"[\x00-\x1f\x7f]", name) is not None or not _slashed(name)
    return kind in (0, stat.S_IFREG) and not leads_out and not strange


def _member(info: zipfile.ZipInfo) -> Member:
    return Member(_slashed(_name(info)), info.file_size, info, info.compress_size, _aliases(info))


def _raw(info: zipfile.ZipInfo) -> bytes:
    """The bytes of a name whose code page the archive does not tell; none where it tells it, and none of plain ASCII."""
    if info.flag_bits & _UTF8_NAME or info.orig_filename.isascii():
        return b""
    try:
        return info.orig_filename.encode("cp437")
    except UnicodeEncodeError:
        return b""


def _name(info: zipfile.ZipInfo) -> str:
    """The name of a file. One without the flag for UTF-8 is UTF-8 where its bytes are: no other text is by chance."""
    try:
        return _raw(info).decode("utf-8") or info.orig_filename
    except UnicodeDecodeError:
        return info.orig_filename


def _aliases(info: zipfile.ZipInfo) -> tuple[str, ...]:
    raw, names = _raw(info), {}
    if not raw or _name(info) != info.orig_filename:
        return ()
    for page in CODE_PAGES:
        try:
            names[_slashed(raw.decode(page))] = page
        except UnicodeDecodeError:
            continue
    return tuple(n for n in names if n and len(n) <= MAX_NAME)


def _slashed(filename: str) -> str:
    return "/".join(p for p in filename.replace("\\", "/").split("/") if p not in ("", "."))
