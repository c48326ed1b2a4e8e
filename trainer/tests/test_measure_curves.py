"""Calibration by hand, curves against scikit-learn, and which rows are shown."""

import json

import numpy
import pytest
from sklearn import metrics as oracle

from trainer.measure import curves, predictions
from trainer.measure.calibration import calibration
from trainer.measure.histogram import histogram
from trainer.measure.mistakes import mistakes, unsure, wrong_labels
from trainer.measure.predictions import Predictions


def sure(truth, predicted, confidence) -> Predictions:
    return Predictions(numpy.array(truth), numpy.array(predicted), numpy.array(confidence))


def two_classes(rows: int, seed: int = 1) -> Predictions:
    generator = numpy.random.default_rng(seed)
    truth = generator.integers(0, 2, rows)
    scores = generator.normal(size=rows).round(1) + truth
    return predictions.of_scores(truth, numpy.stack([numpy.zeros(rows), scores], axis=1))


def test_calibration_by_hand():
    got = calibration(sure([0, 1, 0, 0, 1], [0, 1, 1, 0, 1], [1.0, 0.95, 0.91, 0.72, 0.7]))
    # Nine tenths and more: sure to 2.86 / 3, right in 2 of 3. Seven to eight tenths: sure to 0.71, right in both.
    assert [(b["low"], b["high"], b["n"]) for b in got["bins"]] == [(0.7, 0.8, 2), (0.9, 1.0, 3)]
    assert [b["confidence"] for b in got["bins"]] == pytest.approx([0.71, 2.86 / 3])
    assert [b["accuracy"] for b in got["bins"]] == pytest.approx([1.0, 2 / 3])
    assert got["ece"] == pytest.approx((2 * 0.29 + 3 * (2.86 / 3 - 2 / 3)) / 5)


def test_a_model_that_is_as_right_as_it_is_sure_has_no_calibration_error():
    assert calibration(sure([0, 0, 1, 1], [0, 1, 1, 0], [0.5] * 4))["ece"] == 0.0


def test_no_calibration_without_rows_or_confidence():
    assert calibration(sure([], [], [])) == {}
    assert calibration(predictions.of_values(numpy.zeros(3), numpy.zeros(3))) == {}


def test_the_curves_agree_with_the_oracle():
    a = two_classes(80)
    got = curves.binary(a, "spam", points=1000)
    fallout, recall, _ = oracle.roc_curve(a.truth, a.probabilities[:, 1], drop_intermediate=False)
    assert got["positive"] == "spam"
    assert numpy.array(got["roc"]) == pytest.approx(numpy.stack([fallout, recall], axis=1), abs=1e-5)
    precision, recall, _ = oracle.precision_recall_curve(a.truth, a.probabilities[:, 1])
    assert numpy.array(got["pr"]) == pytest.approx(numpy.stack([recall, precision], axis=1)[-2::-1], abs=1e-5)


def test_the_thresholds_agree_with_the_oracle():
    a = two_classes(80)
    for row in curves.binary(a, "spam")["thresholds"]:
        said = a.probabilities[:, 1] >= row["threshold"]
        assert row["precision"] == pytest.approx(oracle.precision_score(a.truth, said, zero_division=0), abs=1e-6)
        assert row["recall"] == pytest.approx(oracle.recall_score(a.truth, said), abs=1e-6)
        assert row["f1"] == pytest.approx(oracle.f1_score(a.truth, said), abs=1e-6)


def test_long_curves_are_thinned_and_keep_their_ends():
    generator = numpy.random.default_rng(1)
    truth = generator.integers(0, 2, 5000)
    got = curves.binary(predictions.of_scores(truth, generator.normal(size=(5000, 2))), "b", points=100)
    assert len(got["roc"]) == len(got["pr"]) == 100
    assert (got["roc"][0], got["roc"][-1]) == ([0.0, 0.0], [1.0, 1.0])
    assert got["pr"][-1][0] == 1.0


def test_no_curves_without_two_classes_on_both_sides():
    assert curves.binary(predictions.of_scores(numpy.array([0, 1, 2]), numpy.eye(3)), "b") is None
    assert curves.binary(predictions.of_scores(numpy.array([1, 1]), numpy.eye(2)), "b") is None
    assert curves.binary(sure([0, 1], [0, 1], [0.6, 0.7]), "b") is None


def test_points_of_a_regression_span_the_targets():
    generator = numpy.random.default_rng(1)
    truth = generator.normal(size=2000)
    got = curves.regression(predictions.of_values(truth, truth + 1))
    assert len(got["points"]) == 500
    assert [got["points"][0][0], got["points"][-1][0]] == pytest.approx([truth.min(), truth.max()], rel=1e-5)
    assert sum(got["residuals"]["counts"]) == 2000
    assert got["residuals"]["edges"][0] <= -1 <= got["residuals"]["edges"][-1]


def test_a_histogram_counts_every_finite_value():
    got = histogram([1, 2, 2, 9, numpy.nan, numpy.inf], bins=4, unit="tokens", cut=8)
    assert got == {"edges": [1.0, 3.0, 5.0, 7.0, 9.0], "counts": [3, 0, 0, 1], "unit": "tokens", "cut": 8.0}


@pytest.mark.parametrize("values", [[], [3.0], [5, 5, 5], [0, 0], [1, 1 + 1e-15], [-1e20], [1e-30, 2e-30], [1e300]])
def test_a_histogram_of_few_values_has_edges_that_rise(values):
    got = histogram(values)
    assert sum(got["counts"]) == sum(value < 1e150 for value in values)
    assert len(got["edges"]) == len(got["counts"]) + 1
    assert got["edges"] == sorted(set(got["edges"]))


def test_a_histogram_of_large_close_values_has_edges_that_rise():
    edges = histogram([1_700_000_000, 1_700_000_003])["edges"]
    assert edges == sorted(set(edges))


def test_the_most_confident_mistakes_come_first_and_ties_in_the_order_of_rows():
    a = sure([0, 0, 0, 0, 0], [1, 0, 1, 1, 1], [0.6, 0.99, 0.9, 0.6, 0.8])
    assert mistakes(a).tolist() == [2, 4, 0, 3]
    assert mistakes(a, limit=2).tolist() == [2, 4]
    assert unsure(a, limit=3).tolist() == [0, 3, 4]


def test_the_largest_errors_of_a_regression_come_first():
    a = predictions.of_values(numpy.array([1.0, 2.0, 3.0]), numpy.array([1.5, 2.0, -3.0]))
    assert mistakes(a).tolist() == [2, 0]
    assert unsure(a).tolist() == []


def test_everything_can_be_written_as_json():
    a, r = two_classes(30), predictions.of_values(numpy.arange(5.0), numpy.arange(5.0) ** 2)
    parts = [curves.binary(a, "b"), calibration(a), curves.regression(r), mistakes(a).tolist()]
    assert json.loads(json.dumps(parts, allow_nan=False)) == parts


def test_a_label_may_be_wrong_if_both_models_predict_the_same_other_one():
    def said(*shares):
        return predictions.of_scores(numpy.array([0, 0, 0, 0, 1]), numpy.log(numpy.array(shares)))

    sure, unsure, right = [0.05, 0.9, 0.05], [0.4, 0.5, 0.1], [0.9, 0.05, 0.05]
    model = said(sure, sure, unsure, right, sure)
    simple = said(unsure, [0.1, 0.1, 0.8], sure, right, sure)
    assert wrong_labels(model, simple).tolist() == [True, False, False, False, False]
    assert not wrong_labels(model, None).any()
    numbers = predictions.of_values(numpy.zeros(2), numpy.ones(2))
    assert wrong_labels(numbers, numbers).tolist() == [False, False]
