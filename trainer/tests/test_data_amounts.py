"""Columns of amounts: read as numbers where they are written in one way, left as text with a warning where they are not."""

import json

import pytest
from small_datasets import table
from test_data_load import load  # noqa: F401 - a fixture
from test_data_prediction import read  # noqa: F401 - a fixture

from trainer import run
from trainer.data.columns.values import Style


def priced(write, rows: int = 80) -> str:
    """Two kinds of goods that their price tells apart; ``write`` writes the price."""
    return table(["price", "weight", "kind"], [[write(100.25 * (1 + 20 * (i % 2)) + i), i % 7, "ab"[i % 2]] for i in range(rows)])


def german(value: float) -> str:
    return f"{value:,.2f} €".translate(str.maketrans(",.", ".,"))


@pytest.mark.parametrize(
    ("write", "first", "sentence"),
    [
        (lambda v: f"${v:,.2f}", "100.25", 'Column "price" is read as numbers: amounts in $, the point is the decimal sign.'),
        (german, "100.25", 'Column "price" is read as numbers: amounts in €, the comma is the decimal sign.'),
        (lambda v: f"{v} %", "100.25", 'Column "price" is read as numbers: percentages, the point is the decimal sign.'),
        (lambda v: f"{v} ± 0.5 mg", "100.25",
         'Column "price" is read as numbers: amounts in mg, the point is the decimal sign, what stands behind ± is not read.'),
        (lambda v: f"{v}+/-30", "100.25", 'Column "price" is read as numbers: what stands behind ± is not read.'),
        (lambda v: f"({v})", "-100.25", 'Column "price" is read as numbers: parentheses mean negative numbers, the point is the decimal sign.'),
        (lambda v: f"{v:,.2f}".replace(",", "'"), "100.25",
         'Column "price" is read as numbers: spaces or apostrophes separate thousands, the point is the decimal sign.'),
    ],
)  # fmt: skip
def test_amounts_are_read_as_numbers_with_a_sentence(load, write, first, sentence):  # noqa: F811
    found = load({"a.csv": priced(write)})
    assert found.types == {"price": "number", "weight": "number"}
    assert sentence in [d["why"] for d in load.events.decisions]
    assert first in {f"{float(e.content[0])}" for rows in found.splits.values() for e in rows}


def test_plain_numbers_need_no_sentence(load):  # noqa: F811
    load({"a.csv": priced(str)})
    assert "numbers" not in [d["what"] for d in load.events.decisions]


@pytest.mark.parametrize(
    ("write", "reason"),
    [
        (lambda v: f"${v}" if int(v) % 3 else f"{v} €", r"it has amounts in \$ and €, which cannot be compared"),
        (lambda v: f"{v} %" if int(v) % 3 else f"{v / 100}", "some of its numbers have a percent sign and others have none"),
        (lambda v: f"{int(v) % 9 + 1}.{int(v) % 1000:03d} €", "may mean thousands, or a number with three decimals"),
        (lambda v: f"{v}" if int(v) % 3 else german(v), "some of its numbers have a decimal comma and others a decimal point"),
    ],
)
def test_amounts_that_can_be_read_in_two_ways_stay_text_with_a_warning(load, write, reason):  # noqa: F811
    found = load({"a.csv": priced(write)})
    assert found.types.get("price") != "number"
    warning = next(c for c in found.checks if c["code"] == "unclear_numbers")
    assert reason.replace("\\", "") in warning["text"]


def test_a_model_of_amounts_predicts_new_rows_in_the_notation_of_its_training(read):  # noqa: F811
    styles = {"price": Style(comma=True, unit="€"), "total": Style(comma=True, unit="€")}
    types = {"price": "number"}
    rows = [["1.500 €", "2.000 €"], ["1,5 €", "7 €"]]
    examples, _, _ = read({"a.csv": table(["price", "total"], rows)}, "table", ("price",), types, "total", styles=styles)
    assert [(float(e.content[0]), e.target) for e in examples] == [(1500.0, "2000.0"), (1.5, "7.0")]
    one, _, _ = read({"a.csv": table(["price", "x"], [["1.500 €", "y"], ["1.600 €", "z"]])}, "table", ("price",), types, "", styles=styles)
    assert [float(e.content[0]) for e in one] == [1500.0, 1600.0]  # by themselves they would be 1.5 and 1.6


def test_amounts_in_another_currency_than_in_training_count_as_empty_with_a_warning(read):  # noqa: F811
    rows = [["$1.50", 1], ["1.50 €", 2]]
    examples, _, _ = read(
        {"a.csv": table(["price", "n"], rows)}, "table", ("price", "n"), {"price": "number", "n": "number"}, "", styles={"price": Style(unit="€")}
    )
    assert [e.content for e in examples] == [("", "1"), ("1.5", "2")]
    assert "cells like $1.50, but the model learned from amounts in €" in read.events.warnings[-1]["text"]


def test_a_table_of_amounts_is_trained_and_predicted_from_bytes_to_results(make_run):
    spec = make_run({"a.csv": priced(german, 60)}, epochs=2, model="mlp")
    assert run.run(str(spec), "local") == run.OK
    described = json.loads((spec.parent / "out" / "model" / "trainer.json").read_text())
    assert described["styles"] == {"price": {"comma": True, "unit": "€"}, "weight": {"comma": False, "unit": ""}}
