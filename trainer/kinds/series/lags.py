"""Gradient-boosted trees on lags: one model for all series of a panel, which forecasts step by step."""

from dataclasses import dataclass

import numpy

from trainer.core import drawn
from trainer.kinds.boosted import boosting
from trainer.kinds.boosted.boosting import Rows, Shape
from trainer.kinds.boosted.forest import Forest
from trainer.kinds.series.calendar import Calendar
from trainer.kinds.series.panel import CELLS, Histories, scales

_SHAPE = Shape(0.06, 12, 8, 1.0, 0.6)
_ROUNDS = 300
_MOST_ROWS = 60_000  # that the trees are fitted on
_FARTHEST = 10.0  # scales between two steps in training: one outlier must not rule the trees
_HELD_OUT = 0.15  # of the times, the latest, which say how many trees are enough
_FEWEST = 30  # rows


@dataclass(frozen=True)
class Lags:
    """How trees see a series: differences to the last value in units of the series' scale, and the place of the step in the calendar."""

    season: int
    calendar: Calendar
    covariates: int

    @property
    def lags(self) -> tuple[int, ...]:
        m = self.season
        near = range(2, 13 if m == 1 else min(m, 12) + 2)
        return tuple(sorted({*near, *((m - 1, m, m + 1, 2 * m) if m > 1 else ())} - {0, 1}))

    @property
    def reach(self) -> int:
        """The steps before a step that its features need."""
        return max(self.lags) + 1

    @property
    def width(self) -> int:
        return len(self.lags) + 7 + len(self.calendar.parts(numpy.zeros(1, numpy.int64))[0]) + self.covariates

    def features(self, before: numpy.ndarray, scale: numpy.ndarray, middle: numpy.ndarray, step: numpy.ndarray, known) -> numpy.ndarray:
        """The features of the steps behind ``before`` (rows x reach, the newest last). ``step`` are their numbers in the calendar."""
        last, m = before[:, -1], self.season
        columns = [(before[:, -lag] - last) / scale for lag in self.lags]
        spans = (3, min(m if m > 1 else 8, before.shape[1]), before.shape[1])
        columns += [(before[:, -span:].mean(axis=1) - last) / scale for span in spans]
        columns.append(before[:, -spans[1] :].std(axis=1) / scale)
        columns.append((last - middle) / scale)
        seasonal = (before[:, -m] - before[:, -m - 1]) / scale if 1 < m < before.shape[1] else numpy.zeros(len(last))
        twice = (before[:, -2 * m] - before[:, -2 * m - 1]) / scale if m > 1 and 2 * m < before.shape[1] else numpy.zeros(len(last))
        columns += [seasonal, twice]
        found = [numpy.stack(columns, axis=1), self.calendar.parts(step)]
        return numpy.concatenate([*found, known] if self.covariates else found, axis=1)


def fit(lags: Lags, histories: Histories, seed: int) -> Forest | None:
    """The trees for ``histories``; None where these have too few steps."""
    cells, targets, times = _rows(lags, histories, seed)
    if len(targets) < _FEWEST:
        return None
    late = times > numpy.quantile(times, 1 - _HELD_OUT)
    known = [0] * cells.shape[1]
    early = boosting.fit(Rows(cells[~late], targets[~late]), Rows(cells[late], targets[late]), known, 0, _SHAPE, _ROUNDS, seed)
    rounds = max(10, int(early.rounds * 1.1))
    return boosting.fit(Rows(cells, targets), None, known, 0, _SHAPE, rounds, seed).forest


def _rows(lags: Lags, histories: Histories, seed: int) -> tuple[numpy.ndarray, numpy.ndarray, numpy.ndarray]:
    """Features, targets and times of the steps of ``histories``: of very many, a sample."""
    values, width = histories.values, histories.values.shape[1]
    there = ~numpy.isnan(values)
    nth = numpy.cumsum(there, axis=1)
    where = numpy.argwhere(there & (nth > lags.reach))
    where = where[drawn.rows(len(where), _MOST_ROWS, seed)]
    if not len(where):
        return numpy.zeros((0, lags.width)), numpy.zeros(0), numpy.zeros(0)
    scale, middle = scales(values, lags.season), numpy.nanmedian(values, axis=1)
    rows, at = where.T
    step = histories.last[rows] - (width - 1 - at)
    parts, at_once = [], max(1, CELLS // lags.reach)
    for i in range(0, len(where), at_once):
        r, a = rows[i : i + at_once], at[i : i + at_once]
        before = values[r[:, None], a[:, None] + numpy.arange(-lags.reach, 0)]
        known = histories.known[r, a] if histories.known is not None else None
        parts.append(lags.features(before, scale[r], middle[r], step[i : i + at_once], known))
    apart = (values[rows, at] - values[rows, at - 1]) / scale[rows]
    return numpy.concatenate(parts), numpy.clip(apart, -_FARTHEST, _FARTHEST), step


def forecast(lags: Lags, forest: Forest, histories: Histories, steps: int) -> numpy.ndarray:
    """The forecasts (histories x steps). A history that is too short for the features is continued backwards with its first value."""
    values = histories.values
    width = values.shape[1]
    scale, middle = scales(values, lags.season), numpy.nanmedian(values, axis=1)
    if width < lags.reach:
        values = numpy.concatenate([numpy.full((len(values), lags.reach - width), numpy.nan), values], axis=1)
    recent = values[:, -lags.reach :].copy()
    first = recent[numpy.arange(len(recent)), (~numpy.isnan(recent)).argmax(axis=1)]
    recent = numpy.where(numpy.isnan(recent), first[:, None], recent)
    found = numpy.zeros((len(values), steps))
    for k in range(steps):
        known = histories.known[:, width + k] if histories.known is not None else None
        cells = lags.features(recent, scale, middle, histories.last + 1 + k, known)
        found[:, k] = recent[:, -1] + forest.scores(cells)[:, 0] * scale
        recent = numpy.concatenate([recent[:, 1:], found[:, k : k + 1]], axis=1)
    return found
