"""FASTA files as tables."""

import pytest
from hypothesis import given, strategies as st

from trainer.data.formats import fasta
from trainer.data.formats.table import NotATable


def test_each_sequence_is_a_row_in_one_piece():
    table = fasta.read("a.fa", ">s1 chr1:5 human\nacgt\nAC-GT\n\n;a comment\n>s2\nMKV*\n>s3\n>s4\r\nGG\r\n")
    assert table.columns == ["id", "header", "sequence"] and (table.bad_rows, table.first_bad) == (1, 8)
    assert table.rows == [(1, ["s1", "chr1:5 human", "ACGTAC-GT"]), (6, ["s2", "", "MKV*"]), (9, ["s4", "", "GG"])]


def test_names_alone_are_one_column():
    table = fasta.read("a.fa", ">s1\nAC\n>s2\nGT\n")
    assert (table.columns, table.rows) == (["id", "sequence"], [(1, ["s1", "AC"]), (3, ["s2", "GT"])])


@pytest.mark.parametrize("text", ["ACGT\n", ">s1\nAC GT\n", ">s1\n12\n", "id,sequence\n"])
def test_other_texts_are_none(text):
    with pytest.raises(NotATable, match="is no FASTA file"):
        fasta.read("a.fa", text)


@given(st.text(alphabet=">ACGT ;\n\r1\0", max_size=80))
def test_any_text_is_a_table_or_none(text):
    try:
        table = fasta.read("a.fa", text)
    except NotATable:
        return
    assert all(len(cells) == len(table.columns) and cells[-1] for _, cells in table.rows)
