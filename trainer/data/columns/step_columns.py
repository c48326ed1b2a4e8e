"""Tables with a series in each row and its steps in numbered columns, as those of the M3 and M4 competitions: V1, V2, V3, … without any times."""

import re
from collections.abc import Sequence

from trainer.data import names
from trainer.data.columns import values
from trainer.data.columns.profiles import Profile
from trainer.data.formats.table import Table

_STEP = re.compile(r"[Vv]?(\d{1,5})")
_MOST_AHEAD = 1000  # steps
_FIRST = 2  # number of the first column of steps, at most
_RAGGED = 0.3  # of the rows end before the last column, where series have lengths of their own
_WHOLE = 0.9  # of the rows have no gaps before their end
_SEASONS = (
    (re.compile(r"(?<![a-z])(yearly|annual|m3year)(?![a-z])"), "year", 1),
    (re.compile(r"(?<![a-z])(quarterly|m3quart)(?![a-z])"), "quarter", 4),
    (re.compile(r"(?<![a-z])(monthly|m3month)(?![a-z])"), "month", 12),
    (re.compile(r"(?<![a-z])weekly(?![a-z])"), "week", 52),
    (re.compile(r"(?<![a-z])daily(?![a-z])"), "day", 7),
    (re.compile(r"(?<![a-z])hourly(?![a-z])"), "hour", 24),
)


def of(columns: Sequence[str], least: int) -> tuple[str, ...]:
    """The last ``columns`` where they are numbered from 1 or 2 on, and at least so many; () where they are not."""
    found: list[tuple[str, int]] = []
    for name in reversed(columns):
        match = _STEP.fullmatch(name.strip())
        if match is None or (found and int(match[1]) != found[-1][1] - 1):
            break
        found.append((name, int(match[1])))
    if not found or found[-1][1] > _FIRST:
        return ()
    named = [name for name, _ in reversed(found)]
    if len(named) == len(columns) and named[0].strip().lower() == "v1":
        named = named[1:]  # of a table without names: the first column names the series
    return tuple(named) if len(named) >= least else ()


def frequency(table: str) -> tuple[str, int] | None:
    """What a step is and how many make a season, by the name of a file; None where it does not say."""
    return next(((word, steps) for pattern, word, steps in _SEASONS if pattern.search(names.stem(table))), None)


def are_ragged(table: Table, steps: Sequence[str]) -> bool:
    """Whether rows end at different columns, and have no gaps before."""
    there = [[bool(c.strip()) for c in row] for row in zip(*map(table.cells, steps))]
    ends = [len(row) - row[::-1].index(True) if True in row else 0 for row in there]
    whole = sum(all(row[:end]) for row, end in zip(there, ends))
    return sum(end < len(steps) for end in ends) >= _RAGGED * len(there) and whole >= _WHOLE * len(there)


def of_m3(seen: dict[str, Profile]) -> str:
    """The column of the series of a table of the M3 competition, which says of each row how many steps it has; empty for another table."""
    plain = {n.strip().lower(): n for n in seen}
    return plain["series"] if {"series", "n", "nf"} <= set(plain) else ""


def ahead(table: Table, seen: dict[str, Profile]) -> int:
    """How many steps of each series are to be forecast, as a table of the M3 competition says; 0 where it does not say one number for all."""
    column = next(n for n in seen if n.strip().lower() == "nf")
    told = {int(number) for cell in table.different(column) if (number := values.number(cell.strip())) is not None}
    return told.pop() if len(told) == 1 and 0 < min(told) <= _MOST_AHEAD else 0
