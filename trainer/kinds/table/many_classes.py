"""What the number of classes asks of models of tables: memory and time that nobody knows before the rows are split, and which models fit into it."""

from collections.abc import Mapping

from trainer.core.example import Dataset
from trainer.errors import UserError
from trainer.kinds.table import columns, trees
from trainer.kinds.table.held_out import KEPT
from trainer.measure import linear

_LITTLE = 200e6  # bytes for classes that are not judged: whatever fits without them is trained
# Bytes that a training of any classes needs, and for each of its rows: 32 million rows of two classes had 1.81 GB at most, of which 0.58 are those of
# their probabilities by the numbers below (make bench-large LIMIT=3).
_BASE, _ROW = 700e6, 20
# Bytes for each probability: of a held-out row where models are weighed against each other, of a row that trees are fitted on (both by the arrays
# that are made), and of one that a linear model is fitted on (measured: 12.5).
_WEIGHED, _OF_TREES, _OF_LINEAR = 90, 40, 16
_LINEAR = 6.7e8  # rows x columns x classes that the time of a linear model allows


def check(data: Dataset, limit: int) -> None:
    """Raise UserError where the models of ``data`` need more than ``limit`` bytes of memory."""
    rows, classes = sum(map(len, data.splits.values())), len(data.labels)
    of_classes = need_of_classes(len(data.splits["train"]), len(data.splits["validation"]), classes, columns.width(data)) if classes else 0.0
    need = _BASE + _ROW * rows + of_classes
    if of_classes > _LITTLE and need > limit:
        raise UserError(
            "too_large",
            f"There are {classes:,} classes and {rows:,} rows, of which models need {need / 1e9:.1f} GB of memory; {limit / 1e9:.1f} GB are there.",
            "Leave out rare labels, use fewer rows, or ask the administrator for more memory (in Kubernetes, ray.head.memory of the chart).",
        )


def need_of_classes(train: int, held_out: int, classes: int, width: int) -> float:
    """The most bytes that the probabilities of classes take at once: the models are fitted one after another."""
    of_trees = 0 if trees.are_too_many(classes, width) else min(train, trees.most_rows(width, classes))
    of_linear = min(train, linear.MAX_ROWS, _LINEAR / classes / max(1, width))
    kept = held_out * classes
    weighed = kept * _WEIGHED if kept <= KEPT else KEPT * _OF_TREES
    return max(of_trees * classes * _OF_TREES, of_linear * classes * _OF_LINEAR, weighed)


def leaves_out(data: Dataset) -> Mapping[str, str]:
    """The estimators that do not suit so many classes, each with the reason."""
    classes, found = len(data.labels), {}
    if trees.are_too_many(classes, columns.width(data)):
        found[trees.NAME] = f"Each round of trees has one for each of {classes:,} classes, which takes too long."
    if len(data.splits["validation"]) * classes > KEPT:
        rows = len(data.splits["validation"])
        found["ensemble"] = f"The answers of all models to {rows:,} validation rows, with {classes:,} classes each, do not fit into memory together."
    return found
