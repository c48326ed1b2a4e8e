"""The simple models of edges and nodes, their combination with the network, and the choice among them."""

from types import SimpleNamespace

import numpy
import pytest

from trainer.kinds.graph import links, negatives, splits
from trainer.kinds.graph.comparison import choice, compare, delivered, fusion
from trainer.kinds.graph.comparison.fusion import MODEL, Fusion
from trainer.kinds.graph.comparison.neighbours import NAMES, Neighbours
from trainer.kinds.graph.graph import Graph
from trainer.kinds.graph.target import Links

SETTINGS = SimpleNamespace(seed=1, split="auto", validation_fraction=0.15, test_fraction=0.15)


def rows(pairs, nodes):
    """The neighbours of each node, in compressed rows."""
    pairs = numpy.asarray(pairs)
    both = numpy.unique(numpy.concatenate([pairs, pairs[:, ::-1]]), axis=0)
    indptr = numpy.concatenate([[0], numpy.cumsum(numpy.bincount(both[:, 0], minlength=nodes))])
    return indptr, both[:, 1].astype(numpy.int32)


def communities(nodes=150, edges=500, seed=0):
    """Five groups of nodes; most edges stay within a group, and the features tell the group, with noise."""
    import pyarrow

    r = numpy.random.default_rng(seed)
    group = numpy.arange(nodes) % 5
    u = r.integers(0, nodes, edges)
    v = numpy.where(r.random(edges) < 0.9, (u + 5 * r.integers(1, nodes // 5, edges)) % nodes, r.integers(0, nodes, edges))
    pairs = numpy.unique(numpy.sort(numpy.stack([u, v], axis=1)[u != v], axis=1), axis=0).astype(numpy.int32)
    x = (r.normal(0, 1, (5, 8))[group] + 1.5 * r.normal(0, 1, (nodes, 8))).astype(numpy.float32)
    ids = pyarrow.array([f"n{i}" for i in range(nodes)])
    return Graph(ids=ids, source=pairs[:, 0], target=pairs[:, 1], x=x), group


def measured(graph):
    found = splits.links(graph, SETTINGS)
    train = found.train
    indptr, indices = rows(numpy.stack([graph.source[train], graph.target[train]], axis=1), graph.nodes)
    against = {n: negatives.draw(graph, getattr(found, n), i, 50) for i, n in enumerate(("train", "validation", "test"))}
    return Neighbours(indptr, indices, graph.x), against


# 0 and 1 share 2 and 3; 2 has the neighbours 0, 1, 4 and 3 the neighbours 0, 1. 4 and 5 are joined by a path of three edges from 0.
SQUARE = [[0, 2], [0, 3], [1, 2], [1, 3], [2, 4], [4, 5]]


@pytest.mark.parametrize(
    ("pair", "name", "value"),
    [
        pytest.param((0, 1), "common_neighbours", 2, id="two common neighbours"),
        pytest.param((0, 1), "adamic_adar", 1 / numpy.log(3) + 1 / numpy.log(2), id="Adamic-Adar"),
        pytest.param((0, 1), "resource_allocation", 1 / 3 + 1 / 2, id="resource allocation"),
        pytest.param((0, 5), "common_neighbours", 0, id="no common neighbour"),
        pytest.param((0, 5), "three_steps", 1 / 3 * 1 / 2, id="one path of three edges"),
        pytest.param((0, 6), "resource_allocation", 0, id="a node without edges"),
    ],
)
def test_shared_neighbours(pair, name, value):
    graph = Neighbours(*rows(SQUARE, 7))
    found = graph.columns(numpy.array([pair[0]]), numpy.array([[pair[1]]]))[0, 0, NAMES.index(name)]
    assert found**2 == pytest.approx(value, abs=1e-6)


def test_neighbours_agree_with_networkx():
    import networkx

    graph, _ = communities(60, 200)
    pairs = numpy.stack([graph.source, graph.target], axis=1)
    other = networkx.Graph(pairs.tolist())
    asked = [(u, v) for u in range(0, 60, 7) for v in range(1, 60, 5) if u != v and u in other and v in other]
    found = Neighbours(*rows(pairs, 60)).columns(numpy.array([u for u, _ in asked]), numpy.array([[v] for _, v in asked]))[:, 0]
    for name, oracle in (
        ("adamic_adar", networkx.adamic_adar_index),
        ("resource_allocation", networkx.resource_allocation_index),
        ("preferential_attachment", lambda g, p: [(u, v, numpy.log1p(g.degree(u)) + numpy.log1p(g.degree(v))) for u, v in p]),
    ):
        power = 1 if name == "preferential_attachment" else 2
        wanted = [w for _, _, w in oracle(other, asked)]
        assert found[:, NAMES.index(name)] ** power == pytest.approx(wanted, rel=1e-4, abs=1e-6)


def test_order_of_the_pairs_does_not_matter():
    graph = Neighbours(*rows(SQUARE, 7))
    source, targets = numpy.array([0, 4, 0]), numpy.array([[1, 5], [0, 1], [5, 4]])
    found = graph.columns(source, targets)
    for i in range(3):
        assert (graph.columns(source[i : i + 1], targets[i : i + 1])[0] == found[i]).all()


def test_fusion_is_better_than_its_parts_and_counts_unknown_features_for_nothing():
    graph, _ = communities()
    near, against = measured(graph)
    found = compare.of_links(near, None, against, 0)
    plan = SimpleNamespace(metric="mrr", target=Links(), settings=SimpleNamespace(seed=0, source=lambda name: "form"))
    scores = {r.name: links.summary(r.answers["test"])["mrr"] for r in found}
    assert scores["heuristics"] > 0.9 * max(scores.values())
    best, _ = choice.best(found, plan)
    assert best.value(plan) == max(r.value(plan) for r in found)
    listed = compare.entries(found, best, plan)
    assert [e["chosen"] for e in listed] == [True] + [False] * (len(found) - 1)
    assert listed[0]["why"].startswith("Its MRR on the validation edges is the best: ")
    assert all(e["test"]["mrr"]["low"] <= e["test"]["mrr"]["value"] for e in listed)


def test_a_useless_network_does_not_harm_and_a_perfect_one_wins():
    graph, group = communities()
    near, against = measured(graph)
    useless = numpy.random.default_rng(0).normal(0, 1, (graph.nodes, 6)).astype(numpy.float32)
    perfect = numpy.concatenate([numpy.eye(5, dtype=numpy.float32)[group], numpy.zeros((graph.nodes, 2), numpy.float32)], axis=1)
    plain, with_noise, with_truth = (
        {r.name: links.summary(r.answers["test"])["auc"] for r in compare.of_links(near, table, against, 0)} for table in (None, useless, perfect)
    )
    assert with_noise["fusion"] > 0.97 * plain["heuristics"]
    assert with_truth["fusion"] > plain["heuristics"]


def test_validation_edges_are_scored_by_weights_that_did_not_see_them():
    graph, _ = communities()
    near, against = measured(graph)
    known, sources = fusion.columns(near, None, against["validation"]), against["validation"].source
    held = fusion.crossed(known, near.names, sources, 0)
    inside = fusion.fit(known, near.names, 0).answers(known, sources)
    assert len(held) == len(inside) == len(sources)
    assert not numpy.allclose(held.positive, inside.positive)
    assert numpy.corrcoef(held.positive, inside.positive)[0, 1] > 0.7


def test_what_is_delivered_is_read_back(tmp_path):
    graph, _ = communities()
    near, _ = measured(graph)
    saved = delivered.PairScores(Fusion(("resource_allocation", "cosine"), (0.25, 2.0)), near, None)
    saved.save(tmp_path)
    read = delivered.load(tmp_path, near, None)
    source, targets = numpy.array([3, 9]), numpy.array([[1, 2, 3], [7, 8, 9]])
    assert (read.scores(source, targets) == saved.scores(source, targets)).all()
    assert not read.network
    (tmp_path / "fusion.json").unlink()
    assert delivered.load(tmp_path, near, None) is None


@pytest.mark.parametrize(
    "content",
    [
        pytest.param('{"columns": ["age"], "weights": [1]}', id="unknown column"),
        pytest.param('{"columns": ["cosine"], "weights": [1, 2]}', id="more weights than columns"),
        pytest.param('{"columns": ["cosine"], "weights": [NaN]}', id="weight that is no number"),
        pytest.param('{"columns": 3}', id="no columns"),
    ],
)
def test_a_damaged_description_is_refused(tmp_path, content):
    (tmp_path / "fusion.json").write_text(content)
    graph, _ = communities()
    with pytest.raises((KeyError, TypeError, ValueError)):
        delivered.load(tmp_path, measured(graph)[0], None)


def test_a_network_that_is_missing_is_an_error():
    near, _ = measured(communities()[0])
    with pytest.raises(ValueError, match="network is missing"):
        Fusion((MODEL,), (1.0,)).scores(near, None, numpy.array([0]), numpy.array([[1]]))


@pytest.mark.parametrize(
    ("validation", "test", "names"),
    [
        pytest.param(40, 0, {"heuristics"}, id="no test edges"),
        pytest.param(5, 30, set(), id="too few validation edges for weights"),
    ],
)
def test_few_held_out_edges(validation, test, names):
    graph, _ = communities()
    near, against = measured(graph)
    against["validation"] = negatives.draw(graph, against["validation"].edges[:validation], 1, 20)
    against["test"] = negatives.draw(graph, against["test"].edges[:test], 2, 20)
    found = compare.of_links(near, None, against, 0)
    assert {r.name for r in found} == names | set(near.names)
    assert all(len(r.answers["test"]) == test for r in found)


def test_paths_of_three_edges_tell_the_links_of_a_bipartite_graph():
    # Users 0, 1 and 2 like the items 3, 4 and 5. User 0 likes what user 1 likes, who likes item 5, too.
    near = Neighbours(*rows([[0, 3], [0, 4], [1, 3], [1, 4], [1, 5], [2, 6]], 7))
    found = near.columns(numpy.array([0]), numpy.array([[5, 6]]), ("three_steps", "common_neighbours"))[0]
    assert found[0, 0] > found[1, 0] == 0
    assert (found[:, 1] == 0).all()


@pytest.mark.parametrize(
    ("model", "decoder", "said"),
    [
        pytest.param("auto", "fused", "", id="nothing was asked for"),
        pytest.param("sage", "fused", "The model was set to sage.", id="the network by its name"),
        pytest.param("auto", "dot", "The decoder was set to dot", id="a score of the network alone"),
    ],
)
def test_the_network_is_delivered_where_it_was_asked_for(model, decoder, said):
    from trainer.kinds.graph import driver

    found = driver._asked(SimpleNamespace(model=model, decoder=decoder), "sage")
    assert found.startswith(said)
    assert bool(found) == bool(said)
