"""Successive halving and the choice between the default settings and the best trial."""

import itertools
import math

import numpy
import pytest

from trainer.measure.predictions import Predictions
from trainer.search import choice, schedule
from trainer.search.schedule import Rung
from trainer.targets.classes import Classes
from trainer.targets.number import Number

CLASSES = Classes(("a", "b"))


def test_ten_trials_are_halved_twice():
    one = schedule.first(list(range(1, 10)))
    assert (one.number, one.share, one.trials) == (1, 1 / 9, tuple(range(1, 10)))
    two = schedule.following(one, {i: abs(i - 5) for i in range(1, 10)})
    assert (two.number, round(two.share, 6), two.trials) == (2, 0.333333, (4, 5, 6))
    three = schedule.following(two, {4: 1.0, 5: 2.0, 6: 0.5})
    assert three == Rung(3, 1.0, (6,))
    assert schedule.following(three, {6: 0.1}) is None


@pytest.mark.parametrize(
    ("losses", "on"),
    [
        ({1: 1.0, 2: 1.0, 3: 1.0}, (1,)),
        ({1: math.nan, 2: math.inf, 3: 5.0}, (3,)),
        ({2: 5.0}, (2,)),
    ],
    ids=["of equal losses the lower number goes on", "a diverged trial does not go on", "a trial without a loss does not go on"],
)
def test_who_goes_on(losses, on):
    assert schedule.following(schedule.first([1, 2, 3]), losses).trials == on


def test_the_search_ends_if_every_trial_diverged():
    assert schedule.following(schedule.first([1, 2, 3]), {1: math.inf, 2: math.nan}) is None


def test_the_cost_in_trainings():
    assert schedule.work(0) == 1
    assert schedule.work(9) == pytest.approx(10 / 3)
    assert schedule.work(1) == pytest.approx(2)
    assert all(schedule.work(n) < schedule.work(n + 1) for n in range(60))
    assert [schedule.affordable(9, b) for b in (0.5, 2.0, 3.0, 100)] == [0, 1, 8, 9]


@pytest.mark.parametrize(
    ("own", "epochs", "per_epoch", "places"), [(1, 60, 1, [7, 20, 60]), (1, 3, 3, [1, 3, 9]), (4, 3, 4, [1, 4, 12]), (1, 0.5, 18, [1, 3, 9])]
)
def test_every_rung_has_an_evaluation(own, epochs, per_epoch, places):
    assert schedule.evaluations_per_epoch(own, epochs) == per_epoch
    assert [schedule.until(schedule.share(rung), epochs * per_epoch) for rung in (1, 2, 3)] == places


@pytest.mark.parametrize("others", [1, 2, 3, 9, 27, 60])
@pytest.mark.parametrize("places", [9, 10, 13, 13.4, 17, 20, 26, 34, 60, 100.5])
def test_a_plan_is_within_its_budget_of_work(others, places):
    one = [schedule.until(schedule.share(rung), places) / places for rung in (1, 2, 3)]
    assert all(a <= b for a, b in itertools.pairwise(one)) and one[-1] == pytest.approx(1, abs=0.05)
    assert schedule.most([one] * others) <= schedule.budget(others) + 1e-9
    assert schedule.budget(9) <= 3.5


def test_the_work_of_a_plan_is_that_of_the_longest_trials_that_can_go_on():
    short, long = [0.1, 0.2, 0.3], [0.1, 0.5, 1.0]
    assert schedule.most([short]) == pytest.approx(1.3)
    assert schedule.most([short] * 3 + [long]) == pytest.approx(1 + 0.4 + 0.4 + 0.5)
    assert schedule.most([[1.0, 1.0, 1.0]] * 2) == pytest.approx(3)


def answers(likelihood, predicted=None) -> Predictions:
    right = numpy.asarray(likelihood, dtype=numpy.float64)
    truth = numpy.zeros(len(right), numpy.int64)
    return Predictions(truth, (right < 0.5).astype(numpy.int64), numpy.maximum(right, 1 - right), right)


def test_a_trial_that_is_better_on_every_row_replaces_the_default():
    chance = numpy.random.default_rng(1).uniform(0, 0.02, 200)
    found = choice.compare(CLASSES, answers(0.6 + chance), answers(0.8 + chance))
    assert found.better
    assert choice.why(found, 4, 9, "learning_rate 0.002").startswith(
        "Trial 4 (learning_rate 0.002) replaces the default settings: its loss on 200 validation rows is lower by 0.28"
    )


def test_the_default_is_kept_within_chance():
    chance = numpy.random.default_rng(2)
    first = chance.uniform(0.1, 0.9, 872)
    second = numpy.clip(first + chance.normal(0.004, 0.2, 872), 0.05, 0.95)
    found = choice.compare(CLASSES, answers(first), answers(second))
    assert not found.better
    text = choice.why(found, 4, 9, "learning_rate 0.002")
    assert text.startswith("The default settings are kept: ") and "872 validation rows" in text


def test_the_sentence_counts_the_rows_that_more_are_right():
    found = choice.Comparison(difference=0.012, error=0.0155, rows=872, right=7)
    assert choice.why(found, 4, 9, "") == (
        "The default settings are kept: the best of 9 other trials got 7 more of 872 validation rows right, and its loss is lower by 0.012, "
        "which is within chance (0.031 would not be)."
    )
    worse = choice.Comparison(difference=-0.1, error=0.01, rows=872, right=-3)
    assert choice.why(worse, 4, 9, "") == "The default settings are kept: the best of 9 other trials is not better on 872 validation rows."


def test_numbers_are_compared_in_units_of_their_spread():
    truth = numpy.linspace(100, 200, 50)
    found = choice.compare(Number(0.0, 10.0), Predictions(truth, truth + 10), Predictions(truth, truth + 5))
    assert found.difference == pytest.approx(0.75)
    assert found.right is None and found.better


def test_one_row_decides_nothing():
    found = choice.compare(CLASSES, answers([0.1]), answers([0.9]))
    assert not found.better
    assert "error" not in found.as_json()
