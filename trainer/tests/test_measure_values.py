"""The published values against the formulas of the bootstrap, which a worker uses at each evaluation, and against known values."""

import subprocess
import sys

import numpy
import pytest
from conftest import ROOT
from hypothesis import given, settings, strategies as st

from trainer.measure import metrics, predictions, rank_statistics, values
from trainer.measure.predictions import Predictions

CLASSES = st.integers(0, 3)
NUMBERS = st.floats(-1e6, 1e6).map(lambda x: round(x, 3))


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(CLASSES, CLASSES), min_size=1, max_size=40))
def test_the_published_values_of_classes_are_those_of_the_bootstrap(rows):
    truth, predicted = numpy.array(rows).T
    p = Predictions(truth, predicted)
    assert metrics.summary(p, 4) == pytest.approx(values.classification(p), abs=1e-9)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=40))
def test_the_published_values_of_numbers_are_those_of_the_bootstrap(rows):
    truth, predicted = numpy.array(rows).T
    p = predictions.of_values(truth, predicted)
    assert metrics.summary(p, 0, scale=2.0) == pytest.approx(values.regression(p, 2.0), rel=1e-6, abs=1e-6)


def test_known_values_of_a_small_table():
    got = values.classification(Predictions(numpy.array([0, 0, 0, 1, 1, 2]), numpy.array([0, 0, 1, 1, 2, 2])))
    f1 = [2 * 2 / (3 + 2), 2 * 1 / (2 + 2), 2 * 1 / (1 + 2)]
    assert got["accuracy"] == pytest.approx(4 / 6)
    assert got["f1_macro"] == pytest.approx(sum(f1) / 3)
    assert got["f1_weighted"] == pytest.approx((3 * f1[0] + 2 * f1[1] + f1[2]) / 6)
    assert got["mcc"] == pytest.approx((4 * 6 - 12) / ((36 - 14) * (36 - 12)) ** 0.5)


@pytest.mark.parametrize(
    ("scores", "area"),
    [([0.1, 0.2, 0.8, 0.9], 1.0), ([0.9, 0.8, 0.2, 0.1], 0.0), ([0.5] * 4, 0.5), ([0.1, 0.6, 0.6, 0.9], 0.875)],
)
def test_the_area_is_the_share_of_pairs_in_the_right_order(scores, area):
    truth, chances = numpy.array([0, 0, 1, 1]), numpy.array(scores)
    both = numpy.stack([1 - chances, chances], axis=1)
    assert rank_statistics.roc_auc(truth, both)[0] == pytest.approx(area)
    assert values.classification(Predictions(truth, truth, probabilities=both))["roc_auc"] == pytest.approx(area)


def test_the_error_of_the_area_is_delongs():
    """The placements are 1 and 1/2 in both classes around an area of 3/4: each of the four rows moves the area by 1/4 times 4/2."""
    truth, chances = numpy.array([0, 0, 1, 1]), numpy.array([0.1, 0.5, 0.4, 0.9])
    _, error = rank_statistics.roc_auc(truth, numpy.stack([1 - chances, chances], axis=1))
    assert error == pytest.approx((4 * 0.5**2 / 4 / 3) ** 0.5)


def test_ten_thousand_classes_need_no_table():
    truth = numpy.arange(10_000)
    got = metrics.report(Predictions(truth, truth[::-1].copy()), 10_000, seed=1)
    assert got["accuracy"]["value"] == 0.0
    assert "mcc" not in values.classification(Predictions(truth, truth))
    assert got["mcc"]["value"] == pytest.approx(-1 / 9999, abs=1e-6)


def test_the_start_of_the_driver_and_of_a_worker_does_not_import_scikit_learn():
    modules = "run training.baseline training.prepare export.training_results train.loop launch.work"
    code = f"import sys, {', '.join(f'trainer.{m}' for m in modules.split())}\n"
    code += "print([m for m in ('sklearn', 'scipy.stats', 'scipy.sparse') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
