"""Steps of series as examples, made when they are asked for: a panel may have millions."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import overload

import numpy

from trainer.core.example import Example
from trainer.kinds.series.calendar import Calendar
from trainer.kinds.series.lags import Lags
from trainer.kinds.series.methods import Ahead
from trainer.kinds.series.panel import Panel


@dataclass(frozen=True, slots=True)
class Step:
    """The question for the value ``ahead`` steps behind the first ``end`` steps of a series."""

    panel: Panel = field(compare=False, repr=False)
    calendar: Calendar
    series: int
    end: int
    ahead: int

    @property
    def time(self) -> str:
        return self.calendar.text(int(self.panel.firsts[self.series]) + self.end - 1 + self.ahead)

    @property
    def ids(self) -> tuple[str, ...]:
        return self.panel.ids[self.series]


@dataclass(frozen=True)
class Details:
    """What the forecaster needs to know beside the steps: ``ends`` are the training steps of each series, ``steps`` those to forecast, ``installed``
    is a model to try, which takes about so many ``seconds``. ``of`` is the column that is forecast, with its unit."""

    lags: Lags
    ends: numpy.ndarray
    steps: int
    covariates: tuple[str, ...] = ()
    installed: Ahead | None = None
    seconds: float = 0.0
    of: str = ""


class Steps(Sequence[Example]):
    """The examples of a split. ``ends`` and ``aheads`` of each say from where, and how far, it is forecast. The training steps have ``details``."""

    def __init__(self, panel: Panel, calendar: Calendar, series: numpy.ndarray, ends: numpy.ndarray, aheads: numpy.ndarray):
        self.panel, self.calendar = panel, calendar
        self.series, self.ends, self.aheads = series, ends, aheads
        self.details: Details | None = None

    def __len__(self) -> int:
        return len(self.series)

    @overload
    def __getitem__(self, at: int) -> Example: ...
    @overload
    def __getitem__(self, at: slice) -> "Steps": ...

    def __getitem__(self, at):
        if isinstance(at, slice):
            return Steps(self.panel, self.calendar, self.series[at], self.ends[at], self.aheads[at])
        s, end, ahead = int(self.series[at]), int(self.ends[at]), int(self.aheads[at])
        place = end + ahead - 1
        known = place < len(self.panel.values[s]) and bool(self.panel.observed[s][place])
        row = int(self.panel.rows[s][place]) if known and self.panel.rows else 0
        target = repr(float(self.panel.values[s][place])) if known else ""
        return Example(self.panel.files[s] if self.panel.files else "", row, Step(self.panel, self.calendar, s, end, ahead), target)


def behind(panel: Panel, calendar: Calendar, series: numpy.ndarray, ends: numpy.ndarray, steps: int, known: bool = True) -> Steps:
    """All of the ``steps`` behind ``ends``; with ``known`` those whose value was observed."""
    s, e = numpy.repeat(series, steps), numpy.repeat(ends, steps)
    aheads = numpy.tile(numpy.arange(1, steps + 1), len(series))
    if known and len(s):
        lengths = panel.lengths
        place = e + aheads - 1
        there = place < lengths[s]
        there[there] = [panel.observed[i][p] for i, p in zip(s[there], place[there])]
        s, e, aheads = s[there], e[there], aheads[there]
    return Steps(panel, calendar, s, e, aheads)


def in_blocks(panel: Panel, calendar: Calendar, ends: numpy.ndarray, least: int, steps: int) -> Steps:
    """The steps between ``least`` and ``ends`` of each series, in blocks of ``steps`` that are forecast from their beginning."""
    series, starts, aheads = [], [], []
    for s, end in enumerate(ends):
        places = numpy.arange(min(least, end - 1), end)
        places = places[panel.observed[s][places]]
        begin = places - (places - min(least, end - 1)) % steps
        series.append(numpy.full(len(places), s))
        starts.append(begin)
        aheads.append(places - begin + 1)
    return Steps(panel, calendar, *(numpy.concatenate(part).astype(numpy.int64) for part in (series, starts, aheads)))


def questions(examples: Sequence[Example]) -> tuple[Panel, numpy.ndarray, numpy.ndarray, numpy.ndarray]:
    """The panel of ``examples``, and series, end and steps ahead of each."""
    if isinstance(examples, Steps):
        return examples.panel, examples.series, examples.ends, examples.aheads
    asked: list[Step] = [e.content for e in examples]
    columns = numpy.array([(q.series, q.end, q.ahead) for q in asked], numpy.int64).reshape(-1, 3).T
    return asked[0].panel, *columns
