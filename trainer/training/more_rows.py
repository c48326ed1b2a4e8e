"""What more rows would bring to models that were fitted on a part of them, for the report."""

from collections.abc import Sequence
from typing import Any

from trainer.core import blocks
from trainer.core.blocks import COUNT, NUMBER, RESULT, Axis, Cell, Chart, Column, Section, Series
from trainer.estimators.sampled import Losses, Sampled

TITLE = "What more rows would bring"
_HOW = (
    "With all training rows the fit would take too long, so {name} was fitted on {rows:,} of {of:,}, and for this section also on a sixteenth and on "
    "a quarter of these. The losses are on the same held-out rows: the log loss of classes, or the squared error of numbers."
)


def sections(fitted: Sequence[Any]) -> list[Section]:
    """The section of the report on the estimators ``fitted``; none where none was fitted on fewer rows, too."""
    known = {s.name: (s, s.losses) for f in fitted for s in getattr(f, "sampled", ()) if s.losses is not None}
    return [Section(RESULT, TITLE, [block for some, losses in known.values() for block in _blocks(some, losses)])] if known else []


def _blocks(some: Sampled, losses: Losses) -> list[blocks.Block]:
    rows = [[Cell(value=float(n)), Cell(value=loss)] for n, loss in losses.points]
    chart = Chart(
        "line", Axis("rows", log=True), Axis("loss"), [Series([(float(n), loss) for n, loss in losses.points])],
        f"Loss of {some.name} on held-out rows by the rows that it was fitted on.", file="more_rows",
    )  # fmt: skip
    return [
        blocks.text(_HOW.format(name=some.name, rows=some.rows, of=some.of), conclusion(losses)),
        blocks.chart("Loss by rows", chart),
        blocks.table("", [Column("Rows", COUNT), Column("Loss", NUMBER)], rows),
    ]


def conclusion(losses: Losses) -> str:
    """What four times as many rows did, and would probably do."""
    (fewer, before), (rows, after) = losses.points[-2:]
    seen = f"From {fewer:,} to {rows:,} rows the loss went from {before:.4g} to {after:.4g}"
    if losses.low <= 0:
        return f"{seen}, which may be chance: more rows would probably bring nothing that can be measured."
    fell = f"by {losses.low:.2g} to {losses.high:.2g}, 95 % interval"
    return f"{seen} ({fell}). Four times as many would probably make it fall again, but by less: most models win less and less by more rows."
