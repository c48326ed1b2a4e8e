"""ZIP archives as folders of files, without the dangers of archives.

A member is written under a number, never under its own name, so no name can lead anywhere. What cannot be data is not written.
"""

import re
import shutil
import stat
import zipfile
import zlib
from pathlib import Path, PurePosixPath

from trainer.data import names
from trainer.errors import UserError
from trainer.events import Events
from trainer.spec import Input

MAX_MEMBERS = 100_000
MAX_BYTES = 20 << 30
MAX_RATIO = 200  # of a text that compresses very well it is below 50
RATIO_FROM_BYTES = 100_000_000


class NotAnArchive(Exception):
    """The file is no ZIP archive that can be read. The message is the second half of a sentence: "it …"."""


def expand(source: Input, folder: Path, events: Events) -> list[Input]:
    """Write the data in the archive ``source`` below ``folder`` and return it as files of a folder named like the archive.

    Archives inside it are left alone. Raises NotAnArchive, and UserError for one that is too large, damaged or encrypted.
    """
    try:
        with zipfile.ZipFile(source.file) as archive:
            members = [m for m in archive.infolist() if not m.is_dir()]
            _check_size(source.name, members, source.file.stat().st_size)
            models = names.model_folders(_parts(m.filename) for m in members)
            wanted = [m for m in members if _is_data(m, models)]
            _warn(source.name, members, events)
            target = _folder(folder, source.name)
            return [_write(archive, m, target / f"{i:06d}", source.name) for i, m in enumerate(wanted, 1)]
    except zipfile.BadZipFile as e:
        raise NotAnArchive("is not a ZIP archive that can be read") from e


def _write(archive: zipfile.ZipFile, member: zipfile.ZipInfo, target: Path, name: str) -> Input:
    inside = _parts(member.filename)
    try:
        with archive.open(member) as source, open(target, "wb") as out:
            shutil.copyfileobj(source, out, 1 << 20)
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError) as e:
        why = "It is encrypted." if member.flag_bits & 1 else "It is damaged or of an unusual kind."
        raise UserError(
            "archive", f"The file {inside} in the archive {name} cannot be read.", "Make the archive again as a plain ZIP, without a password.", why
        ) from e
    return Input(f"{_stem(name)}/{inside}", target, member.file_size, "")


def _check_size(name: str, members: list[zipfile.ZipInfo], packed: int) -> None:
    size = sum(m.file_size for m in members)
    if len(members) > MAX_MEMBERS:
        why = f"It has {len(members)} files; at most {MAX_MEMBERS} are read."
    elif size > MAX_BYTES:
        why = f"It holds {size / 1e9:.0f} GB; at most {MAX_BYTES / 1e9:.0f} GB are read."
    elif size > RATIO_FROM_BYTES and size > MAX_RATIO * packed:
        why = f"It would grow to {size // max(1, packed)} times its size, as no ordinary data does."
    else:
        return
    do = "Put the files into the dataset without the archive, or fewer of them."
    raise UserError("archive", f"The archive {name} is too large to be unpacked.", do, why)


def _is_data(member: zipfile.ZipInfo, models: set[str]) -> bool:
    inside = _parts(member.filename)
    kind = names.extension(inside)
    usable = (kind in names.TABLES or kind in names.IMAGES) and inside.rpartition("/")[0] not in models
    return usable and not (_leads_out(member) or _is_link(member) or names.is_hidden(inside) or names.is_result(inside))


def _warn(name: str, members: list[zipfile.ZipInfo], events: Events) -> None:
    if refused := sum(_leads_out(m) or _is_link(m) for m in members):
        events.warning("archive", f"{refused} files of the archive {name} are left out because they are links or lead out of the archive.")


def _parts(filename: str) -> str:
    """The name of a member with slashes, in whatever system the archive was made."""
    return "/".join(p for p in filename.replace("\\", "/").split("/") if p not in ("", "."))


def _leads_out(member: zipfile.ZipInfo) -> bool:
    name = member.filename.replace("\\", "/")
    return name.startswith("/") or ".." in name.split("/") or re.match(r"[A-Za-z]:", name) is not None


def _is_link(member: zipfile.ZipInfo) -> bool:
    return stat.S_ISLNK(member.external_attr >> 16)


def _stem(name: str) -> str:
    return name[: -len(names.ARCHIVE) - 1]


def _folder(folder: Path, name: str) -> Path:
    """An empty folder for the archive ``name``; what an earlier attempt left there is removed."""
    target = folder / (re.sub(r"[^\w.-]", "_", PurePosixPath(name).as_posix()).strip(".") or "archive")
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    return target
