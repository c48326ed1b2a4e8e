"""The network of a graph by itself: drawn neighbours and layers."""

import numpy
import pytest
import torch

from trainer.kinds.graph import store as stores
from trainer.kinds.graph.sage import EXTRA, Sage, combined
from trainer.kinds.graph.sampler import Sampler, Skipped
from trainer.run_folder import files

STAR = [[0, i] for i in range(1, 6)]


def test_flags_of_skipped_edges_are_cleared():
    flags = numpy.zeros(6, bool)
    skipped = Skipped(numpy.array([1, 4]), numpy.array([2, 4]), 6, flags)
    a, b = numpy.array([1, 2, 1, 4, 0, 2]), numpy.array([2, 1, 4, 4, 5, 4])
    assert skipped.among(a, b).tolist() == [True, True, False, True, False, False]
    skipped.close()
    assert not flags.any()


@pytest.fixture
def star(tmp_path):
    source, target = numpy.asarray(STAR).T
    return stores.build(tmp_path / "graph", 7, source, target, numpy.arange(1, 6, dtype=numpy.float32))


@pytest.mark.parametrize("aggregation", ["mean", "add", "max"])
def test_no_nodes_have_no_neighbours(star, aggregation):
    bags = Sampler(star, aggregation).neighbours(numpy.zeros(0, numpy.int64), 3, numpy.random.default_rng(0))
    assert len(bags.found) == len(bags.start) == 0


@pytest.mark.parametrize(
    ("aggregation", "share"), [("mean", [1 / 15, 2 / 15, 3 / 15, 4 / 15, 5 / 15, 1]), ("add", [1, 2, 3, 4, 5, 3]), ("max", None)]
)
def test_what_a_neighbour_counts_by_its_weight(star, aggregation, share):
    bags = Sampler(star, aggregation).neighbours(numpy.array([0, 6, 3]), 5, numpy.random.default_rng(0))
    assert bags.found.tolist() == [1, 2, 3, 4, 5, 0] and bags.start.tolist() == [0, 5, 5]
    assert bags.share is None if share is None else bags.share.tolist() == pytest.approx(share)


def test_a_sum_over_what_is_left_has_the_size_of_the_sum_over_all_that_may_be_seen(star):
    sampler = Sampler(star, "add")
    skipped = sampler.skipping(numpy.array([0]), numpy.array([5]))
    bags = sampler.neighbours(numpy.array([5, 0]), 5, numpy.random.default_rng(0), skipped)
    assert bags.found.tolist() == [1, 2, 3, 4] and bags.start.tolist() == [0, 0] and bags.share.tolist() == [1, 2, 3, 4]


# Layers.


def test_neighbours_are_combined_for_each_node():
    rows = torch.tensor([[1.0, 4.0], [3.0, 2.0], [5.0, 0.0]])
    bag, start = torch.tensor([0, 1, 2]), torch.tensor([0, 2, 2])
    for mode, first, last in (("mean", [2, 3], [5, 0]), ("sum", [4, 6], [5, 0]), ("max", [3, 4], [5, 0])):
        assert combined(rows, bag, start, None, mode).tolist() == [first, [0, 0], last]
    assert combined(rows, bag, start, torch.tensor([1.0, 0.5, 2.0]), "mean").tolist() == [[2.5, 5], [0, 0], [10, 0]]
    assert combined(rows, bag[:0], start, None, "max").tolist() == [[0, 0]] * 3


def sage(decoder: str = "cosine", outputs: int = 0, directed: bool = False) -> Sage:
    torch.manual_seed(0)
    return Sage(3, 4, 1, "mean", decoder, outputs, directed, 0.0)


@pytest.mark.parametrize("directed", [False, True])
def test_a_row_of_a_model_of_edges_has_an_embedding_of_one_length_and_what_the_node_adds(directed):
    model = sage(directed=directed)
    torch.nn.init.ones_(model.popularity.weight[:1])
    row = model.settled(torch.tensor([[3.0, 0, 4.0, 0]]))[0]
    assert row[:4].tolist() == pytest.approx([0.6 * numpy.e, 0, 0.8 * numpy.e, 0])
    assert row[4:].tolist() == pytest.approx([7, 0 if directed else 7])


def test_a_dot_product_adds_nothing_for_a_node_and_classes_are_not_negative():
    last = torch.tensor([[1.0, -2.0, 3.0, 0.0]])
    assert sage("dot").settled(last).tolist() == [[1, -2, 3, 0, *[0] * EXTRA]]
    assert sage(outputs=2).settled(last).tolist() == [[1, 0, 3, 0]]
    assert sage(outputs=2).classified(last).shape == (1, 2)


@pytest.mark.parametrize(
    "change",
    [{"width": 0}, {"hidden": -4}, {"outputs": 10**9}, {"aggregation": "mode"}, {"width": "wide"}],
    ids=["width", "hidden", "outputs", "mode", "text"],
)
def test_a_description_that_is_not_of_the_weights_is_refused(tmp_path, change):
    sage(outputs=2).save(tmp_path, {})
    files.write_json(tmp_path / "config.json", files.read_json(tmp_path / "config.json") | change)
    with pytest.raises(ValueError, match=r".+"):
        Sage.load(tmp_path)
