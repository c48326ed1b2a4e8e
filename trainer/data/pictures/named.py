"""The pictures that the cells of the tables of a run name: what reads a cell later has the name alone, and finds the file here.

Each reading of a table replaces what was known of all its cells, also of those that name no picture, so a name never leads to a file of an earlier
run in this process. A request has no names: its cell is the picture in base64.
"""

import base64
import binascii
import hashlib
import io
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

from trainer.errors import UserError

_FILES: dict[str, Path | None] = {}


def remember(cells: Iterable[str], files: Iterable[Path | None]) -> None:
    """That ``cells`` name these ``files``, or no picture."""
    _FILES.update(zip((c.strip() for c in cells), files, strict=True))


def picture(cell: str) -> Path | BinaryIO | None:
    """The picture that ``cell`` names or is; None where it names none. Raises UserError for what is neither."""
    name = cell.strip()
    if name in _FILES:
        return _FILES[name]
    try:
        return io.BytesIO(base64.b64decode(name, validate=True))
    except (binascii.Error, ValueError) as e:
        raise UserError(
            "picture_not_at_hand",
            f"The picture {name[:80]} is not at hand where the model answers.",
            "Put the pictures beside the table, in the same dataset; or send a picture in base64.",
        ) from e


def key(cell: str) -> str:
    """What is equal for cells with the same picture, and differs from that of another file with this name; empty where ``cell`` names none. Raises
    UserError as ``picture`` does."""
    found = picture(cell)
    if found is None:
        return ""
    if not isinstance(found, Path):
        return hashlib.sha256(cell.strip().encode()).hexdigest()
    try:
        told = found.stat()
    except OSError:
        return ""
    return f"{found} {told.st_size} {told.st_mtime_ns}"
