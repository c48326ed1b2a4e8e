"""Which method forecasts best, and how far it is off at each step ahead: by rolling origins inside the training steps."""

from dataclasses import dataclass

import numpy

from trainer.core import drawn
from trainer.kinds.series import methods
from trainer.kinds.series.lags import Lags
from trainer.kinds.series.methods import BASED, NAIVE
from trainer.kinds.series.panel import CELLS, Panel, length_read, scales, spreads
from trainer.kinds.series.target import MASE, SMAPE

FEWEST_ORIGINS, MOST_ORIGINS = 3, 24
_JUDGED = 150_000  # forecasts of all series, origins and steps together
_BLOCKS = 3  # times that the trees are fitted
LEVELS = (0.8, 0.9)
_ENOUGH = 100  # errors that tell the width of an interval at a step ahead
_CHOOSING = 12  # times the steps ahead, in which origins choose the method: earlier ones tell its intervals alone
_HALF = 6  # times the steps ahead, after which an error counts half


@dataclass(frozen=True)
class Origins:
    """Places from which is forecast. Each has its series, the position of the first forecast step in it, and the block of trees that answers."""

    series: numpy.ndarray
    ends: numpy.ndarray
    blocks: numpy.ndarray

    def __len__(self) -> int:
        return len(self.series)


@dataclass(frozen=True)
class Judged:
    """``forecasts`` of each method at all origins (origins x steps), the ``truth`` (NaN where nobody knows), and at each origin the unit of MASE and
    that of intervals."""

    origins: Origins
    forecasts: dict[str, numpy.ndarray]
    truth: numpy.ndarray
    scale: numpy.ndarray
    spread: numpy.ndarray


def origins(ends: numpy.ndarray, season: int, steps: int, seed: int) -> Origins:
    """Origins before ``ends``, which are at most ``steps`` apart. Each series has some, or a sample of very many series."""
    least = numpy.maximum(numpy.minimum(2 * season + 2, ends - steps), numpy.maximum(4, ends // 3))
    usable = numpy.flatnonzero(ends - steps >= least)
    if not len(usable):
        return Origins(*(numpy.zeros(0, numpy.int64) for _ in range(3)))
    number = int(numpy.clip(60 // len(usable), FEWEST_ORIGINS, MOST_ORIGINS))
    found = []
    for s in drawn.rows(usable, most_series(number * steps), seed):
        room = int(ends[s] - steps - least[s])
        apart = max(1, min(steps, room // max(1, number - 1)))
        found += [(s, ends[s] - steps - k * apart, k * _BLOCKS // number) for k in range(min(number, room // apart + 1))]
    return Origins(*numpy.array(found, numpy.int64).T)


def most_series(steps: int) -> int:
    """How many series are measured, of each of which ``steps`` are forecast: of very many a sample."""
    return max(1, _JUDGED // steps)


def judge(panel: Panel, ends: numpy.ndarray, how: Lags, steps: int, seed: int, names=None, installed=None) -> Judged:
    """Forecast from origins before ``ends``. The trees that answer have not seen the steps behind their origins; an ``installed`` model has seen
    none of these series."""
    at = origins(ends, how.season, steps, seed)
    found: dict[str, numpy.ndarray] = {}
    fitted = []
    for block in range(_BLOCKS):
        cut = ends - steps
        here = at.blocks == block
        if not here.any():
            continue
        first = numpy.array(cut)
        numpy.minimum.at(first, at.series[here], at.ends[here])
        earlier = cut - first[at.series[here]].min() if len(panel) == 1 else int(numpy.median((cut - first)[at.series[here]]))
        fitted.append((here, methods.fit(panel, numpy.minimum(first, cut - earlier), how, seed, installed)))
    able = [n for n in (names or methods.TITLES) if all(n in f.names() for _, f in fitted)]
    truth = numpy.full((len(at), steps), numpy.nan)
    for i, (s, end) in enumerate(zip(at.series, at.ends)):
        values = numpy.where(panel.observed[s][end : end + steps], panel.values[s][end : end + steps], numpy.nan)
        truth[i, : len(values)] = values
    found = {n: numpy.full((len(at), steps), numpy.nan) for n in able}
    scale, spread = numpy.ones(len(at)), numpy.ones(len(at))
    for here, fit in fitted:
        for part, histories in batches(panel, at.series[here], at.ends[here], how.season, steps):
            rows = numpy.flatnonzero(here)[part]
            for name, values in fit.forecasts(able, histories, steps).items():
                found[name][rows] = values
            scale[rows], spread[rows] = scales(histories.values, how.season), spreads(histories.values, how.season)
    return Judged(at, found, truth, scale, spread)


def batches(panel: Panel, series: numpy.ndarray, ends: numpy.ndarray, season: int, steps: int):
    """The histories before ``ends``, some at a time, each with their places."""
    if not len(series):
        return
    length = int(min(length_read(season), max(2, ends.max())))
    at_once = max(1, CELLS // length)
    for i in range(0, len(series), at_once):
        part = slice(i, i + at_once)
        yield part, panel.histories(series[part], ends[part], length, steps)


def losses(judged: Judged, name: str, metric: str = MASE) -> numpy.ndarray:
    """The mean error of a method from each origin, in what ``metric`` adds up; NaN where no step is known."""
    said = judged.forecasts[name]
    apart = numpy.abs(said - judged.truth)
    if metric == MASE:
        apart = apart / judged.scale[:, None]
    elif metric == SMAPE:
        apart = 2 * apart / numpy.maximum(1e-300, numpy.abs(said) + numpy.abs(judged.truth))
    elif metric == "rmse":
        apart = apart**2
    known = ~numpy.isnan(apart)
    return numpy.where(known.any(axis=1), numpy.where(known, apart, 0).sum(axis=1) / numpy.maximum(1, known.sum(axis=1)), numpy.nan)


def choose(judged: Judged, metric: str = MASE) -> tuple[str, dict[str, tuple[float, float]]]:
    """The best method, and of each the mean MASE over the later origins with its standard error.

    The naive forecast stays where no other method is better by more than one standard error of the difference. In the same way, a method without
    an installed model stays where that one does not pay.
    """
    if not len(judged.origins):
        return NAIVE, {}
    of = {n: losses(judged, n, metric) for n in judged.forecasts}
    known = ~numpy.isnan(of[NAIVE]) & (_age(judged.origins) < _CHOOSING * judged.truth.shape[1])
    if not known.any():
        return NAIVE, {}
    figures = {n: (float((v := losses(judged, n)[known]).mean()), error(v)) for n in of}
    chosen = NAIVE
    for rivals in ([n for n in of if n not in BASED], [n for n in of if n in BASED]):
        best = min(rivals, key=lambda n: of[n][known].mean(), default=chosen)
        gain = (of[chosen] - of[best])[known]
        chosen = best if gain.mean() > error(gain) else chosen
    return chosen, figures


def error(values: numpy.ndarray) -> float:
    return float(values.std(ddof=1) / len(values) ** 0.5) if len(values) > 1 else 0.0


def widths(judged: Judged, name: str, steps: int) -> numpy.ndarray:
    """Half the width of the intervals (levels x steps ahead) in units of the recent spread, by split conformal prediction.

    The errors from all origins at a step ahead are the calibration, and later ones count more; where they are few, those of neighbouring steps count,
    each in units of the usual error at its step.
    """
    apart = numpy.abs(judged.forecasts[name] - judged.truth) / judged.spread[:, None]
    known = ~numpy.isnan(apart)
    counts = known.sum(axis=0)
    if not counts.any():
        return numpy.full((len(LEVELS), steps), numpy.nan)
    usual = _smoothed(numpy.where(known, apart, 0.0).sum(axis=0), counts)
    weights = numpy.broadcast_to(_weights(judged.origins, steps)[:, None], apart.shape)
    found = numpy.zeros((len(LEVELS), steps))
    for k in range(steps):
        reach = next((r for r in range(steps) if counts[max(0, k - r) : k + r + 1].sum() >= _ENOUGH), steps)
        part = slice(max(0, k - reach), k + reach + 1)
        there = known[:, part]
        relative, weight = (apart / usual)[:, part][there], weights[:, part][there]
        order = numpy.argsort(relative, kind="stable")
        below = numpy.cumsum(weight[order])
        for i, level in enumerate(LEVELS):
            place = int(numpy.searchsorted(below, level * (below[-1] + weight.max()) * (1 - 1e-12)))  # one error more, of the step that is forecast
            found[i, k] = relative[order[min(place, len(order) - 1)]] * usual[k]
    return found


def _weights(at: Origins, steps: int) -> numpy.ndarray:
    """What the errors from each origin count: those from the last origin of a series 1, earlier ones less."""
    return 0.5 ** (_age(at) / (_HALF * steps))


def _age(at: Origins) -> numpy.ndarray:
    """How many steps each origin is before the last one of its series."""
    last = numpy.zeros(int(at.series.max()) + 1, numpy.int64)
    numpy.maximum.at(last, at.series, at.ends)
    return last[at.series] - at.ends


def _smoothed(sums: numpy.ndarray, counts: numpy.ndarray) -> numpy.ndarray:
    """The mean error at each step ahead: over neighbours, and never smaller farther ahead."""
    reach = max(1, len(sums) // 6)
    kernel = numpy.ones(2 * reach + 1)
    around, number = (numpy.convolve(part, kernel)[reach : reach + len(part)] for part in (sums, counts))
    mean = around / numpy.maximum(1e-300, number)
    grows = numpy.maximum.accumulate(mean)
    falls = numpy.minimum.accumulate(mean[::-1])[::-1]
    return numpy.maximum((grows + falls) / 2, 1e-12)
