"""What the files of a dataset ask a model of a graph: pairs, links or labels of nodes, and which nodes and edges are new."""

import pickle
from dataclasses import replace
from types import SimpleNamespace

import numpy
import pyarrow
import pytest
from graph_files import RecordedEvents
from pyarrow import parquet
from test_graph_delivery import graph

from trainer.core.input import Input
from trainer.errors import UserError
from trainer.export import Asking
from trainer.kinds.graph.asking import answering, extended, predict, prepared, questions
from trainer.kinds.graph.delivery import stored
from trainer.kinds.graph.graph import CLASSES, LINKS
from trainer.kinds.graph.reading import matrices
from trainer.run_folder import files as json_files

RING = [[i, (i + 1) % 10] for i in range(9)] + [[0, 9]]
FEATURES = [{"kind": "numbers", "columns": ["size"]}]
OPTIONS = ("delimiter", "encoding", "source_column", "target_column", "id_column", "label_column", "edges_file")


def options(**given) -> SimpleNamespace:
    return SimpleNamespace(**dict.fromkeys(OPTIONS, "") | given)


def described(task: str = LINKS, parts=(), **more) -> dict:
    """The description of a model; ``more`` are entries of its graph."""
    return {"task": task, "label_column": "", "graph": {"left": 0, "encoder": {"parts": list(parts)}, **more}}


@pytest.fixture
def known(tmp_path):
    """known(ids) is a stored ring of ten nodes, which are called n0 to n9 or as ``ids`` says."""

    def made(ids=None, **more):
        whole = graph(RING, 10, **more)
        stored.write(tmp_path / stored.NAME, whole if ids is None else replace(whole, ids=pyarrow.array(ids)))
        return stored.load(tmp_path / stored.NAME)

    return made


@pytest.fixture
def read(tmp_path, known):
    """read(files, description, **settings) is what the files ask, and what was told of it."""

    def asked(content: dict, description=None, ring=None, **given):
        inputs = []
        for number, (name, text) in enumerate(content.items()):
            file = tmp_path / f"input-{number}"
            if isinstance(text, pyarrow.Table):
                parquet.write_table(text, file)
            else:
                file.write_text(text, encoding="utf-8")
            inputs.append(Input(name, file, file.stat().st_size, "", f"id{number}"))
        told = RecordedEvents()
        return questions.read(inputs, options(**given), description or described(), ring or known(), told), told

    return asked


def ring_matrix(side: int, named: bool) -> str:
    """The ring as a matrix of ``side`` nodes; those beyond the ring hang on its first node."""
    weights = numpy.zeros((side, side), int)
    for a, b in [*RING, *((0, new) for new in range(10, side))]:
        weights[a, b] = weights[b, a] = 1
    head = [",".join(["", *(f"n{i}" for i in range(side))])] if named else []
    return "\n".join([*head, *(",".join([*([f"n{i}"] if named else []), *map(str, row)]) for i, row in enumerate(weights.tolist()))]) + "\n"


@pytest.mark.parametrize("named", [True, False])
def test_a_matrix_asks_about_its_nodes_and_has_the_edges_of_new_ones(tmp_path, known, named):
    file = tmp_path / "input.csv"
    file.write_text(ring_matrix(11, named))
    source = Input("net.csv", file, file.stat().st_size, "", "id")
    tables = matrices.as_questions([source], options(), tmp_path / "work")
    ring = known() if named else known([str(i) for i in range(1, 11)])
    asked = questions.read(tables, options(), described(CLASSES), ring, RecordedEvents())
    ids = [f"n{i}" for i in range(11)] if named else [str(i) for i in range(1, 12)]
    assert (asked.asked, asked.files, asked.nodes[0].ids) == ("nodes", ["net.csv"], ids)
    assert asked.nodes[0].rows.tolist()[:2] == ([2, 3] if named else [1, 2])  # the lines of the matrix
    assert (ids[0], ids[10]) in zip(asked.edges[0].source, asked.edges[0].target, strict=True)


def test_other_tables_of_a_question_stay_as_they_are(tmp_path):
    file = tmp_path / "pairs.csv"
    file.write_text("source,target\n" + "".join(f"n{i},n{i + 1}\n" for i in range(9)))
    source = Input("pairs.csv", file, file.stat().st_size, "", "id")
    assert matrices.as_questions([source], options(), tmp_path / "work") == [source]


@pytest.mark.parametrize(
    ("text", "description", "given", "ends"),
    [
        pytest.param("source,target\nn1,x\n", {}, {}, ("source", "target"), id="usual names"),
        pytest.param("note,Citing,Cited\na,n1,x\n", {"ends": ("citing", "cited")}, {}, ("Citing", "Cited"), id="the names of the training"),
        pytest.param(
            "source,target,A,B\nx,y,n1,n2\n", {}, {"source_column": " a ", "target_column": "b"}, ("A", "B"), id="the settings before the names"
        ),
        pytest.param(
            "source,target\nn1,n2\n", {"ends": ("citing", "cited")}, {}, ("source", "target"), id="usual names where those of the training lack"
        ),
        pytest.param("n1,x\nn2,y\n", {}, {}, ("column 1", "column 2"), id="two columns without a header"),
        pytest.param("one,other,kind\nn1,n2,a\nn3,n4,b\n", {}, {}, ("one", "other"), id="ids of the graph below other names"),
        pytest.param("one,other,size\nn1,n2,1\nx,y,2\n", {}, {}, ("one", "other"), id="half of them are ids of the graph"),
    ],
)
def test_a_table_with_two_ids_asks_about_pairs(read, text, description, given, ends):
    asked, _ = read({"pairs.csv": text}, described(**description), **given)
    assert asked.asked == "pairs" and asked.pairs[0].ends == ends and not asked.nodes and not asked.edges


@pytest.mark.parametrize(
    ("text", "description", "given", "key", "ids"),
    [
        pytest.param("n1\nn2\n", {}, {}, "id", ["n1", "n2"], id="a line for each, no header"),
        pytest.param("Name\nn1\n", {}, {}, "Name", ["n1"], id="a usual name above"),
        pytest.param("Paper\nn1\n", {}, {"id_column": "paper"}, "Paper", ["n1"], id="the name of the settings above"),
        pytest.param("\n\nid\nn1\n\nn3\n", {}, {}, "id", ["n1", "n3"], id="blank lines"),
        pytest.param("source,target\nn1,n2\n", {}, {"id_column": "source"}, "source", ["n1"], id="the settings name one of two ids"),
        pytest.param("year,paper\n1990,n1\n1991,n2\n", {"id_column": "paper"}, {}, "paper", ["n1", "n2"], id="the column of the training"),
        pytest.param("note,other\na,n3\nb,n4\n", {}, {}, "other", ["n3", "n4"], id="the column whose cells are ids of the graph"),
        pytest.param("note,name\na,new1\nb,n4\n", {}, {}, "name", ["new1", "n4"], id="a usual name, one known id"),
    ],
)
def test_a_table_with_one_id_asks_about_nodes(read, text, description, given, key, ids):
    asked, _ = read({"who.csv": text}, described(**description), **given)
    assert asked.asked == "links" and [(n.id, n.ids) for n in asked.nodes] == [(key, ids)]


def test_a_first_line_that_is_an_id_of_the_graph_is_no_header(read, known):
    ring = known(["id", *(f"n{i}" for i in range(9))])
    asked, _ = read({"who.csv": "id\nn1\n"}, ring=ring)
    assert asked.nodes[0].ids == ["id", "n1"]


def test_a_table_of_features_alone_asks_about_new_nodes(read):
    asked, _ = read({"new.csv": "size,what\n1,a\n2,b\n"}, described(parts=FEATURES))
    assert asked.nodes[0].id == "what" and asked.nodes[0].cells["size"].to_pylist() == ["1", "2"]


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        pytest.param(["yes", "No", " TRUE "], [1, 0, 1], id="words in any case"),
        pytest.param(["1.0", "0.0", "1"], [1, 0, 1], id="numbers"),
        pytest.param(["edge", "", "no edge"], [1, -1, 0], id="a gap"),
        pytest.param(["yes", "maybe", "no"], None, id="another word"),
        pytest.param(["", "", ""], None, id="gaps alone"),
    ],
)
def test_a_column_says_which_pairs_are_edges(read, cells, said):
    rows = "".join(f"n{i},n{i + 4},{cell}\n" for i, cell in enumerate(cells))
    asked, _ = read({"pairs.csv": f"source,target,label\n{rows}"})
    found = asked.pairs[0]
    assert (found.label, None if found.edges is None else found.edges.tolist()) == ("label" if said else "", said)


def test_a_column_that_was_asked_for_is_the_only_one_that_says_which_pairs_are_edges(read):
    text = "source,target,label,truth\nn1,n2,yes,no\nn2,n5,no,yes\n"
    assert read({"pairs.csv": text}, label_column="Truth")[0].pairs[0].edges.tolist() == [0, 1]
    assert read({"pairs.csv": text}, label_column="other")[0].pairs[0].label == ""


def test_ids_stay_as_they_are_written(read, known):
    ids = ["007", "7", "ü", "a b", "𝔘", "N1", "1.0", "x,y", 'q"', "-3"]
    asked, _ = read({"pairs.csv": 'source,target\n007,7\n ü ,a b\n𝔘,1.0\n"x,y","q"""\n'}, ring=known(ids))
    assert list(zip(asked.pairs[0].source, asked.pairs[0].target)) == [("007", "7"), ("ü", "a b"), ("𝔘", "1.0"), ("x,y", 'q"')]


def test_rows_are_counted_as_people_count_until_one_cannot_be_read(read):
    found = read({"pairs.csv": "# a note\nsource,target\nn1,n2\nn3,n4\n"})[0]
    assert found.pairs[0].rows.tolist() == [3, 4] and found.skipped == 0
    found = read({"pairs.csv": "source,target\nn1,n2\n,n4\nn5,n6\n"})[0]
    assert found.pairs[0].rows.tolist() == [0, 0] and found.skipped == 1 and found.pairs[0].source == ["n1", "n5"]


def test_ids_in_a_parquet_file_are_read(read):
    table = pyarrow.table({"source": [1, 2], "target": [3, 4]})
    assert read({"pairs.parquet": table})[0].pairs[0].target == ["3", "4"]


def test_a_table_of_pairs_beside_nodes_has_their_edges(read):
    content = {"new.csv": "id,size\nx1,1\n", "more.csv": "source,target\nx1,n2\n"}
    asked, told = read(content, described(parts=FEATURES))
    assert asked.asked == "links" and not asked.pairs and [e.head.name for e in asked.edges] == ["more.csv"]
    assert told.sentences["edges_file"].startswith("more.csv has the edges of the nodes in new.csv.")
    assert "set edges_file" in told.sentences["edges_file"]


@pytest.mark.parametrize("wanted", ["edges.csv", "id1", " edges.csv "], ids=["name", "id", "blanks"])
def test_the_settings_say_which_table_has_edges(read, wanted):
    content = {"new.csv": "id,size\nx1,1\n", "edges.csv": "source,target\nx1,n2\n", "pairs.csv": "source,target\nx1,n3\n"}
    asked, told = read(content, described(parts=FEATURES), edges_file=wanted)
    assert asked.asked == "pairs" and not told.sentences
    assert [p.head.name for p in asked.pairs] == ["pairs.csv"] and [e.head.name for e in asked.edges] == ["edges.csv"]
    assert asked.files == ["edges.csv", "new.csv", "pairs.csv"]


def test_files_are_named_in_natural_order(read):
    content = {f"pairs{i}.csv": "source,target\nn1,n2\n" for i in (10, 9, 1)}
    assert read(content)[0].files == ["pairs1.csv", "pairs9.csv", "pairs10.csv"]


def test_pairs_are_edges_for_a_model_of_nodes(read):
    asked, _ = read({"who.csv": "id\nn1\n", "e.csv": "source,target\nn1,n3\n"}, described(CLASSES))
    assert asked.asked == "nodes" and len(asked.edges) == 1


@pytest.mark.parametrize(
    ("content", "task", "given", "code", "named"),
    [
        pytest.param({}, LINKS, {}, "no_data", "two ids, or one id", id="no table"),
        pytest.param({"e.csv": "source,target\nn1,n2\n"}, CLASSES, {}, "no_data", "the id of a node", id="pairs alone for a model of nodes"),
        pytest.param({"t.csv": "word,length\na,1\nb,1\n"}, LINKS, {}, "no_data", "id_column", id="a table without ids"),
        pytest.param({"empty.csv": ""}, LINKS, {}, "no_data", "Add a table", id="an empty file"),
        pytest.param({"e.csv": "source,target\nn1,n2\n"}, LINKS, {"edges_file": "f.csv"}, "unknown_file", "f.csv is no table of edges", id="no file"),
        pytest.param(
            {"e.jsonl": '{"source": {"a": 1}, "target": "n1"}\n' * 3}, LINKS, {}, "unreadable_file", "Correct the file", id="objects within objects"
        ),
    ],
)
def test_files_that_ask_nothing_are_refused_with_a_remedy(read, content, task, given, code, named):
    with pytest.raises(UserError) as e:
        read(content, described(task), **given)
    assert e.value.code == code and named in str(e.value)


@pytest.fixture
def make(read, known, tmp_path, monkeypatch):
    """make(files, description, **settings) is what is ready for an answer, what was told of it, and the columns of new nodes."""

    def ready(content: dict, description=None, ring=None, **given):
        description, ring = description or described(), ring or known()
        asked, told = read(content, description, ring, **given)
        seen: dict = {}

        def features(folder, encoder, cells, rows, models, progress):
            seen.update(cells)
            return numpy.arange(rows * 2, dtype=numpy.float64).reshape(rows, 2)

        monkeypatch.setattr(prepared.encoders, "features", features)
        spec = SimpleNamespace(models=tmp_path, folder=tmp_path, work=tmp_path)
        (tmp_path / "work").mkdir(exist_ok=True)
        found = prepared.make(asked, ring, tmp_path / stored.NAME, tmp_path, description, tmp_path / "work", told, spec)
        return found, told, seen

    return ready


def test_known_nodes_are_answered_from_the_graph_as_it_is(make, tmp_path):
    found, told, _ = make({"pairs.csv": "source,target\nn1,n7\nn7,n1\nn1,n1\n"})
    assert (found.source.tolist(), found.target.tolist()) == ([1, 7, 1], [7, 1, 1])
    assert found.graph == tmp_path / stored.NAME and (found.known, found.new, found.alone, found.edges, found.unknown) == (2, 0, 0, 0, 0)
    assert not told.warnings


def test_nodes_have_no_targets(make):
    found, _, _ = make({"who.csv": "id\nn3\nn3\nn8\n"}, id_column="id")
    assert found.source.tolist() == [3, 3, 8] and found.target is None and found.known == 2


@pytest.mark.parametrize(
    ("text", "kept", "said"),
    [
        ("source,target\nn1,n2\nx,n3\n", [0], "1 row has ids that the trained graph does not have, for example x and n3. These rows are left out."),
        ("source,target\nx,n2\nn1,n3\nn4,y\n", [1], "2 rows have ids that the trained graph does not have, for example x and n2."),
        ("source,target\nn1,n2\nn3,N4\nn4,n5\n", [0, 2], "for example n3 and N4."),
    ],
    ids=["one row", "two rows", "a capital"],
)
def test_rows_with_unknown_ids_are_told_and_left_out(make, text, kept, said):
    found, told, _ = make({"pairs.csv": text})
    assert [k.tolist() for k in found.kept] == [kept] and said in told.warnings["unknown_nodes"]


def test_no_row_with_known_ids_is_refused_with_a_remedy(make):
    with pytest.raises(UserError, match="No row can be answered: 2 rows have ids") as e:
        make({"pairs.csv": "source,target\n01,02\n1,2\n"})
    assert e.value.code == "unknown_nodes" and "zeros at the beginning" in e.value.do


@pytest.mark.parametrize(("text", "said"), [("id\nx\nn1\n", "1 node is new."), ("id\nx\ny\nn1\n", "2 nodes are new.")])
def test_a_model_without_features_leaves_new_nodes_out(make, text, said):
    found, told, _ = make({"who.csv": text})
    assert found.source.tolist() == [1] and found.new == 0 and found.unknown == text.count("\n") - 2
    assert told.warnings["new_nodes"].startswith(said) and told.warnings["new_nodes"].endswith("so these are left out.")


def test_a_model_without_features_answers_for_no_table_of_new_nodes_alone(make):
    with pytest.raises(UserError, match="so it cannot answer for other nodes") as e:
        make({"who.csv": "id\nx\ny\nx\n"}, id_column="id")
    assert e.value.code == "new_nodes" and "train a model with features" in e.value.do


def test_new_nodes_follow_the_known_ones_with_their_features_and_edges(make, known):
    x = numpy.zeros((10, 2), numpy.float32)
    content = {
        "a.csv": "id,size\nnew1,1\nn2,5\nnew2,2\nnew1,9\n",
        "b.csv": "id,title\nnew3,three\n",
        "e.csv": "source,target\nnew1,n0\nnew2,new1\nn0,new1\nn3,n4\nnew1,nobody\n",
    }
    found, _, cells = make(content, described(parts=FEATURES), known(x=x), id_column="id")
    assert found.source.tolist() == [10, 2, 11, 10, 12] and (found.known, found.new, found.alone, found.edges, found.unknown) == (1, 3, 1, 3, 0)
    assert cells == {"size": ["1", "2", ""], "title": ["", "", "three"]}  # the first row of an id counts, and a column that a table lacks is empty
    whole = stored.load(found.graph)
    assert whole.ids.to_pylist()[10:] == ["new1", "new2", "new3"] and whole.x[10:].tolist() == [[0, 1], [2, 3], [4, 5]]
    assert whole.indices[whole.indptr[10] : whole.indptr[11]].tolist() == [0, 11] and whole.indptr[13] == whole.indptr[12]


def test_one_id_of_both_sides_is_two_nodes(make, known):
    ring = known([f"user:{i}" for i in range(4)] + [f"item:{i}" for i in range(6)])
    sides = described(left=4, prefixes=["user:", "item:"])
    found, told, _ = make({"pairs.csv": "user,item\n3,3\n3,5\n5,3\nuser:1,item:0\n"}, sides, ring)
    assert (found.source.tolist(), found.target.tolist()) == ([3, 3, 1], [7, 9, 4]) and found.unknown == 1
    assert "for example 5 and item:3" in told.warnings["unknown_nodes"]


@pytest.mark.parametrize("prefixes", [None, [], ["user:"], ["", "item:"], "ab", [1, 2]])
def test_prefixes_that_are_none_change_no_id(make, prefixes):
    assert make({"pairs.csv": "source,target\nn1,n2\n"}, described(prefixes=prefixes))[0].source.tolist() == [1]


@pytest.mark.parametrize("weights", [None, numpy.full(10, 3, numpy.float32)], ids=["no weights", "weights"])
@pytest.mark.parametrize("width", [0, 2])
def test_the_graph_with_new_nodes_has_each_edge_once_and_no_loop(known, tmp_path, weights, width):
    x = numpy.ones((10, width), numpy.float32) if width else None
    source, target = numpy.array([10, 0, 10, 11, 11]), numpy.array([0, 10, 3, 11, 10])
    extended.write(tmp_path / "more", known(weight=weights, x=x), ["p", "q"], numpy.zeros((2, width)), source, target)
    found = stored.load(tmp_path / "more")
    assert found.nodes == 12 and found.degrees().tolist() == [3, 2, 2, 3, 2, 2, 2, 2, 2, 2, 3, 1]
    assert (found.weights is None and weights is None) or set(found.weights.tolist()) == {3.0}
    assert found.x is None if x is None else found.x.shape == (12, 2)


def test_new_edges_of_a_graph_without_edges_weigh_one(tmp_path):
    stored.write(tmp_path / "none", graph(numpy.zeros((0, 2)), 2, weight=numpy.zeros(0, numpy.float32)))
    extended.write(tmp_path / "more", stored.load(tmp_path / "none"), ["p"], numpy.zeros((1, 0)), numpy.array([2]), numpy.array([0]))
    assert stored.load(tmp_path / "more").weights.tolist() == [1.0, 1.0]


def question(kind, folder, *args):
    return kind(folder, folder / stored.NAME, folder, *args)


def test_a_question_travels_as_paths(known, tmp_path):
    known(x=numpy.ones((10, 2), numpy.float32))
    asked = question(answering.Pairs, tmp_path, numpy.array([1]), numpy.array([2]))
    assert asked.store.nodes == 10
    again = pickle.loads(pickle.dumps(asked))
    assert "store" not in vars(again) and again.store.nodes == 10 and again.source.tolist() == [1]
    with pytest.raises(TypeError, match="a table of all nodes answers"):
        again.batch(numpy.zeros(1, int))


def test_a_model_without_a_network_scores_pairs_and_finds_new_links(known, tmp_path):
    known()
    json_files.write_json(tmp_path / "fusion.json", {"columns": ["common_neighbours"], "weights": [2.0]})
    pairs = question(answering.Pairs, tmp_path, numpy.array([0, 0]), numpy.array([2, 5]))
    assert pairs.lengths.tolist() == [1, 1] and pairs.simple(None).tolist() == [2.0, 0.0]
    links = question(answering.NewLinks, tmp_path, numpy.array([0, 5]), 3, 0, 10)
    found = links.simple(None)
    assert found[:, :3].tolist() == [[2, 8, -1], [3, 7, -1]] and found[:, 3:5].tolist() == [[2, 2], [2, 2]]
    assert numpy.isneginf(found[:, 5]).all()


def test_without_a_combination_the_network_alone_answers_for_nodes(known, tmp_path):
    known()
    labels = question(answering.Labels, tmp_path, numpy.array([1, 2]))
    outputs = numpy.array([[0.1, 0.9], [0.5, 0.5]])
    assert labels.joined(outputs, None) is outputs and labels.lengths.tolist() == [1, 1]


def test_a_model_without_its_graph_names_the_remedy(tmp_path):
    model = SimpleNamespace(description=described(), folder=tmp_path)
    with pytest.raises(UserError, match=r"too large for model\.zip") as e:
        predict.run(Asking(SimpleNamespace(work=tmp_path), options(), model, RecordedEvents(), 0.0), None)
    assert e.value.code == "no_graph" and e.value.do == "Choose the registered model."
