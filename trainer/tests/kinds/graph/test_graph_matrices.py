"""Graphs in files of sparse matrices: Matrix Market, and the arrays of NumPy and SciPy."""

# ruff: noqa: F811 - tests take fixtures that are imported

import numpy
import pytest
from graph_files import cells, csr, ends, matrix, npz, settings, source  # noqa: F401 - one is a fixture

from trainer.errors import UserError
from trainer.kinds.graph.reading import arrays


@pytest.fixture
def market(source):
    return lambda text: arrays.matrix_market(source("m.mtx", text), settings(), None, None)


@pytest.mark.parametrize(
    ("text", "edges", "weight", "directed"),
    [
        pytest.param(matrix("coordinate real general", "3 3 2", "1 2 0.5", "3 1 2"), {("1", "2"), ("3", "1")}, {0.5, 2.0}, None, id="real"),
        pytest.param(matrix("coordinate pattern general", "3 3 1", "1 2"), {("1", "2")}, None, None, id="pattern"),
        pytest.param(matrix("coordinate integer symmetric", "3 3 1", "2 1 7"), {("2", "1"), ("1", "2")}, {7.0}, False, id="symmetric"),
    ],
)
def test_a_square_matrix_is_a_graph(market, text, edges, weight, directed):
    found = market(text)
    assert set(ends(found)) == edges and found.directed is directed and not found.bipartite
    assert (found.weight is None and weight is None) or set(found.weight.tolist()) == weight
    assert found.nodes[0].ids.to_pylist() == ["1", "2", "3"]  # nodes without edges, too


def test_another_matrix_has_two_sides(market):
    found = market(matrix("coordinate pattern general", "2 3 2", "1 1", "2 3"))
    assert found.bipartite and ends(found) == [("row:1", "column:1"), ("row:2", "column:3")] and not found.nodes


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no sparse matrix"),
        ("%%MatrixMarket vector coordinate real general\n", "no sparse matrix"),
        (matrix("array real general", "1 1", "5"), "no sparse matrix"),
        (matrix("coordinate complex general", "1 1 1", "1 1 1 1"), "no sparse matrix"),
        (matrix("coordinate real general"), "sizes that cannot be right"),
        (matrix("coordinate real general", "3 3"), "sizes that cannot be right"),
        (matrix("coordinate real general", "-3 3 1", "1 1 1"), "sizes that cannot be right"),
        (matrix("coordinate real general", f"{2**31} 3 1", "1 1 1"), "sizes that cannot be right"),
        (matrix("coordinate real general", "3 3 9000000", "1 1 1"), "sizes that cannot be right"),
        (matrix("coordinate real general", "3 3 2", "1 1 1"), "is damaged"),
        (matrix("coordinate real general", "3 3 1", "9 9 1"), "is damaged"),
    ],
)
def test_a_matrix_that_cannot_be_read_is_refused(market, text, said):
    with pytest.raises(UserError, match=said) as e:
        market(text)
    assert e.value.code == "unreadable_graph" and "m.mtx" in e.value.what


@pytest.fixture
def of_arrays(source):
    return lambda content: arrays.npz(source("g.npz", content if isinstance(content, bytes) else npz(**content)), settings(), None, None)


PAIRS = [(0, 1), (1, 2), (2, 0)]
CSR = csr(PAIRS, (4, 4))


@pytest.mark.parametrize("prefix", ["", "adj_", "adj.", "adj_matrix."])
def test_a_matrix_of_scipy_is_read_under_each_of_its_names(of_arrays, source, prefix):
    content = {f"{prefix}{k}": v for k, v in CSR.items()}
    found = of_arrays(content)
    assert ends(found) == [("0", "1"), ("1", "2"), ("2", "0")] and found.nodes[0].ids.to_pylist() == ["0", "1", "2", "3"]
    assert found.weight.tolist() == [1, 1, 1] and arrays.is_graph(source("g.npz", npz(**content)))


@pytest.mark.parametrize("pairs", [numpy.array(PAIRS), numpy.array(PAIRS).T.copy()[:, [0, 1, 2, 0]]], ids=["rows", "columns"])
def test_a_list_of_edges_may_lie_either_way(of_arrays, pairs):
    found = of_arrays({"edge_index": pairs, "x": numpy.ones((5, 2)), "y": numpy.array([0, 1, numpy.nan, 1, 0])})
    assert set(ends(found)) == {("0", "1"), ("1", "2"), ("2", "0")} and found.weight is None
    assert found.nodes[0].numbers == ("feature 0", "feature 1") and found.nodes[0].dense.shape == (5, 2)
    assert cells(found.nodes[0]) == {"label": ["0.0", "1.0", "", "1.0", "0.0"]}


def test_names_and_sparse_features_of_arrays(of_arrays):
    words = {f"attr_{k}": v for k, v in csr([(0, 1), (3, 0)], (4, 2)).items()}
    found = of_arrays({**CSR, **words, "node_names": numpy.array([b"a", b"\xc3\xbc", b"c", b"d"]), "labels": numpy.array(["x", "y", "x", ""])})
    assert ends(found)[0] == ("a", "ü") and found.nodes[0].words.toarray().tolist() == [[0, 1], [0, 0], [0, 0], [1, 0]]
    assert cells(found.nodes[0]) == {"label": ["x", "y", "x", ""]}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        pytest.param({"indices": numpy.array([0, 1, 4])}, "do not fit together", id="a column that is not there"),
        pytest.param({"indices": numpy.array([0.0, 1.0, 2.0])}, "do not fit together", id="columns as fractions"),
        pytest.param({"indptr": numpy.array([0, 3, 2, 3, 3])}, "do not fit together", id="rows that go back"),
        pytest.param({"indptr": numpy.array([1, 2, 2, 3, 3])}, "do not fit together", id="rows that begin late"),
        pytest.param({"shape": numpy.array([4])}, "do not fit together", id="a shape of one number"),
        pytest.param({"data": numpy.array(["a", "b", "c"])}, "do not fit together", id="values that are texts"),
        pytest.param({"data": numpy.ones(2)}, "do not fit together", id="fewer values"),
        pytest.param(csr(PAIRS, (4, 5)), "4 by 5, not of nodes by nodes", id="a matrix that is not square"),
        pytest.param({"node_names": numpy.array(["a", "a", "b", "c"])}, "names two nodes alike", id="equal names"),
        pytest.param({f"attr_{k}": v for k, v in csr([(0, 1)], (3, 2)).items()}, "features of 3 nodes, but edges of 4", id="other features"),
    ],
)
def test_arrays_that_are_no_graph_are_refused(of_arrays, change, said):
    with pytest.raises(UserError, match=said) as e:
        of_arrays({**CSR, **change})
    assert e.value.code == "unreadable_graph"


@pytest.mark.parametrize(
    ("edges", "said"),
    [
        (numpy.ones((3, 3), int), "no pairs of whole numbers"),
        (numpy.ones(4, int), "no pairs of whole numbers"),
        (numpy.ones((3, 2)), "no pairs of whole numbers"),
        (numpy.array([[0, -1]]), "no pairs of whole numbers"),
        (numpy.array([[0, 10**9]]), "too large"),
    ],
    ids=["triples", "a line", "fractions", "negative", "huge"],
)
def test_edges_in_arrays_that_are_no_pairs_are_refused(of_arrays, edges, said):
    with pytest.raises(UserError, match=said):
        of_arrays({"edges": edges})


def test_features_and_labels_of_other_nodes_are_left(of_arrays):
    found = of_arrays({**CSR, "attr_matrix": numpy.ones((3, 2)), "labels": numpy.ones(3), "ids": numpy.array(["a"])})
    assert found.nodes[0].dense is None and not found.nodes[0].cells and found.nodes[0].ids.to_pylist() == ["0", "1", "2", "3"]


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"no archive"])
def test_a_file_that_is_no_archive_has_no_arrays(of_arrays, source, content):
    assert not arrays.is_graph(source("g.npz", content))
    with pytest.raises(UserError, match="no archive of arrays"):
        of_arrays(content)


def test_pickled_arrays_are_never_loaded(of_arrays):
    with pytest.raises(UserError) as e:
        of_arrays({**CSR, "indices": numpy.array([print, 1, 2], object)})
    assert e.value.code == "pickled_graph" and "array indices of g.npz" in e.value.what


def test_arrays_that_do_not_fit_into_the_memory_are_refused(of_arrays, monkeypatch):
    monkeypatch.setattr(arrays, "memory", lambda: 10)
    with pytest.raises(UserError, match=r"g\.npz"):
        of_arrays(CSR)
