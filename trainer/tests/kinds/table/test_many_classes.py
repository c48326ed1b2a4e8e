"""Very many classes: what they need is known before a training, and models that do not suit them are left out with a reason."""

from dataclasses import replace

import numpy
import pytest
from loading import settings_of

from trainer import estimators
from trainer.core import registry
from trainer.core.example import Dataset, Example
from trainer.errors import UserError
from trainer.kinds.table import held_out, many_classes, trees
from trainer.measure.predictions import Predictions
from trainer.models.catalogue import Base
from trainer.targets.classes import Classes
from trainer.training import candidates
from trainer.training.candidates import Wanted


def data(train: int, held: int, classes: int) -> Dataset:
    draw = numpy.random.default_rng(0)
    labels = tuple(f"k{i:04d}" for i in range(classes))
    rows = [Example("t.csv", i, (f"{i % classes + 0.1 * draw.random():.3f}",), labels[i % classes]) for i in range(train + 2 * held)]
    splits = {"train": rows[:train], "validation": rows[train : train + held], "test": rows[train + held :]}
    return Dataset("tabular-classification", registry.of("table"), splits, ["t.csv"], ("x",), "y", labels, {"x": "number"}, {})


def test_what_classes_need_is_said_before_a_training():
    rows = data(9_000, 500, 1000)
    need = 0.7e9 + 20 * 10_000 + many_classes.need_of_classes(9_000, 500, 1000, 1)
    many_classes.check(rows, int(need) + 1)
    with pytest.raises(UserError) as refused:
        many_classes.check(rows, int(need) - 1)
    assert refused.value.code == "too_large"
    assert f"There are 1,000 classes and 10,000 rows, of which models need {need / 1e9:.1f} GB of memory; " in str(refused.value)
    many_classes.check(data(900, 50, 60), 1)  # what few of them need is not judged


def test_many_rows_of_two_classes_fit_where_they_were_split(monkeypatch):
    """32 million rows of two numbers, which are trained in 4 GiB."""
    small = data(80, 10, 2)
    sizes = {"train": 25_600_000, "validation": 3_200_000, "test": 3_200_000}
    splits = {name: range(size) for name, size in sizes.items()}
    monkeypatch.setattr(many_classes.columns, "width", lambda _: 2)
    many_classes.check(replace(small, splits=splits), 4 << 30)


@pytest.mark.parametrize(
    ("train", "held_out_rows", "classes", "width", "gigabytes"),
    [
        pytest.param(100_000, 1_000, 100, 10, (0.1, 0.6), id="a hundred"),
        pytest.param(3_000_000, 300_000, 1000, 10, (1, 3), id="a thousand, and more held-out rows than are kept"),
        pytest.param(3_000_000, 300_000, 5000, 10, (1, 3), id="five thousand: no trees"),
        pytest.param(3_000_000, 5_000, 5000, 10, (2, 3), id="five thousand, whose answers are kept"),
    ],
)  # fmt: skip
def test_the_need_does_not_grow_with_rows_times_classes(train, held_out_rows, classes, width, gigabytes):
    assert gigabytes[0] < many_classes.need_of_classes(train, held_out_rows, classes, width) / 1e9 < gigabytes[1]


def test_models_that_do_not_suit_so_many_classes_are_left_out_with_a_reason(monkeypatch):
    rows = data(60, 20, 10)
    every = tuple(e.name for e in rows.kind.estimators)
    assert candidates.suited(Wanted(every, None), rows) == Wanted(every, None)
    monkeypatch.setattr(many_classes, "KEPT", 199)
    monkeypatch.setattr(trees, "_MOST_SECONDS", 0.0)
    wanted = candidates.suited(Wanted(every, None), rows)
    assert wanted.estimators == ("linear", "perceptron") and [s["name"] for s in wanted.skipped] == ["trees", "ensemble"]
    assert [s["why"] for s in wanted.skipped] == [
        "Each round of trees has one for each of 10 classes, which takes too long.",
        "The answers of all models to 20 validation rows, with 10 classes each, do not fit into memory together.",
    ]
    assert estimators.of("trees").fit(rows, Classes(rows.labels), settings_of("train", {})) is None
    with pytest.raises(UserError, match="The model trees does not suit this data"):
        candidates.suited(Wanted(("trees",), None, "trees"), rows)
    network = Base("mlp", "table")
    assert candidates.suited(Wanted(("trees",), network), rows).network is network


def test_without_the_answers_to_held_out_rows_models_are_the_same(monkeypatch):
    """Only the ensemble asks for them."""
    rows, settings = data(400, 120, 60), settings_of("train", {})
    target = Classes(rows.labels)
    monkeypatch.setattr(held_out, "turns", lambda *_: None)
    kept = [estimators.of(n).fit(rows, target, settings) for n in ("linear", "perceptron")]
    assert all(len(m.held_out) == 1 for m in kept)
    monkeypatch.setattr(held_out, "KEPT", 120 * 60 - 1)
    fitted = [estimators.of(n).fit(rows, target, settings) for n in ("linear", "perceptron")]
    for one, other in zip(kept, fitted, strict=True):
        assert not other.held_out and all((one.tensors()[n] == t).all() for n, t in other.tensors().items())
    assert estimators.of("ensemble").fit(rows, target, settings, dict(zip(("linear", "perceptron", "trees"), [*fitted, None]))) is None


@pytest.mark.parametrize("classes", [4, 60])
def test_answers_in_parts_are_those_of_all_rows(monkeypatch, classes):
    target, rows = Classes(tuple(f"k{i}" for i in range(classes))), [Example("t.csv", i, ("1",), f"k{i % classes}") for i in range(20)]
    outputs = numpy.random.default_rng(1).dirichlet(numpy.ones(classes), 20)
    asked: list[int] = []

    class Known:
        def outputs(self, examples):
            asked.append(len(examples))
            return outputs[[e.row for e in examples]]

    whole = candidates.answered(Known(), rows, target)
    monkeypatch.setattr(candidates, "_AT_ONCE", 7 * classes)
    parts = candidates.answered(Known(), rows, target)
    assert asked == [20, 7, 7, 6]
    for name in ("truth", "predicted", "confidence", "likelihood", "probabilities"):
        one, other = getattr(whole, name), getattr(parts, name)
        assert one is other is None or (one == other).all()
    assert isinstance(parts, Predictions)
