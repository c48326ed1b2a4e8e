"""What a script may see and use. Every sandbox enforces the same description, so a run is the same in all of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

RUN = "/home/user/run"  # the working folder
HOME = "/home/user/.home"
INPUTS = "/clowder/inputs"
MODELS = "/clowder/models"
SUPPORT = "/clowder/support"  # modules of ours for the script
PACKAGES = "/clowder/packages"  # what requirements.txt added to the image
MIB, GIB = 1 << 20, 1 << 30


@dataclass(frozen=True)
class Limits:
    """The limits of one script. 0 means no limit.

    ``memory_bytes`` and ``processes`` count the whole sandbox. ``disk_bytes`` and ``files`` count what the script has written below its
    tree and home, ``file_bytes`` a single file. ``log_bytes`` bounds log.txt, ``output_bytes`` the delivered files. ``seconds`` is the time
    over all starts, ``grace_seconds`` what the script has between SIGTERM and SIGKILL.
    """

    memory_bytes: int = 8 * GIB
    processes: int = 512
    disk_bytes: int = 20 * GIB
    files: int = 100_000
    file_bytes: int = 10 * GIB
    log_bytes: int = 64 * MIB
    output_bytes: int = 10 * GIB
    seconds: float = 3600.0
    grace_seconds: float = 30.0


@dataclass(frozen=True)
class Jail:
    """What one start of a script sees. No path of the host is visible besides these, the Python installation and the system libraries.

    ``tree`` becomes RUN, writable, and is the working folder. ``home`` becomes HOME, writable; nothing in it is delivered. ``reads`` are
    pairs of a folder of the host and its path inside, read-only. ``links`` are pairs of a path inside and the target of the symbolic link
    there. ``environment`` is complete: nothing is inherited. ``gpu`` shows the GPUs of the machine.
    """

    tree: Path
    home: Path
    reads: tuple[tuple[Path, str], ...] = ()
    links: tuple[tuple[str, str], ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    gpu: bool = False
