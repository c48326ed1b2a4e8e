"""Limits for what fits into the memory of the driver's machine."""

from pathlib import Path

from trainer.errors import UserError

MEMORY_SHARE = 4  # a file takes at least so many times its size: its bytes, its text, and the cells
CELL_BYTES = 64  # of an empty cell in memory, at least


_FIRST = 1 << 20  # bytes of a file that tell how long its rows are and how many cells they have
_SMALL = 64 << 20  # bytes of a file that is read whatever it needs
_BASE = 250e6  # bytes of the process before it reads
_TEXT, _ROW, _CELL = 4, 100, 95  # bytes of memory for each byte, row and cell of a file whose rows become objects: measured, less a tenth
BASE_IN_COLUMNS, ROW_IN_COLUMNS = 600e6, 200  # bytes of memory for a training, and for each row whose cells stay in a mapped file
_DELIMITERS = b",\t;|"


def too_large(name: str, why: str) -> UserError:
    return UserError(
        "too_large",
        f"The file {name} is too large for the machine that reads it.",
        "Use fewer rows, or ask the administrator for more memory (in Kubernetes, ray.head.memory of the chart).",
        why,
    )


def check(name: str, file: Path, in_columns: bool, limit: int) -> None:
    """Raise UserError where the rows of a file of text need more than ``limit`` bytes, as its first ones tell. ``in_columns``: as cells of
    columns, which take less than objects."""
    size = file.stat().st_size
    if size <= _SMALL:
        return
    with open(file, "rb") as opened:
        first = opened.read(_FIRST)
    lines = max(1, first.count(b"\n"))
    rows = size / len(first) * lines
    cells = rows + size / len(first) * max(first.count(bytes([d])) for d in _DELIMITERS)
    need = BASE_IN_COLUMNS + rows * ROW_IN_COLUMNS if in_columns else _BASE + _TEXT * size + rows * _ROW + cells * _CELL
    if need > limit:
        kept = (
            ""
            if in_columns
            else " A large CSV needs less if it is UTF-8, has no lines above its header or below its data, and no stray quotation marks."
        )
        raise too_large(
            name, f"It has about {rows / 1e6:.1f} million rows and needs {need / 1e9:.1f} GB of memory; {limit / 1e9:.1f} GB are there.{kept}"
        )
