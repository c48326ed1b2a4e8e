"""What the columns of a table of edges are for: ends, weights, times, splits and relations."""

from types import SimpleNamespace

import pytest

from trainer.core.input import Input
from trainer.errors import UserError
from trainer.kinds.graph.reading import edge_roles
from trainer.kinds.graph.reading.edge_roles import ASKED, FIRST, NAMED, PAIR, EdgeRoles
from trainer.kinds.graph.reading.heads import Head

OPTIONS = ("source_column", "target_column", "split_column", "weight_column", "time_column")


def head(columns: str, rows, has_header: bool = True, comments: tuple[str, ...] = ()) -> Head:
    names = tuple(columns.split(","))
    return Head(Input("a", "a.csv", "a.csv", 1, ""), names, [[str(c) for c in row] for row in rows], has_header=has_header, comments=comments)


def found(columns: str, row, asked: bool = False, has_header: bool = True, comments=(), rows: int = 40, **options) -> EdgeRoles | None:
    given = SimpleNamespace(**{**dict.fromkeys(OPTIONS, ""), **options})
    return edge_roles.find(head(columns, [row(i) for i in range(rows)], has_header, comments), given, asked)


def ends(i: int) -> list:
    return [f"n{i}", f"n{i + 1}"]


@pytest.mark.parametrize(
    ("columns", "row", "more", "roles"),
    [
        pytest.param("source,target", ends, {}, ("source", "target", NAMED), id="names"),
        pytest.param("x,target,source", lambda i: [0, *ends(i)], {}, ("source", "target", NAMED), id="names in any place"),
        pytest.param(" Source ,TARGET", ends, {}, (" Source ", "TARGET", NAMED), id="names in any case"),
        pytest.param("a,b", ends, {"has_header": False}, ("a", "b", FIRST), id="no header"),
        pytest.param("a,b,c,d", lambda i: [*ends(i), 1, 2], {"has_header": False}, ("a", "b", FIRST), id="four columns without a header"),
        pytest.param("a,b,c,d,e", lambda i: [*ends(i), 1, 2, 3], {"has_header": False}, None, id="five columns without a header"),
        pytest.param("a,b,c", lambda i: [i, "likes" if i % 2 else "knows", i + 1], {"has_header": False}, ("a", "c", FIRST), id="triples"),
        pytest.param("a,b", ends, {"comments": ("a graph",)}, ("a", "b", FIRST), id="comments"),
        pytest.param("a,b", ends, {}, ("a", "b", PAIR), id="a pair"),
        pytest.param("a,b,weight", lambda i: [*ends(i), i], {}, ("a", "b", PAIR), id="a pair with weights"),
        pytest.param("a,b,colour", lambda i: [*ends(i), i], {}, None, id="a pair with something else"),
        pytest.param("a,b,colour", lambda i: [*ends(i), i], {"asked": True}, ("a", "b", ASKED), id="something else, as requested"),
        pytest.param("a,b", lambda i: [i + 0.5, i], {}, None, id="measures are no ids"),
        pytest.param("source,target", lambda i: [i + 0.5, i], {}, None, id="measures under names of ends"),
        pytest.param("source,target", lambda i: [f"a long sentence number {i}", i], {}, None, id="sentences are no ids"),
        pytest.param("a", lambda i: [i], {}, None, id="one column"),
        pytest.param("a,b", ends, {"rows": 0}, None, id="no rows"),
        pytest.param("p,q,r", lambda i: [0, *ends(i)], {"source_column": "R", "target_column": "q"}, ("r", "q", ASKED), id="as requested"),
        pytest.param("p,q", ends, {"source_column": "x", "target_column": "q"}, None, id="columns of another file"),
    ],
)
def test_the_ends_of_edges(columns, row, more, roles):
    got = found(columns, row, **more)
    assert (None if got is None else (got.source, got.target, got.way)) == roles


def test_a_column_that_was_asked_for_and_is_not_there_is_refused():
    with pytest.raises(UserError):
        found("p,q", ends, asked=True, source_column="x", target_column="q")


SECONDS = 1_500_000_000


@pytest.mark.parametrize(
    ("columns", "cells", "more", "roles"),
    [
        pytest.param("Weight", lambda i: i, {}, {"weight": "Weight"}, id="weights by name"),
        pytest.param("weight", lambda i: "xyz"[i % 3], {}, {"weight": "", "others": ["weight"]}, id="words are no weights"),
        pytest.param("w2", lambda i: i, {}, {"weight": "", "others": ["w2"]}, id="another name"),
        pytest.param("w2", lambda i: i, {"weight_column": "W2"}, {"weight": "w2"}, id="weights as requested"),
        pytest.param("weight", lambda i: i, {"weight_column": "None"}, {"weight": "", "others": ["weight"]}, id="no weights as requested"),
        pytest.param("c", lambda i: i, {"has_header": False}, {"weight": "c", "time": ""}, id="the third column"),
        pytest.param("c", lambda i: SECONDS + i, {"has_header": False}, {"weight": "", "time": "c"}, id="seconds in the third column"),
        pytest.param("c", lambda i: 1000 * (SECONDS + i), {"has_header": False}, {"weight": "", "time": "c"}, id="milliseconds in the third column"),
        pytest.param("column 3", lambda i: i, {"has_header": False, "weight_column": "3"}, {"weight": "column 3"}, id="a column by its number"),
        pytest.param("year", lambda i: 1990 + i, {}, {"time": "year"}, id="times by name"),
        pytest.param("year", lambda i: 1990, {}, {"time": "", "others": []}, id="one time says nothing"),
        pytest.param("day", lambda i: f"2020-01-{i % 28 + 1:02}", {}, {"time": "day"}, id="dates"),
        pytest.param("day", lambda i: "ab"[i % 2], {}, {"time": ""}, id="words are no times"),
        pytest.param("when it was", lambda i: i, {"time_column": "when it was"}, {"time": "when it was"}, id="times as requested"),
        pytest.param("year", lambda i: 1990 + i, {"time_column": "none"}, {"time": "", "others": ["year"]}, id="no times as requested"),
        pytest.param("split", lambda i: "train", {}, {"split": "split"}, id="split"),
        pytest.param("part", lambda i: "ab"[i % 2], {"split_column": "part"}, {"split": "part"}, id="split as requested"),
        pytest.param("relation", lambda i: "ab"[i % 2], {}, {"relation": "relation"}, id="relations"),
        pytest.param("relation", lambda i: "a", {}, {"relation": "", "others": []}, id="one relation says nothing"),
        pytest.param("relation", lambda i: i % 2, {}, {"relation": "", "others": ["relation"]}, id="numbers are no relations"),
        pytest.param("relation", lambda i: f"r{i}", {}, {"relation": "", "others": ["relation"]}, id="too many relations"),
        pytest.param("label", lambda i: "ab"[i % 2], {}, {"relation": "label"}, id="labels of edges"),
        pytest.param("colour", lambda i: "ab"[i % 2], {}, {"relation": "", "others": ["colour"]}, id="another name of words"),
        pytest.param("Type", lambda i: "Undirected", {}, {"type": "Type", "relation": ""}, id="the types of Gephi"),
        pytest.param("type", lambda i: "ab"[i % 2], {}, {"type": "", "relation": "type"}, id="types of another kind"),
        pytest.param("id", lambda i: i, {}, {"others": []}, id="the number of a row"),
    ],
)
def test_the_other_columns(columns, cells, more, roles):
    names = "source,target," + columns if more.get("has_header", True) else "a,b," + columns
    got = found(names, lambda i: [*ends(i), cells(i)], **more)
    assert {name: getattr(got, name) for name in roles} == roles


def test_of_several_columns_each_has_one_role():
    got = found("source,target,weight,count,time,split,relation,predicate", lambda i: [*ends(i), i, i, i, "train", "ab"[i % 2], "cd"[i % 2]])
    assert (got.weight, got.time, got.split, got.relation, got.others) == ("weight", "time", "split", "relation", ["count", "predicate"])
    assert edge_roles.described(got) == ", with weight as weights, time as times and split as the split; count and predicate are not used"


@pytest.mark.parametrize(
    ("roles", "sentence"),
    [
        ({}, ""),
        ({"weight": "w"}, ", with w as weights"),
        ({"others": ["x"]}, "; x is not used"),
        ({"time": "t", "others": ["x"]}, ", with t as times; x is not used"),
    ],
)
def test_what_is_read_besides_the_ends(roles, sentence):
    assert edge_roles.described(EdgeRoles("a", "b", NAMED, "", **roles)) == sentence


@pytest.mark.parametrize(
    ("cells", "yes"),
    [
        ([], False), (["1", "2"], True), (["1.0", "2.00"], True), (["1.5", "2.5"], False), (["a", "b c"], True), (["a b c", "d e"], False),
        (["2020-01-01", "2020-01-02"], False), (["2020-01-01", "x", "y"], True), (["[1]", "[2]"], False), (["x" * 200], True), (["x" * 201], False),
        (["1,5", "2,5"], False), (["ü", "漢"], True),
    ],
    ids=["none", "whole", "whole with a point", "measures", "short names", "two words and more", "dates", "few dates", "lists", "long", "too long",
         "decimal commas", "unicode"],
)  # fmt: skip
def test_cells_that_look_like_identifiers(cells, yes):
    assert edge_roles.are_ids(cells) is yes


@pytest.mark.parametrize(
    ("cells", "named", "yes"),
    [
        ([], True, False), (["5"], True, False), (["5", "5"], True, False), (["5", "6"], True, True), (["5", "6"], False, False),
        (["300000001", "4999999999"], False, True), (["300000000", "400000000"], False, False), (["400000000", "5000000000"], False, False),
        (["400000000", "400000000000"], False, False), (["2020-01-01", "2020-01-02"], False, True), (["a", "b"], True, False),
    ],
    ids=["none", "one", "one value", "named", "not named", "seconds", "too early", "too late", "seconds and milliseconds", "dates", "words"],
)  # fmt: skip
def test_cells_that_look_like_times(cells, named, yes):
    assert edge_roles.is_time(cells, named) is yes


@pytest.mark.parametrize(
    ("others", "column"), [(["x"], ""), (["x", "Label"], "Label"), (["my_class"], "my_class"), (["is_spam"], "is_spam"), (["island"], "")]
)
def test_a_column_that_may_be_the_label_of_rows(others, column):
    assert edge_roles.asks_for_label(EdgeRoles("a", "b", NAMED, "", others=others)) == column
