"""Sheets of workbooks (Excel, ODS) as tables. The file is parsed in a process of its own, with limits of memory and time."""

import json
import zipfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from trainer import bounded
from trainer.archive import zips
from trainer.data.formats import layout
from trainer.data.formats.memory import MEMORY_SHARE, too_large
from trainer.data.formats.repairs import Repair
from trainer.data.formats.table import NotATable, Table
from trainer.errors import UserError, some
from trainer.memory import memory

MAGIC = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")
CLOSE = 2  # ratio of the cells of two sheets with different columns, up to which nobody can tell which is meant
MIN_ROWS = 2
_CHILD = Path(__file__).with_name("workbook_child.py")
_SECONDS, _SECONDS_OF_MEGABYTE = 20.0, 4.0
_BYTES, _TIMES = 1 << 30, 40  # of memory for the process: at least, and for each byte of the file
_UNPACKED, _RATIO = 200 << 20, 200  # bytes that a workbook may unpack to, and how many times its size where it is more
_MAX_MEMBERS = 20_000
_MAX_DIRECTORY = 4 << 20  # bytes of the list of so many files
_ABOUT = frozenset(
    "readme read me about info legend notes note metadata meta codebook dictionary data dictionary key documentation contents toc".split()
)


@dataclass
class Sheet:
    """``rows`` are the rows that are not empty, with their numbers and their cells; ``merged`` the ranges of merged cells, counted from 0 and
    from the first column that is not empty."""

    name: str
    visible: bool
    merged: list[list[int]] = field(default_factory=list)
    rows: list[tuple[int, list[str]]] = field(default_factory=list)


def read(name: str, file: Path, wanted: set[str], repair: bool, sheet: str) -> list[Table]:
    """The tables in the sheets: all with the same columns. ``sheet`` is the name of the only one to read, empty for any.

    Raises NotATable, and UserError where two sheets may be meant, or one is too large.
    """
    _check_size(name, file)
    sheets = _parse(name, file)
    shown = [s for s in sheets if s.visible]
    if sheet.strip():
        chosen = [s for s in sheets if s.name.strip().lower() == sheet.strip().lower()]
        if not chosen:
            raise NotATable(f"has no sheet {sheet.strip()}: its sheets are {some([s.name for s in sheets], 6)}")
        shown = chosen
    found: list[Table] = []
    passed: list[str] = [f"{s.name} is hidden" for s in sheets if not (s.visible or s in shown)]
    for one in shown:
        try:
            found.append(_table(name, one, wanted, repair, len(shown) > 1))
        except NotATable as e:
            passed.append(f"{one.name} {e}")
    if not found:
        raise NotATable(f"has no sheet with a table ({'; '.join(passed)})" if passed else "has no sheets")
    return _choose(name, found, passed, wanted)


def _check_size(name: str, file: Path) -> None:
    """Raise UserError where the file says that it unpacks to more than fits."""
    if not zipfile.is_zipfile(file):
        return
    try:
        with zips.BoundedReader(open(file, "rb", buffering=0), _MAX_DIRECTORY) as source, zipfile.ZipFile(source) as archive:
            members = archive.infolist()
    except zips.LongList:
        raise _many_files(name) from None
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as e:
        raise NotATable("is damaged: it cannot be unpacked") from e
    if len(members) > _MAX_MEMBERS:
        raise _many_files(name)
    unpacked, size = sum(m.file_size for m in members), max(1, file.stat().st_size)
    if unpacked > memory() // MEMORY_SHARE or (unpacked > _UNPACKED and unpacked > _RATIO * size):
        raise too_large(name, f"It unpacks from {size / 1e6:.1f} MB to {unpacked / 1e6:.0f} MB.")


def _many_files(name: str) -> UserError:
    return UserError(
        "too_large",
        f"The workbook {name} was not read.",
        "Save its sheets as CSV, or without the pictures and objects in them.",
        f"It has more than {_MAX_MEMBERS} files inside.",
    )


def _parse(name: str, file: Path) -> list[Sheet]:
    size = file.stat().st_size
    limit = memory() // MEMORY_SHARE
    seconds = _SECONDS + _SECONDS_OF_MEGABYTE * size / 1e6
    try:
        printed = bounded.run([str(_CHILD), str(file.resolve())], b"", seconds, min(memory() // 2, _BYTES + _TIMES * size), limit)
    except bounded.Failed as e:
        raise too_large(name, f"Its sheets cannot be unpacked within {seconds:.0f} s and the memory for them ({e}).") from e
    sheets: list[Sheet] = []
    ended = False
    for line in printed.splitlines():
        try:
            value = json.loads(line)
        except ValueError:
            break
        if isinstance(value, list) and sheets and len(value) > 1:
            sheets[-1].rows.append((int(value[0]), value[1:]))
        elif isinstance(value, dict) and "sheet" in value:
            merged = [[first, a - value["left"], last, b - value["left"]] for first, a, last, b in value["merged"]]
            sheets.append(Sheet(value["sheet"], value["visible"], merged))
        elif isinstance(value, dict) and "error" in value:
            raise NotATable(value["error"])
        else:
            ended = True
    if not ended:
        raise too_large(name, "Its sheets have more cells than fit.")
    return sheets


def _table(name: str, sheet: Sheet, wanted: set[str], repair: bool, several: bool) -> Table:
    """The table in a sheet. Raises NotATable where there is none."""
    rows, filled = _grid(name, sheet)
    if len(rows) < MIN_ROWS or len(rows[0][1]) < (1 if wanted else 2):
        raise NotATable("has no table of two rows and two columns")
    found = layout.of(rows, wanted, repair)
    if not found.rows:
        raise NotATable("has no rows")
    repairs = list(found.repairs)
    if filled:
        repairs.insert(0, Repair("merged_cells", filled, f"{filled} merged cells have the value of the first one."))
    kept = [
        i for i, column in enumerate(found.columns) if column.strip() or any(row[i] for _, row in found.rows)
    ]  # titles may stand beside the table
    if len(kept) < len(found.columns):
        found.columns, found.rows = [found.columns[i] for i in kept], [(n, [row[i] for i in kept]) for n, row in found.rows]
    notes = [f"it has {'a' if found.has_header else 'no'} header, because {found.why}"]
    title = f"{name}/{sheet.name}" if several else name
    return Table(title, found.columns, found.rows, found.has_header, 0, notes, repairs=repairs, short=found.short, units=found.units)


def _grid(name: str, sheet: Sheet) -> tuple[list[tuple[int, list[str]]], int]:
    """The rows of a sheet with one cell for each column that is not empty, and how many merged cells have got a value."""
    used = sorted({i for _, row in sheet.rows for i, cell in enumerate(row) if cell.strip()})
    if 64 * len(sheet.rows) + 8 * len(sheet.rows) * len(used) > memory() // MEMORY_SHARE:
        raise too_large(name, f"Its sheet {sheet.name} has {len(sheet.rows)} rows of {len(used)} columns.")
    rows = [(n, [row[i] if i < len(row) else "" for i in used]) for n, row in sheet.rows]
    at = dict(rows)
    places = {column: i for i, column in enumerate(used)}
    filled = 0
    for first, left, last, _ in sheet.merged:
        value = at[first + 1][places[left]] if first + 1 in at and left in places else ""
        if not value or last - first > len(rows):
            continue
        for n in range(first + 2, last + 2):
            if n in at and not at[n][places[left]]:
                at[n][places[left]] = value
                filled += 1
    return rows, filled


def _choose(name: str, found: list[Table], passed: list[str], wanted: set[str]) -> list[Table]:
    """The sheets that are meant: those with the columns that were asked for, else those with most cells. Raises UserError where two may be meant."""
    groups: dict[tuple[str, ...], list[Table]] = {}
    for table in found:
        groups.setdefault(tuple(sorted(c.strip().lower() for c in table.columns)), []).append(table)
    ranked = sorted(groups.items(), key=lambda g: -sum(len(t.rows) * len(t.columns) for t in g[1]))
    asked = [g for g in ranked if wanted and any(c in wanted for c in g[0])]
    if asked:
        fits = {g[0]: sum(c in wanted for c in g[0]) for g in asked}
        most = max(fits.values())
        ranked = [g for g in ranked if fits.get(g[0]) == most] + [g for g in ranked if fits.get(g[0]) != most]
    best = ranked[0][1]
    rivals = [] if asked and len(asked) == 1 else [g[1] for g in ranked[1:] if _rivals(best, g[1])]
    if rivals:
        sheets = [_sheet(g[0]) for g in (best, *rivals)]
        raise UserError(
            "ambiguous_sheet",
            f"Several sheets of {name} could be the table: {some(sheets)}. They have different columns.",
            "Set data.sheet to the right one, or label_column to a column that only one of them has.",
        )
    left = [_sheet(t) for g in ranked[1:] for t in g[1]]
    if len(found) + len(passed) > 1:
        why = [f"{some(left, 6)} {'have' if len(left) > 1 else 'has'} other columns and fewer cells"] if left and not asked else []
        why += [f"{some(left, 6)} {'lack' if len(left) > 1 else 'lacks'} the columns that were asked for"] if left and asked else []
        chosen = f"{'Sheets' if len(best) > 1 else 'Sheet'} {some([_sheet(t) for t in best], 6)} of {name} {'are' if len(best) > 1 else 'is'} read"
        together = " as one table, because they have the same columns" if len(best) > 1 else ""
        best[0].repairs.insert(0, Repair("sheets", len(best), f"{chosen}{together}{'; ' if why or passed else ''}{'; '.join([*why, *passed[:6]])}."))
    if len(best) == 1:
        best[0].name = name
    return best


def _rivals(best: list[Table], other: list[Table]) -> bool:
    cells, of_other = (sum(len(t.rows) * len(t.columns) for t in tables) for tables in (best, other))
    is_about = Counter(_sheet(t).strip().lower() in _ABOUT for t in other)[True] == len(other)
    return CLOSE * of_other >= cells and not is_about and all(t.has_header for t in other) and sum(len(t.rows) for t in other) >= 5


def _sheet(table: Table) -> str:
    return table.name.rpartition("/")[2]
