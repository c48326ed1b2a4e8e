"""Classes that are never the most likely one are answered where that finds them, and left alone where it would be guessing."""

import numpy
import pytest

from trainer.measure import rare_classes
from trainer.targets.classes import Classes


def rows(seed: int, signal: float, classes: int = 2, count: int = 1000) -> tuple[numpy.ndarray, numpy.ndarray]:
    """Calibrated probabilities of rare classes beside one that is frequent, and the truth. ``signal`` is how much they say."""
    generator = numpy.random.default_rng(seed)
    scores = numpy.zeros((count, classes))
    scores[:, 1:] = signal * generator.normal(size=(count, classes - 1)) - 3 - signal**2 / 3
    likely = numpy.exp(scores)
    likely /= likely.sum(axis=1, keepdims=True)
    return likely, (likely.cumsum(axis=1) > generator.random((count, 1))).argmax(axis=1)


def f1(predicted: numpy.ndarray, truth: numpy.ndarray) -> float:
    each = [2 * ((predicted == k) & (truth == k)).sum() / ((predicted == k).sum() + (truth == k).sum()) for k in numpy.unique(truth)]
    return float(numpy.mean(each))


@pytest.mark.parametrize("classes", [2, 3])
def test_rare_classes_are_found_on_new_rows(classes):
    gains = []
    for seed in range(10):
        likely, truth = rows(seed, 1.2, classes, 2000)
        held, new = slice(0, 1000), slice(1000, None)
        chosen = rare_classes.choose(likely[held], truth[held])
        assert chosen is not None
        assert chosen.now > chosen.before
        gains.append(f1((likely[new] * chosen.factors).argmax(axis=1), truth[new]) - f1(likely[new].argmax(axis=1), truth[new]))
    assert min(gains) > 0
    assert numpy.mean(gains) > 0.05


@pytest.mark.parametrize("seed", range(10))
def test_what_says_nothing_is_not_answered(seed):
    likely, truth = rows(seed, 0.01)
    assert rare_classes.choose(likely, truth) is None


def test_few_rows_and_one_class_choose_nothing():
    likely, truth = rows(0, 2, count=40)
    assert rare_classes.choose(likely, truth) is None
    assert rare_classes.choose(likely, numpy.ones(40, int)) is None


def test_a_class_that_is_found_keeps_the_usual_rule():
    likely, truth = rows(0, 4)
    assert rare_classes.choose(likely, truth) is None


def test_the_rule_is_saved_and_answers_by_it():
    target = Classes(("no", "yes"), (1.0, 4.0))
    assert Classes.restored(target.described()) == target
    outputs = numpy.array([[0.75, 0.25], [0.85, 0.15]])
    assert target.predicted(outputs).tolist() == [1, 0]
    assert target.confidence(outputs).tolist() == [0.25, 0.85]
    assert target.tensors(outputs)[0]["data"] == ["yes", "no"]


@pytest.mark.parametrize("factors", [[1.0], [1.0, 0.0], [1.0, -2.0], [1.0, float("inf")], [1.0, float("nan")], ["a", "b"]])
def test_a_forged_rule_is_refused(factors):
    with pytest.raises(ValueError, match=r"factors|could not convert"):
        Classes.restored({"labels": ["no", "yes"], "factors": factors})


def test_accuracy_keeps_the_usual_rule():
    likely, truth = rows(0, 1.2)
    target = Classes(("no", "yes"))
    answers = {"validation": target.answers(likely, truth), "test": target.answers(likely, truth)}
    found, _, why = target.finding_rare(answers, "accuracy")
    assert found == target
    assert why == ""
    found, by_it, why = target.finding_rare(answers, "f1_macro")
    assert "yes is answered from a probability of 0." in why
    assert numpy.array_equal(by_it["test"].predicted, found.predicted(likely.astype(numpy.float32)))
