"""Gradient-boosted trees: predictions like scikit-learn's bit for bit, files without pickle, and damaged or forged files."""

import json
import warnings
from dataclasses import replace
from types import SimpleNamespace

import numpy
import pytest
from safetensors import SafetensorError, numpy as safetensors
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from trainer.core import registry
from trainer.core.example import Dataset, Example
from trainer.data.columns.features import TEXT
from trainer.estimators import folds
from trainer.kinds.boosted import averaged, boosting, forest
from trainer.kinds.derived import part as parts
from trainer.kinds.table import growing, held_out, linear, perceptron, trees

SETTINGS = SimpleNamespace(seed=3, class_weights="none", validation_file="", source=lambda name: "form")


def dataset(rows: list[list], labels: list, types: list[str], regression: bool = False) -> Dataset:
    """Rows of cells in an order drawn by chance; an eighth are validation rows and an eighth are test rows."""
    order = numpy.random.default_rng(5).permutation(len(rows))
    examples = [Example("t.csv", int(i) + 2, tuple(map(str, rows[i])), str(labels[i])) for i in order]
    eighth = len(examples) // 8
    names = tuple(f"column {i}" for i in range(len(types)))
    splits = {"train": examples[2 * eighth :], "validation": examples[:eighth], "test": examples[eighth : 2 * eighth]}
    known = () if regression else tuple(sorted({e.target for e in splits["train"]}))
    task = f"tabular-{'regression' if regression else 'classification'}"
    return Dataset(task, registry.of("table"), splits, ["t.csv"], names, "label", known, dict(zip(names, types, strict=True)))


def mixed(rows: int = 240, regression: bool = False) -> Dataset:
    """Numbers with empty cells and a category of six values, of which both matter."""
    chance = numpy.random.default_rng(1)
    cells, labels = [], []
    for _ in range(rows):
        a, b, colour = chance.normal(), chance.normal(), int(chance.integers(6))
        value = a * (colour % 2) + (colour > 3) + 0.1 * chance.normal()
        cells.append(["" if chance.random() < 0.1 else a, b, "abcdef"[colour]])
        labels.append(value if regression else int(value > 0.5) + int(value > 1.2))
    return dataset(cells, labels, ["number", "number", "category"], regression)


def held_of(data: Dataset):
    return held_out.rows(data, target_of(data), SETTINGS)


def target_of(data: Dataset):
    return data.kind.target(data)


def fitted(data: Dataset, module=trees, **settings):
    return module.fit(data, target_of(data), SimpleNamespace(**{**vars(SETTINGS), **settings}))


def test_only_trees_that_see_some_columns_at_a_time_read_words_one_by_one(tmp_path):
    notes = [f"{'dry' if i % 3 else 'wet'} ground {'near the river' if i % 2 else 'on the hill'} {i}" for i in range(120)]
    data = dataset([[i % 7, note] for i, note in enumerate(notes)], ["no" if "dry" in n else "yes" for n in notes], ["number", TEXT])
    part = parts.learn(TEXT, [e.content[1] for e in data.splits["train"]])
    found = fitted(replace(data, learnt={"column 1": part}))
    of_all, of_some = (h.model() for h in found.held_out)
    words = {name for _, name in of_some.columns.sources} - {name for _, name in of_all.columns.sources}
    assert 'the word "wet"' in words and len(words) == len(parts.wide(part).names) - len(part.names)
    of_some.save(tmp_path)
    assert (trees.load(tmp_path).outputs(data.splits["test"]) == of_some.outputs(data.splits["test"])).all()


@pytest.mark.parametrize("classes", [0, 2, 3], ids=["numbers", "two classes", "three classes"])
def test_the_scores_are_those_of_scikit_learn(classes, monkeypatch):
    chance = numpy.random.default_rng(classes)
    cells = chance.normal(size=(600, 5))
    cells[:, 3] = chance.integers(0, 40, 600)
    cells[:40, 3] = numpy.arange(40)
    value = cells[:, 0] * cells[:, 1] + (cells[:, 3] % 3 == 1)
    cells[chance.random(cells.shape) < 0.1] = numpy.nan
    cells[:40, 3] = numpy.arange(40)
    wanted = value if not classes else numpy.digitize(value, [0.3, 0.9][: classes - 1])
    shape = boosting.SHAPES[0]
    found = boosting.fit(boosting.Rows(cells, wanted), None, [0, 0, 0, 40, 0], classes, shape, 30, 7)
    theirs = (HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor)(
        max_iter=30, early_stopping=False, random_state=7, categorical_features=[3]
    ).fit(cells, wanted)
    other = chance.normal(size=(500, 5)) * 2
    other[:, 3] = chance.integers(0, 40, 500)
    other[chance.random(other.shape) < 0.2] = numpy.nan
    expected = theirs.decision_function(other) if classes else theirs.predict(other)
    assert (found.forest.scores(other) == expected.reshape(len(other), -1)).all()
    monkeypatch.setattr(forest, "_MANY", 0)  # compiled code answers
    assert (found.forest.scores(other) == expected.reshape(len(other), -1)).all()
    joined = averaged.mean([found.forest.first(11), found.forest])
    compiled = joined.scores(other)
    monkeypatch.undo()
    assert (compiled == joined.scores(other)).all()
    assert (found.forest.subset >= 0).any()


@pytest.mark.parametrize(("rounds", "rate"), [(500, 0.05), (400, 0.0625), (250, 0.1), (20, 0.1)])
def test_trees_with_fewer_rounds_learn_faster(rounds, rate):
    first, second = (boosting.faster(shape, rounds).learning_rate for shape in boosting.SHAPES)
    assert (first, second) == (0.1, pytest.approx(rate))


@pytest.mark.parametrize(
    ("most", "behind", "enough", "names"),
    [(40, 0.0, 10, growing.NAMES[1:]), (40, 100.0, 10, growing.NAMES), (500, 0.0, 10, growing.NAMES), (40, 0.0, 100, growing.NAMES)],
    ids=["behind", "not behind", "time for all rounds", "few rows"],
)
def test_a_shape_that_is_far_behind_in_one_fold_is_not_fitted_in_others_where_time_is_short(most, behind, enough, names, monkeypatch):
    monkeypatch.setattr(folds, "ENOUGH", enough)
    monkeypatch.setattr(growing, "rounds_within", lambda *_: most)
    monkeypatch.setattr(trees, "_BEHIND", behind)
    data = mixed(80, regression=True)
    assert [h.name for h in trees.in_folds(data, target_of(data), SETTINGS, held_of(data))] == list(names)


@pytest.mark.parametrize("module", [trees, linear, perceptron], ids=lambda m: m.NAME)
def test_answers_to_held_out_rows_are_those_of_the_fit(module):
    data = mixed(120, regression=True)
    alone, beside = module.in_folds(data, target_of(data), SETTINGS, held_of(data)), fitted(data, module).held_out
    assert [h.name for h in alone] == [h.name for h in beside] and alone
    assert all((a.outputs == b.outputs).all() for a, b in zip(alone, beside, strict=True))


@pytest.mark.parametrize("regression", [False, True], ids=["classes", "numbers"])
@pytest.mark.parametrize("module", [trees, linear, perceptron], ids=lambda m: m.NAME)
def test_a_saved_model_answers_as_before_and_learnt_something(module, regression, tmp_path):
    data = mixed(regression=regression)
    model = fitted(data, module)
    test = data.splits["test"]
    model.save(tmp_path)
    again = module.load(tmp_path)
    assert (again.outputs(test) == model.outputs(test)).all()
    assert model.parameters == again.parameters > 0
    assert {f.name for f in tmp_path.iterdir()} == {"weights.safetensors", "config.json"}
    truth = target_of(data).encode([e.target for e in test])
    if regression:
        assert ((model.outputs(test) - truth) ** 2).mean() < 0.7 * truth.var()
    else:
        assert model.outputs(test).sum(axis=1) == pytest.approx(numpy.ones(len(test)))
        assert (model.outputs(test).argmax(axis=1) == truth).mean() > 0.6


@pytest.mark.parametrize("module", [trees, linear, perceptron], ids=lambda m: m.NAME)
def test_the_same_seed_gives_the_same_bits(module, tmp_path):
    data = mixed(120)
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        fitted(data, module).save(tmp_path / name)
    for file in ("weights.safetensors", "config.json"):
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()


@pytest.mark.parametrize("module", [trees, linear, perceptron], ids=lambda m: m.NAME)
def test_unknown_categories_and_empty_cells_are_answered(module):
    model = fitted(mixed(), module)
    rows = [Example("t", 2, cells, "") for cells in (("", "", ""), ("1e99", "-1e99", "violet"), ("nan", "x", "a"))]
    assert numpy.isfinite(model.outputs(rows)).all()
    assert model.outputs([]).shape == (0, 3)


EDGES = {
    "ten rows of two classes": lambda: dataset([[i, i % 2] for i in range(10)], ["a", "b"] * 5, ["number", "number"]),
    "a class of one row": lambda: dataset([[i] for i in range(30)], ["a"] * 15 + ["b"] * 14 + ["c"], ["number"]),
    "a column of empty cells": lambda: dataset([["", "", i] for i in range(40)], ["a", "b"] * 20, ["number", "category", "number"]),
    "one value in all rows": lambda: dataset([["same", 1] for _ in range(40)], ["a", "b"] * 20, ["category", "number"]),
    "more categories than trees tell apart": lambda: dataset([[f"c{i % 300}"] for i in range(900)], [i % 2 for i in range(900)], ["category"]),
    "more columns than rows": lambda: dataset([[(i * j) % 7 for j in range(200)] for i in range(40)], ["a", "b"] * 20, ["number"] * 200),
}


@pytest.mark.parametrize("name", EDGES)
@pytest.mark.parametrize("module", [trees, linear, perceptron], ids=lambda m: m.NAME)
def test_unusual_tables(module, name, tmp_path):
    data = EDGES[name]()
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        model = fitted(data, module)
        model.save(tmp_path)
        found = module.load(tmp_path).outputs(data.splits["test"])
    assert found.shape == (len(data.splits["test"]), len(data.labels))
    assert numpy.isfinite(found).all()


def test_validation_rows_do_not_judge_alone_unless_a_person_chose_them(trees_of_mixed):
    assert trees_of_mixed.held_out_loss is not None
    assert fitted(mixed(120), validation_file="held.csv").held_out_loss is None


def test_balanced_weights_find_the_rare_class():
    chance = numpy.random.default_rng(2)
    labels = (chance.random(800) < 0.06).astype(int)
    data = dataset([[x + 1.2 * y] for x, y in zip(chance.normal(size=800), labels, strict=True)], labels.tolist(), ["number"])
    rare = [e for rows in data.splits.values() for e in rows if e.target == "1"]
    for module in (trees, linear):
        plain, weighted = (fitted(data, module, class_weights=w).outputs(rare).argmax(axis=1).mean() for w in ("none", "balanced"))
        assert weighted > plain + 0.3


def test_better_than_chance_on_known_sets():
    cells, labels = load_iris(return_X_y=True)
    data = dataset(cells.tolist(), labels.tolist(), ["number"] * 4)
    truth = target_of(data).encode([e.target for e in data.splits["test"]])
    assert (fitted(data).outputs(data.splits["test"]).argmax(axis=1) == truth).mean() > 0.8
    cells, numbers = load_diabetes(return_X_y=True)
    data = dataset(cells.tolist(), numbers.tolist(), ["number"] * 10, regression=True)
    truth = target_of(data).encode([e.target for e in data.splits["test"]])
    assert ((fitted(data).outputs(data.splits["test"]) - truth) ** 2).mean() < 0.8 * truth.var()


@pytest.fixture(scope="module")
def trees_of_mixed():
    return fitted(mixed(120))


@pytest.fixture
def saved(trees_of_mixed, tmp_path):
    trees_of_mixed.save(tmp_path)
    return tmp_path


def inner(folder) -> int:
    tensors = safetensors.load_file(folder / "weights.safetensors")
    return int(numpy.flatnonzero(tensors["left"] != numpy.arange(len(tensors["left"])))[0])


FORGED = {
    "a child behind the nodes": lambda t, i: t["left"].__setitem__(i, 2**31 - 1),
    "a child before its node": lambda t, i: t["right"].__setitem__(i, i - 1),
    "a negative child": lambda t, i: t["left"].__setitem__(i, -5),
    "a leaf with a child": lambda t, i: t["left"].__setitem__(i, i),
    "a column that does not exist": lambda t, i: t["feature"].__setitem__(i, 99),
    "a negative column": lambda t, i: t["feature"].__setitem__(i, -1),
    "a subset that does not exist": lambda t, i: t["subset"].__setitem__(i, 10**6),
    "a tree behind the nodes": lambda t, i: t["roots"].__setitem__(0, 10**6),
    "a leaf that is not a number": lambda t, i: t["value"].__setitem__(-1, numpy.nan),
    "a start that is not a number": lambda t, i: t["start"].__setitem__(0, numpy.inf),
    "other outputs than classes": lambda t, i: t.__setitem__("start", t["start"][:2].copy()),
    "too few thresholds": lambda t, i: t.__setitem__("value", t["value"][:-1].copy()),
    "numbers of another type": lambda t, i: t.__setitem__("left", t["left"].astype(numpy.float32)),
    "subsets of another width": lambda t, i: t.__setitem__("categories", numpy.zeros((3, 4), numpy.uint32)),
    "a lacking tensor": lambda t, i: t.pop("missing_left"),
}


@pytest.mark.parametrize("name", FORGED)
def test_forged_trees_are_refused(name, saved):
    tensors = safetensors.load_file(saved / "weights.safetensors")
    FORGED[name](tensors, inner(saved))
    safetensors.save_file(tensors, saved / "weights.safetensors")
    with pytest.raises((ValueError, KeyError)):
        trees.load(saved)


def test_a_path_without_end_is_refused(saved):
    nodes = numpy.arange(5000, dtype=numpy.int32)
    tensors = safetensors.load_file(saved / "weights.safetensors")
    chain = numpy.minimum(nodes + 1, len(nodes) - 1)
    forged = {
        **tensors, "roots": numpy.zeros(3, numpy.int32), "feature": 0 * nodes, "value": nodes.astype(numpy.float64), "left": chain, "right": chain,
        "missing_left": numpy.zeros(5000, numpy.uint8), "subset": 0 * nodes - 1,
    }  # fmt: skip
    safetensors.save_file(forged, saved / "weights.safetensors")
    with pytest.raises(ValueError, match="too deep"):
        trees.load(saved)


@pytest.mark.parametrize(
    "change",
    [
        {"columns": "no list"}, {"columns": []}, {"columns": [{"name": 1, "type": "number"}]}, {"labels": [1, 2, 3]}, {"labels": None},
        {"present": [0, 0, 1]}, {"present": [5]}, {"present": []}, {"rows": "many"}, {"model_type": "mlp"},
    ],
)  # fmt: skip
def test_a_forged_description_is_refused(change, saved):
    config = json.loads((saved / "config.json").read_text())
    (saved / "config.json").write_text(json.dumps({**config, **change}))
    with pytest.raises((ValueError, KeyError, TypeError)):
        trees.load(saved)


@pytest.mark.parametrize("module", [trees, linear, perceptron], ids=lambda m: m.NAME)
def test_damaged_bytes_are_refused_or_answer(module, tmp_path):
    data = mixed(120)
    fitted(data, module).save(tmp_path)
    whole = (tmp_path / "weights.safetensors").read_bytes()
    chance = numpy.random.default_rng(0)
    for _ in range(150):
        damaged = bytearray(whole)
        for place in chance.integers(0, len(whole), 3):
            damaged[place] ^= 1 << int(chance.integers(8))
        (tmp_path / "weights.safetensors").write_bytes(damaged[: len(damaged) - int(chance.integers(2)) * 7])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # a weight of 1e38 may overflow
            try:
                found = module.load(tmp_path).outputs(data.splits["test"])
            except (ValueError, KeyError, TypeError, OSError, SafetensorError):
                continue
        assert found.shape == (len(data.splits["test"]), 3)
