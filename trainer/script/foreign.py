"""Reading a folder that a script writes, also while it writes: every name in it can become a link, a pipe or a device at any moment.

Nothing is opened by a path of several names: each folder is opened relative to the one above, without following links, and a file is
used only after its open handle has been found to be a regular file.
"""

import contextlib
import json
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

DEPTH, PATH_BYTES = 32, 1000  # of what is looked at
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


@dataclass(frozen=True)
class Seen:
    """A regular file with one name, as it was when it was looked at. Two equal values mean that nobody has written to it in between."""

    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    mode: int = 0o644

    @classmethod
    def of(cls, found: os.stat_result) -> "Seen":
        return cls(found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino, stat.S_IMODE(found.st_mode))


@dataclass(frozen=True)
class Entry:
    """One name below a folder. ``seen`` is None for what is never opened, and ``reason`` says why."""

    path: str
    seen: Seen | None
    reason: str = ""


def walk(root: Path, most: int) -> Iterator[Entry]:
    """Everything below ``root`` that is no folder, at most ``most`` names, folders included. What disappears meanwhile is left out.

    ``root`` itself may be reached through links. The last entry has the path "" if there are more names.
    """
    left = [most]
    with contextlib.suppress(OSError):
        handle = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            yield from _walk(handle, "", DEPTH, left)
        finally:
            os.close(handle)
    if left[0] < 0:
        yield Entry("", None, "There are too many files.")


def _walk(folder: int, prefix: str, depth: int, left: list[int]) -> Iterator[Entry]:
    with os.scandir(folder) as names:
        entries = sorted(names, key=lambda e: e.name) if left[0] > 0 else []
    for entry in entries:
        left[0] -= 1
        if left[0] < 0:
            return
        path = prefix + entry.name
        try:
            found = entry.stat(follow_symlinks=False)
        except OSError:
            continue
        if not _is_plain(path):
            yield Entry(path, None, "Its name is too long or not UTF-8.")
        elif not stat.S_ISDIR(found.st_mode):
            yield Entry(path, *_judged(found))
        elif depth == 0:
            yield Entry(path, None, "It is nested too deeply.")
        else:
            yield from _inside(folder, entry.name, path, depth, left)


def _inside(folder: int, name: str, path: str, depth: int, left: list[int]) -> Iterator[Entry]:
    try:
        handle = os.open(name, _FOLDER, dir_fd=folder)
    except OSError:
        yield Entry(path, None, "It cannot be opened.")
        return
    try:
        yield from _walk(handle, f"{path}/", depth - 1, left)
    except OSError:
        yield Entry(path, None, "It cannot be read.")
    finally:
        os.close(handle)


def _is_plain(path: str) -> bool:
    try:
        return len(path.encode()) <= PATH_BYTES
    except UnicodeEncodeError:
        return False


def _judged(found: os.stat_result, linked: bool = False) -> tuple[Seen | None, str]:
    if stat.S_ISLNK(found.st_mode):
        return None, "It is a link."
    if not stat.S_ISREG(found.st_mode):
        return None, "It is not a regular file."
    if found.st_nlink > 1 and not linked:
        return None, "It has several names."
    return Seen.of(found), ""


@contextlib.contextmanager
def parent_of(root: Path, path: str, create: bool = False) -> Iterator[tuple[int, str]]:
    """The open folder of ``path`` below ``root``, and the last name. With ``create``, folders are made, and what stands where a folder
    must be is removed, links included. Raises OSError, and ValueError for a path that leaves ``root``."""
    *folders, name = path.split("/")
    if any(part in ("", ".", "..") for part in (*folders, name)):
        raise ValueError(f"the path {path!r} leaves its folder")
    handle = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for folder in folders:
            if create:
                _make_folder(handle, folder)
            inner = os.open(folder, _FOLDER, dir_fd=handle)
            os.close(handle)
            handle = inner
        yield handle, name
    finally:
        os.close(handle)


def _make_folder(parent: int, name: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        if not stat.S_ISDIR(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode):
            os.unlink(name, dir_fd=parent)
    with contextlib.suppress(FileExistsError):
        os.mkdir(name, 0o775, dir_fd=parent)


@contextlib.contextmanager
def opened(root: Path, path: str, linked: bool = False) -> Iterator[tuple[int, Seen]]:
    """A handle to read the regular file ``path`` below ``root``, and what it is. Raises OSError or ValueError; never blocks.

    A file with several names may be one that the script should not see, so only a folder of ours can be said to have such (``linked``).
    """
    with parent_of(root, path) as (folder, name):
        handle = os.open(name, _FILE, dir_fd=folder)
    try:
        seen, reason = _judged(os.fstat(handle), linked)
        if seen is None:
            raise ValueError(f"{path}: {reason}")
        yield handle, seen
    finally:
        os.close(handle)


def read_json(root: Path, path: str, limit: int):
    """The JSON value in ``path`` below ``root``. Raises OSError, or ValueError if it is not JSON or longer than ``limit`` bytes."""
    with opened(root, path) as (handle, seen):
        if seen.size > limit:
            raise ValueError(f"{path} is larger than {limit} bytes")
        with open(handle, "rb", closefd=False) as file:
            content = file.read(limit + 1)
    if len(content) > limit:
        raise ValueError(f"{path} is larger than {limit} bytes")
    try:
        return json.loads(content)
    except (RecursionError, UnicodeDecodeError) as e:
        raise ValueError(f"{path} is not JSON") from e
