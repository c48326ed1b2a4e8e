"""What a model relies on: the rise of the loss when one column is exchanged, and what is said where it cannot be measured."""

import random
from types import SimpleNamespace

import numpy
import pytest
from conftest import events_of
from result_checks import blocks_of, check_success, result_of
from small_datasets import flowers, table

from trainer import estimators
from trainer.core import registry
from trainer.core.example import Dataset, Example
from trainer.data.columns.features import DATE
from trainer.export import important
from trainer.kinds.derived import part as parts
from trainer.measure import importance
from trainer.run import run
from trainer.targets.classes import Classes
from trainer.targets.number import Number
from trainer.training import weighed

TABLE = registry.of("table")
SETTINGS = SimpleNamespace(seed=1, validation_file="", class_weights="none", source=lambda name: "default")


def harvests(rows: int, seed: int = 0) -> list[Example]:
    """A number of three columns out of seven; two are categories, some cells are empty, one is always the same."""
    chance = random.Random(seed)
    found = []
    for i in range(rows):
        rain, heat, soil = chance.gauss(0, 1), chance.gauss(0, 1), chance.choice("abcd")
        harvest = 3 * rain + heat**2 + 2 * "abcd".index(soil) + chance.gauss(0, 0.3)
        cells = (
            f"{chance.gauss(0, 1):.4f}",
            f"{rain:.4f}" if i % 19 else "",
            chance.choice("xyz"),
            f"{heat:.4f}",
            "7",
            soil,
            f"{chance.random():.4f}",
        )
        cells = (*cells, f"20{10 + i % 11}-{1 + i % 12:02d}-{1 + i % 28:02d}")
        found.append(Example("fields.csv", i + 2, cells, repr(harvest)))
    return found


NAMES = ("noise", "rain", "field", "heat", "same", "soil", "more noise", "day")


def fields(classifies: bool) -> tuple[Dataset, Classes | Number]:
    examples = harvests(300)
    if classifies:
        examples = [Example(e.file, e.row, e.content, "abc"[min(2, max(0, int(float(e.target) // 3)))]) for e in examples]
    splits = {"train": examples[:180], "validation": examples[180:210], "test": examples[210:]}
    types = dict.fromkeys(NAMES, "number") | {"field": "category", "soil": "category", "day": DATE}
    data = Dataset("tabular-" + ("classification" if classifies else "regression"), TABLE, splits, [], NAMES, "y", tuple("abc") * classifies, types)
    data.learnt["day"] = parts.learn(DATE, [e.content[-1] for e in splits["train"]])
    return data, TABLE.target(data)


@pytest.fixture(scope="module", params=[True, False], ids=["classes", "numbers"])
def fitted(request):
    data, target = fields(request.param)
    models = {}
    for estimator in TABLE.estimators:
        of_others = (dict(models),) if estimator.joins else ()
        models[estimator.name] = estimators.of(estimator.name).fit(data, target, SETTINGS, *of_others)
    return data, target, models


@pytest.mark.parametrize("name", ["linear", "trees", "perceptron", "ensemble"])
def test_the_fast_way_gives_the_outputs_of_exchanged_examples(name, fitted):
    data, _, models = fitted
    examples, model = data.splits["test"][:50], models[name]
    fast, chance = model.exchanging(examples), numpy.random.default_rng(0)
    rows = numpy.concatenate([numpy.arange(50), [3, 3, 7]])
    for part in range(len(NAMES)):
        others = chance.integers(0, 50, len(rows))
        slow = model.outputs([TABLE.with_part(examples[r], part, examples[o]) for r, o in zip(rows, others, strict=True)])
        assert numpy.allclose(fast.outputs(part, rows, others), slow, atol=1e-5), NAMES[part]


def measured(fitted, name: str, seconds: float = 600.0) -> importance.Weights:
    """The weights of the columns as a run measures them."""
    data, target, models = fitted
    examples = data.splits["test"]
    truth = target.encode([e.target for e in examples])

    def prepare(rows):
        outputs = weighed._exchanging(models[name], TABLE, [examples[r] for r in rows])
        return lambda part, places, others: (target.losses(target.answers(outputs(part, places, others), truth[rows][places])), 0.5)

    return importance.measure(NAMES, len(examples), prepare, 1, seconds)


@pytest.mark.parametrize("name", ["trees", "ensemble"])
def test_columns_that_decide_come_first(name, fitted):
    found = measured(fitted, name)
    assert {w.name for w in found.weights[:3]} == {"rain", "heat", "soil"} and (found.rows, found.times, found.parts) == (90, 5, 8)
    assert all(w.low > 0 for w in found.weights[:3])
    assert all(w.low <= 0 <= w.high or abs(w.rise) < 0.05 for w in found.weights[3:])
    same = next(w for w in found.weights if w.name == "same")
    assert (same.rise, same.low, same.high) == (pytest.approx(0, abs=1e-6),) * 3, "exchanging a constant column changes nothing"


def test_removing_the_first_three_columns_costs_more_than_three_at_random(fitted):
    data, target, _ = fitted
    first = [NAMES.index(w.name) for w in measured(fitted, "trees").weights[:3]]

    def loss(left_out) -> float:
        kept = [i for i in range(len(NAMES)) if i not in left_out]
        splits = {n: [Example(e.file, e.row, tuple(e.content[i] for i in kept), e.target) for e in rows] for n, rows in data.splits.items()}
        less = Dataset(data.task, TABLE, splits, [], tuple(NAMES[i] for i in kept), "y", data.labels, data.types, learnt=data.learnt)
        model = estimators.of("trees").fit(less, target, SETTINGS)
        truth = target.encode([e.target for e in splits["test"]])
        return float(target.losses(target.answers(model.outputs(splits["test"]), truth)).mean())

    chance = random.Random(0)
    assert loss(first) > 1.2 * numpy.mean([loss(chance.sample(range(8), 3)) for _ in range(2)])


def test_a_model_without_a_fast_way_is_asked_about_new_examples(fitted):
    data, _, models = fitted
    examples = data.splits["test"][:30]
    slow = weighed._exchanging(SimpleNamespace(outputs=models["trees"].outputs), TABLE, examples)
    fast = weighed._exchanging(models["trees"], TABLE, examples)
    places, others = numpy.arange(30), numpy.arange(30)[::-1]
    for part in (-1, 1):
        assert numpy.allclose(slow(part, places, others), fast(part, places, others), atol=1e-5)


def test_without_time_fewer_rows_and_columns_are_measured_and_the_report_says_so():
    def prepare(rows):
        return lambda part, places, others: (numpy.ones(len(places)), float("nan"))

    found = importance.measure([f"x{i}" for i in range(500)], 120, prepare, 1, 0.0)
    assert (found.rows, found.times, len(found.weights)) == (50, 1, 10)
    facts, _, _, shown = important.section(found, "accuracy", "rows").blocks
    assert [f.value for f in facts.facts] == ["50 test rows, each column exchanged 1 time", "the first 10 of 500; there was no time for the others"]
    assert shown.rows[-1][2].text == "–"


def of(labels: list[str], names=("x",)) -> tuple:
    data = Dataset(
        "tabular-classification", TABLE, {"test": [Example("f.csv", i, ("1",), y) for i, y in enumerate(labels)]}, [], names, "y", ("a", "b")
    )
    target = Classes(("a", "b"))
    answers = target.answers(numpy.full((len(labels), 2), 0.5), target.encode(labels))
    best = SimpleNamespace(fitted=object(), target=target, outcome=SimpleNamespace(answers={"test": answers}))
    return best, SimpleNamespace(plan=SimpleNamespace(kind=TABLE, target=target)), data


@pytest.mark.parametrize(
    ("labels", "why"),
    [
        pytest.param(["a", "b"] * 5, "from 20 test rows on, and there are 10.", id="ten rows"),
        pytest.param(["a"] * 30, "All test rows have the same label", id="one class"),
        pytest.param([], "and there are 0.", id="no test rows"),
    ],
)
def test_where_it_cannot_be_measured_a_sentence_says_so(labels, why):
    (section,) = weighed.sections(*of(labels), began=0.0)
    assert section.title == important.TITLE and why in section.blocks[0].text[0] and len(section.blocks) == 1


def test_a_table_without_columns_has_no_section_and_a_network_that_cannot_be_asked_a_sentence(tmp_path):
    best, prepared, data = of(["a", "b"] * 20)
    assert weighed.sections(best, prepared, of(["a", "b"] * 20, ())[2], 0.0) == []
    prepared.encoder = SimpleNamespace(described=lambda: {"encoder": {}})
    network = SimpleNamespace(fitted=None, target=best.target, outcome=SimpleNamespace(**vars(best.outcome), saved=tmp_path))
    (section,) = weighed.sections(network, prepared, data, 0.0)
    assert "was not measured" in section.blocks[0].text[0]


def test_a_network_is_asked_by_its_model_onnx(make_run, schemas):
    pytest.importorskip("onnxruntime")
    spec = make_run({"flowers.csv": flowers(240)}, label_column="species", model="mlp", epochs=8)
    assert run(str(spec), "local") == 0
    *_, shown = blocks_of(check_success(spec.parent, schemas), important.TITLE)
    assert {row[0]["text"] for row in shown["rows"][:-1]} == {"length", "width", "colour"}


def test_a_training_shows_what_its_model_relies_on(make_run, schemas):
    lines = [line.split(",") for line in flowers(260).splitlines()]
    chance = random.Random(5)
    spec = make_run({"flowers.csv": table([*lines[0], "noise"], [[*line, chance.random()] for line in lines[1:]])}, label_column="species")
    assert run(str(spec), "ray") == 0
    facts, _, drawn, shown = blocks_of(check_success(spec.parent, schemas), important.TITLE)
    assert facts["facts"][0]["value"].startswith("27 test rows")
    assert {row[0]["text"] for row in shown["rows"][:-1]} == {"length", "width", "colour", "noise"}
    assert shown["rows"][0][0]["text"] in ("length", "width") and shown["rows"][0][1]["low"] > 0
    assert drawn["chart"]["x"]["labels"] == [row[0]["text"] for row in shown["rows"][:-1]]


def test_a_fault_in_what_is_only_said_about_a_model_does_not_end_its_training(make_run, schemas, monkeypatch):
    def broken(*_):
        raise IndexError("out of bounds")

    monkeypatch.setattr(weighed, "sections", broken)
    spec = make_run({"flowers.csv": flowers(90)}, label_column="species", model="linear")
    assert run(str(spec), "local") == 0
    assert result_of(spec.parent)["model"]["base"] == "linear"
    warned = next(e["text"] for e in events_of(spec.parent) if e.get("code") == "not_measured")
    assert warned.startswith("What the model relies on could not be found out (IndexError: out of bounds).")
