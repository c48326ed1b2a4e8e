"""One example, and the dataset of a run."""

import collections
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trainer.core.kind import Kind
    from trainer.data.columns.values import Style
    from trainer.data.together import Together


SPLITS = ("train", "validation", "test")


@dataclass(frozen=True, slots=True)
class Example:
    """One example: where a person finds it again, what a model reads of it, and what the model is to answer.

    ``row`` counts as a person does, from 1 with the header; it is 0 where the file itself is the example. ``content`` is a text, a pair of
    texts, the words of a sentence, the path of an image, or the cells of a table row in the order of ``Dataset.columns``; the cells of
    number columns are empty or such that ``float`` reads them. ``target`` is the label, the labels (see kinds/rows/label_sets.py), or the
    tags of all words with spaces between them; for regression a number that ``float`` reads; empty where there is none. ``when`` is a number
    that grows with time, where the rows of the dataset have one.
    """

    file: str
    row: int
    content: Any
    target: str
    id: str = ""
    group: str = ""
    when: float | None = None


@dataclass
class Dataset:
    """The data of a run. ``labels`` is the label map: the position of a label is the model's output for it. The splits of
    large tables are no lists: see ``trainer.core.columnar``.

    ``label_column`` is empty where folders are the labels. ``types`` says of each column of a table whether it holds a
    "number" or a "category", or is of another sort that its kind knows; of a text model, the column that is read as the second text is marked
    "pair". ``learnt`` is what its kind learnt of single columns from the training rows while it read them, by the names of the columns.
    """

    task: str
    kind: "Kind"
    splits: Mapping[str, Sequence[Example]]
    files: list[str]
    columns: tuple[str, ...]
    label_column: str
    labels: tuple[str, ...] = ()  # in natural order; none for regression
    types: dict[str, str] = field(default_factory=dict)
    styles: dict[str, "Style"] = field(default_factory=dict)  # how the columns of numbers are written, and the label of a regression
    dropped: list[tuple[str, int]] = field(default_factory=list)  # reason, rows
    not_read: list[tuple[str, str]] = field(default_factory=list)  # names of files of the dataset, reasons
    checks: list[dict] = field(default_factory=list)
    split_sha256: str = ""
    learnt: dict[str, Any] = field(default_factory=dict)
    separator: str = ""  # between the labels of a target, where rows have several
    kept_by: str = ""  # the column by which rows were kept together although nobody asked for it
    together: tuple["Together", ...] = ()  # ways in which examples belong together that the split did not keep so

    def counts(self) -> dict[str, int]:
        """Label to number of training rows (of words, for tags), in the order of the label map."""
        from trainer.core.example_targets import counted_targets

        counted: collections.Counter[str] = collections.Counter()
        for target, count in counted_targets(self.splits["train"]).items():
            for label in self.kind.labels_of(target, self.separator):
                counted[label] += count
        return {label: counted[label] for label in self.labels}
