"""Fill values: numbers that stand for a gap, such as -9999. What is not beyond doubt stays a number."""

import itertools
import re
from collections.abc import Callable, Iterable

from trainer.data.columns import values
from trainer.data.columns.summaries import Cells
from trainer.errors import UserError

_DECIMAL_COMMA = re.compile(r"(?<=\d),(?=\d)")
AUTO, KEEP = "auto", "keep"
FEW = 20  # different values, up to which whole numbers may be codes with a meaning
ENORMOUS = 1e15
_NINES = [float("9" * n) for n in range(2, 8)] + [float("9" * n + "." + "9" * d) for n in range(1, 6) for d in range(1, 5)]
_OTHERS = (-32768, -32767, -2147483648, -2147483647, -999.25)  # the last one of well logs
_ENORMOUS_SPELLINGS = (
    "9.96921e36 9.96921e+36 9.96921E36 9.96921E+36 9.969209968386869e+36 9.969210e+36 9.96920996838687e+36 9.96920997e+36 "
    "1e20 1e+20 1.0e20 1.0e+20 1.e+20 "
    "1.00000002004088e+20 1e30 1e+30 1.0e+30 1e31 1e+31 1e35 1e+35 9.999e20 9.999E20 9.999e+20 1e36 1e+36 "
    "3.4028235e38 3.4028235e+38 3.40282e+38 3.4028234663852886e+38"
)


def _spellings() -> dict[str, float]:
    """Every way in which programs write the numbers that may be fill values."""
    found = {}
    for value in itertools.chain(_NINES, (-v for v in _NINES), _OTHERS):
        text = str(int(value)) if float(value).is_integer() else repr(value)
        padded = [text + ("" if "." in text else ".") + "0" * zeros for zeros in range(7)] if "." not in text else [text + "0" * z for z in range(5)]
        for written in (text, *padded):
            found[written] = found[written.replace(".", ",")] = float(value)
    for written in _ENORMOUS_SPELLINGS.split():
        for text in (written, "-" + written, written.upper(), "-" + written.upper()):
            found[text] = float(text)
    return found


_SPELLED = _spellings()


def asked(wanted: str) -> tuple[float, ...] | None:
    """The numbers in the option, None for auto. Raises UserError for what is neither."""
    text = wanted.strip().lower()
    if text in (AUTO, ""):
        return None
    if text == KEEP:
        return ()
    try:
        return tuple(float(part) for part in _DECIMAL_COMMA.sub(".", text).replace(";", " ").replace(",", " ").split())
    except ValueError as e:
        raise UserError(
            "wrong_setting",
            f"The option fill_values is {wanted}, which is neither auto nor keep nor a list of numbers.",
            "Set it to auto, to keep, or to numbers such as -9999, -99.9.",
        ) from e


def marker(cells: list[str], are_numbers: Callable[[str], bool]) -> str:
    """The sign or word, in lower case, that stands for a gap wherever a column of numbers has anything else, such as *** or M; empty for none.

    A letter or a word needs more different numbers beside it than codes have.
    """
    others = {c.lower() for c in set(cells) if not are_numbers(c)}
    if len(others) != 1:
        return ""
    found = others.pop()
    return found if values.marks_gap(found) and len(set(cells)) - 1 > (FEW if found[0].isalpha() else 1) else ""


def may_be(cells: Cells) -> list[float]:
    """The numbers among these cells that fill values often are."""
    return sorted({*cells.among(_SPELLED).values()})


def far(candidates: list[float], some_numbers: list[float]) -> list[float]:
    """Those of ``candidates`` that may be far outside of a column, as far as some of its numbers tell: the range of all is no smaller."""
    others = [n for n in some_numbers if n not in candidates]
    if not others:
        return candidates
    low, high = min(others), max(others)
    return [c for c in candidates if c <= -999 or max(low - c, c - high) > high - low]


def find(candidates: Iterable[float], different: set[float], count: Callable[[float], int], total: int) -> set[float]:
    """Those of ``candidates`` that stand for a gap among the ``different`` numbers of a column of ``total`` cells: far outside of the others, and
    repeated or impossible. ``count`` counts the cells with a number."""
    others = different.difference(candidates)
    if not others:
        return set()
    low, high = min(others), max(others)
    few = len(others) <= FEW
    whole = all(n.is_integer() for n in others)
    return {value for value in candidates if not low <= value <= high and _is_fill(value, count(value), low, high, few, whole, total)}


def _is_fill(value: float, count: int, low: float, high: float, few: bool, whole: bool, total: int) -> bool:
    gap = low - value if value < low else value - high
    spread = high - low
    if abs(value) >= ENORMOUS:
        return gap > spread
    if few and whole and 2 * count > total:  # a code that most rows have means something
        return False
    if value < 0:
        impossible = low >= 0 and -value >= 99
        if count < 2:
            return impossible and -value > high and gap > spread
        return gap > spread or (impossible and -value >= 999)
    if count < 2:
        return False
    if whole:  # 999 may be a count, 99 a code
        return not few and value >= 9999 and gap > 3 * spread
    return gap > (3 * spread if value >= 9999 else 10 * spread)  # 99.9 may be a share, 999.99 a price
