"""The rows of tables as series on regular steps: doubles are joined, gaps are filled, and what lies far apart is left out, each with a word."""

import numpy

from trainer.data.checks import Checks
from trainer.data.columns import values
from trainer.data.formats.table import Table
from trainer.errors import UserError, count, left_out
from trainer.kinds.series.columns import Found
from trainer.kinds.series.layouts import apart
from trainer.kinds.series.panel import Panel, filled

FEWEST = 8  # values of a series
_FAR = 50  # steps of a gap that may part a series
_SPARSE = 10  # steps for each value
_MUCH = 0.1  # of the steps, that are filled, from which is warned


def panel(tables: list[Table], found: Found, where: str, checks: Checks, fewest: int = FEWEST) -> Panel:
    """The series of ``tables``. Those with fewer values than ``fewest`` are left out. Raises UserError where none is left."""
    numbers = found.calendar.numbers(found.clock.times)
    target = _cells(tables, found.target, found.style)
    known = numpy.stack([_cells(tables, n, values.Style()) for n in found.known], axis=1) if found.known else None
    keys, codes = apart.keys(tables, found.ids)
    there = numpy.flatnonzero(~numpy.isnan(numbers))
    checks.drop("without a time that can be read", len(numbers) - len(there))
    rows = numpy.array([row for t in tables for row in t.row_numbers()])
    files = numpy.repeat(numpy.arange(len(tables)), [len(t.rows) for t in tables])
    order = there[numpy.lexsort((numbers[there], codes[there]))]
    made = _Made(checks)
    for part in numpy.split(order, numpy.flatnonzero(numpy.diff(codes[order])) + 1) if len(order) else ():
        series = made.series(numbers[part].astype(numpy.int64), target[part], known[part] if known is not None else None, rows[part])
        if series is None or int(series[1].sum()) < fewest:
            made.short += 1
            continue
        made.parts.append((keys[codes[part[0]]], tables[files[part[0]]].name, *series))
    made.say(found, where)
    if not made.parts:
        raise UserError(
            "short_series", f"No series of {where} has {count(fewest, 'value')}, which a forecast needs.",
            "Add rows, or set series_column if rows of one series are taken apart.",
        )  # fmt: skip
    ids, names, content, observed, firsts, places, ahead = zip(*made.parts)
    return Panel(ids, content, observed, numpy.array(firsts, numpy.int64), places, names, tuple(map(_carried, ahead)) if found.known else ())


class _Made:
    """Makes the series one after another, and counts what was joined, filled and left out."""

    def __init__(self, checks: Checks):
        self.checks = checks
        self.parts: list[tuple] = []
        self.twice = self.apart = self.short = self.gaps = self.steps = 0

    def series(self, numbers: numpy.ndarray, target: numpy.ndarray, known: numpy.ndarray | None, rows: numpy.ndarray):
        """Values, which were observed, first step, rows and covariates of one series; None where it has no value."""
        there = numpy.flatnonzero(~numpy.isnan(target))
        if not len(there):
            return None
        first, last = _together(numbers[there])
        inside = there[(numbers[there] >= first) & (numbers[there] <= last)]
        self.apart += len(there) - len(inside)
        places = numbers[inside] - first
        counts = numpy.bincount(places)
        self.twice += int((counts > 1).sum())
        content = numpy.divide(numpy.bincount(places, target[inside]), counts, out=numpy.full(len(counts), numpy.nan), where=counts > 0)
        of_rows = numpy.zeros(len(counts), numpy.int64)
        of_rows[places] = rows[inside]
        self.gaps += int((counts == 0).sum())
        self.steps += len(counts)
        ahead = None
        if known is not None:
            near = numpy.flatnonzero((numbers >= first) & (numbers <= last + len(counts)))
            ahead = numpy.full((int(numbers[near].max()) - first + 1, known.shape[1]), numpy.nan)
            ahead[numbers[near] - first] = known[near]
        return filled(content), counts > 0, first, of_rows, ahead

    def say(self, found: Found, where: str) -> None:
        checks, column = self.checks, found.clock.column
        checks.drop("far from the other rows of its series in time", self.apart)
        if self.apart:
            checks.warning("far_in_time", f"{left_out(self.apart, 'row')}: their times in {column} are far from those of the other rows. Check them.")
        if self.twice:
            text = f"{count(self.twice, 'moment')} in {column} {'has' if self.twice == 1 else 'have'} several rows in one series; their mean is used."
            checks.warning("two_at_once", text)
        if self.short and self.parts:
            checks.warning("short_series", f"{self.short:,} series of {where} with fewer than {FEWEST} values are left out.")
        if self.gaps:
            share = self.gaps / max(1, self.steps)
            text = f"{count(self.gaps, 'step')} without a value ({share:.1%}) are filled with a straight line for the models, and count in no score."
            (checks.warning if share > _MUCH else checks.ok)("gaps", text)


def _together(numbers: numpy.ndarray) -> tuple[int, int]:
    """The first and last step of the largest part of a series without a wide gap. Raises UserError where most of its steps have no value."""
    wide = numpy.flatnonzero(numpy.diff(numbers) > max(_FAR, len(numbers)))
    begins, ends = numpy.append(0, wide + 1), numpy.append(wide, len(numbers) - 1)
    largest = int((ends - begins).argmax())
    first, last = int(numbers[begins[largest]]), int(numbers[ends[largest]])
    number = int(ends[largest] - begins[largest]) + 1
    if last - first > _SPARSE * number + _FAR:
        raise UserError(
            "irregular_times", f"The rows of a series are far apart: {count(number, 'value')} in {last - first + 1:,} steps.",
            "Bring the rows to regular times, for example one for each month.",
        )  # fmt: skip
    return first, last


def _cells(tables: list[Table], name: str, style: values.Style) -> numpy.ndarray:
    return numpy.array([float(c) if c else numpy.nan for c in values.as_numbers(apart.cells_of(tables, name), style)])


def _carried(known: numpy.ndarray) -> numpy.ndarray:
    """Covariates without gaps: the last known value is carried on."""
    places = numpy.where(numpy.isnan(known), 0, numpy.arange(len(known))[:, None])
    return numpy.take_along_axis(known, numpy.maximum.accumulate(places, axis=0), axis=0)
