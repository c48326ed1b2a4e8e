"""FASTA: sequences of bases or amino acids, each below a line with its name. A sequence is a row of a table."""

import re

from trainer.data.formats.table import NotATable, Table

_LETTERS = re.compile(r"[A-Za-z*.-]+")
COLUMNS = ("id", "header", "sequence")


def read(name: str, text: str) -> Table:
    """A table with the name, what follows it, and the sequence in one piece. Raises NotATable for another text."""
    rows: list[tuple[int, list[str]]] = []
    parts: list[list[str]] = []
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        if line.startswith(">"):
            first, _, rest = line[1:].strip().partition(" ")
            rows.append((number, [first, rest.strip()]))
            parts.append([])
        elif line and not line.startswith(";"):
            if not parts or _LETTERS.fullmatch(line) is None:
                raise NotATable(f"is no FASTA file: line {number} is neither a name behind > nor letters of a sequence")
            parts[-1].append(line.upper())
    whole = [(number, [*cells, "".join(of_row)]) for (number, cells), of_row in zip(rows, parts, strict=True) if of_row]
    empty = [number for (number, _), of_row in zip(rows, parts, strict=True) if not of_row]
    table = Table(name, list(COLUMNS), whole, False, len(empty), first_bad=empty[0] if empty else 0, fault="have a name and no sequence")
    return table if any(cells[1] for _, cells in whole) else table.narrowed((0, 2))
