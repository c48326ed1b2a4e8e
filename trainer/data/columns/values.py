"""Parses cells as numbers in the notations of different countries."""

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from trainer.data import names
from trainer.data.columns import amounts

SAMPLE = 5000
LONGEST = 60  # characters of a number
MOST_FILLS, MOST_SPELLINGS = 100, 2_000  # fill values, and spellings or names of classes, of a column
LARGEST = 1e100  # of the numbers that are read: squares of larger ones do not add up
_MEASURED, _SHARE = 10, 0.1  # different numbers, and the share of the cells, that are measured beside those below a limit
MOSTLY = 0.95  # of the cells that are not empty make a column one of numbers or dates
_ERRORS = ("#n/a", "#div/0!", "#value!", "#ref!", "#name?", "#num!", "#null!")  # of spreadsheets
_MISSING = frozenset(("", "na", "n/a", "nan", "null", "none", "?", "-", *_ERRORS))
MAY_BE_MISSING = _MISSING | frozenset(("--", "***", "nd", "m", "inf", "-inf"))  # beside numbers; alone, some of them may mean something
_GAPS = frozenset((
    *("m", "miss", "missing", "msg", "nodata", "no data", "no_data", "not available", "n.a.", "n.a", "unknown", "unavailable"),
    *("undetermined", "not determined", "not done", "not measured", "not tested", "not sampled", "pending"),
))  # fmt: skip
_SIGNS = re.compile(r"[-*.:_/?\u2013\u2014\u2026\u2212]{1,5}")
_NO_LABEL = frozenset(("nan", "null", "n/a", "<na>", *_ERRORS))  # but not none, na or -, which may well be classes
_WHOLE = re.compile(r"([+-]?\d+)\.0+")
_POINT = re.compile(r"[+-]?(?=\.?\d)(\d+|[1-9]\d{0,2}(,\d{3})+)?(\.\d+|\.)?([eE][+-]?\d+)?")
_LIMIT = re.compile(r"([<>≤≥])=?\s*(.+)")
_COMMA = re.compile(r"[+-]?(?=,?\d)(\d+|[1-9]\d{0,2}(\.\d{3})+)?(,\d+|,)?([eE][+-]?\d+)?")


@dataclass(frozen=True)
class Style:
    """How the numbers of a column are written: with a decimal comma or point, and with which unit; None if any unit will do.

    ``fills`` are the numbers that stand for a gap. ``is_class`` marks the column of a label that names classes; ``spellings`` then has the class
    for cells that are written in another way than it, empty for those that are none. With ``limits``, <0.5 and >100 are numbers, too.
    """

    comma: bool = False
    unit: str | None = None
    fills: tuple[float, ...] = ()
    is_class: bool = False
    spellings: tuple[tuple[str, str], ...] = ()
    limits: bool = False

    def described(self) -> dict:
        more: dict = {"fills": list(self.fills)} if self.fills else {}
        if self.is_class:
            more |= {"is_class": True, "spellings": dict(self.spellings)}
        if self.limits:
            more["limits"] = True
        return {"comma": self.comma, "unit": self.unit, **more}

    @staticmethod
    def restored(described) -> "Style":
        """The style that ``described`` says, which comes from the files of a model and so from outside."""
        read = described if isinstance(described, dict) else {}
        unit, fills, spellings = read.get("unit"), read.get("fills"), read.get("spellings")
        numbers = tuple(float(n) for n in fills if type(n) in (int, float))[:MOST_FILLS] if isinstance(fills, list) else ()
        pairs = tuple((a, b) for a, b in spellings.items() if isinstance(b, str))[:MOST_SPELLINGS] if isinstance(spellings, dict) else ()
        unit = unit if isinstance(unit, str) else None
        return Style(read.get("comma") is True, unit, numbers, read.get("is_class") is True, pairs, read.get("limits") is True)


def number(cell: str, comma: bool = False, unit: str | None = None) -> float | None:
    """``cell`` as a number, or None. With ``comma`` the comma is the decimal sign and the point groups thousands.

    Currency, percent sign, parentheses and spaces between thousands are read as in ``amounts``. With ``unit``, a cell that has another
    one is no number.
    """
    if len(cell) >= LONGEST or not any(c.isdigit() for c in cell):
        return None
    text, notation = cell.strip(), _COMMA if comma else _POINT
    if notation.fullmatch(text) is None:
        amount = amounts.read(text)
        text = amount.bare
        if notation.fullmatch(text) is None or (unit is not None and amount.unit not in ("", unit)):
            return None
    plain = text.replace(".", "").replace(",", ".") if comma else text.replace(",", "")
    value = float(plain)
    return value if abs(value) < LARGEST else None


def fast_number(cell: str, comma: bool) -> float | None:
    """As ``number``, and faster where ``cell`` is written as programs write numbers."""
    if not comma:
        try:
            value = float(cell)
            return value if abs(value) < LARGEST else None
        except ValueError:
            pass
    return number(cell, comma)


def limit(cell: str, comma: bool = False, unit: str | None = None) -> float | None:
    """The number for a cell that only tells a limit of what was measured, or None: half of it for <0.5, and the limit itself for >100."""
    if (match := _LIMIT.fullmatch(cell.strip())) is None or (value := number(match[2], comma, unit)) is None:
        return None
    return value / 2 if match[1] in "<≤" and value > 0 else value


def has_limits(cells: list[str], comma: bool) -> bool:
    """Whether ``cells``, of which none is a gap, are measured numbers, and limits of such among them: not classes such as <18 and >65."""
    limited = [c for c in cells if c[:1] in "<>≤≥" and limit(c, comma) is not None]
    if not limited:
        return False
    measured = [n for c in cells if (n := number(c, comma)) is not None]
    return len(set(measured)) >= _MEASURED and len(measured) + len(limited) >= MOSTLY * len(cells) and len(measured) >= _SHARE * len(cells)


def decimal_comma(cells: list[str]) -> bool | None:
    """Whether ``cells`` are numbers with a decimal comma (True) or a decimal point (False), as far as a cell can be read in one way only.

    None where all can be read in both ways, or in none.
    """
    cells = [c for c in sample(cells) if "," in c or "." in c]
    read = [(number(c, True) is not None, number(c) is not None) for c in cells]
    comma, point = read.count((True, False)), read.count((False, True))
    return None if comma == point else comma > point


def uses_comma(cells: list[str]) -> bool:
    """Whether more of ``cells`` are numbers with a decimal comma than with a decimal point."""
    cells = [c for c in sample(cells) if "," in c]
    return sum(number(c, True) is not None for c in cells) > sum(number(c) is not None for c in cells)


def as_numbers(cells: list[str], style: Style) -> list[str]:
    """``cells`` so that ``float`` reads them, unchanged where it does already; empty where they are no numbers, or stand for a gap."""
    if style.fills:
        fills, plain = set(style.fills), replace(style, fills=())
        return ["" if c and float(c) in fills else c for c in as_numbers(cells, plain)]
    try:
        if not style.comma and min(numbers := list(map(float, cells))) > -LARGEST and max(numbers) < LARGEST and not math.isnan(sum(numbers)):
            return cells
    except ValueError:
        pass
    return [_as_number(c, style) for c in cells]


def _as_number(cell: str, style: Style) -> str:
    if not style.comma:
        try:
            return cell.strip() if abs(float(cell)) < LARGEST else ""
        except ValueError:
            pass
    value = number(cell, style.comma, style.unit)
    if value is None and style.limits:
        value = limit(cell, style.comma, style.unit)
    return "" if value is None else repr(value)


def classes(cells: list[str], style: Style) -> list[str]:
    """``cells`` as names of classes, empty where there is none."""
    read = {c: label(c) for c in set(cells)}
    spelled, fills = dict(style.spellings), set(style.fills)
    if spelled or fills:
        read = {c: "" if fills and (n := number(c, style.comma)) is not None and n in fills else spelled.get(name, name) for c, name in read.items()}
    return [read[c] for c in cells]


def is_missing(cell: str) -> bool:
    """Whether ``cell`` is one of the signs that programs write for an unknown value."""
    return cell.strip().lower() in _MISSING


def marks_gap(cell: str) -> bool:
    """Whether ``cell`` stands for a gap where all others beside it are numbers: signs such as *** and --, and words such as M and missing."""
    text = cell.strip().lower()
    return text in _MISSING or text in _GAPS or _SIGNS.fullmatch(text) is not None


def unread(cells: Iterable[str], read: Iterable[str], style: Style) -> Iterator[str]:
    """Those of the ``cells`` that ``as_numbers`` reads as empty, and which are neither empty nor stand for a gap."""
    for cell, number_of_it in zip(cells, read):
        if number_of_it or marks_gap(cell) or cell.strip().lower() in MAY_BE_MISSING:
            continue
        if not style.fills or fast_number(cell, style.comma) not in style.fills:
            yield cell


def label(cell: str) -> str:
    """``cell`` as the name of a class, which is empty where there is none. Programs write the class 1 as 1.0 once a cell beside it is empty."""
    text = names.nfc(cell.strip())
    whole = _WHOLE.fullmatch(text)
    return whole[1] if whole else "" if text.lower() in _NO_LABEL else text


def sample(cells: list) -> list:
    """At most SAMPLE of ``cells``, from all over: files are often sorted."""
    return cells[:: math.ceil(len(cells) / SAMPLE)] if len(cells) > SAMPLE else cells
