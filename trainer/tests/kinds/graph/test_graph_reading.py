"""Datasets that are graphs: every form is found without a choice, and the same edges are read from it."""

import contextlib
import gzip
import io
import json

import networkx
import numpy
import pyarrow
import pytest
from graph_files import EDGES, NODES, csr, edges_of, lines, node_link, npz, pairs, read, settings
from pyarrow import parquet

from trainer.errors import UserError
from trainer.kinds.graph import splits
from trainer.kinds.graph.delivery import figures

PAIRS = pairs()
WORDS = {i: f"node {i}" for i in range(NODES)}


def written(write, directed: bool = True) -> bytes:
    """The edges in a format that networkx writes."""
    graph = (networkx.DiGraph if directed else networkx.Graph)()
    graph.add_nodes_from((str(i), {"kind": "ab"[i % 2], "amount": i * 0.5}) for i in range(NODES))
    graph.add_edges_from((str(a), str(b), {"weight": 1.5 + a}) for a, b in PAIRS)
    data = io.BytesIO()
    write(graph, data)
    return data.getvalue()


FORMS = {
    "two columns with names": {"edges.csv": lines(PAIRS, head="source,target")},
    "ids with numbers as names": {"a.csv": lines(PAIRS, head="id_1,id_2")},
    "node_1 and node_2": {"a.csv": lines(PAIRS, head="node_1,node_2")},
    "tabs and no header": {"a.txt": lines(PAIRS, "\t")},
    "blanks": {"a.txt": lines(PAIRS, "   ")},
    "comments and tabs, as SNAP writes": {"a.txt": "# Directed graph\n# Nodes: 60 Edges: 240\n# FromNodeId\tToNodeId\n" + lines(PAIRS, "\t")},
    "percent signs as comments": {"out.edges": "% asym unweighted\n" + lines(PAIRS, " ")},
    "an unusual ending": {"graph.edgelist": lines(PAIRS, " ")},
    "compressed": {"edges.csv.gz": gzip.compress(lines(PAIRS, head="src,dst").encode())},
    "Gephi": {"e.csv": lines([(a, b, "Directed", i) for i, (a, b) in enumerate(PAIRS)], head="Source,Target,Type,Id")},
    "JSON lines": {"e.jsonl": "\n".join(json.dumps({"from": a, "to": b}) for a, b in PAIRS)},
    "a list of objects": {"e.json": json.dumps([{"source": a, "target": b} for a, b in PAIRS])},
    "GraphML": {"g.graphml": written(networkx.write_graphml)},
    "GEXF": {"g.gexf": written(networkx.write_gexf)},
    "GML": {"g.gml": written(networkx.write_gml)},
    "Matrix Market": {"g.mtx": "%%MatrixMarket matrix coordinate pattern general\n60 60 240\n" + lines([(a + 1, b + 1) for a, b in PAIRS], " ")},
    "SciPy's npz": {"g.npz": npz(**csr(PAIRS, (NODES, NODES)))},
    "npz with prefixes": {"g.npz": npz(**{f"adj_{k}": v for k, v in csr(PAIRS, (NODES, NODES)).items()}, labels=numpy.arange(NODES) % 3)},
    "npz with a list of edges": {"g.npz": npz(edge_index=numpy.array(PAIRS).T)},
    "nodes and links": {"g.json": node_link(PAIRS)},
    "OGB's raw layout": {
        "raw/edge.csv.gz": gzip.compress(lines(PAIRS).encode()), "raw/num-node-list.csv.gz": gzip.compress(b"60\n"),
        "raw/num-edge-list.csv.gz": gzip.compress(b"240\n"),
    },
}  # fmt: skip


def table(**columns: pyarrow.Array) -> bytes:
    """A Parquet file."""
    data = io.BytesIO()
    parquet.write_table(pyarrow.table(columns), data)
    return data.getvalue()


def ends(kind: pyarrow.DataType, more=()) -> dict[str, pyarrow.Array]:
    """The ends of the edges as columns of this type, with ``more`` pairs."""
    rows = [*PAIRS, *more]
    whole = [[None if row[i] is None else row[i] for row in rows] for i in (0, 1)]
    if kind == pyarrow.string():
        whole = [[None if v is None else str(v) for v in column] for column in whole]
    return {name: pyarrow.array(column, kind) for name, column in zip(("source", "target"), whole, strict=True)}


INTEGERS = [pyarrow.int64(), pyarrow.int32(), pyarrow.uint64()]


@pytest.mark.parametrize("kind", [*INTEGERS, pyarrow.float64(), pyarrow.string()], ids=str)
def test_ids_of_parquet_are_read_whatever_their_type_is(kind, tmp_path):
    graph, told = read(tmp_path, {"e.parquet": table(**ends(kind, [(3, None), (None, 4)]))})
    assert edges_of(graph) == {(str(a), str(b)) for a, b in PAIRS} and graph.ids.to_pylist() == [str(i) for i in range(NODES)]
    assert "bad_rows" in told.warnings or any(c["code"] == "bad_rows" for c in told.checks.entries)


def test_negative_ids_of_parquet_stay_different_ids(tmp_path):
    graph, _ = read(tmp_path, {"e.parquet": table(**ends(pyarrow.int64(), [(-5, 1), (5, 1)]))})
    assert {("-5", "1"), ("5", "1")} <= edges_of(graph) and graph.nodes == NODES + 1


def plain(graph) -> set[frozenset[int]]:
    """The edges without direction, whatever stands before the numbers in the ids."""
    first = 1 if graph.files[0].endswith("mtx") else 0
    return {frozenset(int(i.strip("n")) - first for i in edge) for edge in edges_of(graph)}


@pytest.mark.parametrize("form", FORMS)
def test_a_graph_is_found_and_read(form, tmp_path):
    graph, told = read(tmp_path, FORMS[form])
    assert graph is not None and plain(graph) == {frozenset(p) for p in PAIRS}
    assert (graph.nodes, graph.edges, graph.source.dtype, graph.target.dtype) == (NODES, EDGES, numpy.int32, numpy.int32)
    assert told.sentences["kind"].startswith("The dataset is read as a graph: ")
    key = graph.source.astype(numpy.int64) * graph.nodes + graph.target
    assert (numpy.diff(key) > 0).all() and (graph.source != graph.target).all()
    if not graph.directed:
        assert (graph.source < graph.target).all()


def test_the_order_of_the_rows_changes_nothing(tmp_path):
    rows = [(f"n{a}", f"n{b}", 1 + a % 3) for a, b in PAIRS]
    nodes = [(f"n{i}", i * 1.5, "ab"[i % 2]) for i in range(NODES)]
    first, _ = read(tmp_path / "a", {"edges.csv": lines(rows, head="from,to,weight"), "nodes.csv": lines(nodes, head="id,size,label")})
    rest = {"edges.csv": lines(rows[::-1], head="from,to,weight"), "nodes.csv": lines(nodes[::-1], head="id,size,label")}
    second, _ = read(tmp_path / "b", rest)
    assert first.ids.to_pylist() == second.ids.to_pylist() == [f"n{i}" for i in range(NODES)]
    for name in ("source", "target", "weight", "x"):
        assert (getattr(first, name) == getattr(second, name)).all()
    assert first.labels == second.labels and first.directed


def test_loops_duplicates_and_reversed_edges_count_once(tmp_path):
    rows = [*PAIRS, *PAIRS[:20], *[(b, a) for a, b in PAIRS], (3, 3), (4, 4)]
    graph, told = read(tmp_path, {"e.csv": lines(rows, head="u,v")})
    assert graph.edges == EDGES and not graph.directed
    counts = {k: graph.told[k] for k in ("read", "loops", "duplicates", "reversed", "reciprocity")}
    assert counts == {"read": 2 * EDGES + 22, "loops": 2, "duplicates": 20, "reversed": EDGES, "reciprocity": 1.0}
    assert "100% of the edges are there in both directions" in told.sentences["directed"]
    assert [c["code"] for c in told.checks.entries if c["level"] == "ok"][:3] == ["loops", "duplicate_edges", "reversed_edges"]


@pytest.mark.parametrize(
    ("head", "given", "directed"),
    [("citing,cited", {}, True), ("id_1,id_2", {}, False), ("citing,cited", {"directed": "no"}, False), ("id_1,id_2", {"directed": "yes"}, True)],
)
def test_the_direction_follows_the_names_and_the_settings(head, given, directed, tmp_path):
    graph, _ = read(tmp_path, {"e.csv": lines(PAIRS, head=head)}, **given)
    assert graph.directed is directed


def test_ids_stay_as_they_are_written(tmp_path):
    names = [f'Smith, "Ann" {i}' if i % 2 else f"0{i}" for i in range(NODES)]
    quoted = ['"' + n.replace('"', '""') + '"' for n in names]
    graph, _ = read(tmp_path, {"e.csv": lines([(quoted[a], quoted[b]) for a, b in PAIRS], head="source,target")})
    assert edges_of(graph) == {(names[a], names[b]) for a, b in PAIRS} and sorted(graph.ids.to_pylist()) == sorted(names)


def test_a_million_nodes_of_one_degree_are_read_and_split(tmp_path):
    nodes = 1_000_000
    ring = "source,target\n" + "".join(f"{i},{(i + 1) % nodes}\n" for i in range(nodes))
    graph, _ = read(tmp_path, {"e.csv": ring}, directed="no")
    assert (graph.nodes, graph.edges) == (nodes, nodes)
    bins = figures.degree_bins(numpy.bincount(numpy.concatenate([graph.source, graph.target])))
    assert sum(bins["counts"]) == nodes and sum(map(bool, bins["counts"])) == 1
    found = splits.links(graph, settings())
    assert len(found.train) + len(found.validation) + len(found.test) == nodes and abs(len(found.test) / nodes - 0.1) < 0.01


def test_whole_numbers_that_a_program_wrote_with_a_point_match_those_without(tmp_path):
    nodes = [(f"{i}.0", i) for i in range(NODES)]
    graph, _ = read(tmp_path, {"edges.csv": lines(PAIRS, head="source,target"), "nodes.csv": lines(nodes, head="id,size")})
    assert graph.ids.to_pylist() == [str(i) for i in range(NODES)] and graph.x.shape == (NODES, 1)


def test_weights_and_times_are_read_and_the_earliest_of_equal_edges_counts(tmp_path):
    rows = [(a, b, 2.5, 1_300_000_000 + 86400 * i) for i, (a, b) in enumerate(PAIRS)]
    again = [(*PAIRS[0], 9, 1_200_000_000)]
    graph, told = read(tmp_path, {"e.csv": lines([*rows, *again], head="source,target,weight,timestamp")})
    first = int(numpy.flatnonzero(graph.time == 1_200_000_000)[0])
    assert graph.weight[first] == 9 and graph.told["time"]["column"] == "timestamp" and "time" in told.sentences


def test_dates_become_seconds(tmp_path):
    rows = [(a, b, f"{1 + i % 28}.{1 + i % 12}.2021") for i, (a, b) in enumerate(PAIRS)]
    graph, _ = read(tmp_path, {"e.csv": lines(rows, ";", head="source;target;date")})
    assert graph.time.min() >= 1_609_459_200 and graph.time.max() < 1_640_995_200


def test_negative_weights_are_left_out_and_told(tmp_path):
    rows = [(a, b, -1 if i % 10 == 0 else 1 + i % 4) for i, (a, b) in enumerate(PAIRS)]
    graph, told = read(tmp_path, {"e.csv": lines(rows, head="source,target,rating")})
    assert graph.edges == EDGES - 24 and (graph.weight > 0).all() and "24 edges are left out" in told.warnings["negative_weights"]


@pytest.mark.parametrize("form", ["a column", "files"])
def test_given_splits_are_kept(form, tmp_path):
    split = ["train"] * 180 + ["valid"] * 30 + ["test"] * 30
    if form == "a column":
        files = {"e.csv": lines([(*p, s) for p, s in zip(PAIRS, split)], head="source,target,split")}
    else:
        files = {f"{n}_edges.csv": lines([p for p, s in zip(PAIRS, split) if s == n], head="source,target") for n in ("train", "valid", "test")}
    graph, _ = read(tmp_path, files)
    assert {n: len(r) for n, r in graph.given.items()} == {"train": 180, "validation": 30, "test": 30}
    held = {tuple(map(str, p)) for p, s in zip(PAIRS, split) if s == "test"}
    ids = graph.ids.to_pylist()
    assert {(ids[graph.source[e]], ids[graph.target[e]]) for e in graph.given["test"]} == held


@pytest.mark.parametrize(
    ("files", "sides"),
    [
        pytest.param({"r.csv": lines([(a, b, 3) for a, b in pairs(40, 200)], head="userId,movieId,rating")}, ("user:0", "movie:0"), id="names"),
        pytest.param({"e.csv": lines([(f"d{a}", f"g{b}") for a, b in pairs(40, 200)], head="source,target")}, ("d0", "g0"), id="no id at both ends"),
        pytest.param(
            {"m.mtx": "%%MatrixMarket matrix coordinate real general\n40 50 200\n" + lines([(a + 1, b + 1, 1) for a, b in pairs(40, 200)], " ")},
            ("row:1", "column:1"),
            id="a matrix that is not square",
        ),
    ],
)
def test_the_two_sides_of_a_bipartite_graph_stay_apart(files, sides, tmp_path):
    graph, _ = read(tmp_path, files)
    assert graph.left == 40 and graph.nodes == 80 and not graph.directed
    assert (graph.source < 40).all() and (graph.target >= 40).all() and graph.edges == 200
    assert (graph.ids[0].as_py(), graph.ids[40].as_py()) == sides
    assert graph.weight is None


@pytest.mark.parametrize(
    ("files", "given"),
    [
        pytest.param({"flowers.csv": lines([(i * 0.3, i % 7, "abc"[i % 3]) for i in range(90)], head="width,petals,species")}, {}, id="measures"),
        pytest.param({"a.csv": lines(PAIRS, head="source,target")}, {"task": "tabular-regression"}, id="another task"),
        pytest.param(
            {"a.csv": lines([(*p, p[0] % 2) for p in PAIRS], head="source,target,kind")}, {"label_column": "kind"}, id="a label of the rows"
        ),
        pytest.param({"a.txt": lines([(f"name{i}", "abc"[i % 3]) for i in range(200)], "\t")}, {}, id="names with one of three labels"),
        pytest.param({"a.csv": lines([(f"a text of {i} words", "ab"[i % 2]) for i in range(90)], head="text,label")}, {}, id="texts"),
        pytest.param(
            {"a.csv": lines([(i % 50, i * 7 % 50, i * 0.1) for i in range(200)], head="age,score,price")}, {}, id="two whole numbers and a price"
        ),
        pytest.param({"x.npz": npz(images=numpy.zeros((3, 3)))}, {}, id="arrays of something else"),
    ],
)
def test_other_data_is_no_graph(files, given, tmp_path):
    assert read(tmp_path, files, **given)[0] is None


@pytest.mark.parametrize("form", FORMS)
def test_a_file_that_is_cut_off_or_damaged_is_read_or_refused_with_a_sentence(form, tmp_path):
    name, content = next(iter(FORMS[form].items()))
    data = content.encode() if isinstance(content, str) else content
    chance = numpy.random.default_rng(3)
    for case in range(12):
        broken = bytearray(data[: int(chance.integers(1, len(data)))] if case % 2 else data)
        for place in chance.integers(0, len(broken), case):
            broken[place] = int(chance.integers(0, 256))
        with contextlib.suppress(UserError):
            read(tmp_path / str(case), {**FORMS[form], name: bytes(broken)})


def test_the_names_of_nodes_that_gml_calls_labels_are_no_classes(tmp_path):
    graph, told = read(tmp_path, {"g.gml": "\n".join(networkx.generate_gml(networkx.Graph((f"Ann{a}", f"Ann{b}") for a, b in PAIRS)))})
    assert graph.task == "link-prediction" and "left out: name" in told.sentences["columns"]
