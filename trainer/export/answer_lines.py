"""The lines of predictions.csv of a prediction, one for each example. Parts of them may be written anywhere, and are the same there."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy

from trainer.core import columnar
from trainer.core.example import Example
from trainer.errors import some
from trainer.export import display, likeness
from trainer.export.finished import Answered
from trainer.targets import promise

Marks = Sequence[Sequence[str]]  # of each example, in what it is unlike the training


@dataclass(frozen=True)
class Layout:
    """What all lines have: ``columns`` are those that the model reads, ``ids``, ``labels`` and ``marks`` say which further columns there are, and
    ``others`` is how many of the likeliest answers are named."""

    columns: tuple[str, ...]
    ids: bool
    labels: bool
    marks: bool
    others: int
    min_confidence: float


def layout(settings, answered: Answered, columns: Sequence[str], marks: bool) -> Layout:
    """The layout of all lines for ``answered``."""
    others = 0 if answered.confidence is None else min(settings.top_k, len(answered.target.labels))
    ids = columnar.have_ids(answered.examples)
    return Layout(tuple(columns), ids, bool(answered.known.any()), marks, others, settings.min_confidence)


def table(of: Layout, answered: Answered, marks: Marks | None, first: bool = True) -> Iterator[str]:
    """The text in parts, with the names of the columns where it is the ``first`` part of the file. ``marks`` has those of each example where there
    are any."""
    beside = promise.columns(answered.target, answered.outputs)
    cells = zip(*beside.values()) if beside else itertools.repeat(())
    lines = (_line(of, answered, i, example, more) for i, (example, more) in enumerate(zip(answered.examples, cells)))
    if marks is not None:
        lines = ([*line, some(list(own), 5)] for line, own in zip(lines, marks))
    return display.parts(_head(of, answered, beside), lines, headed=first)


def _head(of: Layout, answered: Answered, beside: dict[str, list[str]]) -> list[str]:
    head = ["file", "row", *["id"] * of.ids, "content", *["label"] * of.labels, "predicted"]
    if answered.confidence is not None:
        further = (f"{what} {i}" for i in range(2, of.others + 1) for what in ("choice", "probability"))
        head += ["confidence", *["unsure"] * bool(of.min_confidence), *beside, *further]
    else:
        head += beside
    return [*head, *[likeness.MARKS] * of.marks]


def _line(of: Layout, answered: Answered, i: int, example: Example, beside: Sequence[str]) -> list:
    target = answered.target
    line = [example.file, example.row, *[example.id] * of.ids, answered.kind.content(example, of.columns), *[example.target] * of.labels]
    line.append(target.text(answered.predicted[i]))
    if answered.confidence is None:
        return [*line, *beside]
    sure = answered.confidence[i]
    line += [f"{sure:.4f}", *["yes" if sure < of.min_confidence else "no"] * bool(of.min_confidence), *beside]
    if of.others > 1:
        likely = numpy.argsort(-answered.outputs[i], kind="stable")
        for place in likely[likely != answered.predicted[i]][: of.others - 1]:  # the answer need not be the likeliest class
            line += [target.labels[place], f"{answered.outputs[i][place]:.4f}"]
    return line
