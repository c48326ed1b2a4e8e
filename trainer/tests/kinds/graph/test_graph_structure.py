"""Features of nodes from the edges alone."""

import numpy as np

from trainer.kinds.graph import store as stores, structure


def two_groups(folder, seed: int = 0):
    """Two groups of 40 nodes, with ten edges for each node within its group, and two nodes without edges."""
    random = np.random.default_rng(seed)
    ends = random.integers(0, 40, (800, 2))
    ends[400:] += 40
    ends = np.unique(np.sort(ends[ends[:, 0] != ends[:, 1]], axis=1), axis=0)
    return stores.build(folder, 82, ends[:, 0], ends[:, 1])


def test_nodes_of_the_same_surroundings_have_similar_vectors(tmp_path):
    found = structure.features(two_groups(tmp_path / "g"), 0)[:80, 1:]
    cosines = found @ found.T / np.outer(np.linalg.norm(found, axis=1), np.linalg.norm(found, axis=1))
    assert cosines[:40, :40].mean() > 0.5
    assert cosines[40:, 40:].mean() > 0.5
    assert abs(cosines[:40, 40:].mean()) < 0.2


def test_the_first_number_is_the_degree_and_nodes_without_edges_have_no_place(tmp_path):
    store = two_groups(tmp_path / "g")
    found = structure.features(store, 0)
    assert found.shape == (82, structure.width(82))
    assert found.dtype == np.float32
    assert np.array_equal(np.argsort(found[:, 0], kind="stable"), np.argsort(store.degrees(), kind="stable"))
    assert not found[80:, 1:].any()
    assert np.isfinite(found).all()


def test_the_same_seed_gives_the_same_features(tmp_path):
    store = two_groups(tmp_path / "g")
    assert np.array_equal(structure.features(store, 3), structure.features(store, 3))
    assert not np.array_equal(structure.features(store, 3), structure.features(store, 4))


def test_weights_of_edges_count(tmp_path):
    source, target = np.array([0, 0, 1, 3]), np.array([1, 2, 3, 4])
    light, heavy = (stores.build(tmp_path / n, 5, source, target, np.array(w)) for n, w in (("a", [1.0, 1, 1, 1]), ("b", [1.0, 9, 1, 1])))
    assert not np.allclose(structure.features(light, 0), structure.features(heavy, 0))
