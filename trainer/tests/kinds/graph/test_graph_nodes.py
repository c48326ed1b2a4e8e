"""Tables of nodes: which are found, what their columns are for, and the features that are made of them."""

import json
import random

import numpy
import pytest
from graph_files import NODES, csr, lines, npz, pairs, read

from trainer.kinds.graph import features

PAIRS = pairs()
EDGES = {"edges.csv": lines(PAIRS, head="source,target")}
LABELS = ["abc"[i % 3] for i in range(NODES)]


def table(head: str, row, order=range(NODES)) -> str:
    return lines([row(i) for i in order], head=head)


@pytest.mark.parametrize(
    ("files", "task", "column"),
    [
        pytest.param({"nodes.csv": table("id,size,label", lambda i: (i, i * 0.5, LABELS[i]))}, "node-classification", "label", id="a label by name"),
        pytest.param(
            {"nodes.csv": table("node,size,page_type", lambda i: (i, i * 0.5, LABELS[i]))}, "node-classification", "page_type", id="few values"
        ),
        pytest.param({"n.csv": table("id,ml_target", lambda i: (i, i % 2))}, "node-classification", "ml_target", id="numbers as classes"),
        pytest.param({"n.csv": table("id,age,y", lambda i: (i, i, i * 1.25))}, "node-regression", "y", id="measures as labels"),
        pytest.param({"n.csv": table("id,size", lambda i: (i, i * 0.5))}, "link-prediction", "", id="no label"),
        pytest.param({"paper.content": table("", lambda i: (i, i % 2, 1, 0, LABELS[i])).lstrip()}, "node-classification", "column 5", id="LINQS"),
    ],
)
def test_the_task_follows_from_the_columns_of_the_nodes(files, task, column, tmp_path):
    graph, told = read(tmp_path, {**EDGES, **files})
    assert (graph.task, graph.label_column) == (task, column)
    assert graph.labels is None if not column else len(graph.labels) == NODES
    assert "task" in told.sentences and graph.nodes == NODES


def test_links_are_predicted_where_that_is_asked_for(tmp_path):
    graph, _ = read(tmp_path, {**EDGES, "nodes.csv": table("id,size,label", lambda i: (i, i, LABELS[i]))}, task="link-prediction")
    assert graph.task == "link-prediction" and graph.labels == tuple(LABELS) and graph.columns == ("size",)


def test_rows_of_nodes_find_their_nodes_whatever_their_order(tmp_path):
    order = list(range(NODES))
    random.Random(3).shuffle(order)
    nodes = table("name,size,label", lambda i: (f"n{i}", i * 2.0, LABELS[i]), order)
    edges = lines([(f"n{a}", f"n{b}") for a, b in PAIRS], head="source,target")
    graph, _ = read(tmp_path, {"edges.csv": edges, "nodes.csv": nodes})
    assert graph.labels == tuple(LABELS) and (numpy.argsort(graph.x[:, 0]) == numpy.arange(NODES)).all()


def test_several_tables_of_nodes_are_joined(tmp_path):
    words = {str(i): [i % 5, 10 + i % 7, i % 5] for i in range(NODES)}
    files = {
        **EDGES, "labels.csv": table("id,label", lambda i: (i, LABELS[i])),
        "sizes.tsv": lines([(i, i * 0.5) for i in range(NODES)], "\t", "id\tsize"),
        "words.json": json.dumps(words), "public.csv": table("id,split", lambda i: (i, ["train", "val", "test"][i % 3]), range(45)),
    }  # fmt: skip
    graph, _ = read(tmp_path, files)
    assert set(graph.columns) == {"size", "words"} and graph.x.shape == (NODES, 1 + 12)
    assert {n: len(r) for n, r in graph.given.items()} == {"train": 15, "validation": 15, "test": 15}
    assert ((graph.x[:, 1:] != 0).sum(axis=1) == 2).all()


def test_masks_split_the_nodes(tmp_path):
    nodes = table("id,label,train_mask,val_mask,test_mask", lambda i: (i, LABELS[i], i % 3 == 0, i % 3 == 1, i % 3 == 2))
    graph, _ = read(tmp_path, {**EDGES, "nodes.csv": nodes})
    assert {n: r.tolist()[:2] for n, r in graph.given.items()} == {"train": [0, 3], "validation": [1, 4], "test": [2, 5]}


def test_nodes_without_edges_stay_and_edges_of_unknown_nodes_go(tmp_path):
    nodes = table("id,size", lambda i: (i, i), range(1, NODES + 20))
    graph, told = read(tmp_path, {**EDGES, "nodes.csv": nodes})
    assert graph.nodes == NODES + 19 and graph.told["isolated"] == 20 and graph.told["unknown_nodes"] == sum(0 in p for p in PAIRS)
    assert "no table of nodes has" in told.warnings["unknown_nodes"]


def test_gaps_are_filled_and_told(tmp_path):
    nodes = table("id,size,colour", lambda i: (i, "" if i % 6 == 0 else i, "" if i % 5 == 0 else ["red", "blue"][i % 2]))
    graph, told = read(tmp_path, {**EDGES, "nodes.csv": nodes}, task="link-prediction")
    assert numpy.isfinite(graph.x).all() and (graph.x[::6, 0] == 0).all()
    said = " ".join(c["text"] for c in told.checks.entries if c["code"] == "features")
    assert "10 gaps in size" in said and "12 gaps in colour" in said


def test_texts_become_features_and_are_shown(tmp_path):
    nodes = table("id,title,label", lambda i: (i, f"A long study of the {'river' if i % 3 else 'stone'} number {i}", LABELS[i]))
    graph, _ = read(tmp_path, {**EDGES, "nodes.csv": nodes})
    assert graph.texts[7].startswith("A long study") and graph.columns == ("title",) and graph.x.shape[0] == NODES


def test_a_feature_that_is_the_label_is_told(tmp_path):
    nodes = table("id,colour,size,label", lambda i: (i, ["red", "green", "blue"][i % 3], i * 7 % 11, LABELS[i]))
    _, told = read(tmp_path, {**EDGES, "nodes.csv": nodes})
    assert told.warnings["feature_is_label"].startswith("colour says nearly the same as the label label")


def test_features_and_labels_come_from_npz(tmp_path):
    chance = numpy.random.default_rng(1)
    words = [(i, int(w)) for i in range(NODES) for w in chance.choice(80, 4, replace=False)]
    arrays = {f"adj_{k}": v for k, v in csr(PAIRS, (NODES, NODES)).items()} | {f"attr_{k}": v for k, v in csr(words, (NODES, 80)).items()}
    graph, _ = read(tmp_path, {"g.npz": npz(**arrays, labels=numpy.arange(NODES) % 3, node_names=numpy.array([f"p{i}" for i in range(NODES)]))})
    assert graph.task == "node-classification" and graph.x.shape == (NODES, 80) and graph.ids[5].as_py() == "p5"


def test_the_raw_layout_of_ogb_has_features_labels_and_years(tmp_path):
    files = {
        "edge.csv": lines(PAIRS), "num-node-list.csv": "60\n", "num-edge-list.csv": "240\n",
        "node_year.csv": lines([(1990 + i % 25,) for i in range(NODES)]),
        "node-feat.csv": lines([(i * 0.1, -i * 0.5, 1.5) for i in range(NODES)]), "node-label.csv": lines([(i % 4,) for i in range(NODES)]),
    }  # fmt: skip
    graph, _ = read(tmp_path, files, task="link-prediction")
    assert graph.x.shape == (NODES, 3) and set(graph.labels) == {"0", "1", "2", "3"}
    assert graph.time.min() == 1990 and graph.time[0] == 1990 + graph.source[0] % 25


def bag_columns(rows: int, seed: int) -> numpy.ndarray:
    return (numpy.random.default_rng(seed).random((rows, 90)) < 0.05).astype(numpy.float32)


@pytest.mark.parametrize("wide", [False, True])
def test_new_nodes_get_the_same_features(wide, tmp_path):
    rows = 400
    chance = random.Random(5)
    texts = [
        " ".join(chance.choice("river stone lamp cloud paper green window".split()) for _ in range(6)) + (f" w{i}" if wide else "")
        for i in range(rows)
    ]
    flags, sizes = bag_columns(rows, 2), numpy.arange(rows, dtype=numpy.float32)[:, None] * [[1, -2.5]]
    words = [f"w{i}" for i in range(90)]
    columns = features.Columns(rows, [(("a", "b"), sizes), (tuple(words), flags)], {"colour": ["red", "blue"] * (rows // 2)}, {"title": texts})
    made = features.learn(columns, True, 1, tmp_path)
    cells = {"a": [str(v) for v in sizes[:, 0]], "b": [str(v) for v in sizes[:, 1]], "colour": columns.categories["colour"], "title": texts}
    cells |= {w: [f"{v:g}" for v in flags[:, i]] for i, w in enumerate(words)}
    described = json.loads(json.dumps(made.described))
    assert numpy.allclose(features.encode(described, made.arrays, cells, rows, tmp_path), made.x, atol=1e-4)
    assert 0.5 < made.x[:, :2].std() < 2 and features.encode(described, made.arrays, {}, 2, tmp_path).shape == (2, made.x.shape[1])


def test_lists_of_words_are_read_as_json_or_with_blanks(tmp_path):
    nodes = table("id,tags", lambda i: (i, f'"[""x{i % 4}"", ""y{i % 3}""]"'))
    graph, _ = read(tmp_path, {**EDGES, "nodes.csv": nodes})
    assert graph.x.shape == (NODES, 7)
    again = features.encode(graph.encoder, graph.arrays, {"tags": ["x1 y2", '["x1", "y2"]']}, 2, tmp_path)
    assert (again[0] == again[1]).all() and numpy.allclose(again[0], graph.x[5], atol=1e-5)
