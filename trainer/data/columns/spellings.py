"""Spellings of one class: TRUE, yes and 1, or Oak, oak and OAK; and the infinity of a program among numbers, which is no class."""

import collections
from collections.abc import Mapping

from trainer.data.columns import values

_TRUE, _FALSE = frozenset(("true", "t", "yes", "y", "1")), frozenset(("false", "f", "no", "n", "0"))
_SURE = frozenset(("true", "false", "yes", "no"))  # one of them shows what the letters and numbers beside it mean
_ENDLESS = frozenset(("inf", "-inf", "+inf", "infinity", "-infinity"))
_NO_NUMBERS = _ENDLESS | {"na"}  # beside numbers no class; NA may be Namibia beside other countries
_UNKNOWN = "?"  # of UCI, beside classes that have letters or digits: signs of a text may be classes themselves
_LETTERS = 3  # different ones, from which the case of a name means nothing: AA, Aa and aa are genotypes, CO and Co are chemistry


def of(cells: Mapping[str, int]) -> dict[str, str]:
    """The class for the labels in ``cells``, which are counted, that are another spelling of one, or empty for those that are none; nothing for all
    others."""
    counts: collections.Counter[str] = collections.Counter()
    for cell, number in cells.items():
        if name := values.label(cell):
            counts[name] += number
    if _UNKNOWN in counts and len(counts) > 2 and all(any(c.isalnum() for c in name) for name in counts if name != _UNKNOWN):
        return {_UNKNOWN: "", **of({name: number for name, number in counts.items() if name != _UNKNOWN})}
    lower = {name.lower() for name in counts}
    if len(counts) > 2 and lower <= _TRUE | _FALSE and lower & _SURE:
        return _joined(counts, {name: str(name.lower() in _TRUE) for name in counts})
    endless = [name for name in counts if name.lower() in _NO_NUMBERS]
    others = [name for name in counts if name.lower() not in _NO_NUMBERS]
    if endless and others and all(values.number(name) is not None for name in others):
        return dict.fromkeys(endless, "")
    return _joined(counts, {name: _without_case(name) for name in counts})


def _joined(counts: collections.Counter[str], classes: dict[str, str]) -> dict[str, str]:
    """The most frequent spelling of each class for the others; nothing where one class would be left, or more spellings than a model keeps."""
    if len(set(classes.values())) < 2 or len(counts) - len(set(classes.values())) > values.MOST_FILLS:
        return {}
    best: dict[str, str] = {}
    for name, _ in sorted(counts.items(), key=lambda n: (-n[1], n[0])):
        best.setdefault(classes[name], name)
    return {name: best[classes[name]] for name in counts if best[classes[name]] != name}


def _without_case(name: str) -> str:
    """``name`` as all its spellings are; unchanged where its case may mean something."""
    words = " ".join(name.split())
    usual = words in (words.lower(), words.upper(), words.title(), words.capitalize())
    return words.lower() if usual and len({c for c in words.lower() if c.isalpha()}) >= _LETTERS else name
