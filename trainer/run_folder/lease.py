"""The lease: which start of a run may change its folder.

A driver that nobody sees any more may still be alive, on a machine that the cluster lost but the volume did not, and write on
while another start does the same work. So every start claims a folder of its own, ``work/<attempt>-<number>``, and revokes those
before it by moving them away and deleting them. All that a start makes is made in there and gets to its place by one rename out of
it; what is to go is renamed into it first. The file server carries out a rename in one step or, once that folder is gone, not at
all: an overtaken start changes nothing any more, however long it slept between looking and writing. Neither locks nor clocks nor
cached attributes are relied upon, because network file systems promise none of them.

What is only appended to (events, logs) cannot be fenced so. It is looked at right before, and a late line does no harm there.
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
OVERTAKEN = 75  # exit code of a process whose lease is gone
LOOK_SECONDS = 1.0
_CLAIM = re.compile(r"(\d+)-(\d+)")
_TRIES = 10  # to delete a folder that an overtaken start still writes into


class Overtaken(Exception):
    """Another start has taken over, or the run folder was removed: whoever sees this must not write any more."""

    def __init__(self):
        super().__init__("Another start of this run has taken over, so this one ends.")


@dataclass(frozen=True)
class Lease:
    """The right to change the run folder. It stands and falls with ``folder``, in which everything is made first, and with the lease
    ``within`` which it was taken."""

    folder: Path
    within: "Lease | None" = None

    def held(self) -> bool:
        """Whether nobody has taken over. A volume that cannot be asked just now changes nothing."""
        if self.within is not None and not self.within.held():
            return False
        try:
            with open(self.folder / FILE, "rb"):  # opening asks the file server, where a look may be answered by a cache
                return True
        except OSError as e:
            return e.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ESTALE)

    def check(self) -> None:
        if not self.held():
            raise Overtaken

    def publish(self, made: Path, place: Path) -> None:
        """Move ``made``, a file or folder of the lease, to its place, instead of what is there. After it returns that is on disk."""
        with self._fenced():
            files.settle(made)
            place.parent.mkdir(exist_ok=True)
            if place.is_dir():
                self.remove(place)
            self.check()
            os.replace(made, place)
            files.sync_folder(place.parent)

    def write_json(self, place: Path, value) -> None:
        """Let a JSON file appear, or replace one, at once."""
        made = self.folder / f"{uuid.uuid4().hex}.json"
        with self._fenced():
            files.write_json(made, value)
        self.publish(made, place)

    def remove(self, place: Path) -> None:
        """Remove a file or folder of the run folder, if it is there."""
        self.check()
        gone = self.folder / f"gone-{uuid.uuid4().hex}"
        with self._fenced(), contextlib.suppress(FileNotFoundError):
            os.rename(place, gone)
        _delete(gone)

    def end(self) -> None:
        """Delete what was made and is not needed any more. The lease itself stays, for nobody else has taken over."""
        with self._fenced():
            for entry in self.folder.iterdir():
                if entry.name != FILE:
                    _delete(entry)

    @contextlib.contextmanager
    def watched(self):
        """While it lasts, this process ends itself soon after the lease was lost, whatever it does or waits for."""
        over = threading.Event()

        def look() -> None:
            while not over.wait(LOOK_SECONDS):
                if not self.held():
                    print(Overtaken(), flush=True)
                    os._exit(OVERTAKEN)

        threading.Thread(target=look, name="lease", daemon=True).start()
        try:
            yield
        finally:
            over.set()

    @contextlib.contextmanager
    def _fenced(self):
        """Calls a failure by its name where it comes from being overtaken."""
        try:
            yield
        except OSError as e:
            if not self.held():
                raise Overtaken from e
            raise


def take(claims: Path, attempt: int = 1, within: Lease | None = None) -> Lease:
    """Claim the next folder below ``claims`` and revoke all before it. Raises Overtaken where a higher attempt, or another start
    that came at the same time, goes first, or where the lease ``within`` is lost."""
    owner = {"machine": os.uname().nodename, "process": os.getpid(), "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}
    try:
        claims.mkdir(exist_ok=True)
        mine = _claim(claims, attempt)
        lease = Lease(claims / _name(mine), within)
        files.write_json(lease.folder / FILE, owner)
        others = _claimed(claims) - {mine}  # after the own claim: so of two that come at once, one sees the other's
    except FileNotFoundError as e:
        raise Overtaken from e
    if max(others, default=mine) > mine:
        _delete(lease.folder)
        raise Overtaken
    for other in others:
        lease.remove(claims / _name(other))
    lease.check()
    return lease


def _claim(claims: Path, attempt: int) -> tuple[int, int]:
    """Make the folder with the next number, which no start had before. Of all that try at once, one gets it."""
    while True:
        number = 1 + max((number for _, number in _claimed(claims)), default=0)
        with contextlib.suppress(FileExistsError):
            (claims / _name((attempt, number))).mkdir()
            return attempt, number


def _name(claim: tuple[int, int]) -> str:
    return f"{claim[0]}-{claim[1]}"


def _claimed(claims: Path) -> set[tuple[int, int]]:
    """Attempt and number of all claims. Opening a folder asks the file server, too."""
    found = (_CLAIM.fullmatch(name) for name in os.listdir(claims))
    return {(int(m[1]), int(m[2])) for m in found if m}


def _delete(path: Path) -> None:
    """Delete a file or folder. What a process still has open may stay as a hidden file of NFS until that ends."""
    for _ in range(_TRIES):
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
        if not path.exists():
            return
