"""How sure answers are where a row has several truths: labels, tagged words, counts of objects, areas in a picture."""

import csv
import io
import json
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import numpy
import pytest
from hypothesis import given, strategies as st

from trainer.core import registry
from trainer.core.example import Example
from trainer.kinds.label_sets.target import Labels
from trainer.kinds.objects import decoding, sure
from trainer.kinds.objects.target import Objects
from trainer.kinds.pixels import measures, results
from trainer.kinds.pixels.numbers import PixelNumbers
from trainer.kinds.pixels.scenes import units
from trainer.kinds.pixels.target import Counted, PixelClasses
from trainer.kinds.tokens.target import NO_WORD, Tags
from trainer.measure.intervals import of_share, wilson
from trainer.measure.label_sets import LabelSets
from trainer.measure.predictions import Predictions, softmax
from trainer.targets import promise
from trainer.targets.promise import Promise, Promising

FOUR = Labels(("a", "b", "c", "d"))


@given(sizes=st.lists(st.integers(0, 5), min_size=1, max_size=60), hundredths=st.integers(50, 99), seed=st.integers(0, 3))
def test_the_limit_leaves_out_the_allowed_share_of_all_errors(sizes, hundredths, seed):
    """By the definition: the mean loss of a row, with one more row that loses as much as a row can, is at most 0. The loss is the number of larger
    errors of a row less the allowed share of its errors."""
    rows = numpy.repeat(numpy.arange(len(sizes)), sizes)
    errors = numpy.random.default_rng(seed).permutation(len(rows)).astype(float)
    allowed, most = 1 - Fraction(hundredths, 100), promise.most_of_a_row(rows)
    kept = [e for e in errors if int((errors > e).sum()) - allowed * len(rows) + (1 - allowed) * most <= 0]
    assert (len(rows) >= promise.fewest(hundredths / 100, most)) is bool(kept)
    if kept:
        assert promise.limit(errors, hundredths / 100, most) == min(kept)


def label_sets(n: int, seed: int = 0, shares=(0.6, 0.4, 0.3, 0.2)) -> LabelSets:
    """Labels of rows that often come together, and probabilities that tell them roughly."""
    chance = numpy.random.default_rng(seed)
    odds = numpy.log(numpy.asarray(shares) / (1 - numpy.asarray(shares))) + chance.normal(0, 1.5, (n, 1)) + chance.normal(0, 1.5, (n, 4))
    probabilities = 1 / (1 + numpy.exp(-odds))
    return LabelSets(chance.random((n, 4)) < probabilities, probabilities > 0.7, probabilities)


@pytest.mark.parametrize(("held_out", "most"), [(40, 0.975), (100, 0.95), (400, 0.93)])
def test_the_promised_share_of_labels_is_possible_on_new_rows(held_out, most):
    found = [FOUR.promising(label_sets(held_out, seed), 0.9)[0] for seed in range(100)]
    kept = [target.kept(label_sets(500, 1000 + seed)).inside.mean() for seed, target in enumerate(found) if target.promise is not None]
    assert len(kept) > 80 and 0.89 <= numpy.mean(kept) <= most


def test_the_promise_of_a_rare_label_holds_for_it():
    found = []
    for seed in range(20):
        made, _ = FOUR.promising(label_sets(1200, seed, (0.8, 0.5, 0.1, 0.02)), 0.9)
        new = label_sets(4000, 100 + seed, (0.8, 0.5, 0.1, 0.02))
        possible = new.predicted | (new.probabilities >= numpy.asarray(made.promise.limits))
        found.append([possible[new.truth[:, label], label].mean() for label in range(4)])
    assert len(made.promise.limits) == 4
    assert numpy.mean(found, axis=0).min() >= 0.88


def test_possible_labels_are_the_predicted_ones_and_those_from_the_limit_on():
    made = Labels(("a", "b", "c"), promise=Promise(0.9, 20, (0.2,)))
    outputs = numpy.asarray([[0.9, 0.3, 0.1, 1, 0, 0], [0.05, 0.1, 0.15, 0, 0, 1], [0.0, 0.1, 0.1, 0, 0, 0]])
    assert made.columns(outputs) == {"possible": ["a; b", "c", ""]}
    assert made.tensors(outputs)[-1] == {
        "name": "possible", "datatype": "BOOL", "shape": [3, 3], "parameters": {"coverage": 0.9},
        "data": [True, True, False, False, False, True, False, False, False],
    }  # fmt: skip
    assert [form[0] for form in made.tensor_forms()] == ["label", "probability", "possible"]
    assert registry.restored(json.loads(json.dumps(made.described()))) == made
    kept = made.kept(LabelSets(numpy.asarray([[1, 1, 1], [0, 0, 1]]) > 0, outputs[:2, 3:] > 0, outputs[:2, :3]))
    assert (kept.inside.tolist(), kept.rows.tolist()) == ([True, True, False, True], [0, 0, 0, 1])
    assert kept.size == "1.50 of 3 labels; they hold all right ones for 50 % of rows"


def _alike(n: int, labels: list[int]) -> LabelSets:
    return LabelSets(numpy.tile(numpy.asarray(labels) > 0, (n, 1)), numpy.zeros((n, 4), bool), numpy.full((n, 4), 0.5))


@pytest.mark.parametrize(
    ("held_out", "said"),
    [
        (label_sets(0), "A promise of 90 % needs 9 held-out rows or more, and there are 0."),
        (_alike(50, [0, 0, 0, 0]), "A promise of 90 % needs 9 held-out rows or more, and there are 0."),
        (_alike(50, [1, 1, 0, 0]), "All held-out rows have the same labels, so nothing can be promised of the others."),
        (
            LabelSets(numpy.eye(12, 4, -8) + (numpy.arange(12) < 8)[:, None] * [0, 0, 0, 1] + numpy.eye(12, 1) * [1, 1, 0, 0] > 0,
                      numpy.zeros((12, 4), bool), numpy.full((12, 4), 0.5)),
            "A promise of 90 % needs 27 labels of held-out rows or more, where a row has up to 3, and there are 14.",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_promised_is_said(held_out, said):
    found, why = FOUR.promising(held_out, 0.9)
    assert (found, why) == (FOUR, said)
    assert isinstance(found, Promising) and found.columns(numpy.zeros((1, 8))) == {} and len(found.tensors(numpy.zeros((1, 8)))) == 2


def test_an_interval_of_a_share_counts_rows_and_not_what_they_hold():
    inside = numpy.asarray([True] * 90 + [False] * 10)
    assert of_share(inside) == wilson(0.9, 100)
    low, high = of_share(inside, numpy.arange(100) // 10)  # of ten rows one is wrong throughout
    assert low < wilson(0.9, 100)[0] - 0.1 and high > wilson(0.9, 100)[1]
    assert of_share(inside, numpy.arange(100)) == pytest.approx(wilson(0.9, 99), abs=1e-9)
    assert of_share(numpy.ones(40, bool), numpy.arange(40) // 4) == wilson(1.0, 10)


def counted(n: int, seed: int) -> tuple[numpy.ndarray, numpy.ndarray]:
    """True and predicted counts of two labels, some pictures with few objects and some with many."""
    chance = numpy.random.default_rng(seed)
    there = chance.poisson(chance.gamma(2, [[10, 2]], (n, 2)))
    return there, chance.binomial(there, 0.85) + chance.poisson(0.5, (n, 2))


def areas(n: int, seed: int) -> Counted:
    """The figures of pictures of 1,000 pixels and three classes, of which the second has some pixels taken for the others."""
    chance, found = numpy.random.default_rng(seed), []
    for _ in range(n):
        wrong, true = chance.beta(1, 6), chance.multinomial(1000, chance.dirichlet([4, 2, 1]))
        confusion = numpy.stack([chance.multinomial(true[c], (1 - wrong) * numpy.eye(3)[c] + wrong / 3) for c in range(3)])
        found.append(numpy.concatenate([confusion.ravel(), numpy.zeros(measures.FIGURES), confusion.sum(axis=0)]))
    return Counted(numpy.asarray(found, numpy.float64))


def heights(n: int, seed: int) -> Counted:
    """The figures of pictures of numbers, whose answers are off together."""
    chance, found = numpy.random.default_rng(seed), []
    for _ in range(n):
        truth = chance.normal(chance.normal(0, 3), 1, (4, 4)).astype(numpy.float32)
        found.append(measures.of_numbers(truth, (truth + chance.normal(0, 1) + chance.normal(0, 1, (4, 4))).astype(numpy.float32)))
    return Counted(numpy.asarray(found))


def _of_counts(held: int, seed: int) -> float:
    made, _ = sure.made(*counted(held, seed), 0.9)
    return sure.kept(made, *counted(300, 1000 + seed)).inside.mean()


def _of_pixels(target, draw):
    return lambda held, seed: target.promising(draw(held, seed), 0.9)[0].kept(draw(100, 1000 + seed)).inside.mean()


@pytest.mark.parametrize("share", [_of_counts, _of_pixels(PixelClasses(("a", "b", "c")), areas), _of_pixels(PixelNumbers(0, 1), heights)])
@pytest.mark.parametrize(("held_out", "most"), [(9, 0.96), (50, 0.93)])
def test_the_promise_holds_for_new_pictures(share, held_out, most):
    assert 0.88 <= numpy.mean([share(held_out, seed) for seed in range(30)]) <= most


def test_an_interval_of_a_count_grows_with_its_root_and_holds_whole_numbers():
    there, said = numpy.asarray([[3, 0]] * 8 + [[1, 0]]), numpy.asarray([[3, 0]] * 9)
    promise_of, text = sure.made(there, said, 0.9)  # the largest of nine errors: 2 by the root of 4
    assert (
        text
        == "The interval of an answer holds the true number of objects of a label, or of all objects, in 90 % of pictures like the held-out ones."
    )
    low, high = sure.bounds(promise_of, numpy.asarray([[3, 0], [15, 1], [0, 0]]))
    assert (low.tolist(), high.tolist()) == ([[1, 0, 1], [11, 1, 12], [0, 0, 0]], [[5, 0, 5], [19, 1, 20], [1, 0, 1]])
    kept = sure.kept(promise_of, numpy.asarray([[5, 0], [10, 1], [0, 0]]), numpy.asarray([[3, 0], [15, 1], [0, 0]]))
    assert kept.inside.tolist() == [True, True, True, False, True, False, True, True, True]
    assert kept.rows.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]


def test_objects_answer_with_counts_and_their_intervals():
    row = numpy.zeros((5, decoding.numbers(outlined=False)), numpy.float32)
    row[:3] = [[0, 0.9, 0, 0, 9, 9], [0, 0.8, 20, 0, 29, 9], [1, 0.2, 0, 20, 9, 29]]  # the third does not count
    found = Objects(("a", "b"), 5, promise=Promise(0.9, 20, (0.5, 0.4, 1.5)))
    tensors = {t["name"]: t for t in found.tensors(row.reshape(1, -1))}
    assert [form[0] for form in found.tensor_forms()] == list(tensors) == ["objects", "boxes", "count", "low", "high"]
    assert [tensors[name]["data"] for name in ("count", "low", "high")] == [[2], [0], [4]]
    assert tensors["high"]["parameters"] == {"coverage": 0.9, "of": "count"}
    assert found.columns(row.reshape(1, -1)) == {"low": ["0"], "high": ["4"]}
    assert list(replace(found, promise=None).tensors(row.reshape(1, -1))[-1]["data"]) == tensors["boxes"]["data"]


@pytest.mark.parametrize(
    "target",
    [
        Objects(("a", "b"), 5, promise=Promise(0.9, 20, (0.5, 0.4, 1.5))),
        Objects(("a",), 5, promise=Promise(0.9, 20, (0.5,))),
        PixelClasses(("a", "b"), Promise(0.95, 20, (0.1, 1.0))),
        PixelNumbers(1.0, 2.0, Promise(0.9, 20, (30.0,))),
    ],
)
def test_a_promise_of_pictures_survives_and_one_of_another_form_is_refused(target):
    described = json.loads(json.dumps(target.described()))
    assert registry.restored(described) == target and isinstance(target, Promising)
    described["promise"]["limits"].append(0.5)
    with pytest.raises(ValueError, match="do not fit"):
        registry.restored(described)
    del described["promise"]
    assert registry.restored(described).promise is None, "as a model of an earlier version"


def test_few_pictures_promise_nothing():
    said = "A promise of 90 % needs 9 held-out pictures or more, and there are 8."
    for target, draw in ((PixelClasses(("a", "b", "c")), areas), (PixelNumbers(0.0, 1.0), heights)):
        assert target.promising(draw(8, 0), 0.9) == (target, said)
        assert target.promising(Counted(numpy.zeros((20, draw(1, 0).figures.shape[1]))), 0.9)[1].endswith("there are 0."), "without known pixels"
    assert sure.made(*counted(8, 0), 0.9) == (None, said)
    assert (
        PixelNumbers(0.0, 1.0).promising(Counted(numpy.tile([1, 0, 0, 1e200, 0, 0, 1], (20, 1))), 0.9)[1].startswith("The held-out numbers are too")
    )


@pytest.mark.parametrize(
    ("target", "figures", "lines"),
    [
        (PixelClasses(("a", "b"), Promise(0.9, 20, (0.125, 0.25))), [6, 2, 0, 0, 0, 0, 0, 0, 0, 6, 2], [
            {"class": "a", "predicted pixels": "6", "predicted share": "0.7500", "low": "0.6250", "high": "0.8750", "pixels": "8", "iou": "0.7500"},
            {"class": "b", "predicted pixels": "2", "predicted share": "0.2500", "low": "0.0000", "high": "0.5000", "pixels": "0", "iou": "0.0000"},
        ]),
        (PixelNumbers(0.0, 1.0, Promise(0.9, 20, (0.5,))), [4, 4, 4, 8, 20, 12, 4], [
            {"pixels": "4", "mean predicted": "3", "low": "2.5", "high": "3.5", "mean": "2", "rmse": "1"},
        ]),
    ],
)  # fmt: skip
def test_the_table_of_pictures_has_the_intervals_and_that_of_scenes_has_none(target, figures, lines):
    scene = units.Asked("scene.tif", SimpleNamespace(transform=(1, 0, 0, 0, 1, 0), crs=""), None, "")
    examples = [Example("a.png", 1, None, ""), Example("scene.tif", 1, scene, "")]
    said = csv.DictReader(io.StringIO(results.table(examples, target, numpy.asarray([figures] * 2, numpy.float64), numpy.ones(2, bool))))
    rows = list(said)
    assert rows == [*({"file": "a.png", **line} for line in lines), *({"file": "scene.tif", **line, "low": "", "high": ""} for line in lines)]
    without = results.table(examples, replace(target, promise=None), numpy.asarray([figures] * 2, numpy.float64), numpy.zeros(2, bool))
    assert "low" not in without.splitlines()[0]


TAGS = Tags(("O", "B-PER", "B-LOC", "I-PER"))


def tagged(texts: int, seed: int, sure: float = 2.0) -> Predictions:
    """Words of texts, most of them outside of entities. A text that is hard is hard throughout."""
    chance = numpy.random.default_rng(seed)
    truth = numpy.full((texts, 30), NO_WORD)
    for row in truth:
        words = int(chance.integers(5, 30))
        row[:words] = chance.choice(4, words, p=[0.8, 0.08, 0.06, 0.06])
    flat, hard = truth[truth != NO_WORD], numpy.repeat(chance.gamma(4, 0.25, texts), (truth != NO_WORD).sum(axis=1))
    logits = chance.normal(0, 1, (len(flat), 4)) + (sure / hard)[:, None] * numpy.eye(4)[flat] + [1.0, 0, 0, 0]
    return TAGS.answers(softmax(logits), truth)


@pytest.mark.parametrize(("texts", "most"), [(60, 0.97), (400, 0.93)])
def test_the_promise_holds_for_words_of_entities(texts, most):
    found = [TAGS.promising(tagged(texts, seed), 0.9)[0] for seed in range(30)]
    kept = [made.kept(tagged(200, 1000 + seed)) for seed, made in enumerate(found)]
    assert 0.885 <= numpy.mean([k.inside.mean() for k in kept]) <= most
    assert len(kept[0].inside) == len(kept[0].rows) < len(tagged(200, 1000)) / 2, "words outside of entities do not count"
    assert all(0 < limit < 1 for limit in found[0].promise.limits) and "tags for a word of an entity; " in kept[0].size


def test_tags_that_cannot_be_promised_are_said():
    few = tagged(8, 0)
    assert TAGS.promising(few, 0.9) == (TAGS, "A promise of 90 % needs 9 held-out texts with entities or more, and there are 8.")
    many = replace(few, text=numpy.arange(len(few)) // 12)
    assert TAGS.promising(many, 0.9)[1].startswith("A promise of 90 % needs ")
    one = TAGS.answers(numpy.full((40, 4), 0.25), numpy.tile([1, 0], (20, 1)))
    assert TAGS.promising(one, 0.9)[1] == "All words of held-out entities have the same tag, so nothing can be promised of the others."
    assert TAGS.promising(TAGS.answers(numpy.full((40, 4), 0.25), numpy.tile([1, 2], 20)), 0.9) == (TAGS, ""), "without texts"


def test_possible_tags_stand_beside_each_word_and_survive():
    made = replace(TAGS, promise=Promise(0.9, 20, (0.5, 0.2, 0.3, 0.1)))
    assert made.columns(numpy.asarray([[0.6, 0.25, 0.1, 0.05], [0.4, 0.1, 0.35, 0.15]])) == {"possible": ["O; B-PER", "O; B-LOC; I-PER"]}
    assert registry.restored(json.loads(json.dumps(made.described()))) == made
