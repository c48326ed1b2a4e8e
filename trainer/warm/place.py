"""Where the warm process of a machine listens: a socket in a folder that only its user can enter."""

import fcntl
import hashlib
import os
import stat
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]  # the folder that has this version of the package
LIMIT = "WARM_WORKERS"  # the variable with the number of machines that may have a warm process; the service sets it on a standing Ray
POD = "WARM_POD"  # the variable with the name of a run whose pods start their warm processes themselves; the service sets it in such pods
# The environment of a warm process: one that has threads or has looked for a GPU cannot be copied. Copies set their own number of threads,
# and look themselves.
COPYABLE = {"OPENBLAS_NUM_THREADS": "1", "JE_ARROW_MALLOC_CONF": "background_thread:false", "PYTORCH_NVML_BASED_CUDA_CHECK": "1"}


def pod() -> str:
    """The run that this pod belongs to, with a warm process of its own; empty on any other machine."""
    return os.environ.get(POD, "")


def is_used() -> bool:
    """Whether the processes of a run look for a warm process."""
    return bool(pod() or wanted())


def wanted() -> int:
    """How many machines may have a warm process: 0 where the service has not asked for any."""
    text = os.environ.get(LIMIT, "")
    return int(text) if text.isdecimal() and os.environ.get("RAY_ADDRESS") else 0


def socket(address: str) -> Path:
    """The socket for the Ray at ``address`` or for this pod, which starts before its Ray; for this version of the package and this Python.

    The folder of the package counts by its inode too: the service replaces a folder whose files have changed, and what was imported from
    the old one must not be used any more.
    """
    version = f"{pod() or address}\0{ROOT}\0{ROOT.stat().st_ino}\0{sys.prefix}\0{sys.version}"
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


def hold(path: Path) -> int:
    """Say that this process, and no other one, is the warm process of the socket ``path``. Ends with the handle that it returns."""
    held = os.open(path.with_suffix(".pid"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    fcntl.flock(held, fcntl.LOCK_EX)
    os.truncate(held, 0)
    os.write(held, str(os.getpid()).encode())
    return held


def holder(path: Path) -> int | None:
    """The warm process of the socket ``path``, which may still be at its imports; None if there is none, or no more."""
    try:
        with open(path.with_suffix(".pid")) as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return int(file.read() or 0) or None
    except (OSError, ValueError):
        pass
    return None
