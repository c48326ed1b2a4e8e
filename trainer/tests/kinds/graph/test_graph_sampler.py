"""A graph as files, and the neighbourhoods that a step draws from it."""

import pickle

import numpy as np
import pytest

from trainer.kinds.graph import store as stores
from trainer.kinds.graph.sampler import Sampler, normalised
from trainer.kinds.graph.store import Store

NODES = 60


def edges(count: int = 240, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Edges between the first 55 of 60 nodes, of which the first has many; each pair once, the smaller number first."""
    random = np.random.default_rng(seed)
    ends = np.sort(random.integers(0, NODES - 5, (count, 2)), axis=1)
    ends = np.concatenate([ends, np.stack([np.zeros(40, int), np.arange(1, 41)], axis=1)])
    ends = np.unique(ends[ends[:, 0] != ends[:, 1]], axis=0).astype(np.int32)
    return ends[:, 0].copy(), ends[:, 1].copy()


@pytest.fixture
def made(tmp_path) -> tuple[Store, np.ndarray, np.ndarray]:
    source, target = edges()
    return stores.build(tmp_path / "graph", NODES, source, target), source, target


def near(store: Store, node: int) -> set[int]:
    return set(store.indices[store.indptr[node] : store.indptr[node + 1]].tolist())


def bag(bags, number: int) -> list[int]:
    return bags.found[bags.start[number] : [*bags.start, len(bags.found)][number + 1]].tolist()


def test_each_edge_is_there_in_both_directions_and_nodes_without_edges_have_no_neighbours(made):
    store, source, target = made
    assert store.nodes == NODES
    assert len(store.indices) == 2 * len(source)
    for a, b in zip(source, target, strict=True):
        assert b in near(store, a)
        assert a in near(store, b)
    assert store.degrees()[NODES - 5 :].sum() == 0
    assert store.weights is None


def test_a_pair_that_is_joined_in_both_directions_is_one_neighbour_with_both_weights(tmp_path):
    one = stores.build(tmp_path / "g", 3, np.array([0, 1, 1]), np.array([1, 0, 2]), np.array([1.0, 2.0, 4.0]))
    assert near(one, 0) == {1}
    assert near(one, 1) == {0, 2}
    assert one.weights.tolist() == [3.0, 3.0, 4.0, 4.0]


def test_a_store_travels_to_another_process_as_a_path(made):
    store, *_ = made
    assert len(store.indices)
    assert len(pickle.dumps(store)) < 1000
    assert np.array_equal(pickle.loads(pickle.dumps(store)).indices, store.indices)


def test_features_in_a_mapped_file_are_linked_and_not_copied(tmp_path):
    np.save(tmp_path / "x.npy", np.arange(12, dtype=np.float32).reshape(4, 3))
    x = np.load(tmp_path / "x.npy", mmap_mode="r")
    store = stores.build(tmp_path / "g", 4, np.array([0]), np.array([1]), None, x)
    assert (tmp_path / "g" / "x.npy").stat().st_ino == (tmp_path / "x.npy").stat().st_ino
    assert np.array_equal(store.x, x)


def test_part_of_a_mapped_file_is_copied(tmp_path):
    np.save(tmp_path / "x.npy", np.arange(12, dtype=np.float32).reshape(4, 3))
    x = np.load(tmp_path / "x.npy", mmap_mode="r")[1:]
    assert np.array_equal(stores.build(tmp_path / "g", 3, np.array([0]), np.array([1]), None, x).x, x)


def test_few_neighbours_are_all_taken_and_of_many_as_many_as_asked(made):
    store, *_ = made
    nodes = np.arange(NODES, dtype=np.int32)
    bags = Sampler(store, "mean").neighbours(nodes, 5, np.random.default_rng(0))
    for node in nodes:
        there, drawn = near(store, node), bag(bags, node)
        if len(there) <= 5:
            assert drawn == sorted(there)
        else:
            assert len(drawn) == 5
            assert set(drawn) <= there


def test_the_same_generator_draws_the_same_neighbours(made):
    store, *_ = made
    nodes = np.arange(NODES, dtype=np.int32)
    one, again, other = (Sampler(store, "mean").neighbours(nodes, 3, np.random.default_rng(s)).found.tolist() for s in (7, 7, 8))
    assert one == again
    assert one != other


def test_every_neighbour_of_a_hub_is_drawn_about_equally_often(made):
    store, *_ = made
    hub = np.zeros(20_000, np.int32)
    found = Sampler(store, "mean").neighbours(hub, 4, np.random.default_rng(1)).found
    counts = np.bincount(found, minlength=NODES)[sorted(near(store, 0))]
    assert counts.min() > 0.9 * counts.mean()
    assert counts.max() < 1.1 * counts.mean()


def test_edges_that_a_step_learns_are_no_messages_in_either_direction(made):
    store, source, target = made
    sampler = Sampler(store, "mean")
    skipped = sampler.skipping(source[:30], target[:30])
    gone = {(int(a), int(b)) for a, b in zip(source[:30], target[:30], strict=True)}
    nodes = np.arange(NODES, dtype=np.int32)
    bags = sampler.neighbours(nodes, 1000, np.random.default_rng(0), skipped)
    for node in nodes:
        wanted = {b for b in near(store, node) if (min(node, b), max(node, b)) not in gone}
        assert set(bag(bags, node)) == wanted
    skipped.close()
    assert len(sampler.neighbours(nodes, 1000, np.random.default_rng(0)).found) == 2 * len(source)


def test_without_any_message_all_bags_are_empty(made):
    store, source, target = made
    sampler = Sampler(store, "add")
    bags = sampler.neighbours(np.arange(NODES, dtype=np.int32), 9, np.random.default_rng(0), sampler.skipping(source, target))
    assert len(bags.found) == 0
    assert bags.start.tolist() == [0] * NODES


def test_a_sum_over_drawn_neighbours_has_the_size_of_the_sum_over_all(made):
    store, source, target = made
    sampler = Sampler(store, "add")
    bags = sampler.neighbours(np.array([0, 1], np.int32), 4, np.random.default_rng(0))
    degrees = store.degrees()
    assert bags.share[:4].tolist() == pytest.approx([degrees[0] / 4] * 4)
    skipped = sampler.skipping(source[source == 0][:10], target[source == 0][:10])
    bags = sampler.neighbours(np.array([0], np.int32), 1000, np.random.default_rng(0), skipped)
    assert bags.share.tolist() == [1.0] * (degrees[0] - 10)


def test_weights_count_within_the_neighbours_of_a_node(tmp_path):
    store = stores.build(tmp_path / "g", 4, np.array([0, 0, 1]), np.array([1, 2, 2]), np.array([1.0, 3.0, 2.0]))
    nodes = np.arange(4, dtype=np.int32)
    assert Sampler(store, "mean").neighbours(nodes, 9, np.random.default_rng(0)).share.tolist() == pytest.approx([0.25, 0.75, 1 / 3, 2 / 3, 0.6, 0.4])
    assert Sampler(store, "add").neighbours(nodes, 9, np.random.default_rng(0)).share.tolist() == [1.0, 3.0, 1.0, 2.0, 3.0, 2.0]
    assert Sampler(store, "max").neighbours(nodes, 9, np.random.default_rng(0)).share is None


def test_different_nodes_are_found_with_the_place_of_each(made):
    sampler = Sampler(made[0], "mean")
    nodes = np.random.default_rng(0).integers(0, NODES, 500).astype(np.int32)
    different, place = sampler.unique(nodes)
    assert sorted(different.tolist()) == sorted(set(nodes.tolist()))
    assert np.array_equal(different[place], nodes)
    assert np.array_equal(sampler.unique(nodes)[0], different)


def test_shares_of_empty_bags_are_none():
    assert normalised(np.zeros(0, np.float32), np.zeros(3, np.int64)).tolist() == []
    assert normalised(np.array([2.0, 2.0], np.float32), np.array([0, 2, 2])).tolist() == [0.5, 0.5]
