"""The scores of entities beside a plain count, their intervals, the words of a text, and the model that remembers tags."""

import collections
import random

import numpy
import pytest

from trainer.core.example import Example
from trainer.kinds.tokens import entities, memorised, words
from trainer.measure import precision_recall
from trainer.measure.predictions import MAX_CLASSES


@pytest.mark.parametrize(
    ("tags", "found"),
    [
        pytest.param("", [], id="no word"),
        pytest.param("B-X", [(0, 1, "X")], id="one word"),
        pytest.param("O B-X", [(1, 2, "X")], id="at the end"),
        pytest.param("I-X O I-X", [(0, 1, "X"), (2, 3, "X")], id="a word outside parts two entities"),
        pytest.param("B-X I-X L-X I-X", [(0, 3, "X"), (3, 4, "X")], id="BILOU ends an entity"),
        pytest.param("U-X U-X", [(0, 1, "X"), (1, 2, "X")], id="BILOU units"),
        pytest.param("B-X-Y I-X-Y", [(0, 2, "X-Y")], id="a type with a dash"),
        pytest.param("PER B-PER", [(0, 1, "PER"), (1, 2, "PER")], id="a bare type is inside"),
        pytest.param("B-é I-é", [(0, 2, "é")], id="unicode"),
    ],
)
def test_the_entities_of_a_sentence(tags, found):
    assert entities.spans(tags.split()) == found


def test_the_types_of_tags_are_named_once_in_order():
    assert entities.types(["O", "I-PER", "B-PER", "B-LOC", "MISC", "B-a-b"]) == ["LOC", "MISC", "PER", "a-b"]
    assert entities.types(["O"]) == []


def drawn_tags(chance: random.Random, sentences: int) -> list[list[str]]:
    return [[chance.choice(["O", "O", "B-A", "I-A", "B-B", "S-C"]) for _ in range(chance.randint(0, 9))] for _ in range(sentences)]


@pytest.mark.parametrize("seed", range(6))
def test_the_report_is_a_plain_count(seed):
    chance = random.Random(seed)
    truth = drawn_tags(chance, 12)
    said = [[t if chance.random() < 0.6 else chance.choice(["O", "B-A", "B-B"]) for t in tags] for tags in truth]
    found = entities.report(truth, said, seed)
    each = {"true": collections.Counter(), "predicted": collections.Counter(), "right": collections.Counter()}
    confused: collections.Counter = collections.Counter()
    for t, p in zip(truth, said):
        a, b = entities.spans(t), entities.spans(p)
        each["true"].update(s[2] for s in a)
        each["predicted"].update(s[2] for s in b)
        each["right"].update(s[2] for s in a if s in b)
        confused.update((s[2], next((o[2] for o in b if o[:2] == s[:2]), "")) for s in a)
        confused.update(("", s[2]) for s in b if s[:2] not in [o[:2] for o in a])
    for name, counts in each.items():
        assert {t["type"]: t[name] for t in found["types"]} == {kind: counts[kind] for kind in each["true"] | each["predicted"]}
        assert found["overall"][name] == counts.total()
    assert [(c["true"], c["predicted"], c["count"]) for c in found["confusion"]] == [
        (*pair, n) for pair, n in sorted(confused.items(), key=lambda c: (-c[1], c[0]))
    ]
    assert [t["type"] for t in found["types"]] == sorted(each["true"] | each["predicted"])
    right, predicted, true = (each[n].total() for n in ("right", "predicted", "true"))
    assert [found["overall"][n]["value"] for n in ("precision", "recall", "f1")] == pytest.approx(
        [right / predicted, right / true, 2 * right / (predicted + true)]
    )


def test_at_most_a_hundred_confusions_are_listed():
    truth = [[f"B-{i:03}"] for i in range(130)]
    found = entities.report(truth, [["O"]] * 130, 1)["confusion"]
    assert found == [{"true": f"{i:03}", "predicted": "", "count": 1} for i in range(100)]


@pytest.mark.parametrize(("sentences", "drawn"), [(0, 0), (1, 0), (2, 1000), (3, 1000)])
def test_an_interval_needs_two_sentences(sentences, drawn):
    assert precision_recall.resampled(numpy.ones((sentences, 2, 3), numpy.int32), 1).shape == (drawn, 2, 3)
    found = entities.report([["B-A"]] * sentences, [["B-A"]] * sentences, 1)["overall"]["f1"]
    assert ("low" in found, "high" in found) == (drawn > 0, drawn > 0)


def test_sentences_are_drawn_with_replacement_by_the_seed():
    counts = numpy.random.default_rng(0).integers(0, 5, (40, 2, 3))
    drawn = precision_recall.resampled(counts, 7)
    assert (drawn == precision_recall.resampled(counts, 7)).all() and (drawn != precision_recall.resampled(counts, 8)).any()
    assert drawn.mean(axis=0) == pytest.approx(counts.sum(axis=0), rel=0.05)
    assert drawn.std(axis=0) == pytest.approx(numpy.sqrt(40) * counts.std(axis=0), rel=0.15)
    alike = precision_recall.resampled(numpy.ones((9, 1, 3), numpy.int32), 1)
    assert (alike == 9).all()  # as many sentences as there are


def test_the_interval_is_the_middle_95_percent_and_holds_the_value():
    totals = numpy.array([50, 100, 100])
    drawn = numpy.stack([numpy.arange(1001.0) / 10, numpy.full(1001, 100.0), numpy.full(1001, 100.0)], axis=1)
    found = precision_recall.scores(totals, drawn)["precision"]
    assert (found["value"], found["low"], found["high"]) == pytest.approx((0.5, 0.025, 0.975))
    high = precision_recall.scores(numpy.array([100, 100, 100]), drawn * [0.5, 1, 1])["recall"]
    assert (high["value"], high["high"]) == (1, 1)
    low = precision_recall.scores(numpy.array([0, 100, 100]), drawn * [0.5, 1, 1] + [40, 0, 0])["f1"]
    assert (low["value"], low["low"]) == (0, 0)


@pytest.mark.parametrize(
    ("totals", "values"),
    [((0, 0, 0), (0, 0, 0)), ((0, 0, 3), (0, 0, 0)), ((0, 3, 0), (0, 0, 0)), ((1, 1, 4), (1, 0.25, 0.4)), ((2, 4, 2), (0.5, 1, 2 / 3))],
)
def test_scores_of_nothing_are_zero(totals, values):
    found = precision_recall.scores(numpy.array(totals), numpy.zeros((0, 3)))
    assert tuple(found[n]["value"] for n in ("precision", "recall", "f1")) == pytest.approx(values)
    assert found["right"] == totals[0] and found["predicted"] == totals[1] and found["true"] == totals[2]


@pytest.mark.parametrize(
    ("marked", "tags"),
    [
        pytest.param([(0, 3, "A")], "B-A O O", id="the whole word"),
        pytest.param([(3, 4, "A")], "O O O", id="only the space behind a word"),
        pytest.param([(2, 5, "A")], "B-A I-A O", id="parts of two words"),
        pytest.param([(0, 1, "A"), (2, 3, "B")], "B-A O O", id="the first of two equal marks in a word"),
        pytest.param([(0, 3, "A"), (0, 7, "B")], "B-B I-B O", id="the longer of two"),
        pytest.param([(0, 7, "A"), (4, 11, "B")], "B-A I-A O", id="the first of two that are equally long"),
        pytest.param([(7, 8, "A")], "O O O", id="behind the last character of a word"),
        pytest.param([], "O O O", id="no mark"),
    ],
)
def test_marked_characters_tag_words(marked, tags):
    assert words.tagged("abc def ghi", marked) == (("abc", "def", "ghi"), tags.split())


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", []), (" \t\n", []), ("a b", [("a", 0, 1), ("b", 2, 3)]), ("1,000.5 2.", [("1,000.5", 0, 7), ("2", 8, 9), (".", 9, 10)]),
        ("漢字x", [("漢", 0, 1), ("字", 1, 2), ("x", 2, 3)]), ("かな", [("か", 0, 1), ("な", 1, 2)]), ("naïve_2", [("naïve_2", 0, 7)]),
        ("…!?", [("…", 0, 1), ("!", 1, 2), ("?", 2, 3)]),
    ],
    ids=["empty", "blanks", "two words", "numbers", "Chinese", "Japanese", "letters of other scripts", "signs"],
)  # fmt: skip
def test_the_words_of_a_text_with_their_places(text, found):
    assert words.split(text) == found
    assert all(text[a:b] == word for word, a, b in found)


def sentence(text: str) -> Example:
    return Example("a", 1, tuple(text.split()), "")


def test_a_word_has_the_tag_it_had_most_often():
    train = [sentence("Rome is nice"), sentence("Rome is big"), sentence("rome May")]
    tags = numpy.array([1, 0, 0, 1, 0, 0, 0, 2])
    test = [sentence("Rome rome ROME unseen"), sentence("May")]
    found = memorised.predict(train, tags, test, numpy.array([1, 0, 0, 0, 2]), 3)
    assert found.predicted.tolist() == [1, 0, 0, 0, 2]
    shares = (numpy.array([5, 2, 1]) + 1e-3) / (8 + 3e-3)
    rows = shares + numpy.array([[0, 2, 0], [1, 0, 0], [1, 0, 0], [0, 0, 0], [0, 0, 1]])
    wanted = rows / rows.sum(axis=1, keepdims=True)
    assert found.probabilities == pytest.approx(wanted, rel=1e-6)
    assert found.confidence == pytest.approx(wanted.max(axis=1), rel=1e-6)
    assert found.predicted.dtype == numpy.int64 and found.confidence.dtype == numpy.float64
    assert (found.probabilities > 0).all()  # no tag is impossible


@pytest.mark.parametrize(("tags", "kept"), [(MAX_CLASSES, True), (MAX_CLASSES + 1, False)])
def test_the_probabilities_of_very_many_tags_are_not_kept(tags, kept):
    found = memorised.predict([sentence("a b")], numpy.array([0, tags - 1]), [sentence("b")], numpy.array([tags - 1]), tags)
    assert (found.probabilities is not None) == kept
    assert found.predicted.tolist() == [tags - 1]


def test_no_word_to_predict_is_no_error():
    assert len(memorised.predict([sentence("a b")], numpy.array([0, 1]), [], numpy.zeros(0, numpy.int64), 2).predicted) == 0
