"""Words that speak for an answer: they are those of the data, and without them the model is worse than without others."""

import random
import re
from types import SimpleNamespace

import numpy
import pytest
from conftest import small_reviews
from result_checks import blocks_of, check_success

from trainer.core import registry
from trainer.core.example import Dataset, Example
from trainer.kinds.text import speaking, words
from trainer.run import run
from trainer.targets.classes import Classes
from trainer.targets.number import Number

SETTINGS = SimpleNamespace(seed=1, validation_file="", class_weights="none", lower_case="auto", max_minutes=60, source=lambda name: "default")
PLAIN = "river stone lamp cloud paper green window quiet morning table road winter bread garden".split()
GOOD, BAD = ["splendid", "lovely", "superb"], ["dreadful", "awful", "dull"]


def examples(rows: int) -> list[Example]:
    chance, found = random.Random(3), []
    for i in range(rows):
        good = chance.random() < 0.5
        said = [*chance.sample(PLAIN, 6), chance.choice(GOOD if good else BAD)]
        chance.shuffle(said)
        found.append(Example("r.csv", i + 2, " ".join(said), "good" if good else "bad"))
    return found


def fitted(numbers: bool):
    rows = examples(260)
    if numbers:
        rows = [Example(e.file, e.row, e.content, "3.5" if e.target == "good" else "-2") for e in rows]
    splits = {"train": rows[:160], "validation": rows[160:180], "test": rows[180:]}
    kind, labels = registry.of("text"), () if numbers else ("bad", "good")
    data = Dataset("text-" + ("regression" if numbers else "classification"), kind, splits, [], ("text",), "y", labels)
    target = Number.learnt([e.target for e in rows[:160]]) if numbers else Classes(labels)
    return data, target, words.fit(data, target, SETTINGS)


def test_pairs_that_say_what_their_word_says_are_not_listed():
    terms = ["it ruined", "ruined", "ruined my", "poor", "so poor", "rare"]
    found = speaking.Spoken(terms, numpy.array([[0.3], [0.3], [0.3], [0.2], [0.25], [9.0]]), numpy.array([16, 16, 16, 17, 9, 1]))
    assert [terms[t] for t in found.first(0, 3)] == ["ruined", "poor", "so poor"]
    assert [terms[t] for t in found.first(0, 1)] == ["ruined"]
    assert found.first(0, 3, -1) == []


@pytest.mark.parametrize("numbers", [True, False])
def test_the_words_that_decide_come_first(numbers, tmp_path):
    data, target, model = fitted(numbers)
    model.save(tmp_path)
    (section,) = speaking.sections(tmp_path, target.labels, data.splits["test"])
    said: dict[str, list[str]] = {}
    for what, word, weight, texts in section.blocks[0].rows:
        said.setdefault(what.text, []).append(word.text)
        assert texts.value >= 2 and (weight.value > 0) is (what.text != "a smaller number")
    good, bad = ("a larger number", "a smaller number") if numbers else ("good", "bad")
    assert set(said[good][:3]) == set(GOOD) and set(said[bad][:3]) == set(BAD)


def test_texts_without_their_first_words_are_answered_worse_than_without_others(tmp_path):
    data, target, model = fitted(False)
    test = data.splits["test"]
    spoken = speaking.of(model, test)
    truth = target.encode([e.target for e in test])

    def loss(without: list[str]) -> float:
        pattern = re.compile(rf"\b({'|'.join(without)})\b")
        less = [Example(e.file, e.row, pattern.sub("", e.content), e.target) for e in test]
        return float(target.losses(target.answers(model.outputs(less), truth)).mean())

    first = [spoken.terms[t] for output in (0, 1) for t in spoken.first(output, 3)]
    chance = random.Random(1)
    assert loss(first) > 2 * max(loss(chance.sample(PLAIN, 6)) for _ in range(5))


def test_what_words_bring_and_the_rest_is_the_score(tmp_path):
    """For a model of words alone the weights add up to the difference of the scores of both classes, but for its bias."""
    data, _, model = fitted(False)
    alone = words.Words(**{**vars(model), "weights": {"bag": model.simple.weights}, "bias": {"bag": model.simple.bias}, "shares": {"bag": 1.0},
                           "temperature": 1.0, "terms": model.terms[: model.bag]})  # fmt: skip
    for e in data.splits["test"][:5]:
        odds = numpy.log(alone.outputs([e])[0].astype(numpy.float64))
        brought = speaking.of(alone, [e]).weights.sum(axis=0)
        assert brought[1] - brought[0] == pytest.approx(odds[1] - odds[0] - float(model.simple.bias[1] - model.simple.bias[0]), abs=1e-3)


def test_few_texts_and_other_models_have_no_words(tmp_path):
    data, target, model = fitted(False)
    assert speaking.sections(tmp_path, target.labels, data.splits["test"]) == []
    model.save(tmp_path)
    (section,) = speaking.sections(tmp_path, target.labels, data.splits["test"][:10])
    assert "from 20 test texts on, and there are 10." in section.blocks[0].text[0]


def test_a_training_shows_them(make_run, schemas):
    spec = make_run({"all.csv": small_reviews(240)})
    assert run(str(spec), "ray") == 0
    (shown,) = blocks_of(check_success(spec.parent, schemas), speaking.TITLE)
    assert len(shown["rows"]) > 4
