"""Estimators by hand: the layers of a perceptron, the bounds of their work, classes without rows, and forged files."""

import json
from types import SimpleNamespace

import numpy
import pytest
from safetensors import numpy as safetensors
from sklearn.neural_network import MLPClassifier, MLPRegressor

from trainer import estimators
from trainer.core import registry
from trainer.core.example import Dataset, Example
from trainer.kinds.boosted import boosting
from trainer.kinds.boosted.boosting import Boosted
from trainer.kinds.table import encoded, growing, linear, perceptron, trees
from trainer.kinds.table.encoder import Encoder
from trainer.kinds.table.linear import LinearTable
from trainer.kinds.table.perceptron import PerceptronTable
from trainer.measure.predictions import softmax
from trainer.targets.classes import Classes
from trainer.targets.number import Number

SETTINGS = SimpleNamespace(seed=3, class_weights="none", validation_file="", source=lambda name: "form")
COLUMNS = [{"name": "a", "type": "number", "mean": 1.0, "std": 2.0}, {"name": "b", "type": "category", "categories": ["x", "y"]}]


def small_table(rows: int, task: str = "tabular-classification") -> Dataset:
    """One column of numbers. Half of the rows are of the class "low", the others are of the class "high"."""
    found = [Example("t.csv", i, (str(i),), ("low", "high")[2 * i >= rows]) for i in range(rows)]
    splits = {"train": found, "validation": [], "test": []}
    return Dataset(task, registry.of("table"), splits, ["t.csv"], ("a",), "label", ("high", "low"), {"a": "number"})


def layer(inputs: int, outputs: int, start: float = 0.0) -> perceptron.Layer:
    weights = numpy.arange(inputs * outputs, dtype=numpy.float32).reshape(inputs, outputs) / 8 + numpy.float32(start)
    return weights, numpy.arange(outputs, dtype=numpy.float32) - 1


def small_models(labels: tuple[str, ...]) -> dict[str, LinearTable | PerceptronTable]:
    """A linear model and a perceptron of two layers with made-up weights."""
    width, outputs = Encoder(COLUMNS).width, max(1, len(labels))
    weights, bias = layer(width, outputs)
    return {
        linear.NAME: LinearTable(Encoder(COLUMNS), weights, bias, labels),
        perceptron.NAME: PerceptronTable(Encoder(COLUMNS), (layer(width, 4, -1), layer(4, outputs)), labels),
    }


@pytest.mark.parametrize("classes", [2, 3])
def test_the_layers_of_a_perceptron_give_the_probabilities_of_scikit_learn(classes):
    chance = numpy.random.default_rng(classes)
    values = chance.normal(size=(30, 3)).astype(numpy.float32)
    model = MLPClassifier(hidden_layer_sizes=(4,), random_state=1)
    model.partial_fit(values, numpy.arange(30) % classes, classes=numpy.arange(classes))
    scores = perceptron._scores(perceptron._layers(model, classes, 0.0, 1.0), values)
    assert scores.shape == (30, classes)
    assert softmax(scores.astype(float)) == pytest.approx(model.predict_proba(values), abs=1e-5)


def test_the_last_layer_of_a_perceptron_answers_in_the_unit_of_the_data():
    chance = numpy.random.default_rng(0)
    values = chance.normal(size=(30, 3)).astype(numpy.float32)
    model = MLPRegressor(hidden_layer_sizes=(4,), random_state=1)
    model.partial_fit(values, values[:, 0])
    scores = perceptron._scores(perceptron._layers(model, 0, 1000.0, 50.0), values)
    assert scores[:, 0] == pytest.approx(1000 + 50 * model.predict(values), rel=1e-5)


def test_a_perceptron_sets_negative_numbers_between_its_layers_to_zero():
    hidden = numpy.array([[1, -1]], numpy.float32), numpy.zeros(2, numpy.float32)
    last = numpy.array([[1], [10]], numpy.float32), numpy.array([0.5], numpy.float32)
    assert perceptron._scores((hidden, last), numpy.array([[2], [-3]], numpy.float32))[:, 0].tolist() == [2.5, 30.5]
    assert perceptron._scores((hidden,), numpy.array([[2]], numpy.float32)).tolist() == [[2, -2]]  # the last layer keeps them


@pytest.mark.parametrize(
    ("rows", "size"),
    [(0, 1), (1, 1), (31, 31), (32, 32), (4096, 32), (12_800, 100), (65_536, 512), (10**7, 512)],
)
def test_the_batches_of_a_perceptron_grow_with_the_rows(rows, size):
    assert perceptron._batch(rows) == size


@pytest.mark.parametrize(
    ("rows", "weights", "fits", "wanted"),
    [
        (100, 1000, 1, 100),  # all epochs: the budget is large enough
        (100_000, 10_000, 1, 23),
        (100_000, 10_000, 5, 4),
        (10**6, 10**7, 1, 0),
    ],
)
def test_the_epochs_of_a_perceptron_fit_the_budget(rows, weights, fits, wanted):
    found = perceptron._epochs(rows, weights, fits)
    assert found == wanted
    assert perceptron._epochs(2 * rows, weights, fits) <= found
    assert perceptron._epochs(rows, weights, 2 * fits) <= found


def test_a_perceptron_of_a_long_wide_table_sees_a_sample_of_its_rows():
    rows = 3000
    train = encoded.Encoded(Encoder(COLUMNS), numpy.arange(rows, dtype=numpy.float32)[:, None], numpy.arange(rows), None)
    assert perceptron._affordable(train, 1000, 1) is train
    some, again, other = (perceptron._affordable(train, 10**6, seed) for seed in (1, 1, 2))
    assert 0 < len(some.targets) < rows and (numpy.diff(some.targets) > 0).all()
    assert (some.values[:, 0] == some.targets).all()
    assert (some.targets == again.targets).all() and (some.targets != other.targets).any()
    assert len(perceptron._affordable(train, 10**9, 1).targets) > 700  # fewer rows would not help


@pytest.mark.parametrize(("module", "attribute"), [(linear.linear, "MAX_WEIGHTS"), (perceptron, "_BUDGET_SECONDS")], ids=["linear", "perceptron"])
def test_a_model_that_would_be_too_large_is_not_fitted(module, attribute, monkeypatch):
    monkeypatch.setattr(module, attribute, 0)
    fit = linear.fit if module is linear.linear else perceptron.fit
    data = small_table(8)
    assert fit(data, Classes(data.labels), SETTINGS) is None


@pytest.mark.parametrize("labels", [("no", "yes"), ()], ids=["classes", "numbers"])
@pytest.mark.parametrize("name", [linear.NAME, perceptron.NAME])
def test_a_saved_model_is_the_same_model(name, labels, tmp_path):
    model = small_models(labels)[name]
    model.save(tmp_path)
    again = estimators.of(name).load(tmp_path)
    rows = [Example("t", i, cells, "") for i, cells in enumerate([("1", "x"), ("", "y"), ("-7.5", "unknown"), ("ä", "")])]
    assert (again.outputs(rows) == model.outputs(rows)).all()
    assert (again.labels, again.parameters, again.held_out_loss) == (labels, model.parameters, None)
    assert model.outputs(rows).shape == ((4, 2) if labels else (4,))
    config = json.loads((tmp_path / "config.json").read_text())
    assert (config["model_type"], config["columns"]) == (name, COLUMNS)


def test_the_parameters_are_weights_and_biases():
    models = small_models(("a", "b", "c"))
    width = Encoder(COLUMNS).width
    assert models[linear.NAME].parameters == width * 3 + 3
    assert models[perceptron.NAME].parameters == width * 4 + 4 + 4 * 3 + 3


def test_a_saved_perceptron_has_tensors_as_torch_names_them(tmp_path):
    small_models(("no", "yes"))[perceptron.NAME].save(tmp_path)
    tensors = safetensors.load_file(tmp_path / "weights.safetensors")
    width = Encoder(COLUMNS).width
    shapes = {name: tensor.shape for name, tensor in tensors.items()}
    assert shapes == {"layers.0.weight": (4, width), "layers.0.bias": (4,), "layers.1.weight": (2, 4), "layers.1.bias": (2,)}


WRONG_CONFIGS = {
    "the name of another model": {"model_type": "words"},
    "labels that are numbers": {"labels": [0, 1]},
    "one label too many": {"labels": ["a", "b", "c"]},
    "no labels where there were some": {"labels": []},
    "one column too few": {"columns": COLUMNS[:1]},
    "a column without a scale": {"columns": [{"name": "a", "type": "number"}, COLUMNS[1]]},
    "columns of no list": {"columns": 7},
}


@pytest.mark.parametrize("change", WRONG_CONFIGS.values(), ids=WRONG_CONFIGS)
@pytest.mark.parametrize("name", [linear.NAME, perceptron.NAME])
def test_a_model_with_another_description_is_refused(name, change, tmp_path):
    small_models(("no", "yes"))[name].save(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**config, **change}))
    with pytest.raises((ValueError, KeyError, TypeError)):
        estimators.of(name).load(tmp_path)


@pytest.mark.parametrize("layers", [0, -1, 1, 3, 17, 10**9, "two", None])
def test_a_perceptron_with_another_number_of_layers_is_refused(layers, tmp_path):
    small_models(("no", "yes"))[perceptron.NAME].save(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**config, "layers": layers}))
    with pytest.raises((ValueError, KeyError, TypeError)):
        perceptron.load(tmp_path)


@pytest.mark.parametrize("wrong", [numpy.nan, numpy.inf, -numpy.inf])
@pytest.mark.parametrize("name", [linear.NAME, perceptron.NAME])
def test_weights_that_are_no_finite_numbers_are_refused(name, wrong, tmp_path):
    small_models(("no", "yes"))[name].save(tmp_path)
    file = tmp_path / "weights.safetensors"
    whole = safetensors.load_file(file)
    for tensor in whole:
        changed = {n: t.copy() for n, t in whole.items()}
        changed[tensor].flat[-1] = wrong
        safetensors.save_file(changed, file)
        with pytest.raises(ValueError, match=f"the tensor {tensor} is wrong"):
            estimators.of(name).load(tmp_path)


@pytest.mark.parametrize("gone", ["config.json", "weights.safetensors"])
@pytest.mark.parametrize("name", [linear.NAME, perceptron.NAME])
def test_a_model_without_one_of_its_files_is_refused(name, gone, tmp_path):
    small_models(("no", "yes"))[name].save(tmp_path)
    (tmp_path / gone).unlink()
    with pytest.raises(OSError, match=gone):
        estimators.of(name).load(tmp_path)


@pytest.mark.parametrize(
    ("scores", "classes", "wanted"),
    [
        ([[5.0], [-5.0]], 1, [[1], [1]]),
        ([[0.0], [numpy.log(3)], [1e4], [-1e4]], 2, [[0.5, 0.5], [0.25, 0.75], [0, 1], [1, 0]]),
        ([[0.0, 0.0, numpy.log(2)], [1e4, 0, 0]], 3, [[0.25, 0.25, 0.5], [1, 0, 0]]),
    ],
    ids=["one class", "two classes share a score", "three classes"],
)
def test_scores_of_trees_become_probabilities_without_overflow(scores, classes, wanted):
    assert trees._probabilities(numpy.array(scores), classes) == pytest.approx(numpy.array(wanted))


def test_a_class_without_training_rows_is_unlikely_but_not_impossible():
    found = numpy.array([[0.25, 0.75], [1.0, 0.0]])
    assert trees._with_absent(found, numpy.array([0, 1]), 2, 9) is found
    full = trees._with_absent(found, numpy.array([0, 2]), 3, 9)
    assert full.sum(axis=1) == pytest.approx([1, 1])
    assert full[0] == pytest.approx(numpy.array([0.25, 0.1, 0.75]) / 1.1)
    assert (full[:, 1] > 0).all() and full.argmax(axis=1).tolist() == [2, 0]


@pytest.mark.parametrize(
    ("truth", "present", "losses", "wanted"),
    [
        ([0, 1], [0, 1], [0.7, 0.3], [0.7, 0.3]),
        ([0, 2], [0, 1], [0.7, 0.3], [0.35 + 0.5 * numpy.log(11), 0.15 + 0.5 * numpy.log(11)]),
        ([2, 2], [0, 1], [], [numpy.log(11)]),
        ([1.5, 2.5], [0], [2.0, 1.0], [4.0, 2.0]),  # scikit-learn halves the squared error
    ],
    ids=["all classes known", "half of the rows unknown", "no row known", "numbers"],
)
def test_held_out_rows_of_an_unknown_class_count_as_wrong(truth, present, losses, wanted):
    fitted = Boosted(None, numpy.array(present), numpy.array(losses), None)
    assert growing.whole_curve(fitted, numpy.array(truth), 10) == pytest.approx(wanted)


def test_the_rounds_of_trees_fit_the_budget():
    small, large = boosting.SHAPES[1], boosting.SHAPES[0]
    assert growing.rounds_within(small, 100, 3, 2, 2) == boosting.ROUNDS
    assert growing.rounds_within(large, 10**8, 100, 10, 2) == growing.FEWEST_ROUNDS
    asked = [(10**5, 2, 2), (2 * 10**5, 2, 2), (10**5, 3, 2), (10**5, 2, 10)]
    middle = [growing.rounds_within(large, rows, 20, classes, fits) for rows, classes, fits in asked]
    assert min(middle) > growing.FEWEST_ROUNDS and max(middle) == middle[0] < boosting.ROUNDS
    assert boosting.seconds(large, 1000, 10, 3) == pytest.approx(3 * boosting.seconds(large, 1000, 10, 1))


@pytest.mark.parametrize(
    ("known", "leaves", "bins"),
    [([0], 31, 255), ([], 31, 255), ([0] * 5000, 31, 129), ([0] * 10**6, 31, 2), ([200] + [0] * 10**6, 31, 200), ([254], 31, 255)],
    ids=["narrow", "no column", "wide", "very wide", "wide with many categories", "many categories"],
)
def test_a_wide_table_gets_fewer_bins_but_all_its_categories(known, leaves, bins):
    assert boosting._bins(known, leaves) == bins


def test_trees_of_a_very_long_table_see_an_even_sample(monkeypatch):
    data = small_table(100)
    assert trees._sample(data, 2, 1) is data.splits["train"]
    monkeypatch.setattr(trees, "_MAX_CELLS", 40)
    some, again, other = (trees._sample(data, 2, seed) for seed in (1, 1, 2))
    rows = [e.row for e in some]
    assert len(rows) == 40 and rows == sorted(set(rows)) and some == again != other


@pytest.mark.parametrize("rows", [[5], [5, 9]])
def test_trees_of_a_single_class_always_answer_it(rows, tmp_path):
    data = small_table(2)
    data.splits["train"] = [Example("t.csv", i, (str(i),), "low") for i in rows]
    model = trees.fit(data, Classes(data.labels), SETTINGS)
    model.save(tmp_path)
    for one in (model, trees.load(tmp_path)):
        found = one.outputs([Example("t.csv", 1, ("3",), ""), Example("t.csv", 2, ("",), "")])
        assert (found.argmax(axis=1) == 1).all() and (found[:, 0] > 0).all()


def test_rows_of_another_label_are_no_part_of_what_trees_learn():
    data = small_table(4)
    columns = trees.Columns.learn(data, data.splits["train"])
    strange = [*data.splits["train"], Example("t.csv", 9, ("9",), "neither")]
    found = growing.rows_of(columns, strange, Classes(data.labels), data, SETTINGS)
    assert (found.targets.tolist(), found.cells[:, 0].tolist(), found.weights) == ([1, 1, 0, 0], [0, 1, 2, 3], None)
    asked = SimpleNamespace(seed=1, class_weights="balanced", source=lambda name: "form")
    assert growing.rows_of(columns, strange, Classes(data.labels), data, asked).weights.tolist() == [1, 1, 1, 1]
    numbers = [Example("t.csv", 1, ("2",), "2.5")]
    assert growing.rows_of(columns, numbers, Number(0.0, 1.0), data, asked).weights is None


def test_chosen_rows_keep_their_weights():
    rows = boosting.Rows(numpy.arange(6.0).reshape(3, 2), numpy.array([0, 1, 0]), numpy.array([0.5, 1.0, 2.0]))
    some = rows.chosen(numpy.array([2, 0]))
    assert (some.cells.tolist(), some.targets.tolist(), some.weights.tolist(), len(some)) == ([[4, 5], [0, 1]], [0, 0], [2, 0.5], 2)
    assert boosting.Rows(rows.cells, rows.targets).chosen(numpy.array([1])).weights is None
