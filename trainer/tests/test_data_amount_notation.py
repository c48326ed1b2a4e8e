"""Amounts: what is taken off a cell, and when a column of amounts is not read as numbers."""

import math

import pytest
from hypothesis import given, settings, strategies as st

from trainer.data.columns import amounts, dates, values
from trainer.data.columns.amounts import Amount, Notation
from trainer.data.columns.values import Style


@pytest.mark.parametrize(
    ("cell", "read"),
    [
        ("5", Amount("5")),
        (" $5 ", Amount("5", "$")),
        ("5 EUR", Amount("5", "EUR")),
        ("eur 5", Amount("5", "eur")),
        ("5kr.", Amount("5", "kr")),
        ("Rs. 5", Amount("5", "Rs")),
        ("5%", Amount("5", "%")),
        ("% 5", Amount("5", "%")),
        ("(5)", Amount("-5", "", True)),
        ("($5)", Amount("-5", "$", True)),
        ("$(5)", Amount("-5", "$", True)),
        ("(5 %)", Amount("-5", "%", True)),
        ("-$5", Amount("-5", "$")),
        ("$-5", Amount("-5", "$")),
        ("+5", Amount("+5")),
        ("- 5", Amount("-5")),
        ("(-5)", Amount("--5", "", True)),
        ("-(5)", Amount("-(5)")),
        ("1 234", Amount("1234", grouped=True)),
        ("1'234'567.5", Amount("1234567.5", grouped=True)),
        ("1 234'567", Amount("1 234'567")),
        ("0 234", Amount("0 234")),
        ("1 23", Amount("1 23")),
        ("1\u00a0234,5", Amount("1234,5", grouped=True)),
        ("1\u2009234", Amount("1234", grouped=True)),
        ("1\u2019234", Amount("1234", grouped=True)),
        ("\u22125", Amount("-5")),
        ("$ € 5", Amount("$ € 5")),
        ("5 $ €", Amount("5 $ €")),
        ("¥5", Amount("5", "¥")),
        ("xyz 5", Amount("xyz 5")),
        ("a5", Amount("a5")),
        ("()", Amount("-", "", True)),
        ("", Amount("")),
    ],
)
def test_the_decoration_of_a_cell_is_taken_off(cell, read):
    found = amounts.read(cell)
    assert (found.bare, found.parentheses, found.grouped) == (read.bare, read.parentheses, read.grouped)
    assert found.unit == read.unit


@pytest.mark.parametrize(
    ("cells", "notation"),
    [
        pytest.param(["1", "2.5"], Notation(), id="plain numbers"),
        pytest.param(["$1.5", "$2"], Notation("$"), id="one currency"),
        pytest.param(["(1)", "2"], Notation(parentheses=True), id="parentheses"),
        pytest.param(["1 000", "2"], Notation(grouped=True), id="groups"),
        pytest.param(["$1.5"] * 19 + ["€1.5"], Notation("$"), id="one of twenty in another currency is rare"),
        pytest.param(["$1.5"] * 18 + ["€1.5"] * 2, Notation("$", why_not="it has amounts in $ and €, which cannot be compared"), id="two of twenty"),
        pytest.param(["5%"] * 19 + ["7"], Notation("%"), id="one of twenty without a percent sign is rare"),
        pytest.param(
            ["5%"] * 18 + ["7", "8"], Notation("%", why_not="some of its numbers have a percent sign and others have none"), id="two without"
        ),
        pytest.param(["5%"] * 10 + ["0"] * 10, Notation("%"), id="a zero needs no percent sign"),
        pytest.param(
            ["$1.500", "$2.250"], Notation("$", why_not="$1.500 may mean thousands, or a number with three decimals"), id="three decimals of money"
        ),
        pytest.param(["$1.500", "$2.25"], Notation("$"), id="one cell shows that the point is a decimal sign"),
        pytest.param(["$1,500", "$2"], Notation("$"), id="a comma is clear"),
        pytest.param(["1.500%", "2.250%"], Notation("%"), id="percentages are never thousands"),
        pytest.param(["1.500", "2.250"], Notation(), id="without a unit the point is the decimal sign"),
        pytest.param(["$5", "$7"], Notation("$"), id="no decimal sign at all"),
    ],
)
def test_the_notation_of_a_column(cells, notation):
    assert amounts.notation(cells) == notation


@pytest.mark.parametrize(
    ("notation", "comma", "words"),
    [
        (Notation(), False, ""),
        (Notation(), True, "the comma is the decimal sign"),
        (Notation("%"), False, "percentages, the point is the decimal sign"),
        (Notation("€"), True, "amounts in €, the comma is the decimal sign"),
        (Notation(parentheses=True), False, "parentheses mean negative numbers, the point is the decimal sign"),
        (Notation("$", True, True), False,
         "amounts in $, parentheses mean negative numbers, spaces or apostrophes separate thousands, the point is the decimal sign"),
    ],
)  # fmt: skip
def test_a_notation_in_words(notation, comma, words):
    assert notation.words(comma) == words


@pytest.mark.parametrize(
    ("cell", "comma", "unit", "number"),
    [
        ("1" * 59, False, None, float("1" * 59)),
        ("1" * 60, False, None, None),
        ("9.9e99", False, None, 9.9e99),
        ("1e100", False, None, None),
        ("-1e100", False, None, None),
        ("1e-400", False, None, 0.0),
        ("-9.9e99", False, None, -9.9e99),
        ("$5", False, "$", 5.0),
        ("$5", False, "€", None),
        ("5", False, "€", 5.0),
        ("$5", False, "", None),
        ("1.234", True, None, 1234.0),
        ("1.23", True, None, None),
        ("1,5E3", True, None, 1500.0),
        ("1,234,567", False, None, 1234567.0),
        ("1,2345", False, None, None),
        ("0,234", False, None, None),
        (".", False, None, None),
        ("e5", False, None, None),
        ("E10", True, None, None),
        (".e5", False, None, None),
        ("-e5", False, None, None),
        (",e5", True, None, None),
        ("\u0665", False, None, 5.0),
        ("²", False, None, None),
        ("nan", False, None, None),
        ("inf", False, None, None),
        ("0x10", False, None, None),
        ("1_000", False, None, None),
    ],
)
def test_the_limits_of_a_number(cell, comma, unit, number):
    assert values.number(cell, comma, unit) == number


@pytest.mark.parametrize(
    ("cells", "comma"),
    [
        pytest.param(["1,5"], True, id="one comma"),
        pytest.param(["1.5"], False, id="one point"),
        pytest.param(["1,500"], None, id="either"),
        pytest.param(["1,5", "2.5"], None, id="one of each"),
        pytest.param(["1,5", "2,5", "2.5"], True, id="more commas"),
        pytest.param(["x,y", "a.b"], None, id="no numbers"),
        pytest.param(["5", "7"], None, id="no sign"),
        pytest.param([], None, id="no cell"),
    ],
)
def test_the_decimal_sign_is_said_only_where_it_is_clear(cells, comma):
    assert values.decimal_comma(cells) is comma


def test_the_decimal_sign_of_a_column_needs_more_commas_than_points():
    assert values.uses_comma(["1,5", "1,500.5"]) is False
    assert values.uses_comma(["1,5", "2,5", "1,500.5"]) is True


@pytest.mark.parametrize(
    ("cells", "style", "read"),
    [
        (["1", "2"], Style(), ["1", "2"]),
        (["1", "nan"], Style(), ["1", ""]),
        (["1", "inf"], Style(), ["1", ""]),
        (["-inf"], Style(), [""]),
        (["-1e100", " 3 "], Style(), ["", "3"]),
        (["1e100"], Style(), [""]),
        (["1_0", "2"], Style(), ["1_0", "2"]),
        (["1.5"], Style(comma=True), [""]),
        (["1.500", "2,5"], Style(comma=True), ["1500.0", "2.5"]),
        (["5 €", "$5"], Style(unit="€"), ["5.0", ""]),
        ([], Style(), []),
        ([""], Style(), [""]),
    ],
)
def test_cells_of_a_style_become_what_float_reads(cells, style, read):
    assert values.as_numbers(cells, style) == read


@settings(max_examples=200, deadline=None)
@given(st.lists(st.one_of(st.text(max_size=12), st.floats().map(str), st.integers().map(str)), max_size=8), st.booleans())
def test_every_cell_becomes_empty_or_a_number_that_float_reads(cells, comma):
    found = values.as_numbers(cells, Style(comma))
    assert len(found) == len(cells)
    for text in found:
        assert text == "" or abs(float(text)) < values.LARGEST


@settings(max_examples=200, deadline=None)
@given(st.floats(-1e9, 1e9), st.booleans(), st.sampled_from(["", "$", "€", "%"]), st.booleans())
def test_a_number_that_is_written_as_an_amount_is_read_back(value, comma, unit, parentheses):
    text = f"{abs(value):,.2f}"
    if comma:
        text = text.translate(str.maketrans(",.", ".,"))
    if value < 0:
        text = f"({text})" if parentheses else f"-{text}"
    found = values.number(f"{unit}{text}" if unit != "%" else f"{text}%", comma)
    assert found is not None and math.isclose(found, float(f"{value:.2f}"), abs_tol=1e-9)


@pytest.mark.parametrize(
    ("described", "style"),
    [
        ({"comma": True, "unit": "€"}, Style(True, "€")),
        ({"comma": 1, "unit": 5}, Style(False, None)),
        ({}, Style()),
        (None, Style()),
        ([], Style()),
        ("x", Style()),
        ({"unit": ""}, Style(False, "")),
    ],
)
def test_a_style_from_outside_is_read_or_is_the_usual_one(described, style):
    assert Style.restored(described) == style
    assert Style.restored(style.described()) == style


@pytest.mark.parametrize(
    ("cell", "missing", "label"),
    [
        ("", True, ""), (" ", True, ""), ("NA", True, "NA"), ("n/a", True, ""), ("NaN", True, ""), ("NULL", True, ""), ("None", True, "None"),
        ("?", True, "?"), ("-", True, "-"), ("<NA>", False, ""), ("0", False, "0"), ("0.0", False, "0"), ("-1.00", False, "-1"),
        ("+2.0", False, "+2"),
        ("1.", False, "1."), ("1.01", False, "1.01"), ("1.0.0", False, "1.0.0"), ("nan.0", False, "nan.0"),
    ],
)  # fmt: skip
def test_signs_of_a_missing_value_are_not_always_missing_labels(cell, missing, label):
    assert values.is_missing(cell) is missing
    assert values.label(cell) == label


@pytest.mark.parametrize(
    ("cell", "date"),
    [
        ("2024-1-1", True), ("2024/01/31", True), ("31.12.2024", True), ("1/2/24", True), ("2024-01-31T10:00", True), ("2024-01-31T10", False),
        (" 2024-01-31 ", True), ("1/2/2", False), ("2024-01", False), ("1.2.345", False), ("12345-01-01", False), ("2024-01-31 x", False),
        ("01-Jun-2021", True), ("1 June 2021 10:30", True), ("June 1, 2021", True), ("1. März 2021", True), ("1-Dez-98", True), ("2-Sep", False),
        ("1 of June 2021", False), ("3 markets 20", False),
    ],
)  # fmt: skip
def test_the_forms_of_a_date(cell, date):
    assert dates.is_date(cell) is date


@pytest.mark.parametrize(("cells", "taken"), [(0, 0), (1, 1), (5000, 5000), (5001, 2501), (10_000, 5000), (10_001, 3334)])
def test_a_sample_has_at_most_five_thousand_cells(cells, taken):
    assert len(values.sample(list(range(cells)))) == taken
