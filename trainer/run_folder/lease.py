"""The lease: which start of a run may change its folder.

A driver may still be alive on a machine that the cluster has lost but that still reaches the volume, and write while another
start does the same work. So every start claims its own folder ``work/<attempt>-<number>`` and revokes all earlier ones by moving
them away and deleting them. A start creates every file in its own folder and publishes it by one rename; a file to be removed is
renamed into that folder first. The file server carries out a rename completely or, once the folder is gone, not at all. So a start
that has lost its lease changes nothing, however long it was suspended between a check and a write. This uses no locks, clocks or
cached attributes, because network file systems guarantee none of them.

Files that are only appended to (events, logs) cannot be protected this way. The lease is checked right before each line, and a
late line does no harm.
"""

import contextlib
import errno
import os
import re
import shutil
import threading
import time
import uuid
from dataclasses import dataclass
from pathlib import Path

from trainer.run_folder import files

FILE = "lease.json"  # in the folder of a start, for as long as it may write
LEASE_LOST = 75  # exit code of a process that has lost its lease
EARLIER = "earlier-"  # in the folder of a start: what it has kept of starts that lost the lease
LOOK_SECONDS = 1.0
_CLAIM = re.compile(r"(\d+)-(\d+)")
_TRIES = 10  # to delete a folder into which an earlier start still writes


class LeaseLost(Exception):
    """Another start has taken over, or the run folder was removed. This process must not write any more."""

    def __init__(self):
        super().__init__("Another start of this run has taken over, so this one ends.")


@dataclass(frozen=True)
class Lease:
    """The right to change the run folder. It is valid as long as ``folder`` exists, where all files are created first, and as long as
    the lease ``within`` is valid."""

    folder: Path
    within: "Lease | None" = None

    def held(self) -> bool:
        """Whether no other start has taken over. If the volume cannot be reached at the moment, the lease counts as held."""
        if self.within is not None and not self.within.held():
            return False
        try:
            with open(self.folder / FILE, "rb"):  # opening asks the file server; a stat may be answered by a cache
                return True
        except OSError as e:
            return e.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ESTALE)

    def check(self) -> None:
        if not self.held():
            raise LeaseLost

    def publish(self, made: Path, place: Path) -> None:
        """Move ``made``, a file or folder of the lease, to ``place`` and replace what is there. It is on disk when this returns."""
        with self._fenced():
            files.settle(made)
            place.parent.mkdir(exist_ok=True)
            if place.is_dir():
                self.remove(place)
            self.check()
            os.replace(made, place)
            files.sync_folder(place.parent)

    def write_json(self, place: Path, value) -> None:
        """Create or replace a JSON file atomically."""
        made = self.folder / f"{uuid.uuid4().hex}.json"
        with self._fenced():
            files.write_json(made, value)
        self.publish(made, place)

    def remove(self, place: Path, keep: str = "") -> None:
        """Remove a file or folder of the run folder, if it exists. Of the folder of a start, what it has under the name ``keep`` is moved
        to ``earlier-…`` in the folder of this start if the mark ``<keep>.ready`` is beside it, and so is what it has moved there itself."""
        self.check()
        gone = self.folder / f"gone-{uuid.uuid4().hex}"
        with self._fenced(), contextlib.suppress(FileNotFoundError):
            os.rename(place, gone)
        if keep and (gone / f"{keep}.ready").exists():
            self.keep(gone, keep, self.folder / f"{EARLIER}{place.name}")
        for earlier in gone.glob(f"{EARLIER}*") if keep else ():
            self.keep(gone, earlier.name, self.folder / earlier.name)
        _delete(gone)

    def keep(self, start: Path, name: str, place: Path) -> None:
        """Move what the folder of a start has under ``name`` to ``place`` in the folder of this one. Nothing happens where it has none."""
        with self._fenced(), contextlib.suppress(FileNotFoundError):
            os.rename(start / name, place)

    def end(self) -> None:
        """Delete the files of this start that are not needed any more. The lease itself remains."""
        with self._fenced():
            for entry in self.folder.iterdir():
                if entry.name != FILE:
                    _delete(entry)

    @contextlib.contextmanager
    def watched(self):
        """Inside this context the process exits within about a second after it has lost the lease, even while it is blocked."""
        over = threading.Event()

        def look() -> None:
            while not over.wait(LOOK_SECONDS):
                if not self.held():
                    print(LeaseLost(), flush=True)
                    os._exit(LEASE_LOST)

        threading.Thread(target=look, name="lease", daemon=True).start()
        try:
            yield
        finally:
            over.set()

    @contextlib.contextmanager
    def _fenced(self):
        """Turns an OSError into LeaseLost if the lost lease is its cause."""
        try:
            yield
        except OSError as e:
            if not self.held():
                raise LeaseLost from e
            raise


def take(claims: Path, attempt: int = 1, within: Lease | None = None, keep: str = "") -> Lease:
    """Claim the next folder below ``claims`` and revoke all earlier ones. Of these, only what they have under the name ``keep`` stays.
    Raises LeaseLost if a higher attempt or a simultaneous start wins, or if the lease ``within`` is lost."""
    owner = {"machine": os.uname().nodename, "process": os.getpid(), "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}
    try:
        claims.mkdir(exist_ok=True)
        mine = _claim(claims, attempt)
        lease = Lease(claims / _name(mine), within)
        files.write_json(lease.folder / FILE, owner)
        others = _claimed(claims) - {mine}  # read after the own claim, so that of two simultaneous starts one sees the other
    except FileNotFoundError as e:
        raise LeaseLost from e
    if max(others, default=mine) > mine:
        _delete(lease.folder)
        raise LeaseLost
    for other in others:
        lease.remove(claims / _name(other), keep)
    lease.check()
    return lease


def _claim(claims: Path, attempt: int) -> tuple[int, int]:
    """Make the folder with the next unused number. If several starts try at once, exactly one gets it."""
    while True:
        number = 1 + max((number for _, number in _claimed(claims)), default=0)
        with contextlib.suppress(FileExistsError):
            (claims / _name((attempt, number))).mkdir()
            return attempt, number


def _name(claim: tuple[int, int]) -> str:
    return f"{claim[0]}-{claim[1]}"


def _claimed(claims: Path) -> set[tuple[int, int]]:
    """Attempt and number of all claims. Listing a folder asks the file server, too."""
    found = (_CLAIM.fullmatch(name) for name in os.listdir(claims))
    return {(int(m[1]), int(m[2])) for m in found if m}


def _delete(path: Path) -> None:
    """Delete a file or folder. A file that a process has open may remain as a hidden NFS file until that process ends."""
    for _ in range(_TRIES):
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
        if not path.exists():
            return
