"""A control group for one script, where this process may make one: memory and processes are then limited by the kernel.

Both versions of the interface are known. In version 2 a group needs the controllers of its parent: as root, in the session of a user of
systemd, or where a folder of groups was delegated. Where none can be made, the watchdog of ``watch`` takes its place.
"""

import contextlib
import os
import secrets
import time
from collections.abc import Iterator
from pathlib import Path

from trainer.config.jail import Limits

ROOT = Path("/sys/fs/cgroup")
OWN = Path("/proc/self/cgroup")
PREFIX = "clowder-ray-script-"
_REMOVAL_SECONDS = 5.0
_OLD_SECONDS = 60.0


class Group:
    """The control group of one script. ``memory`` and ``processes`` are its folders, which are one in version 2."""

    def __init__(self, memory: Path, processes: Path):
        self._memory, self._processes = memory, processes
        self._v2 = memory == processes

    def add(self, pid: int) -> None:
        """Put a process and all that it will start into the group. Raises OSError."""
        for folder in dict.fromkeys((self._memory, self._processes)):
            (folder / "cgroup.procs").write_text(str(pid))

    def out_of_memory(self) -> bool:
        """Whether the kernel has killed a process of the group for want of memory."""
        return _counter(self._memory / ("memory.events" if self._v2 else "memory.oom_control"), "oom_kill") > 0

    def out_of_processes(self) -> bool:
        """Whether a new process or thread was refused."""
        return _counter(self._processes / "pids.events", "max") > 0

    def peak_memory(self) -> int | None:
        """The most memory that the group has used, in bytes; None before Linux 5.19 with version 2."""
        try:
            return int((self._memory / ("memory.peak" if self._v2 else "memory.max_usage_in_bytes")).read_text())
        except (OSError, ValueError):
            return None

    def kill(self) -> None:
        """Kill every process of the group."""
        for pid in self.members():
            with contextlib.suppress(OSError):
                os.kill(pid, 9)

    def members(self) -> list[int]:
        try:
            return [int(line) for line in (self._processes / "cgroup.procs").read_text().split()]
        except (OSError, ValueError):
            return []

    def remove(self) -> None:
        """Kill what is left and remove the group. A process that the kernel cannot end yet keeps its group."""
        end = time.monotonic() + _REMOVAL_SECONDS
        for folder in dict.fromkeys((self._memory, self._processes)):
            while folder.exists() and time.monotonic() < end:
                try:
                    folder.rmdir()
                except OSError:  # busy: a process is still about to end
                    self.kill()
                    time.sleep(0.01)


def make(limits: Limits, own_processes: int) -> Group | None:
    """A new group with these limits, and room for the processes of the sandbox itself; None where this process may make none."""
    name = f"{PREFIX}{os.getpid()}-{secrets.token_hex(4)}"
    for memory, processes in _parents():
        _sweep({memory, processes})
        folders = [parent / name for parent in dict.fromkeys((memory, processes))]
        try:
            for folder in folders:
                folder.mkdir()
            group = Group(folders[0], folders[-1])
            _limit(folders[0], folders[-1], limits.memory_bytes, limits.processes + own_processes if limits.processes else 0)
            return group
        except OSError:
            for folder in folders:
                with contextlib.suppress(OSError):
                    folder.rmdir()
    return None


def _sweep(parents: set[Path]) -> None:
    """Remove empty groups of drivers that were killed. A group in use is empty for less than a second."""
    for parent in parents:
        for folder in parent.glob(f"{PREFIX}*"):
            with contextlib.suppress(OSError):
                if time.time() - folder.stat().st_mtime > _OLD_SECONDS:
                    folder.rmdir()


def _limit(memory: Path, processes: Path, memory_bytes: int, most_processes: int) -> None:
    if memory == processes:
        _set(memory / "memory.max", memory_bytes)
        _set(memory / "memory.oom.group", 1, required=False)
        _set(memory / "memory.swap.max", 0, required=False)
    elif memory_bytes:
        _set(memory / "memory.limit_in_bytes", memory_bytes)
        _set(memory / "memory.memsw.limit_in_bytes", memory_bytes, required=False)
    _set(processes / "pids.max", most_processes)


def _set(file: Path, value: int, required: bool = True) -> None:
    """Write a limit; 0 is none. A file that does not exist is never made: on a file system of another kind that would seem to work."""
    if value == 0 and required:
        if not file.exists():
            raise FileNotFoundError(file)
        return
    try:
        handle = os.open(file, os.O_WRONLY)
    except OSError:
        if required:
            raise
        return
    with open(handle, "w") as opened, contextlib.nullcontext() if required else contextlib.suppress(OSError):
        opened.write(str(value))


def _parents() -> Iterator[tuple[Path, Path]]:
    """Folders in which groups for memory and processes may be possible, nearest first."""
    try:
        lines = [line.split(":", 2) for line in OWN.read_text().splitlines()]
    except OSError:
        return
    own = {controller: path.lstrip("/") for _, controllers, path in lines for controller in controllers.split(",")}
    if "memory" in own and "pids" in own:
        yield ROOT / "memory" / own["memory"], ROOT / "pids" / own["pids"]
        return
    here = ROOT / own.get("", "")
    for folder in (here, *(p for p in here.parents if p.is_relative_to(ROOT))):
        try:
            given = (folder / "cgroup.subtree_control").read_text().split()
        except OSError:
            continue
        if {"memory", "pids"} <= set(given):
            yield folder, folder


def _counter(file: Path, name: str) -> int:
    try:
        lines = (line.split() for line in file.read_text().splitlines())
        return next((int(words[1]) for words in lines if words[0] == name), 0)
    except (OSError, ValueError, IndexError):
        return 0
