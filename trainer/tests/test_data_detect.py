"""How files are read: encodings, dialects, headers, columns."""

from types import SimpleNamespace

import pytest
from conftest import events_of

from trainer.config import spec as specs
from trainer.data import names
from trainer.data.columns import choices, profiles
from trainer.data.formats import decode, dialect, tables
from trainer.data.formats.table import Table
from trainer.errors import UserError
from trainer.run_folder.events import Events

SENTENCES = [f"this is the {w} sentence of a table" for w in "first second third fourth fifth sixth".split()] * 5


@pytest.mark.parametrize(
    ("data", "name", "text"),
    [
        ("grün".encode(), "UTF-8", "grün"),
        ("grün".encode("utf-8-sig"), "UTF-8 with a byte order mark", "grün"),
        ("grün".encode("utf-16"), "UTF-16", "grün"),
        ("green and blue".encode("utf-16-le"), "UTF-16", "green and blue"),
        ("green and blue".encode("utf-16-be"), "UTF-16", "green and blue"),
        ("grün – “quoted”".encode("cp1252"), "cp1252", "grün – “quoted”"),
        ("grün, ".encode() + "grün".encode("cp1252"), "UTF-8 with 1 byte of cp1252", "grün, grün"),
        ("grün".encode() + b"\xc3", "UTF-8 with 1 byte of cp1252", "grünÃ"),
    ],
)
def test_the_encoding_is_found(data, name, text):
    assert decode.decode(data) == (text, name)


@pytest.mark.parametrize("data", [b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", b"\xff\xfe\x00", bytes(range(128, 256)) + bytes(range(9)) * 40])
def test_what_is_no_text_is_refused(data):
    with pytest.raises(decode.NotText):
        decode.decode(data)


@pytest.mark.parametrize(
    ("text", "extension", "delimiter", "quoted", "count"),
    [
        ("text,label\n" + "\n".join(f'"{s}, yes",{i % 2}' for i, s in enumerate(SENTENCES)), "csv", ",", True, 2),
        ("\n".join(f"{s}, well , yes\t{i % 2}" for i, s in enumerate(SENTENCES)), "tsv", "\t", True, 2),
        ("\n".join(f'{s}\t" lone mark {i}\t{i % 2}' for i, s in enumerate(SENTENCES[:11])), "tsv", "\t", False, 3),
        ("\n".join(f"{s};{i % 2};x" for i, s in enumerate(SENTENCES)), "csv", ";", True, 3),
        ("\n".join(f"{s}|{i % 2}" for i, s in enumerate(SENTENCES)), "txt", "|", True, 2),
        ('text,label\n"two\nlines",a\n' + "one line,b\n" * 20, "csv", ",", True, 2),
    ],
)
def test_the_dialect_is_found(text, extension, delimiter, quoted, count):
    found = dialect.find(text, extension)
    assert (found.delimiter, found.quoted, found.columns) == (delimiter, quoted, count)


def test_prose_has_no_dialect():
    assert dialect.find("Read me.\nThis is, as one says, a text,\nwith commas,\nand without columns.\n", "txt") is None


@pytest.mark.parametrize(
    ("first", "body", "wanted", "is_header"),
    [
        (["text", "label"], [["a b c", "x"]] * 3, set(), True),
        (["some words", "0"], [["a b c", "1"]] * 3, set(), False),
        (["abc", "positive"], [["def", "positive"], ["ghi", "negative"]], set(), False),
        (["words", "stars"], [["a b c", "5"], ["d e f", "1"]], set(), True),
        (["words", "mood"], [["a long text of many words", "good"], ["another long text of words", "bad"]], set(), True),
        (["mine", "yours"], [["mike", "young"], ["mary", "youth"]], set(), False),
        (["mine", "yours"], [["mike", "young"], ["mary", "youth"]], {"yours"}, True),
        (["some words", ""], [["a b c", "x"]] * 3, set(), False),
        (["", "text", "label"], [["1", "a b c", "x"], ["2", "d e f", "y"]], set(), True),
        (["", "length", "kind"], [["1", "0.5", "x"], ["2", "0.7", "y"]], set(), True),
        (["text", "label", ""], [["a b c", "x", ""], ["d e f", "y", ""]], set(), True),
        (["text", "label", "label"], [["a b c", "x", "p"], ["d e f", "y", "q"]], set(), True),
        (["kind", "0", "1", "2"], [["x", "0", "0", "1"], ["y", "1", "0", "2"]], set(), True),
        (["what is this", "question"], [["it is one", "answer"], ["and this", "question"]], set(), False),
    ],
)
def test_a_header_is_distinguished_from_data(first, body, wanted, is_header):
    found, why = dialect.header(first, body, wanted)
    assert found is is_header
    assert why


def _table(header, *rows):
    return Table("a.csv", header, list(enumerate((list(r) for r in rows), 2)))


def _seen(header, *rows):
    return profiles.of([_table(header, *rows)])


ROWS = [(str(i), s, f"Title {i}", "ab"[i % 2]) for i, s in enumerate(SENTENCES)]


@pytest.mark.parametrize(
    ("header", "rows", "label", "text"),
    [
        (["id", "review", "heading", "sentiment"], ROWS, "sentiment", ("review",)),
        (["id", "body", "title", "category"], ROWS, "category", ("title", "body")),
        (["w", "x", "y2", "z"], ROWS, "z", ("x",)),
        (["class", "document"], [("ab"[i % 2], s) for i, s in enumerate(SENTENCES)], "class", ("document",)),
        (["a", "b"], [("ab"[i % 2], s) for i, s in enumerate(SENTENCES)], "a", ("b",)),
        (["TEXT", "Label"], [(s, "ab"[i % 2]) for i, s in enumerate(SENTENCES)], "Label", ("TEXT",)),
        (["label", "rating", "text"], [("ab"[i % 2], str(i % 5), s) for i, s in enumerate(SENTENCES)], "label", ("text",)),
    ],
)
def test_columns_are_found_with_a_reason(header, rows, label, text):
    seen = _seen(header, *rows)
    found = choices.label(seen, "", "a.csv")
    assert found.columns == (label,)
    assert label in found.why
    assert found.why.endswith(".")
    words = choices.text(seen, "", label, "a.csv")
    assert words.columns == text
    assert words.why.endswith(".")


def test_requested_columns_win_and_several_texts_are_joined():
    seen = _seen(["id", "review", "title", "sentiment"], *ROWS)
    assert choices.label(seen, " SENTIMENT ", "a.csv").columns == ("sentiment",)
    assert choices.text(seen, "title, review", "sentiment", "a.csv").columns == ("title", "review")


def test_columns_of_a_file_without_header_go_by_number():
    seen = _seen(["column 1", "column 2"], *[(s, "ab"[i % 2]) for i, s in enumerate(SENTENCES)])
    assert choices.label(seen, "2", "a.tsv").columns == ("column 2",)


@pytest.mark.parametrize(
    ("call", "code", "named"),
    [
        (lambda s: choices.label(s, "mood", "a.csv"), "unknown_column", "id, review, heading and sentiment"),
        (lambda s: choices.label(s, "id", "a.csv"), "label_not_a_class", "30 different values in 30 rows"),
        (lambda s: choices.text(s, "sentiment", "sentiment", "a.csv"), "same_column", "sentiment"),
    ],
)
def test_a_wrong_column_is_answered_with_a_sentence(call, code, named):
    with pytest.raises(UserError) as e:
        call(_seen(["id", "review", "heading", "sentiment"], *ROWS))
    assert e.value.code == code
    assert named in str(e.value)


def test_ambiguous_columns_are_refused_with_a_question():
    with pytest.raises(UserError, match="sentiment and rating") as e:
        choices.label(_seen(["sentiment", "rating", "text"], *[("ab"[i % 2], str(i % 5), s) for i, s in enumerate(SENTENCES)]), "", "a.csv")
    assert e.value.code == "ambiguous_label"
    with pytest.raises(UserError) as e:
        choices.text(_seen(["p", "q", "label"], *[(s, s[::-1], "ab"[i % 2]) for i, s in enumerate(SENTENCES)]), "", "label", "a.csv")
    assert e.value.code == "ambiguous_text"


@pytest.mark.parametrize(
    ("name", "split"),
    [
        ("train.csv", "train"), ("reviews_train.tsv", "train"), ("TestSet.csv", "test"), ("my-dev.jsonl", "validation"),
        ("val.csv", "validation"), ("validation_data.csv", "validation"), ("latest.csv", None), ("contest.csv", None),
        ("devices.csv", None), ("test/part-1.csv", "test"), ("train/test.csv", "test"), ("reviews.csv", None),
    ],
)  # fmt: skip
def test_file_names_define_the_split(name, split):
    assert names.split_of(name) == split


def test_json_lines_become_cells(tmp_path):
    file = tmp_path / "a.jsonl"
    file.write_text('{"text": "a", "label": 1.0}\n\nnot json\n{"text": null, "label": true, "x": ["p"]}\n')
    events = Events(tmp_path / "events.jsonl", 1)
    table = tables.read(specs.Input("a.jsonl", file, 0, ""), set(), SimpleNamespace(encoding="", delimiter="", repairs=True, sheet=""), events)
    assert table.columns == ["text", "label", "x"]
    assert table.rows == [(1, ["a", "1", ""]), (4, ["", "true", '["p"]'])]
    assert [e["code"] for e in events_of(tmp_path) if e["kind"] == "warning"] == ["bad_rows"]


@pytest.mark.parametrize(
    ("name", "coordinate"),
    [
        ("lat", "latitude"), ("SITE_LATITUDE", "latitude"), ("decimalLatitude", "latitude"), ("Latitude (deg)", "latitude"), ("gps lat", "latitude"),
        ("siteLon", "longitude"), ("LONG", "longitude"), ("lng", "longitude"), ("lon_dd", "longitude"), ("Längengrad", "longitude"),
        ("UTM_N", "northing"), ("northing_m", "northing"), ("plot northing", "northing"), ("utm_e", "easting"), ("coord_x", "easting"),
        ("flat", ""), ("salon", ""), ("plat", ""), ("how_long", ""), ("slat", ""), ("melon", ""), ("latitude_class", ""), ("m", ""), ("", ""),
    ],
)  # fmt: skip
def test_names_of_columns_with_coordinates(name, coordinate):
    assert names.coordinate(name) == coordinate
