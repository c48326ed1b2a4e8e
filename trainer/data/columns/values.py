"""Parses cells as numbers and dates in the notations of different countries."""

import math
import re
from dataclasses import dataclass

from trainer.data.columns import amounts

SAMPLE = 5000
LONGEST = 60  # characters of a number
LARGEST = 1e100  # of the numbers that are read: squares of larger ones do not add up
MOSTLY = 0.95  # of the cells that are not empty make a column one of numbers or dates
_MISSING = frozenset(("", "na", "n/a", "nan", "null", "none", "?", "-"))
_NO_LABEL = frozenset(("nan", "null", "n/a", "<na>"))  # but not none, na or -, which may well be classes
_WHOLE = re.compile(r"([+-]?\d+)\.0+")
_POINT = re.compile(r"[+-]?(?=\.?\d)(\d+|[1-9]\d{0,2}(,\d{3})+)?(\.\d+|\.)?([eE][+-]?\d+)?")
_COMMA = re.compile(r"[+-]?(?=,?\d)(\d+|[1-9]\d{0,2}(\.\d{3})+)?(,\d+|,)?([eE][+-]?\d+)?")
_DATE = re.compile(r"(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2}))([T ]\d{1,2}:\d{2}.*)?")


@dataclass(frozen=True)
class Style:
    """How the numbers of a column are written: with a decimal comma or point, and with which unit; None if any unit will do."""

    comma: bool = False
    unit: str | None = None

    def described(self) -> dict:
        return {"comma": self.comma, "unit": self.unit}

    @staticmethod
    def restored(described) -> "Style":
        """The style that ``described`` says, which comes from the files of a model and so from outside."""
        read = described if isinstance(described, dict) else {}
        unit = read.get("unit")
        return Style(read.get("comma") is True, unit if isinstance(unit, str) else None)


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
    """``cells`` so that ``float`` reads them, unchanged where it does already; empty where they are no numbers."""
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
    return "" if value is None else repr(value)


def is_missing(cell: str) -> bool:
    """Whether ``cell`` is one of the signs that programs write for an unknown value."""
    return cell.strip().lower() in _MISSING


def label(cell: str) -> str:
    """``cell`` as the name of a class, which is empty where there is none. Programs write the class 1 as 1.0 once a cell beside it is empty."""
    text = cell.strip()
    whole = _WHOLE.fullmatch(text)
    return whole[1] if whole else "" if text.lower() in _NO_LABEL else text


def is_date(cell: str) -> bool:
    return _DATE.fullmatch(cell.strip()) is not None


def sample(cells: list) -> list:
    """At most SAMPLE of ``cells``, from all over: files are often sorted."""
    return cells[:: math.ceil(len(cells) / SAMPLE)] if len(cells) > SAMPLE else cells
