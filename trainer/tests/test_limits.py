"""Cells that only tell a limit of what was measured."""

import pytest

from trainer.data.columns import values
from trainer.data.columns.values import Style


@pytest.mark.parametrize(
    ("cell", "comma", "number"),
    [
        ("<0.5", False, 0.25), ("< 0,5", True, 0.25), ("≤ 2", False, 1), ("<=2", False, 1), (">100", False, 100), (">= 1,000", False, 1000),
        ("<0.5 mg/l", False, 0.25), ("<-3", False, -3), ("<LOD", False, None), ("0.5", False, None), ("<", False, None), ("a<b", False, None),
    ],
)  # fmt: skip
def test_a_limit_as_a_number(cell, comma, number):
    assert values.limit(cell, comma) == number


_MEASURED = [f"{i}.5" for i in range(12)]


@pytest.mark.parametrize(
    ("cells", "found"),
    [
        ([*_MEASURED, "<0.5"], True),
        ([*_MEASURED, *["<0.5"] * 100], True),
        ([*_MEASURED, *["<0.5"] * 200], False),  # hardly anything was measured
        ([*_MEASURED, "<0.5", "oak"], False),
        (_MEASURED, False),
        ([*_MEASURED[:5], "<0.5"], False),
        (["<18", "18-64", ">64"] * 20, False),
    ],
)
def test_columns_with_limits(cells, found):
    assert values.has_limits(cells, False) == found


def test_a_style_with_limits_reads_them_and_is_kept():
    style = Style(limits=True)
    assert values.as_numbers(["<0.5", "2", "x", ""], style) == ["0.25", "2", "", ""]
    assert values.as_numbers(["<0.5", "2"], Style()) == ["", "2"]
    assert Style.restored(style.described()) == style
