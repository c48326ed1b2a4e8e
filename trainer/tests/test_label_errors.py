"""Labels that are probably wrong: which rows are doubted, by whose answers, and what is said where nothing can be found out."""

import csv
import io
import random
from types import SimpleNamespace

import numpy
import pytest
from result_checks import blocks_of, check_success, codes
from small_datasets import flowers, table, yields

from trainer.core import registry
from trainer.core.example import Dataset, Example
from trainer.estimators.folds import OutOfFold
from trainer.export import doubted
from trainer.export.doubted import Looked
from trainer.measure.predictions import Predictions
from trainer.run import run
from trainer.targets.classes import Classes
from trainer.targets.number import Number
from trainer.training import unseen

AB = Classes(("a", "b"))


def answers(truth, second, target=AB) -> Predictions:
    """Answers of two classes, by the probability of the second one."""
    second = numpy.asarray(second, numpy.float64)
    return target.answers(numpy.stack([1 - second, second], axis=1), numpy.asarray(truth))


def overlapping(n: int, seed: int = 0) -> Predictions:
    """Clean labels of two classes that overlap, and probabilities that are right."""
    chance = numpy.random.default_rng(seed)
    second = 1 / (1 + numpy.exp(-2 * chance.normal(size=n)))
    return answers((chance.random(n) < second).astype(numpy.int64), second)


def test_a_label_is_doubted_where_another_class_is_as_likely_as_for_rows_that_have_it():
    truth = [0] * 15 + [1] * 15
    second = [0.05] * 13 + [0.97, 0.6] + [0.95] * 15  # of the rows labelled a, one looks like b, and one could be either
    doubts = AB.doubts(answers(truth, second))
    (doubt,) = doubts.found
    assert (doubt.row, doubt.likely, doubts.warning) == (13, "b", "")
    assert (doubt.probability, doubt.of_label) == (pytest.approx(0.97), pytest.approx(0.03))
    said = "A model that had not seen this row gives 97 % to b and 3 % to the label; rows labelled b get 95 % for it on average."
    assert doubt.reason == said


@pytest.mark.parametrize("seed", range(5))
def test_classes_that_overlap_are_no_evidence_of_wrong_labels(seed):
    doubts = AB.doubts(overlapping(2000, seed))
    assert len(doubts.found) <= 0.05 * 2000 and doubts.warning == ""


def test_answers_by_chance_say_nothing_about_labels():
    chance = numpy.random.default_rng(0)
    assert not AB.doubts(answers(chance.integers(0, 2, 500), chance.choice([0.02, 0.98], 500))).found


@pytest.mark.parametrize("probabilities", [True, False])
def test_planted_labels_come_first_and_are_evident(probabilities):
    chance = numpy.random.default_rng(1)
    right = chance.integers(0, 3, 600)
    odds = numpy.full((600, 3), 0.02)
    odds[numpy.arange(600), right] = 0.96
    wrong = chance.permutation(600)[:30]
    given = right.copy()
    given[wrong] = (given[wrong] + 1) % 3
    target = Classes(("a", "b", "c"))
    found = target.answers(odds, given)
    if not probabilities:  # as of more than 50 classes
        found = Predictions(found.truth, found.predicted, found.confidence, found.likelihood)
    doubts = target.doubts(found)
    assert {d.row for d in doubts.found} == set(wrong.tolist())
    assert doubts.warning.format(rows="30 rows").startswith("The labels of 30 rows are probably wrong")


@pytest.mark.parametrize(
    ("target", "found", "why"),
    [
        pytest.param(AB, answers([0, 1] * 5, [0.1, 0.9] * 5), "from 20 rows on that the model had not seen, and there are 10.", id="ten rows"),
        pytest.param(AB, answers([-1] * 90 + [0, 1] * 5, [0.1] * 100), "and there are 10.", id="labels that nobody knows"),
        pytest.param(AB, answers([0] * 30, [0.9] * 30), "have the same label", id="one class"),
        pytest.param(Number(0, 1), Predictions(numpy.arange(9.0), numpy.zeros(9)), "and there are 9.", id="nine numbers"),
        pytest.param(Number(0, 1), Predictions(numpy.full(30, 7.0), numpy.arange(30.0)), "have the same number", id="one number"),
    ],
)
def test_where_nothing_can_be_found_out_a_sentence_says_so(target, found, why):
    doubts = target.doubts(found)
    assert why in doubts.why and not doubts.found
    listed = doubted.training([Looked([], found, "x")], SimpleNamespace(splits={}), target, events=None)
    assert (listed.table, listed.about) == ("", {}) and why in listed.sections[0].blocks[0].text[0]


def test_numbers_far_outside_of_the_usual_are_unusual():
    truth = numpy.random.default_rng(0).normal(size=200)
    said = truth + numpy.linspace(-1, 1, 200)
    truth[[3, 7]] += [9, -4]
    doubts = Number(0.0, 1.0).doubts(Predictions(truth, said))
    assert [d.row for d in doubts.found] == [3, 7] and doubts.warning == ""
    assert "for nine rows in ten it is at most 0.9" in doubts.found[0].reason
    assert not Number(0.0, 1.0).doubts(Predictions(said, said)).found, "a model without errors has no usual one"


def test_targets_without_doubts_and_runs_without_rows_say_nothing():
    assert doubted.training([Looked([], overlapping(30), "x")], None, object(), None) == doubted.Listed([])
    assert doubted.training([], None, AB, None) == doubted.Listed([])


def dataset(counts: dict[str, int]) -> Dataset:
    splits = {n: [Example("rows.csv", i, (str(i),), "ab"[i % 2]) for i in range(rows)] for n, rows in counts.items()}
    return Dataset("tabular-classification", registry.of("table"), splits, [], ("x",), "y", ("a", "b"), {"x": "number"})


def candidate(name: str, data: Dataset, folded: bool) -> SimpleNamespace:
    """A model that is right, with or without answers of folds."""
    right = {n: numpy.asarray([[0.9, 0.1] if e.target == "a" else [0.1, 0.9] for e in es]) for n, es in data.splits.items()}
    said = {n: AB.answers(right[n], AB.encode([e.target for e in es])) for n, es in data.splits.items()}
    examples = data.splits["train"] + data.splits["validation"]
    out = OutOfFold(examples, numpy.concatenate([right["train"], right["validation"]])) if folded else None
    fitted = SimpleNamespace(out_of_fold=out) if folded else None
    return SimpleNamespace(name=name, fitted=fitted, target=None, outcome=SimpleNamespace(answers=said))


class Plain:
    """A kind whose linear model is right, or guesses."""

    answers_places = False

    def __init__(self, right: bool):
        self.right = right

    def linear_features(self, encoder, data, rows, max_width):
        features = {n: numpy.asarray([[len(e.target) + ord(e.target) * self.right] for e in es], numpy.float32) for n, es in data.splits.items()}
        return SimpleNamespace(features=features)


@pytest.mark.parametrize(
    ("delivered", "other", "right", "looked"),
    [
        pytest.param(True, False, True, {"the delivered model, fitted without these rows": 60}, id="folds of the delivered model"),
        pytest.param(False, True, True, {"the delivered model": 20, "the model other, fitted without these rows": 40}, id="folds of another"),
        pytest.param(
            False, False, True,
            {"the delivered model": 20, "a linear model, fitted without these rows, since the delivered one has seen them": 40},
            id="folds of a linear model",
        ),
        pytest.param(False, False, False, {"the delivered model": 20}, id="a linear model that is worse"),
    ],
)  # fmt: skip
def test_rows_are_answered_by_models_that_had_not_seen_them(delivered, other, right, looked):
    data = dataset({"train": 40, "validation": 10, "test": 10})
    best = candidate("best", data, delivered)
    plan = SimpleNamespace(target=AB, settings=SimpleNamespace(seed=1), splits={}, kind=Plain(right))
    prepared = SimpleNamespace(plan=plan, encoder=None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(unseen, "replace", lambda plan, target: plan)  # it is no real plan
        found = unseen.rows(best, [best, candidate("other", data, other)], prepared, data)
    assert {each.by: len(each.answers) for each in found} == looked
    rows = [list(each.rows(range(len(each.answers))).values()) for each in found]
    every = [id(e) for of in rows for e, _ in of]
    assert len(set(every)) == len(every)
    names = {"train": "training", "validation": "validation", "test": "test"}
    assert all(any(e is other for other in data.splits[n]) for of in rows for e, split in of for n in names if names[n] == split)
    for each, of in zip(found, rows, strict=True):
        assert each.answers.truth.tolist() == AB.encode([e.target for e, _ in of]).tolist()


def planted(text: str, share: float, seed: int = 1) -> tuple[str, set[int]]:
    """The table ``text`` with wrong labels in its last column, and the rows that have one, as a person counts them."""
    head, *rows = csv.reader(io.StringIO(text))
    chance, labels = random.Random(seed), sorted({row[-1] for row in rows})
    wrong = chance.sample(range(len(rows)), int(share * len(rows)))
    for i in wrong:
        rows[i][-1] = chance.choice([label for label in labels if label != rows[i][-1]])
    return table(head, rows), {i + 2 for i in wrong}


def test_a_training_lists_the_rows_with_planted_labels(make_run, schemas):
    text, wrong = planted(flowers(300), 0.05)
    spec = make_run({"flowers.csv": text}, label_column="species")
    assert run(str(spec), "ray") == 0
    result = check_success(spec.parent, schemas)
    with open(spec.parent / "out" / doubted.FILE, newline="") as f:
        listed = list(csv.DictReader(f))
    assert list(listed[0]) == ["file", "row", "content", "label", "fits better", "probability", "probability of label", "split", "reason"]
    first = {int(line["row"]) for line in listed[:10]}
    assert len(first & wrong) >= 8 and {line["split"] for line in listed} <= {"training", "validation", "test"}
    (file,) = (a for a in result["artifacts"] if a["path"] == f"out/{doubted.FILE}")
    assert file["title"] == "Labels to check"
    facts, shown, _ = blocks_of(result, "Labels that may be wrong")
    assert len(shown["rows"]) == len(listed) and "training rows" in facts["facts"][0]["value"]


@pytest.mark.parametrize(("name", "text"), [("flowers", flowers()), ("fields", yields())])
def test_clean_data_gives_no_warning(name, text, make_run, schemas):
    spec = make_run({f"{name}.csv": text})
    assert run(str(spec), "ray") == 0
    result = check_success(spec.parent, schemas)
    assert "label_errors" not in codes(result)
    title = "Unusual numbers" if name == "fields" else "Labels that may be wrong"
    assert blocks_of(result, title)[0]["facts"][1]["value"] in ("none", "1", "2")
