"""The simple models beside a network by themselves: what they compute, the order of the candidates, and files that are no such models."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy
import pyarrow
import pytest
from safetensors.numpy import save_file
from test_graph_delivery import answers, graph

from trainer.kinds.graph import champion, store as stores
from trainer.kinds.graph.comparison import choice, compare, compare_nodes, neighbours, node_scores, nodes as simple
from trainer.kinds.graph.comparison.compare import FUSION, ComparedModel
from trainer.kinds.graph.comparison.fusion import MODEL, Fusion
from trainer.kinds.graph.comparison.neighbours import Neighbours
from trainer.kinds.graph.comparison.node_scores import LINEAR, PROPAGATION, SPREAD, NodeScores
from trainer.kinds.graph.comparison.nodes import Spread
from trainer.kinds.graph.delivery import stored
from trainer.kinds.graph.graph import CLASSES
from trainer.kinds.graph.links import LinkAnswers
from trainer.kinds.graph.target import Links
from trainer.launch.outcome import Outcome
from trainer.measure.linear import Linear
from trainer.measure.predictions import Predictions
from trainer.targets.classes import Classes
from trainer.targets.number import Number

TWO = Classes(("a", "b"))
NUMBER = Number(10.0, 2.0)
ABOUT = {"left": 0, "directed": False, "seed": 1, "network": False, "threshold": 0.5}  # of an earlier version


def plan(metric: str, target=TWO):
    return SimpleNamespace(metric=metric, target=target, settings=SimpleNamespace(seed=0))


def near(pairs, nodes: int, x=None) -> Neighbours:
    """The neighbours by these edges."""
    both = numpy.array(sorted({*map(tuple, pairs), *((b, a) for a, b in pairs)}), int).reshape(-1, 2)
    return Neighbours(numpy.r_[0, numpy.cumsum(numpy.bincount(both[:, 0], minlength=nodes))], both[:, 1].astype(numpy.int32), x)


# The order of the candidates.


def of_numbers(name: str, error: float, **more) -> ComparedModel:
    found = {n: Predictions(numpy.zeros(30), numpy.full(30, error)) for n in ("validation", "test")}
    return ComparedModel(name, f"title of {name}", "estimator", found, **more)


def of_ranks(name: str, rank: float) -> ComparedModel:
    return ComparedModel(name, name, "heuristic", {n: answers(numpy.ones(30), numpy.zeros(30), numpy.full(30, rank)) for n in ("validation", "test")})


def test_candidates_stand_in_the_order_of_the_metric_after_the_chosen_one():
    found = [of_numbers("far", 3.0), of_numbers("near", 0.5, parameters=7, base="sage"), of_numbers("chosen", 1.0, seconds=1.5, cpu=2.344)]
    listed = compare.entries(found, found[2], plan("mae", NUMBER))
    assert [e["name"] for e in listed] == ["chosen", "near", "far"] and [e["chosen"] for e in listed] == [True, False, False]
    assert listed[0]["why"].endswith("on the validation nodes is the best: 1.")
    assert listed[1]["why"].endswith("on the validation nodes is 0.5, that of chosen 1.")
    assert (listed[1]["parameters"], listed[1]["base"], listed[0]["seconds"], listed[0]["cpu_seconds"]) == (7, "sage", 1.5, 2.34)
    assert "parameters" not in listed[0] and "base" not in listed[0] and listed[0]["test"]["mae"]["value"] == 1
    assert compare.entries(found, found[2], plan("mae", NUMBER), "It was asked for.")[0]["why"] == "It was asked for."


def test_a_candidate_without_a_figure_is_the_last_one():
    empty = ComparedModel("empty", "empty", "estimator", {n: answers([], []) for n in ("validation", "test")})
    found = [empty, of_ranks("slow", 4.0), of_ranks("fast", 2.0)]
    best, why = choice.best(found, plan("mrr", Links()))
    assert best.name == "fast" and why == ""
    listed = compare.entries(found, best, plan("mrr", Links()))
    assert [e["name"] for e in listed] == ["fast", "slow", "empty"] and "test" not in listed[2] and "validation edges" in listed[0]["why"]
    assert choice.best([empty, empty], plan("mrr", Links()))[0] is empty


def test_the_best_score_of_pairs_is_delivered_though_the_combination_is_nearly_as_good():
    assert choice.best([of_ranks(FUSION, 2.0001), of_ranks("sage", 2.0)], plan("mrr", Links()))[0].name == "sage"


def test_of_equal_candidates_the_first_is_delivered():
    assert choice.best([of_ranks("one", 2.0), of_ranks("two", 2.0)], plan("mrr", Links()))[0].name == "one"


def outcome(found: dict) -> Outcome:
    workers = [{"cpu_seconds": 1.5}, {"cpu_seconds": 2.0}]
    return Outcome(Path("/s"), "cpu", 1, 99, 0.1, 1, "fp32", "", 1.0, None, 7.0, 1.0, 1.0, 0, workers, found, None, {}, {})


def test_the_network_is_measured_at_the_threshold_of_the_validation_edges():
    held = LinkAnswers(numpy.array([3.0, 5.0]), numpy.array([0.0, 1.0]), numpy.ones(2), numpy.arange(2), 5)
    found = compare.of_network(outcome({"validation": held, "test": answers([9.0], [8.0])}), "sage")
    assert (found.parameters, found.seconds, found.cpu, found.title) == (99, 7.0, 3.5, "sage from random weights")
    assert found.answers["test"].threshold == 2.0 and found.answers["validation"].threshold is None and found.simple is None
    of_classes = {n: Predictions(numpy.zeros(1, int), numpy.zeros(1, int)) for n in ("validation", "test")}
    assert compare.of_network(outcome(of_classes), "sage").answers["test"] is of_classes["test"]


# What they compute.


@pytest.mark.parametrize("name", ["near", "lengths"])
def test_nodes_without_features_have_no_likeness(name):
    graph = near([[0, 1]], 2)
    assert graph.names == neighbours.NAMES
    with pytest.raises(ValueError, match="no features"):
        getattr(graph, name)


def test_features_that_are_too_large_are_not_averaged(monkeypatch):
    graph = near([[0, 1]], 2, numpy.ones((2, 3), numpy.float32))
    assert graph.names[-2:] == ("cosine", "spread_cosine")
    monkeypatch.setattr(simple, "_MOST", 5)
    assert graph.names[-1] == "cosine"
    store = SimpleNamespace(indptr=graph.indptr, indices=graph.indices, x=graph.x, nodes=2)
    numbers = {"train": numpy.array([0]), "validation": numpy.array([1]), "test": numpy.array([1])}
    truth = {n: numpy.zeros(1, int) for n in numbers}
    assert [r.name for r in compare_nodes.of_nodes(store, numbers, truth, TWO, None, 0)] == ["propagation", "constant"]


@pytest.mark.parametrize(("limit", "value"), [("_BLOCK", 1), ("_BLOCK", 2), ("_CELLS", 1), ("_CELLS", 100)])
def test_columns_do_not_depend_on_what_is_computed_at_once(monkeypatch, limit, value):
    r = numpy.random.default_rng(0)
    pairs, x = r.integers(0, 12, (30, 2)), r.standard_normal((12, 4)).astype(numpy.float32)
    pairs, x[3] = pairs[pairs[:, 0] != pairs[:, 1]], 0
    source, targets = r.integers(0, 12, 9), r.integers(0, 12, (9, 5))
    whole = near(pairs, 12, x).columns(source, targets)
    monkeypatch.setattr(neighbours, limit, value)
    again = near(pairs, 12, x).columns(source, targets)
    assert numpy.allclose(whole, again, atol=1e-6) and numpy.isfinite(whole).all()
    one = near(pairs, 12, x).columns(source, targets, ("cosine", "adamic_adar"))
    names = near(pairs, 12, x).names
    assert numpy.allclose(one, whole[..., [names.index("cosine"), names.index("adamic_adar")]], atol=1e-6)
    assert not one[source == 3][..., 0].any()  # a node without features is like none


def test_no_pairs_have_no_columns():
    graph = near([[0, 1]], 2)
    assert graph.columns(numpy.zeros(0, int), numpy.zeros((0, 4), int)).shape == (0, 4, len(neighbours.NAMES))


def test_neighbours_with_many_neighbours_are_left_out_of_the_walks_of_a_hub(monkeypatch):
    # Node 0 is joined with 1, which has one other neighbour, and with 2, which has four.
    graph = near([[0, 1], [0, 2], [1, 3], [2, 3], [2, 4], [2, 5], [2, 6]], 7)
    wanted = numpy.array([0]), numpy.array([[3, 4]])
    assert graph.columns(*wanted, ("common_neighbours",))[0, :, 0].tolist() == pytest.approx([2**0.5, 1])
    monkeypatch.setattr(neighbours, "_MOST_STEPS", 3)
    assert graph.columns(*wanted, ("common_neighbours",))[0, :, 0].tolist() == [1, 0]


def test_some_neighbours_of_a_target_stand_for_all(monkeypatch):
    graph = near([[0, 1], [1, 2], [2, 3], [1, 4], [4, 3]], 5)
    whole = graph.columns(numpy.array([0]), numpy.array([[3]]), ("three_steps",))
    monkeypatch.setattr(neighbours, "_MOST_NEAR", 1)
    assert graph.columns(numpy.array([0]), numpy.array([[3]]), ("three_steps",)) == pytest.approx(whole)  # both neighbours of 3 are alike


def test_labels_do_not_reach_another_component():
    graph = near([[0, 1], [2, 3]], 5)
    found = simple.propagate(graph.indptr, graph.indices, numpy.array([0, 1, 4]), numpy.array([0, 0, 1]), TWO)
    assert found.sum(axis=1) == pytest.approx(numpy.ones(5)) and found[0, 0] > 0.99 and found[4, 1] > 0.99
    assert found[2] == pytest.approx([2 / 3, 1 / 3], abs=1e-3)  # the shares of the classes
    numbers = simple.propagate(graph.indptr, graph.indices, numpy.array([0]), numpy.array([14.0]), NUMBER)
    assert numbers[:, 0].tolist() == pytest.approx([14, 14, 10, 10, 10])


def test_scaled_features_have_one_length():
    x = numpy.array([[3.0, 4.0], [0.0, 0.0]])
    assert simple.scaled(x, None).tolist() == x.tolist()
    assert simple.scaled(x, numpy.array([1.0, 0.0], numpy.float32)).tolist() == [[1, 0], [0, 0]]


def linear(width: int = 2, classes: int = 2) -> Linear:
    shape = (width, max(1, classes))
    return Linear(numpy.arange(width * shape[1], dtype=numpy.float32).reshape(shape), numpy.ones(shape[1], numpy.float32), classes)


@pytest.mark.parametrize("columns", [None, numpy.array([2.0, 0.5], numpy.float32)], ids=["as they are", "scaled"])
@pytest.mark.parametrize(("classes", "steps"), [(2, 0), (3, 2), (0, 1)])
def test_a_linear_model_is_read_back(tmp_path, classes, steps, columns):
    model = Spread(linear(2, classes), steps, columns)
    model.save(tmp_path / "m.safetensors")
    again, graph = simple.load(tmp_path / "m.safetensors"), near([[0, 1], [1, 2]], 3)
    x, wanted = numpy.array([[1.0, 2], [0, 1], [3, 0]], numpy.float32), numpy.array([2, 0])
    found = again.outputs(graph.indptr, graph.indices, x, wanted)
    assert found.tolist() == model.outputs(graph.indptr, graph.indices, x, wanted).tolist()
    assert found.shape == ((2, classes) if classes else (2,)) and again.steps == steps and again.parameters == 3 * max(1, classes)


@pytest.mark.parametrize(
    ("tensors", "told", "error"),
    [
        pytest.param({"bias": numpy.ones(3, numpy.float32)}, {}, "other shapes", id="bias"),
        pytest.param({"weights": numpy.ones(2, numpy.float32)}, {}, "other shapes", id="weights in a line"),
        pytest.param({"weights": numpy.ones((2, 5), numpy.float32)}, {}, "other shapes", id="weights of other classes"),
        pytest.param({"columns": numpy.ones(3, numpy.float32)}, {}, "other shapes", id="columns of another width"),
        pytest.param({}, {"steps": "17"}, "other shapes", id="too many steps"),
        pytest.param({}, {"steps": "-1"}, "other shapes", id="negative steps"),
        pytest.param({}, {"classes": "5"}, "other shapes", id="other classes"),
        pytest.param({}, {"classes": "two"}, "two", id="classes in words"),
    ],
)
def test_files_that_are_no_linear_model_are_refused(tmp_path, tensors, told, error):
    plain = {"weights": linear().weights, "bias": linear().bias}
    save_file({**plain, **tensors}, tmp_path / "m.safetensors", metadata={"classes": "2", "steps": "2", **told})
    with pytest.raises(ValueError, match=error):
        simple.load(tmp_path / "m.safetensors")


def test_a_file_without_what_a_linear_model_says_is_refused(tmp_path):
    save_file({"weights": linear().weights, "bias": linear().bias}, tmp_path / "m.safetensors")
    with pytest.raises(KeyError):
        simple.load(tmp_path / "m.safetensors")
    (tmp_path / "m.safetensors").write_bytes(b"nonsense")
    with pytest.raises(ValueError, match=r"m\.safetensors cannot be read"):
        simple.load(tmp_path / "m.safetensors")


# What is delivered for nodes.


def test_a_combination_is_the_weighted_product_of_probabilities():
    graph = near([[0, 1]], 2, numpy.eye(2, dtype=numpy.float32))
    scores = NodeScores(Fusion((MODEL, PROPAGATION), (1.0, 2.0)), 2, propagated=numpy.array([[0.5, 0.5], [0.8, 0.2]]))
    found = scores.outputs(graph, numpy.array([0, 1]), numpy.array([[0.9, 0.1], [0.5, 0.5]]))
    assert found == pytest.approx(numpy.array([[0.9, 0.1], [16 / 17, 1 / 17]]))
    assert scores.network and scores.parameters == 2
    with pytest.raises(ValueError, match="propagation are missing"):
        NodeScores(Fusion((PROPAGATION,), (1.0,)), 2).outputs(graph, numpy.array([0]), None)


@pytest.mark.parametrize("classes", [0, 2])
def test_propagated_labels_are_read_back(tmp_path, classes):
    known = numpy.array([[0.25, 0.75], [0.5, 0.5]]) if classes else numpy.array([[3.0], [4.0]])
    NodeScores(Fusion((PROPAGATION,), (1.0,)), classes, propagated=known).save(tmp_path)
    read = node_scores.load(tmp_path)
    assert read.propagated.tolist() == known.tolist() and (read.classes, read.network, read.parameters) == (classes, False, 0)
    found = read.outputs(near([[0, 1]], 2), numpy.array([1]), None)
    assert found.tolist() == pytest.approx(numpy.array([[0.5, 0.5]]) if classes else [4.0])


def test_parameters_are_those_of_the_models_and_their_weights():
    models = {SPREAD: Spread(linear(), 2), LINEAR: Spread(linear(), 0)}
    assert NodeScores(Fusion((SPREAD,), (1.0,)), 2, models).parameters == 6
    assert NodeScores(Fusion((SPREAD, LINEAR, MODEL), (1.0,) * 3), 2, models).parameters == 15


@pytest.mark.parametrize(
    ("content", "error"),
    [
        pytest.param({"propagated": numpy.ones(3, numpy.float32)}, "other tensors", id="a line"),
        pytest.param({"propagated": numpy.full((2, 2), numpy.nan, numpy.float32)}, "other tensors", id="no numbers"),
        pytest.param({"propagated": numpy.ones((2, 3), numpy.float32)}, "different classes", id="other classes"),
        pytest.param({"other": numpy.ones((2, 2), numpy.float32)}, "cannot be read", id="another tensor"),
        pytest.param(b"nonsense", "cannot be read", id="another file"),
    ],
)
def test_propagated_labels_that_are_damaged_are_refused(tmp_path, content, error):
    (tmp_path / "fusion.json").write_text(json.dumps({"columns": [PROPAGATION], "weights": [1.0], "classes": 2}))
    if isinstance(content, bytes):
        (tmp_path / "propagation.safetensors").write_bytes(content)
    else:
        save_file(content, tmp_path / "propagation.safetensors")
    with pytest.raises(ValueError, match=error):
        node_scores.load(tmp_path)


def test_the_columns_of_a_class_are_the_logarithms_of_the_others():
    found = node_scores.columns({"one": numpy.array([[0.5, 0.25, 0.25], [0.0, 1.0, 0.0]])}, numpy.array([2, 1]))
    assert found.edges[:, 0] == pytest.approx(numpy.log([0.25, 1])) and len(found.pairs) == 0
    assert found.candidates[0, :, 0] == pytest.approx(numpy.log([0.5, 0.25])) and numpy.isfinite(found.candidates).all()


# An earlier version of the model.


@pytest.fixture
def compared(tmp_path, monkeypatch):
    """compared(changes, ids) is the champion that was trained on a graph with these ``ids``, or why it cannot be compared."""

    def made(changes=None, ids=("n0", "n1", "n2"), wanted: int = 2, about=None):
        described = {"task": "link-prediction", "target": {}, "graph": {**ABOUT, **(about or {})}}
        theirs = Links() if (changes or {}).get("task") != CLASSES else TWO
        monkeypatch.setattr(champion.saved_model, "description", lambda folder: described | (changes or {}))
        monkeypatch.setattr(champion.registry, "restored", lambda told: theirs)
        g = graph([[0, 1], [1, 2]], 3, x=numpy.ones((3, 2), numpy.float32))
        folder = tmp_path / "champion"
        folder.mkdir()
        stored.write(folder / stored.NAME, g)
        (folder / "fusion.json").write_text(json.dumps({"columns": ["common_neighbours"], "weights": [1.0]}))
        mine = stores.build(tmp_path / "graph", 3, g.source, g.target, None, g.x)
        spec = SimpleNamespace(champion=SimpleNamespace(folder=folder), work=tmp_path)
        own = graph([[0, 1], [1, 2]], 3)
        own = type(own)(pyarrow.array(list(ids)), own.source, own.target)
        prefix = mine.folder / "measured-test"
        parts = {"source": [0, 2], "target": [1, 1], "pairs": [[0, 2], [2, 0]], "candidates": [[2], [0]]}
        for name, values in parts.items():
            numpy.save(f"{prefix}-{name}.npy", numpy.array(values))
        return champion.prepare(spec, own, Links(), 1, mine, prefix, numpy.zeros(0, int), numpy.zeros(wanted, numpy.int8))

    return made


def test_without_an_earlier_version_nothing_is_compared():
    assert champion.prepare(SimpleNamespace(champion=None), None, None, 1, None, None, None, None) is None


@pytest.mark.parametrize(
    ("given", "why"),
    [
        pytest.param({"changes": {"task": CLASSES}}, "it was trained for node-classification", id="another task"),
        pytest.param({"wanted": 0}, "there are no test rows", id="no test rows"),
        pytest.param({"about": {"seed": 2}}, "it was trained with another seed", id="another seed"),
        pytest.param({"about": {"directed": True}}, "it was trained on a graph of another kind", id="a direction"),
        pytest.param({"about": {"left": 2}}, "it was trained on a graph of another kind", id="two sides"),
        pytest.param({"ids": ("n0", "n1", "N2")}, "it does not know 1 node of this data", id="an unknown node"),
        pytest.param({"about": {"left": None}}, "its files cannot be read (TypeError)", id="a damaged description"),
        pytest.param({"about": {"network": True}}, "its files cannot be read", id="no network"),
    ],
)
def test_an_earlier_version_that_cannot_be_compared_says_why(compared, given, why):
    found = compared(**given)
    assert found.saved.why.startswith(why) and found.tested is None and found.answers(None) is None


def test_an_earlier_version_answers_for_the_test_edges_of_this_run(compared):
    found = compared()
    outputs = found.answers(None)
    assert not found.saved.why and outputs.threshold == 0.5 and found.saved.rows is None
    assert outputs.positive.tolist() == [0, 0] and outputs.negative.tolist() == [1, 1] and outputs.ranks.tolist() == [2, 2]
    with pytest.raises(TypeError, match="a table of all nodes answers"):
        found.tested.batch(numpy.zeros(1, int))
