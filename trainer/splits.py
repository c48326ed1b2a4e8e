"""Which rows train, which choose the best model, and which only measure it.

Rows are assigned by a hash of seed and text, so that the same data gives the same split, adding rows moves hardly any of
the others, and copies of a text stay together: no text is ever trained on and tested on.
"""

import collections
import hashlib
import math
from dataclasses import dataclass

from trainer.errors import UserError
from trainer.events import Events

TEST_SHARE = 0.1
VALIDATION_SHARE = 0.1
MIN_ROWS = 20
MIN_PER_CLASS = 2
NAMES = ("train", "validation", "test")


@dataclass(frozen=True)
class Row:
    """One example: the file and the row that it came from, for a person to find it again."""

    file: str
    number: int
    text: str
    label: str


Splits = dict[str, list[Row]]


def complete(given: Splits, seed: int, events: Events) -> Splits:
    """The three splits from those that files define: missing ones are cut out of train, copies between them are removed.

    A text of the test rows stays there and leaves the other two; a text of validation leaves train. Published datasets do
    contain their test rows in their training file, and the figures would be too good to be true.
    """
    splits: Splits = {name: list(given.get(name, [])) for name in NAMES}
    for kept, cleaned in (("test", "validation"), ("test", "train"), ("validation", "train")):
        texts = {_key(r.text) for r in splits[kept]}
        clean = [r for r in splits[cleaned] if _key(r.text) not in texts]
        if removed := len(splits[cleaned]) - len(clean):
            events.warning("duplicates", f"{removed} {cleaned} rows are left out because the same text is among the {kept} rows.")
        splits[cleaned] = clean
    _check_rows(splits)
    missing = [n for n in ("test", "validation") if not splits[n]]
    shares = {"test": TEST_SHARE * ("test" in missing), "validation": VALIDATION_SHARE * ("validation" in missing)}
    if missing:
        before = len(splits["train"])
        splits |= {n: rows for n, rows in stratified(splits["train"], shares, seed).items() if n == "train" or n in missing}
        parts = " and ".join(f"{len(splits[n])} for {n}" for n in missing)
        events.decision(
            "split",
            {n: len(splits[n]) for n in NAMES},
            f"No file is named as {' or '.join(missing)} data, so {parts} are taken from the {before} rows by a hash of their text, evenly over the classes.",
        )
    else:
        events.decision("split", {n: len(splits[n]) for n in NAMES}, "The names of the files say which rows train, validate and test.")
    return _known_labels(splits, events)


def stratified(rows: list[Row], shares: dict[str, float], seed: int) -> Splits:
    """Cut ``rows`` so that of each class about ``shares`` of the rows go to test and validation, and the rest to train.

    Copies of a text are dealt as one, with the class of the first. A class of fewer than three texts stays in train.
    """
    groups = collections.defaultdict(list)
    for row in rows:
        groups[_key(row.text)].append(row)
    classes = collections.defaultdict(list)
    for text, group in groups.items():
        place = hashlib.sha256(f"{seed}\0{text}".encode("utf-8", "surrogatepass")).digest()
        classes[group[0].label].append((place, group))
    chosen: dict[str, set[int]] = {n: set() for n in NAMES}
    for label in sorted(classes):
        members = sorted(classes[label], key=lambda m: m[0])
        count = sum(len(group) for _, group in members)
        quota = {n: math.ceil(count * shares[n]) if len(members) >= 3 else 0 for n in ("test", "validation")}
        for _, group in members:
            split = next((n for n in ("test", "validation") if quota[n] > 0), "train")
            if split != "train":
                quota[split] -= len(group)
            chosen[split].update(map(id, group))
    return {n: [r for r in rows if id(r) in chosen[n]] for n in NAMES}


def _key(text: str) -> str:
    """What makes two texts copies of each other: their words, whatever the case and the spaces."""
    return " ".join(text.lower().split())


def _check_rows(splits: Splits) -> None:
    counts = collections.Counter(r.label for r in splits["train"])
    total = sum(len(rows) for rows in splits.values())
    if total < MIN_ROWS or not splits["train"]:
        raise UserError(
            "too_few_rows",
            f"There are only {len(splits['train'])} rows to train on and {total} in all; a model cannot be trained on so few.",
            f"Add rows with text and label: at least {MIN_ROWS}, better some hundreds.",
        )
    if len(counts) < 2:
        raise UserError(
            "one_class",
            f"All training rows have the label {next(iter(counts))}, so there is nothing to tell apart.",
            "Add rows of at least one other class, or choose another label_column.",
        )
    if counts.total() < MIN_PER_CLASS * len(counts):
        raise UserError(
            "label_not_a_class",
            f"There are {len(counts)} different labels in {counts.total()} training rows, so the labels do not name classes.",
            "Choose a label_column whose values repeat, such as a category.",
        )


def _known_labels(splits: Splits, events: Events) -> Splits:
    """Leave out rows whose label never occurs in training, and warn of classes that are too small to be learnt."""
    counts = collections.Counter(r.label for r in splits["train"])
    for name in ("validation", "test"):
        known = [r for r in splits[name] if r.label in counts]
        if removed := len(splits[name]) - len(known):
            events.warning("unknown_labels", f"{removed} {name} rows are left out because their label does not occur in the training rows.")
        if not known:
            raise UserError(
                "unknown_labels",
                f"No {name} row has a label that occurs in the training rows.",
                "Check that the files use the same labels.",
                f"Training labels are {', '.join(sorted(counts)[:10])}.",
            )
        splits[name] = known
    small = sorted(label for label, n in counts.items() if n < 10)
    if small:
        events.warning("small_classes", f"Fewer than 10 training rows have the label {', '.join(small[:10])}: expect these to be recognised badly.")
    return splits
