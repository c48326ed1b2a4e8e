"""Lines whose parts are marked: the classes of fastText (__label__good a text), and the numbered values of LIBSVM (1 3:0.5 7:1)."""

import re

from trainer.data.formats.memory import CELL_BYTES, MEMORY_SHARE, too_large
from trainer.data.formats.table import NotATable, Table
from trainer.memory import memory

MOSTLY = 0.95  # of the lines that are not empty must be so marked
_LOOK = 50  # lines at the beginning
_FEWEST = 5
_CLASS = re.compile(r"__label__(\S+)")
_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_SPARSE = re.compile(rf"({_NUMBER}(?:,{_NUMBER})*)(?: +qid:(\d+))?((?: +\d{{1,18}}:{_NUMBER})*) *(?:#.*)?")
_MOST_COLUMNS = 20_000
SEVERAL = ";"  # between the classes of a line


def read(name: str, text: str) -> Table | None:
    """The table in ``text``; None where its lines are not marked. Raises NotATable for too many columns, UserError for what does not fit."""
    first = [line for line in text[:100_000].split("\n", _LOOK)[:_LOOK] if line.strip()]
    if len(first) < _FEWEST:
        return None
    if sum(_CLASS.search(line) is not None for line in first) >= MOSTLY * len(first):
        return _texts(name, text)
    pairs = sum(_SPARSE.fullmatch(line.strip()) is not None and ":" in line for line in first)
    return _sparse(name, text) if pairs >= MOSTLY * len(first) else None


def _texts(name: str, text: str) -> Table:
    rows, bad = [], []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        classes = list(dict.fromkeys(_CLASS.findall(line)))
        said = " ".join(_CLASS.sub(" ", line).split())
        if classes and said:
            rows.append((number, [SEVERAL.join(classes), said]))
        else:
            bad.append(number)
    notes = ["the words that begin with __label__ are the classes of a line, and the rest is its text"]
    return Table(name, ["label", "text"], rows, False, len(bad), notes, bad[0] if bad else 0, "have no class or no text")


def _sparse(name: str, text: str) -> Table:
    found, bad = [], []
    for number, line in enumerate(text.split("\n"), 1):
        stripped = line.strip()
        if not stripped or stripped.startswith("#"):
            continue
        if (read := _SPARSE.fullmatch(stripped)) is None:
            bad.append(number)
            continue
        cells = {int(place): value for place, _, value in (pair.partition(":") for pair in read[3].split())}
        found.append((number, read[1].replace(",", SEVERAL), read[2] or "", cells))
    places = sorted({place for _, _, _, cells in found for place in cells})
    if len(places) > _MOST_COLUMNS:
        raise NotATable(f"has {len(places):,} numbered values for a row: at most {_MOST_COLUMNS:,} are read. Keep the most frequent ones")
    if len(found) * len(places) > memory() // CELL_BYTES // MEMORY_SHARE:
        raise too_large(name, f"It has {len(found):,} rows with {len(places):,} values each.")
    groups = ["query"] if any(query for _, _, query, _ in found) else []
    rows = [(n, [*([query] if groups else []), *(cells.get(p, "0") for p in places), label]) for n, label, query, cells in found]
    notes = ["each line has a label and numbered values, as LIBSVM writes them; a value that is not there is 0"]
    columns = [*groups, *(f"value {p}" for p in places), "label"]
    return Table(name, columns, rows, False, len(bad), notes, bad[0] if bad else 0, "are written in another way", absent="0")
