"""Rows that sum up a table, at its end or below groups of rows: sums, means or extremes of the rows above, as their numbers prove."""

import math
import re

from trainer.data.columns import values
from trainer.data.formats.repairs import Repair, rows as rows_of
from trainer.errors import some

MAX_ROWS = 6  # that sum up
MIN_ROWS = 3  # of data above
LONGEST = 60  # characters of a name for sums of a group
SUM, MEAN, MEDIAN, LEAST, MOST, COUNT, SPREAD = range(7)
_WORDS = {
    SUM: r"(grand |sub)?totals?|sum|summe|gesamt|insgesamt|total general|suma|somme|totale|all|overall",
    MEAN: r"mean|average|avg\.?|mittel(wert)?|durchschnitt|moyenne",
    MEDIAN: "median",
    LEAST: r"min(imum)?\.?",
    MOST: r"max(imum)?\.?",
    COUNT: "count|n|anzahl",
    SPREAD: r"std(ev|\.? ?dev\.?)?|standard deviation|sd|stabw\.?|standardabweichung",
}
_PATTERNS = {kind: re.compile(rf"({words})[:.]?", re.IGNORECASE) for kind, words in _WORDS.items()}
_OF_GROUP = re.compile(r".+[ :_-](sub)?(total|sum|summe|gesamt)s?:?|((sub)?total|sum|summe)s?( of| for)?:? .+", re.IGNORECASE)
_ALONE_A_NAME = (LEAST, MOST, COUNT)  # Max is a name, and n a letter: one number in a row of its own proves nothing
Row = tuple[int, list[str]]


def without(rows: list[Row], found: list[Repair]) -> list[Row]:
    """``rows`` without those that begin with a word like total and hold the sums, means or extremes of the rows above: at the end, and below
    groups of rows."""
    below_groups = [i for i, (_, row) in enumerate(rows) if is_of_group(_first(row))]
    at_end = bool(rows) and _word(_first(rows[-1][1])) is not None
    if len(below_groups) < 2 and not at_end:
        return rows
    comma = _has_decimal_commas(rows)
    return _without_totals(_without_subtotals(rows, below_groups, comma, found), comma, found)


def is_of_group(cell: str) -> bool:
    """Whether a row that begins with this cell may sum up a group: North total, Summe Nord."""
    if len(cell) > LONGEST or not any(word in cell.lower() for word in ("total", "sum", "gesamt")):
        return False
    return _word(cell) is None and _OF_GROUP.fullmatch(cell) is not None


def may_end(row: list[str]) -> bool:
    """Whether a last row begins with a word for sums, so that the rows above tell whether it is one."""
    return _word(_first(row)) is not None


def _has_decimal_commas(rows: list[Row]) -> bool:
    """Whether a column has numbers with a decimal comma: then points group thousands in all of them."""
    cells = ([row[i] for _, row in rows if row[i]] for i in range(len(rows[0][1])))
    return any(values.decimal_comma(column) is True for column in cells)


def _without_subtotals(rows: list[Row], marked: list[int], comma: bool, found: list[Repair]) -> list[Row]:
    """``rows`` without the ``marked`` ones, where each of them holds the sums of the rows since the one before."""
    if len(marked) < 2:
        return rows
    for start, i in zip([0, *(i + 1 for i in marked)], marked):
        right, wrong = _proofs(rows[start:i], rows[i][1], SUM, comma, {}, least=2)
        if not right or wrong:
            return rows
    count = len(marked)
    text = f"{rows_of(count)} sum up the rows above them ({_first(rows[marked[0]][1])}), as the numbers prove, and are not read."
    found.append(Repair("totals_row", count, text, "a row of totals"))
    left = set(marked)
    return [row for i, row in enumerate(rows) if i not in left]


def _without_totals(rows: list[Row], comma: bool, found: list[Repair]) -> list[Row]:
    count = 0
    while count < MAX_ROWS and len(rows) - count > MIN_ROWS and _word(_first(rows[-1 - count][1])) is not None:
        count += 1
    if not count:
        return rows
    above, last = rows[: len(rows) - count], rows[len(rows) - count :]
    if any(_word(row[0].strip()) is not None for _, row in above):  # the word is one of the values of the column
        return rows
    columns: dict[int, list[float]] = {}
    proven = 0
    doubt = _doubt(above, last, comma, columns)
    for _, row in last:
        kind = _word(_first(row))
        right, wrong = _proofs(above, row, kind, comma, columns)
        if not right or (right < wrong if kind == SUM else wrong):
            found += doubt
            return rows
        proven += right
    if proven == 1 and _word(_first(last[0][1])) in _ALONE_A_NAME:
        return rows
    verb, is_read = ("sums", "is") if count == 1 else ("sum", "are")
    text = f"{rows_of(count)} below the data {verb} it up ({_first(last[0][1])}), as the numbers prove, and {is_read} not read."
    found.append(Repair("totals_row", count, text, "a row of totals"))
    return above


def _doubt(above: list[Row], last: list[Row], comma: bool, columns: dict[int, list[float]]) -> list[Repair]:
    """The warning for rows that may sum up the table, though their numbers are not those of the rows above; none where the words may be names."""
    named = {_first(row): row for _, row in last if _word(_first(row)) not in _ALONE_A_NAME}
    if not any(sum(_proofs(above, row, _word(word), comma, columns)) for word, row in named.items()):
        return []
    text = (
        f"{rows_of(len(last))} below the data may sum it up ({some(named, 4)}), but the numbers are not those of the rows above, so nothing is "
        "left out. Delete what is no data."
    )
    return [Repair("unclear_totals", len(last), text, is_doubt=True)]


def _first(row: list[str]) -> str:
    return next((c.strip() for c in row if c.strip()), "")


def _word(cell: str) -> int | None:
    """What a row that begins with this cell may hold; None where it is no such word."""
    return next((kind for kind, pattern in _PATTERNS.items() if pattern.fullmatch(cell)), None)


def _proofs(
    above: list[Row], row: list[str], kind: int | None, comma: bool, columns: dict[int, list[float]], least: int = MIN_ROWS
) -> tuple[int, int]:
    """How many numbers of ``row`` are what ``kind`` says of their column, and how many are not. ``columns`` keeps the columns that were read.

    Below a total, rates have their mean: that proves nothing, and speaks against nothing.
    """
    right = wrong = 0
    for i, cell in enumerate(row):
        value = values.number(cell, comma)
        if value is None:
            continue
        if i not in columns:
            columns[i] = [n for _, other in above if (n := values.number(other[i], comma)) is not None]
        numbers = columns[i]
        if len(numbers) < least or min(numbers) == max(numbers):
            continue
        decimals = len(cell.strip().rstrip("%").partition("," if comma else ".")[2])
        if any(_same(value, decimals, known) for known in _summaries(numbers, kind)):
            right += 1
        elif kind != SUM or not _same(value, decimals, math.fsum(numbers) / len(numbers)):
            wrong += 1
    return right, wrong


def _summaries(numbers: list[float], kind: int | None) -> list[float]:
    if kind == SUM:
        return [math.fsum(numbers)]
    if kind in (LEAST, MOST):
        return [min(numbers) if kind == LEAST else max(numbers)]
    if kind == COUNT:
        return [float(len(numbers))]
    mean = math.fsum(numbers) / len(numbers)
    if kind == MEAN:
        return [mean]
    ordered = sorted(numbers)
    if kind == MEDIAN:
        return [(ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2]
    square = math.fsum((n - mean) ** 2 for n in numbers)
    return [math.sqrt(square / (len(numbers) - 1)), math.sqrt(square / len(numbers))]


def _same(value: float, decimals: int, known: float) -> bool:
    """Whether ``value`` is ``known`` as far as it was rounded to ``decimals`` when it was written."""
    return abs(value - known) <= 0.51 * 10.0**-decimals + 1e-9 * abs(known)
