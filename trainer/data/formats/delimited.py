"""Reads delimited text: where its rows begin, how they are split, and what they are."""

import csv
import itertools
import re
from dataclasses import dataclass

from trainer.data.formats import blanks, dialect as dialects, layout, preamble, stretch, units
from trainer.data.formats.blanks import Blanks
from trainer.data.formats.dialect import Dialect
from trainer.data.formats.preamble import Comments
from trainer.data.formats.repairs import Repair, lines as lines_of
from trainer.data.formats.table import NotATable, Table
from trainer.data.names import TEXT, extension
from trainer.errors import UserError

_BESIDE_BLANKS = ",\t"  # delimiters that may stand in a table whose columns are separated by blanks
_NUMBERS = re.compile(r"\s*[+-]?[\d.]+(?:\s+[+-]?[\d.]+)+\s*")
_DELIMITERS = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "space": " ", "bar": "|", "pipe": "|"}


@dataclass(frozen=True)
class _Body:
    """The text of a table and how it is split into rows. ``lines`` are before it, ``comments`` what of them are comments."""

    text: str
    how: Dialect | Blanks
    lines: int = 0
    comments: Comments | None = None


def read(name: str, text: str, wanted: set[str], settings) -> Table:
    """The table in ``text``. Raises NotATable where it is none, and UserError for a wrong option or a quotation mark that swallows rows."""
    return split(name, text, wanted, settings)[0]


def split(name: str, text: str, wanted: set[str], settings) -> tuple[Table, Dialect | None]:
    """As ``read``, and how the cells are told apart; None where it is not by a delimiter alone."""
    text = re.sub(r"\Asep=.(?=[\r\n])", "", text)  # a line for Excel, which is no row
    try:
        body = _body(name, text, wanted, delimiter_of(settings.delimiter))
        how = body.how
        rows = _named_rows(blanks.rows(body.text, how) if isinstance(how, Blanks) else _whole_rows(name, body.text, how), how, wanted)
    except csv.Error as e:
        raise NotATable(f"cannot be split into rows ({e})") from e
    table = _table(name, body, rows, wanted, settings.repairs)
    return table, how if isinstance(how, Dialect) and body.comments is None else None


def _table(name: str, body: _Body, rows: list[tuple[int, list[str]]], wanted: set[str], repair: bool) -> Table:
    """The table in ``rows``, of which some have another number of cells than the others."""
    columns, comments = body.how.columns, body.comments
    good = [(i, row) for i, row in rows if len(row) == columns]
    if not good:
        raise NotATable("has no rows")
    repairs = []
    if comments is not None:
        repairs.append(
            Repair(
                "comment_lines",
                len(comments.texts),
                f"{lines_of(len(comments.texts))} at the beginning that begin with {comments.mark} are comments and not read.",
            )
        )
    bad = [(i, row) for i, row in rows if len(row) != columns]
    before = [row for i, row in bad if i < good[0][0]]
    after = [row for i, row in bad if i > good[-1][0]]
    marked = [i for i, row in bad if comments is not None and good[0][0] < i < good[-1][0] and row and row[0].lstrip().startswith(comments.mark)]
    if before:
        repairs.append(
            Repair(
                "lines_before_header",
                len(before),
                f"{lines_of(len(before))} before the first row of the table {'is' if len(before) == 1 else 'are'} not read.",
            )
        )
    if after:
        repairs.append(Repair("notes", len(after), f"{lines_of(len(after))} below the data {'is' if len(after) == 1 else 'are'} not read."))
    if marked:
        repairs.append(
            Repair(
                "comment_lines", len(marked), f"{lines_of(len(marked))} between the rows that begin with {comments.mark} are comments and not read."
            )
        )
    named = _named_by_comment(body, good, wanted)
    found = layout.of(good, wanted, repair, named, before)
    notes = [f"columns are separated by {body.how.name}", f"it has {'a' if found.has_header else 'no'} header, because {found.why}"]
    known = {*marked}
    lost = [i for i, _ in bad[len(before) : len(bad) - len(after)] if i not in known]
    fills = preamble.fills([" ".join(row) for row in before]) + (comments.fills if comments else ())
    return Table(
        name, found.columns, [(i + body.lines, row) for i, row in found.rows] if body.lines else found.rows, found.has_header, len(lost), notes,
        first_bad=lost[0] + body.lines if lost else 0, repairs=[*repairs, *found.repairs], fills=fills, short=found.short, units=found.units,
    )  # fmt: skip


def _named_by_comment(body: _Body, good: list[tuple[int, list[str]]], wanted: set[str]) -> list[str] | None:
    """The names of the columns in the last comment, where the rows below have none."""
    if body.comments is None:
        return None
    lines = [[c.strip() for c in _split(line, body.how)] for line in body.comments.texts[-2:]]
    lines = [cells for cells in lines if len(cells) == body.how.columns and all(cells) and not any(map(dialects.is_number, cells))]
    if not lines:
        return None
    last = min(reversed(lines), key=lambda cells: sum(map(units.is_unit, cells)))  # a comment with the units may follow that with the names
    below = [row for _, row in good[1 : dialects.SAMPLE_ROWS]]
    return None if below and dialects.header(good[0][1], below, wanted)[0] else last


def _split(line: str, how: Dialect | Blanks) -> list[str]:
    if isinstance(how, Blanks):
        return line.split()
    return next(iter(dialects.rows(line, how.delimiter, how.quoted)), [])


def _body(name: str, text: str, wanted: set[str], delimiter: str) -> _Body:
    """Where the table begins in ``text``, and how it is split into rows. Raises NotATable."""
    suffix = extension(name)
    comments = preamble.comments(text)
    if comments is not None:
        rest = text[comments.end :]
        how = _how(rest, suffix, wanted, delimiter)
        if how is not None and _are_comments(comments, how):
            return _Body(rest, how, comments.lines, comments)
    how = _how(text, suffix, wanted, delimiter)
    if how is None:
        raise NotATable("has no delimiter that gives the same number of columns, at least two, in 90% of its rows")
    return _Body(text, how)


def _how(text: str, suffix: str, wanted: set[str], delimiter: str) -> Dialect | Blanks | None:
    prose = suffix in (TEXT, "")
    found = dialects.find(text, suffix, delimiter)
    if found is not None and not delimiter and found.delimiter in _BESIDE_BLANKS and (inner := _inner_blanks(text, found)):
        return inner
    return (
        found
        or dialects.single(text, wanted)
        or stretch.find(text, suffix, delimiter, prose)
        or (blanks.find(text, prose) if delimiter in ("", " ") else None)
    )


def _inner_blanks(text: str, found: Dialect) -> Blanks | None:
    """The columns between blanks, where ``found`` has taken a decimal comma, or the one tab among blanks, for what separates them."""
    sample = list(itertools.islice(dialects.rows(text[: dialects.MAX_LINE * 2], found.delimiter, found.quoted), 30))
    body = [row for row in sample[1:-1] if len(row) == found.columns]
    numbers = [i for i in range(found.columns) if all(_NUMBERS.fullmatch(row[i]) for row in body)]
    if not body or not numbers or (found.delimiter == "\t" and (numbers != [0] or not any("  " in row[0] for row in body))):
        return None
    inner = blanks.find(text, True)
    if inner is None or inner.places:
        return None
    cells = [inner.split(line) for line in text[: dialects.MAX_LINE].splitlines()[1:-1]]
    return inner if found.delimiter == "\t" or all(map(dialects.is_number, itertools.chain.from_iterable(cells))) else None


def _are_comments(comments: Comments, how: Dialect | Blanks) -> bool:
    """Whether the lines are not rows whose first cell begins with the mark. One line that fits the rows names their columns, with its mark."""
    mark = comments.mark if isinstance(how, Dialect) and how.delimiter == comments.mark else ""  # an index column without a name
    fits = [len(_split(mark + line, how)) == how.columns for line in comments.texts]
    if len(fits) == 1:
        return not fits[0]
    return 2 * sum(fits[:-1]) < len(fits) - 1 or isinstance(how, Blanks)


def _whole_rows(name: str, text: str, dialect: dialects.Dialect) -> list[tuple[int, list[str]]]:
    """The rows that are not empty, with their numbers. Raises UserError where a quotation mark that is not closed takes in others."""
    try:
        return _rows(text, dialect.delimiter, dialect.quoted, strict=True)
    except csv.Error:  # a mark is not closed, or text follows one: either harms little, unless rows are lost in a quotation
        rows = _rows(text, dialect.delimiter, dialect.quoted)
    taken = [(i, n) for i, row in rows if (n := dialects.swallowed_rows(row, dialect))]
    if not taken:
        return rows
    literal = _rows(text, dialect.delimiter, False)
    if _uneven(literal, dialect) <= _uneven(rows, dialect):
        return literal
    raise UserError(
        "open_quote",
        f"Row {taken[0][0]} of {name} has a quotation mark that is not closed and swallows the {taken[0][1]} rows after it.",
        "Close or remove the quotation mark in that row, then submit again.",
    )


def _named_rows(rows: list[tuple[int, list[str]]], dialect: Dialect | Blanks, wanted: set[str]) -> list[tuple[int, list[str]]]:
    """The rows, where the header lacks one cell with that cell: R does not name its column of row names, others end all rows but the first
    with a delimiter.
    """
    number, first = rows[0]
    body = [row for _, row in rows[1 : dialects.SAMPLE_ROWS] if len(row) == dialect.columns]
    if len(first) != dialect.columns - 1 or not body:
        return rows
    whole = ["", *first] if any(row[-1].strip() for row in body) else [*first, ""]
    return [(number, whole), *rows[1:]] if dialects.header(whole, body, wanted)[0] else rows


def _uneven(rows: list[tuple[int, list[str]]], dialect: dialects.Dialect) -> int:
    return sum(len(row) != dialect.columns for _, row in rows)


def _rows(text: str, delimiter: str, quoted: bool, strict: bool = False) -> list[tuple[int, list[str]]]:
    return [(i, row) for i, row in enumerate(dialects.rows(text, delimiter, quoted, strict), 1) if any(c.strip() for c in row)]


def delimiter_of(wanted: str) -> str:
    """The delimiter that the option means. Raises UserError for what is none."""
    delimiter = _DELIMITERS.get(wanted.strip().lower(), wanted)
    if len(delimiter) > 1 or delimiter in ('"', "\n", "\r"):
        raise UserError(
            "wrong_setting",
            f"The option delimiter is {wanted}, which is not one character.",
            "Set it to tab, comma, semicolon or bar, or leave it empty.",
        )
    return delimiter
