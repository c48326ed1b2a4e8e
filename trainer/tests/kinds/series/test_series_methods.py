"""The methods that forecast, on series whose future is known, and the choice among them."""

import math

import numpy
import pytest

from trainer.kinds.series import judging, lags, methods, simple, smoothing, unusual
from trainer.kinds.series.calendar import MONTH, PERIOD, Calendar
from trainer.kinds.series.judging import Judged, Origins
from trainer.kinds.series.lags import Lags
from trainer.kinds.series.panel import Histories, Panel, filled, scales, spreads

MONTHS = Calendar(MONTH, 1, 0.0, PERIOD)


def histories(*values) -> Histories:
    """Histories that end at the same column."""
    longest = max(map(len, values))
    rows = [numpy.concatenate([numpy.full(longest - len(v), numpy.nan), v]) for v in values]
    return Histories(numpy.array(rows), numpy.full(len(values), 200))


def panel(*values) -> Panel:
    return Panel(
        tuple((str(i),) for i in range(len(values))), tuple(numpy.asarray(v, float) for v in values), tuple(numpy.ones(len(v), bool) for v in values),
        numpy.zeros(len(values), numpy.int64),
    )  # fmt: skip


def months(count: int, slope: float = 0.5, noise: float = 0.0, seed: int = 0) -> numpy.ndarray:
    at = numpy.arange(count)
    return 60 + slope * at + 9 * numpy.sin(at * math.pi / 6) + noise * numpy.random.default_rng(seed).normal(size=count)


EXACT = {
    "a season with a trend by ETS": (smoothing.ets, months(144), 12),
    "a season without a trend by ETS": (smoothing.ets, months(144, slope=0), 12),
    "a season that multiplies by ETS": (smoothing.ets, months(144, slope=0) * 1.01 ** numpy.arange(144), 12),
    "a line by ETS": (smoothing.ets, 5 + 2.0 * numpy.arange(60), 1),
    "a season by the naive forecast": (simple.naive, months(144, slope=0), 12),
    "a season by Theta": (simple.theta, months(144, slope=0), 12),
}


@pytest.mark.parametrize("name", EXACT)
def test_a_regular_series_is_forecast(name):
    method, values, season = EXACT[name]
    found = method(histories(values[:-12]), season, 12)[0]
    assert numpy.abs(found - values[-12:]).max() < 0.02 * numpy.abs(values[-12:]).max()


@pytest.mark.parametrize("method", [simple.naive, simple.theta, smoothing.ets])
def test_a_forecast_does_not_depend_on_the_series_beside_it(method):
    several = [months(120, noise=2, seed=1), months(60, noise=5, seed=2), numpy.full(30, 4.0), numpy.array([3.0, 4.0, 2.0])]
    together = method(histories(*several), 12, 6)
    assert numpy.isfinite(together).all()
    for i, values in enumerate(several):
        padded = numpy.concatenate([numpy.full(120 - len(values), numpy.nan), values])
        assert method(Histories(padded[None, :], numpy.array([200])), 12, 6)[0] == pytest.approx(together[i], rel=1e-9)


def test_trees_learn_a_cycle_that_no_season_tells():
    values = 50 + 20 * numpy.sin(numpy.arange(300) * 2 * math.pi / 11)
    how = Lags(1, MONTHS, 0)
    forest = lags.fit(how, histories(values[:-10]), seed=1)
    assert forest is not None
    found = lags.forecast(how, forest, histories(values[:-10]), 10)[0]
    assert numpy.abs(found - values[-10:]).mean() < 0.2 * numpy.abs(values[-10:] - values[-11]).mean()


def test_series_without_negative_values_have_no_negative_forecast():
    falling = numpy.maximum(0.0, 40 - 1.0 * numpy.arange(40))
    fitted = methods.Fitted(Lags(1, MONTHS, 0))
    assert (fitted.forecast(methods.ETS, histories(falling), 12) >= 0).all()


def test_too_short_series_have_no_trees():
    assert lags.fit(Lags(12, MONTHS, 0), histories(months(30)), seed=1) is None


def test_the_naive_forecast_stays_where_nothing_is_clearly_better():
    walk = numpy.cumsum(numpy.random.default_rng(3).normal(size=150))
    judged = judging.judge(panel(walk), numpy.array([138]), Lags(1, MONTHS, 0), 12, seed=1)
    assert judging.choose(judged)[0] == methods.NAIVE


def test_a_better_method_is_chosen():
    judged = judging.judge(panel(months(150, noise=0.5)), numpy.array([138]), Lags(12, MONTHS, 0), 12, seed=1)
    method, figures = judging.choose(judged)
    assert method != methods.NAIVE
    assert figures[method][0] < 0.5 * figures[methods.NAIVE][0]


def test_trees_have_not_seen_what_follows_an_origin(monkeypatch):
    seen = []
    original = methods.fit
    monkeypatch.setattr(methods, "fit", lambda p, ends, *rest: seen.append(ends.copy()) or original(p, ends, *rest))
    judged = judging.judge(panel(*(months(100, noise=1, seed=s) for s in range(4))), numpy.full(4, 88), Lags(12, MONTHS, 0), 12, seed=1)
    for block, ends in zip(sorted(set(judged.origins.blocks.tolist())), seen, strict=True):
        here = judged.origins.blocks == block
        assert (ends[judged.origins.series[here]] <= judged.origins.ends[here]).all()


@pytest.mark.parametrize("origins", [12, 200])
def test_intervals_keep_their_promise_on_errors_of_the_same_kind(origins):
    chance = numpy.random.default_rng(5)
    spread = numpy.sqrt(numpy.arange(1, 13))

    def drawn(count: int) -> Judged:
        at = Origins(numpy.zeros(count, int), numpy.arange(count), numpy.zeros(count, int))
        return Judged(at, {"ets": numpy.zeros((count, 12))}, chance.normal(size=(count, 12)) * spread, numpy.ones(count), numpy.ones(count))

    widths = numpy.mean([judging.widths(drawn(origins), "ets", 12) for _ in range(20)], axis=0)
    inside = numpy.abs(drawn(4000).truth)[:, None, :] <= widths[None]
    assert inside.mean(axis=(0, 2)) == pytest.approx([0.8, 0.9], abs=0.03)
    assert (numpy.abs(inside.mean(axis=0)[0] - 0.8) < 0.15).all()


def test_intervals_follow_errors_that_grow():
    """A series whose steps grow tenfold: the width is that of its last part."""
    chance = numpy.random.default_rng(7)
    growing = numpy.cumsum(chance.normal(size=400) * 10 ** (numpy.arange(400) / 400))
    mase, mase_before, spread, spread_before = (unit(growing[None, :end], 1)[0] for unit in (scales, spreads) for end in (400, 100))
    assert spread / spread_before > 1.3 * mase / mase_before
    assert spread > 1.5 * mase
    assert spreads(numpy.append(growing, numpy.full(60, 5.0))[None], 1)[0] > 0.05 * mase


def test_of_a_panel_of_30_000_series_a_sample_is_measured():
    at = judging.origins(numpy.full(30_000, 42), 12, 6, seed=1)
    assert 20_000 < len(at) <= 150_000 / 6
    assert len(numpy.unique(at.series)) * judging.FEWEST_ORIGINS == len(at), "each of them has all of its origins"


def test_the_later_origins_choose_and_all_tell_the_intervals():
    at = Origins(numpy.zeros(24, int), 10 * numpy.arange(24), numpy.zeros(24, int))
    late = numpy.arange(24)[:, None] >= 12
    forecasts = {methods.NAIVE: numpy.where(late, 1.0, 5.0) * numpy.ones((24, 10)), methods.ETS: numpy.where(late, 2.0, 0.1) * numpy.ones((24, 10))}
    judged = Judged(at, forecasts, numpy.zeros((24, 10)), numpy.ones(24), numpy.ones(24))
    method, figures = judging.choose(judged)
    assert (method, figures[methods.NAIVE][0]) == (methods.NAIVE, 1.0)
    assert judging.widths(judged, methods.NAIVE, 10)[1].max() > 4


def test_late_errors_count_more():
    at = Origins(numpy.zeros(40, int), 10 * numpy.arange(40), numpy.zeros(40, int))
    errors = numpy.where(numpy.arange(40)[:, None] < 20, 1.0, 3.0) * numpy.random.default_rng(1).uniform(0.9, 1.1, (40, 10))
    judged = Judged(at, {"ets": numpy.zeros((40, 10))}, errors, numpy.ones(40), numpy.ones(40))
    assert (judging.widths(judged, "ets", 10) > 2.7).all()


def test_without_origins_there_are_no_intervals():
    judged = judging.judge(panel([1.0, 2, 3, 4]), numpy.array([4]), Lags(1, MONTHS, 0), 3, seed=1)
    assert judging.choose(judged)[0] == methods.NAIVE
    assert numpy.isnan(judging.widths(judged, methods.NAIVE, 3)).all()


def test_the_unit_of_a_constant_series_is_one():
    assert scales(numpy.array([[4.0, 4, 4, 4], [1, 2, 3, 4]]), 1).tolist() == [1.0, 1.0]


def test_gaps_are_filled_with_a_line():
    assert filled(numpy.array([1.0, numpy.nan, numpy.nan, 4])).tolist() == [1, 2, 3, 4]


def test_an_outlier_and_a_change_of_level_are_listed():
    values = months(200, slope=0, noise=0.5)
    values[50] += 40
    values[120:] += 30
    found = {(u.place, u.sort) for u in unusual.find(panel(values, months(200, noise=0.5, seed=2)), 12, 12)}
    assert (50, unusual.OUTLIER) in found
    assert any(abs(place - 120) <= 1 for place, sort in found if sort == unusual.BREAK)
    assert not unusual.find(panel(months(200, noise=0.5, seed=2)), 12, 12)
