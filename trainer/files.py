"""Writing files so that a reader on the shared volume sees either nothing or all of them."""

import hashlib
import json
import os
import shutil
from pathlib import Path


def write_bytes(path: Path, data: bytes) -> None:
    """Write ``data`` to ``path``. After it returns the bytes are on disk; killed before, an older file is untouched."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with open(temporary, "wb") as f:
            f.write(data)
            f.flush()
            os.fsync(f.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
    sync_folder(path.parent)


def write_text(path: Path, text: str) -> None:
    write_bytes(path, text.encode("utf-8"))


def write_json(path: Path, value) -> None:
    """Write ``value`` as JSON; NaN and infinity, which no JSON reader accepts, raise ValueError."""
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def publish_folder(temporary: Path, final: Path) -> None:
    """Make the finished folder ``temporary`` appear as ``final``, replacing an older one of that name."""
    for file in temporary.rglob("*"):
        if file.is_file():
            with open(file, "rb") as f:
                os.fsync(f.fileno())
    if final.exists():
        shutil.rmtree(final)
    os.replace(temporary, final)
    sync_folder(final.parent)


def sync_folder(folder: Path) -> None:
    """Make a rename in ``folder`` durable."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError:
        pass  # some network file systems cannot sync a folder; their rename is durable when the server answered
    finally:
        os.close(handle)


def sha256(path: Path) -> str:
    with open(path, "rb") as f:
        return hashlib.file_digest(f, "sha256").hexdigest()


def artifacts(root: Path, folder: Path) -> list[dict]:
    """Path (relative to ``root``, with slashes), size and sha256 of every file below ``folder``, in order of path."""
    files = sorted(p for p in folder.rglob("*") if p.is_file())
    return [{"path": p.relative_to(root).as_posix(), "size": p.stat().st_size, "sha256": sha256(p)} for p in files]
