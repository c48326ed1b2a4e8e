"""The terms of texts and the strengths of NB-SVM beside scikit-learn, and texts without a term."""

import numpy
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

from trainer.kinds.text import log_count_ratio, text_terms
from trainer.kinds.text.text_terms import Terms

TEXTS = ["the river runs", "the lamp and the river", "a garden, a garden", ""]


def test_weighed_words_are_those_of_scikit_learn():
    terms, counts = text_terms.learn_words(TEXTS, 1, 1000)
    theirs = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, token_pattern=text_terms.TfIdf.WORD).fit(TEXTS)
    assert terms.terms == theirs.get_feature_names_out().tolist()
    assert text_terms.weighed(counts, terms.idf).toarray() == pytest.approx(theirs.transform(TEXTS).toarray(), rel=1e-5)
    assert terms.idf == pytest.approx(theirs.idf_, rel=1e-6)
    assert (text_terms.count_words(TEXTS, terms.terms) != counts).nnz == 0


@pytest.mark.parametrize(("least", "most", "kept"), [(2, 10, ["river", "the"]), (1, 2, ["river", "the"]), (3, 10, []), (1, 3, ["a", "river", "the"])])
def test_frequent_words_are_learnt(least, most, kept):
    terms, counts = text_terms.learn_words(["the river", "river the", "a lamp"], least, most)
    assert terms.terms == kept and counts.shape == (3, len(kept))
    assert len(terms) == len(kept) == len(terms.frequencies)
    assert terms.kept(numpy.arange(len(kept))[:1]).terms == kept[:1]


@pytest.mark.parametrize(
    "learn", [lambda t: text_terms.learn_words(t, 1, 9), lambda t: text_terms.learn_characters(t, (2, 5), 1, 9)], ids=["words", "characters"]
)
@pytest.mark.parametrize("texts", [[], [""], ["", "  "]], ids=["none", "empty", "blank"])
def test_texts_without_a_term(learn, texts):
    terms, counts = learn(texts)
    assert (len(terms), counts.shape) == (0, (len(texts), 0))
    assert text_terms.weighed(counts, terms.idf).shape == counts.shape


def test_the_rarest_words_are_counted_though_nothing_is_learnt_from_them(monkeypatch):
    monkeypatch.setattr(text_terms, "_LEARNT_CHARACTERS", 2)
    terms, counts = text_terms.learn_characters(["ab ab", "xab"], (2, 2), 1, 99)
    assert terms.terms == [" a", "ab", "b "]
    assert counts.toarray().tolist() == [[2, 2, 2], [0, 1, 1]]


@pytest.mark.parametrize(
    ("text", "lower", "read"), [("AbC", True, "abc"), ("AbC", False, "AbC"), ("é\ud800É", True, "é é"), ("x" * 30_000, False, "x" * 20_000)]
)
def test_a_text_as_it_is_read(text, lower, read):
    assert text_terms.plain(text, lower) == read


def test_blocks_of_texts_hold_all_in_order(monkeypatch):
    monkeypatch.setattr(text_terms, "_BLOCK", 3)
    monkeypatch.setattr(text_terms, "_BLOCK_CHARACTERS", 10)
    assert list(text_terms.blocks(["a"] * 7)) == [["a"] * 3, ["a"] * 3, ["a"]]
    assert list(text_terms.blocks(["x" * 10, "y", "z"])) == [["x" * 10, "y"], ["z"]]
    assert list(text_terms.blocks([])) == []


def test_rarer_terms_weigh_more():
    found = Terms(["a", "b"], numpy.array([1, 3]), 3)
    assert found.idf == pytest.approx([1 + numpy.log(2), 1])


def binary(rows: int = 60) -> tuple[sparse.csr_matrix, numpy.ndarray]:
    r = numpy.random.default_rng(2)
    target = r.integers(0, 2, rows)
    return sparse.csr_matrix((r.random((rows, 8)) < 0.2 + 0.4 * target[:, None] * (numpy.arange(8) < 3)).astype(numpy.float32)), target


def test_the_ratio_is_that_of_naive_bayes():
    features, target = binary()
    scaled = log_count_ratio._Scaled(features, target == 1, None)
    dense = features.toarray()
    inside, outside = dense[target == 1].sum(axis=0) + 1, dense[target == 0].sum(axis=0) + 1
    ratio = numpy.log(inside / inside.sum()) - numpy.log(outside / outside.sum())
    assert scaled.ratio == pytest.approx(ratio)
    theirs = LogisticRegression(C=1.0, solver="liblinear", random_state=0).fit(dense * ratio, target)
    weights, bias = scaled.fit(1.0)
    assert weights == pytest.approx(theirs.coef_[0] * ratio, rel=1e-3) and bias == pytest.approx(theirs.intercept_[0], rel=1e-3)
    one = log_count_ratio.one_against_rest(features, target == 1, 1.0, True)
    assert one[0] == pytest.approx(weights) and one[1] == pytest.approx(bias)


@pytest.mark.parametrize(("positive", "bias"), [(True, numpy.log(61)), (False, -numpy.log(61))])
def test_a_label_that_all_or_no_rows_have(positive, bias):
    weights, found = log_count_ratio.one_against_rest(binary()[0], numpy.full(60, positive), 1.0, True)
    assert not weights.any() and found == pytest.approx(bias)


def test_two_classes_share_a_column_and_probabilities_add_up():
    features, target = binary()
    for classes in (2, 3):
        weights, bias = next(log_count_ratio.path(features, target, classes, None, (1.0,)))
        assert weights.shape == (8, 1 if classes == 2 else 3) and weights.dtype == numpy.float32
        found = numpy.exp(log_count_ratio.log_probabilities(features, weights, bias))
        assert found.shape == (60, classes) and found.sum(axis=1) == pytest.approx(1)
        assert (found.argmax(axis=1) == target).mean() > 0.6


def test_there_is_no_model_of_one_class_or_without_terms(monkeypatch):
    features, target = binary()
    arguments = (features, target, 2, None, lambda found, truth: 0.0)
    none = [log_count_ratio.fit(features, numpy.zeros(60, int), features, target, *arguments[2:])]
    none.append(log_count_ratio.fit(features[:, :0], target, features[:, :0], target, *arguments[2:]))
    monkeypatch.setattr(log_count_ratio, "_MOST_ENTRIES", 2 * features.nnz - 1)
    none.append(log_count_ratio.fit(features, target, features, target, *arguments[2:]))
    assert none == [None] * 3
    monkeypatch.setattr(log_count_ratio, "_MOST_ENTRIES", 2 * features.nnz)
    assert log_count_ratio.fit(features, target, features[:0], target[:0], *arguments[2:])[0] == 1.0  # nothing chooses the strength


@pytest.mark.parametrize(("losses", "strength"), [([3, 2, 1, 0.5, 0.4, 0.3], 30.0), ([1, 2, 0, 0, 0, 0], 0.1), ([2, 1, 1, 0, 0, 0], 0.3)])
def test_the_strength_grows_while_the_loss_falls(losses, strength):
    features, target = binary()
    each = iter(losses)
    assert log_count_ratio.fit(features, target, features, target, 2, None, lambda found, truth: next(each))[0] == strength
