"""Ending a run early: by files on the shared volume, which driver and workers all see.

``stop`` in the run folder is written by the service. "keep" ends a training after its next step; the best model so far is evaluated
and delivered. "pause" lets the training save a checkpoint and end, to be started again. ``pause`` and ``regroup`` in the folder of a
start are written by its own driver.
"""

import contextlib
import os
import time
from pathlib import Path

from trainer.core.plan import CHECKPOINTS, FIRST_TRIAL, INDEX
from trainer.errors import UserError
from trainer.run_folder import files

STOP, KEEP, PAUSE, REGROUP = "stop", "keep", "pause", "regroup"
_WORD_BYTES = 1024  # limit for the file "stop", which holds one word
_TRAINING = "training"  # in the folder of a start, while there is a training that can be paused


def requested(folder: Path) -> str:
    """The content of the file ``stop`` in the run folder; empty if there is none."""
    try:
        return files.read_bytes(folder / STOP, _WORD_BYTES).decode("utf-8", errors="replace").strip() if _is_there(folder / STOP) else ""
    except (OSError, ValueError):
        return ""


def check(folder: Path) -> None:
    """Before the training: raise UserError if the run is to stop, unless an earlier start left a checkpoint to keep."""
    if requested(folder) == KEEP and not any(place.exists() for place in (folder / CHECKPOINTS / INDEX, folder / CHECKPOINTS / FIRST_TRIAL / INDEX)):
        raise nothing_to_keep()


def nothing_to_keep() -> UserError:
    return UserError("stopped", "The run was stopped before there was anything to keep.", "Submit it again to start over.")


def pause(work: Path, seconds: float) -> None:
    """Tell the training of this start to save itself, and wait up to ``seconds`` for it to end. Return at once if there is none."""
    (work / PAUSE).touch()
    until = time.monotonic() + seconds
    while _is_there(work / _TRAINING) and time.monotonic() < until:
        time.sleep(0.05)


@contextlib.contextmanager
def pausable(work: Path):
    """Mark that the training of this start is running and can be paused."""
    (work / _TRAINING).touch()
    try:
        yield
    finally:
        (work / _TRAINING).unlink(missing_ok=True)


def is_paused(work: Path) -> bool:
    """Whether the driver of this start has told its training to save itself."""
    return _is_there(work / PAUSE)


def regroup(work: Path, wanted: bool) -> None:
    """Tell the training of this start to save itself, so that it goes on with other workers, or take that back."""
    if wanted:
        (work / REGROUP).touch()
    else:
        (work / REGROUP).unlink(missing_ok=True)


def is_regrouping(work: Path) -> bool:
    """Whether the driver of this start wants to go on with other workers."""
    return _is_there(work / REGROUP)


def clear(folder: Path) -> None:
    """Remove a request to pause that an earlier start has carried out."""
    if requested(folder) == PAUSE:
        (folder / STOP).unlink(missing_ok=True)


def _is_there(file: Path) -> bool:
    """Whether ``file`` exists now. An NFS client may cache for up to a minute that it does not, but listing the folder asks the server."""
    try:
        return file.name in os.listdir(file.parent)
    except OSError:
        return False
