"""What the report says of the parts that a model relies on."""

import math
from collections.abc import Sequence

from trainer.core import blocks
from trainer.core.blocks import NUMBER, RESULT, Axis, Cell, Chart, Column, Section, Series
from trainer.errors import count, one_line
from trainer.export import display
from trainer.measure.importance import Weight, Weights

TITLE = "What the model relies on"
_DRAWN, _LISTED = 7, 50  # an axis names at most seven places
_FOLDED = 12  # rows of the table, from which it is folded
_LETTERS = 46  # of all names below the chart together
_HOW = (
    "The loss of the delivered model on rows that it has not seen, when the values of one column are exchanged between these rows: the more it "
    "rises, the more the answers rely on the column. What is computed from a column, such as parts of a date, belongs to it. The loss is the one "
    "that models are compared by: the log loss of classes, or the squared error of numbers as a share of their variance."
)
_LIMITS = (
    "It says what this model uses, not what causes what. Columns that hold the same take each other's place, so that each of them seems less "
    "important. Where the interval holds 0, chance alone could explain the rise."
)


def unknown(why: str) -> Section:
    return Section(RESULT, TITLE, [blocks.text(why)])


def section(found: Weights, metric: str, things: str) -> Section:
    """The weights as a chart and a table. ``metric`` is the title of the score."""
    facts = {
        "Measured on": f"{found.rows:,} test {things}, each column exchanged {count(found.times, 'time')}",
        "Columns": f"the first {len(found.weights):,} of {found.parts:,}; there was no time for the others"
        if len(found.weights) < found.parts
        else "",
    }
    columns = [Column("Column"), Column("Rise of the loss without it", NUMBER), Column(f"{metric[:1].upper()}{metric[1:]} without it", NUMBER)]
    rows = [[Cell(display.short(w.name)), Cell(value=w.rise, low=w.low, high=w.high), _score(w.score)] for w in found.weights[:_LISTED]]
    rows.append([Cell("(all columns as they are)"), Cell(value=0.0), _score(found.score)])
    return Section(RESULT, TITLE, [
        blocks.facts(facts), blocks.text(_HOW), blocks.chart("Rise of the loss without each column", _chart(found.weights[:_DRAWN])),
        blocks.table("", columns, rows, note=_LIMITS, folded=len(rows) > _FOLDED),
    ])  # fmt: skip


def _score(value: float) -> Cell:
    return Cell("–") if math.isnan(value) else Cell(value=value)


def _chart(weights: Sequence[Weight]) -> Chart:
    names = [_short(w.name, _LETTERS // max(1, len(weights))) for w in weights]
    points = [(float(i), w.rise) for i, w in enumerate(weights)]
    ranges = [(float(i), w.low, w.high) for i, w in enumerate(weights)]
    first = ", ".join(one_line(w.name, 40) for w in weights[:3])
    return Chart(
        "dots", Axis("column", labels=names), Axis("rise of the loss", zero=True), [Series(points, "", ranges)],
        f"Rise of the loss without each column, with 95 % intervals; the largest are those of {first}.", file="importance",
    )  # fmt: skip


def _short(name: str, letters: int) -> str:
    name = one_line(name, 200)
    return name if len(name) <= letters else name[: letters - 1] + "…"
