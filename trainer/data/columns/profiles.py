"""What the columns of a table hold, as far as their cells tell."""

import math
import re
from dataclasses import dataclass, field, replace

from trainer.core import mapped
from trainer.data import names
from trainer.data.columns import amounts, dates, fills as fill_numbers, sequences, values
from trainer.data.columns.amounts import Notation
from trainer.data.columns.summaries import Cells, Listed
from trainer.data.formats import arrow_table
from trainer.data.formats.table import Table

MIN_TEXT_WORDS = 3.0  # on average, for a column to be taken as text without a telling name
FEW_NUMBERS = 20  # different values, up to which a number may be a class
FEW_VALUES = 50  # different values, up to which anything may be a class or a category
FEW_SHARE = 20  # rows for each value, from which more than FEW_VALUES are few
_FOLDS = frozenset(("fold", "folds", "kfold", "k_fold", "cv_fold", "fold_id"))
MIXED = "some of its numbers have a decimal comma and others a decimal point"
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(\.\d{3})+")
_SHAPE = re.compile(r"(SRID=\d+;)?((MULTI)?(POINT|LINESTRING|POLYGON)|GEOMETRYCOLLECTION)\s*(Z|M|ZM)?\s*(\(\s*[\d(+-]|EMPTY)", re.IGNORECASE)
LOOK = 500  # different cells that tell whether a number may be far outside
_COUNTS = re.compile(r"(^|[\W_])(counts?|abundance)$|^(n|num|number|no)[\W_]+of[\W_]|^(n|num)_", re.IGNORECASE)
FEW_COUNTS = 5  # different numbers, from which a column that is named so counts something
SINGLE = 1.5  # words on average, below which cells are single words
MIN_ROWS = 20  # for values that are all different to mean something


@dataclass(frozen=True)
class Profile:
    """What a column holds. ``numbers``, ``dates``, ``lists`` and ``words`` (on average) are taken over a sample of the cells that are not empty."""

    name: str
    rows: int
    cells: int  # that are not empty
    distinct: int
    words: float
    numbers: float  # share
    dates: float  # share
    lists: float  # share
    comma: bool  # numbers have a decimal comma
    counts_up: bool  # whole numbers from 0 or 1 without a gap
    notation: Notation = field(default_factory=Notation)  # of the numbers
    fills: tuple[float, ...] = ()  # numbers that stand for a gap; they do not count as cells
    filled: int = 0  # cells that hold them
    marker: str = ""  # what stands for a gap wherever there is no number; it does not count as a cell
    marked: int = 0  # cells that hold it
    clock_times: float = 0.0  # share of times of day
    shapes: float = 0.0  # share of points, lines and areas, in the words of WKT
    limited: int = 0  # cells such as <0.5, which count as numbers
    sequences: float = 0.0  # share of sequences of bases or amino acids, and of molecules
    short: str = ""  # the lower name, where the name was put together from two rows
    fractions: bool = False  # some numbers are not whole

    @property
    def numeric(self) -> bool:
        return self.cells > 0 and self.numbers >= values.MOSTLY

    @property
    def style(self) -> values.Style:
        return values.Style(self.comma, self.notation.unit, self.fills, limits=self.limited > 0)

    @property
    def few(self) -> bool:
        return self.distinct <= max(FEW_VALUES, self.cells // FEW_SHARE)

    @property
    def is_class(self) -> bool:
        """Few values that repeat, and none of them a sentence: what a label looks like."""
        repeats = 2 <= self.distinct <= self.cells // 2 and self.words < MIN_TEXT_WORDS
        return repeats and self.few and (not self.numeric or self.distinct <= FEW_NUMBERS or self.counts_up)

    @property
    def is_measure(self) -> bool:
        """Numbers with many values, or with some if the name of the column says that they are counts; none that merely count the rows."""
        many = self.is_count or (self.distinct > FEW_NUMBERS and not self.is_class)
        return self.numeric and many and not self.is_identifier

    @property
    def is_count(self) -> bool:
        """Whether the name of the column says that its numbers count something."""
        return self.numeric and self.distinct >= FEW_COUNTS and _COUNTS.search(self.name.strip()) is not None

    @property
    def is_free_text(self) -> bool:
        phrases = self.distinct <= min(FEW_VALUES, self.cells // 10)  # the same few over and over, as in a questionnaire
        return not (self.numeric or phrases or self.tells_when_or_where) and (self.words >= MIN_TEXT_WORDS or self.is_sequence)

    @property
    def is_sequence(self) -> bool:
        """Texts without words, such as DNA and molecules."""
        return self.sequences >= values.MOSTLY

    @property
    def tells_when_or_where(self) -> bool:
        """Dates, times of day or shapes on a map: nothing that is predicted unless the user says so."""
        return max(self.dates, self.clock_times, self.shapes) >= values.MOSTLY

    @property
    def is_coordinate(self) -> bool:
        """Whether the name says that the numbers are coordinates of places, which are not predicted unless the user says so."""
        return self.numeric and names.coordinate(self.name) != ""

    @property
    def tells_folds(self) -> bool:
        """Whether the column numbers the parts into which people divided the rows: neither an input nor a label."""
        return self.name.strip().lower() in _FOLDS and self.numeric and self.distinct <= FEW_NUMBERS and not self.fractions

    @property
    def tells_progress(self) -> bool:
        """Whether the column says with 0, 1 and 2 how far a form was filled in, as REDCap writes it behind the answers of each form."""
        return self.name.strip().lower().endswith(("_complete", "complete?")) and self.numeric and self.distinct <= 3 and not self.fractions

    @property
    def is_named_text(self) -> bool:
        """Whether the name says that the column has texts, and its values are no few single words that repeat."""
        return self.name.strip().lower() in names.TEXT_NAMES and not (self.is_class and self.words < SINGLE)

    @property
    def is_identifier(self) -> bool:
        """As many values as rows, which name or number the rows."""
        if self.cells < MIN_ROWS or self.distinct < 0.99 * self.cells:
            return False
        if self.numeric:
            return self.counts_up or (names.is_identifier(self.name) and not self.comma and not self.fractions)
        return self.words < MIN_TEXT_WORDS and self.dates < values.MOSTLY and not self.is_sequence


def of(tables: list[Table], fill_values: str = fill_numbers.KEEP) -> dict[str, Profile]:
    """The profile of every column of the tables, which share their columns. ``fill_values`` is the option of this name. Raises UserError for a
    value that is none."""
    rows = sum(len(t.rows) for t in tables)
    first = tables[0]
    asked = fill_numbers.asked(fill_values)
    named = {float(n) for t in tables for n in t.fills} if asked is None else set(asked)
    seen = {}
    for name in first.columns:
        seen[name] = _profile(name, _summary(tables, name), rows, first.short.get(name, ""), named, asked is None)
        mapped.rest()
    if any(p.comma and p.numeric for p in seen.values()):
        for name in [n for n, p in seen.items() if not p.comma]:
            seen[name] = _with_thousands(seen[name], [c for t in tables for c in map(str.strip, t.cells(name)) if c])
    return seen


def _with_thousands(p: Profile, cells: list[str]) -> Profile:
    """The profile of a column beside others with decimal commas: points with three digits behind each then group thousands."""
    dotted = [c for c in cells if "." in c and not values.is_missing(c)]
    if not dotted or not all(map(_THOUSANDS.fullmatch, dotted)) or len(set(dotted)) < 2:
        return p
    kept = [c for c in cells if values.number(c, True) not in p.fills]
    read = _described(p.name, Listed(kept), p.rows, p.short, comma=True)
    return replace(read, fills=p.fills, filled=p.filled) if read.numeric else p


def fills(table: Table, column: str, fill_values: str) -> tuple[float, ...]:
    """The numbers that stand for a gap in a column. Raises UserError for a wrong option ``fill_values``."""
    asked = fill_numbers.asked(fill_values)
    cells = _summary([table], column)
    named = set(map(float, table.fills)) if asked is None else set(asked)
    candidates = _candidates(cells) if asked is None else []
    return tuple(sorted(set(_gaps(cells.listed(), named, candidates).values()))) if named or candidates else ()


def one(name: str, tables: list[Table]) -> Profile:
    """The profile of a single column, without fill values."""
    return _described(name, _summary(tables, name), sum(len(t.rows) for t in tables), "")


def _summary(tables: list[Table], name: str) -> Cells:
    if (found := arrow_table.summary(tables, name)) is not None:
        return found
    return Listed([c for t in tables for c in map(str.strip, t.cells(name)) if c])


def _profile(name: str, cells: Cells, rows: int, short: str, named: set[float], search: bool) -> Profile:
    if marker := _marker(cells) if search or named else "":
        known, gaps = [c for c in cells.listed() if c.lower() != marker], [c for c in cells.listed() if c.lower() == marker]
        return replace(_filled(name, Listed(known), rows, short, named, search), marker=gaps[0], marked=len(gaps))
    return _filled(name, cells, rows, short, named, search)


def _marker(cells: Cells) -> str:
    """What stands for a gap in more cells than a column of numbers may have without a number; empty for none."""
    known = [c for c in cells.sample() if not values.is_missing(c)]
    comma = values.uses_comma(known)

    def is_number(cell: str) -> bool:
        return values.fast_number(cell, comma) is not None or values.limit(cell, comma) is not None

    return fill_numbers.marker(known, is_number) if sum(map(is_number, known)) < values.MOSTLY * len(known) else ""


def _filled(name: str, cells: Cells, rows: int, short: str, named: set[float], search: bool) -> Profile:
    candidates = _candidates(cells) if search else []
    if (named or candidates) and (gaps := _gaps(cells.listed(), named, candidates)):
        kept = [c for c in cells.listed() if c not in gaps]
        profile = _described(name, Listed(kept), rows, short)
        return replace(profile, fills=tuple(sorted(set(gaps.values()))), filled=len(cells) - len(kept))
    return _described(name, cells, rows, short)


def _candidates(cells: Cells) -> list[float]:
    """The numbers among these cells that may be fill values. Most columns have none, and all cells are read only where one has."""
    candidates = fill_numbers.may_be(cells)
    if not candidates:
        return []
    first = cells.some(LOOK)
    comma = values.uses_comma(first)
    return fill_numbers.far(candidates, [n for c in first if (n := values.fast_number(c, comma)) is not None])


def _gaps(cells: list[str], named: set[float], candidates: list[float]) -> dict[str, float]:
    """The cells of a column of numbers that stand for a gap, with their numbers: those that the file or the user names, and those beyond doubt."""
    comma = values.uses_comma(cells)
    read = {c: n for c in set(cells) if (n := values.fast_number(c, comma)) is not None}
    numbers = set(read.values())

    def count(value: float) -> int:
        return sum(cells.count(c) for c, n in read.items() if n == value)

    fills = fill_numbers.find(candidates, numbers.difference(named), count, len(cells)) | numbers.intersection(named)
    if not fills or fills >= numbers:
        return {}
    gaps = {c: n for c, n in read.items() if n in fills}
    known = [c for c in cells if c not in gaps and not values.is_missing(c) and values.limit(c, comma) is None]
    return gaps if known and sum(c in read for c in known) >= values.MOSTLY * len(known) else {}


def _described(name: str, cells: Cells, rows: int, short: str, comma: bool = False) -> Profile:
    """The profile of ``cells`` as they are written; with ``comma`` as numbers with a decimal comma."""
    known = [c for c in cells.sample() if not values.is_missing(c)]
    comma = comma or values.uses_comma(known)
    limited = values.has_limits(known, comma)
    numbers, notation = _numbers([c for c in known if values.limit(c, comma) is None] if limited else known, comma)
    distinct, counts_up = cells.labels()
    return Profile(
        name,
        rows,
        len(cells),
        distinct,
        sum(len(c[:10_000].split()) for c in known) / len(known) if known else 0.0,
        numbers,
        sum(dates.is_date(c) or dates.is_compact(c) for c in known) / len(known) if known else 0.0,
        sum(c[0] + c[-1] == "[]" for c in known) / len(known) if known else 0.0,
        comma,
        counts_up,
        notation,
        clock_times=sum(not math.isnan(dates.time_of_day(c)) for c in known) / len(known) if known else 0.0,
        limited=sum(values.limit(c, comma) is not None for c in cells.listed()) if limited else 0,
        shapes=sum(_SHAPE.match(c) is not None for c in known) / len(known) if known else 0.0,
        sequences=0.0 if numbers >= values.MOSTLY else sequences.share(known),
        short=short,
        fractions=any(n is not None and not n.is_integer() for n in (values.fast_number(c, comma) for c in known)),
    )


def _numbers(known: list[str], comma: bool) -> tuple[float, Notation]:
    """The share of ``known`` that are numbers, and their notation. No cell counts as a number where the notation leaves a doubt."""
    read = [c for c in known if values.number(c, comma) is not None]
    enough = values.MOSTLY * len(known)
    if not known or len(read) < enough:
        others = sum(values.number(c, comma) is None and values.number(c, not comma) is not None for c in known) if read else 0
        mixed = others and len(read) + others >= enough
        return len(read) / max(1, len(known)), Notation(why_not=MIXED if mixed else "")
    notation = amounts.notation(read)
    return 0.0 if notation.why_not else len(read) / len(known), notation
