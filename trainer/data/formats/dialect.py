"""Detects the dialect of a delimited text: delimiter, quotes, and whether the first row is a header."""

import collections
import csv
import io
import re
from dataclasses import dataclass
from typing import Literal

from trainer.data.columns.values import marks_gap
from trainer.data.names import COLUMN_NAMES
from trainer.errors import some

SAMPLE_ROWS = 300
MAX_LINE = 200_000  # characters: a series of 10,000 steps in a row has 80,000
YEARS = 1500, 2200
MANY_STEPS = 6  # numbers that rise evenly, which no row of data does by chance
MIN_REPEATING = 20  # values of a column that are few and repeat
MIN_LINES = 5  # in a cell, that look like rows
DELIMITERS = {",": "commas", "\t": "tabs", ";": "semicolons", "|": "bars"}
_NO_DELIMITER = "\x1f"  # occurs in no text
_NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?%?")


@dataclass(frozen=True)
class Dialect:
    delimiter: str
    quoted: bool
    columns: int
    consistent: float  # share of the sampled rows that have this number of columns

    @property
    def name(self) -> str:
        return DELIMITERS.get(self.delimiter, repr(self.delimiter)) if self.columns > 1 else "line ends only"


def find(text: str, extension: str, wanted: str = "") -> Dialect | None:
    """The dialect under which most sampled rows of ``text`` have one and the same number of columns, two or more.

    None where no delimiter makes at least nine rows of ten alike. The file's extension decides between dialects that are
    equally consistent; quotes count as quotes unless the text is more consistent without (tab-separated corpora often hold
    single quotation marks). ``wanted`` is the delimiter that the user gave.
    """
    sample = _sample(text)
    usual = {"tsv": "\t", "tab": "\t", "csv": ","}.get(extension, "\t")
    found = []
    for delimiter in wanted or DELIMITERS:
        for quoted in (True, False):
            lengths = [len(row) for row in rows(sample, delimiter, quoted) if row]
            counts = collections.Counter(lengths)
            alike = [(n, c) for c, n in counts.items() if c >= 2]
            if alike:
                count, columns = max(alike)
                share = count / counts.total()
                # A header without this delimiter tells of commas inside numbers. A lone quote at the start of a cell swallows
                # the lines up to the next one: then fewer rows come out.
                rank = (round(share, 2), lengths[0] == columns, delimiter == usual, count, quoted, columns)
                found.append((rank, Dialect(delimiter, quoted, columns, share)))
    best = max(found, key=lambda f: f[0], default=None)
    return best[1] if best and best[1].consistent >= 0.9 else None


def single(text: str, wanted: set[str]) -> Dialect | None:
    """The dialect of a table of one column, which is one only where this column was asked for by its name or number."""
    dialect = Dialect(_NO_DELIMITER, True, 1, 1.0)
    first = next(filter(None, rows(_sample(text), dialect.delimiter, True)), [""])
    return dialect if {first[0].strip().lower(), "column 1"} & wanted else None


def rows(text: str, delimiter: str, quoted: bool, strict: bool = False):
    """The rows of ``text``. With ``strict`` csv.Error is raised for a quotation that does not end where its cell ends."""
    csv.field_size_limit(2**31 - 1)
    quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE
    # Not StringIO, which takes four bytes for every character.
    lines = io.TextIOWrapper(io.BytesIO(text.encode("utf-8", "surrogatepass")), "utf-8", "surrogatepass", newline="")
    return csv.reader(lines, delimiter=delimiter, quoting=quoting, strict=strict)


def swallowed_rows(row: list[str], dialect: Dialect) -> int:
    """How many other rows an unclosed quotation mark has pulled into a cell of ``row``; 0 for an ordinary text of many lines."""
    for cell in row:
        lines = cell.count("\n") >= MIN_LINES and cell.split("\n")[1:-1]
        if lines and sum(line.count(dialect.delimiter) == dialect.columns - 1 for line in lines) > 0.8 * len(lines):
            return len(lines)
    return 0


def _sample(text: str) -> str:
    """The first lines of ``text``; of a very long one only its ends, which hold its delimiters and quotes."""
    if "\n" not in text:  # line ends of another kind
        return text[: SAMPLE_ROWS * 2000]
    lines: list[str] = []
    start, size = 0, 0
    while start < len(text) and len(lines) < SAMPLE_ROWS and size < SAMPLE_ROWS * 2000:
        end = text.find("\n", start) + 1 or len(text)
        cut = end - start > MAX_LINE
        lines.append(text[start : start + MAX_LINE // 2] + text[end - MAX_LINE // 2 : end] if cut else text[start:end])
        start, size = end, size + len(lines[-1])
    return "".join(lines)


def header(first: list[str], body: list[list[str]], wanted: set[str]) -> tuple[bool, str]:
    """Whether the row ``first`` contains the names of the columns of ``body``, and the reason as the end of a sentence.

    ``wanted`` holds column names from the settings, in lower case.
    """
    cells = [c.strip() for c in first]
    columns = [(c, [row[i].strip() for row in body[:SAMPLE_ROWS] if i < len(row) and row[i].strip()]) for i, c in enumerate(cells) if c]
    return _by_names(cells, columns, wanted, body) or _by_common_name_or_values(cells, columns) or (False, "its first row looks like the others")


def _by_names(cells: list[str], columns: list[tuple[str, list[str]]], wanted: set[str], body: list[list[str]]) -> tuple[bool, str] | None:
    """The decision by the cells of the first row; None if it leaves the question open."""
    named = [c.lower() for c in cells if c]  # the index column that some programs write has no name
    usual = _usual(named)
    numbers = [c for c in named if is_number(c)]
    if wanted.intersection(named):
        return True, "it contains the column name from the settings"
    if len(usual) > 1:
        return True, f"{some(usual, 3)} are common column names"
    if len(numbers) > 2 and any(numbers == [str(i + start) for i in range(len(numbers))] for start in (0, 1)):
        return True, "its first row numbers the columns"
    if not cells[0] and numbers == named == [str(i) for i in range(len(cells) - 1)] and _counts_up(body):
        return True, "its first row numbers the columns, and its first column the rows"
    if _rise_evenly(numbers) and len(numbers) < len(named):  # years or wavelengths, perhaps
        return None
    if not named or numbers:
        return False, "its first row contains a number or is empty"
    if any((len(cell) > 60 or len(cell.split()) > 6) and 2 * _length(values) > len(cell) for cell, values in columns):  # a name may be long, too
        return False, "its first row reads like data"
    return None


def _by_common_name_or_values(cells: list[str], columns: list[tuple[str, list[str]]]) -> tuple[bool, str] | None:
    """The decision by the values below each cell of the first row; None if it leaves the question open."""
    for cell, values in columns:
        if cell in values and not is_number(cell) and any(v != cell for v in values):  # else a mark in each row, under its own name
            return False, f"the value {cell} of its first row appears again in later rows"
    named = [c.lower() for c in cells if c]
    if usual := _usual(named):
        return True, f"{usual[0]} is a common column name"
    if len(set(named)) < len(named):
        return False, "its first row reads like data"
    for cell, values in columns:
        if not is_number(cell) and _mostly(is_number, [v for v in values if not marks_gap(v)]):
            return True, f"the column {cell} contains numbers below its first row"
    numbers = [(cell, values) for cell, values in columns if is_number(cell)]
    if numbers:
        unlike = sum(_is_unlike(float(cell), values) for cell, values in numbers) >= 0.9 * len(numbers)
        below = zip(*(values for _, values in numbers))
        alone = len(numbers) >= MANY_STEPS and not any(_rise_evenly(list(row)) for row in below)
        return (True, "its first row has numbers in even steps, unlike those below") if unlike or alone else None
    for cell, values in columns:
        if not _has_digit(cell) and _mostly(_has_digit, values):
            return True, f"the column {cell} has digits below its first row"
    if any(len(cell) * 3 < _length(values) for cell, values in columns):
        return True, "its first row is much shorter than the others"
    if sum(_repeats(values) for _, values in columns) >= 2:  # the first row would be the only one with these values
        return True, "the values below its first row repeat, and none of them is in it"
    return None


def _counts_up(body: list[list[str]]) -> bool:
    """Whether the first column numbers the rows, from 0 or 1, as pandas and R write it."""
    first = [row[0].strip() for row in body if row]
    return len(first) > 1 and any(first == [str(i + start) for i in range(len(first))] for start in (0, 1))


def _rise_evenly(numbers: list[str]) -> bool:
    """Whether these are three or more whole numbers in equal steps, of three digits or more, as years and wavelengths in names are."""
    if len(numbers) < 3 or not all(n.isascii() and n.isdecimal() and len(n) > 2 for n in numbers):
        return False
    steps = {int(b) - int(a) for a, b in zip(numbers, numbers[1:])}
    return len(steps) == 1 and steps != {0}


def _is_unlike(number: float, values: list[str]) -> bool:
    """Whether ``number`` is below or above all numbers among ``values``, or a year where most of them are none."""
    below = [float(v.rstrip("%").replace(",", ".")) for v in values if is_number(v)]
    if not below or not min(below) <= number <= max(below):
        return bool(below)
    low, high = YEARS
    return low <= number <= high and 2 * sum(low <= n <= high for n in below) < len(below)


def _usual(named: list[str]) -> list[str]:
    return sorted(COLUMN_NAMES.intersection(named))


def _mostly(holds, values: list[str]) -> bool:
    """Whether at least 90% of ``values`` fulfil a condition."""
    return bool(values) and sum(map(holds, values)) >= 0.9 * len(values)


def is_number(text: str) -> bool:
    return _NUMBER.fullmatch(text.strip()) is not None


def _repeats(values: list[str]) -> bool:
    """Whether there are few different values, each of them several times."""
    counts = collections.Counter(values)
    return len(values) >= MIN_REPEATING and min(counts.values()) >= 2 and len(counts) * 10 <= len(values)


def _length(values: list[str]) -> float:
    """The mean number of characters of ``values``, of which there may be none."""
    return sum(map(len, values)) / max(1, len(values))


def _has_digit(text: str) -> bool:
    return any(c.isdigit() for c in text)
