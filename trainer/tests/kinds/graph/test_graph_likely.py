"""A guess whether a dataset is a graph, from the beginnings of its files."""

import pyarrow
import pytest
from pyarrow import parquet

from trainer.core.input import Input
from trainer.kinds.graph import likely


@pytest.mark.parametrize(
    ("name", "text", "wanted"),
    [
        ("edges.csv", "source,target\na,b\n", True),
        ("net.tsv", "Source\tTarget\tWeight\na\tb\t1\n", True),
        ("friends.csv", '"id_1","id_2"\n1,2\n', True),
        ("ca.txt", "# Directed graph\n# FromNodeId ToNodeId\n1\t2\n", True),
        ("web.txt", "% a comment\n1 2\n", True),
        ("a.graphml", "", True),
        ("cora.cites", "35 1033\n", True),
        ("reviews.csv", "text,label\ngood,yes\n", False),
        ("notes.txt", "# A heading\nWords of a text\n", False),
        ("empty.csv", "", False),
        ("wide.csv", "source,target,a,b,c,d,e\n", False),
        (".hidden.graphml", "", False),
        ("image.png", "source,target\n", False),
    ],
)
def test_a_graph_is_guessed_by_endings_headers_and_comments(tmp_path, name, text, wanted):
    (tmp_path / "f").write_text(text)
    assert likely.is_graph([Input(name, tmp_path / "f", len(text), "")]) == wanted


@pytest.mark.parametrize(("columns", "wanted"), [(("source", "target"), True), (("Source", "Target", "weight"), True), (("text", "label"), False)])
def test_a_graph_is_guessed_by_the_columns_of_a_parquet_file(tmp_path, columns, wanted):
    parquet.write_table(pyarrow.table({c: [1, 2] for c in columns}), tmp_path / "f")
    assert likely.is_graph([Input("a.parquet", tmp_path / "f", 10, "")]) == wanted


def test_a_damaged_parquet_file_is_no_graph(tmp_path):
    (tmp_path / "f").write_bytes(b"PAR1 and then something else")
    assert not likely.is_graph([Input("edges.parquet", tmp_path / "f", 10, "")])


def test_a_file_that_cannot_be_read_is_no_graph(tmp_path):
    assert not likely.is_graph([Input("edges.csv", tmp_path / "gone", 10, "")])
