"""Tables as other programs write them, with and without mistakes: read as they are meant, or refused."""

import json

import pytest
from test_data_load import load as load, made

from trainer.errors import UserError


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(made(["", "text", "label"], lambda i: [i, f"some words on {i}", "ab"[i % 2]]), id="an index without a name"),
        pytest.param(made(["text", "label", ""], lambda i: [f"some words on {i}", "ab"[i % 2], ""]), id="a delimiter at each end"),
        pytest.param("text,label\n" + "".join(f"some words on {i},{'ab'[i % 2]},\n" for i in range(60)), id="a delimiter at each end but the first"),
        pytest.param("text\tlabel\n" + "".join(f"{i}\tsome words on {i}\t{'ab'[i % 2]}\n" for i in range(60)), id="row names of R"),
        pytest.param(made(["text", "label", "label"], lambda i: [f"some words on {i}", "ab"[i % 2], i % 7]), id="a name twice"),
        pytest.param("sep=;\n" + made(["text", "label"], lambda i: [f"some words on {i}", "ab"[i % 2]]).replace(",", ";"), id="a line for Excel"),
        pytest.param(2 * made(["text", "label"], lambda i: [f"some words on {i}", "ab"[i % 2]]), id="two files in one"),
        pytest.param(made([" text ", "label "], lambda i: [f"some words on {i}", "ab "[i % 2] + " "]), id="blanks around the names"),
    ],
)
def test_a_header_is_never_an_example(text, load):
    found = load({"a.csv": text})
    assert (found.columns, found.label_column) == (("text",), "label")
    assert {e.target for rows in found.splits.values() for e in rows} <= {"a", "b"}


def test_an_open_quotation_mark_takes_no_rows_with_it(load):
    rows = [('"' if i == 700 else "") + f"some words on {i},{'ab'[i % 2]}\n" for i in range(1500)]
    found = load({"a.csv": "text,label\n" + "".join(rows)})
    assert sum(map(len, found.splits.values())) == 1500
    quoted = [f'"some, words on {i}",{"ab"[i % 2]}\n' if i < 700 else row for i, row in enumerate(rows)]
    with pytest.raises(UserError, match=r"Row 702 of a.csv has a quotation mark that is not closed and swallows the 799 rows"):
        load({"a.csv": "text,label\n" + "".join(quoted)})


def test_lines_of_a_long_text_are_not_rows(load):
    found = load({"a.csv": made(["text", "label"], lambda i: ["\n".join(f"line {n} of {i}, maybe so" for n in range(i % 30)) or "x", "ab"[i % 2]])})
    assert max(e.content.count("\n") for rows in found.splits.values() for e in rows) > 20


def test_a_class_is_the_same_however_its_number_is_written(load):
    found = load({
        "train.csv": made(["text", "label"], lambda i: [f"some words on {i}", ["0", "1", "1.0"][i % 3]], 90),
        "test.csv": made(["text", "label"], lambda i: [f"other words on {i}", ["0.0", "1.0", "nan"][i % 3]], 30),
    })  # fmt: skip
    assert found.labels == ("0", "1")
    assert ("the label is empty", 10) in found.dropped


def test_labels_that_look_alike_are_reported(load):
    load({"a.csv": made(["text", "label"], lambda i: [f"some words on {i}", ["AA", "Aa", "aa"][i % 3]])})
    assert "AA, Aa and aa" in next(w["text"] for w in load.events.warnings if w["code"] == "similar_labels")


@pytest.mark.parametrize(
    "value",
    [
        pytest.param({"text": {str(i): f"some words on {i}" for i in range(60)}, "label": {str(i): "ab"[i % 2] for i in range(60)}}, id="pandas"),
        pytest.param({"text": [f"some words on {i}" for i in range(60)], "label": ["ab"[i % 2] for i in range(60)]}, id="lists"),
        pytest.param([{"text": f"some words on {i}", "label": "ab"[i % 2], "by": {"name": "x"}} for i in range(60)], id="objects in objects"),
    ],
)
def test_json_is_read_by_rows_and_by_columns(value, load):
    found = load({"a.json": json.dumps(value)})
    assert (found.columns, found.labels, sum(map(len, found.splits.values()))) == (("text",), ("a", "b"), 60)


def test_objects_in_json_are_columns_of_their_own(load):
    found = load({"a.jsonl": "\n".join(json.dumps({"doc": {"body text": f"some words on {i}"}, "kind": i % 2 == 0}) for i in range(60))})
    assert (found.columns, found.labels) == (("doc.body text",), ("false", "true"))


def test_parquet_of_odd_types_is_read_as_what_it_holds(load, tmp_path):
    import datetime
    import decimal

    import pyarrow.parquet

    rows = {
        "amount": [decimal.Decimal(i) / 8 for i in range(80)],
        "day": [datetime.date(2024, 1, 1 + i % 28) for i in range(80)],
        "raw": [b"\xff" * i for i in range(80)],
        "target": [i % 2 for i in range(80)],
    }
    pyarrow.parquet.write_table(pyarrow.table(rows), tmp_path / "a.parquet")
    found = load({"a.parquet": (tmp_path / "a.parquet").read_bytes()})
    assert found.types == {"amount": "number"}
    assert any("raw" in d["why"] for d in load.events.decisions if d["what"] == "table")


def test_absurdly_large_numbers_are_not_numbers(load):
    found = load({"a.csv": made(["x", "y", "target"], lambda i: [i * 0.37, 1e300 if i % 30 == 7 else i * 7 % 50 / 3, i * 1.1], 200)})
    assert all(e.content[1] == "" for rows in found.splits.values() for e in rows if e.row % 30 == 9)
