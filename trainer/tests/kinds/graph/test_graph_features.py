"""Features of nodes: bags of words, numbers and categories, and the same features for nodes that come later."""

import zlib

import numpy
import pytest
from scipy import sparse

from trainer.kinds.graph import features, words


@pytest.mark.parametrize(
    ("cell", "found"),
    [
        ("", []), ("  ", []), ("a b", ["a", "b"]), ("a,b;c|d\te", ["a", "b", "c", "d", "e"]), ('["a b", 1, 2.5, null, {}]', ["a b", "1", "2.5"]),
        ("['x', 'y']", ["x", "y"]), ("[a, b]", ["a", "b"]), ("[]", []), (",,", []), ("[" * 5000, []),
    ],
    ids=["empty", "blank", "blanks", "separators", "JSON", "Python", "neither", "an empty list", "separators alone", "very deep"],
)  # fmt: skip
def test_the_words_of_a_cell(cell, found):
    assert words.listed(cell) == found


def test_lists_of_words_count_each_known_word_once():
    matrix = words.of_lists(["a a b", "", '["c", "x"]'], ["c", "a", "b"])
    assert matrix.toarray().tolist() == [[0, 1, 1], [0, 0, 0], [1, 0, 0]]
    assert matrix.dtype == numpy.float32


def test_texts_are_words_by_a_hash_that_is_the_same_everywhere():
    matrix = words.of_texts(["Red red, GREEN", "", "über"], 64)
    places = [zlib.crc32(w.encode()) % 64 for w in ("red", "green", "über")]
    assert matrix.shape == (3, 64)
    assert [sorted(matrix[i].indices.tolist()) for i in range(3)] == [sorted(places[:2]), [], places[2:]]
    assert set(matrix.data) == {1}
    assert words.of_texts(["a"]).shape == (1, 1 << 14)
    assert words.of_texts(["x " * 10_000 + "behind"], 64).nnz == 1  # of a long text the beginning counts


def test_cells_of_numbers_are_words_unless_they_are_gaps_or_negative():
    assert words.of_cells([["1", "", "-3"], ["0", "2.5", "x"]], 3).toarray().tolist() == [[1, 0], [0, 2.5], [0, 0]]
    assert words.of_cells([], 2).shape == (2, 0)


def flagged(columns: int, share: float = 0.1, rows: int = 100) -> numpy.ndarray:
    return (numpy.random.default_rng(1).random((rows, columns)) < share).astype(numpy.float32)


@pytest.mark.parametrize(
    ("dense", "found"),
    [
        pytest.param(flagged(63), 0, id="too few columns"),
        pytest.param(flagged(64), 64, id="just enough columns"),
        pytest.param(flagged(80, 0.9), 0, id="mostly ones"),
        pytest.param(numpy.hstack([flagged(70), numpy.ones((100, 5), numpy.float32)]), 75, id="a frequent word among rare ones"),
        pytest.param(numpy.hstack([flagged(70), -flagged(5)]), 70, id="negative numbers are no words"),
        pytest.param(numpy.hstack([flagged(70), numpy.random.default_rng(2).random((100, 5)).astype(numpy.float32)]), 70, id="numbers are no words"),
        pytest.param(numpy.where(flagged(70) > 0, numpy.nan, 0).astype(numpy.float32), 70, id="gaps are no words"),
    ],
)
def test_many_columns_that_are_mostly_zero_are_words(dense, found):
    some, rest = words.flags(dense)
    assert some.tolist() == list(range(found))
    assert sorted([*some, *rest]) == list(range(dense.shape[1]))


def test_flags_become_a_sparse_matrix_without_gaps():
    dense = numpy.array([[1, 5, numpy.nan], [0, 5, 2]], numpy.float32)
    assert words.of_flags(dense, numpy.array([0, 2])).toarray().tolist() == [[1, 0], [0, 2]]


def test_rare_words_weigh_more_and_rows_have_equal_length():
    matrix = sparse.csr_matrix(numpy.array([[1, 1, 0], [1, 0, 0], [0, 0, 0]], numpy.float32))
    weight = words.weights(matrix)
    assert weight == pytest.approx(numpy.log(4 / numpy.array([3, 2, 1])) + 1)
    found = words.projected(matrix, weight, None, 2.0)
    assert numpy.linalg.norm(found, axis=1) == pytest.approx([2, 2, 0])
    assert found[0] == pytest.approx(2 * numpy.append(weight[:2], 0) / numpy.linalg.norm(weight[:2]))
    factor = words.scale(matrix, weight, None)
    assert (words.projected(matrix, weight, None, factor) ** 2).mean() == pytest.approx(1)
    assert words.scale(sparse.csr_matrix((2, 3), dtype=numpy.float32), weight, None) == 1.0
    assert words.projected(matrix, None, numpy.ones((3, 1), numpy.float32), 1.0)[:, 0] == pytest.approx([2**0.5, 1, 0])


@pytest.mark.parametrize(
    ("rows", "columns", "links", "projected"), [(30, 512, True, False), (30, 513, True, True), (8, 600, True, False), (30, 600, False, False)]
)
def test_only_wide_words_of_links_are_projected(rows, columns, links, projected, monkeypatch):
    monkeypatch.setattr(words, "WIDTH", 8)
    matrix = sparse.random(rows, columns, 0.02, "csr", numpy.float32, random_state=1)
    found = words.basis(matrix, words.weights(matrix), links, 1)
    assert (found is not None) == projected
    if found is not None:
        assert (found.shape, found.dtype) == ((columns, 8), numpy.float32)
        assert found.T @ found == pytest.approx(numpy.eye(8), abs=1e-3)
        assert (words.basis(matrix, words.weights(matrix), links, 1) == found).all()


def test_numbers_are_standardised_and_gaps_are_the_mean(tmp_path):
    dense = numpy.array([[1, 5, 1e6], [3, 5, 0], [numpy.nan, 5, 0]], numpy.float32)
    found = features.learn(features.Columns(3, numbers=[(("a", "b", "c"), dense)]), True, 1, tmp_path)
    assert found.columns == ("a", "b", "c")
    assert found.x[:, 0].tolist() == [-1, 1, 0]
    assert found.x[:, 1].tolist() == [0, 0, 0]  # a constant tells nothing, and divides by no zero
    assert found.sentences == ["1 gap in a (11.1% of the cells) counts as the mean of its column."]
    new = {"a": ["2", "x", "1e9"], "b": ["5", "6", ""]}
    again = features.encode(found.described, found.arrays, new, 3, tmp_path)
    assert again[:, 0].tolist() == [0, 0, features.LIMIT]
    assert again[:, 1].tolist() == [0, 1, 0] and (again[:, 2] == 0).all()


def test_categories_are_one_number_each_and_unknown_ones_count_for_nothing(tmp_path):
    found = features.learn(features.Columns(4, categories={"c": ["b", "a", "", "b"]}), True, 1, tmp_path)
    assert found.x.tolist() == [[0, 1], [1, 0], [0, 0], [0, 1]]
    assert found.described["parts"] == [{"kind": "category", "column": "c", "values": ["a", "b"]}]
    assert features.encode(found.described, {}, {"c": [" a ", "z"]}, 2, tmp_path).tolist() == [[1, 0], [0, 0]]
    assert features.encode(found.described, {}, {}, 2, tmp_path).tolist() == [[0, 0], [0, 0]]
    assert features.learn(features.Columns(4), True, 1, tmp_path).x is None
    assert features.encode({"parts": []}, {}, {}, 2, tmp_path).shape == (2, 0)


def test_words_of_new_nodes_have_the_features_of_known_ones(tmp_path):
    cells = ["red lamp", "green lamp", "", "red"]
    found = features.learn(features.Columns(4, texts={"t": cells}), False, 1, tmp_path)
    assert (features.encode(found.described, found.arrays, {"t": cells}, 4, tmp_path) == found.x).all()
    assert found.sentences == ["1 gap in t (25.0% of the cells) counts as no words."]
    plain = features.plain_words(found.described, found.arrays)
    assert plain == pytest.approx(1 / found.arrays["weights_0"])
    assert features.plain_words({"parts": [{"kind": "category"}]}, {}) is None and features.plain_words({}, {}) is None
