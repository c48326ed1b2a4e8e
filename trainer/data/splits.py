"""Splits the examples into training, validation and test.

Examples are assigned by a hash of seed and content. So the same data gives the same split, added rows hardly move others, and
duplicates stay together: no example is both in training and in the test.
"""

import hashlib
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy

from trainer.core import by_blocks, columnar
from trainer.core.columnar import Examples, known_whens, taken, targets
from trainer.core.example import SPLITS, Example
from trainer.core.example_targets import counted_targets, have_targets, target_codes, target_numbers
from trainer.data import ordered, units as units_of
from trainer.data.checks import Checks
from trainer.data.cut import Cut, chosen_by
from trainer.data.duplicates import remove
from trainer.data.keys import Keys
from trainer.data.ordered import Rule
from trainer.errors import UserError, left_out, some

MIN_ROWS = 20
MIN_PER_CLASS = 2
MIN_UNITS = 3  # of a class, for some to be held out
MAX_CLASSES = 10_000  # with more, results are not read
BINS = 10  # of a target that is a number
_HELD_OUT = ("test", "validation")  # in the order in which they are filled
_BLOCK = 1 << 16  # rows at once
Splits = Mapping[str, Sequence[Example]]


def complete(given: Splits, keys: Keys, regression: bool, settings, checks: Checks, rule: Rule | None = None) -> dict[str, Sequence[Example]]:
    """The three splits from those that are given: missing ones are cut out of train by ``rule``, copies between them are removed."""
    events, rule = checks.events, rule or Rule()
    splits: dict[str, Sequence[Example]] = remove({name: given.get(name, []) for name in SPLITS}, keys, settings.duplicates, checks)
    _check_rows(splits, regression)
    fractions = {"test": settings.test_fraction, "validation": settings.validation_fraction}
    missing = [n for n in fractions if not len(splits[n]) and fractions[n] > 0]
    if missing:
        before, rule = len(splits["train"]), ordered.like_test(rule, splits, missing)
        shares = {n: fractions[n] * (n in missing) for n in fractions}
        cut, why = _cut(splits["train"], shares, keys, regression, settings, rule, checks)
        if rule.unasked and any(not len(cut[n]) for n in missing):
            checks.warning(ordered.AGAIN, f"Rows with the same {rule.unasked} are much more alike than others, and too few can be held out together.")
            rule = Rule()
            cut, why = _cut(columnar.without_groups(splits["train"]), shares, keys, regression, settings, rule, checks)
        checks.cut = chosen_by(bool(why), cut["test"], settings.group_column, rule) if "test" in missing else Cut()
        splits |= {n: rows for n, rows in cut.items() if n == "train" or n in missing}
        if empty := [n for n in missing if not len(splits[n])]:
            raise _indivisible(empty, splits["train"], keys, settings.group_column)
        why = why or _why(splits, missing, before, regression, rule.whole or ("groups" if settings.group_column else ""))
        events.decision("split", _counts(splits), f"{why} {rule.unlike}".rstrip())
    else:
        _check_order(splits, rule, checks)
        events.decision("split", _counts(splits), "The file names or the split column define the training, validation and test rows.")
    return splits if regression or not have_targets(splits["train"]) else _known_labels(splits, checks)


def by_rarest(
    given: Mapping[str, Sequence[Example]], inside: Callable[[Example], Iterable[str]], least: int, none: str
) -> tuple[dict[str, list[Example]], dict[int, Example]]:
    """The examples with the rarest of what is ``inside`` each as their target, to be spread evenly, and the way back by identity. What fewer
    than ``least`` examples have does not count, and the target of an example without any other is ``none``."""
    found = {id(e): {*inside(e)} for rows in given.values() for e in rows}
    counts = Counter(part for parts in found.values() for part in parts)
    back: dict[int, Example] = {}
    swapped: dict[str, list[Example]] = {}
    for name, rows in given.items():
        swapped[name] = []
        for e in rows:
            rarest = min((p for p in found[id(e)] if counts[p] >= least), key=lambda p: (counts[p], p), default=none)
            swapped[name].append(replace(e, target=rarest))
            back[id(swapped[name][-1])] = e
    return swapped, back


def hold_out(
    found: dict[str, Examples], keys: Keys, settings, unit: str, even: str, given: str, checks: Checks, rule: Rule | None = None
) -> dict[str, Examples]:
    """Cut the splits that are empty out of train, and say so in words: ``unit`` are the examples, ``even`` is what they are spread over
    (empty where that is nothing), and ``given`` is where the splits come from if none is empty."""
    fractions = {"test": settings.test_fraction, "validation": settings.validation_fraction}
    missing = [n for n in fractions if not len(found[n]) and fractions[n] > 0]
    why = f"{given} define the training, validation and test {unit}."
    if missing:
        shares = {n: fractions[n] * (n in missing) for n in fractions}
        cut, in_time = _cut(found["train"], shares, keys, False, settings, rule or Rule(), checks)
        checks.cut = chosen_by(bool(in_time), cut["test"], settings.group_column, rule or Rule()) if "test" in missing else Cut()
        found = found | {n: rows for n, rows in cut.items() if n == "train" or n in missing}
        parts = " and ".join(f"{len(found[n])} for {n}" for n in missing)
        by_hash = f"so {parts} are held out by a content hash{f', evenly over {even}' * bool(even)}"
        why = in_time or f"The dataset does not define {' or '.join(missing)} {unit}, {by_hash}."
    checks.events.decision("split", _counts(found), why)
    return found


def _cut(
    rows: Examples, shares: dict[str, float], keys: Keys, regression: bool, settings, rule: Rule, checks: Checks
) -> tuple[dict[str, Examples], str]:
    """The rows cut by ``rule``, and the sentence for a split by time. Where the rows allow none, and nobody asks for it, they are cut at random."""
    if rule.by == ordered.TIME:
        splits, fault = ordered.latest(rows, shares)
        fault = fault or ("" if rule.asked else ordered.lacking(splits, regression))
        if not fault:
            splits = remove(splits, keys, settings.duplicates, checks)
            parts = " and ".join(
                f"the {'latest' if n == 'test' or not shares['test'] else 'next'} {len(splits[n])} for {n}" for n in shares if shares[n]
            )
            other = "" if rule.asked else " To answer rows that lie among these in time, set data.split to random."
            return splits, f"{rule.why} Of the {len(rows)} rows {parts} are held out, and the model learns from earlier ones.{other}"
        if rule.asked:
            raise UserError("no_times", f"The rows cannot be split by time: {fault}.", "Choose another time_column, or set data.split to random.")
        checks.warning(ordered.AGAIN, f"{rule.flatters} The rows are split at random nevertheless, because in a split by time {fault}.")
    elif rule.flatters:
        checks.warning(ordered.AGAIN, rule.flatters)
    return stratified(rows, shares, keys, regression, settings.seed), ""


def _check_order(splits: Splits, rule: Rule, checks: Checks) -> None:
    """Warn of given splits whose test rows lie among the training rows in time, where neighbours are alike."""
    first, last = (known_whens(splits[n]) for n in ("test", "train"))
    if rule.neighbours and len(first) and len(last) and first.min() <= last.max():
        checks.warning(ordered.AGAIN, f"{rule.neighbours}, and the test rows are not later than the training rows: the metrics are too good.")


def stratified(rows: Examples, shares: dict[str, float], keys: Keys, regression: bool, seed: int) -> dict[str, Examples]:
    """Cut ``rows`` so that of each class about ``shares`` of the rows go to test and validation, and the rest to train.

    Copies and the rows of one group are dealt as one, with the class of the first. A class of fewer than three such units
    stays in train. Numbers are dealt evenly over their range.
    """
    units, first = units_of.of(rows, keys)
    sizes = numpy.broadcast_to(numpy.ones(1, first.dtype), first.shape) if units is first else by_blocks.counts(units, len(first))
    labels, stratum = numbered_strata(rows, regression)
    stratum = by_blocks.chosen(stratum, first)
    order = units_of.places(rows, keys, seed, units, first, sizes)
    units_of_label, rows_of_label = (numpy.zeros(len(labels), numpy.int64) for _ in range(2))
    for start in range(0, len(first), _BLOCK):
        block = slice(start, start + _BLOCK)
        numpy.add.at(units_of_label, stratum[block], 1)
        numpy.add.at(rows_of_label, stratum[block], sizes[block])
    quotas = {
        label: {n: math.ceil(count * shares[n]) if members >= MIN_UNITS else 0 for n in _HELD_OUT}
        for label, (members, count) in enumerate(zip(units_of_label.tolist(), rows_of_label.tolist(), strict=True))
    }
    held = numpy.zeros(len(first), numpy.uint8)  # of each unit: its split, by its place in SPLITS
    for members in units_of.in_order(order):
        of_members = stratum[members]
        for label in numpy.unique(of_members).tolist():
            _deal(members[of_members == label], sizes, quotas[label], held)
    held = by_blocks.chosen(held, units)
    return {n: taken(rows, by_blocks.true(held == place)) for place, n in enumerate(SPLITS)}


def _deal(members: numpy.ndarray, sizes: numpy.ndarray, quotas: dict[str, int], held: numpy.ndarray) -> None:
    """Write the splits of ``members``, the next units of a class in their order, into ``held``, until the quota of rows of each split that is held
    out is filled or passed. ``quotas`` becomes what is left of each."""
    for name, left in quotas.items():
        if left > 0 and len(members):
            rows = sizes[members]
            count = int(numpy.searchsorted(numpy.cumsum(rows) - rows, left))
            held[members[:count]] = SPLITS.index(name)
            quotas[name], members = left - int(rows[:count].sum()), members[count:]


def numbered_strata(rows: Sequence[Example], regression: bool) -> tuple[list[str], numpy.ndarray]:
    """What is to be spread evenly, and for each row the number of its own: its class, or the part of the range of its number, of ten."""
    if not regression:
        return target_codes(rows)
    values = target_numbers(rows)
    bins = min(BINS, len(values) // MIN_UNITS)  # of few rows, bins that are large enough to hold some out
    ordered_values = numpy.sort(values)
    edges = numpy.unique(ordered_values[[len(values) * i // bins for i in range(1, bins)]])
    del ordered_values
    found = numpy.empty(len(values), numpy.uint8)
    for start in range(0, len(values), _BLOCK):
        found[start : start + _BLOCK] = numpy.searchsorted(edges, values[start : start + _BLOCK], side="right")
    return [f"{i:02d}" for i in range(len(edges) + 1)], found


def digest(splits: Splits, keys: Keys) -> str:
    """The sha256 over which example is in which split, whatever the order of the rows."""
    found = hashlib.sha256()
    for name in sorted(splits, key=lambda n: f"{n} "):
        for block in keys.lines(splits[name], f"{name} "):
            found.update(block)
    return found.hexdigest()


def _indivisible(empty: list[str], rows: Sequence[Example], keys: Keys, group_column: str) -> UserError:
    """Rows that stay together leave none for a split."""
    units, wanted = len(units_of.of(rows, keys)[1]), " and ".join(empty)
    what, do = f"only {units} of them are different", "Add different rows."
    if group_column:
        what = f"the column {group_column} has only {units} groups"
        do = f"Choose a group_column with more values, or add a file with rows for {wanted}."
    elif units == len(rows):
        what, do = f"no label has {MIN_UNITS} rows", f"Add rows with the same labels, or add a file with rows for {wanted}."
    return UserError("too_few_groups", f"The {len(rows)} rows cannot be divided into rows for training and for {wanted}: {what}.", do)


def _check_rows(splits: Splits, regression: bool) -> None:
    counts = counted_targets(splits["train"][:_BLOCK] if regression else splits["train"])
    if regression and (len(counts) < 2 or not any(counts)):
        counts = counted_targets(splits["train"])
    total = sum(len(rows) for rows in splits.values())
    if total < MIN_ROWS or not len(splits["train"]):
        raise UserError(
            "too_few_rows",
            f"There are only {len(splits['train'])} training rows and {total} rows in all, which is too few to train a model.",
            f"Add labelled rows: at least {MIN_ROWS}, better several hundred.",
        )
    if not any(counts):
        return  # nothing is labelled
    if len(counts) < 2:
        raise _one_class(counts)
    if not regression and len(counts) > MAX_CLASSES:
        raise UserError(
            "too_many_classes",
            f"There are {len(counts)} different labels, and at most {MAX_CLASSES} are supported.",
            "Choose a label_column with fewer values, or leave out rare labels.",
        )
    if not regression and counts.total() < MIN_PER_CLASS * len(counts):
        raise UserError(
            "label_not_a_class",
            f"There are {len(counts)} different labels in {counts.total()} training rows, so the labels do not name classes.",
            "Choose a label_column whose values repeat, such as a category.",
        )


def _one_class(counts: Counter) -> UserError:
    return UserError(
        "one_class",
        f"All training rows have the label {next(iter(counts))}, so there is nothing to predict.",
        "Add rows of at least one other class, or choose another label_column.",
    )


def _known_labels(splits: dict[str, Sequence[Example]], checks: Checks) -> dict[str, Sequence[Example]]:
    """Leave out rows whose label never occurs in training, and warn of classes that are too small to be learnt."""
    counts = counted_targets(splits["train"])
    if len(counts) < 2:
        raise _one_class(counts)  # rows of another class have the content of rows of this one, and are held out with them
    for name in ("validation", "test"):
        strange = any(t not in counts for t in counted_targets(splits[name]))
        there = [t in counts for t in targets(splits[name])] if strange else []
        known = splits[name] if not strange else taken(splits[name], numpy.flatnonzero(there))
        if removed := len(splits[name]) - len(known):
            checks.warning("unknown_labels", f"{left_out(removed, f'{name} row')} because the label does not occur in the training rows.")
            checks.drop(f"the label of a {name} row does not occur in training", removed)
        if removed and not len(known):
            raise UserError(
                "unknown_labels",
                f"No {name} row has a label that occurs in the training rows.",
                "Check that the files use the same labels.",
                f"Training labels are {some(sorted(counts), 10)}.",
            )
        splits[name] = known
    small = sorted(label for label, n in counts.items() if n < 10)
    if small:
        checks.warning("small_classes", f"These labels have fewer than 10 training rows, so predictions for them will be poor: {some(small, 10)}.")
    return splits


def _counts(splits: Splits) -> dict[str, int]:
    return {n: len(splits[n]) for n in SPLITS}


def _why(splits: Splits, missing: list[str], before: int, regression: bool, whole: str) -> str:
    parts = " and ".join(f"{len(splits[n])} for {n}" for n in missing)
    labelled = have_targets(splits["train"])
    even = ", evenly over the range of the target" if regression else ", evenly over the classes" if labelled else ""
    together = f", and {whole} stay together" if whole else ""
    return f"The dataset does not define {' or '.join(missing)} rows, so {parts} are taken from the {before} rows by a content hash{even}{together}."
