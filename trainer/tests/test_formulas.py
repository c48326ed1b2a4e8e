"""Labels that are computed from other columns are found with their formula, and nothing that is merely near one."""

import math

import pytest
from hypothesis import given, strategies as st

from trainer.kinds.rows.clues import class_ranges, formulas

ROWS = 90
A = [round((i * 37 % 101) / 10 + 1, 1) for i in range(ROWS)]
B = [round((i * 53 % 89) / 7 + 2, 2) for i in range(ROWS)]
C = [round((i * 29 % 97) ** 2 / 100 + 1, 1) for i in range(ROWS)]


def _found(target, **columns):
    return formulas.find({name: list(map(str, cells)) for name, cells in columns.items()}, list(map(str, target)))


@pytest.mark.parametrize(
    ("target", "words"),
    [
        pytest.param([round(a + b, 2) for a, b in zip(A, B)], "the sum of a and b", id="sum"),
        pytest.param([round(b - a, 2) for a, b in zip(A, B)], "b − a", id="difference"),
        pytest.param([round((a + b + c) / 3, 1) for a, b, c in zip(A, B, C)], "the mean of a, b and c", id="mean"),
        pytest.param([round(a * b, 2) for a, b in zip(A, B)], "a × b", id="product"),
        pytest.param([round(b / a, 3) for a, b in zip(A, B)], "a^-1 × b", id="ratio"),
        pytest.param([round(100 * (b - a) / a, 1) for a, b in zip(A, B)], "100 × b / a − 100", id="change in percent"),
        pytest.param([round((a - b) / (a + b), 4) for a, b in zip(A, B)], "(a − b) / (a + b)", id="normalised difference"),
        pytest.param([round((b - a) / (a + b), 4) for a, b in zip(A, B)], "(b − a) / (b + a)", id="its negative"),
        pytest.param([round(1.8 * a + 32, 1) for a in A], "1.8 × a + 32", id="another unit"),
        pytest.param([round(math.log10(a), 4) for a in A], "0.4343 × log(a)", id="logarithm"),
    ],
)
def test_a_formula_is_found_through_rounding(target, words):
    assert _found(target, a=A, b=B, c=C).words == words


@pytest.mark.parametrize(
    "target",
    [
        pytest.param([round(a + b + (i % 5) / 5, 2) for i, (a, b) in enumerate(zip(A, B))], id="a sum with noise"),
        pytest.param([round(a + b) // 10 for a, b in zip(A, B)], id="a sum in so few steps that any column would fit"),
        pytest.param([0] * 88 + [1, 2], id="hardly any other value"),
        pytest.param([i * 61 % 83 for i in range(ROWS)], id="nothing"),
    ],
)
def test_what_is_near_a_formula_is_none(target):
    assert _found(target, a=A, b=B, c=C) is None


def test_gaps_and_constant_columns_do_no_harm():
    gappy = ["" if i % 10 == 3 else a for i, a in enumerate(A)]
    assert _found([round(a + b, 2) for a, b in zip(A, B)], a=gappy, b=B, c=[1] * ROWS, d=[""] * ROWS).columns == ("a", "b")
    assert _found(A, d=[""] * ROWS) is None


@given(st.lists(st.integers(-9, 9).filter(bool), min_size=2, max_size=3))
def test_a_weighted_sum_of_whole_numbers_is_found_with_its_columns(weights):
    columns = dict(zip("abc", (A, B, C)))
    target = [round(sum(w * columns[n][i] for n, w in zip("abc", weights)), 2) for i in range(ROWS)]
    assert _found(target, **columns).columns == tuple("abc"[: len(weights)])


@given(st.lists(st.tuples(*[st.floats(-1e99, 1e99)] * 3), min_size=45, max_size=60))
def test_numbers_of_any_size_do_no_harm(rows):
    a, b, target = ([repr(n) for n in column] for column in zip(*rows))
    formulas.find({"a": a, "b": b}, target)
    class_ranges.find({"a": a, "b": b}, ["xy"[n > 0] for *_, n in rows])


@pytest.mark.parametrize(
    ("classes", "words"),
    [
        pytest.param(lambda i: "low" if A[i] < 5 else "mid" if A[i] < 8 else "high", "a", id="ranges of a column"),
        pytest.param(lambda i: "low" if A[i] + B[i] < 12 else "high", None, id="a range of nothing that is looked at"),
        pytest.param(lambda i: "mid" if 4 < A[i] < 8 else "other", None, id="a class on both sides of another"),
        pytest.param(lambda i: "rare" if i < 2 else "other", None, id="a class of two rows"),
    ],
)
def test_classes_that_are_ranges_are_found(classes, words):
    columns = {"a": list(map(str, A)), "b": list(map(str, B))}
    found = class_ranges.find(columns, [classes(i) for i in range(ROWS)])
    assert (found and found[0]) == words


def test_items_that_are_numbered_are_added():
    columns = {f"q{k}": [str((i * (k + 7) % 11) % 4) for i in range(ROWS)] for k in range(4)}
    totals = [sum(int(cells[i]) for cells in columns.values()) for i in range(ROWS)]
    found = class_ranges.find(columns, ["ill" if t > 6 else "well" for t in totals])
    assert found == ("the sum of q0, q1, q2 and q3", tuple(columns))
