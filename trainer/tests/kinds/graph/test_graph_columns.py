"""Columns of tables of a graph: how the beginning of a file is looked at, and what identifiers are."""

# ruff: noqa: F811 - tests take fixtures that are imported

import numpy
import pyarrow
import pytest
from graph_files import look, settings, source  # noqa: F401 - two are fixtures

from trainer.core.input import Input
from trainer.errors import UserError
from trainer.kinds.graph.reading import columns, heads
from trainer.kinds.graph.reading.columns import NotReadable


@pytest.mark.parametrize(
    ("content", "names", "rows", "skip"),
    [
        pytest.param("source,target\na,b\n", ("source", "target"), [["a", "b"]], 1, id="a header by its names"),
        pytest.param(
            "# SNAP\n# FromNodeId\tToNodeId\n1\t2\n3\t4\n", ("FromNodeId", "ToNodeId"), [["1", "2"], ["3", "4"]], 2, id="a header in a comment"
        ),
        pytest.param("# one two three\n1\t2\n3\t4\n", ("column 1", "column 2"), [["1", "2"], ["3", "4"]], 1, id="a comment of other words"),
        pytest.param("% sym\n\n1 2\n3   4\n", ("column 1", "column 2"), [["1", "2"], ["3", "4"]], 2, id="blanks between columns"),
        pytest.param("source,target,target,\na,b,1,2\n", None, [["a", "b", "1", "2"]], 1, id="names that are there twice or lack"),
        pytest.param("\ufeffsource,target\na,b\n", ("source", "target"), [["a", "b"]], 1, id="a byte order mark"),
        pytest.param('source,target\n"a,b","c\nd"\n', ("source", "target"), [["a,b", "c\nd"]], 1, id="quotes"),
        pytest.param("source;target\na;b\n\nc;d\n", ("source", "target"), [["a", "b"], ["c", "d"]], 1, id="semicolons and a blank line"),
    ],
)
def test_the_beginning_of_a_table(look, content, names, rows, skip):
    found = look(content)
    assert found.rows == rows and found.skip == skip
    assert len(set(found.columns)) == len(rows[0]) and (names is None or found.columns == names)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        pytest.param("e.csv", "", id="empty"),
        pytest.param("e.csv", "# a comment alone\n\n", id="comments"),
        pytest.param("e.csv", b"\x00\x01\x02" * 50, id="bytes"),
        pytest.param("e.txt", "The quick brown fox\njumps over the lazy dog today and\nrests\n", id="prose"),
        pytest.param("e.txt", " ".join("abcdefgh") + "\n" + " ".join("ijklmnop") + "\n", id="too many words in a line"),
        pytest.param("e.json", "{}", id="no object with columns"),
        pytest.param("e.json", '{"a": 1}', id="one object"),
        pytest.param("e.json", "[1, 2]", id="a list of numbers"),
        pytest.param("e.json", "nonsense", id="no JSON"),
        pytest.param("e.parquet", b"PAR1nonsensePAR1", id="a damaged Parquet file"),
        pytest.param("e.parquet", pyarrow.table({"a": pyarrow.array([], pyarrow.string())}), id="a Parquet file without rows"),
    ],
)
def test_what_is_no_table(look, name, content):
    assert look(content, name) is None


def test_a_file_that_is_not_there_is_no_table(tmp_path):
    for name in ("e.csv", "e.parquet"):
        assert heads.look(Input(name, tmp_path / name, 0, ""), settings()) is None


@pytest.mark.parametrize(
    "content", ['[{"a": 1, "b": "x"}, {"b": null, "c": [1]}]', '{"a": 1, "b": "x"}\n{"b": null, "c": [1]}\n'], ids=["a list", "lines"]
)
def test_objects_have_the_columns_of_all(look, content):
    found = look(content, "e.jsonl")
    assert found.columns == ("a", "b", "c") and found.kind == "json" and found.rows[0] == ["1", "x", ""] and found.rows[1][:2] == ["", ""]


def test_a_setting_makes_the_first_line_a_header(look):
    assert look("n1,n2\nn3,n4\n").has_header is False
    assert look("n1,n2\nn3,n4\n", label_column=" N2 ").columns == ("n1", "n2")


# Identifiers.


@pytest.mark.parametrize(
    ("texts", "numbers"),
    [
        (["35", "0", "7"], [35, 0, 7]),
        (["035", "1"], None),
        (["+35"], None),
        (["-1"], None),
        (["1.0"], None),
        (["1", ""], None),
        ([str(10**18)], [10**18]),
        ([str(10**18 + 1)], None),
        ([str(10**30)], None),
        ([], []),
    ],
)
def test_texts_that_are_whole_numbers_as_programs_write_them(texts, numbers):
    found = columns.whole_numbers(pyarrow.array(texts, pyarrow.string()))
    assert (None if found is None else found.tolist()) == numbers


@pytest.mark.parametrize(
    ("texts", "values", "codes"),
    [
        pytest.param(["b", " a ", "a", "b"], ["b", "a"], [0, 1, 1, 0], id="blanks at the ends"),
        pytest.param(["10", "9", "10"], ["9", "10"], [1, 0, 1], id="numbers in order"),
        pytest.param(["2.0", "1.0", "2.000"], ["1", "2"], [1, 0, 1], id="numbers that a program wrote with a point"),
        pytest.param(["2.0", "1.5"], ["2.0", "1.5"], [0, 1], id="fractions"),
        pytest.param(["007", "7"], ["007", "7"], [0, 1], id="leading zeros"),
        pytest.param([], [], [], id="none"),
    ],
)
def test_identifiers_are_places_of_different_values(texts, values, codes):
    found = columns.of_texts(pyarrow.array(texts, pyarrow.string()))
    assert found.values.to_pylist() == values and found.codes.tolist() == codes and found.codes.dtype == numpy.int32
    kept = found.kept(numpy.arange(len(codes))[:1])
    assert kept.values.equals(found.values) and kept.codes.tolist() == codes[:1]


def test_few_large_numbers_are_sorted_and_not_counted():
    found = columns.of_numbers(numpy.array([10**17, 5, 10**17]))
    assert found.values.to_pylist() == ["5", "100000000000000000"] and found.codes.tolist() == [1, 0, 1]


def test_a_fraction_that_no_row_has_changes_no_number():
    found = columns.of_texts(pyarrow.array(["1.0", "2.0", "2.5"]), numpy.array([1, 0, 1]))
    assert found.values.take(pyarrow.array(found.codes)).to_pylist() == ["2", "1", "2"]


@pytest.mark.parametrize(
    ("one", "other", "whole"),
    [
        (["10", "9"], ["9", "100"], ["9", "10", "100"]),
        (["n10", "n9"], ["n9", "m"], ["m", "n9", "n10"]),
        (["10", "9"], ["x"], ["9", "10", "x"]),
        ([], ["b", "a"], ["a", "b"]),
    ],
)
def test_the_values_of_two_columns_are_in_natural_order(one, other, whole):
    parts = [columns.of_texts(pyarrow.array(t, pyarrow.string())) for t in (one, other)]
    ordered, places = columns.union(parts)
    assert ordered.to_pylist() == whole
    for part, place in zip(parts, places):
        assert [whole[p] for p in place] == part.values.to_pylist()
    assert columns.places(pyarrow.array(["nobody"]), ordered).tolist() == [-1]


@pytest.mark.parametrize(
    ("cells", "found"),
    [
        (["1", "", "2.5e3"], [1, None, 2500]),
        (["1,5", "x", ""], [1.5, None, None]),
        (["", ""], [None, None]),
        ([], []),
        (["nan", "inf"], [None, numpy.inf]),
    ],
)
def test_cells_as_numbers(cells, found):
    wanted = numpy.array([numpy.nan if f is None else f for f in found], float)
    assert columns.numbers(pyarrow.array(cells, pyarrow.string())) == pytest.approx(wanted, nan_ok=True)


def read(head, ids, cells=()) -> columns.Columns:
    return columns.read(head, list(ids), tuple(cells), settings())


@pytest.mark.parametrize(
    ("name", "content", "bad"),
    [
        pytest.param("e.csv", "source,target,w\na,b, 1 \n,b,2\na,c\nc,a,3\n" + "a,b,1\n" * 30, 2, id="delimited"),
        pytest.param("e.txt", "source  target w\n a  b 1\nc \t a  3 \n" + "a b 1\n" * 30, 0, id="blanks"),
        pytest.param("e.jsonl", '{"source": "a", "target": "b", "w": 1}\n{"target": "b"}\n{"source": "c", "target": "a", "w": 3}\n', 1, id="JSON"),
        pytest.param(
            "e.parquet", pyarrow.table({"source": ["a", None, "c"], "target": ["b", "b", "a"], "w": pyarrow.array([1.0, 2, 3])}), 1, id="Parquet"
        ),
    ],
)
def test_rows_without_an_id_are_left_out_and_counted(look, name, content, bad):
    found = read(look(content, name), ("source", "target"), ("w",))
    assert found.bad == bad and found.rows == len(found.ids["source"].codes) == len(found.cells["w"])
    ends = [found.ids[n].values.cast(pyarrow.string()).take(pyarrow.array(found.ids[n].codes)).to_pylist() for n in ("source", "target")]
    assert list(zip(*ends, found.cells["w"].to_pylist()))[:2] == [("a", "b", "1"), ("c", "a", "3")]


def test_objects_where_identifiers_should_be_are_refused(look):
    head = look('{"source": {"a": 1}, "target": "x"}\n' * 3, "e.jsonl")
    with pytest.raises(NotReadable, match="objects where identifiers should be"):
        read(head, ("source", "target"))


@pytest.mark.parametrize("name", ["e.csv", "e.parquet"])
def test_a_file_that_was_removed_after_it_was_looked_at_is_refused(look, name):
    content = "source,target\na,b\n" if name == "e.csv" else pyarrow.table({"source": ["a"], "target": ["b"]})
    head = look(content, name)
    head.source.file.unlink()
    with pytest.raises(NotReadable):
        read(head, ("source", "target"))


def test_a_table_that_does_not_fit_into_the_memory_is_refused(look, monkeypatch):
    monkeypatch.setattr(columns, "memory", lambda: 10)
    for name, content in (("e.parquet", pyarrow.table({"source": ["a"], "target": ["b"]})), ("e.txt", "source target\na b\n")):
        with pytest.raises(UserError, match=name):
            read(look(content, name), ("source", "target"))
