"""The temperature of a network: how it is chosen on held-out rows, that it changes no answer, and where it is applied."""

import json
from types import SimpleNamespace

import numpy
import pytest
import torch
from hypothesis import given, strategies as st

from trainer.answer.model import Network
from trainer.core import registry
from trainer.core.plan import Rows
from trainer.export import tempered as sections
from trainer.kinds.label_sets.target import Labels
from trainer.kinds.tokens.target import NO_WORD, Tags
from trainer.launch import work
from trainer.measure.predictions import softmax
from trainer.targets import temperature
from trainer.targets.classes import Classes
from trainer.targets.number import Number
from trainer.targets.temperature import FEWEST, LEAST, MOST, NONE
from trainer.train import evaluate

ABC = Classes(("a", "b", "c"))
TEMPERATURES = st.floats(LEAST, MOST)


def drawn(rows: int, too_sure: float, seed: int = 1, outputs: int = 3) -> tuple[numpy.ndarray, numpy.ndarray]:
    """Scores of a network (float32) that are ``too_sure`` times too large, and the right classes."""
    random = numpy.random.default_rng(seed)
    scores = random.normal(0, 2, (rows, outputs))
    right = numpy.asarray([random.choice(outputs, p=p) for p in softmax(scores)])
    return (scores * too_sure).astype(numpy.float32), right


@given(rows=st.integers(1, 40), classes=st.integers(2, 6), at=TEMPERATURES, scale=st.sampled_from([1e-7, 0.1, 3, 80]), seed=st.integers(0, 9))
def test_the_answer_of_classes_never_changes(rows, classes, at, scale, seed):
    scores = numpy.random.default_rng(seed).normal(0, scale, (rows, classes)).astype(numpy.float32)
    before = softmax(scores)
    after = Classes(tuple(map(str, range(classes))), temperature=at).tempered(before)
    assert (after.argmax(axis=1) == before.argmax(axis=1)).all()
    assert after.dtype == before.dtype and numpy.allclose(after.sum(axis=1), 1, atol=1e-5) and (after >= 0).all()


@given(at=TEMPERATURES, seed=st.integers(0, 9))
def test_it_is_the_softmax_of_divided_scores(at, seed):
    scores = numpy.random.default_rng(seed).normal(0, 3, (20, 4))
    assert numpy.allclose(temperature.of_classes(softmax(scores), at), softmax(scores / at), atol=1e-9)
    assert numpy.allclose(temperature.of_labels(1 / (1 + numpy.exp(-scores)), at), 1 / (1 + numpy.exp(-scores / at)), atol=1e-9)


def test_a_model_without_one_keeps_the_same_bits():
    outputs = softmax(drawn(30, 1)[0])
    for target in (ABC, registry.restored({"labels": ["a", "b", "c"]}), Number(0.0, 1.0)):
        assert temperature.applied(target, outputs) is outputs
    assert "temperature" not in ABC.described()


@pytest.mark.parametrize("too_sure", [0.25, 0.5, 1, 2, 5])
def test_the_planted_one_is_found(too_sure):
    scores, right = drawn(3000, too_sure)
    found = temperature.chosen(ABC.held_out(softmax(scores), right))
    assert found.temperature == pytest.approx(too_sure, rel=0.1) and (found.rows, found.why) == (3000, "")
    labels = Labels(("a", "b", "c"))
    random = numpy.random.default_rng(2)
    odds = random.normal(0, 2, (2000, 3))
    truth = (random.random(odds.shape) < 1 / (1 + numpy.exp(-odds))).astype(numpy.int64)
    outputs = labels.of_logits((odds * too_sure).astype(numpy.float32))
    assert temperature.chosen(labels.held_out(outputs, truth)).temperature == pytest.approx(too_sure, rel=0.1)


def test_few_rows_choose_none_and_say_so():
    scores, right = drawn(FEWEST, 5)
    found = temperature.chosen(ABC.held_out(softmax(scores[1:]), right[1:]), "texts")
    assert found.temperature == NONE and f"{FEWEST} held-out texts on, and there are {FEWEST - 1}" in found.why
    assert temperature.chosen(ABC.held_out(softmax(scores), right)).temperature > 2
    unknown = numpy.full(FEWEST, -1)
    assert temperature.chosen(ABC.held_out(softmax(scores), unknown)).temperature == NONE
    assert temperature.chosen(ABC.held_out(softmax(scores[:0]), right[:0])).temperature == NONE


@pytest.mark.parametrize("sure", [0.9, 0.99, 1 - 1e-7])
def test_rows_that_are_all_right_do_not_make_a_model_as_sure_as_one_can_be(sure):
    """Without a price of far temperatures the smallest one would be chosen."""
    outputs = numpy.tile(numpy.asarray([[sure, 1 - sure]], numpy.float32), (30, 1))
    assert 0.4 < temperature.chosen(Classes(("a", "b")).held_out(outputs, numpy.zeros(30, int))).temperature <= 1.0


def test_a_gain_that_chance_explains_is_none():
    assert temperature._TRIED[temperature._PLAIN] == NONE
    found = [temperature.chosen(ABC.held_out(softmax(s), r)).temperature for s, r in (drawn(60, 1, seed) for seed in range(30))]
    assert sum(t == NONE for t in found) > 20


def test_many_outputs_are_looked_at_in_part(monkeypatch):
    scores, right = drawn(3000, 3)
    monkeypatch.setattr(temperature, "CELLS", 3000)
    assert temperature.chosen(ABC.held_out(softmax(scores), right)).temperature == pytest.approx(3, rel=0.2)


def test_words_of_a_text_are_no_rows():
    tags = Tags(("O", "PER", "LOC"))
    scores, right = drawn(10 * (FEWEST - 1), 4)
    rows = numpy.full((FEWEST - 1, 12), NO_WORD)
    rows[:, 1:11] = right.reshape(-1, 10)
    assert temperature.chosen(tags.held_out(softmax(scores), rows)).temperature == NONE
    more, outputs = numpy.concatenate([rows, rows]), softmax(numpy.concatenate([scores, scores]))
    assert temperature.chosen(tags.held_out(outputs, more)).temperature == pytest.approx(4, rel=0.3)


def test_a_saved_model_predicts_the_labels_that_its_thresholds_decided():
    odds = numpy.random.default_rng(3).normal(0, 3, (200, 3)).astype(numpy.float32)
    truth = (odds > 1).astype(numpy.int64)
    plain = Labels(("a", "b", "c"))
    warm = plain.with_temperature(2.5)
    said = {}
    for target in (plain, warm):
        outputs = temperature.applied(target, plain.of_logits(odds))
        decided, answers = target.decided({"validation": target.answers(outputs, truth)})
        said[target] = answers["validation"].predicted
        again = temperature.applied(decided, decided.of_logits(odds))  # as a saved model does
        assert (decided.answers(again, truth).predicted == said[target]).all()
    assert (said[plain] == said[warm]).mean() > 0.98, "a threshold lies in the middle of a gap, which is another score at another temperature"


@pytest.mark.parametrize("target", [ABC, Labels(("a", "b")), Tags(("O", "PER"))])
def test_it_is_saved_and_a_strange_one_is_refused(target):
    described = json.loads(json.dumps(target.with_temperature(1.75).described()))
    assert registry.restored(described) == target.with_temperature(1.75)
    for strange in (0, -1, 0.049, 20.1, float("nan"), float("inf"), -float("inf"), True, None, "2", [2.0], 10**400):
        with pytest.raises((TypeError, ValueError)):
            registry.restored({**described, "temperature": strange})


class Read:
    """Features that are the scores themselves."""

    def __init__(self, scores):
        self.scores, self.lengths = scores, numpy.ones(len(scores), int)

    def batch(self, rows, augment=None):
        return {"scores": self.scores[rows]}


class Passing(torch.nn.Module):
    def forward(self, scores):
        return SimpleNamespace(logits=scores)


def planned(target, too_sure: float, rows: int = 400):
    splits = {}
    for seed, name in enumerate(("train", "validation", "test")):
        scores, right = drawn(rows, too_sure, seed, len(target.labels))
        splits[name] = Rows(Read(scores), right)
    return SimpleNamespace(splits=splits, target=target, settings=SimpleNamespace(seed=1), kind=SimpleNamespace(things="rows"))


@pytest.mark.parametrize("classes", [3, 60])  # of more than 50 the probabilities are not kept
def test_a_worker_chooses_it_and_answers_at_it(classes):
    plan = planned(Classes(tuple(map(str, range(classes)))), 3.0)
    found = work._answers(Passing(), plan, torch.device("cpu"))
    assert found.calibrated.temperature == found.target.temperature == pytest.approx(3.0, rel=0.2)
    assert list(found.answers) == ["train", "validation", "test"]
    scores = plan.splits["test"].features.scores
    right = softmax(scores / found.target.temperature)[numpy.arange(400), plan.splits["test"].targets]
    assert numpy.allclose(found.answers["test"].likelihood, right, atol=1e-4)
    told = sections.training(SimpleNamespace(calibrated=found.calibrated, answers=found.answers), found.target, Said())
    written = {f.name: f.value for f in told[0].blocks[0].facts}
    after, before = (float(part.split()[-1]) for part in written["Loss on the test rows"].split(";"))
    assert after < 0.8 * before


@pytest.mark.parametrize(("rows", "says"), [(5, "there are 5"), (400, "too sure of 400 held-out rows")])
def test_the_decision_says_why(rows, says):
    plan, events = planned(ABC, 3.0, rows), Said()
    found = work._answers(Passing(), plan, torch.device("cpu"))
    told = sections.training(SimpleNamespace(calibrated=found.calibrated, answers=found.answers), found.target, events)
    (name, value, why), *_ = events.decisions
    assert (name, value) == ("temperature", found.target.temperature) and says in why and len(told) == 1
    assert sections.training(SimpleNamespace(calibrated=None), Number(0.0, 1.0), events) == [] and len(events.decisions) == 1


def test_a_network_without_torch_answers_the_same():
    """The pieces of a long text are averaged first, so the class is that without a temperature."""
    scores = drawn(6, 3)[0]
    owner = numpy.asarray([0, 0, 1, 2, 2, 2])
    warm = ABC.with_temperature(3.0)
    network = object.__new__(Network)
    network.encoder = SimpleNamespace(forget=lambda: None, encode=lambda *_: Rows(Read(scores), numpy.zeros(6), owner))
    network._logits = lambda rows, some: scores[some]
    network._target = warm
    rows = Rows(Read(scores), numpy.zeros(6, int), owner)
    by_torch = evaluate.outputs(Passing(), rows, warm, torch.device("cpu"), folded=True)
    plain = evaluate.outputs(Passing(), rows, ABC, torch.device("cpu"), folded=True)
    assert numpy.allclose(network.outputs([1, 2, 3]), by_torch, atol=1e-6)
    assert (by_torch.argmax(axis=1) == plain.argmax(axis=1)).all() and by_torch.max() < plain.max()


class Said:
    """The events of a run, of which the decisions are kept."""

    def __init__(self):
        self.decisions = []

    def decision(self, *what):
        self.decisions.append(what)
