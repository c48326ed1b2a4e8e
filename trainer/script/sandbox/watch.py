"""Measures what a script uses, from outside: memory and processes of its tree, bytes and files on the disk.

Everything that is read here can change or vanish at any moment, and what cannot be read counts as nothing.
"""

import os
import stat
from collections.abc import Iterable
from pathlib import Path

FREE_BYTES = 256 << 20  # that a script leaves on the disk, whatever its limit is


def descendants(pid: int) -> list[int]:
    """A process and everything below it, the process first."""
    found = [pid]
    for parent in found:
        try:
            tasks = os.listdir(f"/proc/{parent}/task")
        except OSError:
            continue
        for task in tasks:
            found += [int(child) for child in _text(f"/proc/{parent}/task/{task}/children").split()]
    return found


def threads(pids: Iterable[int]) -> int:
    """How many threads these processes have."""
    return sum(_numbers(f"/proc/{pid}/status", ("Threads",))["Threads"] for pid in pids)


def threads_of_user(uid: int) -> int:
    """How many threads a user has on this machine, as far as this process may see."""
    total = 0
    for name in os.listdir("/proc"):
        if name.isdigit():
            found = _numbers(f"/proc/{name}/status", ("Uid", "Threads"))
            total += found["Threads"] if found["Uid"] == uid else 0
    return total


def memory(pids: list[int], enough: int = 0) -> tuple[int, int]:
    """Memory of these processes in bytes, own and shared, pages that they share counted once.

    The sum of their resident memory is a cheap upper bound. Only where it is above ``enough`` are the pages counted, which takes a
    millisecond for each gigabyte.
    """
    read = [_numbers(f"/proc/{pid}/status", ("RssAnon", "RssShmem")) for pid in pids]
    own, shared = (sum(each[name] for each in read) << 10 for name in ("RssAnon", "RssShmem"))
    if own + shared <= enough:
        return own, shared
    read = [_numbers(f"/proc/{pid}/smaps_rollup", ("Pss_Anon", "Pss_Shmem")) for pid in pids]
    own, shared = (sum(each[name] for each in read) << 10 for name in ("Pss_Anon", "Pss_Shmem"))
    return own, shared


def in_memory_files(pid: int, folders: Iterable[str]) -> int:
    """Bytes in file systems in memory, as a process sees them.

    Nothing while the process still has the root folder of this machine: then its sandbox is not made yet, and these folders are those of
    the machine.
    """
    try:
        if os.path.samefile(f"/proc/{pid}/root", "/"):
            return 0
    except OSError:
        return 0
    total = 0
    for folder in folders:
        try:
            there = os.statvfs(f"/proc/{pid}/root{folder}")
        except OSError:
            continue
        total += (there.f_blocks - there.f_bfree) * there.f_frsize
    return total


def disk(folders: Iterable[Path], most_files: int) -> tuple[int, int, bool]:
    """Bytes on the disk and number of entries below these folders, and whether all of it could be seen.

    Follows no link. Stops after ``most_files`` entries (0: never). Folders that are nested too deeply for a path, or that their owner may not read,
    cannot be seen.
    """
    waiting, size, count = [str(f) for f in folders], 0, 0
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    count += 1
                    if 0 < most_files < count:
                        return size, count, True
                    try:
                        there = entry.stat(follow_symlinks=False)
                    except FileNotFoundError:
                        continue
                    size += there.st_blocks * 512
                    if stat.S_ISDIR(there.st_mode):
                        waiting.append(entry.path)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError:  # the path is too long, or the script has closed the folder to itself
            return size, count, False
    return size, count, True


def deleted_files(pids: Iterable[int], device: int) -> int:
    """Bytes of files on a device that have no name any more and that these processes hold open."""
    seen: dict[int, int] = {}
    for pid in pids:
        try:
            handles = os.listdir(f"/proc/{pid}/fd")
        except OSError:
            continue
        for handle in handles:
            try:
                there = os.stat(f"/proc/{pid}/fd/{handle}")
            except OSError:
                continue
            if there.st_nlink == 0 and there.st_dev == device and stat.S_ISREG(there.st_mode):
                seen[there.st_ino] = there.st_blocks * 512
    return sum(seen.values())


def free_bytes(folder: Path) -> int:
    """Free space for a user without privileges on the disk of a folder."""
    there = os.statvfs(folder)
    return there.f_bavail * there.f_frsize


def cpu_seconds(pids: Iterable[int]) -> float:
    """Processor time of these processes so far, with that of their children that have ended."""
    ticks = 0
    for pid in pids:
        fields = _text(f"/proc/{pid}/stat").rpartition(")")[2].split()
        ticks += sum(int(number) for number in fields[11:15])
    return ticks / os.sysconf("SC_CLK_TCK")


def _text(file: str) -> str:
    try:
        with open(file, encoding="utf-8", errors="replace") as opened:
            return opened.read()
    except OSError:
        return ""


def _numbers(file: str, names: tuple[str, ...]) -> dict[str, int]:
    """Numbers of lines such as ``Threads: 3``; 0 where a line is missing."""
    found = dict.fromkeys(names, 0)
    for line in _text(file).splitlines():
        name, _, value = line.partition(":")
        if name in found:
            found[name] = int(value.split()[0])
    return found
