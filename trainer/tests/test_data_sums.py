"""Rows that sum up others are left out where their numbers prove it, and fill values are read from options and columns."""

import pytest
from table_files import read

from trainer.data.columns import fills
from trainer.data.formats import totals

ROWS = [("a", "1.5", "20"), ("b", "2.5", "10"), ("c", "5.0", "60"), ("d", "1.0", "30")]
GERMAN = [("a", "1.000,5", "1.200"), ("b", "2.000,5", "1.300"), ("c", "500,0", "700")]


@pytest.mark.parametrize(
    ("rows", "last", "left_out"),
    [
        (ROWS, [("Total", "10.0", "120")], 1),
        (ROWS, [("Total", "10.0", "30")], 1),  # a rate has its mean below a total
        (ROWS, [("Total", "10.0", "99")], 1),  # as many right as wrong
        (ROWS, [("Total", "9.0", "99")], 0),
        (ROWS, [("Mean", "2.5", "30")], 1),
        (ROWS, [("Mean", "2.5", "31")], 0),
        (ROWS, [("Max", "5.0", "60")], 1),
        (ROWS, [("Max", "5.0", "61")], 0),
        (ROWS, [("Max", "5.0", "")], 0),  # somebody's name
        (ROWS, [("Mean", "2.5", ""), ("Max", "5.0", "")], 2),
        (GERMAN, [("Summe", "3.501,0", "3.200")], 1),
        (GERMAN, [("Mittelwert", "1.167,0", "1.066,7")], 1),
        (GERMAN, [("Summe", "3,501", "3.200")], 1),
        (GERMAN, [("Summe", "3,501", "3.201")], 0),
        ([*ROWS, ("north total", "10.0", "120"), *ROWS, ("south total", "10.0", "120")], [], 2),
        ([*ROWS, ("north total", "10.0", "120"), *ROWS, ("south total", "10.0", "120")], [("Grand total", "20.0", "240")], 3),
        ([*ROWS, ("north total", "10.0", "120"), *ROWS, ("south total", "10.0", "121")], [], 0),
        ([*ROWS, ("north total", "10.0", "120")], [], 0),  # one alone proves too little
    ],
)
def test_rows_that_sum_up_others(rows, last, left_out):
    table = [(i, list(row)) for i, row in enumerate([*rows, *last])]
    assert len(totals.without(table, [])) == len(table) - left_out


@pytest.mark.parametrize(
    ("option", "numbers"),
    [
        ("auto", None), ("keep", ()), ("-9999, -99.9", (-9999.0, -99.9)), ("-99,9", (-99.9,)), ("-99,9; -9999", (-99.9, -9999.0)),
        ("-99, 9", (-99.0, 9.0)), ("-9999,-99", (-9999.0, -99.0)),
    ],
)  # fmt: skip
def test_fill_values_of_the_option(option, numbers):
    assert fills.asked(option) == numbers


@pytest.mark.parametrize(
    ("value", "others", "is_fill"),
    [(999.99, (0.99, 400.99), False), (999.9, (-30.5, 40.5), True), (9999.9, (0.5, 1200.5), True), (9999.9, (0.5, 5000.5), False),
     (-999.25, (0.5, 120.5), True)],
)  # fmt: skip
def test_fill_values_far_outside_of_a_column(value, others, is_fill):
    numbers = {others[0] + i * (others[1] - others[0]) / 40 for i in range(41)}
    assert (value in fills.find([value], numbers | {value}, lambda _: 5, 200)) is is_fill


def test_many_comment_lines_between_rows_are_read_in_one_pass(tmp_path):
    rows = "".join(f"{i},{i * 7 % 50}\n" for i in range(400))
    notes = "".join(f"# noted at {i}, by hand, twice, and more\n" for i in range(30_000))
    found, _ = read(tmp_path, "a.csv", "# a network\n# of sites\na,b\n" + rows + notes + rows)
    assert len(found.rows) == 800
    assert any(r.code == "comment_lines" and r.count == 30_000 for r in found.repairs)
