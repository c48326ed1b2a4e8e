"""Writing, syncing and hashing files. What others may read is made aside and published by the lease, so nothing here need be atomic."""

import hashlib
import json
import os
from pathlib import Path

SHARED = 0o664  # of files


def share() -> None:
    """Let the group of the volume read, change and delete what this process makes: the service may run as another user of it."""
    os.umask(0o002)


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file into a folder that is there: to make it would bring back the one of a start that was overtaken."""
    path.write_bytes(data)


def write_text(path: Path, text: str) -> None:
    write_bytes(path, text.encode("utf-8"))


def write_json(path: Path, value) -> None:
    """Write ``value`` as JSON; NaN and infinity, which no JSON reader accepts, raise ValueError."""
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def settle(path: Path) -> None:
    """Bring a file, or a folder with all that is in it, onto the disk, open to the group: some libraries write for the user alone."""
    inside = sorted(path.rglob("*"), reverse=True) if path.is_dir() else []
    for entry in [*inside, path]:
        if entry.is_dir():
            sync_folder(entry)
            continue
        with open(entry, "rb") as f:
            os.fchmod(f.fileno(), SHARED)
            os.fsync(f.fileno())


def sync_folder(folder: Path) -> None:
    """Make what was made, renamed or removed in ``folder`` durable."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError:
        pass  # some network file systems cannot sync a folder; what they were told is durable when the server answered
    finally:
        os.close(handle)


def sha256(path: Path) -> str:
    with open(path, "rb") as f:
        return hashlib.file_digest(f, "sha256").hexdigest()


def artifacts(root: Path, folder: Path) -> list[dict]:
    """Path (relative to ``root``, with slashes), size and sha256 of every file below ``folder``, in order of path."""
    files = sorted(p for p in folder.rglob("*") if p.is_file())
    return [{"path": p.relative_to(root).as_posix(), "size": p.stat().st_size, "sha256": sha256(p)} for p in files]
