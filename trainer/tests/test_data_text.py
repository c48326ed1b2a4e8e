"""From the bytes of a file to rows: encodings, delimited text, and JSON, including hostile input."""

import json
import math
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, example, given, settings, strategies as st

from trainer.core.input import Input
from trainer.data.formats import decode, delimited, dialect, objects, tables
from trainer.data.formats.table import NotATable
from trainer.errors import UserError
from trainer.run_folder.events import Events

QUICK = settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
OPTIONS = SimpleNamespace(encoding="", delimiter="", repairs=True, sheet="")
PLAIN = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=60)


@pytest.fixture
def read(tmp_path):
    """read(name, content) is the table in such a file. ``read.events`` has the events of the last call."""

    def call(name: str, content: str | bytes, wanted=(), **options):
        file = tmp_path / "file"
        file.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass"))
        call.events = Events(tmp_path / "events.jsonl", 1)
        asked = SimpleNamespace(**{**vars(OPTIONS), **options})
        return tables.read(Input(name, file, file.stat().st_size, ""), set(wanted), asked, call.events)

    return call


@QUICK
@given(PLAIN)
@example("")
@example("\r\n\t")
def test_utf_8_text_is_decoded_unchanged(text):
    data = text.encode()
    if not data.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        assert decode.decode(data) == (text, "UTF-8")
    assert decode.decode(data, "utf-8")[0] == text.removeprefix("\ufeff")


@QUICK
@given(PLAIN, st.sampled_from(["utf-8-sig", "utf-16", "utf-32"]))
def test_a_byte_order_mark_decides_the_encoding(text, codec):
    found, name = decode.decode(text.encode(codec))
    assert found == text
    assert name.startswith(codec.upper().removesuffix("-SIG"))


@QUICK
@given(st.binary(max_size=300))
@example(b"\xff\xfe\x00")
@example(b"\xef\xbb\xbf\xff")
@example(b"\xff\xfe\x00\x00\x01")
@example(b"a\x00" * 3 + b"\x00\xd8")
def test_any_bytes_are_text_or_refused_with_the_end_of_a_sentence(data):
    try:
        text, name = decode.decode(data)
    except decode.NotText as e:
        assert str(e).startswith(("is not a text file", "starts like"))
    else:
        assert name
        text.encode("utf-8")  # no half of a surrogate pair is left


@pytest.mark.parametrize(
    ("data", "encoding", "why"),
    [
        pytest.param(b"abc\xff", "utf-8", "cannot be read as utf-8 (invalid start byte at byte 3)", id="bytes of another encoding"),
        pytest.param(b"one\ntwo\n\0", "", "is not a text file (it contains zero bytes, the first in line 3)", id="a NUL in plain text"),
        pytest.param(b"\xef\xbb\xbfabc\xff", "", "starts like UTF-8 with a byte order mark but cannot be read as such", id="a false mark"),
        pytest.param(b"\x01\x02\x03\xff" * 9, "", "is not a text file (it contains control characters)", id="control characters"),
    ],
)
def test_bytes_that_are_not_text_are_refused_with_the_place(data, encoding, why):
    with pytest.raises(decode.NotText) as refused:
        decode.decode(data, encoding)
    assert str(refused.value).startswith(why)


@pytest.mark.parametrize("name", ["klingon", "utf-8\0", "base64", "../utf-8", "x" * 500])
def test_an_unknown_encoding_is_refused_with_a_remedy(name):
    with pytest.raises(UserError) as refused:
        decode.decode(b"abc", name)
    assert refused.value.code == "wrong_setting"
    assert "cp1252" in refused.value.do


CELLS = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1, max_size=12).filter(lambda c: c.strip() and '"' not in c)


@QUICK
@given(st.lists(st.tuples(CELLS, CELLS), min_size=6, max_size=20), st.sampled_from(",;\t|"))
def test_a_table_that_csv_wrote_is_read_back_with_every_delimiter(pairs, delimiter):
    quoted = [[f'"{c}"' for c in row] for row in pairs]
    text = "".join(delimiter.join(row) + "\n" for row in quoted)
    found = dialect.find(text, "csv", delimiter)
    assert (found.delimiter, found.columns, found.quoted) == (delimiter, 2, True)
    assert [tuple(row) for row in dialect.rows(text, delimiter, True)] == pairs


@pytest.mark.parametrize(
    ("delimiter", "character"),
    [("tab", "\t"), ("\\t", "\t"), ("Comma", ","), ("semicolon", ";"), ("bar", "|"), ("pipe", "|"), (" space ", " "), ("#", "#"), ("", "")],
)
def test_a_delimiter_goes_by_its_name_or_is_one_character(delimiter, character):
    assert delimited.delimiter_of(delimiter) == character


@pytest.mark.parametrize("delimiter", ["::", '"', "\n", "\r", "tabs"])
def test_a_delimiter_that_is_not_one_character_is_refused(read, delimiter):
    with pytest.raises(UserError, match=r"not one character.*Set it to tab, comma, semicolon or bar"):
        read("a.csv", "text,label\na b c,x\n" * 5, delimiter=delimiter)


@pytest.mark.parametrize(
    ("first", "columns"),
    [
        pytest.param("text,text,TEXT", ["text", "text 2", "TEXT 3"], id="names that repeat in any case"),
        pytest.param("text,,label", ["text", "column 2", "label"], id="an empty name"),
        pytest.param("text, label ,label 2", ["text", "label", "label 2"], id="names with spaces"),
        pytest.param("text,label,label", ["text", "label", "label 2"], id="a name that repeats at the end"),
    ],
)
def test_every_column_has_a_name_of_its_own(read, first, columns):
    assert read("a.csv", first + "\n" + "one two three,x,y\n" * 8).columns == columns


def test_a_number_never_makes_a_name_that_exists():
    assert tables.unique(["a", "a", "a 2", "A"]) == ["a", "a 2", "a 2 2", "A 3"]


@pytest.mark.parametrize(
    ("name", "content", "rows", "why"),
    [
        pytest.param("a.csv", "sep=;\ntext;label\n" + "a b;x\n" * 6, 6, "semicolons", id="the first line of Excel"),
        pytest.param("a.csv", "text,label\r\n" + "a b,x\r\n" * 6, 6, "commas", id="line ends of Windows"),
        pytest.param("a.csv", "text,label\r" + "a b,x\r" * 6, 6, "commas", id="line ends of old Macs"),
        pytest.param("a.csv", "text,label\n\n" + "a b,x\n\n , \n" * 6, 6, "commas", id="empty rows"),
        pytest.param("a.csv", ("text,label\n" + "a b,x\n" * 6) * 2, 12, "commas", id="two files that were put together"),
        pytest.param("a.csv", "text,label\n" + "a b,x,\n" * 12, 12, "commas", id="rows that end with a delimiter"),
        pytest.param("a.csv", "text\tlabel\n" + "a, b\tx\n" * 6, 6, "tabs", id="tabs in a file called csv"),
    ],
)
def test_a_delimited_file_is_read_with_its_peculiarities(read, name, content, rows, why):
    table = read(name, content)
    assert len(table.rows) == rows
    assert set(table.cells("label")) == {"x"}
    assert any(why in note for note in table.notes)


def test_the_numbers_of_rows_are_those_of_an_editor_and_bad_rows_are_counted(read):
    table = read("a.csv", "text,label\na b,x\n\na,b,c,d\n" + "a b,y\n" * 20)
    assert [number for number, _ in table.rows[:2]] == [2, 5]
    assert (table.bad_rows, table.first_bad) == (1, 4)
    assert read.events.warnings == [
        {"code": "bad_rows", "text": "1 rows of a.csv have a different number of columns from the others and are left out; the first is row 4."}
    ]


def test_an_open_quotation_mark_is_refused_with_its_row(read):
    content = 'text,label\n"open,x\n' + "plain words,y\n" * 20 + '"words, and more","x"\n' * 40
    with pytest.raises(UserError) as refused:
        read("a.csv", content)
    assert refused.value.code == "open_quote"
    assert refused.value.what.startswith("Row 2 of a.csv has a quotation mark that is not closed and swallows the 20 rows after it.")


def test_a_lone_quotation_mark_costs_no_rows_where_quotes_are_not_needed(read):
    content = "text\tlabel\n" + '" lone mark\tx\n' + "a b c\ty\n" * 20
    assert len(read("a.tsv", content).rows) == 21


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        pytest.param("a.csv", "", "is empty", id="an empty file"),
        pytest.param("a.csv", " \n\t\n", "is empty", id="spaces only"),
        pytest.param("a.csv", "text,label\n", "has no rows", id="a header alone"),
        pytest.param("a.csv", "one line without any structure", "no delimiter", id="prose"),
        pytest.param("a.csv", b"a,b\n\0,1\n" * 9, "zero bytes", id="NULs"),
        pytest.param("a.jsonl", "[1]\n[2]\n", "does not contain one JSON object per line", id="lists in lines"),
        pytest.param("a.jsonl", '{"a": 1}\nx\ny\n', "does not contain one JSON object per line", id="mostly broken lines"),
        pytest.param("a.json", "[]", "does not contain a list of JSON objects", id="an empty list"),
        pytest.param("a.json", "{}", "does not contain a list of JSON objects", id="an empty object"),
        pytest.param("a.json", '"text"', "does not contain a list of JSON objects", id="a text"),
        pytest.param("a.json", "[" * 90_000, "does not contain one JSON object per line", id="deep brackets"),
        pytest.param("a.jsonl", '{"a":' * 90_000, "does not contain one JSON object per line", id="deep objects"),
        pytest.param("a.parquet", b"PAR1" + bytes(40) + b"PAR1", "is not a readable Parquet file", id="an empty Parquet file"),
        pytest.param("a.parquet", b"text,label\n", "is not a readable Parquet file", id="a CSV file called parquet"),
    ],
)
def test_a_file_that_is_no_table_is_refused_with_the_end_of_a_sentence(read, name, content, why):
    with pytest.raises(NotATable, match=why):
        read(name, content)


def test_a_cell_of_a_megabyte_and_a_thousand_columns_are_read(read):
    assert len(read("a.csv", "text,label\n" + f"{'w ' * 500_000},x\n" + "short,y\n" * 30).rows) == 31
    names = ",".join(f"name{i}" for i in range(1000))
    wide = read("b.csv", names + "\n" + (",".join(["1.5"] * 1000) + "\n") * 5)
    assert (len(wide.columns), len(wide.rows)) == (1000, 5)


def test_a_table_of_one_column_is_read_only_if_that_column_is_wanted(read):
    with pytest.raises(NotATable):
        read("a.csv", "text\n" + "some words\n" * 9)
    assert read("a.csv", "text\n" + "some words\n" * 9, wanted={"text"}).columns == ["text"]


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        (None, ""), ("", ""), ("as it is", "as it is"), (1.0, "1"), (1.5, "1.5"), (-0.0, "0"), (True, "true"), (10**30, str(10**30)),
        (["a", 1], '["a", 1]'), ({"é": None}, '{"é": null}'), (math.inf, "Infinity"),
    ],
)  # fmt: skip
def test_a_value_of_json_is_the_text_that_a_csv_file_would_hold(value, cell):
    assert objects.cell(value) == cell


@pytest.mark.parametrize(
    ("document", "columns", "rows"),
    [
        pytest.param([{"a": 1, "b": "x"}, {"b": "y", "c": None}], ["a", "b", "c"], [["1", "x", ""], ["", "y", ""]], id="objects with other keys"),
        pytest.param({"rows": [{"a": 1}], "version": 3}, ["a"], [["1"]], id="the only list of objects in an object"),
        pytest.param({"a": [1, 2], "b": ["x", "y"]}, ["a", "b"], [["1", "x"], ["2", "y"]], id="one list for each column"),
        pytest.param({"a": {"0": 1, "1": 2}, "b": {"0": "x", "1": "y"}}, ["a", "b"], [["1", "x"], ["2", "y"]], id="pandas with row numbers"),
        pytest.param({"a": {"k": 1, "l": 2}, "b": {"l": "y", "k": "x"}}, ["a", "b"], [["1", "x"], ["2", "y"]], id="rows in another order"),
        pytest.param([{"a": {"b": 1, "c": {"d": 2}}}], ["a.b", "a.c.d"], [["1", "2"]], id="objects in objects"),
    ],
)
def test_the_layouts_of_json_become_columns_and_rows(document, columns, rows):
    found = objects.document("a.json", json.dumps(document))
    assert found.columns == columns
    assert [row for _, row in found.rows] == rows


def test_columns_of_other_rows_are_not_put_together():
    with pytest.raises(NotATable, match="list of JSON objects"):
        objects.document("a.json", json.dumps({"a": {"k": 1, "l": 2}, "b": {"k": "x", "m": "y"}}))


def test_objects_whose_keys_are_ids_are_refused_before_they_fill_the_memory(monkeypatch):
    monkeypatch.setattr(objects, "memory", lambda: 1 << 20)
    with pytest.raises(UserError, match="200 objects have 200 different keys"):
        objects.lines("a.jsonl", "\n".join(json.dumps({f"user{i}": 1}) for i in range(200)))


def test_lines_of_json_that_are_broken_are_counted_with_the_first_number():
    found = objects.lines("a.jsonl", '{"a": 1}\n\n{"a": 2\n{"a": 3}\nnull\n{"a": 4}\n')
    assert [number for number, _ in found.rows] == [1, 4, 6]
    assert (found.bad_rows, found.first_bad, found.fault) == (2, 3, "are not JSON objects")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | PLAIN, lambda v: st.lists(v, max_size=4) | st.dictionaries(PLAIN, v, max_size=4)
)


@QUICK
@given(JSON)
def test_any_json_is_a_table_with_equal_rows_or_refused(value):
    try:
        found = objects.document("a.json", json.dumps(value))
    except NotATable:
        return
    assert all(len(row) == len(found.columns) and all(isinstance(c, str) for c in row) for _, row in found.rows)


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
def test_utf_16_without_a_mark_is_found_if_a_part_of_it_is_plain_text(codec):
    text = "river река, stone камень, garden сад\n"
    assert decode.decode(text.encode(codec)) == (text, "UTF-16")
    with pytest.raises(decode.NotText, match="zero bytes"):
        decode.decode(text.encode(codec)[:-1] + b"\0\0")  # half a character too much
