"""Exponential smoothing with trend and season (ETS), fitted for many histories at once.

Each history is smoothed with a grid of parameters side by side, then with parameters around the best ones. The work depends on the number of steps
and histories alone, and the same data give the same bits.
"""

import numpy

from trainer.kinds.series import simple
from trainer.kinds.series.panel import CELLS, Histories

_ALPHAS = (0.05, 0.25, 0.6, 0.95)
_TRENDS = ((0.0, 0.0), (0.05, 0.98), (0.2, 0.9), (0.02, 1.0))  # beta and the damping; both 0 for none
_GAMMAS = (0.0, 0.12, 0.4)
_ROUNDS = (0.8, 0.4)  # how far the parameters are moved around the best ones, in logits
_MOVES = numpy.array(
    [[0, 0, 0, 0], [1, 0, 0, 0], [-1, 0, 0, 0], [0, 1, 0, 0], [0, -1, 0, 0], [0, 0, 1, 0], [0, 0, -1, 0], [0, 0, 0, 1], [0, 0, 0, -1],
     [1, 1, 0, 0], [-1, -1, 0, 0], [1, 0, 0, -1], [-1, 0, 0, 1]], float
)  # fmt: skip
_LEAST = 1e-4
_FEW = 12  # steps below which a history has no trend


def ets(histories: Histories, season: int, steps: int) -> numpy.ndarray:
    """The forecasts (histories x steps) of the form that fits best by AIC: with or without trend and season, which add up or multiply."""
    lanes = len(_ALPHAS) * len(_TRENDS) * (len(_GAMMAS) if season > 1 else 1)
    at_once = max(1, CELLS // (lanes * max(season, 8)))
    parts = [_ets(histories.values[i : i + at_once], season, steps) for i in range(0, len(histories), at_once)]
    return numpy.concatenate(parts) if parts else numpy.zeros((0, steps))


def level(values: numpy.ndarray) -> tuple[numpy.ndarray, numpy.ndarray]:
    """The weight and the last level of simple exponential smoothing of each row."""
    alphas = numpy.linspace(0.05, 0.99, 24)[:, None]
    none = numpy.zeros_like(alphas)
    fitted = _smooth(values, 1, numpy.zeros((len(values), 1)), numpy.zeros(len(values)), (alphas, none, none, none))
    best = fitted[0].argmin(axis=0)
    rows = numpy.arange(len(values))
    return alphas[best, 0], fitted[1][best, rows]


def _ets(values: numpy.ndarray, season: int, steps: int) -> numpy.ndarray:
    lengths = (~numpy.isnan(values)).sum(axis=1)
    positive = numpy.nanmin(values, axis=1) > 0
    best, found = numpy.full(len(values), numpy.inf), numpy.repeat(values[:, -1:], steps, axis=1)
    with numpy.errstate(over="ignore", invalid="ignore"):
        for period in dict.fromkeys((1, season)):
            usable = lengths >= max(4, 2 * period + 2)
            for logged in (False, True):
                rows = numpy.flatnonzero(usable & positive if logged else usable)
                if not len(rows):
                    continue
                part = numpy.log(values[rows]) if logged else values[rows]
                score, forecast = _fit(part, period, steps)
                if logged:
                    score = score + 2 * numpy.nansum(part, axis=1)
                    forecast = numpy.exp(numpy.minimum(forecast, numpy.nanmax(part, axis=1, keepdims=True) + 3))
                better = score < best[rows]
                best[rows[better]], found[rows[better]] = score[better], forecast[better]
    return found


def _fit(values: numpy.ndarray, season: int, steps: int) -> tuple[numpy.ndarray, numpy.ndarray]:
    """The AIC of the best parameters of each row, and its forecasts."""
    profile = simple.profiles(values, season)
    phases = numpy.arange(values.shape[1]) % season
    slope = _first_slopes(values - profile[:, phases])
    count = (~numpy.isnan(values)).sum(axis=1)
    grid = numpy.array([(a, b, g, p) for a in _ALPHAS for b, p in _TRENDS for g in (_GAMMAS if season > 1 else (0.0,))])
    candidates = numpy.repeat(grid[:, None, :], len(values), axis=1)  # lanes x rows x parameters
    candidates[:, count < _FEW, 1] = candidates[:, count < _FEW, 3] = 0
    rows = numpy.arange(len(values))
    for spread in (*_ROUNDS, 0.0):
        fitted = _smooth(values, season, profile, slope, tuple(candidates[..., i] for i in range(4)))
        trend = candidates[..., 3] > 0
        parameters = 2 + 3 * trend + (season if season > 1 else 0) + (candidates[..., 2] > 0)
        score = count * numpy.log(numpy.maximum(fitted[0], 1e-300) / count) + 2 * parameters
        place = numpy.nan_to_num(score, nan=numpy.inf).argmin(axis=0)
        best = candidates[place, rows]
        if spread:
            candidates = _around(best, spread)
    _, at, trend_at, ring = (part[..., place, rows] for part in fitted)
    ahead = numpy.arange(1, steps + 1)[:, None]
    damping = best[:, 3]
    whole = numpy.where(damping == 1, ahead, damping * (1 - damping**ahead) / numpy.where(damping == 1, 1, 1 - damping))
    next_phases = (values.shape[1] + numpy.arange(steps)) % season
    return score[place, rows], (at + whole * trend_at + ring[next_phases]).T


def _around(best: numpy.ndarray, spread: float) -> numpy.ndarray:
    """Parameters around ``best`` (rows x parameters): lanes x rows x parameters. What is 0 or 1 stays."""
    inner = numpy.clip(best, _LEAST, 1 - _LEAST)
    moved = numpy.log(inner / (1 - inner)) + spread * _MOVES[:, None, :]
    moved = numpy.clip(1 / (1 + numpy.exp(-moved)), _LEAST, 1 - _LEAST)
    moved[..., 3] = numpy.clip(moved[..., 3], 0.8, 0.995)
    return numpy.where((best == 0) | (best == 1), best, moved)


def _first_slopes(plain: numpy.ndarray) -> numpy.ndarray:
    """The slope over the first part of each row."""
    there = ~numpy.isnan(plain)
    nth = numpy.cumsum(there, axis=1)
    early = there & (nth <= numpy.maximum(10, there.sum(axis=1) // 4)[:, None])
    return simple.slopes(numpy.where(early, plain, numpy.nan))


def _smooth(values, season, profile, slope, parameters) -> tuple[numpy.ndarray, numpy.ndarray, numpy.ndarray, numpy.ndarray]:
    """Smooth each row with each lane of ``parameters`` (alpha, beta, gamma, damping; lanes x rows or lanes x 1).

    Gives the squared errors of one step ahead, and the last level, trend (lanes x rows) and season (season x lanes x rows). ``slope`` begins the
    trend of lanes with one.
    """
    alpha, beta, gamma, damping = parameters
    known = ~numpy.isnan(values)
    filled, weight = numpy.where(known, values, 0.0), known.astype(float)
    first = known.argmax(axis=1)
    phases = numpy.arange(values.shape[1]) % season
    plain = numpy.where(known, values - profile[:, phases], numpy.nan)
    nth = numpy.cumsum(known, axis=1)
    begin = numpy.nanmean(numpy.where(nth <= max(3, min(season, 10)), plain, numpy.nan), axis=1)
    lanes = numpy.broadcast_shapes(alpha.shape, (1, len(values)))
    trend = numpy.where(damping > 0, slope[None, :], 0.0) * numpy.ones(lanes)
    at = begin[None, :] - trend * min(2, max(1, season // 2)) * numpy.ones(lanes)
    ring = numpy.repeat(profile.T[:, None, :], lanes[0], axis=1)
    errors = numpy.zeros(lanes)
    trend_gain, season_gain = alpha * beta, gamma * (1 - alpha)
    for t in range(int(first.min()) if len(first) else 0, values.shape[1]):
        w, phase = weight[:, t], t % season
        carried = damping * trend
        error = (filled[:, t] - (at + carried + ring[phase])) * w
        errors += error * error
        at = at + carried * w + alpha * error
        trend = trend + (carried - trend) * w + trend_gain * error
        if season > 1:
            ring[phase] += season_gain * error
    return errors, at, trend, ring
