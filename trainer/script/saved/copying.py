"""Copying files of a script into a folder of ours and back, so that the copy is of one moment."""

import contextlib
import fcntl
import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from trainer.script import foreign
from trainer.script.foreign import Seen
from trainer.script.saved import whole_files

_CLONE = 0x40049409  # FICLONE: the copy shares its blocks with the original (Btrfs, XFS), at once and without more space
_PIECE = 1 << 20


class Changed(Exception):
    """The file was written to while it was copied."""


@dataclass(frozen=True)
class Copied:
    """What a copy holds, and what its original was. ``verdict`` says whether the copy is whole by its format."""

    sha256: str
    seen: Seen
    verdict: str


def copy(root: Path, path: str, target_root: Path, target: str, linked: bool = False) -> Copied:
    """Copy the regular file ``path`` below ``root`` to ``target`` below ``target_root``, which may not exist yet. Both are resolved
    without following links. ``linked`` allows an original with several names. Raises Changed, OSError, or ValueError for what is no
    regular file."""
    with foreign.opened(root, path, linked) as (source, before), foreign.parent_of(target_root, target, create=True) as (folder, name):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name, dir_fd=folder)
        made = os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o664, dir_fd=folder)
        try:
            digest = _transfer(source, made, before.size)
            if Seen.of(os.fstat(source)) != before or os.fstat(made).st_size != before.size:
                raise Changed(path)
            verdict = whole_files.judge(made, name, before.size)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(name, dir_fd=folder)
            raise
        finally:
            os.close(made)
    return Copied(digest, before, verdict)


def _transfer(source: int, made: int, size: int) -> str:
    """Copy ``size`` bytes at most, and give their sha256."""
    digest = hashlib.sha256()
    try:
        fcntl.ioctl(made, _CLONE, source)
        os.ftruncate(made, min(os.fstat(made).st_size, size))
        cloned = True
    except OSError:
        cloned = False
    at = 0
    while at < size:
        data = os.pread(made if cloned else source, min(_PIECE, size - at), at)
        if not data:
            break
        digest.update(data)
        at += len(data)
        while data and not cloned:
            data = data[os.write(made, data) :]
    return digest.hexdigest()


def finish(root: Path, path: str, mode: int, mtime_ns: int) -> None:
    """Give a file below ``root`` the permissions and the time of its original: scripts look for the newest checkpoint by its time."""
    with foreign.opened(root, path) as (handle, _):
        os.fchmod(handle, (mode & 0o777) | 0o660)
        os.utime(handle, ns=(mtime_ns, mtime_ns))


def link(root: Path, path: str, target_root: Path, target: str) -> None:
    """Make ``target`` a second name of the file ``path``. Both are in folders of ours. Raises OSError where the volume has no hard links."""
    (target_root / target).parent.mkdir(parents=True, exist_ok=True)
    os.link(root / path, target_root / target, follow_symlinks=False)
