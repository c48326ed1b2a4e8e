"""Numbers that span orders of magnitude: when models are fitted on their logarithms, what they bring, and damaged or forged files."""

import json
import math
from types import SimpleNamespace

import numpy
import pytest
from test_trees import SETTINGS, dataset, target_of

from trainer.core import blocks
from trainer.kinds.table import ensemble, held_out, logarithm, results
from trainer.kinds.table.logarithm import Scale, Way
from trainer.targets import magnitudes


def spread(rows: int = 160, zeros: int = 0):
    """Numbers over four orders of magnitude, of which two columns and chance are factors; the first ``zeros`` of them are 0."""
    chance = numpy.random.default_rng(7)
    cells = numpy.column_stack([chance.normal(size=(rows, 2)), chance.integers(0, 3, rows)]).round(4)
    numbers = numpy.exp(5 + 1.5 * cells[:, 0] + cells[:, 2] + 0.3 * chance.normal(size=rows)).round(3)
    numbers[:zeros] = 0
    types = ["number", "number", "category"]
    return dataset([[a, b, "pqr"[int(c)]] for a, b, c in cells], numbers.tolist(), types, True)


@pytest.fixture(scope="module")
def found():
    data = spread()
    return data, ensemble.fit(data, target_of(data), SimpleNamespace(**vars(SETTINGS)), {})


SKEWED = numpy.exp(numpy.linspace(-3, 3, 60))
NUMBERS = {
    "over orders of magnitude": (SKEWED, 0.0),
    "with a zero, like counts": (numpy.append(SKEWED, 0), math.exp(-3)),
    "with a negative number": (numpy.append(SKEWED, -1), None),
    "evenly spread": (numpy.linspace(1, 2, 60), None),
    "skewed to the left": (10 - numpy.linspace(0, 3, 60) ** 2, None),
    "a few large ones, skewed by their logarithms, too": (numpy.append(numpy.linspace(1, 1.1, 200), [1e3, 1e6]), None),
    "mostly zero": (numpy.append(numpy.zeros(500), SKEWED), None),
    "few different ones": (numpy.append(numpy.ones(90), numpy.arange(1, 9) ** 4), None),
    "all equal": (numpy.ones(60), None),
    "infinite": (numpy.append(SKEWED, numpy.inf), None),
}


@pytest.mark.parametrize(("numbers", "expected"), NUMBERS.values(), ids=NUMBERS)
def test_logarithms_are_tried_where_they_suit_the_numbers(numbers, expected):
    assert magnitudes.shift(numbers) == (None if expected is None else pytest.approx(expected))


def test_a_scale_gives_numbers_again_and_never_far_ones():
    scale = Scale(1.0, 2.0, 0.0, math.log(100))
    assert scale.numbers(numpy.array([0.0, math.log(10), 700.0, -700.0])) == pytest.approx([1, 19, 199, 1])
    assert logarithm.restored(json.loads(json.dumps(scale.described()))) == scale


def test_models_of_logarithms_are_used_where_the_loss_is_smaller(found):
    data, whole = found
    assert any(m.scale is not None for m in whole.members)
    assert whole.loss < 0.9 * whole.other_loss and len(whole.members) + len(whole.left_out) == 10
    held = held_out.rows(data, target_of(data), SETTINGS)
    assert held.loss(whole.judged.outputs(held.examples)) == pytest.approx(whole.loss) == pytest.approx(whole.held_out_loss)
    assert 0 < whole.usual_error < 0.6, "half of the chance in the numbers is within a factor of 1.2"
    of_logs = next(m for m in whole.members if m.scale is not None)
    assert of_logs.outputs(held.examples).sum() == pytest.approx(held.targets.sum(), rel=0.2)  # by models that have seen these rows


def test_a_saved_ensemble_of_logarithms_answers_the_same_bits(found, tmp_path):
    data, whole = found
    whole.save(tmp_path)
    again, test = ensemble.load(tmp_path), data.splits["test"]
    assert again.outputs(test).tolist() == whole.outputs(test).tolist() and again.described() == whole.described()
    alone = numpy.concatenate([again.outputs([e]) for e in test])
    assert alone == pytest.approx(whole.outputs(test), rel=1e-5)
    rows = numpy.arange(len(test))
    for part in range(3):
        assert again.exchanging(test).outputs(part, rows, rows) == pytest.approx(alone, rel=1e-5)
    (section,) = blocks.described(results.sections(tmp_path))
    note, titles = section["blocks"][0]["note"], [row[0]["text"] for row in section["blocks"][0]["rows"]]
    assert "fitted on the logarithm, too" in note and "so they are used" in note and "Half of the answers" in note
    assert any("of the logarithm" in t for t in titles)


def test_versions_that_know_no_logarithms_refuse_the_model(found):
    kinds = {m["kind"] for m in found[1].described()["members"] if "scale" in m}
    assert kinds and not kinds & set(ensemble.MEMBERS)


SCALES = {
    "no scale": {},
    "a scale without its bounds": {"scale": {"shift": 0, "factor": 1}},
    "a factor of nothing": {"scale": {"shift": 0, "factor": 0, "low": 0, "high": 1}},
    "a shift that is no number": {"scale": {"shift": float("nan"), "factor": 1, "low": 0, "high": 1}},
    "numbers without end": {"scale": {"shift": 0, "factor": 1, "low": 0, "high": 1e4}},
    "bounds that are swapped": {"scale": {"shift": 0, "factor": 1, "low": 2, "high": 1}},
    "another estimator": {"of": "os", "scale": {"shift": 0, "factor": 1, "low": 0, "high": 1}},
}


@pytest.mark.parametrize("change", SCALES.values(), ids=SCALES)
def test_a_forged_scale_is_refused(change, found, tmp_path):
    found[1].save(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    member = next(m for m in config["members"] if "scale" in m)
    del member["scale"]
    member |= change
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises((ValueError, KeyError, TypeError)):
        ensemble.load(tmp_path)


def way(outputs) -> Way:
    return Way("linear", "linear", numpy.asarray(outputs, float), lambda: None)


def test_logarithms_that_bring_nothing_are_not_used():
    truth = numpy.exp(numpy.linspace(0, 5, 40))
    held = held_out.Held([], truth, None, None)
    plain, worse = way(truth + 1), way(truth + 5)
    every, used, loss, other = logarithm.chosen([plain], [worse], [1.0], 1.0, held)
    assert (used, loss, other) == ([1.0, 0.0], 1.0, pytest.approx(1)) and every == [plain, worse]
    every, used, loss, other = logarithm.chosen([worse], [plain], [1.0], 25.0, held)
    assert (used, loss, other) == ([0.0, 1.0], pytest.approx(1), 25.0)
    above, below = way(truth + 1), way(truth - 1)
    assert logarithm.chosen([above], [below], [1.0], 1.0, held)[1:] == ([0.5, 0.5], pytest.approx(0), 1.0)
