"""Checks of the examples before the training: problems that harm the model or distort its metrics."""

import collections
from collections.abc import Mapping, Sequence

import numpy

from trainer.core import by_blocks
from trainer.core.columnar import groups, have_groups, taken, targets
from trainer.core.example import SPLITS, Example
from trainer.core.example_targets import counted_targets
from trainer.data.checks import Checks
from trainer.data.keys import Keys
from trainer.errors import count, some

FEW_ROWS = 200
IMBALANCE = 5
Splits = Mapping[str, Sequence[Example]]


def copies(given: Splits, keys: Keys, regression: bool, checks: Checks) -> None:
    """Duplicates within and between the given splits, and duplicates with different labels, which are normal in a regression."""
    codes = keys.codes(*given.values())
    total, known = sum(map(len, codes)), 1 + max((int(c.max(initial=-1)) for c in codes), default=-1)
    there = numpy.zeros(known, bool)
    for of_rows in codes:
        by_blocks.put(there, of_rows, True)
    extra = total - int(numpy.count_nonzero(there))
    repeated = numpy.zeros(0, numpy.int64)
    if extra:
        repeated = numpy.sum([by_blocks.counts(of_rows, known) for of_rows in codes], axis=0)
        share = extra / total
        report = checks.warning if share > 0.1 else checks.ok
        report("copies", f"{extra} of {total} examples are duplicates of another one ({share:.1%}).")
    else:
        checks.ok("copies", "No example occurs twice.")
    labels = collections.defaultdict(set)
    for rows, of_rows in zip(given.values(), codes) if extra and not regression else ():
        copied = numpy.flatnonzero(repeated[of_rows] > 1)
        for code, target in zip(of_rows[copied].tolist(), targets(taken(rows, copied))):
            labels[code].add(target)
    conflicts = {code for code, found in labels.items() if len(found) > 1}
    if conflicts:
        count_of = int(sum(repeated[code] for code in conflicts))
        example = next(
            e for rows, of_rows in zip(given.values(), codes) for e in taken(rows, numpy.flatnonzero(numpy.isin(of_rows, [*conflicts]))[:1])
        )
        place = f"{example.file} row {example.row}" if example.row else example.file
        checks.warning(
            "conflicting_labels",
            f"{count_of} examples have duplicates with another label, for example {place}: no model can get all of them right.",
        )
    elif not regression:
        checks.ok("conflicting_labels", "No example has two different labels.")


def examples(splits: Splits, labelled: bool, keys: Keys, checks: Checks) -> None:
    """Number of rows, balance, and overlap of the splits. ``labelled``: each example has one of several labels."""
    size(splits, checks)
    if labelled:
        _classes(splits, checks)
    overlap(splits, keys, checks)


def size(splits: Splits, checks: Checks) -> None:
    """Whether there are few rows, and whether some are held out."""
    total = sum(map(len, splits.values()))
    counts = some([f"{len(splits[n])} for {n}" for n in SPLITS])
    if total < FEW_ROWS:
        checks.warning("few_rows", f"There are only {total} examples ({counts}): the metrics will be imprecise. Adding examples helps most.")
    else:
        checks.ok("few_rows", f"There are {total} examples: {counts}.")
    if not len(splits["test"]):
        checks.warning("no_test_rows", "No rows are held out for testing, so the model is evaluated on the validation rows only.")


def _classes(splits: Splits, checks: Checks) -> None:
    counts = {n: counted_targets(splits[n]) for n in SPLITS}
    labels = sorted(counts["train"])
    thin = [f"{label} ({counts[n][label]} for {n})" for n in SPLITS if len(splits[n]) for label in labels if counts[n][label] < 2]
    if thin:
        checks.warning("rows_per_class", f"Some classes have fewer than two examples in a split: {some(thin, 6)}.")
    else:
        checks.ok("rows_per_class", "Every class has at least two examples in each split.")
    spellings = collections.defaultdict(list)
    for label in labels:
        spellings[" ".join(label.lower().split())].append(label)
    if alike := [some(same) for same in spellings.values() if len(same) > 1]:
        checks.warning("similar_labels", f"Some labels differ only in case or spaces and count as different classes: {some(alike, 4)}.")
    (largest, most), *_, (smallest, least) = counts["train"].most_common()
    if most > IMBALANCE * least:
        sizes = f"{largest} has {most} training rows and {smallest} only {least}"
        checks.warning("class_imbalance", f"{sizes}: rare classes are predicted less reliably, and accuracy says little about them.")
    else:
        even = f"The largest class has {most / least:.1f} times as many training rows as the smallest."
        checks.ok("class_imbalance", even if most > 1.05 * least else "All classes have about the same number of training rows.")


def overlap(splits: Splits, keys: Keys, checks: Checks) -> None:
    """Whether examples or groups are in more than one split."""
    codes = dict(zip(SPLITS, keys.codes(*(splits[n] for n in SPLITS))))
    seen = {n: numpy.zeros(1 + max(int(c.max(initial=0)) for c in codes.values()), bool) for n in SPLITS}
    for name, of_split in codes.items():
        by_blocks.put(seen[name], of_split, True)
    shared = sum(int((seen[a] & seen[b]).sum()) for a, b in (("train", "validation"), ("train", "test"), ("validation", "test")))
    grouped = {n: {*groups(splits[n])} - {""} if have_groups(splits[n]) else set() for n in SPLITS}
    common = grouped["test"] & (grouped["train"] | grouped["validation"])
    if shared:
        what = f"{count(shared, 'example')} {'is' if shared == 1 else 'are'} in more than one split"
        checks.warning("split_overlap", f"{what}, so the metrics will be too optimistic.")
    elif common:
        what = f"{count(len(common), 'group')} of the test rows {'is' if len(common) == 1 else 'are'} also in training"
        checks.warning("split_overlap", f"{what}, so the metrics may be too optimistic.")
    else:
        checks.ok("split_overlap", "No example is in more than one split.")
