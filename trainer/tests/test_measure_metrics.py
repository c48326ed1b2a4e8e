"""Figures against scikit-learn and scipy, and the rules where those have none."""

import numpy
import pytest
import scipy.stats
from sklearn import metrics as oracle

from trainer.errors import UserError
from trainer.measure import intervals, metric, metrics, predictions
from trainer.measure.predictions import Predictions


def classified(seed: int, rows: int, classes: int, skill: float = 1.0) -> Predictions:
    """Random answers that know a little; scores are rounded, so that there are ties."""
    generator = numpy.random.default_rng(seed)
    truth = generator.integers(0, classes, rows)
    scores = generator.normal(size=(rows, classes)).round(1)
    scores[numpy.arange(rows), truth] += skill
    return predictions.of_scores(truth, scores)


def regressed(seed: int, rows: int, offset: float = 0.0) -> Predictions:
    generator = numpy.random.default_rng(seed)
    truth = generator.normal(size=rows).round(1) + offset
    return predictions.of_values(truth, truth + generator.normal(size=rows).round(1))


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(("rows", "classes"), [(5, 2), (200, 2), (40, 3), (300, 20), (30, 50)])
def test_classification_agrees_with_the_oracle(seed, rows, classes):
    a = classified(seed, rows, classes)
    got = metrics.summary(a, classes)
    assert got["accuracy"] == pytest.approx(oracle.accuracy_score(a.truth, a.predicted))
    assert got["f1_macro"] == pytest.approx(oracle.f1_score(a.truth, a.predicted, average="macro", zero_division=0))
    assert got["f1_weighted"] == pytest.approx(oracle.f1_score(a.truth, a.predicted, average="weighted", zero_division=0))
    assert got["mcc"] == pytest.approx(oracle.matthews_corrcoef(a.truth, a.predicted))
    assert got["loss"] == pytest.approx(oracle.log_loss(a.truth, a.probabilities, labels=list(range(classes))), rel=1e-5)
    present = numpy.unique(a.truth)
    if len(present) > 1:
        areas = [oracle.roc_auc_score(a.truth == k, a.probabilities[:, k]) for k in ([1] if classes == 2 else present)]
        assert got["roc_auc"] == pytest.approx(numpy.mean(areas))


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(("rows", "offset"), [(2, 0.0), (60, 0.0), (60, 1e7)])
def test_regression_agrees_with_the_oracle(seed, rows, offset):
    a = regressed(seed, rows, offset)
    got = metrics.summary(a, 0, scale=3.0)
    squared = oracle.mean_squared_error(a.truth, a.predicted)
    assert got["rmse"] == pytest.approx(squared**0.5)
    assert got["loss"] == pytest.approx(squared / 9)
    assert got["mae"] == pytest.approx(oracle.mean_absolute_error(a.truth, a.predicted))
    if len(numpy.unique(a.truth)) > 1:
        assert got["r2"] == pytest.approx(oracle.r2_score(a.truth, a.predicted))
    if min(len(numpy.unique(a.truth)), len(numpy.unique(a.predicted))) > 1:
        assert got["spearman"] == pytest.approx(scipy.stats.spearmanr(a.truth, a.predicted).statistic)


@pytest.mark.parametrize("seed", range(5))
def test_the_confusion_matrix_agrees_with_the_oracle(seed):
    a = classified(seed, 100, 6)
    assert metrics.confusion(a, 6) == oracle.confusion_matrix(a.truth, a.predicted, labels=range(6)).tolist()


def test_constant_scores_have_an_area_of_exactly_one_half():
    for classes in (2, 3):
        truth = numpy.arange(11) % classes
        a = predictions.of_scores(truth, numpy.zeros((11, classes)))
        assert metrics.summary(a, classes)["roc_auc"] == 0.5


def test_classes_that_occur_nowhere_count_for_nothing():
    a = Predictions(numpy.array([0, 0, 1, 1]), numpy.array([0, 0, 1, 0]))
    assert metrics.summary(a, 2) == metrics.summary(a, 10_000)


def test_the_area_is_left_out_where_all_rows_are_of_one_class():
    a = predictions.of_scores(numpy.ones(4, int), numpy.eye(4, 2))
    assert "roc_auc" not in metrics.report(a, 2, seed=1)
    assert metrics.summary(a, 2)["mcc"] == 0.0


def test_no_rows_give_no_figures():
    assert metrics.report(predictions.of_scores(numpy.zeros(0, int), numpy.zeros((0, 3))), 3, seed=1) == {}
    assert metrics.report(predictions.of_values(numpy.zeros(0), numpy.zeros(0)), 0, seed=1) == {}


def test_one_row_has_figures_but_no_interval_except_of_accuracy():
    got = metrics.report(predictions.of_scores(numpy.array([1]), numpy.array([[0.0, 2.0, 0.0]])), 3, seed=1)
    assert {name for name in got if "low" in got[name]} == {"accuracy"}
    assert got["f1_macro"] == {"value": 1.0, "n": 1}
    assert set(metrics.report(predictions.of_values(numpy.array([2.0]), numpy.array([3.0])), 0, seed=1)["r2"]) == {"value", "n"}


@pytest.mark.parametrize("target", [0.0, 0.1, 1e9, -3.7])
def test_a_constant_target_has_no_r2_and_no_order(target):
    generator = numpy.random.default_rng(1)
    got = metrics.report(predictions.of_values(numpy.full(30, target), target + generator.normal(size=30)), 0, seed=1)
    assert got["r2"] == {"value": 0.0, "low": 0.0, "high": 0.0, "n": 30}
    assert got["spearman"]["value"] == 0.0


def test_small_targets_keep_their_r2():
    a = regressed(3, 50)
    tiny = predictions.of_values(a.truth * 1e-9, a.predicted * 1e-9)
    assert metrics.summary(tiny, 0)["r2"] == pytest.approx(metrics.summary(a, 0)["r2"])


def test_a_true_class_that_was_held_for_impossible_costs_a_bounded_loss():
    a = predictions.of_scores(numpy.array([0]), numpy.array([[-1e6, 1e6]]))
    assert metrics.summary(a, 2)["loss"] == pytest.approx(-numpy.log(1e-12))


@pytest.mark.parametrize("value", [numpy.nan, numpy.inf, 1e200])
def test_answers_that_are_not_numbers_are_refused(value):
    with pytest.raises(UserError, match="not numbers") as e:
        predictions.of_values(numpy.zeros(2), numpy.array([0.0, value]))
    assert e.value.code == "diverged"


def test_scores_that_are_not_numbers_are_refused():
    with pytest.raises(UserError, match="not numbers"):
        predictions.of_scores(numpy.zeros(2, int), numpy.array([[0.0, 1.0], [numpy.nan, 0.0]], numpy.float32))


def test_answers_on_parts_of_the_rows_join_to_those_on_all():
    a = classified(1, 20, 3)
    parts = [Predictions(*(column[rows] for column in vars(a).values())) for rows in (slice(0, 7), slice(7, 20))]
    assert metrics.report(predictions.concatenated(parts), 3, seed=1) == metrics.report(a, 3, seed=1)


def test_the_same_seed_gives_the_same_intervals_and_another_one_others():
    a = classified(1, 100, 3)
    assert metrics.report(a, 3, seed=1) == metrics.report(a, 3, seed=1)
    assert metrics.report(a, 3, seed=1)["f1_macro"] != metrics.report(a, 3, seed=2)["f1_macro"]


@pytest.mark.parametrize("classes", [0, 2, 5])
def test_intervals_hold_their_value_and_shrink_with_rows(classes):
    few, many = (metrics.report(regressed(1, n) if not classes else classified(1, n, classes), classes, seed=1) for n in (60, 2000))
    for name, score in few.items():
        assert score["low"] <= score["value"] <= score["high"], name
        assert many[name]["high"] - many[name]["low"] < score["high"] - score["low"], name


@pytest.mark.parametrize("name", ["f1_macro", "mcc", "roc_auc", "loss"])
def test_an_interval_holds_the_true_value_about_95_times_in_100(name):
    population = metrics.summary(classified(0, 200_000, 2), 2)[name]
    scores = [metrics.report(classified(seed, 150, 2), 2, seed)[name] for seed in range(1, 201)]
    held = sum(s["low"] <= population <= s["high"] for s in scores)
    assert 180 <= held <= 198  # 190 expected; 4.5 deviations below, 2.6 above


@pytest.mark.parametrize("name", ["rmse", "mae", "r2", "spearman"])
def test_an_interval_of_a_regression_holds_the_true_value(name):
    population = metrics.summary(regressed(0, 200_000), 0)[name]
    scores = [metrics.report(regressed(seed, 150), 0, seed)[name] for seed in range(1, 201)]
    assert 178 <= sum(s["low"] <= population <= s["high"] for s in scores) <= 199


def test_an_area_with_a_single_row_of_a_class_has_no_interval():
    a = predictions.of_scores(numpy.array([0, 0, 1]), numpy.array([[2.0, 0.0], [0.0, 1.0], [0.0, 3.0]]))
    assert metrics.report(a, 2, seed=1)["roc_auc"] == {"value": 1.0, "n": 3}


def test_many_classes_need_no_table():
    generator = numpy.random.default_rng(1)
    truth = generator.integers(0, 10_000, 3000)
    a = Predictions(truth, numpy.where(generator.random(3000) < 0.5, truth, generator.integers(0, 10_000, 3000)))
    assert metrics.confusion(a, 10_000) == []
    got = metrics.report(a, 10_000, seed=1)
    assert got["f1_macro"]["value"] == pytest.approx(oracle.f1_score(a.truth, a.predicted, average="macro", zero_division=0))
    assert "roc_auc" not in got
    assert "loss" not in got


def test_a_report_keeps_to_the_schema(schemas):
    label, number = metrics.report(classified(1, 50, 3), 3, seed=1), metrics.report(regressed(1, 50), 0, seed=1)
    document = {"task": "text-classification", "metric": "accuracy", "best_epoch": 1, "best_step": 1}
    schemas["metrics"].validate({**document, "train": {}, "validation": number, "test": label, "baselines": []})


@pytest.mark.parametrize(
    ("asked", "labels", "want"),
    [
        ("auto", {"a": 10, "b": 15}, "accuracy"),
        ("auto", {"a": 10, "b": 16}, "f1_macro"),
        ("auto", {"a": 10}, "accuracy"),
        ("auto", None, "rmse"),
        ("mcc", {"a": 10, "b": 10}, "mcc"),
        ("r2", None, "r2"),
    ],
)
def test_a_metric_is_picked_with_a_reason(asked, labels, want):
    metric, reason = metrics.pick_metric(asked, labels)
    assert metric == want
    assert reason.endswith(".")


@pytest.mark.parametrize(
    ("asked", "labels", "part"),
    [
        ("rmse", {"a": 3, "b": 3}, "rmse does not fit data with labels"),
        ("accuracy", None, "accuracy does not fit data with numbers"),
        ("roc_auc", {str(k): 3 for k in range(51)}, "roc_auc does not fit data with 51 labels"),
    ],
)
def test_a_metric_that_does_not_fit_is_refused(asked, labels, part):
    with pytest.raises(UserError, match=part):
        metrics.pick_metric(asked, labels)


def test_every_metric_says_which_way_is_better():
    assert {m.name for m in (*metric.CLASSIFICATION.values(), *metric.REGRESSION.values()) if not m.higher_is_better} == {"loss", "rmse", "mae"}


def test_drawing_cells_is_drawing_rows():
    counts = numpy.array([30, 50, 20])
    drawn = intervals.resampled_counts(counts, seed=1)
    assert (drawn.sum(axis=1) == 100).all()
    assert drawn.mean(axis=0) == pytest.approx(counts, abs=1)
    assert drawn.std(axis=0) == pytest.approx(numpy.sqrt(counts * (1 - counts / 100)), rel=0.1)
