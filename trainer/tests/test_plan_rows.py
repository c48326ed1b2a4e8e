"""Rows of a plan: pieces of examples stay together, and every selection is one of the rows that were there."""

import numpy
import pytest
from hypothesis import given, settings, strategies as st

from trainer.core.plan import Rows


class Numbers:
    """Features that are the numbers of their rows."""

    def __init__(self, count: int):
        self.lengths = numpy.arange(count) + 10

    def batch(self, rows, augment=None):
        return {"row": rows}


def rows_of(owner: list[int] | None, targets) -> Rows:
    targets = numpy.asarray(targets)
    return Rows(Numbers(len(targets)), targets, None if owner is None else numpy.asarray(owner, int))


@pytest.mark.parametrize(("epoch", "count", "each"), [(0, 5, 5), (3, 5, 3), (5, 5, 5), (9, 5, 5), (0, 0, 0), (3, 0, 0)])
def test_the_rows_of_an_epoch(epoch, count, each):
    assert Rows(Numbers(count), numpy.zeros(count), None, epoch).per_epoch == each


@pytest.mark.parametrize(
    ("owner", "targets", "examples", "of_examples"),
    [
        (None, [3, 1], 2, [3, 1]),
        ([0, 0, 1], [3, 3, 1], 2, [3, 1]),
        ([0, 1, 1, 1], [3, 1, 1, 1], 2, [3, 1]),
        ([], [], 0, []),
        ([0, 0, 1], [[1, 2], [3, 4], [5, 6]], 2, [[4, 6], [5, 6]]),
    ],
)
def test_the_targets_of_examples_are_those_of_their_pieces(owner, targets, examples, of_examples):
    rows = rows_of(owner, targets)
    assert rows.examples == examples
    assert rows.example_targets().tolist() == of_examples


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(1, 3), max_size=20), st.integers(1, 8))
def test_parts_hold_every_row_once_and_no_example_in_two(pieces, count):
    owner = [i for i, n in enumerate(pieces) for _ in range(n)]
    rows = rows_of(owner, owner)
    parts = rows.parts(count)
    assert [int(r) for part in parts for r in part.features.batch(numpy.arange(len(part)))["row"]] == list(range(len(owner)))
    assert len(parts) <= count and all(len(part) for part in parts)
    assert sum(part.examples for part in parts) == len(pieces)
    for part in parts:
        assert (
            part.owner.tolist() == sorted(part.owner)
            and part.features.lengths.tolist() == (part.features.batch(numpy.arange(len(part)))["row"] + 10).tolist()
        )
        assert part.example_targets().tolist() == sorted(set(part.targets.tolist()))


def test_a_selection_of_a_selection_is_one_of_the_first_rows():
    chosen = rows_of(None, [10, 11, 12, 13]).chosen(numpy.asarray([1, 3])).chosen(numpy.asarray([1]))
    assert (chosen.targets.tolist(), chosen.features.batch(numpy.asarray([0]))["row"].tolist(), chosen.features.lengths.tolist()) == ([13], [3], [13])
