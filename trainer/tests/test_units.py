"""Rows that must stay together: copies, and rows that groups join, be it through a third row."""

import numpy
from hypothesis import given, strategies as st

from trainer.core import columnar
from trainer.core.cells import Codes
from trainer.core.columnar import Columnar, Store
from trainer.core.example import Example
from trainer.data import units
from trainer.data.keys import Keys

ROWS = st.lists(st.tuples(st.sampled_from("abcdefgh"), st.sampled_from(["", "p", "q", "r", "s", "t"])), min_size=1, max_size=25)


def plain(rows: list[tuple[str, str]]) -> list[set[int]]:
    """The sets, found by joining any two that share something until none do."""
    found = [({i}, {("cell", cell), *([("group", group)] if group else [])}) for i, (cell, group) in enumerate(rows)]
    for i in range(len(found)):
        for j in range(i):
            if found[i][1] & found[j][1]:
                found[i] = found[i][0] | found[j][0], found[i][1] | found[j][1]
                found[j] = set(), set()
    return [members for members, _ in found if members]


@given(rows=ROWS)
def test_rows_that_share_cells_or_groups_are_one_set(rows):
    listed = [Example("t.csv", 2 + i, (cell,), "x", group=group) for i, (cell, group) in enumerate(rows)]
    number, first = units.of(listed, Keys(lambda e: e.content[0]))
    sets = sorted((set(numpy.flatnonzero(number == i).tolist()) for i in range(len(first))), key=min)
    assert sets == sorted(plain(rows), key=min)
    assert first.tolist() == [min(s) for s in sets], "in the order of their first rows"


def test_two_cells_with_one_name_are_one_group():
    places = numpy.arange(3, dtype=numpy.int32)
    store = Store(
        Codes(["t.csv"], places * 0), places, (Codes(["1", "2", "3"], places),), Codes(["x"], places * 0), groups=Codes(["p", "p", ""], places)
    )
    names, of_rows = columnar.group_codes(Columnar(store))
    assert names == ["p", ""] and of_rows.tolist() == [0, 0, 1]
    assert units.of(Columnar(store), Keys())[0].tolist() == [0, 0, 1]
