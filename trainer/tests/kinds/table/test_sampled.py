"""Models that are fitted and judged on a part of the rows: which part, what the report says of it, and the losses with fewer rows."""

from types import SimpleNamespace

import numpy
import pytest
from test_trees import SETTINGS, mixed, target_of

from trainer.estimators import sampled
from trainer.estimators.sampled import Losses, Sampled
from trainer.kinds.table import ensemble, held_out, linear, perceptron, trees
from trainer.measure import linear as measured
from trainer.training import more_rows

SOME = SimpleNamespace(**{**vars(SETTINGS), "validation_file": "validation.csv"})  # so the validation rows judge, however few they are


@pytest.mark.parametrize("regression", [False, True], ids=["classes", "numbers"])
def test_all_models_of_a_long_table_say_on_how_many_rows_they_were_fitted(regression, monkeypatch):
    monkeypatch.setattr(trees, "_MAX_ROWS", 320)
    monkeypatch.setattr(measured, "MAX_ROWS", 400)
    monkeypatch.setattr(held_out, "JUDGES", 110)
    data = mixed(1000, regression)
    held = held_out.rows(data, target_of(data), SOME)
    assert len(held.examples) == 110 and held.turns is None
    places = [data.splits["validation"].index(e) for e in held.examples]
    assert places == sorted(set(places)) and held_out.rows(data, target_of(data), SOME).examples == held.examples
    models = {m.NAME: m.fit(data, target_of(data), SOME) for m in (linear, trees, perceptron)}
    found = ensemble.fit(data, target_of(data), SOME, models)
    assert [(s.name, s.rows, s.of) for s in found.sampled] == [("linear", 400, 750), ("trees", 320, 750), ("perceptron", 400, 750)]
    assert sampled.said(models["trees"].sampled) == "It was fitted on 320 of 750 training rows."
    assert sampled.said(found.sampled) == "Of 750 training rows, linear was fitted on 400, trees was fitted on 320, perceptron was fitted on 400."
    [losses] = [s.losses for s in found.sampled if s.losses]
    assert [rows for rows, _ in losses.points] == [20, 80, 320] and losses.low < losses.high
    [section] = more_rows.sections([*models.values(), found])
    assert section.title == more_rows.TITLE and [b.type for b in section.blocks] == ["text", "chart", "table"]


def test_models_of_all_rows_say_nothing():
    data = mixed()
    models = [m.fit(data, target_of(data), SOME) for m in (linear, trees)]
    assert [m.sampled for m in models] == [(), ()] and sampled.said(()) == "" and more_rows.sections([*models, None]) == []
    assert held_out.rows(data, target_of(data), SOME).examples is data.splits["validation"]
    assert sampled.of("trees", len(data.splits["train"]), data, target_of(data)) == ()


def test_the_losses_are_those_of_the_answers():
    truth = numpy.zeros(4)
    losses = Losses.of([(1, truth + 3), (4, truth + 2), (16, truth + numpy.array([0, 0, 1, 1]))], truth, None)
    assert losses.points == [(1, 9.0), (4, 4.0), (16, 0.5)]
    assert (losses.low, losses.high) == pytest.approx((3.5 - 0.49, 3.5 + 0.49))
    weighed = Losses.of([(1, truth + 3), (2, truth + numpy.array([0, 0, 1, 1]))], truth, numpy.array([1, 1, 0, 0]))
    assert weighed.points == [(1, 9.0), (2, 0.0)]
    likely = Losses.of([(1, numpy.full((2, 2), 0.5)), (2, numpy.array([[0.25, 0.75], [0.25, 0.75]]))], numpy.array([1, 1]), None)
    assert likely.points[1][1] == pytest.approx(-numpy.log(0.75))


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (-0.01, 0.02, "which may be chance: more rows would probably bring nothing that can be measured."),
        (0.01, 0.02, "(by 0.01 to 0.02, 95 % interval). Four times as many would probably make it fall again, but by less"),
    ],
)
def test_the_report_says_what_more_rows_would_bring(low, high, words):
    losses = Losses([(10, 0.7), (40, 0.6), (160, 0.585)], low, high)
    said = more_rows.conclusion(losses)
    assert said.startswith("From 40 to 160 rows the loss went from 0.6 to 0.585") and words in said
    [section] = more_rows.sections([SimpleNamespace(sampled=(Sampled("trees", 160, 1000, losses), Sampled("linear", 5, 1000)))])
    assert "trees was fitted on 160 of 1,000" in section.blocks[0].text[0]
