"""Which rows are held out where they lie in time: the latest, as in the use of a model, which never knows the future."""

import collections
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy

from trainer.core.columnar import Examples, known_whens, taken, targets, whens
from trainer.core.example import SPLITS, Example
from trainer.errors import UserError

RANDOM, TIME, GROUP, PLACE = "random", "time", "group", "place"
AGAIN = "time_neighbours"  # the code of the warning that a random split flatters
_LATE, _MOSTLY = 0.9, 0.5  # test rows are later ones where most lie behind so many of the training rows


@dataclass(frozen=True)
class Rule:
    """How rows are split that the data do not split: ``by`` a content hash (RANDOM), or the latest are held out (TIME).

    ``why`` is a sentence for the decision. ``neighbours`` says which rows are much more alike than others, as a sentence without its full stop,
    and ``flatters`` is the warning where such rows are split at random; both are empty where none are. With ``asked`` the user wants this rule,
    and nothing else is done instead. ``whole`` says what stays together besides groups, for the decision; empty for nothing. ``new`` are the things
    that then are new in the test, in the plural. ``unasked`` is the column by which rows stay together although nobody asked for it.
    """

    by: str = RANDOM
    why: str = ""
    neighbours: str = ""
    flatters: str = ""
    asked: bool = False
    whole: str = ""
    new: str = ""
    unasked: str = ""
    unlike: str = ""  # why rows with times are split at random, as a sentence for the decision; empty where they have none


ORIGINALS = "originals"  # pictures with their near copies
SCENES = Rule(new="scenes")  # pictures that were cut out of scenes


def latest(rows: Examples, shares: dict[str, float]) -> tuple[dict[str, Examples], str]:
    """Cut ``rows`` so that the latest go to test, those before them to validation, and rows of one time stay together.

    Rows without a time train. The second value says why it cannot be done, as the end of a sentence that starts with "because"; then nothing
    is cut.
    """
    times = whens(rows)
    known = numpy.sort(times[~numpy.isnan(times)])
    none = numpy.zeros(0, numpy.int64)
    splits = {n: taken(rows, none) for n in SPLITS}
    ends, before = {}, len(known)
    for name in ("test", "validation"):
        if shares.get(name, 0) > 0:
            starts = numpy.searchsorted(known, numpy.unique(known[:before]))  # the first row of each time
            wanted = before - shares[name] * len(known)
            starts = starts[starts > 0]
            if not len(starts):
                return splits, "they have too few different times"
            before = int(starts[numpy.abs(starts - wanted).argmin()])
            ends[name] = known[before]
    left = numpy.ones(len(rows), bool)
    for name, start in ends.items():
        held = left & (times >= start)
        splits[name] = taken(rows, numpy.flatnonzero(held))
        left &= ~held
    splits["train"] = taken(rows, numpy.flatnonzero(left))
    return splits, ""


def like_test(rule: Rule, splits: Mapping[str, Examples], missing: Sequence[str]) -> Rule:
    """``rule``, or one at random for validation rows whose test rows the dataset gives and that lie among the training rows in time: what is chosen
    by validation rows must suit the test. A rule that a person asked for stays."""
    if rule.by != TIME or rule.asked or list(missing) != ["validation"]:
        return rule
    test, train = known_whens(splits["test"]), known_whens(splits["train"])
    if not len(test) or not len(train) or (test > numpy.quantile(train, _LATE)).mean() >= _MOSTLY:
        return rule
    why = "The test rows of the dataset lie among the training rows in time, so the validation rows do, too. For later rows, set data.split to time."
    return replace(rule, by=RANDOM, unlike=why)


def lacking(splits: Mapping[str, Sequence[Example]], regression: bool) -> str:
    """What is wrong with splits by time of rows with classes, as the end of a sentence that starts with "because"; empty if nothing is."""
    if regression:
        return ""
    counts = {n: collections.Counter(targets(rows)) for n, rows in splits.items()}
    held = [n for n in ("validation", "test") if len(splits[n])]
    if strange := sorted({label for n in held for label in counts[n]} - counts["train"].keys()):
        more = f" and {len(strange) - 3} more" if len(strange) > 3 else ""
        return f"no earlier row has the label {', '.join(strange[:3])}{more}"
    if len(counts["train"]) > 1 and any(len(counts[n]) < 2 for n in held):
        return "the latest rows have one label alone"
    return ""


def check_random(split: str, things: str) -> None:
    """Raise UserError where data.split asks for a split that ``things``, which are no rows of a table, do not have."""
    if split in (TIME, GROUP, PLACE):
        raise UserError(
            "no_such_split",
            f"data.split is {split}, but {things} have no columns that tell the {split}.",
            "Set data.split to auto or random, or train on a table with such a column.",
        )
