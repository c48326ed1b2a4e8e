"""Files whose columns lie behind each other (NetCDF, HDF5, NumPy, Arrow, Feather, ORC) as tables. They are parsed in a process of its own."""

import json
from pathlib import Path

from trainer import bounded
from trainer.data.formats.memory import CELL_BYTES, MEMORY_SHARE, too_large
from trainer.data.formats.objects import cell
from trainer.data.formats.table import NotATable, Table
from trainer.memory import memory

_OF_ARROW = (b"ARROW1", b"FEA1")
MAGIC = (b"\x89HDF\r\n\x1a\n", b"CDF\x01", b"CDF\x02", b"CDF\x05", b"\x93NUMPY", *_OF_ARROW)
_ARROW_ENDINGS = ("feather", "arrow", "ipc", "orc")
_SECONDS, _SECONDS_OF_MEGABYTE = 30.0, 1.0
_BYTES, _TIMES = 2 << 30, 40  # of addresses for the process: at least, and for each byte of the file
_OTHERS = (
    (b"\x0e\x03\x13\x01", "is an HDF4 file: convert it to HDF5, for example with h4toh5"),
    (b"\xcd\xf3\x00\x01", "is a CDF file of NASA: write its variables as CSV, for example with cdflib in Python"),
)


def read(name: str, file: Path, ending: str, head: bytes) -> Table:
    """The table in a file; ``head`` are its first bytes. Raises NotATable, and UserError for one that is too large."""
    if why := next((why for mark, why in _OTHERS if head.startswith(mark)), ""):
        raise NotATable(why)
    of_arrow = head.startswith(_OF_ARROW) or (ending in _ARROW_ENDINGS and not head.startswith(MAGIC))
    columns, end = _parse(name, file, "arrow_child.py" if of_arrow else "arrays_child.py")
    if not columns or not columns[0][1]:
        raise NotATable("has no rows")
    rows = list(enumerate(map(list, zip(*([cell(v) for v in values] for _, values in columns), strict=True)), 1))
    return Table(name, [n for n, _ in columns], rows, notes=end["notes"], in_order=not end.get("by_name"))


def _parse(name: str, file: Path, child: str) -> tuple[list[tuple[str, list]], dict]:
    """The columns, each with its name and its values, and what the child says at the end."""
    size = file.stat().st_size
    seconds = _SECONDS + _SECONDS_OF_MEGABYTE * size / 1e6
    arguments = [str(Path(__file__).with_name(child)), str(file.resolve()), str(memory() // CELL_BYTES // MEMORY_SHARE)]
    try:
        printed = bounded.run(arguments, b"", seconds, max(_BYTES, min(memory() // 2, _BYTES + _TIMES * size)), memory() // MEMORY_SHARE)
    except bounded.Crashed as e:
        raise NotATable("is damaged: reading it crashes") from e
    except bounded.Failed as e:
        raise too_large(name, f"It cannot be read within {seconds:.0f} s and the memory for it ({e}).") from e
    columns: list[tuple[str, list]] = []
    for line in printed.splitlines():
        try:
            value = json.loads(line)
        except ValueError:
            break
        if isinstance(value, list):
            columns.append((value[0], value[1]))
        elif "error" in value:
            raise NotATable(value["error"])
        elif "size" in value:
            raise too_large(name, value["size"])
        else:
            return columns, value
    raise too_large(name, "It has more cells than fit.")
