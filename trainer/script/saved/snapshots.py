"""Snapshots of what a script has saved: whole checkpoints, and the other new files beside them, out of reach of the script.

The only checkpoint of a script may be torn at any moment, because many scripts save over the file that they need. So while a script
runs, its tree is looked at every few seconds. Once there is a new checkpoint whose files are whole by their format and did not change
while they were copied, or between two looks where the format has no proof, a snapshot is made in the folder of the start and published by
one rename: ``checkpoints/<number>/manifest.json`` and ``files/…``. Files that did not change are hard links to the snapshot before. The
newest two are kept. ``restoring`` gives them back to a later start.
"""

import contextlib
import os
import shutil
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from trainer.config.spec import Spec
from trainer.core.plan import CHECKPOINTS
from trainer.errors import is_full
from trainer.run_folder import files
from trainer.run_folder.events import Events
from trainer.run_folder.lease import Lease, LeaseLost
from trainer.script import foreign
from trainer.script.foreign import Seen
from trainer.script.saved import checkpoint_names, copying, restoring, whole_files
from trainer.script.saved.checkpoint_names import Unit
from trainer.script.saved.restoring import FILES, MANIFEST, Placed, Saved

KEEP = 2
LOOK_SECONDS, LOOK_SHARE = 5.0, 20  # between two looks: at most, and at least so many times as long as the last one took
_SPARE_BYTES = 64 << 20  # stay free on the volume


@dataclass
class Look:
    """What is new in the tree at one moment, and which checkpoints in it are whole."""

    files: dict[str, Seen] = field(default_factory=dict)
    units: dict[Unit, list[str]] = field(default_factory=dict)
    torn: set[Unit] = field(default_factory=set)

    @property
    def whole(self) -> dict[Unit, list[str]]:
        return {unit: paths for unit, paths in self.units.items() if unit not in self.torn}

    def state(self) -> dict[str, Seen]:
        """All files of the whole checkpoints. Equal states need one snapshot."""
        return {path: self.files[path] for paths in self.whole.values() for path in paths}


class Snapshots:
    """The snapshots of one start of a script in ``tree``, where the files ``placed`` of the dataset were put.

    Run the script inside of ``watch``. A snapshot is at most ``spec.script.checkpoint_seconds`` older than the newest whole checkpoint,
    unless the disk is full, which is a warning and no error. What a script saves after the last snapshot is still in its tree when a later
    start looks for it.
    """

    def __init__(
        self,
        spec: Spec,
        lease: Lease,
        tree: Path,
        events: Events,
        placed: Mapping[str, Placed],
        clock: Callable[[], float] = time.monotonic,
    ):
        self.folder, self.lease, self.tree, self.events, self.clock = spec.folder / CHECKPOINTS, lease, tree, events, clock
        self.seconds = spec.script.checkpoint_seconds
        self.placed = placed
        self.taken = 0
        self._warned: set[str] = set()
        self._verdicts: dict[tuple[str, Seen], str] = {}
        self._same: dict[tuple[str, Seen], bool] = {}
        self._before: dict[str, Seen] = {}  # at the look before
        self._last: tuple[float, dict[str, Seen]] | None = None  # time and state of the last snapshot
        self._newest = next((m for _, place in restoring.numbered(self.folder) if (m := restoring.load(place))), None)

    @contextlib.contextmanager
    def watch(self) -> Iterator[None]:
        """Inside this context, snapshots are taken by a thread."""
        over = threading.Event()

        def follow() -> None:
            pause = min(LOOK_SECONDS, max(0.05, self.seconds / 12))
            while not over.wait(pause):
                began = self.clock()
                try:
                    self.take()
                except LeaseLost:
                    return
                spent = self.clock() - began
                pause = max(min(LOOK_SECONDS, self.seconds / 12), LOOK_SHARE * spent if spent > 1 else 0.05)

        thread = threading.Thread(target=follow, name="snapshots", daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    def take(self) -> int | None:
        """Look at the tree, and take a snapshot if it is time for one. Gives its number. Raises LeaseLost."""
        look = self._look()
        if not self._is_due(look):
            return None
        try:
            return self._take(look)
        except (OSError, ValueError) as e:
            self.lease.check()
            self._warn(e)
            return None

    def _look(self) -> Look:
        look = Look()
        for entry in foreign.walk(self.tree, restoring.MOST):
            if entry.seen is not None and not checkpoint_names.is_left_out(entry.path) and not self._is_as_placed(entry.path, entry.seen):
                look.files[entry.path] = entry.seen
                if unit := checkpoint_names.unit_of(entry.path):
                    look.units.setdefault(unit, []).append(entry.path)
        for unit, paths in list(look.units.items()):
            if not any(checkpoint_names.is_weights(path) for path in paths):
                del look.units[unit]
            elif not self._is_whole(unit, paths, look):
                look.torn.add(unit)
        self._verdicts = {key: verdict for key, verdict in self._verdicts.items() if look.files.get(key[0]) == key[1]}
        self._before = look.files
        return look

    def _is_as_placed(self, path: str, seen: Seen) -> bool:
        if path not in self.placed:
            return False
        if (path, seen) not in self._same:
            self._same = {key: same for key, same in self._same.items() if key[0] != path}
            self._same[path, seen] = restoring.is_as_placed(self.tree, path, seen, self.placed)
        return self._same[path, seen]

    def _is_whole(self, unit: Unit, paths: list[str], look: Look) -> bool:
        verdicts = {path: self._verdict(path, look.files[path]) for path in paths}
        if whole_files.TORN in verdicts.values():
            return False
        if any(path.endswith(f"/{checkpoint_names.LAST_OF_HF}") for path in paths):
            return True
        # A folder may still get files; and for a file without proof, only time tells.
        doubtful = paths if unit.is_folder else [path for path, verdict in verdicts.items() if verdict == whole_files.UNKNOWN]
        return all(self._before.get(path) == look.files[path] for path in doubtful)

    def _verdict(self, path: str, seen: Seen) -> str:
        if (path, seen) not in self._verdicts:
            try:
                with foreign.opened(self.tree, path) as (handle, now):
                    verdict = whole_files.judge(handle, path, now.size)
                    if now != seen:
                        return whole_files.TORN if verdict == whole_files.UNKNOWN else verdict
            except (OSError, ValueError):
                return whole_files.TORN
            self._verdicts[path, seen] = verdict
        return self._verdicts[path, seen]

    def _is_due(self, look: Look) -> bool:
        state = look.state()
        if not state or (self._last is not None and state == self._last[1]):
            return False
        if self._last is None and self._newest is not None and state == self._known(state):
            return False  # what was restored is in a snapshot already
        return self._last is None or self.clock() - self._last[0] >= self.seconds

    def _known(self, state: dict[str, Seen]) -> dict[str, Seen]:
        """The files of ``state`` that are in the newest snapshot as well, by size and time."""
        saved = {file.path: file for file in self._newest.files}
        return {path: s for path, s in state.items() if path in saved and (saved[path].size, saved[path].mtime_ns) == (s.size, s.mtime_ns)}

    def _take(self, look: Look) -> int | None:
        """Make and publish a snapshot. None if no checkpoint stayed the same while it was copied."""
        made = self.lease.folder / f"snapshot-{uuid.uuid4().hex}"
        (made / FILES).mkdir(parents=True)
        try:
            copied, whole = self._copy(look, made / FILES)
            if not whole:
                return None
            number = 1 + max((n for n, _ in restoring.numbered(self.folder)), default=0)
            checkpoints = [asdict(restoring.Checkpoint(*self._name(unit, paths))) for unit, paths in whole.items()]
            start = self.lease.folder.name
            document = {"schema": 1, "number": number, "start": start, "checkpoints": checkpoints, "files": [asdict(f) for f in copied.values()]}
            files.write_json(made / MANIFEST, document)
            self.lease.publish(made, self.folder / f"{number:06d}")
        finally:
            shutil.rmtree(made, ignore_errors=True)
        self._newest = restoring.load(self.folder / f"{number:06d}")
        self._last = (self.clock(), {path: look.files[path] for paths in whole.values() for path in paths})
        self.taken += 1
        self._remove_old(number)
        newest = max(whole.items(), key=lambda item: max(look.files[path].mtime_ns for path in item[1]))
        path, step = self._name(*newest)
        self.events.snapshot(path, sum(file.size for file in copied.values()), step)
        return number

    def _copy(self, look: Look, target: Path) -> tuple[dict[str, Saved], dict[Unit, list[str]]]:
        """Copy everything that is new. A checkpoint that is torn, or changes meanwhile, is taken from the snapshot before."""
        members = {path: unit for unit, paths in look.units.items() for path in paths}
        earlier = {} if self._newest is None else {f.path: f for f in self._newest.files}
        known = {(f.path, *f.original): f for f in earlier.values()}
        self._need_space(sum(s.size for p, s in look.files.items() if (p, *_identity(s)) not in known))
        copied: dict[str, Saved] = {}
        torn = set(look.torn)
        for path, seen in look.files.items():
            unit = members.get(path)
            if unit in torn:
                continue
            if old := known.get((path, *_identity(seen))):
                with contextlib.suppress(OSError):
                    copying.link(self._newest.folder / FILES, path, target, path)
                    copied[path] = old
                    continue
            try:
                one = copying.copy(self.tree, path, target, path)
            except (copying.Changed, FileNotFoundError, ValueError):
                torn |= {unit} - {None}
                continue
            if unit is not None and (one.verdict == whole_files.TORN or one.seen != seen):
                torn.add(unit)
            same = earlier.get(path)
            if same is not None and same.sha256 == one.sha256:  # restored from there
                self._replace(path, target)
            copied[path] = Saved(path, one.seen.size, one.sha256, one.seen.mtime_ns, one.seen.mode, _identity(one.seen))
        now = {entry.path: entry.seen for entry in foreign.walk(self.tree, restoring.MOST)}
        torn |= {unit for unit, paths in look.units.items() if any(now.get(path) != look.files[path] for path in paths)}
        for path in [p for p in copied if members.get(p) in torn]:
            (target / path).unlink(missing_ok=True)
            del copied[path]
        self._carry(torn, copied, target)
        return copied, {unit: paths for unit, paths in look.units.items() if unit not in torn}

    def _replace(self, path: str, target: Path) -> None:
        """Make a copy a second name of the same file in the snapshot before."""
        with contextlib.suppress(OSError):
            copying.link(self._newest.folder / FILES, path, target, f"{path}.linked")
            os.replace(target / f"{path}.linked", target / path)

    def _carry(self, torn: set[Unit], copied: dict[str, Saved], target: Path) -> None:
        """Take the files of ``torn`` checkpoints from the snapshot before, if it has them."""
        for old in self._newest.files if self._newest else ():
            if checkpoint_names.unit_of(old.path) in torn and old.path not in copied:
                try:
                    copying.link(self._newest.folder / FILES, old.path, target, old.path)
                except OSError:
                    copying.copy(self._newest.folder / FILES, old.path, target, old.path, linked=True)
                copied[old.path] = old

    def _name(self, unit: Unit, paths: list[str]) -> tuple[str, int | None]:
        """What to call a checkpoint: its folder, or its largest file."""
        if not unit.is_folder:
            return max((p for p in paths if checkpoint_names.is_weights(p)), key=lambda p: self._before[p].size), unit.step
        return unit.place, unit.step

    def _need_space(self, size: int) -> None:
        if size and shutil.disk_usage(self.lease.folder).free < size + _SPARE_BYTES:
            raise OSError(28, "there is not enough space for a copy of the checkpoint")

    def _remove_old(self, number: int) -> None:
        for old, folder in restoring.numbered(self.folder):
            if old <= number - KEEP:
                self.lease.remove(folder)

    def _warn(self, error: Exception) -> None:
        code = "snapshot_space" if is_full(error) else "snapshot_failed"
        if code in self._warned:
            return
        self._warned.add(code)
        why = "the disk is full" if is_full(error) else f"{type(error).__name__}"
        with contextlib.suppress(OSError):
            self.events.warning(code, f"A checkpoint could not be copied because of an error: {why}. If the run is interrupted, it may repeat more.")


def _identity(seen: Seen) -> tuple[int, int, int, int]:
    return seen.size, seen.mtime_ns, seen.ctime_ns, seen.inode
