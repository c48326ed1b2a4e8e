"""Reads ZIP archives as folders of files.

A member is written under a number and never under its own name, so that no name can point outside. Only data files are written.
"""

import itertools
from pathlib import Path

from trainer.archive.budget import Budget
from trainer.archive.zips import Archive, Member
from trainer.core.input import Input
from trainer.data import names
from trainer.errors import left_out
from trainer.run_folder.events import Events


def expand(source: Input, folder: Path, budget: Budget, events: Events) -> list[Input]:
    """Write the data in the archive ``source`` below ``folder`` and return it as files of a folder named like the archive.

    Archives inside it are left alone. Raises NotAnArchive, and UserError for one that is too large for what is left of the ``budget``,
    damaged, encrypted or made to mislead.
    """
    with Archive(source, budget) as archive:
        if archive.refused:
            why = "links, devices, or names that point outside the archive"
            events.warning("archive", f"{left_out(archive.refused, 'file')} of the archive {source.name}: {why}.")
        models = names.model_folders(m.name for m in archive.members)
        wanted = [m for m in archive.members if _is_data(m, models)]
        target = new_folder(folder)
        files = [target / f"{i:06d}" for i in range(1, len(wanted) + 1)]
        sizes = archive.unpack(zip(wanted, files))
    stem = source.name[: -len(names.ARCHIVE) - 1]
    return [Input(f"{stem}/{m.name}", file, size, "") for m, file, size in zip(wanted, files, sizes)]


def _is_data(member: Member, models: set[str]) -> bool:
    kind = names.extension(member.name)
    usable = kind in (*names.TABLES, *names.IMAGES, *names.GRAPHS) and member.name.rpartition("/")[0] not in models
    return usable and not (names.is_hidden(member.name) or names.is_result(member.name))


def new_folder(folder: Path) -> Path:
    """A new numbered folder below ``folder``: the names of two archives may be equal as folder names."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in itertools.count(1):
        target = folder / str(number)
        if not target.exists():
            target.mkdir()
            return target
    raise AssertionError("unreachable")
