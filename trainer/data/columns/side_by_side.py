"""Series that stand side by side in the columns of a table: store1, store2, store3."""

import re
from collections.abc import Sequence

MIN_SERIES = 3
_NUMBERED = re.compile(r"(?P<word>\D*[^\W\d_]{2}\D*?)[ _.#-]?(?:\d{1,6}|(?<=[ _.#-])[A-Z])")
_INPUTS = frozenset(  # what inputs of a model are called when they have no names
    "var variable feature feat lag dim dimension component comp factor attr attribute col column field input band channel wave pca pc "
    "score item question".split()
)


def numbered(columns: Sequence[str]) -> tuple[str, ...]:
    """``columns`` where their names differ in a number or a letter alone, and say what is counted; () where they do not."""
    found = [_NUMBERED.fullmatch(n.strip()) for n in columns]
    words = {m["word"].strip(" _.#-").lower() for m in found if m}
    alike = len(columns) >= MIN_SERIES and all(found) and len(words) == 1 and not words & _INPUTS
    return tuple(columns) if alike else ()


def may_be(columns: Sequence[str], most_others: int) -> bool:
    """Whether all ``columns`` but a few may be series side by side."""
    named = [n for n in columns if _NUMBERED.fullmatch(n.strip())]
    return len(columns) - len(named) <= most_others and bool(numbered(named))
