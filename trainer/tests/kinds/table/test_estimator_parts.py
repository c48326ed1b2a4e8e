"""The parts of estimators beside plain references: folds, encoded tables, and trees by hand."""

from types import SimpleNamespace

import numpy
import pytest
from safetensors import numpy as safetensors
from sklearn.metrics import log_loss, mean_squared_error

from trainer import estimators
from trainer.config import settings as options
from trainer.core import registry
from trainer.core.example import Dataset, Example
from trainer.estimators import balance, folds
from trainer.kinds.boosted import boosting, forest
from trainer.kinds.boosted.forest import Forest
from trainer.kinds.table import columns, encoded, encoder
from trainer.kinds.table.columns import Columns

TASKS = {True: "tabular-classification", False: "tabular-regression"}


def dataset(labels: list[str], validation: int, groups: bool = False, classes: bool = True) -> Dataset:
    rows = [Example("t.csv", i, (str(i),), label, group=f"g{i // 4}" if groups else "") for i, label in enumerate(labels)]
    splits = {"train": rows[validation:], "validation": rows[:validation], "test": []}
    known = tuple(sorted(set(labels))) if classes else ()
    return Dataset(TASKS[classes], registry.of("table"), splits, ["t.csv"], ("a",), "label", known, {"a": "number"})


def target_of(data: Dataset):
    return data.kind.target(data)


@pytest.mark.parametrize(
    ("rows", "validation", "there"),
    [(10, 1, True), (9, 1, False), (10, 0, False), (600, 499, True), (600, 500, False), (10_000, 100, True), (10_001, 100, False)],
    ids=["ten rows", "nine rows", "no validation", "few validation rows", "enough validation rows", "the most rows", "too many rows"],
)
def test_few_validation_rows_are_judged_by_folds(rows, validation, there):
    data = dataset([str(i % 2) for i in range(rows)], validation)
    assert (folds.of(data, target_of(data), 1) is not None) == there


@pytest.mark.parametrize("classes", [True, False], ids=["classes", "numbers"])
def test_each_row_is_held_out_once_and_evenly(classes):
    data = dataset([str(i % 3) for i in range(60)], 15, classes=classes)
    found = folds.of(data, target_of(data), 1)
    assert sorted(numpy.concatenate(found.held_out)) == list(range(60))
    assert [len(h) for h in found.held_out] == [12] * 5
    for kept, held in found.parts():
        assert sorted([*kept, *held]) == list(range(60))
        assert numpy.bincount(found.targets[held].astype(int), minlength=3).tolist() == [4, 4, 4]
    again, other = (folds.of(data, target_of(data), seed) for seed in (1, 2))
    assert all((a == b).all() for a, b in zip(found.held_out, again.held_out))
    assert any((a != b).any() for a, b in zip(found.held_out, other.held_out))


def test_the_rows_of_a_group_stay_together():
    data = dataset([str(i % 2) for i in range(64)], 16, groups=True)
    found = folds.of(data, target_of(data), 1)
    groups = [{found.examples[i].group for i in held} for held in found.held_out]
    assert sum(map(len, groups)) == len(set.union(*groups)) == 16
    one = dataset(["a", "b"] * 10, 5)
    for rows in one.splits.values():
        rows[:] = [Example("t.csv", e.row, e.content, e.target, group="same") for e in rows]
    assert folds.of(one, target_of(one), 1) is None  # a single group cannot be held out


def test_losses_are_those_of_scikit_learn():
    r = numpy.random.default_rng(1)
    truth, outputs, weights = r.integers(0, 3, 50), r.dirichlet(numpy.ones(3), 50), r.random(50)
    assert folds.loss(outputs, truth) == pytest.approx(log_loss(truth, outputs))
    assert folds.loss(outputs, truth, weights) == pytest.approx(log_loss(truth, outputs, sample_weight=weights))
    numbers = r.standard_normal(50)
    assert folds.loss(numbers, truth.astype(float)) == pytest.approx(mean_squared_error(truth, numbers))
    assert folds.loss(numpy.array([[0.0, 1.0]]), numpy.array([0])) == pytest.approx(-numpy.log(1e-12))  # and not infinite


@pytest.mark.parametrize(
    ("curves", "sizes", "best"),
    [
        ([[3.0, 2.0, 1.0]], [1], (2, 1.0)),
        ([[3.0, 1.01, 1.0]], [1], (1, 1.01)),  # about as small
        ([[3.0, 1.02, 1.0]], [1], (2, 1.0)),
        ([[2.0], [4.0, 0.0]], [1, 1], (1, 1.0)),  # a fold that stopped keeps its last loss
        ([[4.0, 0.0], [0.0, 2.0]], [1, 3], (0, 1.0)),  # larger folds count more
        ([[0.0, 0.0]], [5], (0, 0.0)),
    ],
    ids=["last", "first about as small", "not about as small", "stopped early", "by size", "zero"],
)
def test_the_best_round_over_folds(curves, sizes, best):
    assert folds.best([numpy.array(c) for c in curves], sizes) == pytest.approx(best)


@pytest.mark.parametrize(("labels", "weights"), [("aabb", [1, 1]), ("aaab", [2 / 3, 2]), ("aaaabbc", [7 / 12, 7 / 6, 7 / 3])])
def test_balanced_weights_have_a_mean_of_one(labels, weights):
    data = dataset(list(labels), 0)
    assert balance.balanced(data) == pytest.approx(weights)
    asked = SimpleNamespace(class_weights="balanced", source=lambda name: "form")
    assert balance.class_weights(data, asked) == pytest.approx(weights)
    rows = encoded.of(data, target_of(data), SimpleNamespace(**vars(asked), seed=1), data.splits["train"])
    assert rows.weights.mean() == pytest.approx(1) and len(rows.weights) == len(labels)


@pytest.mark.parametrize(("wanted", "source"), [("none", "form"), ("balanced", options.CHOSEN)], ids=["none", "not by a person"])
def test_classes_weigh_the_same_unless_a_person_asks(wanted, source):
    settings = SimpleNamespace(class_weights=wanted, source=lambda name: source, seed=1)
    data = dataset(list("aab"), 0)
    assert balance.class_weights(data, settings) is None
    assert encoded.of(data, target_of(data), settings, data.splits["train"]).weights is None


PLAIN = SimpleNamespace(class_weights="none", source=lambda name: "form", seed=1)


def test_rows_of_a_very_large_table_are_sampled_in_order(monkeypatch):
    data = dataset([str(i % 2) for i in range(100)], 0)
    monkeypatch.setattr(encoded, "MAX_ENTRIES", 40)
    some, again = (encoded.of(data, target_of(data), PLAIN, data.splits["train"]) for _ in range(2))
    assert some.values.shape == (40, 1) and (some.values == again.values).all()
    assert (numpy.diff(some.values[:, 0]) > 0).all()
    assert set(some.targets) == {0, 1}


def test_rows_with_an_unknown_label_are_left_out():
    data = dataset(["a", "b", "a"], 0)
    strange = [*data.splits["train"], Example("t.csv", 9, ("5",), "c")]
    assert encoded.of(data, target_of(data), PLAIN, strange).targets.tolist() == [0, 1, 0]


def test_outputs_are_the_same_in_any_block(monkeypatch):
    data = dataset([str(i % 2) for i in range(10)], 0)
    encoder = encoded.of(data, target_of(data), PLAIN, data.splits["train"]).encoder
    whole, numbers = (encoded.outputs(encoder, data.splits["train"], lambda v: numpy.hstack([v, -v]), c) for c in (True, False))
    monkeypatch.setattr(encoded, "MAX_ENTRIES", 3)
    assert (encoded.outputs(encoder, data.splits["train"], lambda v: numpy.hstack([v, -v]), True) == whole).all()
    assert whole.sum(axis=1) == pytest.approx(1) and (numpy.diff(whole[:, 0]) > 0).all()
    assert whole[:, 0] == pytest.approx(1 / (1 + numpy.exp(-2 * numbers)))


NUMBER = {"name": "a", "type": "number", "mean": 0.0, "std": 1.0}
CATEGORY = {"name": "b", "type": "category", "categories": ["x", "y"]}


@pytest.mark.parametrize(
    "changed",
    [
        {**NUMBER, "std": 0}, {**NUMBER, "std": numpy.nan}, {**NUMBER, "mean": numpy.inf}, {**NUMBER, "mean": "x"}, {**NUMBER, "name": 1},
        {**NUMBER, "type": "text"}, {**CATEGORY, "categories": "xy"}, {**CATEGORY, "categories": [1]}, {"name": "a"}, {**NUMBER, "mean": None},
    ],
    ids=["no spread", "spread not a number", "infinite mean", "a word as mean", "name", "type", "categories as text", "a number as category",
         "no type", "no mean"],
)  # fmt: skip
def test_a_column_that_is_not_described_is_refused(changed):
    with pytest.raises((ValueError, KeyError, TypeError)):
        encoded.restored([CATEGORY, changed])
    assert encoded.restored([NUMBER, CATEGORY]).width == 3


@pytest.mark.parametrize("found", [None, "ab", [1], {"a": 1}, ["a", None]])
def test_labels_that_are_not_described_are_refused(found):
    with pytest.raises(ValueError, match="its labels are not described"):
        encoded.labels({"labels": found})
    assert encoded.labels({"labels": []}) == () and encoded.labels({"labels": ["b", "a"]}) == ("b", "a")


@pytest.mark.parametrize(
    "wrong", [numpy.zeros(3, numpy.float32), numpy.zeros(2), numpy.array([0, numpy.nan], numpy.float32), numpy.array([0, numpy.inf], numpy.float32)]
)
def test_a_tensor_of_another_shape_type_or_without_numbers_is_refused(wrong):
    with pytest.raises(ValueError, match="the tensor w is wrong"):
        encoded.tensor({"w": wrong}, "w", (2,))
    with pytest.raises(KeyError):
        encoded.tensor({}, "w", (2,))


def test_columns_for_trees_tell_gaps_from_values():
    rows = [Example("t", i, cells, "") for i, cells in enumerate([("1.5", " x "), ("", "y"), ("word", ""), ("-2", "x")])]
    found = Columns.learn(SimpleNamespace(columns=("a", "b"), types={"a": "number", "b": "category"}, learnt={}), rows)
    assert found.columns[1]["categories"] == ["x", "y"] and found.known == [0, 2]
    wanted = numpy.array([[1.5, 0], [numpy.nan, 1], [numpy.nan, numpy.nan], [-2, 0]])
    assert found.cells(rows) == pytest.approx(wanted, nan_ok=True)
    assert found.cells([]).shape == (0, 2)
    assert numpy.isnan(found.cells([Example("t", 1, ("", "z"), "")])).all()
    assert columns.restored(found.columns) == found


def test_the_most_frequent_categories_are_told_apart():
    cells = [f"c{i:03}" for i in range(300)] + [f"c{i:03}" for i in range(299, 40, -1)]
    data = SimpleNamespace(columns=("a",), types={"a": "category"}, learnt={})
    found = Columns.learn(data, [Example("t", i, (c,), "") for i, c in enumerate(cells)])
    assert found.columns[0]["categories"] == [f"c{i:03}" for i in range(41, 41 + forest.MAX_CATEGORIES)]


@pytest.mark.parametrize(
    "changed", [{"name": 1}, {"type": "x"}, {"categories": "x"}, {"categories": [1]}, {"categories": ["x"] * 255}], ids=lambda c: str(c)[:30]
)
def test_damaged_columns_of_trees_are_refused(changed):
    with pytest.raises(ValueError, match="described"):
        columns.restored([{**CATEGORY, **changed}])
    assert columns.restored([{**CATEGORY, "categories": ["x"] * 254}]).known == [254]


def stump(subset: int = -1, categories: list[int] | None = None, missing_left: int = 0) -> Forest:
    """One question with two leaves: 10 on the left, 20 on the right."""
    return Forest(
        numpy.array([1.0]), numpy.array([0], numpy.int32), numpy.zeros(3, numpy.int32), numpy.array([0.5, 10, 20]),
        numpy.array([1, 1, 2], numpy.int32), numpy.array([2, 1, 2], numpy.int32), numpy.array([missing_left, 0, 0], numpy.uint8),
        numpy.array([subset, -1, -1], numpy.int32), numpy.array([categories or [0] * 8], numpy.uint32)[: subset + 1],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("tree", "cells", "scores"),
    [
        (stump(), [0.0, 0.5, 0.51, -numpy.inf, numpy.inf], [11, 11, 21, 11, 21]),
        (stump(missing_left=0), [numpy.nan], [21]),
        (stump(missing_left=1), [numpy.nan], [11]),
        (stump(0, [0b101, 1 << 31, 0, 0, 0, 0, 0, 1 << 29]), [0, 1, 2, 3, 31, 32, 63, 64, 253], [11, 21, 11, 21, 21, 21, 11, 21, 11]),
        (stump(0, [1, 0, 0, 0, 0, 0, 0, 0], 1), [0, 1, numpy.nan], [11, 21, 11]),
    ],
    ids=["threshold", "a gap goes right", "a gap goes left", "categories", "a gap among categories"],
)
def test_a_tree_by_hand(tree, cells, scores, monkeypatch):
    assert tree.scores(numpy.array(cells)[:, None])[:, 0].tolist() == scores
    monkeypatch.setattr(forest, "_AT_ONCE", 2)
    assert tree.scores(numpy.array(cells)[:, None])[:, 0].tolist() == scores
    assert tree.scores(numpy.zeros((0, 1))).shape == (0, 1)


@pytest.mark.parametrize(("known", "fits"), [([0], True), ([2], False), ([], False)], ids=["numbers", "categories", "no column"])
def test_a_saved_tree_is_loaded_where_its_columns_fit(known, fits, tmp_path):
    tree = stump()
    tree.save(tmp_path)
    if fits:
        again = forest.load(tmp_path, 1, known)
        assert all((getattr(again, n) == getattr(tree, n)).all() for n in safetensors.load_file(tmp_path / "weights.safetensors"))
    else:
        with pytest.raises(ValueError, match="column"):
            forest.load(tmp_path, 1, known)
    with pytest.raises(ValueError, match="the number of trees, nodes or outputs is wrong"):
        forest.load(tmp_path, 2, known)


def test_one_class_is_a_forest_without_trees():
    rows = boosting.Rows(numpy.zeros((4, 1)), numpy.array([2, 2, 2, 2]))
    found = boosting.fit(rows, None, [0], 3, boosting.SHAPES[0], 5, 1)
    assert (found.present.tolist(), found.rounds, len(found.losses)) == ([2], 0, 0)
    assert found.forest.scores(numpy.zeros((3, 1))).tolist() == [[0]] * 3


@pytest.mark.parametrize(
    ("known", "leaves", "bins"), [([0], 31, 255), ([], 31, 255), ([0] * 3000, 31, 215), ([0] * 3000 + [250], 31, 250), ([0] * 10**6, 31, 2)]
)
def test_a_very_wide_table_has_fewer_bins_but_not_fewer_than_categories(known, leaves, bins):
    assert boosting._bins(known, leaves) == bins


def test_the_seconds_of_a_round_grow_with_rows_columns_and_outputs():
    shape = boosting.SHAPES[0]
    one = boosting.seconds(shape, 1000, 10, 1)
    assert one == pytest.approx(1000 * 10 * 6 * 2.5e-9 + 31 * (10 * 255 * 4e-9 + 3e-5))
    assert boosting.seconds(shape, 1000, 10, 3) == pytest.approx(3 * one)


def test_estimators_are_known_by_kind_and_name():
    assert [e.name for e in registry.of("table").estimators] == ["linear", "trees", "perceptron", "ensemble"]
    assert [e.name for e in registry.of("text").estimators] == ["words"] and not registry.of("image").estimators
    assert all(estimators.of(name).__name__ == f"trainer.kinds.{e.kind}.{name}" for name, e in registry.estimators().items())


def test_a_large_table_is_encoded_in_blocks_to_the_same_bits(monkeypatch, tmp_path):
    data = dataset([str(i % 2) for i in range(100)], 10)
    rows, targets = data.splits["train"], numpy.zeros(90)
    whole = encoder.learned(data.columns, data.types, rows).encode(rows, targets).features.values
    monkeypatch.setattr(encoder, "_AT_ONCE", 7)
    for folder in (None, tmp_path):
        parts = encoder.learned(data.columns, data.types, rows, folder=folder).encode(rows, targets).features.values
        assert parts.tobytes() == whole.tobytes()


@pytest.mark.parametrize("rows", [1, 7, 8, 9, 127, 128, 129, 8193, 100_003])
def test_the_scale_of_a_column_is_that_of_numpy_to_the_bit(rows):
    cells = numpy.random.default_rng(rows).normal(1e6, 3.0, rows)
    wanted = float(cells.mean()), float(cells.std()) or 1.0
    found = encoder._scale(cells[:, None].copy())
    assert (found[0][0], found[1][0]) == wanted
    with_gaps = numpy.insert(cells, [0, rows // 2, rows], numpy.nan)
    assert encoder._scale(numpy.stack([with_gaps, with_gaps], axis=1)) == ([wanted[0]] * 2, [wanted[1]] * 2)


@pytest.mark.parametrize("classes", [0, 2])
def test_losses_and_answers_are_those_of_all_rows_at_once(monkeypatch, classes):
    draw = numpy.random.default_rng(0)
    rows = encoded.Encoded(SimpleNamespace(width=2), draw.normal(size=(20, 2)).astype(numpy.float32), draw.integers(0, 2, 20), None)
    sizes: list[int] = []

    def doubled(values: numpy.ndarray) -> numpy.ndarray:
        sizes.append(len(values))
        return 2 * values

    whole = encoded.answers(doubled(rows.values), bool(classes))
    monkeypatch.setattr(encoded, "_PROBABILITIES", 7 * max(1, classes))
    assert encoded.loss(rows, doubled, classes) == folds.loss(whole, rows.targets) and sizes[1:] == [7, 7, 6]
    monkeypatch.setattr(encoded, "values", lambda _, examples: numpy.asarray(examples, numpy.float32).reshape(-1, 2))
    assert (encoded.outputs(rows.encoder, rows.values, doubled, bool(classes)) == whole).all() and max(sizes[4:]) <= 7
    assert encoded.outputs(rows.encoder, rows.values[:0], doubled, bool(classes)).shape == ((0, 2) if classes else (0,))
