"""Numbers as ranges for a perceptron: what is read, and that a layer of fixed weights reads the same."""

import numpy
import pytest
from hypothesis import given, strategies as st

from trainer.kinds.table import perceptron, ranges


def network(chance, *sizes):
    return tuple((chance.normal(size=(a, b)).astype("f4"), chance.normal(size=b).astype("f4")) for a, b in zip(sizes, sizes[1:], strict=False))


def test_a_number_is_read_as_how_much_of_each_range_lies_below_it():
    found = ranges.Ranges(1, ((0, numpy.array([-1, 0, 2], numpy.float32)),), numpy.array([10], numpy.float32))
    read = found.read(numpy.array([[-3], [-0.5], [0], [1], [9]], numpy.float32))
    assert read[:, 1:].tolist() == [[0, 0], [0.5, 0], [1, 0], [1, 0.5], [1, 1]]
    assert read[:, 0].tolist() == [-3, -0.5, 0, 1, 9]
    assert read.shape[1] == found.read_width


def test_ranges_hold_about_as_many_rows_each_and_categories_have_none():
    chance = numpy.random.default_rng(1)
    values = numpy.column_stack([chance.exponential(size=1200), chance.integers(0, 2, 1200), numpy.zeros(1200)]).astype(numpy.float32)
    found = ranges.learn(values)
    assert [place for place, _ in found.knots] == [0]
    knots = found.knots[0][1]
    counts, _ = numpy.histogram(values[:, 0], knots)
    assert len(counts) == ranges.COUNT and counts.min() > 90
    assert found.shifts.tolist() == [10, 0, 0]


@pytest.mark.parametrize(
    "values", [numpy.zeros((9, 2)), numpy.eye(4), numpy.zeros((0, 3)), numpy.zeros((5, 0))], ids=["constant", "categories", "rows", "columns"]
)
def test_a_table_without_measured_numbers_has_no_ranges(values):
    assert ranges.learn(values.astype(numpy.float32)) is None


def test_a_layer_that_would_be_too_large_is_not_learnt(monkeypatch):
    values = numpy.random.default_rng(1).normal(size=(50, 3)).astype(numpy.float32)
    assert ranges.learn(values) is not None
    monkeypatch.setattr(ranges, "_MOST_WEIGHTS", 100)
    assert ranges.learn(values) is None


@given(seed=st.integers(0, 2**32 - 1), scale=st.floats(1e-4, 10), rows=st.integers(3, 60))
def test_the_layer_before_a_network_reads_the_same(seed, scale, rows):
    chance = numpy.random.default_rng(seed)
    numbers = numpy.clip(chance.standard_t(2, (rows, 2)) * [scale, 1], -10, 10)
    values = numpy.column_stack([numbers, chance.integers(0, 2, rows)]).astype(numpy.float32)
    found = ranges.learn(values)
    if found is None:
        return
    new = numpy.clip(numpy.concatenate([values, 3 * values, -values]), -10, 10)
    new[:, 2] = numpy.abs(new[:, 2]) > 0
    layers = network(chance, found.read_width, 8, 2)
    expected = perceptron._scores(layers, found.read(new))
    assert perceptron._scores(found.before(layers), new) == pytest.approx(expected, rel=0.01, abs=0.02)
