"""Spellings of one class: TRUE, True and true, and the infinity of a program among numbers, which is no class."""

import collections
from collections.abc import Mapping

from trainer.data.columns import values

_TRUTH = frozenset(("true", "false"))
_ENDLESS = frozenset(("inf", "-inf", "+inf", "infinity", "-infinity"))


def of(cells: Mapping[str, int]) -> dict[str, str]:
    """The class for the labels in ``cells``, which are counted, that are another spelling of one, or empty for those that are none; nothing for all
    others."""
    counts: collections.Counter[str] = collections.Counter()
    for cell, number in cells.items():
        if name := values.label(cell):
            counts[name] += number
    if len(counts) > 2 and all(name.lower() in _TRUTH for name in counts):
        best: dict[str, str] = {}
        for name, _ in sorted(counts.items(), key=lambda n: (-n[1], n[0])):
            best.setdefault(name.lower(), name)
        return {name: best[name.lower()] for name in counts if best[name.lower()] != name}
    endless = [name for name in counts if name.lower() in _ENDLESS]
    others = [name for name in counts if name.lower() not in _ENDLESS]
    if endless and others and all(values.number(name) is not None for name in others):
        return dict.fromkeys(endless, "")
    return {}
