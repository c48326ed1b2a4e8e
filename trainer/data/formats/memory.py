"""Limits for what fits into the memory of the driver's machine."""

import os
from pathlib import Path

from trainer.errors import UserError

MEMORY_SHARE = 4  # a file takes at least so many times its size: its bytes, its text, and the cells
CELL_BYTES = 64  # of an empty cell in memory, at least
_LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))  # of a container


def memory() -> int:
    """The bytes of memory that this process may have: what the machine has, or the limit of its container."""
    limits = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for file in _LIMITS:
        try:
            limits.append(int(file.read_text(encoding="ascii")))
        except (OSError, ValueError):  # none of this kind, or "max"
            continue
    return min(limits)


def too_large(name: str, why: str) -> UserError:
    return UserError(
        "too_large", f"The file {name} is too large for the machine that reads it.", "Use fewer rows, or ask the administrator for more memory.", why
    )
