"""Graphs that cannot be used, are dangerous, or are close calls: a sentence for the user, and never a traceback."""

import io
import pickle

import numpy
import pytest
from graph_files import NODES, csr, lines, npz, pairs, read

from trainer.errors import UserError

PAIRS = pairs()
EDGES = {"edges.csv": lines(PAIRS, head="source,target")}
BOMB = (
    '<?xml version="1.0"?><!DOCTYPE g [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;">]>'
    '<graphml><graph edgedefault="directed">&b;</graph></graphml>'
)


def nodes(row, head: str, count: int = NODES) -> str:
    return lines([row(i) for i in range(count)], head=head)


def objects() -> bytes:
    data = io.BytesIO()
    numpy.savez(data, **{**csr(PAIRS, (NODES, NODES)), "indices": numpy.array([{"a": 1}] * 5, object)})
    return data.getvalue()


@pytest.mark.parametrize(
    ("files", "given", "code", "named"),
    [
        pytest.param({"e.csv": "source,target\na,b\n"}, {}, "too_few_edges", "1 different edges between 2 nodes", id="one edge"),
        pytest.param(
            {"e.csv": lines([(2 * i, 2 * i + 1) for i in range(80)], head="source,target")}, {}, "no_links_left", "80 edges", id="pairs apart"
        ),
        pytest.param({"e.csv": lines([(a, b) for a in range(15) for b in range(a)], head="id_1,id_2")}, {}, "complete_graph", "100%", id="all pairs"),
        pytest.param(
            {**EDGES, "nodes.csv": nodes(lambda i: (f"00{i}", i), "id,size")}, {}, "unknown_nodes", "for example 0 (000 is there)", id="zeros"
        ),
        pytest.param(
            {**EDGES, "nodes.csv": nodes(lambda i: (i, i), "id,size", 40)},
            {},
            "unknown_nodes",
            "33% of the ids in edges.csv",
            id="a third is unknown",
        ),
        pytest.param(
            {**EDGES, "nodes.csv": nodes(lambda i: (i, "ab"[i % 2] if i < 3 else ""), "id,label")},
            {},
            "label_on_few_nodes",
            "Only 3 of 60",
            id="3 labels",
        ),
        pytest.param({**EDGES, "nodes.csv": nodes(lambda i: (i, "a"), "id,label")}, {}, "one_class", "label a", id="one class"),
        pytest.param(
            {**EDGES, "nodes.csv": nodes(lambda i: (i, "ab"[i % 2], "cd"[i % 2]), "id,sex,town")},
            {},
            "ambiguous_label",
            "sex and town",
            id="two labels",
        ),
        pytest.param(
            {**EDGES, "nodes.csv": nodes(lambda i: (i, i), "id,size")}, {"task": "node-classification"}, "no_label", "nodes.csv", id="no label"
        ),
        pytest.param(
            {**EDGES, "nodes.csv": nodes(lambda i: (i, i), "id,size")},
            {"task": "link-prediction", "label_column": "kind"},
            "unknown_column",
            "kind",
            id="no column",
        ),
        pytest.param({"e.csv": lines(PAIRS, head="age,score")}, {}, "ambiguous_graph", "Set task to link-prediction", id="two columns of numbers"),
        pytest.param(
            {"e.csv": lines([(*p, p[0] % 2) for p in PAIRS], head="from,to,is_fraud")}, {}, "ambiguous_graph", "is_fraud", id="edges or examples"
        ),
        pytest.param(
            {"e.csv": lines([(*p, "ab"[p[0] % 2]) for p in PAIRS], head="head,tail,relation")}, {}, "knowledge_graph", "a and b", id="relations"
        ),
        pytest.param(
            {"e.txt": lines([(f"/m/{a}", ["is", "has"][a % 2], f"/m/{b}") for a, b in PAIRS], "\t")}, {}, "knowledge_graph", "is", id="triples"
        ),
        pytest.param({"g.nt": "<a> <b> <c> .\n"}, {}, "knowledge_graph", "RDF", id="RDF"),
        pytest.param(
            {"e.csv": lines([(*p, (-1) ** p[1]) for p in PAIRS], head="source,target,sign")}, {}, "signed_graph", "% of the weights", id="signs"
        ),
        pytest.param(
            {"a/e.csv": lines(PAIRS, head="source,target"), "b/f.csv": lines(PAIRS, head="from,to")},
            {},
            "ambiguous_graph",
            "edges_file",
            id="two graphs",
        ),
        pytest.param(EDGES, {"edges_file": "x.csv"}, "unknown_file", "edges.csv", id="an unknown file of edges"),
        pytest.param(EDGES, {"nodes_file": "x.csv"}, "unknown_file", "nodes_file is x.csv", id="an unknown file of nodes"),
        pytest.param({"a.csv": "text,label\nsome words here,a\n"}, {"task": "link-prediction"}, "no_edges", "source and target", id="no edges"),
        pytest.param({"g.graphml": BOMB}, {}, "unsafe_xml", "DOCTYPE", id="an entity bomb"),
        pytest.param(
            {"g.graphml": BOMB.replace('1.0"?', '1.0" encoding="utf-16"?').encode("utf-16")}, {}, "unsafe_xml", "DOCTYPE", id="a bomb in UTF-16"
        ),
        pytest.param({"g.gexf": "<gexf><graph>"}, {}, "unreadable_graph", "not well formed", id="broken XML"),
        pytest.param({"g.gml": "graph [ node [ id 1 ] edge [ source 1 target ] ]"}, {}, "unreadable_graph", "GML", id="broken GML"),
        pytest.param({"g.npz": objects()}, {}, "pickled_graph", "indices of g.npz", id="pickles in npz"),
        pytest.param(
            {"g.npz": npz(**{**csr(PAIRS, (NODES, NODES)), "indptr": numpy.array([0, 10**9])})},
            {},
            "unreadable_graph",
            "do not fit",
            id="a damaged npz",
        ),
        pytest.param({f"ind.cora.{e}": pickle.dumps([1]) for e in ("x", "graph", "allx")}, {}, "pickled_graph", "ind.cora", id="Planetoid's pickles"),
        pytest.param(
            {"g.mtx": "%%MatrixMarket matrix coordinate real general\n9 9 999999999999\n1 1 1\n"},
            {},
            "unreadable_graph",
            "sizes",
            id="sizes that lie",
        ),
        pytest.param(
            {"g.json": '{"directed": false, "nodes": [1, 2], "links": {}}'}, {}, "unreadable_graph", "no list of links", id="JSON without links"
        ),
        pytest.param(
            {
                "raw/edge.csv": lines(PAIRS),
                "raw/num-node-list.csv": "60\n",
                "raw/num-edge-list.csv": "9\n",
                "raw/node-feat.csv": lines([(1, 2)] * 59),
            },
            {},
            "unknown_nodes",
            "59 rows, but 60",
            id="features of some nodes",
        ),
    ],
)
def test_data_that_cannot_be_used_is_refused_with_a_sentence(files, given, code, named, tmp_path):
    with pytest.raises(UserError) as refused:
        read(tmp_path, files, **given)
    assert refused.value.code == code and named in str(refused.value)
    assert str(tmp_path) not in str(refused.value)


def test_numbers_that_may_be_users_and_items_are_asked_back(tmp_path):
    chance = numpy.random.default_rng(1)
    rows = sorted({(int(a), int(b)) for a, b in zip(chance.integers(1, 101, 4000), chance.integers(1, 401, 4000))})
    files = {"r.txt": lines([(*r, 1 + r[0] % 5) for r in rows], "\t")}
    with pytest.raises(UserError, match=r"Do the columns column 1 and column 2 of r\.txt name the same things") as asked:
        read(tmp_path / "a", files)
    assert asked.value.code == "ambiguous_graph"
    graph, _ = read(tmp_path / "b", files, bipartite="yes", task="link-prediction")
    assert graph.left == 100 and graph.nodes == 500 and graph.weight is not None
    graph, _ = read(tmp_path / "c", files, bipartite="no", task="link-prediction")
    assert graph.left == 0 and graph.nodes == 400


def test_a_hub_and_a_wrong_count_are_told(tmp_path):
    rows = [(0, i) for i in range(1, 150)] + [(i, i + 1) for i in range(1, 80)]
    graph, told = read(tmp_path, {"e.txt": "# Undirected graph\n# Nodes: 150 Edges: 999\n" + lines(rows, "\t")})
    assert graph.edges == 228 and not graph.directed
    assert "The node 0 is at an end of 65%" in told.warnings["one_node_hub"] and "states 999 edges" in told.warnings["edge_count"]


def test_a_table_whose_ids_no_edge_has_is_told(tmp_path):
    graph, told = read(tmp_path, {**EDGES, "nodes.csv": nodes(lambda i: (f"paper-{i}", i + 0.5), "id,size")})
    assert graph.x is None
    assert {c["code"]: c["text"] for c in told.checks.entries}[
        "unused_tables"
    ] == "No column of nodes.csv has the ids of the nodes, so what is in it is not used."


def test_pairs_apart_can_be_trained_with_features(tmp_path):
    files = {
        "e.csv": lines([(2 * i, 2 * i + 1) for i in range(80)], head="source,target"),
        "nodes.csv": nodes(lambda i: (i, i * 0.5), "id,size", 160),
    }
    graph, _ = read(tmp_path, files, task="link-prediction")
    assert graph.edges == 80 and graph.x.shape == (160, 1)


def test_the_edges_alone_are_used_where_the_settings_say_so(tmp_path):
    files = {**EDGES, "nodes.csv": nodes(lambda i: (f"00{i}", i), "id,size")}
    graph, _ = read(tmp_path, files, nodes_file="none")
    assert graph.x is None and graph.nodes == NODES and graph.files == ("edges.csv",)
