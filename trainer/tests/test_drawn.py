"""Parts of many rows, drawn at random."""

import numpy
import pytest

from trainer.core import drawn
from trainer.core.example import Example


@pytest.mark.parametrize("of", [9, numpy.arange(10, 19)])
def test_the_same_rows_are_drawn_by_a_seed_in_their_order(of):
    few = drawn.rows(of, 4, 1)
    assert len(few) == len(set(few.tolist())) == 4
    assert few.tolist() == sorted(few.tolist()) == drawn.rows(of, 4, 1).tolist()
    assert set(few.tolist()) < set(drawn.rows(of, 9, 1).tolist())
    assert {tuple(drawn.rows(of, 4, seed)) for seed in range(20)} != {tuple(few)}


@pytest.mark.parametrize("of", [1, 10, 1000, numpy.arange(5, 90) * 3])
def test_rows_are_drawn_as_by_a_permutation(of):
    assert drawn.rows(of, 25, 5).tolist() == numpy.sort(numpy.random.default_rng(5).permutation(of)[:25]).tolist()


def test_few_rows_are_all_of_them():
    assert drawn.rows(3, 9, 1).tolist() == [0, 1, 2]
    assert drawn.rows(0, 9, 1).tolist() == []
    few = [Example("a.csv", n, str(n), "") for n in range(3)]
    assert drawn.examples(few, 3, 1) is few
    assert drawn.examples(few, 2, 1) == [few[n] for n in drawn.rows(3, 2, 1)]
