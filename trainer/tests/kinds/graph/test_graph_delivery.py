"""What a training on a graph hands over: figures, vectors, likely links, and the graph for predictions."""

import json
from dataclasses import replace

import numpy
import pyarrow
import pytest
from pyarrow import parquet

from trainer.kinds.graph.delivery import chances, figures, likeliest, picture, stored, vectors
from trainer.kinds.graph.graph import CLASSES, Graph
from trainer.kinds.graph.links import LinkAnswers
from trainer.kinds.graph.splits import LinkSplits
from trainer.measure.predictions import of_scores


def graph(pairs, nodes: int = 0, **more) -> Graph:
    """A graph with these edges, and nodes that are called n0, n1 and so on."""
    pairs = numpy.asarray(pairs, numpy.int32).reshape(-1, 2)
    count = nodes or int(pairs.max()) + 1
    return Graph(pyarrow.array([f"n{i}" for i in range(count)]), pairs[:, 0], pairs[:, 1], **more)


def communities(nodes: int = 120, parts: int = 3, edges: int = 600, seed: int = 0, **more) -> Graph:
    """Random edges, nearly all of them within the parts that the nodes take turns in."""
    r = numpy.random.default_rng(seed)
    u = r.integers(0, nodes, edges)
    v = numpy.where(r.random(edges) < 0.95, (r.integers(0, nodes // parts, edges) * parts + u % parts) % nodes, r.integers(0, nodes, edges))
    pairs = numpy.unique(numpy.sort(numpy.column_stack([u, v])[u != v], axis=1), axis=0)
    return graph(pairs, nodes, **more)


def answers(positive, negative, ranks=None, sources=None) -> LinkAnswers:
    n = len(positive)
    return LinkAnswers(
        numpy.asarray(positive, float),
        numpy.asarray(negative, float),
        numpy.ones(n) if ranks is None else numpy.asarray(ranks, float),
        numpy.arange(n) if sources is None else numpy.asarray(sources),
        100,
    )


@pytest.mark.parametrize(
    ("said", "degrees", "edges", "counts"),
    [
        ("no edge at all", [0, 0], [], []),
        ("all nodes have one degree", [3, 3, 3], None, [3]),
        ("isolated nodes are left out", [0, 1, 1, 2], [1, 2, 3], [2, 1]),
    ],
)
def test_degree_bins(said, degrees, edges, counts):
    found = figures.degree_bins(numpy.asarray(degrees))
    assert [c for c in found["counts"] if c] == counts, said
    if edges is not None:
        assert found["edges"] == edges
    assert sum(found["counts"]) == sum(d > 0 for d in degrees)


def test_a_hub_of_a_million_edges_is_in_the_last_bin():
    found = figures.degree_bins(numpy.asarray([1] * 5 + [1_000_000]))
    assert len(found["counts"]) <= figures.DEGREE_BINS and found["counts"][0] == 5 and found["counts"][-1] == 1
    assert found["edges"] == sorted(set(found["edges"]))


def test_the_share_of_edges_within_a_label_leaves_out_nodes_without_one():
    g = graph([[0, 1], [1, 2], [2, 3], [3, 4]], labels=("a", "a", "b", "", "b"), task=CLASSES)
    assert figures.homophily(g) == 0.5
    assert figures.homophily(graph([[0, 1]])) is None
    assert figures.homophily(graph([[0, 1]], labels=("", "a"))) is None


def test_the_section_of_a_timed_graph_names_the_dates():
    day = 86400.0
    pairs = [[i, i + 1] for i in range(10)]
    told = {
        "loops": 2,
        "duplicates": 1,
        "components": 1,
        "largest_component": 11,
        "reciprocity": 0.1,
        "time": {"column": "when"},
    }
    g = graph(pairs, directed=True, time=(10_000 + numpy.arange(10)) * day, told=told)
    splits = LinkSplits(numpy.arange(7), numpy.asarray([7]), numpy.asarray([8, 9]), "time", "", unseen=2)
    found = figures.shape(g, splits)
    assert found["time"] == {"column": "when", "from": "1997-05-19", "to": "1997-05-28", "validation_from": "1997-05-26", "test_from": "1997-05-27"}
    assert found["split"] == {"by": "time", "supervision": 7, "messages": 7, "validation": 1, "test": 2, "unseen_nodes": 2}
    assert (found["loops"], found["duplicates"], found["isolated"], found["reciprocity"]) == (2, 1, 0, 0.1)


def test_scores_by_degree_cover_every_test_edge_once():
    degrees = numpy.asarray([0, 1, 2, 3, 4, 50])
    sources = numpy.repeat(numpy.arange(6), 30)
    ranks = numpy.where(degrees[sources] == 0, 10, 1)
    found = figures.links_by_degree(answers(numpy.ones(180), numpy.zeros(180), ranks, sources), degrees, 0)
    assert found["metric"] == "mrr" and sum(row["n"] for row in found["rows"]) == 180
    assert found["rows"][0] | {"low": 0, "high": 0} == {"from": 0, "to": 0, "n": 30, "value": 0.1, "low": 0, "high": 0}
    for before, after in zip(found["rows"], found["rows"][1:]):
        assert before["to"] < after["from"]


def test_scores_of_nodes_by_degree():
    truth = numpy.asarray([0, 1] * 40)
    scores = numpy.eye(2)[truth] * 3
    found = figures.nodes_by_degree(of_scores(truth, scores), numpy.arange(80), 0)
    assert found["metric"] == "accuracy" and all(row["value"] == 1 and row["low"] < 1 for row in found["rows"])
    assert figures.nodes_by_degree(of_scores(truth[:0], scores[:0]), numpy.arange(0), 0) == {"metric": "accuracy", "rows": []}


def test_probabilities_rise_with_the_score_and_fit_the_edges():
    r = numpy.random.default_rng(1)
    validation = answers(r.normal(1, 1, 5000), r.normal(-1, 1, 5000))
    chance = chances.fitted(validation)
    assert chance.slope == pytest.approx(2, rel=0.1)  # the log odds of two normal distributions with means +1 and -1
    assert chances.restored(json.loads(json.dumps(chance.described()))) == chance
    backwards = chances.fitted(answers([0.0, 0.1], [0.9, 1.0]))
    assert backwards.slope > 0
    assert numpy.isfinite(chances.fitted(answers([5.0] * 9, [-5.0] * 9)).of(numpy.asarray([1e9, -1e9, 0]))).all()


def test_the_picture_shows_labels_sides_or_communities():
    g = communities()
    z = numpy.eye(3)[numpy.arange(120) % 3] + 0.1 * numpy.random.default_rng(0).standard_normal((120, 3))
    found = picture.picture(z, g, 0)
    assert found["grouped_by"] == "community" and found["explained"] > 0.8 and len(found["points"]) == 120
    codes = numpy.asarray([p[2] for p in found["points"]])
    for code in range(len(found["groups"])):  # a group lies within one of the parts, but for a few nodes
        parts = numpy.bincount(numpy.flatnonzero(codes == code) % 3, minlength=3)
        assert parts.max() >= 0.9 * parts.sum()
    assert found == picture.picture(z, g, 0)
    assert picture.picture(z, communities(labels=tuple("ab"[i % 2] for i in range(120))), 0)["groups"] == ["a", "b"]
    assert picture.picture(z, graph([[0, 60]], 120, left=60), 0)["grouped_by"] == "side"
    assert picture.picture(numpy.zeros((2, 1)), graph([[0, 1]]), 0)["explained"] == 0


def test_vectors_are_read_back_with_their_ids(tmp_path):
    z = numpy.random.default_rng(0).standard_normal((7, 4))
    ids = pyarrow.array(["035", "a,b", 'say "hi"', "ü", "", "x y", "7"])
    found = vectors.write(tmp_path / "embeddings.parquet", replace(graph([[0, 1]], 7), ids=ids), z)
    table = parquet.read_table(tmp_path / "embeddings.parquet")
    assert table.column("id").to_pylist() == ids.to_pylist()
    assert numpy.allclose(numpy.stack(table.column("vector").to_numpy(zero_copy_only=False)), z, atol=2e-3)
    assert found == {"rows": 7, "width": 4, "bytes": (tmp_path / "embeddings.parquet").stat().st_size, "delivered": True}


def test_vectors_that_are_too_large_are_not_written(tmp_path, monkeypatch):
    monkeypatch.setattr(vectors, "BYTES", 10)
    found = vectors.write(tmp_path / "embeddings.parquet", graph([[0, 1]], 2), numpy.ones((2, 4)))
    assert not found["delivered"] and "Python" in found["why"] and not list(tmp_path.iterdir())


class ByVectors:
    def __init__(self, z):
        self.z = z

    def scores(self, source, targets):
        return numpy.einsum("nw,nkw->nk", self.z[source], self.z[targets])


@pytest.mark.parametrize("with_vectors", [True, False], ids=["by vectors and neighbours", "by neighbours alone"])
def test_likely_links_are_new_and_best_first(tmp_path, with_vectors):
    g = communities()
    r = numpy.random.default_rng(0)
    z = (numpy.eye(3)[numpy.arange(120) % 3] + 0.2 * r.standard_normal((120, 3))).astype(numpy.float32)
    stored.write(tmp_path / stored.NAME, g)
    known = stored.load(tmp_path / stored.NAME)
    table = numpy.hstack([z, numpy.zeros((120, 2), numpy.float32)])
    found = likeliest.find(ByVectors(z), known, table if with_vectors else None, numpy.arange(120), 5)
    edges = set(zip(g.source.tolist(), g.target.tolist()))
    for u, targets, scores in zip(found.source, found.targets, found.scores):
        there = targets[targets >= 0].tolist()
        assert len(there) == len(set(there)) and u not in there
        assert all((min(u, v), max(u, v)) not in edges for v in there)
        assert (numpy.diff(scores[: len(there)]) <= 0).all()
    if with_vectors:  # then the best of all pairs without an edge are found
        every = z @ z.T
        for u, v in edges:
            every[u, v] = every[v, u] = -9
        numpy.fill_diagonal(every, -9)
        assert numpy.allclose(found.scores, -numpy.sort(-every, axis=1)[:, :5], atol=1e-5)


@pytest.mark.parametrize(("cells", "steps"), [(1 << 20, 1 << 20), (120 * 16, 1 << 20), (1, 60)])
def test_likely_links_are_the_same_whatever_is_looked_at_at_once(tmp_path, monkeypatch, cells, steps):
    g = communities(nodes=300, edges=1500)
    z = numpy.random.default_rng(0).standard_normal((300, 6)).astype(numpy.float32)
    stored.write(tmp_path / stored.NAME, g)
    known, table = stored.load(tmp_path / stored.NAME), numpy.concatenate([z, numpy.zeros((300, 2), numpy.float32)], axis=1)
    whole = likeliest.find(ByVectors(z), known, table, numpy.arange(120), 5)
    monkeypatch.setattr(likeliest, "_CELLS", cells)
    monkeypatch.setattr(likeliest, "_STEPS", steps)  # the best by the vectors are the best of all here
    monkeypatch.setattr(likeliest, "_SOURCES", 50)
    found = likeliest.find(ByVectors(z), known, table, numpy.arange(120), 5)
    assert numpy.array_equal(found.targets, whole.targets) and numpy.allclose(found.scores, whole.scores)


def test_likely_links_of_a_bipartite_graph_lead_to_the_other_side(tmp_path):
    g = graph([[0, 3], [0, 4], [1, 3], [2, 5]], left=3, directed=False)
    stored.write(tmp_path / stored.NAME, g)
    found = likeliest.find(
        ByVectors(numpy.ones((6, 2), numpy.float32)), stored.load(tmp_path / stored.NAME), numpy.ones((6, 2)), numpy.arange(3), 9, left=3
    )
    assert [sorted(t[t >= 0].tolist()) for t in found.targets] == [[5], [4, 5], [3, 4]]


def test_the_graph_is_read_back_with_its_ids_weights_and_features(tmp_path):
    x = numpy.random.default_rng(0).standard_normal((4, 3)).astype(numpy.float32)
    g = graph([[0, 1], [1, 2]], 4, x=x, weight=numpy.asarray([1, 2], numpy.float32))
    size = stored.write(tmp_path / stored.NAME, g)
    assert size == (tmp_path / stored.NAME).stat().st_size and [f.name for f in tmp_path.iterdir()] == [stored.NAME]
    found = stored.load(tmp_path / stored.NAME)
    assert found.nodes == 4 and found.indptr.tolist() == [0, 1, 3, 4, 4] and found.indices.tolist() == [1, 0, 2, 1]
    assert found.weights.tolist() == [1, 1, 2, 2] and numpy.array_equal(found.x, x)
    assert found.numbers(["n2", "N2", "n0", "2"]).tolist() == [2, -1, 0, -1]
    from safetensors.numpy import load_file

    assert set(load_file(tmp_path / stored.NAME)) == {"indptr", "indices", "weights", "x", "ids", "id_ends"}


@pytest.mark.parametrize(
    ("said", "change"),
    [
        ("edges to nodes that are not there", lambda t: t["indices"].__setitem__(0, 9)),
        ("edges to negative nodes", lambda t: t["indices"].__setitem__(0, -1)),
        ("rows that go back", lambda t: t["indptr"].__setitem__(1, 5)),
        ("rows that end early", lambda t: t["indptr"].__setitem__(-1, 1)),
        ("ids that end elsewhere", lambda t: t["id_ends"].__setitem__(-1, 99)),
        ("ids that are no texts", lambda t: t["ids"].__setitem__(0, 255)),
        ("no edges tensor", lambda t: t.pop("indices")),
        ("features of other nodes", lambda t: t.__setitem__("x", numpy.ones((9, 2), numpy.float32))),
        ("features of another type", lambda t: t.__setitem__("x", numpy.ones((4, 2), numpy.int64))),
        ("another tensor", lambda t: t.__setitem__("more", numpy.ones(4, numpy.float32))),
        ("neighbours as fractions", lambda t: t.__setitem__("indices", t["indices"].astype(numpy.float32))),
    ],
)
def test_a_forged_graph_is_refused(said, change, tmp_path):
    from safetensors.numpy import load_file, save_file

    stored.write(tmp_path / stored.NAME, graph([[0, 1], [1, 2]], 4))
    tensors = load_file(tmp_path / stored.NAME)
    change(tensors)
    save_file(tensors, tmp_path / "forged.safetensors")
    with pytest.raises(ValueError, match=r".+"):
        stored.load(tmp_path / "forged.safetensors").numbers(["n1"])


def test_a_graph_that_is_cut_off_is_refused(tmp_path):
    stored.write(tmp_path / stored.NAME, graph([[0, 1], [1, 2]], 4))
    whole = (tmp_path / stored.NAME).read_bytes()
    for length in (0, 4, 20, len(whole) - 1):
        (tmp_path / "cut.safetensors").write_bytes(whole[:length])
        with pytest.raises(ValueError, match=r".+"):
            stored.load(tmp_path / "cut.safetensors")
