"""Limits for unpacking: one budget of bytes and files for all archives of a run, and a reserve of free disk space.

The sizes in an archive may be false. They are used only to refuse an archive early; the budget counts the bytes that are written.
"""

import os
from collections.abc import Callable
from pathlib import Path

from trainer.errors import UserError

MAX_BYTES = 50 << 30  # per run: the size of the largest model, and more than any table that fits into memory
MAX_FILES = 200_000  # per run, including files that are listed but not unpacked: each costs memory
MAX_RATIO = 200  # unpacked to packed bytes; a text that compresses very well stays below 50
RATIO_FROM_BYTES = 100_000_000
RESERVE_BYTES = 2 << 30  # kept free for the results of this run and of others ...
RESERVE_SHARE = 0.1  # ... or this share of a small disk
LOOK_BYTES = 64 << 20  # written between two checks of the disk
_TOO_LARGE = {  # by the code of the error: what the file is, and what to do
    "archive": ("archive", "Add the files to the dataset without an archive, or add fewer files."),
    "model_file": ("archive", "Register the model instead of uploading it, or choose another model.zip."),
    "parquet": ("Parquet file", "Use fewer images, or add the images to the dataset as files in one folder for each label."),
    "compressed": ("compressed file", "Use fewer rows, or add the file to the dataset without compression."),
}


def room(folder: Path) -> tuple[int, int]:
    """The free bytes and the total bytes of the disk of ``folder``."""
    disk = os.statvfs(folder)
    return disk.f_bavail * disk.f_frsize, disk.f_blocks * disk.f_frsize


class Budget:
    """What one start of a run has unpacked so far. Files of earlier starts were deleted with their folders; if not, the check of the
    free disk space accounts for them."""

    def __init__(self, room: Callable[[Path], tuple[int, int]] = room):
        self._room = room
        self.bytes = self.files = self.packed = 0
        self._until = 0  # the number of bytes at which the disk is checked again

    def begin(self, archive: str, packed: int, code: str, inner: bool = False) -> "Share":
        """Start to unpack an archive of ``packed`` bytes. Its errors get the ``code``. The bytes of an ``inner`` archive are counted already."""
        self.packed += 0 if inner else packed
        return Share(self, archive, packed, code)

    def look(self, folder: Path, more: int) -> str:
        """Why the disk of ``folder`` has no space for ``more`` bytes; empty if it has."""
        self._until = self.bytes + LOOK_BYTES
        free, whole = self._room(folder)
        reserve = min(RESERVE_BYTES, int(RESERVE_SHARE * whole))
        if free - more >= reserve:
            return ""
        return f"{free / 1e9:.1f} GB are free, of which {reserve / 1e9:.1f} GB are reserved for results."

    def is_due(self) -> bool:
        """Whether the disk must be checked again."""
        return self.bytes >= self._until


class Share:
    """The part of the budget that one archive has used. All methods raise UserError if the budget is exceeded, and name the archive."""

    def __init__(self, budget: Budget, archive: str, packed: int, code: str):
        self._budget, self._archive, self._packed, self._code = budget, archive, packed, code
        self._bytes = 0

    def list(self, files: int) -> None:
        """Count the files in the list of the archive."""
        self._budget.files += files
        if self._budget.files > MAX_FILES:
            before = self._budget.files - files
            more = f", and the archives before it have {before}" if before else ""
            raise self._too_large(f"It has {files} files{more}; at most {MAX_FILES} are read.")

    def expect(self, claimed: int, folder: Path) -> None:
        """Refuse an archive that claims to hold more than can be unpacked into ``folder``."""
        self._check(claimed)
        if why := self._budget.look(folder, claimed):
            raise self.full(f"It holds {claimed / 1e9:.1f} GB; {why}")

    def take(self, size: int, folder: Path) -> None:
        """Count ``size`` bytes before they are written into ``folder``."""
        self._check(size)
        self._bytes += size
        self._budget.bytes += size
        if self._budget.is_due() and (why := self._budget.look(folder, size)):
            raise self.full(why)

    def full(self, why: str) -> UserError:
        """The error for a disk that is too full for this archive."""
        return UserError(
            "disk_full",
            f"The disk of the shared folder has too little free space to unpack {self._archive}.",
            "Ask the administrator to free space there, then submit again.",
            why,
        )

    def _check(self, more: int) -> None:
        mine, all_of_them = self._bytes + more, self._budget.bytes + more
        if all_of_them > MAX_BYTES:
            together = "" if mine == all_of_them else ", together with the archives before it,"
            raise self._too_large(f"It holds{together} {all_of_them / 1e9:.0f} GB; at most {MAX_BYTES / 1e9:.0f} GB are read.")
        for size, packed, what in ((mine, self._packed, "It"), (all_of_them, self._budget.packed, "Together with the archives before it, it")):
            if size > RATIO_FROM_BYTES and size > MAX_RATIO * packed:
                raise self._too_large(f"{what} would expand to {size // max(1, packed)} times its size, which ordinary data does not.")

    def _too_large(self, why: str) -> UserError:
        what, do = _TOO_LARGE[self._code]
        return UserError(self._code, f"The {what} {self._archive} is too large to unpack.", do, why)
