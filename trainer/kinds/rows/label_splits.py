"""Splits rows with several labels: like rows of classes, each by its rarest label that is frequent enough to be spread evenly."""

import collections
from dataclasses import replace

from trainer.core.example import SPLITS, Example
from trainer.data import audit, duplicates, names, splits as splitting, subset
from trainer.data.checks import Checks
from trainer.data.keys import Keys
from trainer.data.ordered import Rule
from trainer.errors import UserError, count as count_of, some
from trainer.kinds.rows import label_sets as forms

MIN_ROWS = 6  # of a label that is spread evenly
FEW = 10  # training rows of a label below which it is hardly learnt
Splits = dict[str, list[Example]]


def complete(given: Splits, separator: str, keys: Keys, settings, checks: Checks, rule: Rule | None = None) -> tuple[Splits, tuple[str, ...]]:
    """The three splits, and the labels of the training rows in natural order. Raises UserError where there is too little to learn from."""
    audit.copies(given, keys, False, checks)
    swapped, back = splitting.by_rarest(given, lambda e: forms.parts(e.target, separator), MIN_ROWS, forms.NONE)
    swapped = subset.thin(swapped, settings.max_examples, keys, False, settings.seed, checks.events)
    found = duplicates.remove({n: swapped.get(n, []) for n in SPLITS}, keys, settings.duplicates, checks)
    total = sum(map(len, found.values()))
    if total < splitting.MIN_ROWS or not found["train"]:
        raise UserError(
            "too_few_rows", f"There are only {total} rows with labels, which is too few to train a model.",
            f"Add labelled rows: at least {splitting.MIN_ROWS}, better several hundred.",
        )  # fmt: skip
    found = splitting.hold_out(found, keys, settings, "rows", "the labels", "The file names or the split column", checks, rule)
    return _known({n: [back[id(e)] for e in rows] for n, rows in found.items()}, separator, keys, checks)


def _known(found: Splits, separator: str, keys: Keys, checks: Checks) -> tuple[Splits, tuple[str, ...]]:
    """The splits with the labels that occur in training rows, and these labels."""
    train = found["train"]
    counts = collections.Counter(label for e in train for label in forms.parts(e.target, separator))
    if len(counts) < 2:
        raise UserError(
            "one_class", f"The training rows have {count_of(len(counts), 'label')} in all, so there is nothing to choose between.",
            "Add rows with other labels, or choose another label_column.",
        )  # fmt: skip
    for name in ("validation", "test"):
        kept = [replace(e, target=forms.joined([p for p in forms.parts(e.target, separator) if p in counts], separator)) for e in found[name]]
        strange = {p for e in found[name] for p in forms.parts(e.target, separator)} - counts.keys()
        if strange:
            checks.warning("unknown_labels", f"These labels of {name} rows occur in no training row and do not count: {some(sorted(strange), 10)}.")
        found = {**found, name: kept}
    labels = tuple(sorted(counts, key=names.natural))
    several = sum(counts.values()) / len(train)
    checks.events.decision(
        "labels",
        list(labels[:1000]),
        f"The model predicts which of {len(labels)} labels a row has: {some(labels)}; rows have {several:.1f} on average.",
    )
    if small := sorted(label for label, n in counts.items() if n < FEW):
        checks.warning("small_classes", f"These labels have fewer than {FEW} training rows, so they will hardly be found: {some(small, 10)}.")
    audit.size(found, checks)
    audit.overlap(found, keys, checks)
    return found, labels
