"""Where the warm process of a machine listens: a socket in a folder that only its user can enter."""

import hashlib
import os
import stat
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]  # the folder that has this version of the package
LIMIT = "WARM_WORKERS"  # the variable with the number of machines that may have a warm process; the service sets it on a standing Ray


def wanted() -> int:
    """How many machines may have a warm process: 0 where the service has not asked for any."""
    text = os.environ.get(LIMIT, "")
    return int(text) if text.isdecimal() and os.environ.get("RAY_ADDRESS") else 0


def socket(address: str) -> Path:
    """The socket for the Ray at ``address``, this version of the package and this Python.

    The folder of the package counts by its inode too: the service replaces a folder whose files have changed, and what was imported from
    the old one must not be used any more.
    """
    version = f"{address}\0{ROOT}\0{ROOT.stat().st_ino}\0{sys.executable}\0{sys.version}"
    return folder() / f"{hashlib.sha256(version.encode()).hexdigest()[:16]}.sock"


def folder() -> Path:
    return Path(tempfile.gettempdir()) / f"clowder-ray-warm-{os.geteuid()}"


def is_private(path: Path) -> bool:
    """Whether ``path`` is a folder of this user that nobody else can enter."""
    try:
        there = os.lstat(path)
    except OSError:
        return False
    return stat.S_ISDIR(there.st_mode) and there.st_uid == os.geteuid() and not there.st_mode & 0o077
