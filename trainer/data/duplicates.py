"""Examples that occur more than once.

Even published datasets contain test rows in their training file, which makes the metrics too optimistic. Duplicates are therefore
removed from the training split, never from the split that evaluates.
"""

from trainer.core.example import Example
from trainer.data.checks import Checks
from trainer.data.keys import Keys
from trainer.errors import left_out

_LEAVES = (("test", "validation"), ("test", "train"), ("validation", "train"))  # duplicates are removed from the second


def remove(splits: dict[str, list[Example]], keys: Keys, rule: str, checks: Checks) -> dict[str, list[Example]]:
    """The splits without copies: ``rule`` warn removes those between splits, drop also those inside train, keep only warns."""
    splits = dict(splits)
    for kept, cleaned in _LEAVES:
        there = set(map(keys, splits[kept]))
        clean = [e for e in splits[cleaned] if keys(e) not in there] if there else splits[cleaned]
        copies = len(splits[cleaned]) - len(clean)
        if copies and rule == "keep":
            checks.warning(
                "duplicates",
                f"{copies} {cleaned} rows are also in the {kept} rows and are kept, as requested: the {kept} metrics will be too optimistic.",
            )
        elif copies:
            checks.warning("duplicates", f"{left_out(copies, f'{cleaned} row')} because the same content is in the {kept} rows.")
            checks.drop(f"a copy of a {kept} row", copies)
            splits[cleaned] = clean
    if rule == "drop":
        splits["train"] = _once(splits["train"], keys, checks)
    return splits


def _once(rows: list[Example], keys: Keys, checks: Checks) -> list[Example]:
    first = list({keys(e): e for e in reversed(rows)}.values())[::-1]
    if removed := len(rows) - len(first):
        checks.warning("duplicates", f"{left_out(removed, 'train row')}: copies of other train rows.")
        checks.drop("a copy of another train row", removed)
    return first
