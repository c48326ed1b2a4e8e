"""How the columns of edges are told by their names, and how rows become the edges of a graph, with every count that is told."""

from types import SimpleNamespace

import numpy
import pyarrow
import pytest
from graph_files import RecordedEvents, settings

from trainer.data.checks import Checks
from trainer.errors import UserError
from trainer.kinds.graph.graph import CLASSES, LINKS, NUMBERS
from trainer.kinds.graph.reading import assemble, bipartite, columns, edge_names, matching
from trainer.kinds.graph.reading.raw import Nodes, Raw


def ids(*texts) -> columns.Ids:
    return columns.of_texts(pyarrow.array([str(t) for t in texts], pyarrow.string()))


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


def built(rows, told=None, given=None, **more) -> tuple[assemble.Edges, RecordedEvents, Checks]:
    told = RecordedEvents()
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
