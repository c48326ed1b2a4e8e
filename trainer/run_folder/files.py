"""Reading, writing, syncing and hashing files.

Writes are not atomic here: files that others read are published by the lease. Files that others may have written are read up to a limit.
"""

import hashlib
import json
import os
import stat
from collections.abc import Iterable
from pathlib import Path

SHARED, SHARED_FOLDER = 0o664, 0o775
JSON_BYTES = 64 << 20  # limit for a document; in memory it may become twenty times as large


def read_bytes(path: Path, limit: int) -> bytes:
    """The content of a regular file. Raises ValueError for other kinds of files and for more than ``limit`` bytes; never blocks on a pipe."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(handle, "rb") as file:
        there = os.fstat(handle)
        if not stat.S_ISREG(there.st_mode):
            raise ValueError(f"{path.name} is not a regular file")
        content = file.read(min(there.st_size, limit) + 1)  # this much memory is allocated before a byte is read
    if len(content) > limit:
        raise ValueError(f"{path.name} is larger than {limit} bytes")
    return content


def read_json(path: Path, limit: int = JSON_BYTES):
    """The value in a JSON file. Raises OSError, or ValueError if it is not JSON or too large."""
    try:
        return json.loads(read_bytes(path, limit))
    except RecursionError as e:
        raise ValueError(f"{path.name} is nested too deeply") from e


def share() -> None:
    """Allow the group of the volume to read, change and delete the files of this process: the service may run as another user."""
    os.umask(0o002)


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file into an existing folder. Creating the folder here could bring back the folder of a start that lost its lease."""
    path.write_bytes(data)


def write_text(path: Path, text: str) -> None:
    write_bytes(path, text.encode("utf-8"))


def write_parts(path: Path, parts: Iterable[str]) -> None:
    """Write a text that comes in parts."""
    with open(path, "wb") as file:
        for part in parts:
            file.write(part.encode("utf-8"))


def write_json(path: Path, value) -> None:
    """Write ``value`` as JSON. Raises ValueError for NaN and infinity, which are not valid JSON."""
    write_text(path, as_json(value))


def as_json(value) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def settle(path: Path) -> None:
    """Sync a file, or a folder with its content, to disk, and open it to the group: some libraries write files for the user only."""
    inside = sorted(path.rglob("*"), reverse=True) if path.is_dir() else []
    for entry in [*inside, path]:
        if entry.is_dir():
            _share(entry, SHARED_FOLDER)
            sync_folder(entry)
            continue
        _share(entry, SHARED)
        with open(entry, "rb") as f:
            os.fsync(f.fileno())


def _share(path: Path, mode: int) -> None:
    """Add missing permissions of ``mode``. Only the owner can do that, and a worker may run as another user than the driver."""
    there = stat.S_IMODE(path.stat().st_mode)
    if there & mode != mode and path.stat().st_uid == os.geteuid():
        path.chmod(there | mode)


def sync_folder(folder: Path) -> None:
    """Make creations, renames and removals in ``folder`` durable."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError:
        pass  # some network file systems cannot sync a folder; there a change is durable once the server has answered
    finally:
        os.close(handle)


def sha256(path: Path) -> str:
    with open(path, "rb") as f:
        return hashlib.file_digest(f, "sha256").hexdigest()


def artifacts(root: Path, folder: Path) -> list[dict]:
    """Path (relative to ``root``, with slashes), size and sha256 of every file below ``folder``, in order of path."""
    files = sorted(p for p in folder.rglob("*") if p.is_file())
    return [{"path": p.relative_to(root).as_posix(), "size": p.stat().st_size, "sha256": sha256(p)} for p in files]
