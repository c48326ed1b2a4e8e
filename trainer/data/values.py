"""Parses cells as numbers and dates in the notations of different countries."""

import math
import re

SAMPLE = 5000
LONGEST = 60  # characters of a number
LARGEST = 1e100  # of the numbers that are read: squares of larger ones do not add up
MOSTLY = 0.95  # of the cells that are not empty make a column one of numbers or dates
_MISSING = frozenset(("", "na", "n/a", "nan", "null", "none", "?", "-"))
_NO_LABEL = frozenset(("nan", "null", "n/a", "<na>"))  # but not none, na or -, which may well be classes
_WHOLE = re.compile(r"([+-]?\d+)\.0+")
_POINT = re.compile(r"[+-]?(\d+|[1-9]\d{0,2}(,\d{3})+)?(\.\d+|\.)?([eE][+-]?\d+)?")
_COMMA = re.compile(r"[+-]?(\d+|[1-9]\d{0,2}(\.\d{3})+)?(,\d+|,)?([eE][+-]?\d+)?")
_DATE = re.compile(r"(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2}))([T ]\d{1,2}:\d{2}.*)?")


def number(cell: str, comma: bool = False) -> float | None:
    """``cell`` as a number, or None. With ``comma`` the comma is the decimal sign and the point groups thousands."""
    text = cell.strip().removesuffix("%").rstrip() if len(cell) < LONGEST else ""
    if not any(c.isdigit() for c in text):
        return None
    if (_COMMA if comma else _POINT).fullmatch(text) is None:
        return None
    plain = text.replace(".", "").replace(",", ".") if comma else text.replace(",", "")
    value = float(plain)
    return value if abs(value) < LARGEST else None


def uses_comma(cells: list[str]) -> bool:
    """Whether more of ``cells`` are numbers with a decimal comma than with a decimal point."""
    cells = [c for c in sample(cells) if "," in c]
    return sum(number(c, True) is not None for c in cells) > sum(number(c) is not None for c in cells)


def as_numbers(cells: list[str], comma: bool) -> list[str]:
    """``cells`` so that ``float`` reads them, unchanged where it does already; empty where they are no numbers."""
    try:
        if not comma and min(numbers := list(map(float, cells))) > -LARGEST and max(numbers) < LARGEST and not math.isnan(sum(numbers)):
            return cells
    except ValueError:
        pass
    return [_as_number(c, comma) for c in cells]


def _as_number(cell: str, comma: bool) -> str:
    if not comma:
        try:
            return cell.strip() if abs(float(cell)) < LARGEST else ""
        except ValueError:
            pass
    value = number(cell, comma)
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
