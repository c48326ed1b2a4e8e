"""Tables whose columns are separated by any number of blanks, or stand at fixed places of their lines."""

import re
from collections import Counter
from dataclasses import dataclass
from itertools import islice

from trainer.data.columns import values
from trainer.data.formats.dialect import SAMPLE_ROWS, is_number
from trainer.data.names import IMAGES, extension

MIN_ROWS = 5
_EVEN = 0.95  # of the lines have the same number of columns
_NUMERIC = 0.9  # of the cells of a column of numbers
_TOKEN = re.compile(r'"([^"]*)"|(\S+)')
_LINE = re.compile(r"[^\r\n]+")
_WIDEST = 4000  # characters of a line with columns at fixed places


@dataclass(frozen=True)
class Blanks:
    """``places`` are the first characters of the columns and the one after the last, where they stand at fixed places."""

    columns: int
    quoted: bool = False
    places: tuple[int, ...] = ()

    @property
    def name(self) -> str:
        return "their places in the lines" if self.places else "blanks"

    def split(self, line: str) -> list[str]:
        if self.places:
            return [line[a:b].strip() for a, b in zip(self.places, self.places[1:])]
        if not self.quoted:
            return line.split()
        return [m[1] if m[1] is not None else m[2] for m in _TOKEN.finditer(line)]


def find(text: str, prose: bool) -> Blanks | None:
    """How the lines of ``text`` are split into columns, one of which holds numbers; None where they are not.

    ``prose``: the file may as well be an ordinary text, so most columns must hold numbers.
    """
    lines = [m[0] for m in islice(_LINE.finditer(text), SAMPLE_ROWS) if m[0].strip()]
    if len(lines) < 2:
        return None
    for quoted in (True, False) if any('"' in line for line in lines) else (False,):
        separated = Blanks(0, quoted)
        rows = [separated.split(line) for line in lines]
        columns, count = Counter(map(len, rows)).most_common(1)[0]
        even = [row for row in rows if len(row) == columns]
        heads = len(rows[0]) == columns - 1  # names without one for the first column, or a title
        if (
            columns >= 2
            and count >= _EVEN * (len(rows) - heads)
            and count >= min(MIN_ROWS, len(lines) - 1)
            and (_has_numbers(even, prose) or _are_files(even))
        ):
            return Blanks(columns, quoted)
    return _fixed(lines, prose)


def _are_files(rows: list[list[str]]) -> bool:
    """Whether each row is the name of an image and a label: images/1.jpg 0."""
    return len(rows[0]) == 2 and len(rows) >= MIN_ROWS and all(extension(row[0]) in IMAGES for row in rows)


def _fixed(lines: list[str], prose: bool) -> Blanks | None:
    """The columns between the places that are blank in every line."""
    longest = max(map(len, lines))
    if len(lines) < MIN_ROWS or longest > _WIDEST or any("\t" in line for line in lines):
        return None
    filled = {i for line in lines for i, c in enumerate(line) if c != " "}
    starts = sorted(i for i in filled if i - 1 not in filled)
    if not 2 <= len(starts) <= longest // 2:
        return None
    how = Blanks(len(starts), places=(0, *starts[1:], longest + 1_000))
    rows = [how.split(line) for line in lines]
    sparse = any(sum(bool(row[i]) for row in rows) < 0.2 * len(rows) for i in range(len(starts)))
    return None if sparse or not _has_numbers(rows, prose) else how


def _has_numbers(rows: list[list[str]], prose: bool) -> bool:
    body = rows[1:] if len(rows) > 2 else rows
    numeric = sum(_are_numbers([row[i] for row in body]) for i in range(len(rows[0])))
    return numeric >= (max(2, len(rows[0]) / 2) if prose else 1)


def _are_numbers(cells: list[str]) -> bool:
    known = [c for c in cells if c and c.lower() not in values.MAY_BE_MISSING]
    return bool(known) and sum(map(is_number, known)) >= _NUMERIC * len(known)


def rows(text: str, how: Blanks) -> list[tuple[int, list[str]]]:
    """The rows of ``text`` that are not empty, with the numbers of their lines."""
    return [(i, how.split(line)) for i, line in enumerate(text.splitlines(), 1) if line.strip()]
