"""The driver's part of a search: which trials there are, what their work is, and what is delivered when they are done."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy
import pytest
from small_searches import BATCH, ROWS, TARGET, Recorder, plan, rows, searching, settings

from trainer.config.settings import CHOSEN
from trainer.core import registry
from trainer.core.example import Dataset
from trainer.errors import UserError
from trainer.kinds.rows.label_sets import TASK as LABEL_SETS
from trainer.launch.outcome import Outcome, Searched
from trainer.measure.predictions import Predictions
from trainer.models.catalogue import Base
from trainer.search import cost, space as spaces
from trainer.search.cost import STEP, Costs
from trainer.search.trials import KEPT, WAITING, Record, Search, State, Trial
from trainer.targets.number import Number
from trainer.train.position import Position
from trainer.training import candidates, prepare, search_conclusion as conclude, search_setup as setup
from trainer.training.candidates import Candidate, Wanted

# The work of trials.


@pytest.mark.parametrize(
    ("size", "share"),
    [
        pytest.param(BATCH, 1.0, id="the same batches"),
        pytest.param(3 * BATCH, 1.0, id="fewer steps are less work, but no trial is longer than the default"),
        pytest.param(BATCH // 5, (ROWS + 9 * STEP) / (ROWS + 45 * STEP), id="many steps"),
        pytest.param(1, (ROWS + 9 * STEP) / (ROWS + 90 * STEP), id="a step for each row"),
    ],
)
def test_a_trial_of_small_batches_has_fewer_epochs(size, share):
    assert Costs(plan()).share(Trial(1, {"batch_size": size})) == pytest.approx(share)


def test_work_is_counted_in_trainings_with_the_default_settings():
    costs = Costs(plan())
    trial = Trial(1, {"batch_size": 2})
    assert costs.of(Trial(1, {}), 3, 9) == pytest.approx(1 / 3)
    assert costs.of(trial, 9 * costs.share(trial), 9) == pytest.approx(1)
    assert costs.of(Trial(1, {}), 0, 9) == 0


def test_rows_of_a_batch_cost_as_much_as_its_longest():
    long = plan(splits={"train": rows(0, [1] * 45 + [1000] * 45), "validation": rows(9), "test": rows(9)})
    own = Trial(1, {}, replace(long, base=Base("long", "text")))
    costs = Costs(plan())
    assert costs.share(own) == 1.0  # a trial with another model is measured by that model's default
    assert costs.share(replace(own, values={"batch_size": 2})) > costs.share(Trial(2, {"batch_size": 2}))


def test_images_cost_by_their_pixels():
    class Images:
        lengths = numpy.ones(ROWS, numpy.int64)

        def batch(self, wanted, augment=None):
            return {"pixel_values": numpy.zeros((len(wanted), 3, 8, 4))}

    of_images = plan(kind=registry.of("image"), splits={"train": replace(rows(ROWS), features=Images())})
    small, large = Costs(plan()), Costs(of_images)
    assert large.share(Trial(1, {"batch_size": 1})) == pytest.approx((32 * ROWS + 9 * STEP) / (32 * ROWS + 90 * STEP))
    assert large.share(Trial(1, {"batch_size": 1})) > small.share(Trial(1, {"batch_size": 1}))


def test_the_work_of_a_search_is_that_of_all_its_trials():
    search = Search((Trial(0, {}), Trial(1, {}), Trial(2, {})))
    state = State({0: Record(epochs=9), 1: Record(epochs=3), 2: Record()}, length=9)
    assert Costs(plan()).total(state, search) == 1.33


def test_the_rungs_of_a_trial_end_at_evaluations():
    found = Costs(plan()).rungs(Trial(1, {}), plan(), 9)
    assert found == pytest.approx([1 / 9, 1 / 3, 1])
    coarse = plan(splits={"train": rows(BATCH)}, settings=settings(evals_per_epoch=4))
    assert cost.stops(coarse) == 1  # an epoch of one step has one place for an evaluation
    assert cost.stops(plan(settings=settings(evals_per_epoch=4))) == 4


# The trials.


class Encoder:
    def described(self) -> dict:
        return {"model": {}}


def ready(name: str = "network", **more) -> prepare.Prepared:
    return prepare.Prepared(plan(name=name, **more), Encoder())


def data(validation: int = 600) -> Dataset:
    splits: dict = {"train": [], "validation": [None] * validation, "test": []}
    return Dataset("text-classification", registry.of("text"), splits, [], (), "label", TARGET.labels)


@pytest.fixture
def make(monkeypatch):
    """make(settings, installed, rows) is the plan of a search, what other models were prepared, and what was told. ``installed`` are the names
    of the models."""

    def made(given, installed=(), validation: int = 600):
        bases = [Base(name, "image" if name.startswith("image") else "text", Path("/models") / name) for name in installed]
        monkeypatch.setattr(setup.catalogue, "installed", lambda models: bases)
        asked = []

        def another(spec, own, dataset, wanted, events, on_gpu):
            events.phase("prepare", "Preparing.")
            events.decision("encoding", 1, "It suits.")
            events.warning("truncated", "Texts are cut.")
            dataset.checks.append("a check of another model")
            asked.append((own.model, own.source("model")))
            return ready(wanted.network.name)

        monkeypatch.setattr(setup.prepare, "make", another)
        heard = Recorder()
        heard.path, heard.attempt = Path("/dev/null"), 1
        dataset = data(validation)
        found, own = setup.make(SimpleNamespace(models=Path("/models")), given, dataset, ready(settings=given), heard, False)
        assert not dataset.checks
        return found.plan.search, own, heard, asked

    return made


def chosen(**given):
    """Settings whose model nobody has chosen."""
    return settings(sources={"model": CHOSEN}, **given)


def test_the_trials_are_drawn_by_the_seed(make):
    search, own, heard, _ = make(chosen(trials=5))
    assert [t.number for t in search.trials] == [0, 1, 2, 3, 4] and search.trials[0].values == {} and not own
    assert all(t.values.keys() == {"batch_size", "label_smoothing", "learning_rate", "weight_decay"} for t in search.trials[1:])
    assert search == make(chosen(trials=5))[0] and search.digest != make(chosen(trials=5, seed=7))[0].digest
    assert not heard.warnings and not search.repeats


def test_a_limit_of_time_alone_plans_many_trials(make):
    search, *_ = make(chosen(trials=0, minutes=30))
    assert len(search.trials) == setup.TRIALS and search.minutes == 30


@pytest.mark.parametrize(("count", "said"), [(499, "With 499 validation rows"), (1, "With 1 validation row a"), (500, None)])
def test_few_validation_rows_are_told(make, count, said):
    _, _, heard, _ = make(chosen(trials=2), validation=count)
    assert heard.warnings.get("few_validation_rows", "").startswith(said or "") and bool(heard.warnings) == bool(said)


def test_other_installed_models_begin_with_their_default_settings_and_take_turns(make):
    search, own, heard, asked = make(chosen(trials=8), ["network", "a/one", "image/one", "b/two"])
    models = [t.plan.base.name if t.plan else None for t in search.trials]
    assert models == [None, "a/one", "b/two", None, "a/one", "b/two", None, "a/one"]
    assert [bool(t.values) for t in search.trials] == [False, False, False, True, True, True, True, True]
    assert {n: p.plan.base.name for n, p in own.items()} == {1: "a/one", 2: "b/two", 4: "a/one", 5: "b/two", 7: "a/one"}
    assert asked == [("a/one", CHOSEN), ("b/two", CHOSEN)]
    assert not heard.sentences and not heard.warnings and not heard.phases  # what is decided for another model is no news about the run


def test_few_of_many_installed_models_are_tried(make):
    search, *_ = make(chosen(trials=20), [f"a/m{i}" for i in range(9)])
    assert len({t.plan.base.name for t in search.trials if t.plan}) == setup.MAX_MODELS


@pytest.mark.parametrize(
    "given",
    [settings(trials=3), settings(trials=3, model="network"), chosen(trials=3, space="batch_size: 16|32")],
    ids=["default", "named", "a space"],
)
def test_no_other_model_is_tried_where_a_person_has_said_what_is_tried(make, given):
    search, own, _, asked = make(given, ["a/one"])
    assert not asked and not own and all(t.plan is None for t in search.trials)


def test_a_space_says_what_is_drawn(make):
    search, *_ = make(settings(trials=9, space="batch_size: 16|32"))
    assert {t.values["batch_size"] for t in search.trials[1:]} == {16, 32}


def test_a_list_of_trials_is_repeated(make):
    given = settings(space="{model: a/one, batch_size: 20} {learning_rate: 0.002} {model: c/gone, batch_size: 40}")
    search, own, _, asked = make(given, ["a/one", "b/two"])
    assert search.repeats and [t.values for t in search.trials] == [{}, {"batch_size": 20}, {"learning_rate": 0.002}, {"batch_size": 40}]
    assert [a for a, _ in asked] == ["a/one"] and own.keys() == {1} and search.trials[1].plan.base.name == "a/one"


def test_a_search_takes_a_network():
    there = Wanted(("words",), Base("bert", "text"))
    assert setup.with_network(there, registry.of("text"), "") is there
    built_in = setup.with_network(Wanted(("words",), None, skipped=({"name": "x"},)), registry.of("text"), "")
    assert built_in.network == Base(registry.of("text").shape, "text") and not built_in.skipped and built_in.estimators == ("words",)


@pytest.mark.parametrize(
    ("wanted", "task", "named"),
    [(Wanted(("trees",), None, "trees"), "", "trees"), (Wanted(("words", "averaged"), None), LABEL_SETS, "words")],
    ids=["a person has named an estimator", "several labels for each row"],
)
def test_a_model_without_settings_is_not_searched(wanted, task, named):
    with pytest.raises(UserError, match=f"The model {named} has no settings to search") as e:
        setup.with_network(wanted, registry.of("text"), task)
    assert e.value.code == "search_model" and "search.trials to 0" in e.value.do


def test_the_options_repeat_a_search():
    trials = (Trial(0, {}), Trial(1, {"learning_rate": 0.002}), Trial(2, {"batch_size": 20}, plan(name="a/one")), Trial(3, {"freeze_encoder": True}))
    found = setup.repeat(trials, {0, 1, 2}, chosen(), 0.01)
    assert found["space"] == "{learning_rate: 0.002} {model: a/one, batch_size: 20}" and found["trials"] == 3 and found["minutes"] == 0
    assert (found["learning_rate"], found["batch_size"], found["model"]) == (0.01, BATCH, "auto")
    assert {"evals_per_epoch", "early_stopping_patience", "freeze_encoder"} <= found.keys()
    assert spaces.listed(found["space"]) == [{"learning_rate": 0.002}, {"model": "a/one", "batch_size": 20}]
    named = setup.repeat(trials[:1], {0}, settings(model="a/one"), 0.01)
    assert (named["trials"], named["model"]) == (1, "a/one") and "learning_rate" not in named


# The conclusion.


def answers(right: float, count: int = 200) -> dict:
    """Answers on every split, of which the true class has the probability ``right``."""
    truth = numpy.arange(count) % 2
    own = numpy.full(count, right) + 0.001 * (numpy.arange(count) % 5)
    both = numpy.stack([numpy.where(truth == 0, own, 1 - own), numpy.where(truth == 1, own, 1 - own)], axis=1)
    return {n: Predictions(truth, both.argmax(axis=1), both.max(axis=1), own, both) for n in ("train", "validation", "test")}


def outcome(right: float, searched: Searched | None = None) -> Outcome:
    return Outcome(
        Path("/saved"), "cpu", 1, 10, 0.003, 1, "fp32", "all epochs done", 9.0, Position(), 1.0, 1.0, 1.0, 0, [], answers(right), None,
        {}, {},
        search=searched,
    )  # fmt: skip


HISTORIES = {0: [{"epoch": 1.0, "step": 9, "train_loss": 0.7, "metrics": {"loss": 0.6}}], 2: []}


def searched(right: float | None, default: bool = True, state: str = KEPT, ended: str = "") -> Searched:
    """A search whose best trial, number 2, gives the true class the probability ``right``; None without a best one."""
    table = [{"number": n, "state": state if n else KEPT, "default": n == 0} for n in range(3)]
    best, own = (outcome(right) if right and default else None), settings(learning_rate=0.002)
    trial = 2 if right else None
    return Searched(table, HISTORIES, trial, own if right else None, default, best, ended, 12.5, 2.5)


@pytest.fixture
def concluded(tmp_path):
    """concluded(search, right) is the conclusion and what was told. The default settings give the true class the probability ``right``."""

    def made(found: Searched, right: float = 0.6, others=(), own=None):
        default = prepare.Prepared(searching(tmp_path, others=2), Encoder())
        network = candidates.trained(default.plan.base, outcome(right, found), default.plan.target)
        every = [network, *others]
        best = max(every, key=lambda c: c.outcome.answers["validation"].likelihood.mean())
        heard = Recorder()
        return conclude.conclude(settings(), default, own or {}, every, best, heard), heard

    return made


def estimator(right: float) -> Candidate:
    return Candidate(Base("words", "text"), "words", outcome(right), SimpleNamespace())


def test_without_a_search_there_is_no_conclusion(concluded):
    assert concluded(None)[0] is None


def test_a_better_trial_is_delivered_with_its_settings(concluded):
    found, heard = concluded(searched(0.9))
    assert found.document["chosen"] == found.document["best"] == 2 and found.settings.learning_rate == 0.002
    assert found.prepared.plan.settings is found.settings and found.best in found.found and found.best.outcome.answers is not None
    assert (
        heard.sentences["search"] == found.document["why"] and "Trial 2 (learning_rate 0.002) replaces the default settings" in found.document["why"]
    )
    assert found.document["comparison"]["better"] and found.document["test_comparison"]["better"]
    assert {"default_test", "best_test"} <= found.document.keys() and "ended" not in found.document and not heard.evaluations


def test_a_trial_that_is_no_better_leaves_the_default_and_its_curve(concluded):
    found, heard = concluded(searched(0.6))
    assert found.document["chosen"] == 0 and found.best.outcome.search is not None and found.settings.learning_rate == 0.0
    assert "The default settings are kept: the best of 2 other trials is not better" in found.document["why"]
    assert heard.evaluations == [(1.0, 9, "train", {"loss": 0.7}), (1.0, 9, "validation", {"loss": 0.6})]


@pytest.mark.parametrize(
    ("state", "said"), [(KEPT, "none of 2 other trials gave a model"), (WAITING, "Only the default settings were tried.")], ids=["failed", "none"]
)
def test_a_search_without_another_trial_says_why(concluded, state, said):
    found, _ = concluded(searched(None, state=state))
    assert said in found.document["why"] and found.document["chosen"] == 0
    assert "best" not in found.document and "comparison" not in found.document


def test_a_default_that_diverged_is_replaced(concluded):
    found, _ = concluded(searched(0.8, default=False), right=0.8)
    assert found.document["chosen"] == 2 and "because the training with the default settings diverged" in found.document["why"]
    assert "default_test" not in found.document and "comparison" not in found.document and found.settings.learning_rate == 0.002


def test_an_estimator_that_is_better_than_all_trials_is_kept_and_named(concluded):
    words = estimator(0.95)
    found, heard = concluded(searched(0.8), others=[words])
    assert found.best is words and found.document["default_model"] == "words" and found.document["chosen"] == 0
    assert "The default model words is kept" in found.document["why"] and not heard.evaluations


def test_a_trial_that_is_better_than_an_estimator_is_delivered(concluded):
    words = estimator(0.7)
    found, _ = concluded(searched(0.9), others=[words])
    assert found.document["chosen"] == 2 and "replaces the default model words" in found.document["why"]
    assert found.found == [words, found.best]


def test_a_default_that_diverged_leaves_an_estimator_to_compare_with(concluded):
    words = estimator(0.9)
    found, _ = concluded(searched(0.6, default=False), right=0.6, others=[words])
    assert found.best is words and found.document["chosen"] == 0


def test_a_trial_with_another_model_has_its_own_preparation(concluded):
    other = ready("a/one")
    found, _ = concluded(searched(0.9), own={2: other})
    assert found.prepared.encoder is other.encoder and found.best.base.name == found.prepared.plan.base.name == "a/one"


def test_a_search_that_ended_early_says_so(concluded):
    assert concluded(searched(0.9, ended="time limit"))[0].document["ended"] == "time limit"


def test_numbers_are_compared_in_units_of_their_spread(tmp_path):
    def predicted(shift: float) -> dict:
        truth = numpy.arange(100.0)
        return {n: Predictions(truth, truth + shift + 0.01 * (numpy.arange(100) % 3)) for n in ("train", "validation", "test")}

    best = replace(outcome(0.9), answers=predicted(1.0))
    found = replace(searched(0.9), best=best)
    made = prepare.Prepared(searching(tmp_path, others=2, target=Number(50.0, 10.0), metric="rmse"), Encoder())
    network = candidates.trained(made.plan.base, replace(outcome(0.6, found), answers=predicted(20.0)), made.plan.target)
    document = conclude.conclude(settings(), made, {}, [network], network, Recorder()).document
    assert document["comparison"]["difference"] == pytest.approx(3.99, abs=0.01) and document["chosen"] == 2


@pytest.mark.parametrize(("evaluations", "points"), [(0, 0), (1, 1), (100, 100), (101, 51), (1000, 100)])
def test_the_curve_of_a_trial_has_few_points_and_ends_with_the_last(concluded, evaluations, points):
    history = [{"epoch": i / 10, "step": i, "train_loss": 0.5, "metrics": {"loss": 1 / (i + 1)}} for i in range(evaluations)]
    found, _ = concluded(replace(searched(0.9), histories={0: history}))
    curve = found.document["curves"][0]
    assert curve["number"] == 0 and len(curve["points"]) == points
    assert not points or curve["points"][-1] == [(evaluations - 1) / 10, 0.5, 1 / evaluations]
