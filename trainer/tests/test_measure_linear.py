"""The linear model against scikit-learn on its own datasets, the bag of words, and what is delivered."""

import numpy
import pytest
from sklearn import datasets
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression, Ridge

from trainer.measure import linear, linear_files, metrics
from trainer.measure.dummy import dummy
from trainer.measure.minimise import minimise
from trainer.measure.sparse import Sparse
from trainer.measure.tfidf import TfIdf


def parts(features, target, seed=1):
    """(features, target) of 60 % of the rows for training, 20 % for validation, 20 % for the test."""
    order = numpy.random.default_rng(seed).permutation(len(target))
    ends = len(order) * 6 // 10, len(order) * 8 // 10
    return [(features[rows].astype(numpy.float32), target[rows]) for rows in numpy.split(order, ends)]


def fitted(train, validation, classes, **options) -> linear.Linear:
    return linear.fit(*train, *validation, classes, seed=1, **options)


def sparse_of(dense: numpy.ndarray) -> Sparse:
    rows, columns = numpy.nonzero(dense)
    offsets = numpy.append(0, numpy.cumsum(numpy.bincount(rows, minlength=len(dense))))
    return Sparse(offsets, columns.astype(numpy.int32), dense[rows, columns].astype(numpy.float32), dense.shape[1])


@pytest.mark.parametrize(("load", "classes", "least"), [(datasets.load_breast_cancer, 2, 0.95), (datasets.load_digits, 10, 0.93)])
def test_classes(load, classes, least):
    train, validation, test = parts(*load(return_X_y=True))
    model = fitted(train, validation, classes)
    assert metrics.summary(model.answers(*test), classes)["accuracy"] >= least


@pytest.mark.parametrize("scale", [1.0, 1e6])
def test_regression_is_as_good_as_the_oracle(scale):
    features, target = datasets.load_diabetes(return_X_y=True)
    train, validation, test = parts(features * scale + scale, target * scale)
    want = max(Ridge(alpha=alpha).fit(*parts(features, target)[0]).score(*parts(features, target)[2]) for alpha in (0.01, 0.1, 1))
    assert metrics.summary(fitted(train, validation, 0).answers(*test), 0)["r2"] >= want - 0.02


def test_the_minimum_is_the_one_of_the_oracle():
    generator = numpy.random.default_rng(1)
    features = generator.normal(size=(200, 4))
    features = ((features - features.mean(0)) / features.std(0)).astype(numpy.float32)
    target = (features[:, 0] - features[:, 1] + generator.normal(size=200) > 0).astype(int)
    none = features[:0], target[:0]
    model = fitted((features, target), none, 2)
    want = LogisticRegression(C=2.0, tol=1e-8).fit(features, target)  # both columns share the penalty: half of it for their difference
    assert model.weights[:, 1] - model.weights[:, 0] == pytest.approx(want.coef_[0], rel=0.02, abs=0.01)


def test_sparse_and_dense_features_multiply_alike():
    generator = numpy.random.default_rng(1)
    dense = generator.normal(size=(30, 7)) * (generator.random((30, 7)) < 0.3)
    dense[[0, 3, 4, 29]] = 0
    weights, errors, rows = generator.normal(size=(7, 3)), generator.normal(size=(30, 2)), numpy.array([5, 3, 5, 29])
    assert sparse_of(dense) @ weights == pytest.approx(dense @ weights, abs=1e-6)
    assert sparse_of(dense).T @ errors == pytest.approx(dense.T @ errors, abs=1e-6)
    assert sparse_of(dense)[rows] @ weights == pytest.approx(dense[rows] @ weights, abs=1e-6)


def test_too_many_weights_give_no_model():
    wide = Sparse(numpy.array([0, 1, 2]), numpy.array([0, 1], numpy.int32), numpy.ones(2, numpy.float32), 4_000_000)
    target = numpy.array([0, 1])
    assert linear.fit(wide, target, wide, target, 10, seed=1) is None


def test_a_small_budget_learns_from_a_sample_and_the_same_one_again():
    train, validation, test = parts(*datasets.load_digits(return_X_y=True))
    small = [fitted(train, validation, 10, budget_seconds=0.01) for _ in range(2)]
    assert small[0].weights.tobytes() == small[1].weights.tobytes()
    assert metrics.summary(small[0].answers(*test), 10)["accuracy"] > 0.8
    assert small[0].weights.tobytes() != fitted(train, validation, 10).weights.tobytes()


@pytest.mark.parametrize("column", [0.0, 1e9, -0.1])
def test_a_constant_column_and_one_row_do_no_harm(column):
    features = numpy.full((1, 2), column, numpy.float32)
    for classes, target in ((2, numpy.array([1])), (0, numpy.array([3.5]))):
        model = linear.fit(features, target, features, target, classes, seed=1)
        assert model.answers(features, target).predicted[0] == pytest.approx(target[0])


def test_no_terms_at_all_still_give_the_shares_of_the_classes():
    bag, target = TfIdf.learn(["", " "]), numpy.array([1, 1])
    features = bag.features(["", "new"])
    assert len(bag.terms) == 0
    assert linear.fit(features, target, features, target, 2, seed=1).answers(features, target).predicted.tolist() == [1, 1]


def test_no_rows_have_no_answers():
    train, validation, _ = parts(*datasets.load_diabetes(return_X_y=True))
    assert len(fitted(train, validation, 0).answers(train[0][:0], train[1][:0])) == 0


def test_the_minimum_of_a_long_valley_is_found():
    def valley(x):  # Rosenbrock's, lowest at (1, 1)
        a, b = x
        return 100 * (b - a * a) ** 2 + (1 - a) ** 2, numpy.array([-400 * a * (b - a * a) - 2 * (1 - a), 200 * (b - a * a)])

    point, made = minimise(valley, numpy.array([-1.2, 1.0]), 200)
    assert point == pytest.approx([1, 1], abs=1e-3)
    assert made < 100


def test_bag_counts_words_and_pairs_as_the_oracle_does():
    texts = ["The film is good, good film", "the film is bad", "", "Bad bad film", "ünïcode film"]
    bag = TfIdf.learn(texts)
    want = TfidfVectorizer(token_pattern=r"\w+|[^\w\s]", ngram_range=(1, 2), min_df=2, sublinear_tf=True)
    oracle = want.fit_transform(texts).toarray()[:, [want.vocabulary_[term] for term in bag.terms]]
    assert set(bag.terms) == set(want.vocabulary_)
    assert bag.features(texts) @ numpy.eye(len(bag.terms)) == pytest.approx(oracle, abs=1e-6)


def test_signs_of_scripts_without_spaces_are_words():
    assert TfIdf.learn(["好电影", "坏电影"]).terms == ["影", "电", "电 影"]


def test_terms_do_not_depend_on_the_order_of_texts():
    texts = ["b a", "a b c", "c b", "a c"]
    assert TfIdf.learn(texts) == TfIdf.learn(texts[::-1])


def test_what_is_delivered_answers_as_the_model_did(tmp_path):
    texts = ["a good film", "a bad film", "good, very good", "bad, very bad \ud800", "nul \0 film"] * 3
    target = numpy.array([1, 0, 1, 0, 1] * 3)
    bag = TfIdf.learn(texts)
    features = bag.features(texts)
    model = linear.fit(features, target, features, target, 2, seed=1)
    linear_files.save(tmp_path / "linear", model, {"labels": ["bad", "good"]}, bag)
    again, description, terms = linear_files.load(tmp_path / "linear")
    assert description == {"labels": ["bad", "good"]}
    assert again.answers(terms.features(texts), target).probabilities.tobytes() == model.answers(features, target).probabilities.tobytes()


def test_a_model_of_a_table_is_delivered_without_terms(tmp_path):
    train, validation, test = parts(*datasets.load_diabetes(return_X_y=True))
    model = fitted(train, validation, 0)
    linear_files.save(tmp_path, model, {"columns": ["age"]})
    again, _, bag = linear_files.load(tmp_path)
    assert bag is None
    assert not (tmp_path / "terms.json").exists()
    assert again.answers(*test).predicted.tobytes() == model.answers(*test).predicted.tobytes()


def test_the_most_frequent_class_is_the_answer_to_everything():
    a = dummy(numpy.array([0, 1, 1, 1]), numpy.array([1, 0, 2]), 3)
    assert a.predicted.tolist() == [1, 1, 1]
    assert a.likelihood == pytest.approx([4 / 7, 2 / 7, 1 / 7])
    assert metrics.summary(a, 3)["roc_auc"] == 0.5


def test_the_mean_is_the_answer_to_everything():
    a = dummy(numpy.array([1.0, 2.0, 6.0]), numpy.array([3.0, 4.0]), 0)
    assert a.predicted.tolist() == [3.0, 3.0]
    assert metrics.summary(a, 0)["mae"] == 0.5
