"""Several labels for each row: from which probability on each is predicted, and the linear model that every other one is compared with."""

import numpy
import pytest

from trainer.measure import label_sets_linear, label_thresholds, linear


def test_a_common_label_has_a_threshold_of_its_own_and_a_rare_one_that_of_all():
    probabilities, truth = numpy.zeros((40, 2)), numpy.zeros((40, 2), bool)
    truth[:12, 0], probabilities[:12, 0], probabilities[12:, 0] = True, 0.8, 0.4
    truth[:2, 1], probabilities[:2, 1] = True, 0.3
    own, shared = label_thresholds.best(probabilities, truth)
    assert 0.4 < own < 0.8
    together = label_thresholds.best(probabilities[:, [1, 1]], truth[:, [1, 1]])
    assert together[0] == together[1] <= 0.3, "two rare labels share one"
    assert shared != pytest.approx(together[0]), "the common label decides with the rare one"


def test_the_middle_of_a_plateau_is_taken():
    scores = numpy.zeros((1, len(label_thresholds._TRIED)))
    scores[0, 10:15] = 1.0
    assert label_thresholds._middle(scores) == pytest.approx([label_thresholds._TRIED[12]])


def _rows(count: int) -> tuple[numpy.ndarray, numpy.ndarray]:
    """Features, and labels that the first two features tell; nothing tells the third label, which every tenth row has."""
    chance = numpy.random.default_rng(7)
    features = chance.normal(size=(count, 4)).astype(numpy.float32)
    truth = numpy.stack([features[:, 0] > 0, features[:, 1] > 0.5, numpy.arange(count) % 10 == 0], axis=1)
    return features, truth.astype(numpy.int64)


def _splits(**counts: int) -> tuple[dict, dict]:
    found = {name: _rows(count) for name, count in counts.items()}
    return {name: features for name, (features, _) in found.items()}, {name: truth for name, (_, truth) in found.items()}


@pytest.mark.parametrize("validation", [60, 0])
def test_a_linear_model_tells_each_label(validation):
    features, truth = _splits(train=200, validation=validation, test=80)
    found = label_sets_linear.answers(features, truth, 1)
    assert found is not None
    right = (found.predicted == found.truth).mean(axis=0)
    assert (found.probabilities.shape, right[0] > 0.9, right[1] > 0.9) == ((80, 3), True, True)


def test_a_label_of_all_rows_or_of_none_has_its_share():
    features, truth = _splits(train=50, validation=20, test=10)
    for encoded in truth.values():
        encoded[:, 0], encoded[:, 2] = 1, 0
    found = label_sets_linear.answers(features, truth, 1)
    assert found is not None
    assert (found.probabilities[:, 0].min() > 0.9, found.probabilities[:, 2].max() < 0.1) == (True, True)


def test_a_linear_model_that_would_be_too_large_is_left_out(monkeypatch):
    monkeypatch.setattr(linear, "MAX_WEIGHTS", 11)
    assert label_sets_linear.answers(*_splits(train=20, validation=5, test=5), 1) is None
