"""Tables whose columns are times, so that each row is a series: one column for each year, month or day, or the months of the year in each row."""

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy

from trainer.data import names, series
from trainer.data.columns import clocks, dates, step_columns, values
from trainer.data.columns.profiles import Profile
from trainer.data.formats.table import Table
from trainer.errors import some

MIN_TIMES = 8
MIN_FEW = 1  # of a table that is known to be turned
MONTHS = 12
ROW = "row"  # the column with the number of the row, where nothing else tells series apart
_MOST_KEYS = 4  # columns that together tell series apart
_FEWEST_NUMBERS = 0.9  # of the columns of times that have cells hold numbers
_UNLIKE = 0.8  # a ratio of Bartels, from which neighbours are hardly more alike than strangers
_SAMPLED = 500  # rows that tell whether neighbouring columns are alike
_FEW = 6  # columns of properties of the rows that are looked at one by one
_YEAR = re.compile(r"(?P<before>[^\W\d_]{0,12}[ _.]?)(?P<year>1[6-9]\d\d|20\d\d|2100)(?: \[YR\d{4}\])?")
_BEFORE = re.compile(r"[Xx](?=\d)|[A-Za-z]{2,12}[ _](?=\d)")  # what programs put before a name that begins with a digit
PLACES = frozenset("lat latitude lon long lng longitude x y easting northing elevation altitude alt height depth elev".split())
_NO_TIMES = re.compile(r"wave|spect|band|raman|mass|m/z|\bnm\b|freq|channel|pixel|gene|probe|age\b", re.IGNORECASE)
_OF_EXAMPLES = frozenset("sample samples sampleid sample_id specimen subject patient barcode library accession feature".split())
_SUMS = re.compile(r"ann(ual)?|year(ly)?|mean|total|sum|avg|average|j-d|d-n|djf|mam|jja|son|metann|jahr|mittel", re.IGNORECASE)


@dataclass(frozen=True)
class Across:
    """``times`` are the columns that are times, and ``named`` says for each how the time is written. With ``year``, a column of years, the times are
    the months of that year.

    ``ids`` are the columns that tell the rows apart, () for a single row or one for each year, and (ROW,) where the number of the row does.
    ``unused`` are the others. With ``steps``, the columns are numbered steps without times, of which ``season`` are a season; 0 where nothing says
    so. ``step`` says how long one is, and ``ahead`` how many are to be forecast, where that is known. ``doubt`` says what else the table may be, as a
    sentence; it is empty where nothing else can be meant.
    """

    times: tuple[str, ...]
    named: tuple[str, ...]
    ids: tuple[str, ...] = ()
    year: str = ""
    unused: tuple[str, ...] = ()
    doubt: str = ""
    steps: bool = False
    season: int = 0
    step: str = ""
    ahead: int = 0

    def texts(self, years: Sequence[str]) -> list[str]:
        """The times of all cells of a table with a column of ``years``, row by row."""
        read = {y: values.label(y) for y in set(years)}
        return [f"{read[y]}-{month}" for y in years for month in self.named]


def find(tables: list[Table], seen: dict[str, Profile], ids: Sequence[str] = (), least: int = MIN_TIMES, asked: bool = False) -> Across | None:
    """The times that are columns of ``tables``, of which ``seen`` has the profiles; None where these are none, or a column is named as a label.

    ``ids`` are columns that tell the rows apart, where this is known. There are at least as many times as ``least``. Columns that are numbered alone
    count where a series was ``asked`` for, or where rows end at different ones.
    """
    if (steps := step_columns.of(list(seen), least)) and not any(n in ids for n in steps):
        return _in_steps(tables, seen, steps, ids, asked)
    if (found := _times([n for n in seen if n not in ids], least) or _months(seen)) is None:
        return None
    there = [n for n in found.times if seen[n].cells]
    if not there or sum(seen[n].numeric or _are_numbers(tables, n) for n in there) < _FEWEST_NUMBERS * len(there):
        return None
    others = [n for n in seen if n not in (*found.times, found.year) and seen[n].distinct > 0]
    if not ids and _label(others, found, seen):
        return None
    told = tuple(ids) if ids else _ids(tables, others, seen, found)
    if told is None and any(seen[n].is_class for n in others):
        return None
    rows = sum(len(t.rows) for t in tables)
    found = replace(found, ids=(ROW,) if told is None else told, unused=tuple(n for n in others if n not in (told or ())))
    if told is None and not found.year and rows > 1:
        return replace(found, doubt="No column tells its rows apart.")
    return found if ids else replace(found, doubt=_doubt(tables, seen, found))


def _in_steps(tables: list[Table], seen: dict[str, Profile], steps: tuple[str, ...], ids: Sequence[str], asked: bool) -> Across | None:
    """Numbered columns as the steps of a series in each row; None where they may as well be anything else."""
    others = [n for n in seen if n not in steps and seen[n].distinct > 0]
    if not all(seen[n].numeric or not seen[n].cells for n in steps):
        return None
    known, m3 = step_columns.frequency(tables[0].name), step_columns.of_m3(seen)
    if m3:
        ids = (m3,)
    elif not ids and len(others) == 1 and not seen[others[0]].numeric and seen[others[0]].distinct == sum(len(t.rows) for t in tables):
        ids = others
    ragged = m3 or step_columns.are_ragged(tables[0], steps)
    if not ids and asked:
        ids = _ids(tables, others, seen, Across(steps, steps)) or (ROW,)
    if not ids or not (asked or ragged):
        return None
    doubt = "" if asked or m3 or known else "They may be its steps, or anything else."
    step, season = known or ("", 0)
    named = tuple(str(i) for i in range(1, len(steps) + 1))
    ahead = step_columns.ahead(tables[0], seen) if m3 else 0
    unused = tuple(n for n in others if n not in ids)
    return Across(steps, named, tuple(ids), unused=unused, doubt=doubt, steps=True, season=season, step=step, ahead=ahead)


def are_steps(columns: list[str]) -> bool:
    """Whether the names of ``columns`` end with many numbered ones."""
    return bool(step_columns.of(columns, MIN_TIMES))


def are_times(columns: list[str]) -> bool:
    """Whether the names of ``columns`` are times, many of them, or contain the months of a year."""
    months = [n for n in columns if not n[:1].isdecimal() and dates.month(n)]
    return len(months) == MONTHS or _times(columns, MIN_TIMES) is not None


def _times(columns: list[str], least: int) -> Across | None:
    """Columns that are dates, months, quarters or weeks, or years that follow one another."""
    for cut in (lambda n: n, lambda n: _BEFORE.sub("", n, count=1)):
        short = {n: cut(n.strip()) for n in columns}
        times = [n for n in columns if dates.is_date(short[n]) or dates.is_period(short[n])]
        if len(times) >= least and len({_BEFORE.match(n.strip())[0] if short[n] != n.strip() else "" for n in times}) == 1:
            read = dates.seconds([short[n] for n in times]) if dates.is_date(short[times[0]]) else dates.period
            grows = numpy.diff([read(short[n]) for n in times])
            return Across(tuple(times), tuple(short[n] for n in times)) if (grows > 0).all() or (grows < 0).all() else None
    return _years(columns, least)


def _years(columns: list[str], least: int) -> Across | None:
    """Years that follow one another in equal steps, where no other column is a number: wavelengths and ages pass through years, too."""
    found = {n: m for n in columns if (m := _YEAR.fullmatch(n.strip()))}
    before = {m["before"] for m in found.values()}
    if len(found) < least or len(before) != 1:
        return None
    numbered = re.compile(re.escape(before.pop()) + r"[-+]?\d+(\.\d+)?")
    if any(numbered.fullmatch(n.strip()) for n in columns if n not in found):
        return None
    steps = numpy.diff([int(m["year"]) for m in found.values()])
    if len(steps) and (steps[0] not in (1, 5, 10) or (steps != steps[0]).any()):
        return None
    return Across(tuple(found), tuple(m["year"] for m in found.values()))


def _months(seen: dict[str, Profile]) -> Across | None:
    """A column of years, and one column for each month of the year by its name."""
    months = {n: dates.month(n) for n in seen if not n.strip()[:1].isdecimal() and dates.month(n)}
    years = [n for n in seen if clocks.is_of_rows(n) and n.strip().lower() in ("year", "yr", "jahr", "año", "ano", "annee", "année", "anno")]
    if len(years) != 1 or list(months.values()) != list(range(1, MONTHS + 1)) or not seen[years[0]].numeric:
        return None
    return Across(tuple(months), tuple(f"{m:02}" for m in months.values()), year=years[0])


def _are_numbers(tables: list[Table], name: str) -> bool:
    """Whether a column has numbers besides signs for a gap, of which tables of statistics have many, such as .. and :."""
    cells = [c for t in tables for c in t.sample(name) if any(map(str.isalnum, c)) and c.strip().lower() not in values.MAY_BE_MISSING]
    return sum(values.number(c, values.uses_comma(cells)) is not None for c in cells) >= _FEWEST_NUMBERS * len(cells)


def _label(others: list[str], found: Across, seen: dict[str, Profile]) -> bool:
    """Whether one of the ``others`` is a label by its name, or stands as one behind all times."""
    order = list(seen)
    last = max(map(order.index, found.times))
    behind = [n for n in others if order.index(n) > last and seen[n].distinct > 1 and not (found.year and _SUMS.fullmatch(n.strip()))]
    return any(n.strip().lower() in names.LABELS for n in others) or any(seen[n].is_class or seen[n].is_measure for n in behind)


def _ids(tables: list[Table], others: list[str], seen: dict[str, Profile], found: Across) -> tuple[str, ...] | None:
    """The fewest columns that tell the rows apart, the first ones where several do; None where there are none."""
    rows = sum(len(t.rows) for t in tables)
    cells = {n: [c.strip() for t in tables for c in t.cells(n)] for n in (*others, *([found.year] if found.year else []))}
    more = (found.year,) if found.year else ()

    def apart(of: Sequence[str]) -> bool:
        return len(set(zip(*(cells[n] for n in (*of, *more))))) == rows

    if rows == 1 or (more and apart(())):
        return ()
    may_be = [n for n in others if not seen[n].numeric and not seen[n].tells_when_or_where and seen[n].distinct > 1]
    may_be += [n for n in others if seen[n].numeric and seen[n].distinct > 1 and (seen[n].counts_up or names.is_identifier(n) or _codes(n, cells[n]))]
    for count in range(1, _MOST_KEYS + 1):
        for of in itertools.combinations(may_be[:_FEW], count):
            if apart(of):
                return of
    return None


def _codes(name: str, cells: list[str]) -> bool:
    """Whether whole numbers, each once, may be codes of the rows and no measure of them."""
    return name.strip().lower() not in PLACES and len(set(cells)) == len(cells) and all(c.isdecimal() for c in cells)


def _doubt(tables: list[Table], seen: dict[str, Profile], found: Across) -> str:
    """What else the table may be, as a sentence; empty where it is series beyond doubt."""
    for name in found.unused:
        p, plain = seen[name], name.strip().lower()
        if p.distinct <= 1 or p.tells_when_or_where or names.is_identifier(name) or plain in PLACES or (found.year and _SUMS.fullmatch(plain)):
            continue
        if (p.is_class or p.is_measure) and not _same(tables, name, found.ids):
            return f"Its column {name} could be predicted as well."
    years = all(t.isdecimal() and len(t) == 4 for t in found.named) and not found.year
    if years and (strange := [n for n in (*found.ids, *(t.name for t in tables)) if _NO_TIMES.search(n) or n.strip().lower() in _OF_EXAMPLES]):
        return f"By the name {some(strange, 1)}, the columns may be something else than years."
    if years and _unlike(tables, seen, found):
        return "Neighbouring columns are no more alike than others, so they may be something else than years."
    return ""


def _same(tables: list[Table], name: str, ids: tuple[str, ...]) -> bool:
    """Whether a column says the same as one of ``ids`` in other words, as a code beside a name does."""
    cells = [c for t in tables for c in t.cells(name)]
    for of in ids if ids != (ROW,) else ():
        others = [c for t in tables for c in t.cells(of)]
        if len(set(cells)) == len(set(others)) == len(set(zip(cells, others))):
            return True
    return False


def _unlike(tables: list[Table], seen: dict[str, Profile], found: Across) -> bool:
    """Whether the numbers of a row are no more alike in neighbouring columns than in others."""
    step = max(1, sum(len(t.rows) for t in tables) // _SAMPLED)
    read = [[_number(c, seen[n]) for c in [c for t in tables for c in t.cells(n)][::step]] for n in found.times]
    content = numpy.array(read, float).T
    row, column = numpy.nonzero(~numpy.isnan(content))
    if len(row) < 2 * series.MIN_PAIRS:
        return False
    looked = series.look(clocks.Clock("", column.astype(float), True, ()), content[row, column], False, {ROW: row} if len(content) > 1 else {})
    return looked is not None and looked.ratio > _UNLIKE


def _number(cell: str, p: Profile) -> float:
    read = values.fast_number(cell, p.comma)
    return numpy.nan if read is None or read in p.fills else read
