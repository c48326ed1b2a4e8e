"""The memory that this process may use."""

import ctypes
import os
import sys
from pathlib import Path

_GROUPS = Path("/sys/fs/cgroup")
_LIMITS = {"": "memory.max", "memory": "memory.limit_in_bytes"}  # of a control group, by its controller: versions 2 and 1
_OWN = Path("/proc/self/cgroup")
_MEMINFO = Path("/proc/meminfo")


def memory() -> int:
    """The bytes of memory that this process may have: what the machine has, or the limit of its container."""
    limits = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for file in _files():
        try:
            limits.append(int(file.read_text(encoding="ascii")))
        except (OSError, ValueError):  # no such file, or "max"
            continue
    return min(limits)


def _files() -> list[Path]:
    """The files with the limits of the control groups that this process is in. In a container, its own is often shown as the first of all."""
    found = [_GROUPS / controller / name for controller, name in _LIMITS.items()]
    try:
        lines = _OWN.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return found
    for line in lines:
        controllers, _, path = line.partition(":")[2].partition(":")
        for controller in (c for c in controllers.split(",") if c in _LIMITS):
            folder = _GROUPS / controller / path.strip("/")
            inside = [f for f in (folder, *folder.parents) if _GROUPS in f.parents]
            found += [f / _LIMITS[controller] for f in inside]
    return found


def release() -> None:
    """Give memory back that was freed: the C library keeps small pieces otherwise, and Arrow large ones. Nothing happens where it cannot."""
    if (arrow := sys.modules.get("pyarrow")) is not None:
        arrow.default_memory_pool().release_unused()
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (OSError, AttributeError):  # not glibc
        return


def available() -> int:
    """The bytes of memory that are free on this machine, within the limit of its container."""
    try:
        lines = _MEMINFO.read_text(encoding="ascii").splitlines()
        free = next(1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable:"))
    except (OSError, ValueError, StopIteration):
        return memory()
    return min(free, memory())
