"""The datasets that the examples of a run came from, where it reads several: those of one stay in one split."""

import collections
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from trainer.core import columnar
from trainer.core.columnar import Columnar
from trainer.core.example import Example
from trainer.core.input import Input
from trainer.data import ordered
from trainer.data.checks import Checks
from trainer.data.ordered import Rule
from trainer.errors import UserError, some

MIN_DATASETS = 10  # with fewer, too little is left to learn from when whole datasets are held out
MIN_OF_LABEL = 3  # datasets with a label, for some of them to be held out
CODE = "datasets"


@dataclass(frozen=True)
class Origins:
    """The names of the datasets. Names of files begin with the name of their dataset, except in the one that the run began with: ``first``."""

    others: frozenset[str] = frozenset()
    first: str = ""

    def of(self, file: str) -> str:
        """The dataset of a file, also of one in an archive or a table."""
        name = file.split("/", 1)[0]
        return name if name in self.others else self.first or "."


ONE = Origins()  # all files are of one dataset


def of(inputs: Iterable[Input]) -> Origins:
    """The datasets of ``inputs``; none where they are of one."""
    others, first = set(), ""
    for i in inputs:
        if i.dataset and i.name.startswith(f"{i.dataset}/"):
            others.add(i.dataset)
        elif i.dataset:
            first = i.dataset
    return Origins(frozenset(others), first)


@dataclass
class Grouped:
    """Rows with the dataset of each as its group, or as they were; ``rule`` is how they are to be split."""

    rows: dict[str, Any]  # of what ``group`` was given
    rule: Rule = field(default_factory=Rule)


def group(given: Mapping[str, Sequence[Example]], origins: Origins, classes: bool, settings, rule: Rule | None, checks: Checks) -> Grouped:
    """Keep the rows of each dataset together where there are many, or where ``data.split`` is group and no column tells groups. ``classes`` says
    that the targets are labels that repeat.

    Raises UserError where the user asks for that and it leaves no rows to hold out, and where each label is in a dataset of its own: a model
    would learn to tell datasets apart.
    """
    rule = rule or Rule()
    asked = settings.split == ordered.GROUP and not settings.group_column
    if not origins.others or settings.group_column or rule.asked or settings.split in (ordered.RANDOM, ordered.TIME, ordered.PLACE):
        return Grouped({**given}, rule)
    sets = {name: [origins.of(file) for file in columnar.files(rows)] for name, rows in given.items()}
    count = len({d for found in sets.values() for d in found})
    where = collections.defaultdict(set)  # the datasets with each label
    for name, rows in given.items():
        for target, dataset in zip(columnar.targets(rows), sets[name]):
            where[target if classes else ""].add(dataset)
    if count >= MIN_DATASETS and len(where) > 1 and all(len(of_label) == 1 for of_label in where.values()):
        raise UserError(
            "label_is_dataset",
            f"Each label is in one dataset alone, for example {some(sorted(where), 3)}, so a model would learn to tell datasets apart.",
            "Set label_column or label_from to what is to be predicted, or set data.split to random if each dataset is a class.",
        )
    if not any(len(of_label) >= MIN_OF_LABEL for of_label in where.values()) or not (asked or count >= MIN_DATASETS):
        why = f"the rows come from {count} datasets" if count < MIN_DATASETS else f"no label is in {MIN_OF_LABEL} datasets"
        if asked and count < MIN_OF_LABEL:
            raise UserError(
                "too_few_groups", f"data.split is group, but {why}, which is too few to hold some out.", "Add datasets, or set data.split to random."
            )
        if not asked and count > 1:
            checks.warning(CODE, f"Rows of one dataset may be in training and in the test, because {why}: the metrics are better than for others.")
        if not asked:
            return Grouped({**given}, rule)
    whole = {name: _grouped(rows, sets[name]) for name, rows in given.items()}
    return Grouped(whole, Rule(whole=f"the rows of each of {count} datasets", new="datasets"))


def _grouped(rows: Sequence[Example], datasets: list[str]) -> Sequence[Example]:
    return rows.grouped(datasets) if isinstance(rows, Columnar) else [replace(e, group=d) for e, d in zip(rows, datasets)]
