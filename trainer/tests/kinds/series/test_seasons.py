"""Seasons that values show, with other numbers of steps than usual, and values that show none."""

import numpy
import pytest

from trainer.kinds.series import seasons
from trainer.kinds.series.calendar import DATE, DAY, MONTH, NUMBER, PERIOD, PLAIN, SECOND, TIME, Calendar
from trainer.kinds.series.panel import Panel

NUMBERS, MONTHS, DAYS = Calendar(NUMBER, 1, 0.0, PLAIN), Calendar(MONTH, 1, 0.0, PERIOD), Calendar(DAY, 1, 0.0, DATE)
HOURS, MINUTES = Calendar(SECOND, 3600, 0.0, TIME), Calendar(SECOND, 60, 0.0, TIME)


def panel(*values) -> Panel:
    none = tuple(numpy.ones(len(v), bool) for v in values)
    return Panel(tuple((str(i),) for i in range(len(values))), tuple(values), none, numpy.zeros(len(values), numpy.int64))


def repeating(count: int, steps: int, seed: int = 1, walks: bool = True) -> numpy.ndarray:
    """A pattern of chance that repeats itself, on a level that wanders."""
    chance = numpy.random.default_rng(seed)
    pattern = 4 * chance.normal(size=steps)
    noise = chance.normal(size=count)
    return pattern[numpy.arange(count) % steps] + (numpy.cumsum(noise) if walks else noise)


SHOWN = {
    "months, as is usual": (MONTHS, 120, 12, 12, "as is usual"),
    "days of a week, as is usual": (DAYS, 90, 7, 7, "as is usual"),
    "hours of a day": (HOURS, 300, 24, 24, "as is usual"),
    "hours of a week": (HOURS, 1400, 168, 168, "not after 24 steps"),
    "days of a month of 30": (DAYS, 400, 30, 30, "not after 7 steps"),
    "numbers without a usual season": (NUMBERS, 150, 9, 9, "repeat themselves after 9 steps: changes"),
    "minutes of an hour": (MINUTES, 500, 60, 60, "repeat themselves after 60 steps: changes"),
    "too short to show one": (MONTHS, 30, 1, 12, "too short to show it"),
    "values that do not show the usual one": (DAYS, 200, 1, 7, "do not show it"),
    "too short for the usual one": (MONTHS, 20, 12, 1, "needs over two"),
}


@pytest.mark.parametrize("name", SHOWN)
def test_a_season_is_found_with_its_reason(name):
    calendar, count, steps, found, why = SHOWN[name]
    values = repeating(count, steps)
    assert (season := seasons.find(panel(values), numpy.array([count]), calendar))[0] == found
    assert why in season[1]


def test_series_of_a_panel_show_it_together():
    values = [repeating(100, 9, seed) for seed in range(5)] + [numpy.zeros(100)]
    assert seasons.find(panel(*values), numpy.full(6, 100), NUMBERS)[0] == 9


def test_what_follows_the_training_steps_is_not_seen():
    values = numpy.concatenate([numpy.random.default_rng(1).normal(size=200), 20 * repeating(200, 9)])
    assert seasons.find(panel(values), numpy.array([200]), NUMBERS)[0] == 1


@pytest.mark.parametrize("orders", [0, 1, 2])
def test_chance_that_adds_up_has_no_season(orders):
    chance = numpy.random.default_rng(orders)
    for count in (20, 80, 300):
        for _ in range(10):
            values = chance.normal(size=count)
            for _ in range(orders):
                values = numpy.cumsum(values)
            assert seasons.find(panel(values), numpy.array([count]), NUMBERS)[0] == 1
            assert not seasons.find(panel(values), numpy.array([count]), HOURS)[1].startswith("The series repeat")


@pytest.mark.parametrize("values", [numpy.zeros(60), numpy.arange(60.0), numpy.array([1.0]), numpy.array([1.0, 2, 1, 2])])
def test_series_without_change_or_too_few_steps_have_none(values):
    assert seasons.find(panel(values), numpy.array([len(values)]), NUMBERS)[0] == 1
