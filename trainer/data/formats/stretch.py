"""Finds a table in a text that has other lines before and after it: titles, settings of an instrument, footnotes."""

import csv
from collections import Counter
from dataclasses import dataclass

from trainer.data.formats import dialect as dialects
from trainer.data.formats.dialect import Dialect

LINES = 5000  # that are looked at
MIN_ROWS = 5
MIN_ROWS_OF_PROSE = 10
_START = 3  # rows in a row with the columns of the table, from which it begins
_EVEN = 0.9


@dataclass(frozen=True)
class Stretch:
    """Rows ``first`` to ``last`` (counted from 0 among the rows that are not empty) of ``columns`` cells each."""

    first: int
    last: int
    columns: int
    share: float
    rows: int


def find(text: str, extension: str, wanted: str, prose: bool) -> Dialect | None:
    """The dialect of the table; None where no stretch of the text is one. ``prose``: the file may as well be an ordinary text."""
    head = _head(text)
    best: tuple | None = None
    usual = {"tsv": "\t", "tab": "\t", "csv": ",", "rdb": "\t"}.get(extension, "\t")
    for delimiter in wanted or dialects.DELIMITERS:
        for quoted in (True, False):
            try:
                rows = [row for row in dialects.rows(head, delimiter, quoted) if any(c.strip() for c in row)]
            except csv.Error:
                continue
            seen = of([len(row) for row in rows])
            if seen is None or (prose and not _is_table(rows, seen)):
                continue
            rank = (round(seen.share, 2), seen.rows, delimiter == usual, quoted, seen.columns)
            if best is None or rank > best[0]:
                best = rank, Dialect(delimiter, quoted, seen.columns, seen.share)
    return best[1] if best else None


def of(lengths: list[int]) -> Stretch | None:
    """The stretch of rows with the most frequent number of columns, two or more, if nine of ten within it have them."""
    counts = Counter(n for n in lengths if n >= 2)
    if not counts:
        return None
    columns = max(counts, key=lambda n: (counts[n], n))
    fits = [n == columns for n in lengths]
    first = next((i for i in range(len(fits)) if all(fits[i : i + _START]) and len(fits) - i >= _START), None)
    if first is None:
        return None
    last = len(fits) - 1 - fits[::-1].index(True)
    rows = sum(fits[first : last + 1])
    share = rows / (last + 1 - first)
    return Stretch(first, last, columns, share, rows) if share >= _EVEN and rows >= MIN_ROWS else None


def _is_table(rows: list[list[str]], seen: Stretch) -> bool:
    """Whether lines that may be prose are a table beyond doubt: many of them, three columns or more, and one of numbers."""
    body = [row for row in rows[seen.first + 1 : seen.last + 1] if len(row) == seen.columns]
    if seen.columns < 3 or len(body) < MIN_ROWS_OF_PROSE or seen.rows < 0.5 * len(rows):
        return False
    return any(sum(dialects.is_number(row[i]) for row in body) >= _EVEN * len(body) for i in range(seen.columns))


def _head(text: str) -> str:
    lines: list[str] = []
    start = 0
    while start < len(text) and len(lines) < LINES and start < LINES * 2000:
        end = text.find("\n", start) + 1 or len(text)
        lines.append(text[start : min(end, start + dialects.MAX_LINE)])
        start = end
    return "".join(lines)
