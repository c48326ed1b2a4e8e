"""Draws a smaller sample with the same distribution."""

import numpy

from trainer.core.columnar import Examples, taken
from trainer.data.keys import Keys
from trainer.data.splits import numbered_strata
from trainer.data.units import places_of_keys
from trainer.run_folder.events import Events


def thin(given: dict[str, Examples], limit: int, keys: Keys, regression: bool, seed: int, events: Events) -> dict[str, Examples]:
    """About ``limit`` of the examples, the same share of every class and split, chosen by a hash; 0 means all."""
    total = sum(map(len, given.values()))
    if not limit or total <= limit:
        return given
    found = {name: _share(rows, limit / total, keys, regression, seed) for name, rows in given.items()}
    kept = sum(map(len, found.values()))
    events.decision("max_examples", kept, f"{kept} of {total} examples are used, the same share of each class, because max_examples is {limit}.")
    return found


def _share(rows: Examples, share: float, keys: Keys, regression: bool, seed: int) -> Examples:
    places = places_of_keys(keys.texts(rows), len(rows), seed)
    names, strata = numbered_strata(rows, regression)
    chosen = numpy.zeros(len(rows), bool)
    for stratum in range(len(names)):
        members = numpy.flatnonzero(strata == stratum)
        members = members[numpy.argsort(places[members], kind="stable")]
        chosen[members[: max(1, round(len(members) * share))]] = True
    return taken(rows, numpy.flatnonzero(chosen))
