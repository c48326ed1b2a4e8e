"""Whole test rows for *Try it* in the studio: some that the model gets right, some that it gets wrong, and some that it is unsure of."""

from collections.abc import Sequence

import numpy

from trainer.core.example import Example
from trainer.core.kind import Kind
from trainer.measure import mistakes
from trainer.measure.predictions import Predictions
from trainer.targets.target import Target

MOST_CHARACTERS = 2000  # of a row: a longer one is left out, since a part of it would get another answer
_LOOKED = 200  # rows are looked at until there are enough that are short


def examples(rows: Sequence[Example], kind: Kind, columns, target: Target, test: Predictions) -> list[dict] | None:
    """The list ``examples`` of result.json; None for kinds of data that are not answered row by row."""
    if not kind.tried:
        return None
    if target.labels:
        right = numpy.flatnonzero(test.truth == test.predicted)
        sorts = {"wrong": mistakes.mistakes(test, _LOOKED), "unsure": mistakes.unsure(test, _LOOKED), "right": right[:_LOOKED]}
    else:
        sorts = {"row": numpy.arange(min(len(rows), _LOOKED))}
    chosen: dict[int, dict] = {}
    for name, numbers in sorts.items():
        fitting = ((int(i), inputs) for i in numbers if int(i) not in chosen and (inputs := kind.inputs_of(rows[i], columns)))
        for (i, inputs), _ in zip(fitting, range(kind.tried), strict=False):
            chosen[i] = {"as": name, "input": inputs, "label": rows[i].target, "predicted": target.text(test.predicted[i])}
    order = ("right", "wrong", "unsure", "row")
    return sorted(chosen.values(), key=lambda e: order.index(e["as"]))


def short(inputs: dict[str, str]) -> dict[str, str] | None:
    """``inputs`` where they are there and short: a part of a long row would get another answer."""
    return inputs if inputs and sum(len(name) + len(cell) for name, cell in inputs.items()) <= MOST_CHARACTERS else None
