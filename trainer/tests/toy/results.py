"""The parts of the results that only signals have: a chart of the report, and rows to try the model with."""

import numpy

from trainer.core import blocks
from trainer.core.blocks import RESULT, Axis, Block, Chart, Section, Series
from trainer.export.finished import Finished
from trainer.tests.toy.reading import SENSORS
from trainer.tests.toy.target import POINTS, Directions, points

_TRIED = 4  # test rows


def examples(finished: Finished) -> list[dict]:
    """``examples`` of result.json."""
    predicted = finished.outcome.answers["test"].predicted
    target = finished.prepared.plan.target
    return [
        {"as": "row", "input": dict(zip(SENSORS, e.content, strict=True)), "label": e.target, "predicted": target.text(value)}
        for e, value in zip(finished.data.splits["test"][:_TRIED], predicted)
    ]


def sections(finished: Finished) -> list[Section]:
    """How well the model tells directions, by the point of the compass that they are nearest to."""
    return [Section(RESULT, "Directions", [_turns(finished.outcome.answers["test"])])]


def _turns(answers: Directions) -> Block:
    near = points(answers.truth)
    bars = [(p - 0.4, p + 0.4, float(answers.turns[near == p].mean())) for p in range(len(POINTS)) if numpy.any(near == p)]
    x, y = Axis("point of the compass", labels=POINTS), Axis("mean turn (°)", zero=True)
    return blocks.chart("Mean turn by direction", Chart("bars", x, y, [Series(bars)], "The mean turn of the test signals by their direction."))
