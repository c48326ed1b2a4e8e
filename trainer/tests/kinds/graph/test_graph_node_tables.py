"""Tables of nodes: which table has the ids of the edges, and which of its columns are for what."""

# ruff: noqa: F811 - tests take fixtures that are imported
import json
from dataclasses import replace
from types import SimpleNamespace

import numpy
import pyarrow
import pytest
from graph_files import RecordedEvents, look, settings, source  # noqa: F401 - two are fixtures

from trainer.data.checks import Checks
from trainer.errors import UserError
from trainer.kinds.graph.graph import CLASSES, LINKS, NUMBERS
from trainer.kinds.graph.reading import leaks, matching, node_roles, nodes
from trainer.kinds.graph.reading.node_roles import CATEGORY, LISTS, TEXT, NodeRoles
from trainer.kinds.graph.reading.raw import Nodes


def ends(*ids: str) -> tuple[pyarrow.Array, pyarrow.Array]:
    return pyarrow.array(ids), pyarrow.array(ids[:2])


def table(rows, head: str) -> str:
    return head + "\n" + "".join(",".join(map(str, r)) + "\n" for r in rows)


@pytest.mark.parametrize(
    ("content", "name", "given", "id", "share"),
    [
        pytest.param(table([(i, f"n{i}") for i in range(9)], "row,node"), "x.csv", {}, "node", 1.0, id="a column that is called so"),
        pytest.param(table([(f"n{i}", i) for i in range(9)], "who,size"), "x.csv", {}, "who", 1.0, id="another name"),
        pytest.param(table([(f"n{i}", f"n{i}") for i in range(9)], "node,Other"), "x.csv", {"id_column": "other"}, "Other", 1.0, id="the settings"),
        pytest.param(table([(f"n{i}", i) for i in range(2)], "node,size"), "x.csv", {}, "node", 1.0, id="all of one end"),
        pytest.param(table([(f"n{i % 3}", f"w{i}") for i in range(9)], "node,word"), "node_features.csv", {}, "node", 1.0, id="a row for each word"),
    ],
)
def test_the_table_of_nodes_has_the_ids_of_the_edges(look, content, name, given, id, share):
    found = matching.match(look(content, name, **given), ends(*(f"n{i}" for i in range(3))), settings(**given))
    assert found.id == id and matching.covered(found) == share
    assert found.repeated == ("word" in content)


@pytest.mark.parametrize(
    ("content", "name"),
    [
        pytest.param(table([(f"x{i}", i) for i in range(9)], "node,size"), "nodes.csv", id="other ids"),
        pytest.param(table([(f"n{i % 3}", f"w{i}") for i in range(9)], "node,word"), "x.csv", id="each id several times"),
        pytest.param(table([(f"n{i % 3}", i, i, i) for i in range(9)], "node,a,b,c"), "nodes.csv", id="each id several times with more columns"),
        pytest.param(table([("", i) for i in range(9)], "node,size"), "nodes.csv", id="no ids"),
    ],
)
def test_other_tables_are_no_tables_of_nodes(look, content, name):
    assert matching.match(look(content, name), ends("n0", "n1", "n2"), settings()) is None


@pytest.mark.parametrize(
    ("ids", "said"),
    [
        pytest.param([f"00{i}" for i in range(10)], "for example 0 (000 is there)", id="zeros"),
        pytest.param([f"{i}" for i in range(5)] + list("abcde"), "50% of the ids in edges.csv are not in nodes.csv, for example 5.", id="half"),
    ],
)
def test_ids_that_no_table_of_nodes_has_are_refused_with_an_example(look, ids, said):
    both = pyarrow.array([str(i) for i in range(10)])
    found = matching.match(look(table([(i, 1.5) for i in ids], "id,size"), "nodes.csv"), (both, both), settings())
    with pytest.raises(UserError) as e:
        matching.check_unknown([found], (both, both), "edges.csv", settings())
    assert e.value.code == "unknown_nodes" and said in e.value.what and "nodes_file to none" in e.value.do


def test_two_tables_have_the_ids_together(look):
    both = pyarrow.array([str(i) for i in range(10)])
    halves = [
        matching.match(look(table([(i, 1.5) for i in part], "id,size"), f"nodes{part[0]}.csv"), (both, both), settings())
        for part in (range(5), range(5, 10))
    ]
    assert matching.covered_by_all(halves) == 1.0 and matching.covered(halves[0]) == 0.5
    matching.check_unknown(halves, (both, both), "edges.csv", settings())


@pytest.mark.parametrize(
    ("column", "cells", "given", "yes"),
    [
        ("size", ["1", "2.5", ""], {}, True),
        ("size", ["1", "x", "y"], {}, False),
        ("size", ["", ""], {}, False),
        ("size", ["1e300", "1e308"], {}, False),
        ("label", ["1", "2"], {}, False),
        ("my_target", ["1", "2"], {}, False),
        ("train_mask", ["1", "0"], {}, False),
        ("size", ["1", "2"], {"label_column": " Size "}, False),
    ],
)
def test_columns_that_are_read_as_numbers(look, column, cells, given, yes):
    head = look(table([(f"n{i}", c) for i, c in enumerate(cells)], f"id,{column}"), "nodes.csv", id_column="id")
    assert nodes.is_number(head, column, settings(**given)) is yes


def test_the_first_row_of_a_node_counts(look, tmp_path):
    rows = [("b", 1, "x"), ("a", 2, "y"), ("b", 9, "z"), ("", 5, "w"), ("c", "", "v")]
    head = look(table(rows, "id,size,note"), "nodes.csv")
    found = nodes.read(matching.NodeFile(head, "id", 4, (numpy.ones(1, bool),) * 2), settings(), tmp_path)
    assert found.ids.to_pylist() == ["b", "a", "c"] and found.cells["note"].to_pylist() == ["x", "y", "v"]
    assert found.numbers == ("size",) and found.dense[:, 0].tolist() == pytest.approx([1, 2, numpy.nan], nan_ok=True)


@pytest.mark.parametrize("limit", [2, 200_000])
def test_words_of_nodes_are_a_matrix(monkeypatch, limit):
    monkeypatch.setattr(nodes, "MAX_WORDS", limit)
    words = pyarrow.array(["w10", "w9", "w1"])
    found = nodes.from_words(
        "f", pyarrow.array(["a", "b"]), numpy.array([0, 0, 0, 1, 1]), words, numpy.array([0, 0, 1, 1, 2]), numpy.array([2.0, 4, 1, 1e9, 1])
    )
    assert found.vocabulary == (("w1", "w9", "w10") if limit > 2 else ("w1", "w9"))  # the most frequent, of equal ones the first
    assert found.words.toarray().tolist() == ([[0, 1, 3], [1, 1e6, 0]] if limit > 2 else [[0, 1], [1, 1e6]])


@pytest.mark.parametrize(
    ("value", "vocabulary"),
    [
        ({"1": ["a", "b", "a"], "2": []}, ("a", "b")),
        ({"1": [3, 10, 9]}, ("3", "9", "10")),
        ({"1": []}, None),
        ({}, None),
        ([["a"]], None),
        ({"1": "a"}, None),
        ({"1": [1.5]}, None),
        ({"1": [True]}, None),
        ({"1": [None]}, None),
    ],
)
def test_lists_of_words_by_node(source, value, vocabulary):
    found = nodes.word_lists(source("features.json", json.dumps(value)), settings())
    assert (None if found is None else found.vocabulary) == vocabulary
    assert found is None or found.ids.to_pylist() == list(value)


def test_a_file_that_is_no_json_has_no_words(source):
    assert nodes.word_lists(source("f.json", b"\xff\xfe\x00"), settings()) is None
    assert nodes.word_lists(source("f.json", "[" * 100_000), settings()) is None


# What the columns of nodes are for.

COUNT = 60


def node_table(**cells) -> Nodes:
    made = {name: pyarrow.array([str(value(i)) for i in range(COUNT)], pyarrow.large_string()) for name, value in cells.items()}
    return Nodes("nodes.csv", pyarrow.array([f"n{i}" for i in range(COUNT)]), made)


@pytest.mark.parametrize(
    ("cells", "kind", "left"),
    [
        pytest.param(lambda i: "ab"[i % 2], CATEGORY, None, id="few values"),
        pytest.param(lambda i: f"a title of {i}", TEXT, None, id="texts"),
        pytest.param(lambda i: f"[w{i}]", LISTS, None, id="lists"),
        pytest.param(lambda i: "", None, "empty", id="empty"),
        pytest.param(lambda i: "same", None, "the same for every node", id="one value"),
        pytest.param(lambda i: f"2024-01-{i % 28 + 1:02d}", None, "dates", id="dates"),
        pytest.param(lambda i: f"x{i}", None, "too many different values for a category", id="all different"),
    ],
)
def test_how_a_column_of_nodes_is_read(cells, kind, left):
    roles = node_roles.choose([node_table(thing=cells)], settings(task=LINKS))
    assert roles.task == LINKS and roles.types == ({(0, "thing"): kind} if kind else {}) and roles.left == ({left: ["thing"]} if left else {})


@pytest.mark.parametrize(
    ("cells", "given", "task", "label"),
    [
        pytest.param({"label": lambda i: i % 3}, {}, CLASSES, "label", id="a name"),
        pytest.param({"my_class": lambda i: i % 3, "label": lambda i: i % 2}, {}, CLASSES, "label", id="the more usual name"),
        pytest.param({"target": lambda i: i / 7}, {}, NUMBERS, "target", id="measures"),
        pytest.param({"label": lambda i: i}, {}, NUMBERS, "label", id="many whole numbers"),
        pytest.param({"kind": lambda i: "ab"[i % 2]}, {}, CLASSES, "kind", id="a column that looks like classes"),
        pytest.param({"kind": lambda i: "ab"[i % 2]}, {"task": LINKS}, LINKS, "kind", id="links were asked for"),
        pytest.param({"note": lambda i: f"x{i}"}, {}, LINKS, None, id="no label"),
        pytest.param({"a": lambda i: "ab"[i % 2], "b": lambda i: "cd"[i % 2]}, {"label_column": "B"}, CLASSES, "b", id="the settings"),
    ],
)
def test_the_label_and_the_task(cells, given, task, label):
    roles = node_roles.choose([node_table(**cells)], settings(**given))
    assert roles.task == task and roles.label == (label and (0, label))


@pytest.mark.parametrize(
    ("cells", "given", "code", "named"),
    [
        pytest.param({"label": lambda i: "a"}, {}, "one_class", "label a in label", id="one class"),
        pytest.param({"label": lambda i: f"x{i}"}, {"task": NUMBERS}, "label_not_a_number", "label does not contain numbers", id="no numbers"),
        pytest.param({"label": lambda i: f"x{i}"}, {"task": CLASSES}, "label_not_a_class", "60 different values", id="no classes"),
        pytest.param({"note": lambda i: f"x{i}"}, {"task": NUMBERS}, "no_label", "nodes.csv", id="no label"),
        pytest.param({"a": lambda i: "ab"[i % 2], "b": lambda i: "cd"[i % 2]}, {}, "ambiguous_label", "a and b", id="two labels"),
    ],
)
def test_labels_that_cannot_be_learnt_are_refused(cells, given, code, named):
    with pytest.raises(UserError) as e:
        node_roles.choose([node_table(**cells)], settings(**given))
    assert e.value.code == code and named in str(e.value) and e.value.do


def test_splits_masks_and_titles_are_no_features():
    cells = {"split": lambda i: "train", "Train_Mask": lambda i: i % 2, "paper_title": lambda i: f"A title {i}", "kind": lambda i: "ab"[i % 2]}
    roles = node_roles.choose([node_table(**cells)], settings(task=LINKS))
    assert roles.split == (0, "split") and roles.masks == {(0, "Train_Mask"): "train"} and roles.title == (0, "paper_title")
    assert roles.types == {(0, "paper_title"): TEXT, (0, "kind"): CATEGORY}


@pytest.mark.parametrize(("count", "useless"), [(20, {"node_id": "an identifier"}), (19, {})])
def test_numbers_that_count_the_nodes_say_nothing(count, useless):
    dense = numpy.stack([numpy.arange(count), numpy.arange(count)], axis=1).astype(numpy.float32)
    made = Nodes("f", pyarrow.array([str(i) for i in range(count)]), numbers=("node_id", "size"), dense=dense)
    assert node_roles.useless_numbers(made) == useless


@pytest.mark.parametrize(
    ("task", "column", "found"),
    [
        pytest.param(CLASSES, lambda i: i % 3 + 5, True, id="the class as a number"),
        pytest.param(CLASSES, lambda i: i % 2, False, id="another number"),
        pytest.param(CLASSES, lambda i: 1, False, id="one number"),
        pytest.param(NUMBERS, lambda i: -2.0 * (i % 3) + 1, True, id="a line over the number"),
        pytest.param(NUMBERS, lambda i: (i * 7) % 11, False, id="other numbers"),
        pytest.param(LINKS, lambda i: i % 3, None, id="links have no labels"),
    ],
)
def test_a_number_that_says_the_label_is_told(task, column, found):
    made = node_table()
    made = replace(made, numbers=("score",), dense=numpy.array([[column(i)] for i in range(COUNT)], numpy.float32))
    told = RecordedEvents()
    checks = Checks(told)
    graph_ids = SimpleNamespace(ids=made.ids)
    leaks.check(SimpleNamespace(nodes=[made]), NodeRoles(task, label=(0, "label")), tuple(str(i % 3) for i in range(COUNT)), graph_ids, checks)
    assert told.warnings.get("feature_is_label", "").startswith("score says nearly the same as the label label" if found else "")
    assert len(checks.entries) == (found is not None)
