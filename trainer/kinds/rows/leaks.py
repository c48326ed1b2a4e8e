"""Detects label leaks: inputs that reveal the label, so that the metrics say nothing about new data."""

import collections
import functools
import re
from collections.abc import Sequence

import numpy

from trainer.core.example import Example
from trainer.data.checks import Checks
from trainer.data.columns import values
from trainer.data.columns.features import CATEGORY, NUMBER
from trainer.errors import some
from trainer.kinds.rows.clues import class_ranges, formulas
from trainer.kinds.rows.roles import Roles

DETERMINED = 0.99  # of the rows whose value occurs more than once
COMMON = 0.95  # of one class: then anything seems to determine the label
CORRELATED, CLOSE = 0.9999, 0.98  # of the numbers of any column, and of one that is called as an answer
SAMPLE = 20_000
FEW_VALUES = 200
MIN_FILLED = 10  # rows that differ from the others
_ANSWER = re.compile(r"prob|score|pred|logit|confidence|forecast|fitted|estimate|y_?hat", re.IGNORECASE)
_APART = 0.98  # of the pairs of a row of each class are in the right order


def check(rows: Sequence[Example], roles: Roles, checks: Checks) -> None:
    """Report columns that reveal the label, and texts that contain it."""
    rows = list(rows[:: -(-len(rows) // SAMPLE)])
    if roles.reads_texts:
        _texts(rows, roles, checks)
        return
    test = _linear if roles.regression else functools.partial(_determines, groups=[e.group for e in rows])
    targets = [e.target for e in rows]
    columns = {name: [e.content[i] for e in rows] for i, name in enumerate(roles.columns)}
    known = _computed(columns, targets, roles, checks)
    others = {name: cells for name, cells in columns.items() if name not in known}
    found = [name for name, cells in others.items() if test(cells, targets, roles.types[name]) or _is_prediction(name, cells, targets, roles)]
    gaps = [] if roles.regression else [name for name, cells in others.items() if name not in found and _gaps_determine(cells, targets)]
    if found or gaps:
        what = [f"The columns {some(found, 6)} each predict" if len(found) > 1 else f"The column {found[0]} predicts"] if found else []
        what += [f"Whether {some(gaps, 6)} {'have' if len(gaps) > 1 else 'has'} a value predicts"] if gaps else []
        do = "make sure that this is known before the label is"
        checks.warning("label_leak", " ".join(f"{w} the label {roles.label} almost perfectly: {do}." for w in what))
    else:
        checks.ok("label_leak", "No other column reveals the label." if known else "No column reveals the label.")


def _gaps_determine(cells: list[str], targets: list[str]) -> bool:
    """Whether rows with a value and rows without one have different labels, as where it is filled in once the label is known."""
    filled = collections.Counter(t for cell, t in zip(cells, targets) if cell)
    empty = collections.Counter(targets) - filled
    right = sum(max(of.values(), default=0) for of in (filled, empty))
    common = max((filled + empty).values(), default=0)
    return right >= DETERMINED * len(cells) and common < COMMON * len(cells) and len(cells) - common >= MIN_FILLED


def _computed(columns: dict[str, list[str]], targets: list[str], roles: Roles, checks: Checks) -> tuple[str, ...]:
    """Report a label that is computed from columns of numbers. Returns these columns."""
    numbers = {name: cells for name, cells in columns.items() if roles.types[name] == NUMBER}
    words, used = "", tuple[str, ...]()
    if (roles.regression or _are_numbers(targets)) and (formula := formulas.find(numbers, targets)):
        words, used = f"The label {roles.label} is {formula.words}", formula.columns
    elif not roles.regression and (ranges := class_ranges.find(numbers, targets)):
        words, used = f"Each class of {roles.label} is a range of {ranges[0]}", ranges[1]
    if words:
        do = f"To predict it from other things, name the columns to read in the option columns, without {some(used, 6)}"
        checks.warning("label_formula", f"{words}, which gives the answer without a model. {do}.")
    else:
        checks.ok("label_formula", "The label is not computed from other columns.")
    return used


def _are_numbers(targets: list[str]) -> bool:
    """Whether classes are numbers, several of them."""
    different = set(targets)
    return len(different) > 2 and all(values.number(t) is not None for t in different)


def _determines(cells: list[str], targets: list[str], kind: str, groups: list[str]) -> bool:
    """Whether equal cells have equal labels, as far as cells repeat; numbers only where they have few values, or are whole, as those of persons.

    What rows of one group have in common tells nothing, because they are in one split: they count as one.
    """
    by_value: dict[str, collections.Counter] = collections.defaultdict(collections.Counter)
    if any(groups):
        alone = [group or f"\n{i}" for i, group in enumerate(groups)]
        once = list(dict.fromkeys(zip(cells, targets, alone)))
        cells, targets = [cell for cell, _, _ in once], [target for _, target, _ in once]
    for cell, target in zip(cells, targets):
        if cell:
            by_value[cell][target] += 1
    if kind != CATEGORY and len(by_value) > FEW_VALUES and not all(c.isdecimal() for c in by_value):
        return False
    repeated = [c for c in by_value.values() if c.total() >= 2]
    covered = sum(c.total() for c in repeated)
    common = collections.Counter(targets).most_common(1)[0][1] / len(targets)
    right = sum(max(c.values()) for c in repeated)
    return covered >= 0.5 * len(cells) and right >= DETERMINED * covered and common < COMMON


def _is_prediction(name: str, cells: list[str], targets: list[str], roles: Roles) -> bool:
    """Whether a column of numbers is called as the answer of a model, and tells two classes apart, or follows the target closely."""
    if roles.types[name] != NUMBER or not _ANSWER.search(name):
        return False
    if roles.regression:
        return _linear(cells, targets, NUMBER, CLOSE)
    if len(classes := sorted(set(targets))) != 2:
        return False
    known = [(float(c), t == classes[1]) for c, t in zip(cells, targets) if c]
    numbers, truth = numpy.array([n for n, _ in known]), numpy.array([t for _, t in known])
    if len(known) < 0.5 * len(cells) or not truth.any() or truth.all():
        return False
    from sklearn.metrics import roc_auc_score

    in_order = roc_auc_score(truth, numbers)
    return bool(max(in_order, 1 - in_order) >= _APART)


def _linear(cells: list[str], targets: list[str], kind: str, least: float = CORRELATED) -> bool:
    """Whether the numbers are the target in other units."""
    if kind != NUMBER:
        return False
    pairs = numpy.array([(float(c), float(t)) for c, t in zip(cells, targets) if c])
    if len(pairs) < 0.5 * len(cells) or len(pairs) < 3 or not pairs.std(axis=0).all():
        return False
    return bool(abs(numpy.corrcoef(pairs.T)[0, 1]) > least)


def _texts(rows: list[Example], roles: Roles, checks: Checks) -> None:
    """Report where nearly all texts contain the name of their label and of no other."""
    labels = {e.target.lower() for e in rows}
    if roles.regression or len(labels) > FEW_VALUES:
        return
    names = sorted((n for n in labels if len(n) > 2 or not n.isdigit()), key=len, reverse=True)
    if not names:
        return
    pattern = re.compile(r"(?<!\w)(" + "|".join(map(re.escape, names)) + r")(?!\w)")
    telling = 0
    for e in rows:
        text = e.content if isinstance(e.content, str) else "\n".join(e.content)
        telling += set(pattern.findall(text[:2000].lower())) == {e.target.lower()}
    if telling >= 0.9 * len(rows):
        share = f"{telling / len(rows):.0%} of the texts contain the name of their own label and of no other"
        checks.warning("label_leak", f"{share}: the model will rely on that word and fail on texts without it.")
    else:
        checks.ok("label_leak", "The texts do not reveal their labels by name.")
