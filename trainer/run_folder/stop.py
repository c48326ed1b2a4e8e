"""How a run is told to end early: by files on the shared volume, which its driver and its workers all see.

``stop`` in the run folder comes from outside. "keep" ends a training after its next step, and the best model so far is measured
and delivered; "pause" lets it save itself, to be started again. ``pause`` in the folder of a start comes from its own driver.
"""

import contextlib
import os
import time
from pathlib import Path

from trainer.errors import UserError
from trainer.plan import CHECKPOINTS, INDEX
from trainer.run_folder import files

STOP, KEEP, PAUSE = "stop", "keep", "pause"
_WORD_BYTES = 1024  # of the file "stop", which holds one word
_TRAINING = "training"  # in the folder of a start, while there is a training that can be paused


def asked(folder: Path) -> str:
    """What the file ``stop`` in the run folder says; empty where there is none."""
    try:
        return files.read_bytes(folder / STOP, _WORD_BYTES).decode("utf-8", errors="replace").strip() if _is_there(folder / STOP) else ""
    except (OSError, ValueError):
        return ""


def check(folder: Path) -> None:
    """For a run that does not train yet: raise UserError where it is told to stop, unless an earlier start left something to keep."""
    if asked(folder) == KEEP and not (folder / CHECKPOINTS / INDEX).exists():
        raise nothing_to_keep()


def nothing_to_keep() -> UserError:
    return UserError("stopped", "The run was stopped before there was anything to keep.", "Submit it again to start over.")


def pause(work: Path, seconds: float) -> None:
    """Tell the training of this start to save itself, and wait for it to end, at most some seconds. Without one, return at once."""
    (work / PAUSE).touch()
    until = time.monotonic() + seconds
    while _is_there(work / _TRAINING) and time.monotonic() < until:
        time.sleep(0.05)


@contextlib.contextmanager
def pausable(work: Path):
    """While it lasts, the training of this start looks whether it is told to pause."""
    (work / _TRAINING).touch()
    try:
        yield
    finally:
        (work / _TRAINING).unlink(missing_ok=True)


def is_paused(work: Path) -> bool:
    """Whether the driver of this start wants its training to save itself."""
    return _is_there(work / PAUSE)


def clear(folder: Path) -> None:
    """Remove a wish to pause that an earlier start has fulfilled."""
    if asked(folder) == PAUSE:
        (folder / STOP).unlink(missing_ok=True)


def _is_there(file: Path) -> bool:
    """Whether there is such a file by now. A client of NFS remembers for up to a minute that there was none, but asks the server
    when a folder is opened."""
    try:
        return file.name in os.listdir(file.parent)
    except OSError:
        return False
