"""Giving a later start of a script the files of an earlier one: of the newest snapshot, and whole newer checkpoints of a dead start.

A start that was killed leaves its tree as it was at that moment. It is the better source, because it is newer, as long as no checkpoint
in it is torn. Otherwise the snapshot is the source, and of the tree only those checkpoints are taken that are whole for sure. A tree that
a start was still filling when it died has no mark, and is not looked at.
"""

import contextlib
import hashlib
import os
import re
import shutil
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from trainer.core.plan import CHECKPOINTS
from trainer.run_folder import files
from trainer.run_folder.lease import EARLIER, Lease
from trainer.script import foreign
from trainer.script.foreign import Seen
from trainer.script.saved import checkpoint_names, copying, whole_files
from trainer.script.saved.checkpoint_names import Unit

FILES, MANIFEST = "files", "manifest.json"
TREE, READY = "tree", "tree.ready"  # in the folder of a start: what its script works in, and the mark that it is filled
_MANIFEST_BYTES = 256 << 20
_NUMBER = re.compile(r"\d{6,12}")
MOST = 2_000_000  # names in a tree that are looked at: those of the dataset, and what the limits let a script write


class Placed(Protocol):
    """A file of the dataset as it was put into the tree."""

    @property
    def size(self) -> int: ...

    @property
    def sha256(self) -> str: ...


@dataclass(frozen=True)
class Saved:
    """A file of a snapshot. ``original`` is size, times and inode of the file that was copied, to find it again unchanged."""

    path: str
    size: int
    sha256: str
    mtime_ns: int
    mode: int
    original: tuple[int, ...]


@dataclass(frozen=True)
class Checkpoint:
    """``path`` is the file or folder as the script calls it."""

    path: str
    step: int | None


@dataclass(frozen=True)
class Manifest:
    """A snapshot that was published."""

    folder: Path
    number: int
    checkpoints: tuple[Checkpoint, ...]
    files: tuple[Saved, ...]


@dataclass(frozen=True)
class Restored:
    """What a start found again: ``path`` is its newest checkpoint, below the tree. ``from_tree`` says that an earlier start has left newer
    checkpoints than the snapshot ``number`` (0: there is none). ``files`` were put into the tree."""

    path: str
    step: int | None
    number: int
    from_tree: bool
    files: int


@dataclass(frozen=True)
class _Choice:
    """A file to restore. ``sha256`` is known of a file of a snapshot."""

    root: Path
    path: str
    mtime_ns: int
    mode: int
    sha256: str = ""


def numbered(folder: Path) -> list[tuple[int, Path]]:
    """Numbers and folders of all snapshots, the newest first."""
    try:
        return sorted(((int(name), folder / name) for name in os.listdir(folder) if _NUMBER.fullmatch(name)), reverse=True)
    except FileNotFoundError:
        return []


def load(folder: Path) -> Manifest | None:
    """The manifest of a snapshot; None if it cannot be read. The files are not looked at."""
    try:
        document = files.read_json(folder / MANIFEST, _MANIFEST_BYTES)
        saved = tuple(Saved(**{**f, "original": tuple(f["original"])}) for f in document["files"])
        return Manifest(folder, document["number"], tuple(Checkpoint(**c) for c in document["checkpoints"]), saved)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def newest(folder: Path) -> Manifest | None:
    """The newest snapshot whose files all match its manifest."""
    for _, place in numbered(folder):
        manifest = load(place)
        with contextlib.suppress(OSError):
            if manifest is not None and all(files.sha256(place / FILES / f.path) == f.sha256 for f in manifest.files):
                return manifest
    return None


def set_aside(lease: Lease) -> None:
    """Move the tree of this start away, where it is filled already, so that a new one can be made: its script has ended before its time.
    Call it before the tree is made. Trees of starts that have lost the lease were moved by ``lease.take``."""
    if (lease.folder / READY).exists():
        (lease.folder / READY).unlink()
        lease.keep(lease.folder, TREE, lease.folder / f"{EARLIER}{lease.folder.name}-{uuid.uuid4().hex}")
    lease.remove(lease.folder / TREE)


def restore(folder: Path, lease: Lease, tree: Path, placed: Mapping[str, Placed]) -> Restored | None:
    """Fill ``tree``, which has the files ``placed`` in it and nothing else, from the snapshots in the run folder ``folder`` and the trees
    of dead starts, which are deleted then. Damaged snapshots are deleted, too.

    Gives None, and changes nothing in the tree, where there is no whole checkpoint: a script that finds only half of its files may refuse
    to begin. Raises OSError, for example on a full disk, and LeaseLost.
    """
    manifest = newest(folder / CHECKPOINTS)
    for number, place in numbered(folder / CHECKPOINTS):
        if manifest is None or number > manifest.number:
            lease.remove(place)
    restored = _restore(manifest, lease.folder, tree, placed)
    lease.check()
    (lease.folder / READY).touch()
    for _, place in _earlier(lease.folder):
        shutil.rmtree(place, ignore_errors=True)
    return restored


def is_as_placed(root: Path, path: str, seen: Seen, placed: Mapping[str, Placed]) -> bool:
    """Whether the file ``path`` below ``root`` is the one that was placed there."""
    there = placed.get(path)
    if there is None or there.size != seen.size:
        return False
    try:
        with foreign.opened(root, path) as (handle, _), open(handle, "rb", closefd=False) as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == there.sha256
    except (OSError, ValueError):
        return False


def _restore(manifest: Manifest | None, start: Path, tree: Path, placed: Mapping[str, Placed]) -> Restored | None:
    chosen, from_tree = _choose(manifest, start, placed)
    try:
        _fill(chosen, start, tree)
    except (copying.Changed, ValueError, FileNotFoundError):
        if not from_tree:
            raise
        chosen, from_tree = _of_snapshot(manifest), False  # what is left of a dead start still writes into its tree
        _fill(chosen, start, tree)
    if not chosen:
        return None
    path, step = _newest_checkpoint(chosen)
    return Restored(path, step, manifest.number if manifest else 0, from_tree, len(chosen))


def _of_snapshot(manifest: Manifest | None) -> dict[str, _Choice]:
    if manifest is None:
        return {}
    return {f.path: _Choice(manifest.folder / FILES, f.path, f.mtime_ns, f.mode, f.sha256) for f in manifest.files}


def _choose(manifest: Manifest | None, start: Path, placed: Mapping[str, Placed]) -> tuple[dict[str, _Choice], bool]:
    """The files to restore, and whether newer ones than those of the snapshot come from the tree of a dead start."""
    chosen = _of_snapshot(manifest)
    known = {} if manifest is None else {f.path: f for f in manifest.files}
    for _, place in _earlier(start):
        found = _DeadTree(place, placed)
        if not found.units:
            continue
        whole = not found.torn(known)
        if whole and not found.is_newer(known):
            return chosen, False
        if newer := list(found.files) if whole else found.whole_and_newer(known):
            of_tree = {path: _Choice(place, path, found.files[path].mtime_ns, found.files[path].mode) for path in newer}
            return (of_tree if whole else chosen | of_tree), True
    return chosen, False


def _fill(chosen: Mapping[str, _Choice], start: Path, tree: Path) -> None:
    """Put all files into the tree, or none."""
    made = start / f"restored-{uuid.uuid4().hex}"
    made.mkdir()
    try:
        ordered = sorted(chosen.values(), key=lambda c: c.mtime_ns)  # scripts compare times of creation, too
        for choice in ordered:
            copied = copying.copy(choice.root, choice.path, made, choice.path, linked=bool(choice.sha256))
            if choice.sha256 and copied.sha256 != choice.sha256:
                raise OSError(f"{choice.path} has changed in the snapshot")
            copying.finish(made, choice.path, choice.mode, choice.mtime_ns)
        for choice in ordered:
            with foreign.parent_of(made, choice.path) as (source, name), foreign.parent_of(tree, choice.path, create=True) as (target, _):
                os.replace(name, name, src_dir_fd=source, dst_dir_fd=target)
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _earlier(start: Path) -> list[tuple[tuple[int, ...], Path]]:
    """The trees of dead starts, which the lease has moved here, the newest first."""
    found = ((tuple(int(n) for n in re.findall(r"\d+", p.name)), p) for p in start.glob(f"{EARLIER}*"))
    return sorted(found, reverse=True)


class _DeadTree:
    """What a dead start has written into its tree, and which checkpoints are in it."""

    def __init__(self, root: Path, placed: Mapping[str, Placed]):
        self.root = root
        found = {e.path: e.seen for e in foreign.walk(root, MOST) if e.seen is not None and not checkpoint_names.is_left_out(e.path)}
        self.files = {path: seen for path, seen in found.items() if not is_as_placed(root, path, seen, placed)}
        self.units: dict[Unit, list[str]] = {}
        for path in self.files:
            if unit := checkpoint_names.unit_of(path):
                self.units.setdefault(unit, []).append(path)
        self.units = {u: paths for u, paths in self.units.items() if any(checkpoint_names.is_weights(p) for p in paths)}

    def is_newer(self, known: Mapping[str, Saved]) -> bool:
        return any(not self._is_known(path, known) for paths in self.units.values() for path in paths)

    def torn(self, known: Mapping[str, Saved]) -> set[Unit]:
        """The checkpoints that are not whole, or not for sure."""
        return {unit for unit, paths in self.units.items() if not self._is_whole(unit, paths, known)}

    def whole_and_newer(self, known: Mapping[str, Saved]) -> list[str]:
        """The files of whole checkpoints that are not in the snapshot. Where one of a series is torn, a script may have written the others
        of the same folder for the same step, so only numbered ones are taken."""
        torn = self.torn(known)
        whole = [u for u in self.units if u not in torn and (u.is_folder or u.numbers)]
        newer = [p for u in whole for p in self.units[u]]
        return newer if any(not self._is_known(path, known) for path in newer) else []

    def _is_known(self, path: str, known: Mapping[str, Saved]) -> bool:
        return path in known and (known[path].size, known[path].mtime_ns) == (self.files[path].size, self.files[path].mtime_ns)

    def _is_whole(self, unit: Unit, paths: list[str], known: Mapping[str, Saved]) -> bool:
        if all(self._is_known(path, known) for path in paths):
            return True
        for path in paths:
            verdict = self._verdict(path)
            if verdict == whole_files.TORN or (verdict == whole_files.UNKNOWN and not unit.is_folder and not self._is_known(path, known)):
                return False
        return not unit.is_folder or self._has_all(unit, paths, known)

    def _has_all(self, unit: Unit, paths: list[str], known: Mapping[str, Saved]) -> bool:
        """Whether a numbered folder has the file that is written last, or else all files that an earlier one of its kind has."""
        names = {path[len(unit.place) :] for path in paths}
        if f"/{checkpoint_names.LAST_OF_HF}" in names:
            return True
        others: dict[Unit, set[str]] = {}
        for path in known:
            if (other := checkpoint_names.unit_of(path)) and other.series == unit.series and other != unit:
                others.setdefault(other, set()).add(path[len(other.place) :])
        wanted = next(iter(others.values()), None)
        if wanted is None or f"/{checkpoint_names.LAST_OF_HF}" in wanted:
            return False
        return {re.sub(r"\d+", "#", n) for n in names} >= {re.sub(r"\d+", "#", n) for n in wanted}

    def _verdict(self, path: str) -> str:
        try:
            with foreign.opened(self.root, path) as (handle, seen):
                return whole_files.judge(handle, path, seen.size)
        except (OSError, ValueError):
            return whole_files.TORN


def _newest_checkpoint(chosen: Mapping[str, _Choice]) -> tuple[str, int | None]:
    """Path and step of the checkpoint with the highest step, and of these the newest."""
    units: dict[Unit, list[_Choice]] = {}
    for choice in chosen.values():
        if (unit := checkpoint_names.unit_of(choice.path)) and (unit.is_folder or checkpoint_names.is_weights(choice.path)):
            units.setdefault(unit, []).append(choice)
    unit, members = max(units.items(), key=lambda item: (item[0].step if item[0].step is not None else -1, max(c.mtime_ns for c in item[1])))
    return (unit.place if unit.is_folder else max(members, key=lambda c: c.mtime_ns).path), unit.step
