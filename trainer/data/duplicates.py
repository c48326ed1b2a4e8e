"""Examples that occur more than once.

Even published datasets contain test rows in their training file, which makes the metrics too optimistic. Duplicates are therefore
removed from the training split, never from the split that evaluates.
"""

from collections.abc import Mapping

import numpy

from trainer.core.columnar import Examples, taken
from trainer.data.checks import Checks
from trainer.data.keys import Keys
from trainer.errors import left_out

_LEAVES = (("test", "validation"), ("test", "train"), ("validation", "train"))  # duplicates are removed from the second


def remove(splits: Mapping[str, Examples], keys: Keys, rule: str, checks: Checks) -> dict[str, Examples]:
    """The splits without copies: ``rule`` warn removes those between splits, drop also those inside train, keep only warns."""
    splits = {**splits}
    for kept, cleaned in _LEAVES:
        clean = splits[cleaned]
        if len(splits[kept]) and len(clean):
            there, here = keys.codes(splits[kept], clean)
            clean = taken(clean, numpy.flatnonzero(~numpy.isin(here, there)))
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


def _once(rows: Examples, keys: Keys, checks: Checks) -> Examples:
    """The first example of each key, in the order in which the last ones stand."""
    codes = keys.codes(rows)[0]
    first = numpy.unique(codes, return_index=True)[1]
    last = len(codes) - 1 - numpy.unique(codes[::-1], return_index=True)[1]
    kept = taken(rows, first[numpy.argsort(last)])
    if removed := len(rows) - len(kept):
        checks.warning("duplicates", f"{left_out(removed, 'train row')}: copies of other train rows.")
        checks.drop("a copy of another train row", removed)
    return kept
