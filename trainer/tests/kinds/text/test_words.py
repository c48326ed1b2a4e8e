"""The estimator words by itself: its terms, its choice, and what it saves."""

import random
from types import SimpleNamespace

import numpy
import pytest
from small_datasets import WORDS

from trainer.core import registry
from trainer.core.example import Dataset, Example
from trainer.estimators import folds
from trainer.kinds.text import log_count_ratio, text_terms, words, words_fit
from trainer.targets.classes import Classes

SETTINGS = SimpleNamespace(lower_case="auto", seed=42, max_minutes=60, class_weights="none", validation_file="", source=lambda name: "form")
TEXTS = ["The river runs past the lamp.", "A QUIET garden", "", "    ", "ab", "größer 東京 کتاب 🙂", "don't  stop\nnow", "\ud800 half a pair"]


def dataset(rows: list[tuple[str, str]], validation: int = 20, test: int = 10, labels: tuple[str, ...] | None = None) -> Dataset:
    examples = [Example("a.csv", i + 2, text, label) for i, (text, label) in enumerate(rows)]
    splits = {"validation": examples[:validation], "test": examples[validation : validation + test], "train": examples[validation + test :]}
    known = tuple(sorted({r[1] for r in rows})) if labels is None else labels
    return Dataset("text-classification", registry.of("text"), splits, [], ("text",), "label", known)


def sentences(classes: int, rows: int) -> list[tuple[str, str]]:
    chance = random.Random(5)
    return [(f"{chance.choice(WORDS)} {'xyzuvw'[i % classes % 6]}{i % classes} {chance.choice(WORDS)}", f"c{i % classes:02d}") for i in range(rows)]


def fitted(data: Dataset, **changed) -> words.Words:
    target = data.kind.target(data)
    return words.fit(data, target, SimpleNamespace(**{**vars(SETTINGS), **changed}))


@pytest.mark.parametrize("size", [(2, 5), (1, 3)])
def test_the_characters_inside_words_are_those_of_scikit_learn(size):
    from sklearn.feature_extraction.text import CountVectorizer

    texts = [text_terms.plain(t, True) for t in TEXTS]
    theirs = CountVectorizer(analyzer="char_wb", ngram_range=size).fit(texts)
    names = theirs.get_feature_names_out().tolist()
    assert (text_terms.count_characters(texts, names, size) != theirs.transform(texts)).nnz == 0
    learnt, counts = text_terms.learn_characters(texts, size, 1, 10_000)
    assert learnt.terms == names
    assert (counts != theirs.transform(texts)).nnz == 0


def test_scripts_without_spaces_get_shorter_characters():
    assert text_terms.sizes(["the river runs", "Donaudampfschiff fährt"]) == text_terms.CHARACTERS
    assert text_terms.sizes(["饭菜很好吃服务热情下次还来再来", "味道很差送餐太慢不会再来真的"]) == text_terms.UNSPACED


def test_a_saved_model_gives_the_same_bits_in_any_batch(tmp_path):
    data = dataset(sentences(3, 150))
    model = fitted(data)
    model.save(tmp_path)
    again = words.load(tmp_path)
    examples = data.splits["test"] + [Example("b.csv", i, t, "") for i, t in enumerate(TEXTS)]
    first = model.outputs(examples)
    assert first.dtype == numpy.float32
    assert (again.outputs(examples) == first).all()
    assert (numpy.concatenate([again.outputs([e]) for e in examples]) == first).all()
    assert first.sum(axis=1) == pytest.approx(numpy.ones(len(examples)), abs=1e-5)
    assert again.outputs([]).shape == (0, 3)
    assert again.parameters == model.parameters > 0


def losses(data: Dataset, split: str) -> tuple[float, float]:
    """The loss of the model, and that of the bag of words, on the rows of a split."""
    model, examples = fitted(data), data.splits[split]
    truth = Classes(data.labels).encode([e.target for e in examples])
    every = numpy.arange(len(truth))
    return tuple(float(-numpy.log(o[every, truth]).mean()) for o in (model.outputs(examples), model.simple_outputs(examples)))


def noisy(rows: int, seed: int) -> list[tuple[str, str]]:
    """Texts of which a third of the words hints at the class, more or less."""
    chance = random.Random(seed)
    found = []
    for i in range(rows):
        hints = chance.choices("ab"[i % 2] * 3 + "abc", k=3)
        found.append((" ".join([*chance.choices(WORDS, k=6), *(f"{h}{chance.randrange(12)}" for h in hints)]), "ab"[i % 2]))
    return found


def test_where_nothing_can_be_learnt_it_is_not_more_certain_than_the_bag_of_words():
    chance = random.Random(3)
    words_alone = [(" ".join(chance.choices(WORDS, k=6)), "ab"[i % 2]) for i in range(400)]
    own, simple = losses(dataset(words_alone, validation=60, test=200), "test")
    assert own <= simple + 0.01


def test_of_few_rows_it_learns_more_than_the_bag_of_words():
    found = [losses(dataset(noisy(560, seed), validation=16, test=400), "test") for seed in range(3)]
    assert all(own < simple for own, simple in found)


def test_the_validation_rows_are_learnt_from_after_they_have_judged():
    data = dataset([(f"{'good' if i % 2 else 'bad'} w{i // 2 % 8}", "ab"[i % 2]) for i in range(190)])
    data.splits["validation"] = [Example("", i, f"w{i % 8}", "ab"[i % 2]) for i in range(160)]
    model, truth = fitted(data), numpy.arange(160) % 2
    right = [(m.outputs(data.splits["validation"]).argmax(1) == truth).mean() for m in (model.judged, model)]
    assert right[0] < 0.8 < 0.95 < right[1], "the model that is delivered knows them"
    assert model.judged.judged is None
    apart = fitted(data, validation_file="chosen.csv")
    assert apart.judged is None and (apart.outputs(data.splits["validation"]).argmax(1) == truth).mean() < 0.8, "chosen rows only judge"
    assert fitted(dataset([("a b", "a"), ("b c", "b")] * 20, validation=0)).judged is None


def test_enough_validation_rows_judge_alone(monkeypatch):
    data = dataset(noisy(200, 1), validation=40)
    in_turn = fitted(data)
    monkeypatch.setattr(folds, "ENOUGH", 40)
    alone = fitted(data)
    assert in_turn.shares
    assert alone.shares
    assert (in_turn.shares, in_turn.temperature) != (alone.shares, alone.temperature)


@pytest.mark.parametrize(
    ("rows", "more"),
    [
        pytest.param(sentences(2, 60), {"validation": 0}, id="no validation rows"),
        pytest.param(sentences(60, 480), {"validation": 60}, id="sixty classes"),
        pytest.param(sentences(2, 8), {"validation": 2, "test": 2}, id="four rows"),
        pytest.param([("same", "a")] * 40, {"labels": ("a", "b")}, id="one class only"),
        pytest.param([("", "ab"[i % 2]) for i in range(60)], {}, id="no words at all"),
        pytest.param([(f"w{i % 2} " * 8000, "ab"[i % 2]) for i in range(50)], {}, id="very long texts"),
        pytest.param(sentences(2, 90), {"labels": ("c00", "c01", "never seen")}, id="a class without rows"),
    ],
)
def test_unusual_data_gives_probabilities(rows, more):
    data = dataset(rows, **more)
    outputs = fitted(data).outputs(data.splits["test"])
    assert outputs.shape == (len(data.splits["test"]), len(data.labels))
    assert numpy.isfinite(outputs).all()
    assert (outputs > 0).all()


def test_very_much_text_is_sampled_by_the_seed(monkeypatch):
    data = dataset(sentences(2, 400))
    monkeypatch.setattr(words_fit, "TRAIN_CHARACTERS", 2000)
    monkeypatch.setattr(words_fit, "VALIDATION_CHARACTERS", 100)
    first, again, other = fitted(data), fitted(data), fitted(data, seed=7)
    assert len(first.terms) < 400
    assert first.terms == again.terms
    assert first.terms != other.terms


def test_balanced_weights_find_the_rare_class():
    chance = random.Random(8)
    rows = [
        (" ".join([*chance.choices(WORDS, k=5), "rare" if i % 12 == 0 and chance.random() < 0.6 else "usual"]), "b" if i % 12 == 0 else "a")
        for i in range(480)
    ]
    data = dataset(rows, validation=96, test=96)
    found = {w: (fitted(data, class_weights=w).outputs(data.splits["test"])[:, 1] > 0.5).sum() for w in ("none", "balanced")}
    assert found["balanced"] >= found["none"]


def test_too_much_work_for_the_ratio_is_left_out(monkeypatch):
    monkeypatch.setattr(log_count_ratio, "_MOST_ENTRIES", 10)
    assert words.RATIO not in fitted(dataset(sentences(2, 100))).weights
