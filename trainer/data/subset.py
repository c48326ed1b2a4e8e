"""Draws a smaller sample with the same distribution."""

import collections

from trainer.core.example import Example
from trainer.data.keys import Keys
from trainer.data.splits import Splits, place, strata
from trainer.run_folder.events import Events


def thin(given: Splits, limit: int, keys: Keys, regression: bool, seed: int, events: Events) -> Splits:
    """About ``limit`` of the examples, the same share of every class and split, chosen by a hash; 0 means all."""
    total = sum(map(len, given.values()))
    if not limit or total <= limit:
        return given
    found = {name: _share(rows, limit / total, keys, regression, seed) for name, rows in given.items()}
    kept = sum(map(len, found.values()))
    events.decision("max_examples", kept, f"{kept} of {total} examples are used, the same share of each class, because max_examples is {limit}.")
    return found


def _share(rows: list[Example], share: float, keys: Keys, regression: bool, seed: int) -> list[Example]:
    stratum = strata(rows, regression)
    classes = collections.defaultdict(list)
    for e in rows:
        classes[stratum(e)].append(e)
    chosen: set[int] = set()
    for members in classes.values():
        members.sort(key=lambda e: place(keys(e), seed))
        chosen.update(id(e) for e in members[: max(1, round(len(members) * share))])
    return [e for e in rows if id(e) in chosen]
