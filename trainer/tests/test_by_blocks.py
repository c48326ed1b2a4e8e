"""Arrays of very many rows, read and written a block at a time, are those that numpy makes at once."""

import numpy
import pytest
from hypothesis import given, strategies as st

from trainer.core import by_blocks, mapped
from trainer.data import splits, units
from trainer.data.keys import _shares
from trainer.measure import predictions

NUMBERS = st.lists(st.integers(0, 9), max_size=20)


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    monkeypatch.setattr(by_blocks, "BLOCK", 3)
    monkeypatch.setattr(units, "_BLOCK", 3)


@given(at=NUMBERS)
def test_they_are_those_of_numpy(at):
    at, values = numpy.asarray(at, numpy.int32), numpy.arange(10) * 7
    assert numpy.array_equal(by_blocks.chosen(values, at), values[at])
    assert numpy.array_equal(by_blocks.counts(at, 10), numpy.bincount(at, minlength=10))
    assert numpy.array_equal(by_blocks.true(at % 2 == 0), numpy.flatnonzero(at % 2 == 0))
    found, other = numpy.zeros(10, numpy.int32), numpy.zeros(10, numpy.int32)
    other[at] = numpy.arange(len(at))
    by_blocks.put(found, at, numpy.arange(len(at)))
    assert numpy.array_equal(found, other), "the last of equal positions counts"


@given(places=st.lists(st.integers(0, 2**64 - 1), max_size=30))
def test_parts_are_in_order(places):
    places = numpy.asarray(places, numpy.uint64)
    assert numpy.array_equal(numpy.concatenate([*units.in_order(places)]), numpy.argsort(places, kind="stable"))
    digests = places.astype(">u8").view(numpy.uint8).reshape(-1, 8)
    at = numpy.arange(len(places), dtype=numpy.int32)
    firsts = [digests[part, 0] // 16 for part in _shares(digests, at)]
    assert numpy.array_equal(numpy.concatenate(firsts), numpy.sort(digests[:, 0] // 16))


@given(sizes=st.lists(st.integers(1, 4), max_size=30), cuts=st.lists(st.integers(0, 30), max_size=3), test=st.integers(0, 12))
def test_units_are_dealt_the_same_in_parts(sizes, cuts, test):
    sizes, quotas = numpy.asarray(sizes, numpy.int32), {"test": test, "validation": 5}
    whole, parted, left = numpy.zeros(len(sizes), numpy.uint8), numpy.zeros(len(sizes), numpy.uint8), {**quotas}
    splits._deal(numpy.arange(len(sizes)), sizes, {**quotas}, whole)
    for part in numpy.split(numpy.arange(len(sizes)), sorted(min(c, len(sizes)) for c in cuts)):
        splits._deal(part, sizes, left, parted)
    assert numpy.array_equal(whole, parted)


def test_answers_to_very_many_rows_lie_in_files(tmp_path, monkeypatch):
    monkeypatch.setattr(mapped, "_LARGE", 2)
    found = predictions.of_scores(numpy.array([0, 1, 1]), numpy.arange(6.0).reshape(3, 2))
    resting = predictions.resting(found, tmp_path)
    for name in ("truth", "predicted", "confidence", "likelihood", "probabilities"):
        assert numpy.array_equal(getattr(found, name), getattr(resting, name)) and not getattr(resting, name).flags.writeable
    assert predictions.resting("others", tmp_path) == "others"
    assert not [*tmp_path.iterdir()], "which have no names"
