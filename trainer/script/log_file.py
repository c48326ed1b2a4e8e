"""log.txt of a script: a file that is appended to and never grows over a limit, because its middle is left out.

The first part of what a script prints says what it began with, the last part how it ended. The file is shortened in place: the driver
appends to the same file, and a reader that follows it finds the newest lines at its end at any moment.
"""

import os
import re
import stat
from pathlib import Path

from trainer.run_folder.lease import Lease

FIRST_BYTES = 1 << 20
_LEAST = 4096  # of a limit: the remark about the left out part must fit
_REMARK = b"[... %15d bytes of the output are left out here ...]\n"
_REMARKED = re.compile(rb"\[\.\.\. +(\d+) bytes of the output are left out here \.\.\.\]\n")
_PIECE = 1 << 20


class LogFile:
    """Appends to ``path`` and keeps the file below ``limit`` bytes (0: no limit): its first MiB (an eighth of a smaller limit) and
    between a half and all of the rest.

    ``dropped`` counts the bytes that are no longer in the file. A full disk raises nothing: what could not be written is dropped. A start
    that has lost its ``lease`` appends nothing more than the line it is at, and never shortens the file.
    """

    def __init__(self, path: Path, limit: int, lease: Lease | None = None):
        self.limit = max(limit, _LEAST) if limit else 0
        self.first = min(FIRST_BYTES, self.limit // 8)
        self.lease = lease
        self.dropped = 0
        self._append = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW, 0o664)
        self._rewrite = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
        if not stat.S_ISREG(os.fstat(self._append).st_mode):
            self.close()
            raise ValueError(f"{path.name} is not a regular file")
        self._size = os.fstat(self._append).st_size

    def write(self, data: bytes) -> None:
        """Append ``data``. It may be longer than the limit."""
        most = min(_PIECE, (self.limit - self.first) // 4) if self.limit else _PIECE
        for at in range(0, len(data), most):
            piece = data[at : at + most]
            if self.limit and self._size + len(piece) > self.limit:
                self._shorten()
            self._write(piece)

    def close(self) -> None:
        os.close(self._append)
        os.close(self._rewrite)

    def _write(self, data: bytes) -> None:
        try:
            while data:
                written = os.write(self._append, data)
                self._size += written
                data = data[written:]
        except OSError:  # the disk is full, or the file server is gone: the script goes on, and the driver finds out by itself
            self.dropped += len(data)

    def _shorten(self) -> None:
        """Leave out the middle of the file. Until the last step of this, the newest part is in the file, so a kill loses nothing of it."""
        if self.lease is not None and not self.lease.held():
            return
        try:
            size = os.fstat(self._rewrite).st_size
            begin, known = self._beginning()
            kept = max(begin, size - (self.limit - self.first) // 2)
            line = os.pread(self._rewrite, min(_PIECE, self.limit // 8), kept).find(b"\n")
            kept += line + 1
            earlier = int(known[1]) if known else 0
            left_out = kept - begin - (len(known[0]) if known else 0)
            remark = _REMARK % (earlier + max(0, left_out))
            end = begin + _pwrite(self._rewrite, remark, begin)
            while kept < size:
                piece = os.pread(self._rewrite, min(_PIECE, size - kept), kept)
                end += _pwrite(self._rewrite, piece, end)
                kept += len(piece)
                size = os.fstat(self._rewrite).st_size  # the driver may have appended a line
            os.ftruncate(self._rewrite, end)
        except OSError:
            return
        self.dropped += max(0, left_out)
        self._size = end

    def _beginning(self) -> tuple[int, re.Match | None]:
        """Where the kept first part ends, and the remark that an earlier call wrote there."""
        first = os.pread(self._rewrite, self.first + len(_REMARK) + 32, 0)
        if known := _REMARKED.search(first):
            return known.start(), known
        return first[: self.first].rfind(b"\n") + 1 or self.first, None


def _pwrite(handle: int, data: bytes, at: int) -> int:
    written = 0
    while written < len(data):
        written += os.pwrite(handle, data[written:], at + written)
    return written
