"""The files that a script has left: which of them are delivered, and copies of these outside of the reach of the script.

A script can replace any name in its tree by a link, a pipe or a device at any moment, also while this runs. ``foreign`` reads such folders.
"""

import fnmatch
import hashlib
import os
import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from trainer.config.jail import Limits
from trainer.script import foreign
from trainer.script.tree import OUT, File

_PIECE = 1 << 20
MAX_NAMES = 300_000  # in the tree
MAX_LISTED = 1000  # of what is left out
MAX_FILES, MAX_PATH = 5000, 900  # of what is delivered, and bytes of a path
_SKIPPED_FOLDERS = {"__pycache__", ".cache", "wandb", ".ipynb_checkpoints", ".git", ".pytest_cache", "core"}
_SKIPPED = re.compile(r".*\.(?:pyc|pyo|tmp|lock|swp|part)|.*\.tmp[._-].*|core(?:\.\d+)?|\.nfs.*", re.IGNORECASE)
_UNFIT = re.compile(r"[\x00-\x1f\x7f\\:\ud800-\udfff]")
_NUMBERED = re.compile(r"checkpoint[-_](\d+)")


def outputs(tree: Path, target: Path, placed: Mapping[str, File], patterns: str, limits: Limits) -> tuple[list[dict], list[dict]]:
    """Copy what is new or changed below ``tree`` into the new folder ``target``, and say what was left out and why.

    Returns entries {path, size, sha256} in order of path, relative to ``target``, and entries {path, reason}. ``patterns`` are the globs of the
    user; with none everything new is taken. The smallest files come first, so that a limit leaves out the largest ones.
    """
    target.mkdir()
    wanted, left = _wanted(tree, placed, patterns.split())
    taken: list[dict] = []
    wanted, unfit = _with_fit_names(wanted)
    left += [one for one in unfit if one["path"] not in placed]
    names = _names([path for path, _ in wanted])
    room = limits.output_bytes or float("inf")
    for path, size in sorted(wanted, key=lambda one: (one[1], one[0])):
        if size > room:
            left.append({"path": path, "reason": "The outputs are larger than the limit."})
            continue
        try:
            entry = _copy(tree, path, target, names[path], size)
        except (OSError, ValueError):
            left.append({"path": path, "reason": "It could not be read."})
            continue
        if _is_as_placed(placed.get(path), entry):
            (target / names[path]).unlink()
            _remove_empty(target, (target / names[path]).parent)
            continue
        room -= entry["size"]
        taken.append(entry)
    return sorted(taken, key=lambda e: e["path"]), left[:MAX_LISTED]


def _wanted(tree: Path, placed: Mapping[str, File], patterns: list[str]) -> tuple[list[tuple[str, int]], list[dict]]:
    """Path and size of the files to take, and what is never opened."""
    found, left = [], []
    for entry in foreign.walk(tree, MAX_NAMES):
        if entry.seen is None:
            if entry.path not in placed and not _is_ours(entry) and not _is_skipped(entry.path):
                left.append({"path": entry.path or "…", "reason": entry.reason})
        elif patterns and not any(_matches(entry.path, p) for p in patterns):
            if entry.path not in placed and not _is_skipped(entry.path):
                left.append({"path": entry.path, "reason": "It does not match outputs."})
        elif patterns or not _is_skipped(entry.path):
            found.append((entry.path, entry.seen.size))
    return _without_old_checkpoints(found, left)


def _with_fit_names(found: list[tuple[str, int]]) -> tuple[list[tuple[str, int]], list[dict]]:
    """The files whose names every system can hold, at most MAX_FILES, and the others with the reason."""
    kept: list[tuple[str, int]] = []
    left: list[dict] = []
    seen: set[str] = set()
    for path, size in sorted(found):
        shown = path.encode(errors="surrogateescape").decode(errors="replace")
        key = path.lower()
        if _UNFIT.search(path) or len(path.encode(errors="surrogateescape")) > MAX_PATH:
            left.append({"path": shown, "reason": "Its name has characters that cannot be delivered, or is too long."})
        elif key in seen:
            left.append({"path": shown, "reason": "Another file has the same name but for capitals."})
        elif len(kept) == MAX_FILES:
            left.append({"path": shown, "reason": f"More than {MAX_FILES} files are not delivered: pack them into one."})
        else:
            seen.add(key)
            kept.append((path, size))
    return kept, left


def _without_old_checkpoints(found: list[tuple[str, int]], left: list[dict]) -> tuple[list[tuple[str, int]], list[dict]]:
    """Of folders checkpoint-N side by side only the newest stays."""
    newest: dict[str, int] = {}
    numbered = {}
    for path, _ in found:
        for folder in PurePosixPath(path).parents:
            if match := _NUMBERED.fullmatch(folder.name):
                beside = folder.parent.as_posix()
                newest[beside] = max(newest.get(beside, 0), int(match[1]))
                numbered[path] = (beside, int(match[1]), folder.as_posix())
    old = {path: folder for path, (beside, number, folder) in numbered.items() if number < newest[beside]}
    left += [{"path": folder, "reason": "It is an older checkpoint."} for folder in sorted(set(old.values()))]
    return [one for one in found if one[0] not in old], left


def _is_ours(entry: foreign.Entry) -> bool:
    """Whether this is a link of the data folder."""
    return entry.path.startswith("data/") and "link" in entry.reason


def _is_skipped(path: str) -> bool:
    *folders, name = path.split("/")
    return bool(_SKIPPED_FOLDERS & set(folders)) or _SKIPPED.fullmatch(name) is not None


def _matches(path: str, pattern: str) -> bool:
    """Whether a path matches a pattern. Without a slash it is for names in all folders; a folder stands for all that is in it."""
    pattern = pattern.removeprefix("./").rstrip("/")
    if fnmatch.fnmatchcase(path, pattern) or path.startswith(f"{pattern}/"):
        return True
    return "/" not in pattern and fnmatch.fnmatchcase(PurePosixPath(path).name, pattern)


def _names(paths: list[str]) -> dict[str, str]:
    """Where each file is delivered: what is in out/ loses that folder, unless another file has the name, capitals or not."""
    found, used = {}, {p.lower() for p in paths if not p.startswith(f"{OUT}/")}
    folders = {parent.as_posix() for p in used for parent in PurePosixPath(p).parents}
    for path in paths:
        short = path.removeprefix(f"{OUT}/")
        parents = {parent.as_posix() for parent in PurePosixPath(short.lower()).parents}
        taken = short != path and (short.lower() in used or short.lower() in folders or parents & used)
        found[path] = path if taken else short
    return found


def _copy(tree: Path, path: str, target: Path, name: str, size: int) -> dict:
    """Copy a file of at most ``size`` bytes. Raises ValueError if it has grown, and leaves nothing then."""
    there = target / name
    there.parent.mkdir(parents=True, exist_ok=True)
    digest, length = hashlib.sha256(), 0
    copy = open(there, "xb")  # noqa: SIM115 - closed below; a file of this name stays as it is
    try:
        with copy, foreign.opened(tree, path) as (handle, _):
            while data := os.read(handle, _PIECE):
                length += len(data)
                if length > size:
                    raise ValueError(f"{path} is being written")
                digest.update(data)
                copy.write(data)
    except BaseException:
        there.unlink(missing_ok=True)
        raise
    return {"path": name, "size": length, "sha256": digest.hexdigest()}


def _is_as_placed(given: File | None, entry: dict) -> bool:
    return given is not None and (given.size, given.sha256) == (entry["size"], entry["sha256"])


def _remove_empty(top: Path, folder: Path) -> None:
    while folder != top and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent
