"""Files that hold a whole graph, and how their edges become those of a graph: each format by itself, and every count that is told."""

import json
from types import SimpleNamespace

import numpy
import pyarrow
import pytest
from graph_files import Told, csr, npz, settings

from trainer.config.spec import Input
from trainer.data.checks import Checks
from trainer.data.sources import Sources
from trainer.errors import UserError
from trainer.graph.graph import CLASSES, LINKS, NUMBERS
from trainer.graph.reading import arrays, assemble, bipartite, columns, documents, edge_names, formats, markup, matching, ogb
from trainer.graph.reading.raw import Nodes, Raw


@pytest.fixture
def source(tmp_path):
    """source(name, content) is a file of a dataset."""

    def made(name: str, content) -> Input:
        file = tmp_path / name.replace("/", "-")
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return Input(name, file, file.stat().st_size, "")

    return made


def ids(*texts) -> columns.Ids:
    return columns.of_texts(pyarrow.array([str(t) for t in texts], pyarrow.string()))


def ends(raw: Raw) -> list[tuple[str, str]]:
    """The ids at both ends of each edge."""
    found = [e.values.cast(pyarrow.string()).take(pyarrow.array(e.codes)).to_pylist() for e in (raw.source, raw.target)]
    return list(zip(*found))


def cells(table: Nodes) -> dict:
    return {name: column.to_pylist() for name, column in table.cells.items()}


# JSON.


@pytest.fixture
def document(source):
    return lambda value, **given: documents.node_link(source("g.json", json.dumps(value)), settings(**given), None, None)


@pytest.mark.parametrize(
    ("value", "edges", "bad"),
    [
        pytest.param({"nodes": [{"id": "a"}, {"id": "b"}], "links": [{"source": "a", "target": "b"}]}, [("a", "b")], 0, id="by id"),
        pytest.param({"nodes": [{"name": "a"}, {"key": "b"}], "edges": [{"source": 0, "target": 1}]}, [("a", "b")], 0, id="by place"),
        pytest.param({"nodes": [{}, {"group": 1}], "links": [{"source": 0, "target": 1}]}, [("0", "1")], 0, id="nodes without names"),
        pytest.param({"nodes": [1.0, 2], "links": [[1, 2], [2, 1.0, 0.5]]}, [("1", "2"), ("2", "1")], 0, id="lists of numbers"),
        pytest.param({"nodes": [{"id": 1}, {"id": 0}], "links": [{"source": 0, "target": 1}]}, [("0", "1")], 0, id="an id before a place"),
        pytest.param({"graph": {"nodes": ["a", "b"], "edges": [["a", "b"]]}}, [("a", "b")], 0, id="a graph within"),
        pytest.param({"nodes": ["a"], "links": [{"source": {"id": "a"}, "target": "x"}]}, [("a", "x")], 0, id="an end as an object"),
        pytest.param({"nodes": ["a", "b"], "links": ["ab", {"source": "a"}, [1], ["a", "b"], None]}, [("a", "b")], 4, id="links that are none"),
        pytest.param({"nodes": ["a", "b"], "links": [{"source": -1, "target": 5}]}, [("-1", "5")], 0, id="places that are not there"),
        pytest.param({"nodes": ["ü", ""], "links": [["ü", ""]]}, [("ü", "")], 0, id="unicode and nothing"),
    ],
)
def test_links_of_json_name_their_ends_by_id_or_by_place(document, value, edges, bad):
    found = document(value)
    assert ends(found) == edges and found.bad == bad and found.directed is None


@pytest.mark.parametrize(("said", "directed"), [(True, True), (False, False), ("yes", False), (1, False)])
def test_json_says_whether_it_is_directed(document, said, directed):
    found = document({"directed": said, "nodes": ["a", "b"], "links": [["a", "b"]]})
    assert found.directed is directed and found.direction == "the JSON file says so"


def test_attributes_of_json_are_columns(document):
    nodes = [{"id": "a", "kind": "x", "age": 3, "color": "red", "attributes": {"town": "Ulm"}}, {"id": "b", "kind": None, "age": 4.5}]
    links = [{"source": "a", "target": "b", "weight": 2, "year": 1999}, {"source": "b", "target": "a", "weight": None, "year": 2001}]
    found = document({"nodes": nodes, "links": links})
    assert found.weight.tolist() == pytest.approx([2, numpy.nan], nan_ok=True) and found.time.tolist() == [1999, 2001] and found.time_column == "year"
    assert cells(found.nodes[0]) == {"kind": ["x", ""], "town": ["Ulm", ""]} and found.nodes[0].numbers == ("age",)
    assert document({"nodes": nodes, "links": links}, time_column="none").time is None


def test_a_column_of_times_that_json_lacks_is_refused(document):
    with pytest.raises(UserError) as e:
        document({"nodes": ["a"], "links": [{"source": "a", "target": "a", "kind": "x"}]}, time_column="kind")
    assert e.value.code == "no_times" and "time_column" in e.value.do


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "not well formed"),
        ("[" * 100_000, "not well formed"),
        ('{"nodes": []}', "no list of links"),
        ('{"links": []}', "no list of nodes"),
        ("[1]", "no list of nodes"),
        ('{"nodes": 3, "links": []}', "no list of nodes"),
    ],
)
def test_json_that_is_no_graph_is_refused(source, text, said):
    with pytest.raises(UserError, match=said) as e:
        documents.node_link(source("g.json", text), settings(), None, None)
    assert e.value.code == "unreadable_graph" and "save the edges as CSV" in e.value.do


def test_json_of_too_many_links_is_refused(document, monkeypatch):
    monkeypatch.setattr(markup, "MAX_EDGES", 1)
    with pytest.raises(UserError, match=r"g.json has about 2 edges; JSON is read with up to 1\."):
        document({"nodes": ["a"], "links": [["a", "a"]] * 2})


@pytest.mark.parametrize(
    ("head", "yes"),
    [
        ('{"nodes": [], "links": []}', True),
        ('\ufeff \n{"edges": [], "nodes": []}', True),
        ('{"directed": true, "nodes": [', True),
        ('{"nodes": [1]}', False),
        ('[{"nodes": 1, "links": 2}]', False),
        ("", False),
    ],
)
def test_the_beginning_of_json_tells_a_graph(source, head, yes):
    assert documents.may_be(source("g.json", head)) is yes


# Sparse matrices.


def matrix(head: str, *rows: str) -> str:
    return "\n".join([f"%%MatrixMarket matrix {head}", "% a comment", *rows]) + "\n"


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


# Which file is which.


@pytest.mark.parametrize(
    ("name", "yes"),
    [
        ("ind.cora.x", True), ("data/ind.citeseer.test.index", True), ("g.gpickle", True), ("g.PKL", True), ("model.pt", True), ("g.p", True),
        ("find.cora.x", False), ("g.ptx", False), ("apickle", False), ("cora.x", False),
    ],
)  # fmt: skip
def test_pickles_are_told_by_their_names(name, yes):
    assert formats.is_pickled(name) is yes


@pytest.mark.parametrize(
    ("name", "content", "title"),
    [
        ("g.graphml", "<graphml/>", "a GraphML file"),
        ("g.XML", "<?xml version='1.0'?><graphml/>", "a GraphML file"),
        ("g.xml", "<svg/>", None),
        ("g.net", "*Vertices 2\n", "a Pajek file"),
        ("g.net", "a b\n", None),
        ("m.txt", matrix("coordinate real general", "1 1 1", "1 1 1"), "a Matrix Market file"),
        ("m.txt", "a b\n", None),
        ("g.json", '{"nodes": [], "links": []}', "a JSON file of nodes and links"),
        ("g.npz", npz(images=numpy.ones(3)), None),
        ("g.npz", npz(edges=numpy.ones((3, 2), int)), "an npz file"),
    ],
)
def test_the_format_of_a_file(source, name, content, title):
    found = formats.find(Sources(graphs=[source(name, content)]), settings(), "")
    assert (found and found.title) == title


@pytest.mark.parametrize(
    ("name", "content"), [("g.ttl", ""), ("g.txt", "# a comment\n<http://a> <http://b> <http://c> .\n"), ("g.tsv", "_:a <b> _:c .\n")]
)
def test_triples_of_rdf_are_refused(source, name, content):
    with pytest.raises(UserError) as e:
        formats.find(Sources(tables=[source(name, content)]), settings(), "")
    assert e.value.code == "knowledge_graph"


def test_several_graphs_are_asked_back_unless_one_is_wanted(source):
    files = [source(name, "<graphml/>") for name in ("a.graphml", "sub/b.graphml")]
    with pytest.raises(UserError, match=r"a\.graphml and sub/b\.graphml"):
        formats.find(Sources(graphs=files), settings(), "")
    assert formats.find(Sources(graphs=files), settings(), "b.graphml").name == "sub/b.graphml"
    assert formats.find(Sources(graphs=files), settings(), "c.graphml") is None


def test_a_file_that_is_gone_is_refused_with_the_reason(source):
    file = source("m.mtx", matrix("coordinate real general", "1 1 1", "1 1 1"))
    file.file.unlink()
    with pytest.raises(UserError) as e:
        formats.read(formats.GraphFile(file, "a Matrix Market file", arrays.matrix_market), settings(), None, None)
    assert e.value.code == "unreadable_file" and e.value.why == "No such file or directory"


@pytest.mark.parametrize(
    ("text", "code"),
    [("<graphml><node/></graphml>", None), ("<!DOCTYPE g []><g/>", "unsafe_xml"), ("<g>", "unreadable_graph"), ("", "unreadable_graph")],
)
def test_xml_is_looked_at_before_it_is_read(text, code):
    if code is None:
        markup.check_xml("g.graphml", "GraphML", text.encode())
        return
    with pytest.raises(UserError) as e:
        markup.check_xml("g.graphml", "GraphML", text.encode())
    assert e.value.code == code


@pytest.mark.parametrize(
    ("files", "given", "said"),
    [
        pytest.param({"num-node-list.csv": "3\n"}, {}, None, id="whole"),
        pytest.param({"num-edge-list.csv": "3\n"}, {}, None, id="the nodes of the edges"),
        pytest.param({"num-node-list.csv": "3\n4\n"}, {}, "does not hold one number", id="two graphs"),
        pytest.param({"num-node-list.csv": "x\n"}, {}, "does not hold one number", id="no number"),
        pytest.param(
            {"num-node-list.csv": "3\n", "node-label.csv": "1\n2\n"}, {}, "node-label.csv has 2 rows, but 3 are needed", id="labels of some"
        ),
        pytest.param(
            {"num-node-list.csv": "3\n", "edge_weight.csv": "1\n"}, {}, "edge_weight.csv has 1 rows, but 3 are needed", id="weights of some"
        ),
        pytest.param({"num-node-list.csv": "3\n", "node-feat.csv": "1,2\n3,x\n5,6\n"}, {}, "features that are no numbers", id="features as texts"),
    ],
)
def test_the_raw_layout_of_ogb(source, tmp_path, files, given, said):
    inputs = [source(f"raw/{name}", text) for name, text in {"edge.csv": "0,1\n1,2\n2,0\n", **files}.items()]
    layout = ogb.find(Sources(tables=inputs))
    assert layout.edges.name == "raw/edge.csv"
    if said is None:
        found = layout.read(layout.edges, settings(), None, tmp_path)
        assert ends(found) == [("0", "1"), ("1", "2"), ("2", "0")] and len(found.nodes[0].ids) == 3 and found.directed
    else:
        with pytest.raises(UserError, match=said):
            layout.read(layout.edges, settings(), None, tmp_path)


def test_an_edge_list_alone_is_no_layout_of_ogb(source):
    assert ogb.find(Sources(tables=[source("a/edge.csv", "0,1\n"), source("b/num-node-list.csv", "2\n")])) is None


# Names.


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (["weight", "source", "target"], (1, 2)),
        (["target", "source"], (1, 0)),
        (["id_1", "id_2", "x"], (0, 1)),
        (["author_b", "author_a"], (1, 0)),
        (["node_1_id", "node_2_id"], (0, 1)),
        (["node_1", "paper_2"], None),
        (["user_id", "rating", "movieid"], (0, 2)),
        (["a", "b"], None),
        ([], None),
        (["source", "source"], None),
    ],
)
def test_names_tell_the_ends_of_edges(names, found):
    assert edge_names.pair(names) == found


@pytest.mark.parametrize(
    ("one", "other", "direction"),
    [
        ("From", "To", True),
        ("Citing", "Cited", True),
        ("source", "target", None),
        ("id_1", "id_2", False),
        ("node1", "node2", False),
        ("a", "b", None),
    ],
)
def test_names_may_say_a_direction(one, other, direction):
    assert edge_names.says_direction(one, other) is direction


@pytest.mark.parametrize(
    ("name", "plain"), [("user_id", "user"), ("userId", "user"), (" Items IDs", "items"), ("id", "id"), ("_id", "_id"), ("kid", "k")]
)
def test_what_stands_before_ids_is_the_name_without_what_says_id(name, plain):
    assert edge_names.plain(name) == plain and bipartite.prefix(name) == f"{plain}:"


def side(*shares: tuple[float, float]) -> list:
    return [SimpleNamespace(found=tuple(numpy.arange(10) < 10 * s for s in both)) for both in shares]


@pytest.mark.parametrize(
    ("names", "rows", "nodes", "given", "found"),
    [
        pytest.param(("a", "b"), [("x", "y")], [], {"bipartite": "yes"}, (True, "as requested"), id="asked for"),
        pytest.param(("user", "item"), [("x", "y")], [], {"bipartite": "no"}, (False, "as requested"), id="asked not to be"),
        pytest.param(("user", "item"), [("x", "x")], [], {}, (True, "the names of its columns say so"), id="names"),
        pytest.param(("a", "b"), [(f"x{i % 20}", f"y{i % 30}") for i in range(90)], [], {}, (True, "no id is at both ends"), id="no common id"),
        pytest.param(("a", "b"), [("x", "y"), ("y", "z")], [], {}, (False, ""), id="common ids"),
        pytest.param(("a", "b"), [("x", "y")], side((1, 0.1), (0.2, 0.9)), {}, (True, "two tables of nodes describe one end each"), id="two tables"),
        pytest.param(("a", "b"), [("x", "y")], side((1, 1), (0.2, 0.9)), {}, (False, ""), id="a table of both ends"),
    ],
)
def test_whether_the_ends_are_of_two_kinds(names, rows, nodes, given, found):
    head = SimpleNamespace(name="e.csv")
    roles = SimpleNamespace(source=names[0], target=names[1], way="first", weight="")
    tables = SimpleNamespace(roles=roles, edges=[SimpleNamespace(head=head)], nodes=nodes)
    assert bipartite.find(tables, ids(*(a for a, _ in rows)), ids(*(b for _, b in rows)), None, settings(**given)) == found


def test_a_name_before_each_id_keeps_both_sides_apart():
    found = bipartite.prefixed(ids(7, 8, 7), "user_id")
    assert found.values.to_pylist() == ["user:7", "user:8"] and found.codes.tolist() == [0, 1, 0]


# From rows to edges.


def built(rows, told=None, given=None, **more) -> tuple[assemble.Edges, Told, Checks]:
    told = Told()
    checks = Checks(told)
    raw = Raw(("e.csv",), ids(*(r[0] for r in rows)), ids(*(r[1] for r in rows)), **more)
    return assemble.edges(raw, settings(**(given or {})), checks), told, checks


def listed(found: assemble.Edges) -> list[tuple[str, str]]:
    names = found.ids.to_pylist()
    return [(names[a], names[b]) for a, b in zip(found.source, found.target)]


@pytest.mark.parametrize(
    ("rows", "more", "given", "directed", "why"),
    [
        pytest.param([("a", "b"), ("c", "b")], {}, {"directed": "no"}, False, "as requested", id="asked for"),
        pytest.param([("a", "b"), ("b", "a")], {"directed": True}, {}, False, "100% of the edges are there in both directions", id="both directions"),
        pytest.param([("a", "b")], {"directed": True, "direction": "the file says so"}, {}, True, "the file says so", id="the file"),
        pytest.param([("b", "a")], {"ends": ("citing", "cited")}, {}, True, "the names citing and cited say a direction", id="names"),
        pytest.param([("b", "a")], {"ends": ("id_1", "id_2")}, {}, False, "the names id_1 and id_2 say no direction", id="names that say none"),
        pytest.param([("a", "b"), ("a", "c")], {}, {}, False, "each pair is there once, with the smaller id first", id="in order"),
        pytest.param([("b", "a"), ("a", "c")], {}, {}, True, "0% of the edges are there in both directions", id="in any order"),
    ],
)
def test_whether_edges_have_a_direction(rows, more, given, directed, why):
    found, *_ = built(rows, given=given, **more)
    assert (found.directed, found.why) == (directed, why)


def test_each_count_is_told():
    rows = [("a", "b"), ("b", "a"), ("a", "b"), ("c", "c"), ("a", "x"), ("b", "c")]
    table = Nodes("nodes.csv", pyarrow.array(["c", "b", "a", "lonely"]))
    found, told, checks = built(rows, nodes=[table], bad=1, given={"directed": "no"})
    assert listed(found) == [("a", "b"), ("b", "c")] and found.ids.to_pylist() == ["a", "b", "c", "lonely"]
    assert {n: found.told[n] for n in ("read", "loops", "duplicates", "reversed", "unknown_nodes")} == {
        "read": 6, "loops": 1, "duplicates": 1, "reversed": 1, "unknown_nodes": 1,
    }  # fmt: skip
    assert told.warnings == {
        "unknown_nodes": "1 edge is left out: an edge of a node that no table of nodes has.",
        "bad_rows": "1 row is left out of e.csv: without two ids.",
    }
    assert dict(checks.dropped) == {
        "edges of a node that no table of nodes has": 1, "edges of a node with itself": 1, "edges that the data has already": 1,
        "rows without two ids": 1,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("weight", "found", "code"),
    [
        pytest.param([1.0, numpy.nan, 3.0, 2.0], [1, 2, 3, 2], "missing_weights", id="a gap"),
        pytest.param([1.0, 0.0, -1.0, 2.0], [1, 2], "negative_weights", id="weights that are not positive"),
        pytest.param([2.0] * 4, None, None, id="all alike"),
        pytest.param([numpy.nan] * 4, None, None, id="gaps alone"),
    ],
)
def test_weights_of_edges(weight, found, code):
    rows = [("a", "b"), ("a", "c"), ("a", "d"), ("a", "e")]
    edges, told, _ = built(rows, weight=numpy.array(weight))
    assert (None if edges.weight is None else edges.weight.tolist()) == found and list(told.warnings) == ([code] if code else [])


def test_weights_that_are_signs_are_refused():
    with pytest.raises(UserError) as e:
        built([("a", "b"), ("a", "c")], weight=numpy.array([1.0, -1.0]))
    assert e.value.code == "signed_graph" and "50% of the weights" in e.value.what


def test_of_equal_edges_the_earliest_time_and_then_the_largest_weight_counts():
    rows = [("a", "b"), ("b", "a"), ("a", "b"), *[("a", f"x{i}") for i in range(10)]]
    time = numpy.array([5.0, 2.0, 2.0, *range(10, 20)])
    found, *_ = built(rows, time=time, time_column="when", weight=numpy.array([9.0, 1.0, 3.0, *[1.0] * 10]), given={"directed": "no"})
    assert listed(found)[0] == ("a", "b") and (found.time[0], found.weight[0]) == (2.0, 3.0)
    assert found.told["time"] == {"column": "when", "from": 2.0, "to": 19.0}


@pytest.mark.parametrize(
    ("missing", "said"),
    [(1, "1 edge without a time in when counts as the oldest."), (2, "2 edges without a time in when count as the oldest ones.")],
)
def test_edges_without_a_time_are_the_oldest(missing, said):
    time = numpy.r_[numpy.full(missing, numpy.nan), numpy.arange(10.0, 20.0)]
    found, told, _ = built([("a", f"x{i}") for i in range(len(time))], time=time, time_column="when")
    assert told.warnings == {"missing_times": said} and sorted(found.time)[:missing] == [10.0] * missing


def test_few_different_times_split_nothing():
    found, told, _ = built([("a", f"x{i}") for i in range(20)], time=numpy.arange(20.0) % 9, time_column="when")
    assert found.time is None and found.told["time"] is None and told.sentences["time"].startswith("when has fewer than 10 different times")


def test_a_bipartite_graph_has_its_sources_first_and_no_loops():
    tables = [Nodes("u", pyarrow.array(["10", "9"]), side=0), Nodes("i", pyarrow.array(["9", "1"]), side=1)]
    found, *_ = built([("9", "9"), ("10", "1"), ("9", "7")], bipartite=True, nodes=tables)
    assert found.ids.to_pylist() == ["9", "10", "1", "9"] and found.left == 2 and not found.directed
    assert listed(found) == [("9", "9"), ("10", "1")] and (found.told["unknown_nodes"], found.told["loops"]) == (1, 0)


@pytest.mark.parametrize(
    ("rows", "task", "features", "code"),
    [
        pytest.param([("a", f"x{i}") for i in range(49)], LINKS, False, "too_few_edges", id="few edges"),
        pytest.param([("a", f"x{i}") for i in range(9)], CLASSES, True, "too_few_edges", id="very few edges"),
        pytest.param([("a", f"x{i}") for i in range(10)], NUMBERS, True, None, id="enough for nodes"),
        pytest.param([(f"a{i}", f"b{i}") for i in range(60)], LINKS, False, "no_links_left", id="pairs apart"),
        pytest.param([(f"a{i}", f"b{i}") for i in range(60)], LINKS, True, None, id="pairs apart with features"),
        pytest.param([(i, j) for i in range(12) for j in range(i + 1, 12)], LINKS, True, "complete_graph", id="all pairs"),
        pytest.param([(i, j) for i in range(12) for j in range(i + 1, 12)], CLASSES, True, None, id="all pairs for nodes"),
    ],
)
def test_a_graph_that_nothing_can_be_learnt_from_is_refused(rows, task, features, code):
    found, _, checks = built(rows, given={"directed": "no"})
    if code is None:
        assemble.check(found, task, features, checks)
        return
    with pytest.raises(UserError) as e:
        assemble.check(found, task, features, checks)
    assert e.value.code == code and e.value.do


def test_a_hub_and_components_are_told():
    rows = [("hub", f"x{i}") for i in range(60)] + [("a", "b")]
    found, told, checks = built(rows, nodes=[Nodes("n", pyarrow.array(["hub", "a", "b", "alone", *(f"x{i}" for i in range(60))]))])
    assemble.check(found, LINKS, True, checks)
    assert told.warnings["one_node_hub"].startswith("The node hub is at an end of 98% of all edges")
    assert {n: found.told[n] for n in ("isolated", "components", "largest_component")} == {"isolated": 1, "components": 3, "largest_component": 61}
    said = {c["code"]: c["text"] for c in checks.entries}
    assert said["isolated_nodes"] == "1 node has no edge: their features alone tell of them." and "3 components" in said["components"]


@pytest.mark.parametrize(
    ("given", "splits"),
    [
        (None, None),
        ([-1, -1, -1], None),
        ([1, 2, -1], None),
        ([0, 2, 0], {"train": [0, 2], "test": [1]}),
        ([0, 1, -1], {"train": [0], "validation": [1]}),
    ],
)
def test_splits_of_the_data_count_where_some_edges_train(given, splits):
    found = SimpleNamespace(given=None if given is None else numpy.array(given, numpy.int8))
    read = assemble.given_splits(found)
    assert (read and {n: r.tolist() for n, r in read.items()}) == splits


def test_a_table_without_common_ids_covers_nothing():
    none = SimpleNamespace(found=(numpy.zeros(0, bool), numpy.zeros(0, bool)))
    assert matching.covered(none) == 0.0
