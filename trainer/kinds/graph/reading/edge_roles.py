"""What the columns of a table are for, should its rows be the edges of a graph. Decided by names and by the first rows."""

import re
from dataclasses import dataclass, field

from trainer.data import names
from trainer.data.columns import choices, dates, values
from trainer.data.columns.profiles import FEW_NUMBERS, MIN_TEXT_WORDS
from trainer.errors import some
from trainer.kinds.graph.reading import edge_names
from trainer.kinds.graph.reading.heads import Head

ASKED, NAMED, SIDES, FIRST, PAIR = "asked", "named", "sides", "first", "pair"
MAX_FIRST = 4  # columns of a table without a header whose first two may be the ends of edges
NONE = "none"  # as an option: no column of this kind
_WHOLE = re.compile(r"\d+(\.0+)?")
_UNIX = ((3e8, 5e9), (3e11, 5e12))  # seconds and milliseconds since 1970, from 1980 on
_MAX_ID = 200  # characters


@dataclass
class EdgeRoles:
    """The columns of a table of edges by what they are for; empty where there is none. ``others`` are of no use for a graph.

    ``way`` says how the two ends were found: by the settings, by their names, by names of two kinds of things, because they are the first
    columns of a table without a header, or because the table has hardly any other column.
    """

    source: str
    target: str
    way: str
    why: str
    weight: str = ""
    time: str = ""
    split: str = ""
    relation: str = ""
    type: str = ""  # Gephi's column that says directed or undirected
    others: list[str] = field(default_factory=list)


def find(head: Head, settings, asked: bool) -> EdgeRoles | None:
    """The roles of the columns, if the first rows allow that these are edges. ``asked``: the settings say that this file has edges."""
    ends = _ends(head, settings, asked)
    if ends is None:
        return None
    source, target, way, why = ends
    roles = EdgeRoles(source, target, way, why)
    rest = [c for c in head.columns if c not in (source, target)]
    roles.split = _named(rest, settings.split_column, names.SPLIT_COLUMNS)
    rest = [c for c in rest if c != roles.split]
    roles.weight, roles.time = _weight(head, rest, settings), _time(head, rest, settings)
    for column in (c for c in rest if c not in (roles.weight, roles.time)):
        low = column.strip().lower()
        cells = head.cells(column)
        if low in edge_names.TYPES and {c.lower() for c in cells} <= edge_names.DIRECTIONS:
            roles.type = column
        elif not roles.relation and _is_relation(low, cells, head):
            roles.relation = column
        elif not names.is_identifier(low) and len(set(cells)) > 1:
            roles.others.append(column)
    return roles


def _ends(head: Head, settings, asked: bool) -> tuple[str, str, str, str] | None:
    wanted = settings.source_column.strip(), settings.target_column.strip()
    if all(wanted):
        seen = dict.fromkeys(head.columns)
        try:
            a, b = (choices.resolve(w, seen, p, head.name) for w, p in zip(wanted, ("source_column", "target_column")))
        except Exception:
            if asked:
                raise
            return None
        return a, b, ASKED, "as requested"
    low = [c.strip().lower() for c in head.columns]
    if place := edge_names.pair(low):
        a, b = (head.columns[i] for i in place)
        if are_ids(head.cells(a), 4) and are_ids(head.cells(b), 4):
            return a, b, SIDES if edge_names.sides(low) == place else NAMED, "because of their names"
    return _first_two(head, asked)


def _first_two(head: Head, asked: bool) -> tuple[str, str, str, str] | None:
    """The first two columns, where the table is narrow and they look like identifiers; of triples with a relation, the first and the last."""
    if len(head.columns) < 2 or not (asked or len(head.columns) <= MAX_FIRST):
        return None
    a, b = head.columns[:2]
    cells = [head.cells(c) for c in head.columns]
    if not head.has_header and len(head.columns) == 3 and _are_relations(cells[1], len(cells[0])) and are_ids(cells[2]):
        b = head.columns[2]
    if not all(are_ids(head.cells(c), 4 if asked else 2) for c in (a, b)):
        return None
    if asked:
        return a, b, ASKED, "they are its first columns"
    if head.comments or not head.has_header:
        return a, b, FIRST, "they are the first columns of a table without a header"
    known = all(_is_known(c) for c in head.columns[2:])
    return (a, b, PAIR, "the table has no others that are not weights or times") if known else None


def _is_known(column: str) -> bool:
    low = column.strip().lower()
    return low in edge_names.WEIGHTS | edge_names.TIMES | edge_names.TYPES or low in names.SPLIT_COLUMNS


def are_ids(cells: list[str], max_words: float = 2) -> bool:
    """Whether cells look like identifiers: whole numbers or short names, not measures and not dates."""
    if not cells or max(map(len, cells)) > _MAX_ID:
        return False
    whole = sum(_WHOLE.fullmatch(c) is not None for c in cells)
    if whole >= values.MOSTLY * len(cells):
        return True
    measures = sum(values.number(c) is not None or values.number(c, True) is not None for c in cells) - whole
    dated = sum(map(dates.is_date, cells))
    words = sum(len(c.split()) for c in cells) / len(cells)
    lists = sum(c[0] + c[-1] in ("[]", "{}") for c in cells)
    return words < max_words and measures < 0.5 * len(cells) and dated < 0.5 * len(cells) and lists < 0.5 * len(cells)


def _named(rest: list[str], wanted: str, usual) -> str:
    if wanted.strip().lower() == NONE:
        return ""
    if wanted.strip():
        return next((c for c in rest if c.lower() in (wanted.strip().lower(), f"column {wanted.strip().lower()}")), "")
    return next((c for c in rest if c.strip().lower() in usual), "")


def _weight(head: Head, rest: list[str], settings) -> str:
    """The column of weights: by its name, else the third of a table without a header, if it has numbers that are no times."""
    if settings.weight_column.strip():
        return _named(rest, settings.weight_column, ())
    found = [c for c in rest if c.strip().lower() in edge_names.WEIGHTS and _numbers(head.cells(c)) is not None]
    if found or head.has_header:
        return found[0] if found else ""
    third = next((c for c in rest if _numbers(head.cells(c)) is not None), "")
    return "" if third and is_time(head.cells(third), False) else third


def _time(head: Head, rest: list[str], settings) -> str:
    if settings.time_column.strip():
        return _named(rest, settings.time_column, ())
    named = next((c for c in rest if c.strip().lower() in edge_names.TIMES and is_time(head.cells(c), True)), "")
    return named or ("" if head.has_header else next((c for c in rest if is_time(head.cells(c), False)), ""))


def _numbers(cells: list[str]) -> list[float] | None:
    found = [n for c in cells if (n := values.number(c)) is not None]
    return found if cells and len(found) >= values.MOSTLY * len(cells) else None


def is_time(cells: list[str], named: bool) -> bool:
    """Whether cells are dates, or seconds or milliseconds since 1970; with a telling name any numbers."""
    if not cells or len(set(cells)) < 2:
        return False
    if sum(map(dates.is_date, cells)) >= values.MOSTLY * len(cells):
        return True
    found = _numbers(cells)
    return found is not None and (named or any(all(low < n < high for n in found) for low, high in _UNIX))


def _is_relation(low: str, cells: list[str], head: Head) -> bool:
    may_be = low in edge_names.RELATIONS or low in ("type", "label") or not head.has_header
    return may_be and _are_relations(cells, len(head.rows))


def _are_relations(cells: list[str], rows: int) -> bool:
    """Whether cells are the names of a few relations. One alone says nothing."""
    different = set(cells)
    return 2 <= len(different) <= max(FEW_NUMBERS, rows // 2) and all(values.number(c) is None for c in different)


def asks_for_label(roles: EdgeRoles) -> str:
    """The column that may be a label of the rows, so that they are perhaps no edges at all; empty if there is none."""
    for column in roles.others:
        low = column.strip().lower()
        if low in names.LABELS or low.endswith(("label", "class", "target")) or low.startswith("is_"):
            return column
    return ""


def has_texts(head: Head, roles: EdgeRoles) -> bool:
    return any((cells := head.cells(c)) and sum(len(x.split()) for x in cells) >= MIN_TEXT_WORDS * len(cells) for c in roles.others)


def described(roles: EdgeRoles) -> str:
    """What is read besides the ends, for a sentence."""
    parts = [f"{c} as {what}" for c, what in ((roles.weight, "weights"), (roles.time, "times"), (roles.split, "the split")) if c]
    unused = f"; {some(roles.others, 4)} {'are' if len(roles.others) > 1 else 'is'} not used" if roles.others else ""
    return (f", with {some(parts)}" if parts else "") + unused
