"""The parts of a training on a graph by themselves: splits, pairs without an edge, and the files of a training."""

from dataclasses import replace
from types import SimpleNamespace

import numpy
import pyarrow
import pytest
from test_graph_delivery import graph

from trainer.errors import UserError
from trainer.kinds.graph import large_arrays, negatives, prepare, splits
from trainer.kinds.graph.graph import CLASSES, NUMBERS
from trainer.kinds.graph.negatives import Known

STAR = [[0, i] for i in range(1, 6)]


def settings(test: float = 0.2, validation: float = 0.2, seed: int = 1) -> SimpleNamespace:
    return SimpleNamespace(test_fraction=test, validation_fraction=validation, seed=seed, split="auto")


def ring(nodes: int = 200, **more):
    return graph([[i, i + 1] for i in range(nodes - 1)], nodes, **more)


# Splits.


@pytest.mark.parametrize(
    "ids",
    [
        pyarrow.array(["a", "", "ü", "𝔘" * 50, "a"]),
        pyarrow.array(["x", "a", "", "ü", "𝔘" * 50, "a", "y"]).slice(1, 5),
        pyarrow.chunked_array([["a", ""], ["ü"], ["𝔘" * 50, "a"]]),
        pyarrow.array(["a", "", "ü", "𝔘" * 50, "a"], pyarrow.large_string()),
    ],
    ids=["array", "slice", "chunks", "large"],
)
def test_the_hash_of_an_id_depends_on_its_text_alone(ids):
    found = splits.id_hashes(ids)
    assert found.tolist() == splits.id_hashes(pyarrow.array(["a", "", "ü", "𝔘" * 50, "a"])).tolist()
    assert found[0] == found[4] and len(set(found.tolist())) == 4
    assert len(splits.id_hashes(pyarrow.array([], pyarrow.string()))) == 0


def test_the_order_of_letters_changes_a_hash():
    texts = ["ab", "ba", "a", "aa", "b", "\x00", "\x00\x00", " "]
    assert len(set(splits.id_hashes(pyarrow.array(texts)).tolist())) == len(texts)


def test_an_edge_has_one_hash_in_both_directions_and_another_with_another_seed():
    g = graph([[0, 1], [1, 0], [1, 2]], directed=True)
    one, other, third = splits.pair_hashes(g, numpy.arange(3), 5)
    assert one == other != third and splits.pair_hashes(g, numpy.arange(1), 6)[0] != one


@pytest.mark.parametrize(
    ("given", "shares", "counts"),
    [
        pytest.param(None, (0.0, 0.2), {"train": 159, "validation": 40, "test": 0}, id="no test edges"),
        pytest.param({"train": [3, 1, 2], "validation": [0]}, (0.0, 0.2), {"train": 3, "validation": 1, "test": 0}, id="no test edges are given"),
        pytest.param(
            {"train": range(100), "test": range(100, 110)}, (0.2, 0.1), {"train": 90, "validation": 10, "test": 10}, id="validation is cut out"
        ),
    ],
)
def test_what_is_held_out(given, shares, counts):
    found = splits.links(ring(given=given), settings(*shares))
    assert found.counts == counts and (numpy.diff(found.train) > 0).all()
    assert found.way == ("given" if given and "validation" in given else "random")


@pytest.mark.parametrize(
    ("given", "said"),
    [({"train": [], "validation": [0], "test": [1]}, "for the training"), ({"train": [0], "test": [1]}, "for the validation")],
)
def test_no_edges_for_a_split_are_refused_with_a_remedy(given, said):
    with pytest.raises(UserError, match=said) as e:
        splits.links(ring(given=given), settings(validation=0))
    assert (e.value.code, e.value.do) == ("no_links_left", "Add edges, or hold fewer out.") and "199 different edges" in e.value.why


@pytest.mark.parametrize(
    ("times", "starts"),
    [
        pytest.param(numpy.arange(100.0), {"test": 80.0, "validation": 60.0}, id="all different"),
        pytest.param(numpy.repeat(numpy.arange(10.0), 10), {"test": 8.0, "validation": 6.0}, id="ten of each time"),
        pytest.param(numpy.r_[numpy.arange(75.0), numpy.full(25, 99.0)], {"test": 99.0, "validation": 60.0}, id="more than enough of the newest"),
        pytest.param(numpy.r_[numpy.zeros(10), numpy.full(90, 99.0)], None, id="most have the newest time"),
        pytest.param(numpy.zeros(100), None, id="one time"),
    ],
)
def test_edges_of_one_time_stay_together(times, starts):
    found = splits.links(ring(101, time=times), settings())
    assert found.cut == starts and found.way == ("time" if starts else "random") and sum(found.counts.values()) == 100
    if starts:
        assert times[found.test].min() == starts["test"] > times[found.validation].max() >= starts["validation"] > times[found.train].max()
        assert found.why == f"The newest edges are held out: {len(found.test)} edges for test and {len(found.validation)} edges for validation. " + (
            "The model learns from the older ones."
        )
    else:
        assert found.why.startswith("Their times do not cut the edges")


def test_nodes_joined_at_their_earliest_edge():
    g = graph([[0, 1], [1, 2], [3, 4]], 6, time=numpy.array([5.0, 3.0, 9.0]))
    by_time = splits.LinkSplits(numpy.array([0]), numpy.array([1]), numpy.array([2]), "time", "")
    assert splits.joined(g, by_time).tolist() == [5, 3, 3, 9, 9, numpy.inf]
    given = replace(by_time, way="given", unseen=1)
    assert splits.joined(replace(g, time=None), given).tolist() == [0, 0, 1, 1, 1, 1]
    assert splits.joined(g, replace(by_time, way="random")) is None


def labelled(labels, task: str = CLASSES, given=None):
    return splits.nodes(ring(len(labels), labels=tuple(labels), task=task, given=given), settings())


def test_a_class_of_two_nodes_stays_in_training():
    found = labelled([*"ab" * 30, "c", "c"])
    assert {60, 61} <= set(found["train"].tolist())
    assert sorted(numpy.concatenate(list(found.values())).tolist()) == list(range(62))


def test_numbers_are_dealt_evenly_over_their_range():
    found = labelled([str(1.5**i) for i in range(100)], NUMBERS)
    tenths = [set((found[name] // 10).tolist()) for name in ("train", "validation", "test")]
    assert all(t == set(range(10)) for t in tenths)


@pytest.mark.parametrize(
    ("labels", "given", "counts"),
    [
        pytest.param([""] * 10, None, (0, 0, 0), id="no labels"),
        pytest.param([*"ab" * 5, *[""] * 90], {"train": range(20), "validation": range(5), "test": range(5, 40)}, (10, 5, 5), id="labels of some"),
        pytest.param(["a", "b"] * 20, {"train": range(30), "test": range(30, 40)}, (24, 6, 10), id="validation is dealt from training"),
    ],
)
def test_nodes_with_labels_are_in_splits(labels, given, counts):
    found = labelled(labels, given=given)
    assert tuple(len(found[name]) for name in ("train", "validation", "test")) == counts


def test_nodes_without_labels_cannot_be_split():
    with pytest.raises(ValueError, match="no labels"):
        splits.nodes(ring(), settings())


def test_a_sample_of_few_edges_is_all_of_them():
    few = numpy.array([7, 3, 5])
    assert splits.sample(ring(), few, 1, 3) is few
    a, b = (splits.sample(ring(), numpy.arange(199), seed, 20) for seed in (1, 2))
    assert (numpy.diff(a) > 0).all() and len(a) == 20 and a.tolist() != b.tolist()
    assert a.tolist() == splits.sample(ring(), numpy.arange(199)[::-1], 1, 20).tolist()


# Pairs that are no edges.


@pytest.mark.parametrize(
    ("more", "legal"),
    [({}, [0, 4, 4, 4, 4, 4]), ({"directed": True}, [0, 5, 5, 5, 5, 5])],
    ids=["undirected", "directed"],
)
def test_the_targets_that_are_left_for_a_source(more, legal):
    known = Known(graph(STAR, **more))
    assert known.legal(numpy.arange(6, dtype=numpy.int32)).tolist() == legal
    every = numpy.stack(numpy.meshgrid(numpy.arange(6), numpy.arange(6), indexing="ij"))
    assert (~known.illegal(*every)).sum(axis=1).tolist() == legal


def test_the_targets_of_a_bipartite_graph_are_on_the_other_side():
    known = Known(graph([[0, 2], [0, 3], [1, 4]], 6, left=2))
    assert known.legal(numpy.array([0, 1])).tolist() == [2, 3]


def test_a_source_with_few_targets_has_them_again():
    # Node 0 is joined with all but node 9; the other sources have eight targets or more.
    g = graph([[0, i] for i in range(1, 9)] + [[i, i + 1] for i in range(1, 9)], 30)
    drawn = negatives.draw(replace(g, directed=True), numpy.arange(g.edges), 0, 20)
    assert drawn.k == 20
    crowded = graph([[0, i] for i in range(1, 9)], 10, directed=True)
    again = negatives.draw(crowded, numpy.arange(8), 0, 20)
    assert again.targets.tolist() == [[9]] * 8 and again.left_out == 0


@pytest.mark.parametrize("rounds", [0, 50])
@pytest.mark.parametrize("cells", [1, 20_000_000])
def test_legal_pairs_are_found_in_order_where_chance_finds_none(monkeypatch, rounds, cells):
    monkeypatch.setattr(negatives, "_ROUNDS", rounds)
    monkeypatch.setattr(negatives, "_CELLS", cells)
    monkeypatch.setattr(negatives, "_FEW", 0)  # as in a large graph
    g = graph([[a, b] for a in range(8) for b in range(a) if (a, b) != (7, 0)], 8)
    drawn = negatives.draw(g, numpy.arange(g.edges), 0, 3)
    known = Known(g)
    assert not known.illegal(*numpy.broadcast_arrays(drawn.source[:, None], drawn.targets)).any()
    assert not known.illegal(drawn.pairs[:, 0], drawn.pairs[:, 1]).any()
    assert set(drawn.source.tolist()) <= {0, 7} and drawn.left_out == g.edges - len(drawn)


def test_without_edges_nothing_is_drawn():
    found = negatives.draw(ring(), numpy.zeros(0, numpy.int64), 0, 10)
    assert (len(found), found.k, found.pairs.shape, found.left_out) == (0, 0, (0, 2), 0)


def test_the_end_that_joined_later_is_the_source():
    found = negatives.draw(ring(50), numpy.arange(49), 0, 5, joined=numpy.arange(50.0))
    assert (found.source == found.target + 1).all()


# The files of a training.


def test_the_fingerprint_of_a_graph_changes_with_all_that_is_learnt_from():
    whole = graph([[0, 1], [1, 2]], 3, x=numpy.zeros((3, 2), numpy.float32), weight=numpy.ones(2, numpy.float32), labels=("a", "b", ""))
    numbers = {"train": numpy.array([0]), "validation": numpy.array([1]), "test": numpy.array([], numpy.int64)}
    others = [
        replace(whole, source=whole.source[::-1]), replace(whole, weight=None), replace(whole, x=None), replace(whole, labels=("a", "", "b")),
        replace(whole, ids=pyarrow.array(["n0", "n1", "N2"])), replace(whole, x=whole.x + 1),
    ]  # fmt: skip
    seals = [prepare.fingerprint(g, numbers) for g in (whole, *others)]
    assert len(set(seals)) == len(seals) and seals[0] == prepare.fingerprint(replace(whole, texts=("x", "y", "z")), numbers)
    assert prepare.fingerprint(whole, numbers | {"train": numpy.array([2])}) != seals[0]


def test_large_arrays_are_files_of_their_own(tmp_path, monkeypatch):
    assert not isinstance(large_arrays.allocate((3, 2), tmp_path / "work"), numpy.memmap) and not (tmp_path / "work").exists()
    monkeypatch.setattr(large_arrays, "IN_MEMORY", 20)
    first, second = (large_arrays.allocate((3, 2), tmp_path / "work") for _ in range(2))
    first[:], second[:] = 1, 2
    assert sorted(f.name for f in (tmp_path / "work").iterdir()) == ["columns-0.npy", "columns-1.npy"]
    assert numpy.load(tmp_path / "work" / "columns-0.npy").tolist() == [[1, 1]] * 3 and first.dtype == numpy.float32
