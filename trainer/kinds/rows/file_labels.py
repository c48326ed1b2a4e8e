"""Tables that are named by their class: setosa.csv, versicolor.csv. Their name is then the label of their rows."""

import re
from pathlib import PurePosixPath

from trainer.data import names
from trainer.data.columns import choices, profiles, values
from trainer.data.columns.profiles import Profile
from trainer.data.formats.table import Table
from trainer.errors import UserError, some

COLUMN = "file name"
MIN_ROWS = 5  # of a table, for its name to be a class
MAX_CLASSES = 50
_TOKENS = re.compile(r"[^\W_]+")
_WORD = re.compile(r"[^\W\d_]{3,}")
_CLASS_WORDS = frozenset("class label species category group type genus variety cultivar treatment condition".split())
_PARTS = frozenset(  # of the same data, or of a work on them, and times
    "part chunk batch fold block page piece section segment shard volume run file data dataset table sheet export output input result results "
    " sample samples "
    "first second third fourth last "
    " next previous one two three four five six new old final draft raw clean cleaned "
    " copy backup original updated corrected "
    "extra additional more rest other all full complete small medium large big tiny mini features metadata readme summary notes "
    "january february march april may june july august september october november december jan feb mar apr jun jul aug sep sept oct nov dec "
    "monday tuesday wednesday thursday friday saturday sunday mon tue wed thu fri sat sun spring summer autumn fall winter morning evening night "
    "left right front back".split()
)


def reason(group: list[Table], seen: dict[str, Profile], settings, where: str) -> str:
    """Why the names of these tables are the labels of their rows, as a sentence; empty where they are not.

    Raises UserError where a column may as well be the label.
    """
    asked = settings.label_column.strip().lower() == COLUMN and COLUMN not in {n.lower() for n in seen}
    if asked:
        return f"The names of the {len(group)} tables are the labels, as requested: {some(sorted(set(_classes(group).values())), 6)}."
    wants = settings.repairs and settings.task in ("auto", "tabular-classification", "text-classification")
    if not wants or settings.label_column.strip() or settings.split_column.strip() or len(group) < 2:
        return ""
    if any(n.strip().lower() in names.LABELS for n in seen) or any(p.dates >= values.MOSTLY for p in seen.values()):
        return ""
    _ask_of_folders(group, seen)
    classes = _classes(group)
    labels = set(classes.values())
    if not 2 <= len(labels) <= MAX_CLASSES or any(len(t.rows) < MIN_ROWS for t in group) or not all(map(_names_a_class, labels)):
        return ""
    rivals = [n for n, p in seen.items() if p.is_class and not _has_decimals(group, n)]
    if rivals:
        raise UserError(
            "ambiguous_label",
            f"The tables {where} are named like classes ({some(sorted(labels), 4)}), and {some(rivals, 4)} could be the label, too.",
            f"Set label_column to the right column, or to {COLUMN}.",
            f"Of these, {choices.offers(rivals, seen)}.",
        )
    last = list(seen)[-1]
    if seen[last].is_measure and settings.task == "auto" and not _are_called_classes(group):
        raise UserError(
            "ambiguous_label",
            f"The tables {where} may be named by their class ({some(sorted(labels), 4)}) or by where their rows are from.",
            f"Set label_column to {COLUMN} to predict the names of the tables, or to {last} to predict its numbers.",
        )
    return f"The names of the {len(group)} tables are the labels, because they have the same columns and none for a label: {some(sorted(labels), 6)}."


def _are_called_classes(group: list[Table]) -> bool:
    """Whether the names of the tables say themselves that they are classes: class_a.csv, species setosa.csv."""
    return any(t.lower() in _CLASS_WORDS for table in group for t in _TOKENS.findall(PurePosixPath(table.name).name))


def _ask_of_folders(group: list[Table], seen: dict[str, Profile]) -> None:
    """Raise UserError where tables without a label lie in folders that are named like classes: normal/p1.csv, ill/p2.csv."""
    parents = [PurePosixPath(t.name).parent.name for t in group]
    named = sorted(set(parents))
    last = list(seen)[-1]
    if not 2 <= len(named) <= MAX_CLASSES or not seen[last].is_measure or any(p.is_class and not _has_decimals(group, n) for n, p in seen.items()):
        return
    if all(_names_a_class(" ".join(_TOKENS.findall(name))) and names.split_of(name) is None for name in named):
        raise UserError(
            "ambiguous_label",
            f"The {len(group)} tables lie in folders that may be their classes ({some(named, 4)}), and have no column with a label.",
            f"To predict the folder, make one table with a row and a label for each example. To predict {last}, set label_column to it.",
        )


def add(group: list[Table], seen: dict[str, Profile]) -> dict[str, Profile]:
    """Give each table a last column with its class; the profiles with that column."""
    for table, label in zip(group, _classes(group).values()):
        table.append(COLUMN, label)
    return {**seen, COLUMN: profiles.one(COLUMN, group)}


def _classes(group: list[Table]) -> dict[int, str]:
    """The class of each table, by its place: its name without what all names have, and without the name of a split."""
    stems = [_TOKENS.findall(PurePosixPath(t.name).name.partition(".")[0]) for t in group]
    tokens = [[t for t in stem if names.split_of(t) is None] for stem in stems]
    common = set.intersection(*(set(map(str.lower, t)) for t in tokens)) if len(set(map(tuple, tokens))) > 1 else set()
    kept = [[t for t in stem if t.lower() not in common or t.lower() in _CLASS_WORDS] for stem in tokens]
    return {i: " ".join(words) for i, words in enumerate(kept)}


def _names_a_class(label: str) -> bool:
    words = label.lower().split()
    if len(words) == 2 and words[0] in _CLASS_WORDS:
        return True
    return bool(words) and all(_WORD.fullmatch(w) for w in words) and not any(w in _PARTS for w in words)


def _has_decimals(group: list[Table], column: str) -> bool:
    return any("." in c or "," in c for t in group for c in t.sample(column) if values.number(c) is not None)
