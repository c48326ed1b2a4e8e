"""The choice between the default settings and the best trial: losses beside plain formulas, and every sentence of the decision."""

import json
import math

import numpy
import pytest

from trainer.kinds.language.likelihoods import Likelihoods
from trainer.kinds.language.target import Tokens
from trainer.measure.predictions import Predictions
from trainer.search import choice, schedule
from trainer.search.choice import Comparison
from trainer.search.schedule import Rung
from trainer.targets.classes import Classes
from trainer.targets.number import Number

CLASSES = Classes(("a", "b"))


def classes(likelihood: list[float], right: list[bool]) -> Predictions:
    truth = numpy.zeros(len(right), numpy.int64)
    return Predictions(truth, numpy.where(right, 0, 1), None, numpy.array(likelihood))


def numbers(truth: list[float], predicted: list[float]) -> Predictions:
    return Predictions(numpy.array(truth), numpy.array(predicted))


def texts(nats: list[float], tokens: list[int]) -> Likelihoods:
    return Likelihoods(numpy.array(nats), numpy.array(tokens), numpy.zeros(len(nats)), numpy.zeros(len(nats), numpy.int64))


@pytest.mark.parametrize(
    ("found", "target", "losses"),
    [
        pytest.param(classes([1.0, 0.5, 0.0], [True] * 3), CLASSES, [0, math.log(2), -math.log(1e-12)], id="classes"),
        pytest.param(numbers([1.0, 2.0, 3.0], [1.0, 4.0, 0.0]), Number(0.0, 2.0), [0, 1, 2.25], id="numbers in units of the scale"),
        pytest.param(texts([2.0, 6.0], [1, 3]), Tokens(), [1, 3], id="texts by their tokens"),
    ],
)
def test_the_loss_of_a_row(found, target, losses):
    assert target.losses(found) == pytest.approx(losses)


def test_the_mean_loss_of_texts_is_the_mean_over_tokens():
    found = texts([2.0, 6.0, 1.0], [1, 3, 7])
    assert Tokens().losses(found).mean() == pytest.approx(9 / 11)


def test_a_comparison_has_the_standard_error_of_the_differences():
    a, b = classes([0.5, 0.25, 0.5], [True, False, True]), classes([0.5, 0.5, 1.0], [False, True, True])
    found = choice.compare(CLASSES, a, b)
    differences = numpy.log([1, 2, 2])
    assert (found.difference, found.error) == pytest.approx((differences.mean(), differences.std(ddof=1) / math.sqrt(3)))
    assert (found.rows, found.right) == (3, 0)
    assert choice.compare(CLASSES, b, a).difference == -found.difference
    assert choice.compare(CLASSES, a, classes([1, 1, 1], [True] * 3)).right == 1
    assert choice.compare(CLASSES, classes([1, 1, 1], [True] * 3), a).right == -1


def test_numbers_have_no_right_rows_and_are_compared_in_the_scale():
    found = choice.compare(Number(0.0, 2.0), numbers([0.0, 0.0], [2.0, 4.0]), numbers([0.0, 0.0], [0.0, 0.0]))
    assert (found.difference, found.right) == (2.5, None)


def test_one_row_decides_nothing():
    found = choice.compare(CLASSES, classes([0.1], [False]), classes([0.9], [True]))
    assert found.error == math.inf and not found.better
    assert found.as_json() == {"difference": pytest.approx(math.log(9)), "rows": 1, "better": False, "right": 1}
    assert choice.compare(Tokens(), texts([9.0, 9.0], [1, 1]), texts([8.0, 8.0], [1, 1])).better  # two rows without a spread


@pytest.mark.parametrize(
    ("difference", "error", "better"),
    [(0.2, 0.1, False), (0.2001, 0.1, True), (0.0, 0.0, False), (1e-9, 0.0, True), (-0.5, 0.1, False), (-1e-9, 0.0, False), (math.nan, 0.1, False)],
)
def test_better_is_ahead_by_more_than_two_standard_errors(difference, error, better):
    assert Comparison(difference, error, 10, None).better is better


def test_a_comparison_in_the_result_leaves_out_what_there_is_not():
    assert Comparison(0.5, 0.1, 10, None).as_json() == {"difference": 0.5, "rows": 10, "better": True, "error": 0.1}
    assert json.loads(json.dumps(Comparison(0.5, math.inf, 1, 0).as_json())) == {"difference": 0.5, "rows": 1, "better": False, "right": 0}


@pytest.mark.parametrize(
    ("found", "others", "model", "sentence"),
    [
        pytest.param(
            Comparison(0.51234, 0.1, 50, 3), 9, "",
            "Trial 4 (batch_size 64) replaces the default settings: its loss on 50 validation rows is lower by 0.512, "
            "which is more than chance explains (0.2).", id="better",
        ),
        pytest.param(
            Comparison(0.5, 0.1, 1, None), 9, "words",
            "Trial 4 (batch_size 64) replaces the default model words: its loss on 1 validation row is lower by 0.5, "
            "which is more than chance explains (0.2).", id="better than a model without settings",
        ),
        pytest.param(
            Comparison(0.0, 0.1, 50, 3), 9, "",
            "The default settings are kept: the best of 9 other trials is not better on 50 validation rows.", id="equal",
        ),
        pytest.param(
            Comparison(-0.1, 0.1, 50, 3), 1, "words",
            "The default model words is kept: the other trial is not better on 50 validation rows.", id="worse, of one other",
        ),
        pytest.param(
            Comparison(0.1, 0.1, 50, 3), 2, "",
            "The default settings are kept: the best of 2 other trials got 3 more of 50 validation rows right, and its loss is lower by 0.1, "
            "which is within chance (0.2 would not be).", id="more rows right, within chance",
        ),
        pytest.param(
            Comparison(0.1, 0.1, 50, 0), 2, "",
            "The default settings are kept: the loss of the best of 2 other trials on 50 validation rows is lower by 0.1, "
            "which is within chance (0.2 would not be).", id="as many rows right, within chance",
        ),
        pytest.param(
            Comparison(0.1, 0.1, 50, None), 1, "",
            "The default settings are kept: the loss of the other trial on 50 validation rows is lower by 0.1, "
            "which is within chance (0.2 would not be).", id="numbers, within chance",
        ),
    ],
)  # fmt: skip
def test_the_decision_is_a_sentence(found, others, model, sentence):
    assert choice.why(found, 4, others, "batch_size 64", model) == sentence


def test_a_rung_keeps_a_third_but_at_least_one_and_the_order_of_numbers():
    rung = Rung(1, schedule.share(1), (2, 3, 5, 7, 11, 13))
    assert schedule.following(rung, {2: 6.0, 3: 5.0, 5: 4.0, 7: 3.0, 11: 2.0, 13: 1.0}) == Rung(2, 1 / 3, (11, 13))
    assert schedule.following(rung, {13: 6.0, 2: 7.0}).trials == (2, 13)  # a third of those that began, not of those that have a loss
    assert schedule.following(Rung(2, 1 / 3, (4, 5)), {4: 2.0, 5: 1.0}) == Rung(3, 1.0, (5,))
    assert schedule.following(Rung(3, 1.0, (5,)), {5: 1.0}) is None


def test_the_most_work_counts_the_dearest_trials_of_each_rung():
    rungs = [[0.1, 0.3, 0.9], [0.2, 0.6, 1.8], [0.1, 0.2, 2.0], [0.1, 0.1, 0.1], [0.1, 0.3, 0.3], [0.1, 0.3, 0.3]]
    two, one = sorted([0.2, 0.4, 0.1, 0, 0.2, 0.2])[-2:], max(0.6, 1.2, 1.8)
    assert schedule.most(rungs) == pytest.approx(1 + 0.7 + sum(two) + one)
    assert schedule.most([[0.5, 0.4, 0.6]]) == pytest.approx(1 + 0.5 + 0 + 0.2)  # no rung gives work back


@pytest.mark.parametrize("others", range(1, 40))
def test_the_work_of_equal_trials_is_the_sum_of_their_rungs(others):
    second, third = max(1, others // 3), max(1, max(1, others // 3) // 3)
    assert schedule.work(others) == pytest.approx(1 + others / 9 + second * 2 / 9 + third * 2 / 3)
    assert schedule.most([[1 / 9, 1 / 3, 1.0]] * others) == pytest.approx(schedule.work(others))
    assert schedule.budget(others) == pytest.approx(1 + 1.05 * (schedule.work(others) - 1))
    assert schedule.affordable(others, schedule.work(others)) == others  # a budget that just suffices
    assert schedule.affordable(others, schedule.work(others) - 1e-9) == others - 1


@pytest.mark.parametrize(
    ("own", "epochs", "wanted"), [(1, 9, 1), (1, 8.9, 2), (1, 1, 9), (60, 1, 60), (1, 0.01, 50), (1, 0.0, 50), (2, 9, 2), (50, 0.1, 50)]
)
def test_evaluations_are_enough_for_every_rung_but_not_more_than_the_limit(own, epochs, wanted):
    assert schedule.evaluations_per_epoch(own, epochs) == wanted


@pytest.mark.parametrize(
    ("share", "evaluations", "wanted"), [(1 / 9, 9, 1), (1 / 9, 1, 1), (1 / 3, 10, 3), (1 / 3, 5, 1), (1 / 3, 17, 5), (1 / 3, 59, 20), (1, 7, 7)]
)
def test_a_rung_ends_at_an_evaluation_about_its_share(share, evaluations, wanted):
    assert schedule.until(share, evaluations) == wanted
