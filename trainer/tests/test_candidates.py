"""The choice among the candidates of a training."""

import random
import re
from types import SimpleNamespace

import numpy
import pytest
from result_checks import check_success, setting
from small_datasets import WORDS, table
from test_base_model import install

from trainer.measure import predictions
from trainer.models.catalogue import Base
from trainer.run import run
from trainer.targets.classes import Classes
from trainer.training import candidates, comparing
from trainer.training.candidates import Candidate, Wanted

SHARES = numpy.asarray([0.9, 0.1])


def plan(source: str, weights: numpy.ndarray | None) -> SimpleNamespace:
    of_classes = None if weights is None else tuple(weights)
    return SimpleNamespace(target=Classes(("common", "rare")), weights=of_classes, settings=SimpleNamespace(source=lambda name: source))


def answered(extra: numpy.ndarray):
    """The predictions of a model that knows as much as can be known of uneven classes, with ``extra`` on its log-probabilities."""
    chance = numpy.random.default_rng(4)
    truth = (chance.random(3000) < SHARES[1]).astype(int)
    clue = truth + chance.normal(size=3000)
    odds = clue - 0.5 + numpy.log(SHARES[1] / SHARES[0])
    return predictions.of_scores(truth, numpy.stack([numpy.zeros(3000), odds], axis=1) + extra)


def test_class_weights_of_the_network_alone_do_not_decide_the_choice():
    weights = 0.5 / SHARES
    estimator, network = answered(numpy.zeros(2)), answered(numpy.log(weights))
    own = comparing.comparison_loss(estimator, plan("chosen", weights))
    assert comparing.comparison_loss(network, plan("chosen", weights), network=True) == pytest.approx(own, rel=1e-3)
    assert own == pytest.approx(comparing.comparison_loss(estimator, plan("chosen", None)))
    assert comparing.comparison_loss(network, plan("chosen", None), network=True) > 1.1 * own


def test_class_weights_that_a_person_asked_for_count_for_all_candidates():
    weights = 0.5 / SHARES
    asked = plan("form", weights)
    plain, shifted = answered(numpy.zeros(2)), answered(numpy.log(weights))
    assert comparing.comparison_loss(shifted, asked, network=True) < comparing.comparison_loss(plain, asked)
    assert comparing.comparison_loss(shifted, asked, network=True) == comparing.comparison_loss(shifted, asked)


def test_the_loss_of_each_candidate_is_computed_once(monkeypatch):
    asked, computed = plan("chosen", None), []
    asked.settings.seed, of = 42, comparing._loss
    monkeypatch.setattr(comparing, "_loss", lambda candidate, *rest: computed.append(candidate.name) or of(candidate, *rest))
    found = []
    for name, extra in (("worse", 2.0), ("best", 0.0), ("worst", 4.0)):
        answers = dict.fromkeys(("validation", "test"), answered(numpy.asarray([0.0, extra]) * (numpy.arange(3000) % 3)[:, None]))
        outcome = SimpleNamespace(parameters=1, seconds=1.0, workers=[], answers=answers)
        found.append(Candidate(Base(name, "table"), name, outcome, SimpleNamespace()))
    compared = comparing.Comparison(found, Wanted((), None), asked)
    best = compared.best()
    entries = compared.entries(best)
    assert best.name == "best" and [e["chosen"] for e in entries] == [True, False, False]
    assert sorted(computed) == ["best", "worse", "worst"]


@pytest.mark.parametrize(
    ("minutes", "suits", "begun"),
    [
        pytest.param(60, True, 3, id="all in time"),
        pytest.param(7, True, 2, id="the last would begin too late"),
        pytest.param(1, True, 1, id="one model is always fitted"),
        pytest.param(1, False, 3, id="none suits the data, so no model is there when the time is over"),
    ],
)
def test_no_estimator_begins_after_max_minutes_where_there_is_a_model(monkeypatch, minutes, suits, begun):
    clock = iter(range(0, 10_000, 180))  # three minutes from each look to the next
    monkeypatch.setattr(candidates, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    monkeypatch.setattr(candidates, "fit", lambda name, *_: name if suits else None)
    names = ("linear", "trees", "perceptron")
    of_plan = SimpleNamespace(settings=SimpleNamespace(max_minutes=minutes))
    found, wanted = candidates.fit_all(Wanted(names, None), of_plan, None)
    assert wanted.estimators == names[:begun] and found == (list(names[:begun]) if suits else [])
    assert [e["name"] for e in wanted.skipped] == list(names[begun:])
    assert all(f"{minutes} minute" in e["why"] for e in wanted.skipped)


def test_an_installed_encoder_and_words_are_compared_on_the_same_rows(make_run, schemas):
    chance = random.Random(6)
    rows = []
    for i in range(240):
        rare = i % 8 == 0
        rows.append([" ".join([*chance.choices(WORDS, k=5), "plum" if rare else "pear", str(i)]), "rare" if rare else "common"])
    spec = make_run({"all.csv": table(["text", "label"], rows)}, epochs=1)
    install(spec.parent.parent.parent / "models", "org/small")
    assert run(str(spec), "local") == 0
    result = check_success(spec.parent, schemas)
    assert setting(result, "class_weights") == ("balanced", "chosen")
    other = next(c for c in result["candidates"] if c["name"] == "org/small")
    losses = [float(n) for n in re.findall(r"\d+\.\d+(?:e-\d+)?", other["why"])]
    assert losses[1] < losses[0] < 0.5  # the encoder's own loss, with its weights, is above 0.6
    assert other["validation"]["loss"] > 0.6
