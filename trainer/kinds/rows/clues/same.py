"""Columns that say the same as the label: its classes under other names, or the other columns of one that is written as 0 and 1."""

import re

from trainer.data import names
from trainer.data.columns import choices, values
from trainer.data.columns.profiles import Profile
from trainer.data.formats.table import Table
from trainer.errors import UserError, some

FEWEST = 3  # classes, from which equal columns are no chance; two need names that say so
MIN_COLUMNS = 3  # of 0 and 1
MIN_NUMBERED, MIN_ALIKE = 4, 5  # columns of one name before a number, and columns with the same values
ALIKE, SAME_VALUES = 0.8, 0.75  # shares of the columns, and of the values of two columns
MOST_VALUES = 20  # of columns that are compared by them
_SEVERAL = frozenset(("y", "target", "label", "output", "response"))  # of which two are enough
NO_NAMES = frozenset(("v", "x", "f", "column", "col", "c", "value", "var", "feature", "attr", "attribute", "field"))  # numbered by programs
_STEM = re.compile(r"(.*?)[ ._-]*\d+")
_BINARY = ({"0", "1"}, {"0.0", "1.0"}, {"true", "false"})
_YES = ("1", "1.0", "true")


def without_twins(label: str, rest: dict[str, Profile], tables: list[Table]) -> list[tuple[str, object, str]]:
    """Take the columns that say the same as the label out of ``rest``. Returns the decision about them, if there are any."""
    found = twins(label, rest, tables)
    for name in found:
        rest.pop(name)
    one = len(found) == 1
    what = f"The column{'s' * (not one)} {some(found, 6)} {'names' if one else 'name'} the classes of {label}, one to one"
    why = f"{what}, and {'is' if one else 'are'} not read: with {'it' if one else 'them'} a model would know the answer."
    return [("columns_like_label", found, why)] if found else []


def twins(label: str, seen: dict[str, Profile], tables: list[Table]) -> list[str]:
    """The columns whose values stand for the classes of ``label`` one to one: a code and its name, or a class and the class above it."""
    if not seen[label].is_class:
        return []
    found = []
    for name, profile in seen.items():
        alike = name != label and profile.is_class and profile.distinct == seen[label].distinct
        if alike and (profile.distinct >= FEWEST or _of_one_name(name, label)) and _one_to_one(name, label, tables):
            found.append(name)
    return found


def _of_one_name(name: str, label: str) -> bool:
    """Whether one of two names begins or ends with the other: species and species_code, target and target_name."""
    short, long = sorted((name.strip().lower(), label.strip().lower()), key=len)
    return len(short) > 2 and (long.startswith(short) or long.endswith(short))


def _one_to_one(name: str, label: str, tables: list[Table]) -> bool:
    pairs = {(a.strip(), b.strip()) for t in tables for a, b in zip(t.sample(name), t.sample(label))}
    known = {(a, b) for a, b in pairs if a and b}
    return len(known) == len({a for a, _ in known}) == len({b for _, b in known})


def check_one_of(label: str, seen: dict[str, Profile], tables: list[Table], where: str) -> None:
    """Raise UserError where ``label``, which nobody asked for, is one of several columns of which exactly one is 1 in each row: what a class becomes
    in columns of 0 and 1. The others would tell it."""
    flags = [n for n in seen if _is_flag(n, tables)]
    if label not in flags:
        return
    group = _group(label, flags)
    if len(group) < MIN_COLUMNS:
        return
    for table in tables:
        if any(sum(c.strip().lower() in _YES for c in row) != 1 for row in zip(*(table.sample(n) for n in group))):
            return
    raise UserError(
        "one_class_in_columns",
        f"In each row of {where} exactly one of the columns {some(group, 6)} is 1: together they name one class, and any of them could be the label.",
        f"Set label_column to the column to predict. To predict the class, write it into one column. To tell {label} from the others, remove these.",
    )


def check_alike(label: str, seen: dict[str, Profile], tables: list[Table], where: str) -> None:
    """Raise UserError where nothing but its place makes ``label``, which nobody asked for, the label: it is one of columns that are numbered, as
    items of a test and samples are, or that hold the same few values, as answers to questions and counts of species do."""
    stem = _stem(label)
    numbered = [n for n in seen if stem and _stem(n) == stem]
    if stem in NO_NAMES or len(numbered) < (2 if stem in _SEVERAL else MIN_NUMBERED):
        numbered = []
    if alike := numbered or _of_same_values(label, seen, tables):
        choices.ask_label(alike, seen, where)


def _stem(name: str) -> str:
    """What stands before the number at the end of a name, in lower case; empty for other names."""
    found = _STEM.fullmatch(name.strip().lower())
    return found[1] if found else ""


def _of_same_values(label: str, seen: dict[str, Profile], tables: list[Table]) -> list[str]:
    """The columns with the values of ``label``, where nearly all columns have them; else none."""
    others = [n for n, p in seen.items() if p.distinct > 1 and not (p.is_identifier or p.tells_when_or_where or p.is_free_text)]
    if not seen[label].is_class or seen[label].distinct > MOST_VALUES or len(others) < MIN_ALIKE:
        return []
    own = _values(label, tables)
    alike = [n for n in others if seen[n].distinct <= MOST_VALUES and len(own & (found := _values(n, tables))) >= SAME_VALUES * len(own | found)]
    return alike if len(alike) >= max(MIN_ALIKE, ALIKE * len(others)) else []


def _values(name: str, tables: list[Table]) -> set[str]:
    return {values.label(c).lower() for t in tables for c in t.sample(name) if not values.is_missing(c)} - {""}


def _is_flag(name: str, tables: list[Table]) -> bool:
    cells = {c.strip().lower() for t in tables for c in t.sample(name)}
    return any(cells == pair for pair in _BINARY)


def _group(label: str, flags: list[str]) -> list[str]:
    """The columns whose names begin as that of ``label`` does, up to the last mark within it; all ``flags`` where there are no such marks."""
    marks = [i for i, c in enumerate(label) if c in "_.-= "]
    start = label[: marks[-1]] if marks else ""
    return [n for n in flags if n.startswith(start) and not names.is_identifier(n)]
