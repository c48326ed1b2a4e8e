"""Reads ZIP archives as folders of files.

A member is written under a number and never under its own name, so that no name can point outside. Only data files, files
that may annotate pictures, and archives in an archive are written. Those are read in the same way, but no archives in them.
"""

import itertools
from dataclasses import dataclass, field
from pathlib import Path

from trainer.archive.budget import Budget
from trainer.archive.zips import Archive, Member, NotAnArchive
from trainer.core import registry
from trainer.core.input import Input
from trainer.data import names
from trainer.errors import left_out
from trainer.run_folder.events import Events

_UNPACKED = (*names.TABLES, *names.IMAGES, *names.GRAPHS, *names.ANNOTATIONS, names.ARCHIVE)
TOO_DEEP = "an archive in an archive in an archive, which is not opened: add it to the dataset by itself"


@dataclass
class Unpacked:
    """The files that came out of an archive, in natural order, and the names of those that did not, each with the reason."""

    files: list[Input] = field(default_factory=list)
    others: list[tuple[str, str]] = field(default_factory=list)


def expand(source: Input, folder: Path, budget: Budget, events: Events) -> Unpacked:
    """Write the data in the archive ``source`` below ``folder`` and return it as files of a folder named like the archive.

    Raises NotAnArchive, and UserError for one that is too large for what is left of the ``budget``, damaged, encrypted or made to mislead.
    """
    found, inner = _open(source, folder, budget, events, None)
    for archive, packed in inner:
        try:
            members, deeper = _open(archive, folder, budget, events, packed)
        except NotAnArchive as e:
            found.others.append((archive.name, str(e)))
            continue
        found.files += members.files
        found.others += [*members.others, *((deep.name, TOO_DEEP) for deep, _ in deeper)]
        events.decision("archive", archive.name, f"The archive {archive.name} is read as a folder of {source.name}.")
    found.files.sort(key=lambda i: names.natural(i.name))
    return found


def _open(source: Input, folder: Path, budget: Budget, events: Events, packed: int | None) -> tuple[Unpacked, list[tuple[Input, int]]]:
    """The files of one archive, and the archives in it, each with the bytes that it takes in the outermost one."""
    with Archive(source, budget, packed=packed) as archive:
        if archive.refused:
            why = "links, devices, or names that point outside the archive"
            events.warning("archive", f"{left_out(archive.refused, 'file')} of the archive {source.name}: {why}.")
        kept = [m for m in archive.members if not (names.is_hidden(m.name) or names.is_of_system(m.name))]
        reasons = {m.name: _why_not(m) for m in kept}
        wanted = [m for m in kept if not reasons[m.name]]
        target = new_folder(folder)
        paths = [target / f"{i:06d}" for i in range(1, len(wanted) + 1)]
        sizes = archive.unpack(zip(wanted, paths))
    stem = source.name.rstrip()[: -len(names.ARCHIVE) - 1]
    inputs = [Input(f"{stem}/{m.name}", p, n, "", aliases=tuple(f"{stem}/{a}" for a in m.aliases)) for m, p, n in zip(wanted, paths, sizes)]
    others = [(f"{stem}/{name}", reason) for name, reason in reasons.items() if reason]
    inner = [(i, m.packed) for i, m in zip(inputs, wanted) if names.extension(i.name) == names.ARCHIVE]
    return Unpacked([i for i in inputs if names.extension(i.name) != names.ARCHIVE], others), inner


def _why_not(member: Member) -> str:
    """Why a member is not unpacked, or an empty text."""
    if names.extension(member.name) in _UNPACKED or names.extension(member.name) in registry.extensions():
        return ""
    return names.not_read(member.name)


def new_folder(folder: Path) -> Path:
    """A new numbered folder below ``folder``: the names of two archives may be equal as folder names."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in itertools.count(1):
        target = folder / str(number)
        if not target.exists():
            target.mkdir()
            return target
    raise AssertionError("unreachable")
