"""Splits of edges and nodes, and the pairs that held-out edges are measured against."""

from types import SimpleNamespace

import numpy
import pyarrow
import pytest

from trainer.errors import UserError
from trainer.kinds.graph import negatives, splits
from trainer.kinds.graph.graph import CLASSES, NUMBERS, Graph

SETTINGS = SimpleNamespace(seed=1, split="auto", validation_fraction=0.1, test_fraction=0.1)


def graph(nodes=200, edges=1000, seed=0, directed=False, left=0, **more):
    r = numpy.random.default_rng(seed)
    u, v = r.integers(0, left or nodes, 4 * edges), r.integers(left, nodes, 4 * edges)
    pairs = numpy.stack([u, v], axis=1)[u != v]
    pairs = pairs if directed or left else numpy.sort(pairs, axis=1)
    pairs = numpy.unique(pairs, axis=0)
    pairs = pairs[numpy.sort(r.permutation(len(pairs))[:edges])]
    return of(pairs, nodes, directed=directed, left=left, **more)


def of(pairs, nodes, **more):
    pairs = numpy.asarray(pairs, numpy.int32)
    ids = more.pop("ids", [f"n{i:04d}" for i in range(nodes)])
    return Graph(ids=pyarrow.array(ids), source=pairs[:, 0], target=pairs[:, 1], **more)


def test_each_edge_is_in_one_split():
    g = graph()
    found = splits.links(g, SETTINGS)
    assert found.counts == {"train": 800, "validation": 100, "test": 100}
    assert sorted(numpy.concatenate([found.train, found.validation, found.test])) == list(range(1000))
    assert found.way == "random"


def test_the_split_does_not_depend_on_other_edges():
    g = graph()
    half = of(numpy.stack([g.source, g.target], axis=1)[::2], 200)
    test = {tuple(p) for p in pairs(g, splits.links(g, SETTINGS).test)}
    smaller = {tuple(p) for p in pairs(half, splits.links(half, SETTINGS).test)}
    assert len(smaller - test) <= 15


def pairs(g, edges):
    return numpy.stack([g.source[edges], g.target[edges]], axis=1)


def test_both_directions_of_a_pair_stay_together():
    g = graph(directed=True)
    both = of(numpy.unique(numpy.concatenate([pairs(g, slice(None)), pairs(g, slice(None))[:, ::-1]]), axis=0), 200, directed=True)
    found = splits.links(both, SETTINGS)
    trained = {tuple(p) for p in pairs(both, found.train)}
    assert not any((int(v), int(u)) in trained for u, v in pairs(both, found.test))


@pytest.mark.parametrize(
    ("ids", "distinct"),
    [
        pytest.param(["1", "01", "001", "10", "100"], 5, id="leading and trailing zeros"),
        pytest.param(["ab", "ba", "a", "b", ""], 5, id="order of letters, and an empty id"),
        pytest.param(["ä", "a", "漢字", "字漢"], 4, id="letters beyond ASCII"),
    ],
)
def test_ids_have_hashes_of_their_own(ids, distinct):
    found = splits.id_hashes(pyarrow.array(ids))
    assert len(set(found.tolist())) == distinct
    assert splits.id_hashes(pyarrow.array(["x", *ids]))[1:].tolist() == found.tolist()
    assert splits.id_hashes(pyarrow.array(["x", *ids]).slice(1)).tolist() == found.tolist()


def test_edges_with_times_are_cut_by_time():
    g = graph(time=numpy.arange(1000.0) // 10)
    found = splits.links(g, SETTINGS)
    assert found.way == "time"
    assert g.time[found.train].max() < g.time[found.validation].min()
    assert g.time[found.validation].max() < g.time[found.test].min()
    assert found.counts == {"train": 800, "validation": 100, "test": 100}
    assert found.cut == {"test": 90.0, "validation": 80.0}


def test_times_that_cannot_be_cut_are_not_used():
    g = graph(time=numpy.append(numpy.zeros(100), numpy.ones(900)))
    assert splits.links(g, SETTINGS).way == "random"


def test_given_splits_are_kept_and_missing_ones_are_cut_out():
    g = graph(given={"train": numpy.arange(0, 900), "test": numpy.arange(900, 1000)})
    found = splits.links(g, SETTINGS)
    assert found.test.tolist() == list(range(900, 1000))
    assert found.counts == {"train": 810, "validation": 90, "test": 100}


def test_a_graph_of_one_edge_has_nothing_to_learn_from():
    with pytest.raises(UserError, match="No edges are left for the training"):
        splits.links(of([[0, 1]], 2), SETTINGS)


def test_test_edges_of_unseen_nodes_are_counted():
    g = of([[0, 1], [1, 2], [2, 3], [0, 4]], 5, given={"train": [0, 1], "validation": [2], "test": [3]})
    assert splits.links(g, SETTINGS).unseen == 1


def test_a_sample_is_part_of_the_edges():
    g = graph()
    found = splits.sample(g, numpy.arange(0, 1000, 2), 1, 50)
    assert len(found) == 50
    assert set(found) <= set(range(0, 1000, 2))


@pytest.mark.parametrize("task", [CLASSES, NUMBERS])
def test_labelled_nodes_are_dealt_evenly(task):
    labels = tuple("" if i % 10 == 0 else str(i % 3) if task == CLASSES else str(i / 7) for i in range(200))
    found = splits.nodes(graph(labels=labels, task=task), SETTINGS)
    assert sorted(numpy.concatenate(list(found.values()))) == [i for i in range(200) if i % 10]
    assert 18 <= len(found["test"]) <= 28
    if task == CLASSES:
        assert {labels[i] for i in found["test"]} == {"0", "1", "2"}


@pytest.mark.parametrize(
    "g",
    [
        pytest.param(graph(), id="undirected"),
        pytest.param(graph(directed=True), id="directed"),
        pytest.param(graph(left=80), id="bipartite"),
        pytest.param(graph(nodes=6000, edges=3000), id="more nodes than candidates"),
        pytest.param(graph(nodes=40, edges=500), id="dense"),
        pytest.param(of([[0, i] for i in range(1, 60)], 60), id="star"),
    ],
)
def test_no_pair_is_an_edge_or_a_loop(g):
    found = negatives.draw(g, numpy.arange(g.edges), 3, 1000)
    known = {tuple(p) for p in pairs(g, slice(None)).tolist()}
    known |= set() if g.directed or g.left else {(v, u) for u, v in known}
    drawn = {(int(u), int(v)) for u, row in zip(found.source, found.targets) for v in row} | {tuple(p) for p in found.pairs.tolist()}
    assert not drawn & known
    assert all(u != v and v >= g.left for u, v in drawn)
    assert {tuple(p) for p in zip(found.source.tolist(), found.target.tolist())} <= known
    assert found.left_out == 0
    assert found.k >= 1
    again = negatives.draw(g, numpy.arange(g.edges), 3, 1000)
    assert (again.targets == found.targets).all()
    assert (again.pairs == found.pairs).all()


def test_the_random_pair_of_an_edge_may_keep_its_source():
    g = graph(nodes=300)
    found = negatives.draw(g, numpy.arange(50), 0, 100, joined=numpy.zeros(300))
    assert (found.pairs[:, 0] == found.source).all() and not negatives.Known(g).illegal(*found.pairs.T).any()
    assert (negatives.draw(g, numpy.arange(50), 0, 100).pairs[:, 0] != found.source).any()


def test_the_newest_edges_and_given_ones_of_new_nodes_are_later_than_the_others():
    few, many = numpy.arange(2), numpy.arange(10)
    assert splits.LinkSplits(many, few, many, "time", "").later
    assert splits.LinkSplits(many, few, many, "given", "", unseen=6).later
    assert not splits.LinkSplits(many, few, many, "given", "", unseen=5).later
    assert not splits.LinkSplits(many, few, many, "random", "", unseen=10).later


def test_candidates_of_a_small_graph_are_different():
    found = negatives.draw(graph(nodes=300), numpy.arange(50), 0, 100)
    assert all(len(set(row)) == 100 for row in found.targets.tolist())


def test_a_source_that_is_joined_with_all_is_left_out():
    g = of([[0, 2], [0, 3], [1, 2]], 4, directed=True, left=2)
    found = negatives.draw(g, numpy.arange(3), 0)
    assert found.left_out == 2
    assert found.edges.tolist() == [2]
