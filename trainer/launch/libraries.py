"""The libraries of networks, added to an environment that was made without them.

``make demo``, ``make run`` and ``make serve`` begin with the core libraries, a tenth of the whole. They fit everything but networks. Such an
environment has the pinned list of the whole beside its interpreter (``LIST``); the first run that needs a network installs it. An image, or an
environment that an administrator made, has no such list, and is left alone.
"""

import fcntl
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import TextIO

from trainer.errors import UserError, one_line
from trainer.launch import halves
from trainer.run_folder import stop
from trainer.run_folder.events import Events

LIST, ADDED, _LOCK, _CACHE = "networks.txt", "networks", "networks.lock", "networks-cache"  # in the folder of the environment
MODULES = frozenset({"torch", "transformers", "peft", "accelerate"})
_SIZE = "3.1 GB to download, 5.3 GB on the disk"  # of what the list adds to the core libraries, on 64-bit Linux
_LOOK_SECONDS, _TELL_SECONDS = 0.5, 10.0


def lacking(environment: Path = Path(sys.prefix)) -> bool:
    """Whether the libraries of networks are still to be added to the environment of this interpreter."""
    return (environment / LIST).exists() and not (environment / ADDED).exists()


def add(folder: Path, events: Events, environment: Path = Path(sys.prefix)) -> None:
    """Install what networks need unless it is there. ``folder`` is that of the run, whose stop is obeyed.

    Every file is checked by its hash. One process at a time installs; others wait. What a killed one has downloaded is used by the next, and
    a package that it left half there is written again.
    Raises UserError where it fails; the next run tries again.
    """
    if not lacking(environment):
        return
    events.phase("start", f"Networks need PyTorch and Transformers, which are installed once on this machine: {_SIZE}.")
    began = time.monotonic()
    try:
        with (environment / _LOCK).open("w") as lock:
            _wait(lambda: _is_locked(lock), folder, events, "Another run is installing what networks need")
            if not lacking(environment):
                return
            halves.forget(environment)  # of one that was killed
            _install(folder, events, environment, lock)
            (environment / ADDED).touch()
    except OSError as e:
        raise _failed(str(e)) from e
    events.phase("start", f"What networks need is installed, in {time.monotonic() - began:.0f} s.")


def _install(folder: Path, events: Events, environment: Path, lock: TextIO) -> None:
    uv, python = str(environment / "bin" / "uv"), str(environment / "bin" / "python")
    command = [uv, "pip", "install", "--quiet", "--compile-bytecode", "--require-hashes", "--no-deps", "--python", python]
    variables = os.environ | {"UV_CACHE_DIR": str(environment / _CACHE)}  # beside it, so that files are linked instead of copied
    with (environment / "networks.log").open("w+") as said:
        installing = subprocess.Popen(
            [*command, "-r", str(environment / LIST)], env=variables, stdin=subprocess.DEVNULL, stdout=said, stderr=said,
            pass_fds=(lock.fileno(),),  # uv outlives a run that is killed: the next one waits until it is gone
        )  # fmt: skip
        try:
            _wait(lambda: installing.poll() is not None, folder, events, "Installing what networks need")
        finally:
            installing.kill()
            installing.wait()
        said.seek(0)
        if installing.returncode:
            raise _failed(said.read()[-2000:])
    shutil.rmtree(environment / _CACHE, ignore_errors=True)


def _is_locked(lock: TextIO) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _wait(done, folder: Path, events: Events, what: str) -> None:
    """Wait until ``done``, and tell every few seconds that it goes on. Raises UserError when the run is to stop."""
    began = told = time.monotonic()
    while not done():
        if stop.requested(folder) == stop.KEEP:
            raise stop.nothing_to_keep()
        time.sleep(_LOOK_SECONDS)
        if time.monotonic() - told >= _TELL_SECONDS:
            told = time.monotonic()
            events.phase("start", f"{what}: {told - began:.0f} s so far.")


def _failed(said: str) -> UserError:
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    if "os error 28" in said or "No space left" in said:
        reason = "the disk of the Python environment is full."
    elif "Permission denied" in said or "Read-only" in said:
        reason = "this user cannot write into the Python environment."
    else:
        reason = "the package index could not be used, or a file of it is damaged."
    return UserError(
        "no_libraries",
        f"This run needs PyTorch, which could not be installed: {reason}",
        f"Make sure that there is space ({_SIZE}) and a connection to a package index, then submit again. make setup installs it, too.",
        one_line(" ".join(lines[-3:]), 600),
    )
