"""Reading what an earlier model is to answer."""

import loading
import pytest
from test_data_load import MANIFEST, archive, png, spec_of, table

from trainer.core.columns import Columns
from trainer.data.columns.values import Style
from trainer.errors import UserError
from trainer.run_folder.events import Events

TEXTS = table(["nr", "Review", "mood"], [[f"k{i}", f"some words on {i}" if i != 3 else " ", "ab"[i % 2]] for i in range(10)])
CELLS = table(["kind", "size", "more"], [["x", "1,5", "a"], ["y", "?", "b"], ["", "", "c"]], ";")


@pytest.fixture
def read(tmp_path):
    def call(files, kind, columns=(), types=None, label="", styles=None, **settings):
        events = call.events = Events(tmp_path / "events.jsonl", 1)
        wanted = Columns(columns, types or {}, label, styles or {})
        return loading.read_rows(spec_of(tmp_path, files), events, kind, wanted, **settings)

    return call


def test_texts_are_found_by_the_column_of_the_model(read):
    examples, files, skipped = read({"new.csv": TEXTS, "other.csv": table(["a", "b"], [["1", "2"]] * 9)}, "text", ("review",))
    assert (len(examples), files, skipped) == (9, ["new.csv"], 1)
    assert (examples[0].content, examples[0].row, examples[0].target) == ("some words on 0", 2, "")


def test_the_label_and_the_id_are_read_where_they_are(read):
    examples, _, _ = read({"new.csv": TEXTS}, "text", ("Review",), label="mood", id_column="nr")
    assert [(e.id, e.target) for e in examples[:2]] == [("k0", "a"), ("k1", "b")]
    assert read({"new.csv": TEXTS}, "text", ("Review",), label="unknown")[0][0].target == ""


@pytest.mark.parametrize(
    ("head", "rows", "ids"),
    [
        pytest.param(["Probe-Nr", "Review"], [["7", "one"], ["9", "two"]], ["7", "9"], id="a name of row numbers"),
        pytest.param(["Review", "Sample ID"], [["one", "b"], ["two", "a"]], ["b", "a"], id="in any place"),
        pytest.param(["plant id", "Review"], [["7", "one"], ["7", "two"]], ["", ""], id="not of several rows"),
        pytest.param(["sample id", "Review"], [["7", "one"], [" ", "two"]], ["", ""], id="not with gaps"),
        pytest.param(["Unnamed: 0", "Review"], [["0", "one"], ["1", "two"]], ["", ""], id="not the index of a program"),
        pytest.param(["nr", "Review", "mood"], [["7", "one", "a"], ["9", "two", "b"]], ["7", "9"], id="beside a label"),
    ],
)
def test_a_column_that_names_the_rows_is_their_id(read, head, rows, ids):
    examples, _, _ = read({"new.csv": table(head, rows)}, "text", ("Review",), label="mood")
    assert [e.id for e in examples] == ids


def test_a_renamed_column_is_named_in_the_refusal(read):
    with pytest.raises(UserError, match="without the column review, which may have another name: the model does not read its Reviews and year"):
        read({"new.csv": table(["Reviews", "year"], [["good", "2001"], ["bad", "2002"]] * 9)}, "table", ("review",), {"review": "text"})


def test_another_column_can_be_named(read):
    examples, _, _ = read({"new.csv": table(["words", "x"], [["one", "1"], ["two", "2"]])}, "text", ("review",), text_column="words")
    assert [e.content for e in examples] == ["one", "two"]


def test_a_pair_of_texts_stays_a_pair(read):
    examples, _, _ = read({"new.csv": table(["a", "b"], [["one", "two"], ["three", ""]])}, "text", ("a", "b"), {"b": "pair"})
    assert [e.content for e in examples] == [("one", "two")]


def test_a_table_of_one_column(read):
    examples, _, _ = read({"new.csv": 'review\nall good\n"not, good"\n'}, "text", ("review",))
    assert [e.content for e in examples] == ["all good", "not, good"]


def test_lines_are_texts_for_a_model_of_tables_without_header(read):
    examples, _, _ = read({"new.txt": "all good\nnot, good\n"}, "text", ("column 1",))
    assert [(e.row, e.content) for e in examples] == [(1, "all good"), (2, "not, good")]


def test_texts_that_a_table_names_are_its_column(read):
    files = {"meta.csv": table(["file", "year"], [["a.txt", "1850"], ["b", "1860"]]), "texts/a.txt": "One text.", "texts/b.txt": "Another text."}
    examples, used, _ = read(files, "table", ("year", "text"), {"year": "number", "text": "text"})
    assert ([e.content for e in examples], used) == ([("1850", "One text."), ("1860", "Another text.")], ["meta.csv"])


def test_text_files_are_texts_where_no_table_fits(read):
    examples, files, skipped = read({"a.txt": "One text.", "b.txt": "", "c.csv": CELLS}, "text", ("review",))
    assert ([e.content for e in examples], files, skipped) == (["One text."], ["a.txt"], 1)


def test_cells_come_in_the_order_and_the_form_of_the_model(read):
    examples, _, skipped = read({"new.csv": CELLS}, "table", ("size", "kind"), {"size": "number", "kind": "category"})
    assert [e.content for e in examples] == [("1.5", "x"), ("", "y")]
    assert skipped == 1


@pytest.mark.parametrize(
    ("heights", "widths", "comma", "expected"),
    [
        (["1,708", "1,523"], ["20,31", "9,5"], False, ("1.708", "20.31")),
        (["1.708", "1.523"], ["20.31", "9.5"], True, ("1.708", "20.31")),
        (["1,708", "1,523"], ["20.31", "9.5"], False, ("1708.0", "20.31")),
    ],
)
def test_other_columns_tell_the_decimal_sign_of_a_column(heights, widths, comma, expected, read):
    files = {"new.csv": table(["height", "width"], [*zip(heights, widths)], ";")}
    columns, types = ("height", "width"), {"height": "number", "width": "number"}
    examples, _, _ = read(files, "table", columns, types, styles=dict.fromkeys(columns, Style(comma)))
    assert [float(c) for c in examples[0].content] == [float(c) for c in expected]


def test_every_image_that_decodes_is_read(read):
    examples, files, skipped = read({"b/1.png": png(1), "2.png": b"no image", "z.zip": archive({"3.png": png(3)})}, "image")
    assert (files, skipped) == (["b/1.png", "z/3.png"], 1)
    assert all(e.content.exists() for e in examples)
    assert "2.png" in read.events.warnings[0]["text"]


@pytest.mark.parametrize(
    ("files", "kind", "named"),
    [
        pytest.param({"new.csv": CELLS}, "text", "new.csv (without the column review", id="a table without the column"),
        pytest.param({"new.csv": CELLS}, "image", "no image", id="no image"),
        pytest.param({"finetune/r/predictions.csv": TEXTS, "finetune/r/manifest.json": MANIFEST}, "text", "earlier run", id="only results of ours"),
        pytest.param({}, "text", "no files", id="an empty dataset"),
    ],
)
def test_a_dataset_without_usable_rows_is_refused_in_one_sentence(files, kind, named, read):
    with pytest.raises(UserError) as e:
        read(files, kind, () if kind == "image" else ("review",))
    assert named in str(e.value)
