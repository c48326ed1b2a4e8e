"""Targets: from the labels of a dataset to what a model answers, and back from its description."""

import json

import numpy
import pytest
from scipy import special

from trainer.core import registry
from trainer.core.example import Dataset, Example
from trainer.errors import UserError
from trainer.kinds.graph.target import Links
from trainer.kinds.label_sets.target import Labels
from trainer.kinds.language.target import Tokens
from trainer.kinds.tokens.target import NO_WORD, Tags
from trainer.measure.predictions import MAX_CLASSES, softmax
from trainer.targets import target
from trainer.targets.classes import Classes
from trainer.targets.number import Number


def learnt(task: str, labels: tuple[str, ...], train: list[str]) -> target.Target:
    kind = registry.of_task(task)
    splits = {"train": [Example("a.csv", 0, "", t) for t in train], "validation": [], "test": []}
    separator = ";" if task == "multi-label-classification" else ""
    return kind.target(Dataset(task, kind, splits, [], (), "label", labels, separator=separator))


@pytest.mark.parametrize(
    ("task", "labels", "train", "found"),
    [
        ("text-classification", ("a", "b"), [], Classes(("a", "b"))),
        ("token-classification", ("O", "B"), [], Tags(("O", "B"))),
        ("multi-label-classification", ("a", "b"), [], Labels(("a", "b"))),
        ("text-generation", (), [], Tokens()),
        ("link-prediction", (), [], Links()),
        ("text-regression", (), ["1", "3"], Number(2.0, 1.0)),
        ("tabular-regression", (), ["5", "5"], Number(5.0, 1.0)),
        ("tabular-regression", (), ["5"], Number(5.0, 1.0)),
    ],
)
def test_the_target_of_a_task_survives_its_description(task, labels, train, found):
    assert learnt(task, labels, train) == found
    again = registry.restored(json.loads(json.dumps(found.described())))
    assert again == found and type(again) is type(found)


@pytest.mark.parametrize(
    ("aim", "targets", "encoded"),
    [
        (Classes(("a", "b")), ["b", "a", "z", ""], [1, 0, -1, -1]),
        (Classes(()), ["a"], [-1]),
        (Classes(("a",)), [], []),
        (Tags(("O", "B")), ["O B", "B", "O x"], [0, 1, 1, 0, -1]),
        (Labels(("a", "b")), ["a;b", "b", "", " ", "z", "b;z"], [[1, 1], [0, 1], [-1, -1], [-1, -1], [0, 0], [0, 1]]),
        (Labels(("a", "b"), "|"), ["a|b", "a;b"], [[1, 1], [0, 0]]),
        (Tokens(), ["x", "y"], [[0, 0], [0, 0]]),
        (Links(), ["x"], [0]),
    ],
)
def test_targets_are_encoded(aim, targets, encoded):
    assert aim.encode(targets).tolist() == encoded


@pytest.mark.parametrize(("text", "number"), [("1.5", 1.5), (" 2 ", 2.0), ("-1e3", -1000.0), ("", None), ("x", None), ("nan", None), ("inf", None)])
def test_a_number_is_finite_or_none(text, number):
    assert target.number(text) == number
    encoded = Number(0.0, 1.0).encode([text])[0]
    assert encoded == number or (number is None and numpy.isnan(encoded))


def test_the_answers_of_classes_have_the_probabilities_of_the_said_and_the_true_class():
    outputs = numpy.asarray([[0.1, 0.7, 0.2], [0.5, 0.3, 0.2], [0.4, 0.4, 0.2]])
    found = Classes(("a", "b", "c")).answers(outputs, numpy.asarray([2, 0, 1]))
    assert found.predicted.tolist() == [1, 0, 0]
    assert found.confidence.tolist() == [0.7, 0.5, 0.4]
    assert found.likelihood.tolist() == [0.2, 0.5, 0.4]
    assert found.probabilities is outputs


@pytest.mark.parametrize(("classes", "kept"), [(MAX_CLASSES, True), (MAX_CLASSES + 1, False)])
def test_the_probabilities_of_very_many_classes_are_not_kept(classes, kept):
    aim = Classes(tuple(map(str, range(classes))))
    assert (aim.answers(numpy.full((1, classes), 1 / classes), numpy.zeros(1, int)).probabilities is not None) is kept


def test_answers_for_words_leave_out_places_without_a_word():
    outputs = numpy.asarray([[0.9, 0.1], [0.2, 0.8]])
    rows = numpy.asarray([[0, NO_WORD], [NO_WORD, 1]])
    aim = Tags(("O", "B"))
    assert aim.answers(outputs, rows).truth.tolist() == aim.answers(outputs, numpy.asarray([0, 1])).truth.tolist() == [0, 1]


def test_answers_of_several_labels_are_probabilities_and_decisions():
    outputs = numpy.asarray([[0.9, 0.4, 1.0, 0.0], [0.2, 0.6, 0.0, 0.5]])
    found = Labels(("a", "b")).answers(outputs, numpy.asarray([[1, 0], [-1, 1]]))
    assert found.predicted.tolist() == [[True, False], [False, False]]
    assert found.truth.tolist() == [[True, False], [False, True]]
    assert (Labels(("a", "b")).text([1, 1]), Labels(("a", "b")).text([0, 0])) == ("a; b", "(none)")


def test_answers_for_edges_say_how_many_candidates_there_were():
    found = Links().answers(numpy.asarray([[2.0, 1.0, 3.0, 7.0, 100.0]]), None)
    assert (found.positive.tolist(), found.negative.tolist(), found.ranks.tolist(), found.sources.tolist()) == ([2.0], [1.0], [3.0], [7])
    assert found.candidates == 100
    assert Links().answers(numpy.zeros((0, 5)), None).candidates == 0


def test_numbers_that_diverged_are_refused_with_a_remedy():
    with pytest.raises(UserError) as refused:
        Number(0.0, 1.0).answers(numpy.asarray([numpy.nan]), numpy.asarray([1.0]))
    assert str(refused.value) == (
        "The predictions of the model are not numbers. Its training diverged. Set a smaller learning_rate, or mixed_precision to fp32."
    )


@pytest.mark.parametrize("scale", [1.0, 1e-3, 800.0, 1e9])
def test_probabilities_agree_with_scipy(scale):
    logits = numpy.random.default_rng(1).normal(size=(20, 5)) * scale
    assert softmax(logits) == pytest.approx(special.softmax(logits, axis=1), abs=1e-12)


@pytest.mark.parametrize(("value", "text"), [(1234567.0, "1.23457e+06"), (0.1, "0.1"), (3.0, "3"), (-0.0, "-0")])
def test_a_number_as_a_text(value, text):
    assert Number(0.0, 1.0).text(value) == text
    assert Links().text(value) == text
