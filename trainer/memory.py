"""The memory that this process may use."""

import os
from pathlib import Path

_LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))  # of a container
_MEMINFO = Path("/proc/meminfo")


def memory() -> int:
    """The bytes of memory that this process may have: what the machine has, or the limit of its container."""
    limits = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for file in _LIMITS:
        try:
            limits.append(int(file.read_text(encoding="ascii")))
        except (OSError, ValueError):  # no such file, or "max"
            continue
    return min(limits)


def available() -> int:
    """The bytes of memory that are free on this machine, within the limit of its container."""
    try:
        lines = _MEMINFO.read_text(encoding="ascii").splitlines()
        free = next(1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable:"))
    except (OSError, ValueError, StopIteration):
        return memory()
    return min(free, memory())
