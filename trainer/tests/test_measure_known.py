"""Metrics on values worked out by hand, properties of the curves, and how often the intervals cover the true value."""

import math

import numpy
import pytest
from hypothesis import given, settings, strategies as st

from trainer.errors import UserError
from trainer.measure import classification, curves, intervals, metrics, predictions, rank_statistics
from trainer.measure.calibration import calibration
from trainer.measure.dummy import dummy
from trainer.measure.histogram import histogram
from trainer.measure.predictions import Predictions

QUICK = settings(max_examples=40, deadline=None)


def classified(truth, predicted, confidence=None) -> Predictions:
    sure = None if confidence is None else numpy.asarray(confidence, numpy.float64)
    return Predictions(numpy.asarray(truth, numpy.int64), numpy.asarray(predicted, numpy.int64), sure)


def binary(truth, scores) -> Predictions:
    """Answers of two classes with these probabilities of the second."""
    shares = numpy.asarray(scores, numpy.float64)
    both = numpy.stack([1 - shares, shares], axis=1)
    truth = numpy.asarray(truth, numpy.int64)
    predicted = (shares > 0.5).astype(numpy.int64)
    every = numpy.arange(len(truth))
    return Predictions(truth, predicted, both[every, predicted], both[every, truth], both)


@pytest.mark.parametrize(
    ("truth", "predicted", "accuracy", "macro", "weighted", "mcc"),
    [
        # a: 3 rows, 2 right, predicted 3 times: F1 4/6. b: 2 rows, 1 right, predicted twice: F1 2/4.
        pytest.param([0, 0, 0, 1, 1], [0, 0, 1, 0, 1], 3 / 5, 7 / 12, 3 / 5, 1 / 6, id="two classes"),
        pytest.param([0, 1, 2], [0, 1, 2], 1, 1, 1, 1, id="all right"),
        pytest.param([0, 1], [1, 0], 0, 0, 0, -1, id="all wrong"),
        pytest.param([0, 0, 1, 1], [0, 0, 0, 0], 1 / 2, 1 / 3, 1 / 3, 0, id="one answer for all"),
        pytest.param([0, 0, 0], [0, 0, 1], 2 / 3, 4 / 10, 8 / 10, 0, id="a class that never occurs is predicted"),
        pytest.param([0], [0], 1, 1, 1, 0, id="one row"),
    ],
)
def test_the_metrics_of_classes_on_known_values(truth, predicted, accuracy, macro, weighted, mcc):
    found = metrics.summary(classified(truth, predicted), 3)
    assert found == pytest.approx({"accuracy": accuracy, "f1_macro": macro, "f1_weighted": weighted, "mcc": mcc})


@pytest.mark.parametrize(
    ("truth", "predicted", "rmse", "mae", "r2", "spearman"),
    [
        pytest.param([1, 2, 3], [1, 2, 3], 0, 0, 1, 1, id="exact"),
        pytest.param([1, 2, 3], [2, 3, 4], 1, 1, 1 - 3 / 2, 1, id="one too many"),
        pytest.param([1, 2, 3], [3, 2, 1], math.sqrt(8 / 3), 4 / 3, 1 - 8 / 2, -1, id="reversed"),
        pytest.param([1, 2, 3], [2, 2, 2], math.sqrt(2 / 3), 2 / 3, 0, 0, id="the mean for all"),
        pytest.param([5, 5], [4, 6], 1, 1, 0, 0, id="one target for all"),
        pytest.param([0, 0, 4], [0, 0, 1], math.sqrt(3), 1, 1 - 9 / (32 / 3), 1, id="one large error"),
    ],
)
def test_the_metrics_of_numbers_on_known_values(truth, predicted, rmse, mae, r2, spearman):
    found = metrics.summary(predictions.of_values(truth, predicted), 0, scale=2.0)
    assert found == pytest.approx({"rmse": rmse, "mae": mae, "r2": r2, "spearman": spearman, "loss": rmse**2 / 4}, abs=1e-12)


@QUICK
@given(st.integers(1, 40).flatmap(lambda n: st.tuples(*[st.lists(st.integers(0, 4), min_size=n, max_size=n)] * 2)), st.permutations(range(5)))
def test_metrics_do_not_depend_on_the_order_of_rows_or_the_numbers_of_classes(pair, numbers):
    truth, predicted = map(numpy.asarray, pair)
    found = metrics.summary(classified(truth, predicted), 5)
    assert metrics.summary(classified(truth[::-1], predicted[::-1]), 5) == pytest.approx(found)
    names = numpy.asarray(numbers)
    assert metrics.summary(classified(names[truth], names[predicted]), 5) == pytest.approx(found, abs=1e-12)
    assert all(0 <= found[name] <= 1 for name in ("accuracy", "f1_macro", "f1_weighted"))
    assert -1 - 1e-12 <= found["mcc"] <= 1 + 1e-12
    table = metrics.confusion(classified(truth, predicted), 5)
    assert sum(map(sum, table)) == len(truth)
    assert sum(table[k][k] for k in range(5)) / len(truth) == pytest.approx(found["accuracy"])


SCORED = st.lists(st.tuples(st.booleans(), st.integers(0, 20)), min_size=2, max_size=50).filter(lambda rows: len({t for t, _ in rows}) == 2)


@QUICK
@given(SCORED)
def test_the_area_counts_the_pairs_in_the_right_order(rows):
    truth, scores = (numpy.asarray(column) for column in zip(*rows, strict=True))
    area, error = rank_statistics.roc_auc(truth.astype(int), numpy.stack([1 - scores / 20, scores / 20], axis=1))
    pairs = [(a > b) + (a == b) / 2 for a in scores[truth] for b in scores[~truth]]
    assert area == pytest.approx(sum(pairs) / len(pairs))
    assert error is None or error >= 0
    reverse, same = rank_statistics.roc_auc(truth.astype(int), numpy.stack([scores / 20, 1 - scores / 20], axis=1))
    assert reverse == pytest.approx(1 - area)
    assert (same is None) == (error is None) and (error is None or same == pytest.approx(error))


@settings(QUICK, max_examples=12)
@given(SCORED)
def test_the_curves_begin_and_end_at_their_corners_and_never_turn_back(rows):
    found = curves.binary(binary([t for t, _ in rows], [s / 20 for _, s in rows]), "yes", points=30)
    assert found["positive"] == "yes"
    assert (found["roc"][0], found["roc"][-1]) == ([0.0, 0.0], [1.0, 1.0])
    assert found["roc"] == sorted(found["roc"])
    assert found["pr"][-1][0] == 1.0
    assert [recall for recall, _ in found["pr"]] == sorted(recall for recall, _ in found["pr"])
    assert max(len(found["roc"]), len(found["pr"])) <= 30
    assert [t["threshold"] for t in found["thresholds"]] == pytest.approx([k / 10 for k in range(1, 10)])
    recalls = [t["recall"] for t in found["thresholds"]]
    assert recalls == sorted(recalls, reverse=True)
    assert all(0 <= t[name] <= 1 for t in found["thresholds"] for name in ("precision", "recall", "f1"))


@pytest.mark.parametrize(
    ("confidence", "right", "ece", "bins"),
    [
        pytest.param([0.95] * 4, [1, 1, 1, 0], 0.2, [(0.9, 4, 0.75)], id="too sure"),
        pytest.param([1.0, 1.0], [1, 1], 0.0, [(0.9, 2, 1.0)], id="the last bin holds its upper end"),
        pytest.param([0.5, 0.55, 0.62], [1, 0, 1], (0.05 + 0.38) / 3, [(0.5, 2, 0.5), (0.6, 1, 1.0)], id="a bin holds its lower end"),
    ],
)
def test_the_calibration_error_is_the_mean_distance_over_the_bins(confidence, right, ece, bins):
    found = calibration(classified([1] * len(right), right, confidence))
    assert found["ece"] == pytest.approx(ece)
    assert [(b["low"], b["n"], b["accuracy"]) for b in found["bins"]] == bins
    assert all(b["high"] - b["low"] == pytest.approx(0.1) for b in found["bins"])


@QUICK
@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=60), st.integers(1, 30))
def test_the_bins_of_the_calibration_hold_every_row_once(rows, bins):
    found = calibration(classified([1] * len(rows), [int(r) for _, r in rows], [c for c, _ in rows]), bins)
    assert sum(b["n"] for b in found["bins"]) == len(rows)
    assert 0 <= found["ece"] <= 1
    assert all(b["low"] - 1e-9 <= b["confidence"] <= b["high"] + 1e-9 for b in found["bins"])
    assert [b["low"] for b in found["bins"]] == sorted(b["low"] for b in found["bins"])


@QUICK
@given(st.lists(st.floats(allow_nan=True, allow_infinity=True), max_size=40), st.integers(1, 30))
def test_a_histogram_counts_every_usable_value_once_between_rising_edges(values, bins):
    found = histogram(values, bins)
    assert sum(found["counts"]) == sum(abs(v) < 1e150 for v in values)
    assert len(found["edges"]) == bins + 1 == len(found["counts"]) + 1
    assert found["edges"] == sorted(found["edges"])
    assert all(map(math.isfinite, found["edges"]))


@QUICK
@given(st.floats(0, 1), st.integers(1, 100_000))
def test_wilsons_interval_holds_its_share_within_0_and_1_and_mirrors(share, n):
    low, high = intervals.wilson(share, n)
    assert 0 <= low <= share + 1e-12 and share - 1e-12 <= high <= 1
    assert intervals.wilson(1 - share, n) == pytest.approx((1 - high, 1 - low), abs=1e-9)
    narrow = intervals.wilson(share, 4 * n)
    assert narrow[1] - narrow[0] < high - low


@pytest.mark.parametrize(("share", "n"), [(0.5, 20), (0.9, 50), (0.98, 100), (0.1, 400)])
def test_wilsons_interval_covers_the_true_share_in_about_95_of_100_cases(share, n):
    hits = numpy.random.default_rng(3).binomial(n, share, 4000)
    covered = [low <= share <= high for low, high in (intervals.wilson(k / n, n) for k in hits)]
    assert 0.92 <= numpy.mean(covered) <= 0.985


def test_an_interval_of_resampled_means_covers_the_true_mean_in_about_95_of_100_cases():
    chance, covered = numpy.random.default_rng(4), []
    for seed in range(300):
        values = chance.normal(3.0, 2.0, (60, 1))
        low, high = intervals.percentiles(intervals.resampled_means(values, seed)[:, 0], float(values.mean()))
        covered.append(low <= 3.0 <= high)
    assert 0.9 <= numpy.mean(covered) <= 0.985


@pytest.mark.parametrize("n", [1, 2, 7, 5000])
def test_resampled_counts_and_means_are_of_as_many_rows_as_there_are(n):
    counts = numpy.asarray([n, 0, 2 * n])
    drawn = intervals.resampled_counts(counts, 5)
    assert (drawn.sum(axis=1) == 3 * n).all()
    assert (drawn[:, 1] == 0).all()
    assert numpy.array_equal(drawn, intervals.resampled_counts(counts, 5))
    means = intervals.resampled_means(numpy.ones((n, 2)), 5)
    assert means == pytest.approx(numpy.ones((intervals.RESAMPLES, 2)))


def test_large_data_gets_fewer_resamples():
    assert len(intervals.resampled_means(numpy.zeros((20_001, 1)), 1)) < intervals.RESAMPLES == 1000
    assert len(intervals.resampled_counts(numpy.asarray([20_001, 5]), 1)) < 1000


def test_the_loss_of_a_row_is_bounded():
    answers = Predictions(numpy.asarray([0, 0, 0]), numpy.asarray([0, 0, 1]), likelihood=numpy.asarray([1.0, math.exp(-2), 0.0]))
    assert classification.losses(answers).tolist() == pytest.approx([0.0, 2.0, 12 * math.log(10)])


@QUICK
@given(st.lists(st.integers(0, 3), min_size=1, max_size=40), st.lists(st.integers(0, 3), max_size=20))
def test_the_constant_baseline_answers_with_the_most_frequent_class(train, test):
    answers = dummy(numpy.asarray(train, numpy.int64), numpy.asarray(test, numpy.int64), 4)
    counts = numpy.bincount(train, minlength=4)
    assert set(answers.predicted) <= {int(counts.argmax())}
    assert (answers.likelihood == [(counts[t] + 1) / (len(train) + 4) for t in test]).all()
    assert answers.probabilities.sum(axis=1) == pytest.approx(numpy.ones(len(test)))


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 1e200])
def test_answers_that_are_not_numbers_name_the_learning_rate(bad):
    with pytest.raises(UserError, match="Set a smaller learning_rate") as refused:
        predictions.of_values([1.0, 2.0], [bad, 2.0])
    assert refused.value.code == "diverged"
    with pytest.raises(ValueError, match="3 values of predicted for 2 rows"):
        predictions.of_values([1.0, 2.0], [1.0, 2.0, 3.0])
