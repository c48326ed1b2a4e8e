"""What the columns of a table hold, as far as their cells tell."""

from dataclasses import dataclass, field

from trainer.data import names
from trainer.data.columns import amounts, values
from trainer.data.columns.amounts import Notation
from trainer.data.formats.table import Table

MIN_TEXT_WORDS = 3.0  # on average, for a column to be taken as text without a telling name
FEW_NUMBERS = 20  # different values, up to which a number may be a class
FEW_VALUES = 50  # different values, up to which anything may be a class or a category
FEW_SHARE = 20  # rows for each value, from which more than FEW_VALUES are few
MIXED = "some of its numbers have a decimal comma and others a decimal point"
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

    @property
    def numeric(self) -> bool:
        return self.cells > 0 and self.numbers >= values.MOSTLY

    @property
    def style(self) -> values.Style:
        return values.Style(self.comma, self.notation.unit)

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
        """Numbers with many values, which do not merely count the rows."""
        return self.numeric and self.distinct > FEW_NUMBERS and not self.is_class and not self.is_identifier

    @property
    def is_free_text(self) -> bool:
        phrases = self.distinct <= min(FEW_VALUES, self.cells // 10)  # the same few over and over, as in a questionnaire
        return not (self.numeric or phrases) and self.dates < values.MOSTLY and self.words >= MIN_TEXT_WORDS

    @property
    def is_identifier(self) -> bool:
        """As many values as rows, which name or number the rows."""
        if self.cells < MIN_ROWS or self.distinct < 0.99 * self.cells:
            return False
        if self.numeric:
            return self.counts_up or (names.is_identifier(self.name) and not self.comma)
        return self.words < MIN_TEXT_WORDS and self.dates < values.MOSTLY


def of(tables: list[Table]) -> dict[str, Profile]:
    """The profile of every column of the tables, which share their columns."""
    rows = sum(len(t.rows) for t in tables)
    return {name: _profile(name, [c for t in tables for c in map(str.strip, t.cells(name)) if c], rows) for name in tables[0].columns}


def _profile(name: str, cells: list[str], rows: int) -> Profile:
    known = [c for c in values.sample(cells) if not values.is_missing(c)]
    comma = values.uses_comma(known)
    numbers, notation = _numbers(known, comma)
    distinct = {values.label(c) for c in set(cells)} - {""}
    return Profile(
        name,
        rows,
        len(cells),
        len(distinct),
        sum(len(c[:10_000].split()) for c in known) / len(known) if known else 0.0,
        numbers,
        sum(map(values.is_date, known)) / len(known) if known else 0.0,
        sum(c[0] + c[-1] == "[]" for c in known) / len(known) if known else 0.0,
        comma,
        _counts_up(distinct),
        notation,
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


def _counts_up(distinct: set[str]) -> bool:
    if not distinct or not all(c.isascii() and c.isdecimal() and len(c) < 10 for c in distinct):
        return False
    numbers = set(map(int, distinct))
    return min(numbers) in (0, 1) and max(numbers) - min(numbers) == len(numbers) - 1
