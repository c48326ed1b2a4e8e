"""The parts of the report about sizes and numbers: scores of small, medium and large objects, and true against predicted counts."""

from collections.abc import Sequence

import numpy

from trainer.core import blocks
from trainer.core.blocks import COUNT, NUMBER, Axis, Block, Cell, Chart, Column, Series
from trainer.core.example import Example
from trainer.export import display
from trainer.kinds.objects import scores
from trainer.kinds.objects.answers import Answers, counts
from trainer.kinds.objects.target import Objects

_LISTED = 50  # pictures
_LABELS = 8  # with columns of their own in the table of pictures
_ALL = "all"
_DIAGONAL = 41  # dots where both numbers are equal
_SIZES = (
    "A small object covers less than 32 x 32 pixels of its picture, a large one more than 96 x 96, as COCO defines them. Objects of another size "
    "are neither found nor missed there."
)
_COUNTS = (
    "The count error is the mean, over the pictures, of the difference between the true and the predicted number. Counts that are too high in one "
    "picture and too low in another balance in the totals, and do not in the error."
)


def by_size(answers: Answers, target: Objects) -> Block:
    """A table of the scores by the size of the objects."""
    sizes = [scores.areas(t, target.outlined)[t.counted] for t in answers.truths]
    areas = numpy.concatenate([numpy.zeros(0), *sizes])
    rows = []
    for name, tables in target.by_size(answers).items():
        low, high = scores.SIZES[name]
        there = int(((areas >= low) & (areas < high)).sum())
        rows.append([Cell(name), share(tables.ap50), share(tables.ap), share(tables.ar), Cell(value=there)])
    columns = [Column("Size"), Column("AP50", NUMBER), Column("AP50:95", NUMBER), Column("Recall50:95", NUMBER), Column("True objects", COUNT)]
    return blocks.table("By size of the objects", columns, rows, note=_SIZES)


def blocks_of(examples: Sequence[Example], answers: Answers, target: Objects, pictures: str) -> list[Block]:
    """A chart of all pictures, a table of the labels and one of the pictures with the largest errors. ``pictures`` says which they are."""
    there, said = counts(answers)
    return [_chart(there.sum(axis=1), said.sum(axis=1), pictures), _of_labels(there, said, target), _of_pictures(examples, there, said, target)]


def _chart(there: numpy.ndarray, said: numpy.ndarray, pictures: str) -> Block:
    series = [
        Series([(float(n), float(n)) for n in numpy.linspace(0, there.max(), _DIAGONAL)], "equal"),
        Series([(float(a), float(b)) for a, b in zip(there, said)], "pictures"),
    ]
    summary = f"True and predicted numbers of objects of {len(there)} {pictures}; the mean difference is {numpy.abs(there - said).mean():.2f}."
    note = f"All {pictures} together: {there.sum():,} true and {said.sum():,} predicted objects."
    chart = Chart("dots", Axis("true objects", zero=True), Axis("predicted objects", zero=True), series, summary, same_unit=False, file="counts")
    return blocks.chart(f"Objects of each of the {pictures}", chart, note=note)


def _of_labels(there: numpy.ndarray, said: numpy.ndarray, target: Objects) -> Block:
    columns = [Column("Label"), Column("True per picture", NUMBER), Column("Predicted per picture", NUMBER), Column("Count error", NUMBER),
               Column("Pictures with the true count")]  # fmt: skip
    listed = [(label, there[:, i], said[:, i]) for i, label in enumerate(target.labels)]
    if len(listed) > 1:
        listed.append((_ALL, there.sum(axis=1), said.sum(axis=1)))
    rows = [[Cell(name), *(Cell(value=round(float(v), 4)) for v in (a.mean(), b.mean(), numpy.abs(a - b).mean(), (a == b).mean()))]
            for name, a, b in listed]  # fmt: skip
    return blocks.table("Counts", columns, rows, note=_COUNTS)


def _of_pictures(examples: Sequence[Example], there: numpy.ndarray, said: numpy.ndarray, target: Objects) -> Block:
    """The largest errors first. The labels with most objects have columns of their own."""
    wrong = numpy.abs(said - there).sum(axis=1)
    order = numpy.lexsort((numpy.arange(len(wrong)), -wrong))[:_LISTED]
    shown = sorted(numpy.argsort(-there.sum(axis=0), kind="stable")[:_LABELS].tolist()) if len(target.labels) > 1 else []
    columns = [
        Column("Picture"),
        Column("True", COUNT),
        Column("Predicted", COUNT),
        *(Column(f"{target.labels[i]}: true / predicted") for i in shown),
    ]
    rows = [
        [Cell(display.short(examples[r].file)), Cell(value=int(there[r].sum())), Cell(value=int(said[r].sum())),
         *(Cell(f"{there[r, i]} / {said[r, i]}") for i in shown)]
        for r in order
    ]  # fmt: skip
    most = f"The {len(order)} pictures with the largest errors." if len(order) < len(wrong) else ""
    return blocks.table("Counts by picture", columns, rows, folded=True, note=f"{most} Differences are added over the labels.".strip())


def share(value: float) -> Cell:
    """A score, or a dash where there is none."""
    return Cell("–") if numpy.isnan(value) else Cell(value=round(float(value), 4))
