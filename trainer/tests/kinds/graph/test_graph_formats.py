"""Files that hold a whole graph: node-link documents of JSON, and which format a file has."""

# ruff: noqa: F811 - tests take fixtures that are imported
import json

import numpy
import pytest
from graph_files import cells, ends, matrix, npz, settings, source  # noqa: F401 - one is a fixture

from trainer.data.sources import Sources
from trainer.errors import UserError
from trainer.kinds.graph.reading import arrays, documents, formats, markup, ogb

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
