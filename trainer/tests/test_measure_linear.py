"""The linear baseline: known scores, the properties of its minimum, tf-idf by its formula, and what is delivered."""

import json
import math

import numpy
import pytest
from hypothesis import given, settings, strategies as st
from safetensors.numpy import save_file
from scipy.sparse import csr_matrix
from sklearn import datasets
from threadpoolctl import threadpool_limits

from trainer.measure import linear, linear_files, metrics, tfidf
from trainer.measure.dummy import dummy
from trainer.measure.tfidf import TfIdf


def parts(features, target, seed=1):
    """(features, target) of 60 % of the rows for training, 20 % for validation, 20 % for the test."""
    order = numpy.random.default_rng(seed).permutation(len(target))
    ends = len(order) * 6 // 10, len(order) * 8 // 10
    return [(features[rows].astype(numpy.float32), target[rows]) for rows in numpy.split(order, ends)]


def fitted(train, validation, classes, **options) -> linear.Linear:
    return linear.fit(*train, *validation, classes, seed=1, **options)


@pytest.mark.parametrize(
    ("load", "classes", "want"),
    [
        # The scores of the own L-BFGS on numpy that came before scikit-learn.
        (datasets.load_breast_cancer, 2, {"accuracy": 0.9649, "f1_macro": 0.961, "roc_auc": 0.9858, "loss": 0.1189}),
        (datasets.load_digits, 10, {"accuracy": 0.9667, "f1_macro": 0.9654, "roc_auc": 0.9989, "loss": 0.1261}),
        (datasets.load_diabetes, 0, {"rmse": 56.3379, "mae": 46.4194, "r2": 0.4153, "spearman": 0.6237}),
    ],
)
def test_the_scores_on_known_datasets(load, classes, want):
    train, validation, test = parts(*load(return_X_y=True))
    got = metrics.summary(fitted(train, validation, classes).predict(*test), classes)
    assert {name: got[name] for name in want} == pytest.approx(want, abs=1e-3, rel=1e-3)


@pytest.mark.parametrize("scale", [1e-3, 1e6])
def test_the_unit_of_features_and_target_changes_nothing(scale):
    features, target = datasets.load_diabetes(return_X_y=True)
    got = []
    for factor in (1.0, scale):
        train, validation, test = parts(features * factor + factor, target * factor)
        got.append(metrics.summary(fitted(train, validation, 0).predict(*test), 0)["r2"])
    assert got[0] == pytest.approx(got[1], abs=1e-3)


@pytest.mark.parametrize(("classes", "sparse"), [(2, False), (4, False), (2, True), (4, True)])
def test_at_the_minimum_the_slope_is_zero(classes, sparse):
    """The mean cross-entropy plus strength / (2 rows) times the squared weights, over the columns as the solver sees them."""
    generator = numpy.random.default_rng(1)
    features = generator.normal(size=(300, 5))
    features = ((features - features.mean(0)) / features.std(0)).astype(numpy.float32)
    target = (features[:, 0] + generator.normal(size=300) > 0).astype(int) + 2 * (features[:, 1] > 0) * (classes > 2)
    none = features[:0], target[:0]
    model = fitted((csr_matrix(features) if sparse else features, target), none, classes)  # no validation rows: strength 1
    probabilities = model.predict(features, target).probabilities.astype(float)
    error = (probabilities - numpy.eye(classes)[target]) / 300
    assert features.T @ error + model.weights / 300 == pytest.approx(numpy.zeros((5, classes)), abs=5e-5)
    assert error.sum(axis=0) == pytest.approx(numpy.zeros(classes), abs=5e-5)


def test_the_ridge_regression_solves_its_normal_equations():
    generator = numpy.random.default_rng(1)
    features = generator.normal(size=(200, 4)).astype(numpy.float32)
    target = features @ [1.0, -2.0, 0.0, 3.0] + 7 + generator.normal(size=200)
    model = fitted((csr_matrix(features), target), (features[:0], target[:0]), 0)
    centred = features - features.mean(0)
    want = numpy.linalg.solve(centred.T @ centred + numpy.eye(4), centred.T @ (target - target.mean()))
    assert model.weights[:, 0] == pytest.approx(want, abs=1e-4)
    assert model.bias[0] == pytest.approx(target.mean() - features.mean(0) @ want, abs=1e-3)


@pytest.mark.parametrize(("load", "classes"), [(datasets.load_digits, 10), (datasets.load_diabetes, 0), (datasets.load_breast_cancer, 2)])
def test_the_weights_are_the_same_bit_for_bit_whatever_the_number_of_threads(load, classes):
    train, validation, _ = parts(*load(return_X_y=True))
    made = set()
    for threads in (1, 2):
        with threadpool_limits(threads):
            model = fitted(train, validation, classes)
            made.add(model.weights.tobytes() + model.bias.tobytes())
    assert len(made) == 1


def test_a_class_without_training_rows_has_a_small_chance_and_not_none():
    generator = numpy.random.default_rng(1)
    features = generator.normal(size=(90, 3)).astype(numpy.float32)
    target = numpy.array([0, 1, 3])[generator.integers(0, 3, 90)]
    model = fitted((features, target), (features[:0], target[:0]), 4)
    assert (model.weights[:, 2] == 0).all()
    chances = model.predict(features.mean(axis=0, keepdims=True), numpy.array([2])).probabilities[0]
    assert chances[2] == pytest.approx((1 - chances[2]) / 91, rel=1e-3)


@pytest.mark.parametrize(("classes", "terms"), [(0, 50_000), (2, 50_000), (160, 50_000), (400, 20_000), (100_000, 10_000)])
def test_more_classes_leave_room_for_fewer_terms(classes, terms):
    assert linear.max_width(classes) == terms


def test_too_many_weights_give_no_model():
    wide, target = csr_matrix(([1.0, 1.0], ([0, 1], [0, 1])), shape=(2, 4_000_000), dtype=numpy.float32), numpy.array([0, 1])
    assert linear.fit(wide, target, wide, target, 10, seed=1) is None


def test_a_small_budget_learns_from_a_sample_and_the_same_one_again():
    train, validation, test = parts(*datasets.load_digits(return_X_y=True))
    small = [fitted(train, validation, 10, budget_seconds=0.01) for _ in range(2)]
    assert small[0].weights.tobytes() == small[1].weights.tobytes()
    assert metrics.summary(small[0].predict(*test), 10)["accuracy"] > 0.8
    assert small[0].weights.tobytes() != fitted(train, validation, 10).weights.tobytes()


@pytest.mark.parametrize("column", [0.0, 1e9, -0.1])
def test_a_constant_column_and_one_row_do_no_harm(column):
    features = numpy.full((1, 2), column, numpy.float32)
    for classes, target in ((2, numpy.array([1])), (0, numpy.array([3.5]))):
        model = linear.fit(features, target, features, target, classes, seed=1)
        assert model.predict(features, target).predicted[0] == pytest.approx(target[0])


def test_no_terms_at_all_still_give_the_shares_of_the_classes():
    learnt, target = TfIdf.learn(["", " "]), numpy.array([1, 1])
    features = learnt.features(["", "new"])
    assert len(learnt.terms) == 0
    assert linear.fit(features, target, features, target, 2, seed=1).predict(features, target).predicted.tolist() == [1, 1]


def test_no_rows_have_no_answers():
    train, validation, _ = parts(*datasets.load_diabetes(return_X_y=True))
    assert len(fitted(train, validation, 0).predict(train[0][:0], train[1][:0])) == 0


def test_the_features_follow_the_formula():
    texts = ["The film is good, good film", "the film is bad", "", "Bad bad film", "ünïcode film"]
    learnt = TfIdf.learn(texts)
    assert learnt.texts == 5
    frequencies = dict(zip(learnt.terms, learnt.frequencies, strict=True))
    assert frequencies == {"the": 2, "film": 4, "is": 2, "bad": 2, "the film": 2, "film is": 2}
    got = dict(zip(learnt.terms, learnt.features(["the film, the film"]).toarray()[0].tolist(), strict=True))
    want = {t: (1 + math.log(2)) * (1 + math.log(6 / (1 + frequencies[t]))) for t in ("the", "film", "the film")}
    length = math.hypot(*want.values())
    assert got == pytest.approx({**dict.fromkeys(frequencies, 0), **{t: v / length for t, v in want.items()}}, abs=1e-6)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text("ab \u5f71.\ud800", max_size=12), min_size=2, max_size=9))
def test_every_row_has_length_one_or_no_known_term(texts):
    learnt = TfIdf.learn(texts)
    features = learnt.features(texts)
    assert features.shape == (len(texts), len(learnt.terms))
    assert set(numpy.sqrt(features.multiply(features).sum(axis=1)).round(5).ravel().tolist()) <= {0.0, 1.0}
    assert all(2 <= n <= len(texts) for n in learnt.frequencies)


def test_blocks_of_texts_give_the_same_features(monkeypatch):
    texts = ["a b", "b c", "", "a c", "c"]
    learnt = TfIdf.learn(texts)
    whole = learnt.features(texts).toarray()
    monkeypatch.setattr(tfidf, "_BLOCK", 2)
    assert learnt.features(texts).toarray().tobytes() == whole.tobytes()
    assert learnt.features([]).shape == (0, len(learnt.terms))


def test_the_terms_of_very_many_texts_are_learnt_from_an_even_sample(monkeypatch):
    monkeypatch.setattr(tfidf, "_MAX_CHARACTERS", 100)
    learnt = TfIdf.learn(["a", "b"] * 150)  # 300 characters: every fourth text
    assert (learnt.terms, learnt.texts) == (["a"], 75)


def test_the_most_frequent_terms_are_kept():
    assert TfIdf.learn(["a b", "a b", "a c", "a c", "a c", "a"], max_terms=1).terms == ["a"]


def test_signs_of_scripts_without_spaces_are_words():
    assert TfIdf.learn(["好电影", "坏电影"]).terms == ["影", "电", "电 影"]


def test_terms_do_not_depend_on_the_order_of_texts():
    texts = ["b a", "a b c", "c b", "a c"]
    assert TfIdf.learn(texts) == TfIdf.learn(texts[::-1])


def test_what_is_delivered_answers_as_the_model_did(tmp_path):
    texts = ["a good film", "a bad film", "good, very good", "bad, very bad \ud800", "nul \0 film"] * 3
    target = numpy.array([1, 0, 1, 0, 1] * 3)
    learnt = TfIdf.learn(texts)
    features = learnt.features(texts)
    model = linear.fit(features, target, features, target, 2, seed=1)
    linear_files.save(tmp_path / "linear", model, {"labels": ["bad", "good"]}, learnt)
    again, description, terms = linear_files.load(tmp_path / "linear")
    assert description == {"labels": ["bad", "good"]}
    assert again.predict(terms.features(texts), target).probabilities.tobytes() == model.predict(features, target).probabilities.tobytes()


def test_a_baseline_of_the_version_before_is_read(tmp_path):
    """Its terms stood in the order of their frequency; the order of the file is the order of the weights."""
    save_file({"weights": numpy.array([[-1, 1], [2, -2]], numpy.float32), "bias": numpy.zeros(2, numpy.float32)}, tmp_path / "weights.safetensors")
    (tmp_path / "config.json").write_text(json.dumps({"labels": ["bad", "good"], "classes": 2}))
    (tmp_path / "terms.json").write_text(json.dumps({"texts": 9, "word": "[a-z]+", "terms": {"fine": 7, "dull": 3}}))
    model, description, terms = linear_files.load(tmp_path)
    assert description == {"labels": ["bad", "good"]}
    assert model.predict(terms.features(["a dull film", "fine"]), numpy.array([0, 1])).predicted.tolist() == [0, 1]


def test_a_model_of_a_table_is_delivered_without_terms(tmp_path):
    train, validation, test = parts(*datasets.load_diabetes(return_X_y=True))
    model = fitted(train, validation, 0)
    linear_files.save(tmp_path, model, {"columns": ["age"]})
    again, _, terms = linear_files.load(tmp_path)
    assert terms is None
    assert not (tmp_path / "terms.json").exists()
    assert again.predict(*test).predicted.tobytes() == model.predict(*test).predicted.tobytes()


def test_the_most_frequent_class_is_the_answer_to_everything():
    a = dummy(numpy.array([0, 1, 1, 1]), numpy.array([1, 0, 2]), 3)
    assert a.predicted.tolist() == [1, 1, 1]
    assert a.likelihood == pytest.approx([4 / 7, 2 / 7, 1 / 7])
    assert metrics.summary(a, 3)["roc_auc"] == 0.5


def test_the_mean_is_the_answer_to_everything():
    a = dummy(numpy.array([1.0, 2.0, 6.0]), numpy.array([3.0, 4.0]), 0)
    assert a.predicted.tolist() == [3.0, 3.0]
    assert metrics.summary(a, 0)["mae"] == 0.5


def test_a_large_matrix_is_scaled_a_few_columns_at_a_time_to_the_same_bits(monkeypatch):
    drawn = numpy.random.default_rng(0)
    features = drawn.normal(3, 2, (4001, 13)).astype(numpy.float32)
    target = (features[:, 0] > features[:, 1]).astype(numpy.int64)
    whole = fitted((features, target), (features[:500], target[:500]), 2)
    monkeypatch.setattr(linear, "_BLOCK", 4001)
    before = features.copy()
    parts = fitted((features, target), (features[:500], target[:500]), 2)
    assert parts.weights.tobytes() == whole.weights.tobytes() and parts.bias.tobytes() == whole.bias.tobytes()
    monkeypatch.setattr(linear, "MAX_ENTRIES", 2000 * 13)
    sampled = fitted((features, target), (features[:500], target[:500]), 2)
    monkeypatch.setattr(linear, "_BLOCK", 4_000_000)
    assert fitted((features, target), (features[:500], target[:500]), 2).weights.tobytes() == sampled.weights.tobytes()
    assert (features == before).all(), "the rows of the caller stay as they are"
