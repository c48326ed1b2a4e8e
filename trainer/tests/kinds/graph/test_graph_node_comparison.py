"""The simple models of nodes, and their combination with the network."""

from types import SimpleNamespace

import numpy
import pytest

from trainer.kinds.graph.comparison import choice, compare, compare_nodes, node_scores, nodes as simple
from trainer.kinds.graph.comparison.compare import ComparedModel
from trainer.kinds.graph.comparison.fusion import MODEL, Fusion
from trainer.kinds.graph.comparison.node_scores import NodeScores
from trainer.measure.linear import Linear
from trainer.measure.metrics import summary
from trainer.targets.classes import Classes
from trainer.targets.number import Number

SPLITS = ("train", "validation", "test")
CLASSES = Classes(("a", "b", "c"))


def rows(pairs, nodes):
    pairs = numpy.asarray(pairs)
    both = numpy.unique(numpy.concatenate([pairs, pairs[:, ::-1]]), axis=0)
    return numpy.concatenate([[0], numpy.cumsum(numpy.bincount(both[:, 0], minlength=nodes))]), both[:, 1].astype(numpy.int32)


def groups(nodes=240, noise=2.0, seed=0):
    """Three groups whose nodes are mostly joined with each other, and features that tell the group through noise."""
    r = numpy.random.default_rng(seed)
    group = numpy.arange(nodes) % 3
    u = r.integers(0, nodes, 4 * nodes)
    v = numpy.where(r.random(4 * nodes) < 0.85, (u + 3 * r.integers(1, nodes // 3, 4 * nodes)) % nodes, r.integers(0, nodes, 4 * nodes))
    x = (numpy.eye(3)[group] @ r.normal(0, 1, (3, 6)) + noise * r.normal(0, 1, (nodes, 6))).astype(numpy.float32)
    indptr, indices = rows(numpy.stack([u, v], axis=1)[u != v], nodes)
    order = r.permutation(nodes)
    numbers = {n: numpy.sort(part) for n, part in zip(SPLITS, numpy.split(order, [nodes // 2, 3 * nodes // 4]), strict=True)}
    return SimpleNamespace(indptr=indptr, indices=indices, x=x, nodes=nodes), numbers, group


def accuracy(candidate, split="test"):
    return summary(candidate.answers[split], 3)["accuracy"]


def test_labels_spread_along_a_path():
    indptr, indices = rows([[0, 1], [1, 2], [2, 3], [3, 4]], 7)
    found = simple.propagate(indptr, indices, numpy.array([0, 4]), numpy.array([0, 1]), Classes(("a", "b")))
    assert found.argmax(axis=1)[[0, 1, 3, 4]].tolist() == [0, 0, 1, 1]
    assert found[2] == pytest.approx([0.5, 0.5], abs=1e-3)
    assert found[6] == pytest.approx([0.5, 0.5], abs=1e-3), "no label reaches it, so it gets the shares of the classes"


def test_numbers_spread_along_a_path():
    indptr, indices = rows([[0, 1], [1, 2]], 4)
    found = simple.propagate(indptr, indices, numpy.array([0, 2]), numpy.array([1.0, 3.0]), Number(2.0, 1.0))[:, 0]
    assert found[1] == pytest.approx(2.0, abs=1e-4)
    assert found[0] < found[1] < found[2]
    assert found[3] == 2.0


def test_features_are_averaged_with_those_of_neighbours():
    indptr, indices = rows([[0, 1]], 3)
    found = simple.spread(indptr, indices, numpy.array([[2.0], [4.0], [7.0]]), 1)
    assert found[:, 0] == pytest.approx([3.0, 3.0, 7.0])


def test_neighbours_help_where_they_have_the_same_label():
    store, numbers, group = groups()
    found = {r.name: r for r in compare_nodes.of_nodes(store, numbers, {n: group[numbers[n]] for n in SPLITS}, CLASSES, None, 0)}
    assert set(found) == {"fusion", "spread", "linear", "propagation", "constant"}
    assert accuracy(found["spread"]) > accuracy(found["linear"]) + 0.05
    assert accuracy(found["propagation"]) > accuracy(found["constant"]) + 0.2
    assert accuracy(found["fusion"]) > max(accuracy(r) for r in found.values()) - 0.05


def test_the_network_is_a_part_of_the_combination():
    store, numbers, group = groups()
    truth = {n: group[numbers[n]] for n in SPLITS}
    right = {n: CLASSES.answers((0.98 * numpy.eye(3)[truth[n]] + 0.01).astype(numpy.float32), truth[n]) for n in SPLITS}
    network = ComparedModel("sage", "a network", "network", right)
    fused = compare_nodes.of_nodes(store, numbers, truth, CLASSES, network, 0)[0]
    assert fused.simple.network
    assert accuracy(fused) == 1


def candidate(name, right, n=200):
    """A candidate that is right for ``right`` of ``n`` validation nodes of three classes: the last ones, or of a combination the first ones."""
    truth = numpy.arange(n) % 3
    answered = numpy.where(numpy.arange(n)[:: 1 if name == "fusion" else -1] < right, truth, (truth + 1) % 3)
    answers = CLASSES.answers((0.8 * numpy.eye(3)[answered] + 0.1).astype(numpy.float32), truth)
    return ComparedModel(name, name, "estimator", dict.fromkeys(("validation", "test"), answers))


@pytest.mark.parametrize(
    ("scores", "metric", "chosen"),
    [
        ({"sage": 150, "fusion": 149}, "accuracy", "fusion"),
        ({"sage": 150, "fusion": 149}, "f1_macro", "fusion"),
        ({"sage": 150, "fusion": 120}, "accuracy", "sage"),
        ({"sage": 150, "fusion": 120}, "loss", "sage"),
        ({"sage": 140, "fusion": 150}, "accuracy", "fusion"),
        ({"spread": 150, "linear": 149}, "accuracy", "spread"),
        ({"sage": 150, "fusion": 150}, "accuracy", "fusion"),
    ],
)
def test_the_combination_is_delivered_unless_another_is_better_by_more_than_the_standard_error(scores, metric, chosen):
    plan = SimpleNamespace(metric=metric, target=CLASSES, settings=SimpleNamespace(seed=0))
    found = [candidate(name, right) for name, right in scores.items()]
    best, why = choice.best(found, plan)
    assert best.name == chosen
    assert bool(why) == (best.value(plan) < max(r.value(plan) for r in found))
    said = compare.entries(found, best, plan, why)[0]["why"]
    assert said.startswith("Its ") and ("tuned on these nodes" in said) == bool(why)


def test_numbers_of_nodes():
    store, numbers, group = groups()
    values = group + numpy.random.default_rng(1).normal(0, 0.1, len(group))
    truth = {n: values[numbers[n]] for n in SPLITS}
    target = Number(float(truth["train"].mean()), float(truth["train"].std()))
    errors = {r.name: summary(r.answers["test"], 0)["rmse"] for r in compare_nodes.of_nodes(store, numbers, truth, target, None, 0)}
    assert set(errors) == {"spread", "linear", "propagation", "constant"}
    assert errors["spread"] < errors["linear"] < errors["constant"]


def test_a_graph_without_features_has_propagation_alone():
    store, numbers, group = groups()
    store.x = None
    found = compare_nodes.of_nodes(store, numbers, {n: group[numbers[n]] for n in SPLITS}, CLASSES, None, 0)
    assert [r.name for r in found] == ["propagation", "constant"]


def test_what_is_delivered_is_read_back(tmp_path):
    store, numbers, group = groups()
    truth = {n: group[numbers[n]] for n in SPLITS}
    fused = compare_nodes.of_nodes(store, numbers, truth, CLASSES, None, 0)[0]
    fused.simple.save(tmp_path)
    read = node_scores.load(tmp_path)
    outputs = read.outputs(store, numbers["test"], None)
    assert outputs == pytest.approx(fused.answers["test"].probabilities, abs=1e-5)


def test_a_node_that_came_later_is_asked_of_its_neighbours():
    indptr, indices = rows([[0, 1], [1, 2]], 4)
    known = NodeScores(Fusion(("propagation",), (1.0,)), 2, propagated=numpy.array([[0.9, 0.1], [0.2, 0.8]]))
    found = known.outputs(SimpleNamespace(indptr=indptr, indices=indices, x=None), numpy.array([0, 2, 3]), None)
    assert found[0] == pytest.approx([0.9, 0.1])
    assert found[1] == pytest.approx([0.2, 0.8])
    assert found[2].sum() == pytest.approx(1)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param('{"columns": ["other"], "weights": [1], "classes": 2}', id="unknown model"),
        pytest.param('{"columns": ["spread"], "weights": [1], "classes": 5}', id="other classes"),
        pytest.param('{"columns": ["spread"], "weights": [1]}', id="no classes"),
        pytest.param('{"columns": ["propagation"], "weights": [1], "classes": 2}', id="missing file"),
    ],
)
def test_a_damaged_description_is_refused(tmp_path, content):
    simple.Spread(Linear(numpy.zeros((3, 2), numpy.float32), numpy.zeros(2, numpy.float32), 2), 2).save(tmp_path / "spread.safetensors")
    (tmp_path / "fusion.json").write_text(content)
    with pytest.raises((OSError, KeyError, TypeError, ValueError)):
        node_scores.load(tmp_path)


def test_outputs_of_a_network_that_are_missing_are_an_error():
    with pytest.raises(ValueError, match="model are missing"):
        NodeScores(Fusion((MODEL,), (1.0,)), 2).outputs(SimpleNamespace(), numpy.array([0]), None)


def rare_and_frequent_words(rare: float):
    """Two groups that rare words tell where ``rare`` is 1, or frequent ones where it is 0; features of length 1 whose rare words count four times."""
    r = numpy.random.default_rng(0)
    nodes, words = 400, 40
    group = numpy.arange(nodes) % 2
    often = numpy.where(numpy.arange(words) < words // 2, 0.5, 0.05)
    lean = numpy.where(numpy.arange(words) < words // 2, 1 - rare, rare)
    mine = (numpy.arange(words) % 2)[None, :] == group[:, None]
    has = r.random((nodes, words)) < often * (1 + numpy.where(mine, 0.6, -0.6) * lean)
    weights = numpy.where(numpy.arange(words) < words // 2, 1.0, 4.0).astype(numpy.float32)
    x = simple.scaled(has.astype(numpy.float32), weights)
    indptr, indices = rows([[i, (i + 1) % nodes] for i in range(nodes)], nodes)
    order = r.permutation(nodes)
    numbers = {n: numpy.sort(part) for n, part in zip(SPLITS, numpy.split(order, [60, 250]), strict=True)}
    return SimpleNamespace(indptr=indptr, indices=indices, x=x, nodes=nodes), numbers, group, 1 / weights


@pytest.mark.parametrize(("rare", "undone"), [(0.0, True), (1.0, False)])
def test_the_validation_nodes_decide_whether_rare_words_count_more(rare, undone):
    store, numbers, group, plain = rare_and_frequent_words(rare)
    truth = {n: group[numbers[n]] for n in SPLITS}
    two = Classes(("a", "b"))
    given = {r.name: r for r in compare_nodes.of_nodes(store, numbers, truth, two, None, 0)}["linear"]
    found = {r.name: r for r in compare_nodes.of_nodes(store, numbers, truth, two, None, 0, plain)}["linear"]
    assert (found.simple.linear["linear"].columns is not None) == undone
    assert accuracy(found, "validation") >= accuracy(given, "validation")


def test_features_whose_words_count_alike_are_read_back(tmp_path):
    store, numbers, group, plain = rare_and_frequent_words(0.0)
    truth = {n: group[numbers[n]] for n in SPLITS}
    found = {r.name: r for r in compare_nodes.of_nodes(store, numbers, truth, Classes(("a", "b")), None, 0, plain)}["linear"]
    found.simple.save(tmp_path)
    outputs = node_scores.load(tmp_path).outputs(store, numbers["test"], None)
    assert outputs == pytest.approx(found.answers["test"].probabilities, abs=1e-5)
