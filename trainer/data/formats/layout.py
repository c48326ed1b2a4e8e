"""What the rows of a table are: titles, one or two rows of names, rows of units, the data, totals and notes.

Rows have the same number of cells. A rule that is not sure leaves a row where it is, among the data.
"""

import itertools
import re
from dataclasses import dataclass, field

from trainer.data.columns import values
from trainer.data.formats import dialect as dialects, totals, units
from trainer.data.formats.repairs import Repair, rows as rows_of
from trainer.errors import some

Row = tuple[int, list[str]]
NUMERIC = 0.95  # of the cells of a column of numbers
MAX_UNIT_ROWS = 2  # a logger writes units, and how each value was made
MAX_TITLES = 60
_FORMAT = re.compile(r"\d{1,4}[sdnSDN]")  # of USGS: the width of a column, and what it holds
_CODE = re.compile(r"([A-Za-z]{1,12}_?)(\d{1,4})")
_NOTE = re.compile(
    r"[*†‡§¹²³(\[]|(note|notes|source|sources|footnote|data source|see|copyright|©|last updated|generated|exported|legend|key)\b", re.IGNORECASE
)
_LOGGER_WITH_UNITS = "TOA5"  # two rows follow its names, with units and with how each value was made, whatever they hold
_MADE = frozenset("Smp Avg Tot Std Max Min Med WVc".split())  # how a logger makes a value
_LOGGERS = (_LOGGER_WITH_UNITS, "TOACI1")


@dataclass
class Layout:
    """``columns`` are the names as they stand in the table, empty where there are none. ``why`` says why there is a row of names, or none.
    ``short`` has the lower name of a column whose name was put together from two rows, and ``units`` the unit of a column from a row of units.
    """

    columns: list[str]
    rows: list[Row]
    has_header: bool
    why: str
    repairs: list[Repair] = field(default_factory=list)
    short: dict[str, str] = field(default_factory=dict)
    units: dict[str, str] = field(default_factory=dict)


def of(rows: list[Row], wanted: set[str], repair: bool, named: list[str] | None = None, above: list[list[str]] | None = None) -> Layout:
    """The layout of a table with at least one row. ``wanted`` holds column names from the settings, in lower case; ``named`` the names of the
    columns where a comment says them; ``above`` are the rows before the table. Without ``repair`` only titles are told from data.
    """
    found: list[Repair] = []
    logged = any(row and row[0].strip() == _LOGGER_WITH_UNITS for row in (rows[0][1], *(above or [])))
    rows = _without_titles(_without_questions(rows, found) if repair and named is None else rows, found)
    rows = _without_comment(rows, found) if repair else rows
    first = rows[0][1]
    surveyed = bool(found) and found[0].code == "questions"
    top = _two_levels(rows) if repair and named is None and not logged and not surveyed else None
    skip = 1 if named is None else 0
    if top:
        skip, first = 2, top[0]
        pairs = some([c for c in first if c in top[1]], 4)
        found.append(Repair("header_rows", 2, f"Two rows of names are read as one, for example {pairs}."))
    below = _unit_rows(rows, skip, found, logged) if repair else skip
    measured = _units_of(first if named is None else named, [row for _, row in rows[skip:below]])
    short = top[1] if top else {}
    if repair and below == 1 and (codes := _codes(rows)):
        below, short = 2, dict(zip(map(str.strip, first), codes))
        found.append(Repair("header_rows", 2, f"The row below the names of the columns holds their codes ({some(codes, 4)}), which are not data."))
    body = [row for _, row in rows[below : below + dialects.SAMPLE_ROWS]]
    if named is not None:
        has_header, why = True, "the last comment before the rows names the columns"
        first = named
    elif surveyed:
        has_header, why = True, "questions and their numbers in the survey follow its first row"
    elif top or below > skip:
        has_header, why = True, "units or more names follow its first row"
    else:
        has_header, why = dialects.header(first, body, wanted)
    if not has_header:
        below = 0
    repeated = rows[0][1]
    data = [(i, row) for i, row in rows[below:] if row != repeated] if has_header and named is None else rows[below:]
    if repair:
        data = totals.without(_without_notes(data, found), found)
    return Layout(first if has_header else [""] * len(first), data, has_header, why, found, short, measured if has_header else {})


def _without_titles(rows: list[Row], found: list[Repair]) -> list[Row]:
    """The rows without titles at the beginning, and without what a logger says about itself."""
    if rows[0][1][0].strip() in _LOGGERS and len(rows) > 1:
        found.append(Repair("lines_before_header", 1, "1 line of the logger before the names of the columns is not read."))
        return rows[1:]
    count = _titles(rows)
    if not count:
        return rows
    is_read = "is" if count == 1 else "are"
    found.append(Repair("lines_before_header", count, f"{rows_of(count)} of titles before the names of the columns {is_read} not read."))
    return rows[count:]


def _without_questions(rows: list[Row], found: list[Repair]) -> list[Row]:
    """The rows without the two that Qualtrics writes below the names: each question, and its number in the survey."""
    if len(rows) < 4 or not all(c.strip().startswith('{"ImportId"') for c in rows[2][1]):
        return rows
    found.append(
        Repair("questions", 2, "2 rows below the names of the columns hold the questions and their numbers in Qualtrics, which are no data.")
    )
    return [rows[0], *rows[3:]]


def _without_comment(rows: list[Row], found: list[Repair]) -> list[Row]:
    """The rows without a comment right below the names, as QIIME 2 writes the kinds of its columns."""
    if len(rows) < 4 or not rows[1][1][0].startswith("#") or any(row[0].startswith("#") for _, row in rows[2:]):
        return rows
    found.append(Repair("comment_lines", 1, "The row below the names of the columns begins with # and is not read."))
    return [rows[0], *rows[2:]]


def _titles(rows: list[Row]) -> int:
    """How many rows at the beginning are almost empty, where names of columns follow them, or filled rows follow single texts."""
    filled = [sum(bool(c.strip()) for c in row) for _, row in rows[: MAX_TITLES + dialects.SAMPLE_ROWS]]
    typical = sorted(filled)[len(filled) // 2]
    first = next((i for i, n in enumerate(filled[:MAX_TITLES]) if n >= 0.8 * typical), 0)
    if typical < 3 and (above := _above_numbers(rows)):
        return above
    if not first or typical < 3 or len(rows) - first < 2:
        return 0
    below_titles = (i for i in (first - 2, first - 1) if i > 0 and max(filled[:i]) <= max(1, typical / 2))
    if start := next((i for i in below_titles if _two_levels(rows[i:])), 0):
        return start
    if max(filled[:first]) > max(1, typical / 2):
        return 0
    if start := next((i for i in (first - 2, first - 1) if i >= 0 and _two_levels(rows[i:])), None):
        return start
    if start == 0:
        return 0
    below = [row for _, row in rows[first + 1 : first + dialects.SAMPLE_ROWS]]
    single = all(n == 1 and row[0].strip() and not dialects.is_number(row[0]) for n, (_, row) in zip(filled[:first], rows))
    return first if dialects.header(rows[first][1], below, set())[0] or (single and _mostly_filled(below)) else 0


def _above_numbers(rows: list[Row]) -> int:
    """How many rows before the names of columns of numbers tell something else, such as the settings of an instrument: Sample, 12. The cells of such
    a row are not all numbers, and at least two of them stand above the names."""
    numbers = [all(map(dialects.is_number, row)) for _, row in rows[: MAX_TITLES + dialects.SAMPLE_ROWS]]
    first = next((i for i, of_numbers in enumerate(numbers[:MAX_TITLES]) if of_numbers), 0)
    if first < 3 or sum(numbers[first:]) < NUMERIC * len(numbers[first:]):
        return 0
    names = [c.strip() for c in rows[first - 1][1]]
    are_names = all(names) and len(set(names)) == len(names) and not any(dialects.is_number(c) or units.is_unit(c) for c in names)
    return first - 1 if are_names else 0


def _mostly_filled(rows: list[list[str]]) -> bool:
    filled = [sum(bool(c.strip()) for c in row) for row in rows]
    return sum(n > len(rows[0]) / 2 for n in filled) >= 0.8 * len(filled)


def _two_levels(rows: list[Row]) -> tuple[list[str], dict[str, str]] | None:
    """The names from the first two rows, where the upper one names groups of columns, and the short names of the columns; else None."""
    if len(rows) < 4:
        return None
    upper, lower = ([c.strip() for c in row] for _, row in rows[:2])
    blanks = [i for i, (a, b) in enumerate(zip(upper, lower)) if not a and b]
    repeats = [i for i, (a, b) in enumerate(zip(upper, upper[1:]), 1) if a and a == b and lower[i] != lower[i - 1]]
    if (not blanks and not repeats) or not any(upper) or any(dialects.is_number(c) for c in (*upper, *lower) if c):
        return None
    if not repeats and (
        blanks == [0] or ((all(lower) or (upper[0] and lower[0])) and sum(map(bool, upper)) == 1)
    ):  # an index without a name, or a title
        return None
    numeric = _numeric(rows[min(4, len(rows) - 1) :])  # rows of units may follow
    named = [i for i in numeric if lower[i] and lower[i].lower() not in values.MAY_BE_MISSING]
    if not numeric or 2 * len(named) < len(numeric) or not set(named) & {*blanks, *repeats} or _occurs_again(rows, 1, named):
        return None
    if all(units.is_unit(lower[i]) for i in named) or len({lower[i] for i in named}) < len({(upper[i], lower[i]) for i in named}) / 2:
        return None
    names, short, group = [], {}, ""
    for above, below in zip(upper, lower):
        group = above or (group if below else "")
        names.append(f"{group} {below}" if group and below and group != below else below or above)
        if group and below and group != below:
            short[names[-1]] = below
    return (names, short) if len(set(filter(None, names))) == sum(map(bool, names)) else None


def _unit_rows(rows: list[Row], start: int, found: list[Repair], logged: bool) -> int:
    """The index of the first row of data: behind rows of units, and behind the row of formats of USGS. ``logged``: below the names of TOA5."""
    below = start
    shown: list[str] = []
    while below < min(start + MAX_UNIT_ROWS, len(rows) - 1) and (cells := _of_logger(rows[below][1]) if logged else _units(rows, below)):
        shown += cells
        below += 1
    if below > start:
        what = f"The {'row' if below == start + 1 else f'{below - start} rows'} below the names of the columns"
        found.append(
            Repair(
                "units_row",
                below - start,
                f"{what} {'holds' if below == start + 1 else 'hold'} units ({some(dict.fromkeys(shown), 4)}), which are not data.",
            )
        )
    return below


def _units_of(columns: list[str], rows: list[list[str]]) -> dict[str, str]:
    """The unit of each column that has one in these rows, which may also say how its values were made."""
    cells = ((name.strip(), c.strip()) for row in reversed(rows) for name, c in zip(columns, row))
    return {name: c for name, c in cells if name and units.is_unit(c) and c not in _MADE}


def _codes(rows: list[Row]) -> list[str]:
    """The codes of the columns in the second row, below names in words: Q1, Q2, Q3, each with the next number. None where it may be data."""
    if len(rows) < 4:
        return []
    names, cells = ([c.strip() for c in row] for _, row in rows[:2])
    codes = [_CODE.fullmatch(c) for c in cells]
    if len(cells) < 3 or not all(names) or not all(codes) or any(map(_CODE.fullmatch, names)) or any(map(dialects.is_number, names)):
        return []
    numbers = [int(c[2]) for c in codes if c]
    counts = numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    alike = len({c[1] for c in codes if c}) == 1
    return cells if counts and alike and _numeric(rows[2:]) and not _occurs_again(rows, 1, range(len(cells))) else []


def _of_logger(row: list[str]) -> list[str]:
    """The units in a row below the names of a logger; none where it is a row of data, which begins with a time."""
    return [] if any(c.isdigit() for c in row[0]) else [c for c in map(str.strip, row) if c] or ["none"]


def _units(rows: list[Row], at: int) -> list[str]:
    """The units in the row at this index; none where it is a row of data."""
    cells = [c.strip() for c in rows[at][1]]
    below = [row for _, row in rows[at + 1 : at + 1 + dialects.SAMPLE_ROWS]]
    if all(map(_FORMAT.fullmatch, cells)) and len(cells) > 1:
        return [] if any(_FORMAT.fullmatch(c.strip()) for row in below for c in row) else cells
    of_units = [i for i, c in enumerate(cells) if units.is_unit(c)]
    if (
        not of_units
        or any(dialects.is_number(c) for c in cells if c != "1")
        or any(dialects.is_number(c) for c in rows[at - 1][1] if at and c.strip())
    ):
        return []
    if not all(units.may_stand_beside(c) for c in cells):
        return []
    numeric = _numeric(rows[at + 2 :] or rows[at + 1 :])  # a second row of units may follow
    named = [i for i in numeric if i in of_units]
    if not named or 2 * len(named) < len(numeric) or _occurs_again(rows, at, range(len(cells))):
        return []
    return [cells[i] for i in named]


def _occurs_again(rows: list[Row], at: int, columns) -> bool:
    """Whether a cell of the row at this index stands in its column again, as values do and names and units do not."""
    cells = rows[at][1]
    for _, row in itertools.islice(rows, at + 1, at + 1 + dialects.SAMPLE_ROWS):
        if row != cells and any(row[i].strip() == cells[i].strip() and cells[i].strip().lower() not in values.MAY_BE_MISSING for i in columns):
            return True
    return False


def _numeric(rows: list[Row]) -> list[int]:
    """The columns of numbers."""
    sample = [row for _, row in rows[: dialects.SAMPLE_ROWS]]
    found = []
    for i in range(len(sample[0]) if sample else 0):
        known = [c for row in sample if (c := row[i].strip()).lower() not in values.MAY_BE_MISSING]
        if known and sum(map(dialects.is_number, known)) >= NUMERIC * len(known):
            found.append(i)
    return found


def _without_notes(rows: list[Row], found: list[Repair]) -> list[Row]:
    """The rows without those at the end that hold one text in their first cell, below a table whose rows are filled."""
    width = len(rows[0][1]) if rows else 0
    count = 0
    while width >= 3 and count < min(MAX_TITLES, len(rows) - 2) and _is_note(rows[-1 - count][1]):
        count += 1
    above = [row for _, row in rows[: len(rows) - count][-dialects.SAMPLE_ROWS :]]
    if not count or not _mostly_filled(above) or sum(len(row[0].split()) for row in above) >= 3 * len(above):
        return rows
    if not any(_NOTE.match(row[0].strip()) for _, row in rows[-count:]) and any(not row[0].strip() for row in above):
        return rows
    found.append(
        Repair("notes", count, f"{rows_of(count)} of notes below the data {'is' if count == 1 else 'are'} not read.", "a note below the data")
    )
    return rows[: len(rows) - count]


def _is_note(row: list[str]) -> bool:
    first = row[0].strip()
    long = len(first.split()) >= 3 or _NOTE.match(first) is not None
    return long and not dialects.is_number(first) and not any(c.strip() for c in row[1:])
