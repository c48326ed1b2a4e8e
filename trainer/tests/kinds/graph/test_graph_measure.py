"""The metrics of link prediction, compared with scikit-learn and with counts by hand."""

import numpy
import pytest

from trainer.errors import UserError
from trainer.kinds.graph import links
from trainer.kinds.graph.links import LinkAnswers
from trainer.kinds.graph.target import Links


def answers(positive, negative, ranks=None, candidates=1000, sources=None, threshold=None):
    positive, negative = numpy.asarray(positive, float), numpy.asarray(negative, float)
    ranks = numpy.ones(len(positive)) if ranks is None else numpy.asarray(ranks, float)
    return LinkAnswers(positive, negative, ranks, numpy.arange(len(positive)) if sources is None else numpy.asarray(sources), candidates, threshold)


def drawn(n=400, seed=3):
    r = numpy.random.default_rng(seed)
    return answers(r.normal(1, 1, n).round(1), r.normal(0, 1, n).round(1), r.integers(1, 1002, n), sources=r.integers(0, 90, n))


@pytest.mark.parametrize(
    ("others", "rank"),
    [
        pytest.param([0, 0, 0, 0], 1, id="best of all"),
        pytest.param([2, 2, 2, 2], 5, id="worst of all"),
        pytest.param([1, 1, 1, 1], 3, id="equal scores share the mean"),
        pytest.param([2, 1, 0, 0], 2.5, id="one is better and one is equal"),
    ],
)
def test_rank(others, rank):
    assert links.ranks(numpy.array([1.0]), numpy.array([others], float)) == rank


def test_area_and_precision_agree_with_scikit_learn():
    from sklearn.metrics import average_precision_score, roc_auc_score

    a = drawn()
    found = links.summary(a)
    assert found["auc"] == pytest.approx(roc_auc_score(a.truth, a.scores))
    assert found["average_precision"] == pytest.approx(average_precision_score(a.truth, a.scores))
    assert found["mrr"] == pytest.approx((1 / a.ranks).mean())
    assert found["hits_at_10"] == pytest.approx((a.ranks <= 10).mean())


def test_a_constant_model_gains_nothing():
    n, k = 50, 100
    same = numpy.zeros((n, k))
    a = answers(same[:, 0], same[:, 0], links.ranks(same[:, 0], same), k)
    found = links.summary(a)
    assert found["auc"] == found["average_precision"] == found["accuracy"] == 0.5
    assert found["mrr"] == pytest.approx(1 / 51)
    assert "hits_at_100" not in found, "each of 100 candidates is within the first hundred"


def test_threshold_of_the_validation_edges_is_used_on_the_test_edges():
    validation, test = answers([3, 4, 5], [0, 1, 2]), answers([2, 4, 5], [0, 1, 3])
    assert links.best_threshold(validation) == 2.5
    assert links.summary(links.at_threshold(test, validation))["accuracy"] == pytest.approx(4 / 6)
    assert links.summary(test)["accuracy"] == pytest.approx(5 / 6), "its own best threshold is kinder"


def test_no_threshold_helps_a_model_that_is_wrong_throughout():
    a = answers([0, 0], [1, 1])
    assert links.summary(a)["accuracy"] == 0.5
    assert links.best_threshold(a) > 1


def test_every_metric_lies_within_its_interval():
    a = drawn()
    found = links.report(a, 7)
    assert set(found) == set(links.METRICS)
    for name, entry in found.items():
        assert entry["low"] <= entry["value"] <= entry["high"], name
        assert entry["n"] == len(a)
    assert found == links.report(a, 7), "the same seed gives the same interval"


def test_edges_of_one_source_count_as_one_draw():
    n = 300
    r = numpy.random.default_rng(0).integers(1, 100, 30)
    alone, together = answers(numpy.ones(n), numpy.zeros(n), numpy.repeat(r, 10)), None
    together = answers(numpy.ones(n), numpy.zeros(n), numpy.repeat(r, 10), sources=numpy.repeat(numpy.arange(30), 10))
    narrow, wide = links.report(alone, 0)["mrr"], links.report(together, 0)["mrr"]
    assert wide["high"] - wide["low"] > 1.8 * (narrow["high"] - narrow["low"])


@pytest.mark.parametrize("count", [0, 1])
def test_few_edges(count):
    found = links.report(answers(numpy.ones(count), numpy.zeros(count)), 0)
    assert all("low" not in entry for entry in found.values())
    assert bool(found) == bool(count)


def test_scores_that_are_no_numbers_are_refused():
    with pytest.raises(UserError, match="not numbers"):
        answers([numpy.nan], [0])


def test_metric_that_chooses():
    assert Links().choose_metric("auto", None)[0] == "mrr"
    assert Links().choose_metric("auc", None)[0] == "auc"
    with pytest.raises(UserError, match="rmse does not fit"):
        Links().choose_metric("rmse", None)
