"""A search: what it trains, what survives a kill, and which model it delivers."""

import json
import multiprocessing
import os
import shutil
import signal
from collections import Counter
from pathlib import Path

import pytest
from conftest import events_of
from process_faults import KILLED, _run, exit_code, run_apart, start_apart, undisturbed  # noqa: F401 - fixtures
from result_checks import check_files, codes, error_of, result_of, setting, weights
from small_datasets import flowers, yields

from trainer.run import run
from trainer.search import run as search_run, space

pytestmark = pytest.mark.usefixtures("lone_network")

SPACE = "learning_rate: 1e-4..5e-4, batch_size: 32|64"
OPTIONS = {"epochs": 9, "model": "mlp", "more_options": f"search.trials: 4\nsearch.space: {SPACE}\nearly_stopping_patience: 0"}
SLOW_START = {  # so few steps that a larger rate is better beyond chance
    "epochs": 3, "model": "mlp", "more_options": "search.trials: 4\nsearch.space: learning_rate: 0.01..0.03\ndata.validation_fraction: 0.3"
}  # fmt: skip
PLAIN = {"epochs": 9, "model": "mlp", "more_options": "early_stopping_patience: 0"}


def table(result: dict) -> list[dict]:
    """The trials without the time that they took."""
    return [{k: v for k, v in t.items() if k != "seconds"} for t in result["search"]["trials"]]


def search(spec: Path, schemas) -> dict:
    assert run(str(spec), "local") == 0
    return check_files(spec.parent, schemas)


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """Where ``searched`` keeps its run for the next tests."""
    return tmp_path_factory.mktemp("kept") / "run"


@pytest.fixture
def searched(make_run, schemas, kept) -> Path:
    """The folder of a finished search."""
    spec = make_run({"all.csv": flowers(300)}, **OPTIONS)
    if kept.exists():
        shutil.copytree(kept, spec.parent, dirs_exist_ok=True)
    else:
        search(spec, schemas)
        shutil.copytree(spec.parent, kept)
    return spec.parent


def test_a_search_measures_every_trial_and_trains_the_better_third_on(searched):
    result = result_of(searched)
    trials = result["search"]["trials"]
    assert [t["number"] for t in trials] == [0, 1, 2, 3]
    assert trials[0]["settings"] == {} and trials[0]["default"] and trials[0]["epochs"] == 9
    assert [t["settings"] for t in trials[1:]] == [space.draw(space.parse(SPACE), 42, i) for i in (1, 2, 3)]
    best = result["search"]["best"]
    assert [t["number"] for t in trials if t["rungs"] == 3] == [best]
    assert {t["epochs"] for t in trials if t["state"] == "dropped"} == {1}
    assert min(trials[1:], key=lambda t: t["loss"])["number"] == best
    assert sum(t["epochs"] for t in trials) <= 2.3 * trials[0]["epochs"]  # in epochs, because small trainings are timed badly
    assert {c["number"] for c in result["search"]["curves"]} == {0, best}
    assert set(result["search"]["default_test"]) == set(result["search"]["best_test"]) == set(result["metrics"]["test"])
    assert "few_validation_rows" in codes(result)


def test_the_default_of_a_search_has_the_bits_of_a_plain_training(make_run, searched):
    plain = make_run({"all.csv": flowers(300)}, run="ft-plain", **PLAIN)
    assert run(str(plain), "local") == 0
    result = result_of(searched)
    assert result["search"]["chosen"] == 0
    assert result["search"]["why"].startswith("The default settings are kept: ")
    assert weights(plain.parent) == result["model"]["weights_sha256"]
    assert result_of(plain.parent)["metrics"]["test"] == result["metrics"]["test"] == result["search"]["default_test"]


def test_a_better_trial_is_delivered_with_its_settings(make_run, schemas):
    result = search(make_run({"all.csv": flowers(600)}, **SLOW_START), schemas)
    found = result["search"]
    assert found["chosen"] == found["best"] > 0, found["why"]
    assert found["comparison"]["better"] and "replaces the default settings" in found["why"]
    rate = found["trials"][found["best"]]["settings"]["learning_rate"]
    assert setting(result, "learning_rate") == (rate, "chosen")
    assert result["metrics"]["test"] == found["best_test"]
    more = "\n".join(f"{n}: {setting(result, n)[0]}" for n in ("learning_rate", "evals_per_epoch", "early_stopping_patience", "validation_fraction"))
    again = make_run({"all.csv": flowers(600)}, run="ft-again", epochs=3, model="mlp", more_options=more)
    assert run(str(again), "local") == 0
    assert weights(again.parent) == result["model"]["weights_sha256"], "a training with these settings gives another model"


BOUND = 3.5  # trainings' worth of work of a search of ten trials


@pytest.mark.parametrize(
    ("rows", "options", "begun"),
    [
        (300, {"epochs": 12}, 10),
        (300, {"epochs": 30, "more_options": "early_stopping_patience: 1"}, 10),
        (300, {"epochs": 9, "more_options": "search.space: batch_size: 4|8, learning_rate: 1e-4..1e-2\nearly_stopping_patience: 0"}, 10),
        (60, {"epochs": 1}, 4),
        (60, {"epochs": 2, "batch_size": 64}, 4),
    ],
    ids=[
        "all epochs", "where the default stops early", "with smaller batches than the default's", "in one epoch of two steps",
        "in two epochs of a step",
    ],
)  # fmt: skip
def test_a_search_of_ten_trials_is_at_most_three_and_a_half_trainings(make_run, schemas, rows, options, begun):
    more = "search.trials: 10\n" + options.get("more_options", "")
    result = search(make_run({"all.csv": flowers(rows)}, model="mlp", **{**options, "more_options": more}), schemas)
    trials, size = result["search"]["trials"], options.get("batch_size", 32)

    def work(trial: dict) -> float:
        batch = trial["settings"].get("batch_size", size)
        return trial["epochs"] * (result["data"]["rows"]["train"] + 200 * -(-result["data"]["rows"]["train"] // batch))

    assert sum(map(work, trials)) <= BOUND * work(trials[0])
    assert result["search"]["trainings"] == pytest.approx(sum(map(work, trials)) / work(trials[0]), abs=0.02)
    assert sum(t["state"] != "waiting" for t in trials) == begun
    assert ("search_work" in codes(result)) == (begun < 10)


def test_a_trial_that_ends_with_the_default_can_be_trained_again(make_run, schemas):
    options = {**SLOW_START, "epochs": 6, "more_options": f"{SLOW_START['more_options']}\nstop_after: 3"}
    result = search(make_run({"all.csv": flowers(600)}, **options), schemas)
    assert result["search"]["chosen"] > 0
    assert [t["epochs"] for t in result["search"]["trials"] if t["state"] == "kept"] == [3, 3]
    names = ("learning_rate", "evals_per_epoch", "early_stopping_patience", "validation_fraction", "stop_after")
    more = "\n".join(f"{n}: {setting(result, n)[0]}" for n in names)
    again = make_run({"all.csv": flowers(600)}, run="ft-again", epochs=6, model="mlp", more_options=more)
    assert run(str(again), "local") == 0
    assert weights(again.parent) == result["model"]["weights_sha256"]
    assert result_of(again.parent)["training"]["stopped"] == "stop_after reached"


def test_numbers_are_searched_too(make_run, schemas):
    result = search(make_run({"all.csv": yields(200)}, epochs=4, model="mlp", more_options="search.trials: 3"), schemas)
    assert result["task"] == "tabular-regression"
    assert {"learning_rate", "weight_decay", "batch_size"} == set(result["search"]["trials"][1]["settings"])


def test_the_events_tell_how_far_the_search_is(searched):
    events = events_of(searched)
    trials = [e for e in events if e["kind"] == "trial"]
    assert Counter(e["state"] for e in trials)["dropped"] == 2
    fractions = [e["fraction"] for e in trials]
    assert fractions == sorted(fractions) and fractions[-1] == pytest.approx(1)
    assert trials[-1]["best_settings"] and trials[-1]["trials"] == 4
    measured = [e["epoch"] for e in events if e["kind"] == "eval" and e["split"] == "validation"]
    assert measured == sorted(measured)  # of the chosen trial only


@pytest.fixture(scope="module")
def counted(start_apart, tmp_path_factory):  # noqa: F811
    """counted(spec, place, number, signal) carries out a run in its own process, and notes every evaluation in ``measured.txt``."""
    context = multiprocessing.get_context("forkserver")

    def apart(spec: Path, *where) -> int:
        process = context.Process(target=_counted, args=(str(spec), *(where or (None, 0, signal.SIGKILL))))
        process.start()
        return exit_code(process)

    return apart


def _counted(spec: str, place, number, sent=signal.SIGKILL) -> None:
    from trainer.train import loop

    real = loop.Training._measure

    def measure(training) -> None:
        with open(Path(spec).parent / "measured.txt", "a") as f:
            f.write(f"{training.plan.digest[:12]} {training.at.step}\n")
        real(training)

    loop.Training._measure = measure
    _run(spec, place, number, sent, "")


def evaluations(spec: Path) -> Counter:
    return Counter((spec.parent / "measured.txt").read_text().splitlines())


@pytest.fixture(scope="module")
def undisturbed_search(counted, tmp_path_factory):
    """The result of the search to which nothing happens, by its parameters."""
    known = {}

    def of(spec: Path) -> tuple[dict, Counter]:
        document = json.loads(spec.read_text())
        key = json.dumps(document["settings"])
        if key not in known:
            folder = tmp_path_factory.mktemp("undisturbed") / "shared" / "runs" / "ft-undisturbed"
            (folder / "inputs").mkdir(parents=True)
            (folder / "inputs" / "all.csv").write_bytes((spec.parent / "inputs" / "all.csv").read_bytes())
            (folder / "spec.json").write_text(json.dumps({**document, "run": "ft-undisturbed"}))
            assert counted(folder / "spec.json") == 0
            known[key] = result_of(folder), evaluations(folder / "spec.json")
        return known[key]

    return of


def check_same(spec: Path, undisturbed_search, kills: int) -> None:
    """The search ended as if nothing had happened, and only evaluations that a kill cut off were made again."""
    expected, once = undisturbed_search(spec)
    result = result_of(spec.parent)
    assert result["model"]["weights_sha256"] == expected["model"]["weights_sha256"]
    assert table(result) == table(expected)
    assert [result["search"][k] for k in ("chosen", "best", "why", "curves")] == [expected["search"][k] for k in ("chosen", "best", "why", "curves")]
    made = evaluations(spec)
    assert made.keys() == once.keys()
    assert (made - once).total() <= kills


# Before which call of os.replace the run is killed: they publish checkpoints, their index and the state of the search.
@pytest.mark.parametrize("number", [1, 2, 9, 24, 41, 48, 57, 66])
def test_a_search_that_is_killed_ends_as_if_nothing_had_happened(make_run, counted, undisturbed_search, number):
    spec = make_run({"all.csv": flowers(300)}, **OPTIONS)
    assert counted(spec, "replace", number) == KILLED
    assert counted(spec) == 0
    check_same(spec, undisturbed_search, kills=1)


def test_a_search_that_is_killed_again_and_again_ends_as_if_nothing_had_happened(make_run, counted, undisturbed_search):
    spec = make_run({"all.csv": flowers(600)}, **SLOW_START)
    kills = 0
    while counted(spec, "replace", 12) == KILLED:
        kills += 1
        assert kills < 40
    assert kills > 3
    check_same(spec, undisturbed_search, kills)


def test_a_paused_search_goes_on_where_it_was(make_run, counted, undisturbed_search):
    spec = make_run({"all.csv": flowers(300)}, **OPTIONS)
    assert counted(spec, "step", 11, signal.SIGTERM) == 143
    assert not (spec.parent / "result.json").exists() and not (spec.parent / "error.json").exists()
    assert counted(spec) == 0
    check_same(spec, undisturbed_search, kills=0)


def test_the_weights_of_losers_are_removed_at_once(make_run, schemas, monkeypatch):
    spec = make_run({"all.csv": flowers(300)}, **OPTIONS)
    seen = []
    real = search_run.Runner._carry_out

    def carry_out(runner, rung):
        seen.append(sorted(os.listdir(spec.parent / "checkpoints")))
        real(runner, rung)

    monkeypatch.setattr(search_run.Runner, "_carry_out", carry_out)
    best = search(spec, schemas)["search"]["best"]
    assert seen == [["trial-00"], *[["trial-00", f"trial-{best:02d}"]] * 2]


def test_a_trial_that_diverges_is_dropped(make_run, schemas, monkeypatch):
    _diverges(monkeypatch, lambda rate: rate > 0.5)
    spec = make_run({"all.csv": flowers(300)}, epochs=3, model="mlp", more_options="search.trials: 3\nsearch.space: learning_rate: 0.9|0.95|0.99")
    result = search(spec, schemas)
    warning = next(w["text"] for w in result["warnings"] if w["code"] == "trial_dropped")
    assert warning == f"Trial 1 diverged and was dropped: learning_rate {result['search']['trials'][1]['settings']['learning_rate']}."
    assert [t["state"] for t in result["search"]["trials"]] == ["kept", "diverged", "diverged"]
    assert result["search"]["why"] == "The default settings are kept: none of 2 other trials gave a model."


def test_only_if_every_trial_diverges_the_run_fails(make_run, schemas, monkeypatch):
    _diverges(monkeypatch, lambda rate: True)
    spec = make_run({"all.csv": flowers(300)}, epochs=3, model="mlp", more_options="search.trials: 3")
    assert run(str(spec), "local") == 2
    assert error_of(spec.parent)["code"] == "diverged"


def test_a_trial_is_used_if_the_default_diverges(make_run, schemas, monkeypatch):
    _diverges(monkeypatch, lambda rate: rate == 0.001)
    result = search(make_run({"all.csv": flowers(300)}, epochs=3, model="mlp", more_options="search.trials: 3"), schemas)
    assert result["search"]["chosen"] == result["search"]["best"] > 0
    assert result["search"]["why"].endswith("is used, because the training with the default settings diverged.")
    assert "default_test" not in result["search"]


def _diverges(monkeypatch, when) -> None:
    from trainer.train import loop

    real = loop.Training._finite
    monkeypatch.setattr(loop.Training, "_finite", lambda self, loss: real(self, float("nan") if when(self.rate) else loss))


def test_no_trial_begins_late_and_the_repeated_search_has_the_same_trials(make_run, schemas, monkeypatch):
    real = search_run.Runner._spent
    minutes = {"spent": lambda runner: 10 + 12.0 * sum(r.state != "waiting" for r in runner.state.records.values())}
    monkeypatch.setattr(search_run.Runner, "_spent", lambda runner: minutes["spent"](runner))
    options = {"epochs": 6, "model": "mlp"}
    result = search(make_run({"all.csv": flowers(300)}, **options, more_options=f"search.minutes: 1\nsearch.space: {SPACE}"), schemas)
    states = [t["state"] for t in result["search"]["trials"]]
    assert len(states) == 28 and states.count("waiting") == 25, states  # 36 s of 60 s are spent after the second trial
    assert "search_time" in codes(result)
    monkeypatch.setattr(search_run.Runner, "_spent", real)
    repeat = result["search"]["repeat"]
    assert (repeat["trials"], repeat["minutes"]) == (3, 0)
    more = "\n".join(f"{name}: {value}" for name, value in repeat.items() if name != "model")
    again = search(make_run({"all.csv": flowers(300)}, run="ft-again", epochs=6, model=repeat["model"], more_options=more), schemas)
    assert table(again) == [t for t in table(result) if t["state"] != "waiting"]
    assert again["model"]["weights_sha256"] == result["model"]["weights_sha256"]


def test_a_search_says_before_it_starts_how_many_trials_fit(make_run, schemas, monkeypatch):
    from trainer.train import estimate

    monkeypatch.setattr(estimate, "seconds", lambda *_: 1440.0)
    result = search(make_run({"all.csv": flowers(300)}, **{**OPTIONS, "more_options": "search.trials: 10"}, max_minutes=60), schemas)
    said = [w["text"] for w in result["warnings"] if w["code"] == "search_time"]
    assert said == ["10 trials would take about 1 h 20 min; max_minutes is 60. 5 trials fit; the search stops there."]
    assert result["estimate_seconds"] == pytest.approx(4800)


def test_a_person_can_keep_the_best_so_far(make_run, schemas, monkeypatch):
    from trainer.train import consensus, loop

    monkeypatch.setattr(consensus, "LOOK_SECONDS", 0.0)
    spec = make_run({"all.csv": flowers(300)}, **OPTIONS)
    real = loop.Training._step

    def step(training):
        if training.settings.learning_rate:  # a trial that is not the default
            (spec.parent / "stop").write_text("keep")
        return real(training)

    monkeypatch.setattr(loop.Training, "_step", step)
    result = search(spec, schemas)
    assert result["search"]["ended"] == "stopped by a person"
    assert [t["state"] for t in result["search"]["trials"]] == ["kept", "begun", "waiting", "waiting"]


@pytest.mark.parametrize(
    ("options", "what"),
    [
        (
            {"more_options": "search.trials: 3\nsearch.space: learningrate: 1e-4..1e-2"},
            "search.space names no option called learningrate; did you mean learning_rate?",
        ),
        (
            {"learning_rate": 0.001, "more_options": "search.trials: 3\nsearch.space: learning_rate: 1e-4..1e-2"},
            "learning_rate is set to 0.001 in the form and searched in search.space.",
        ),
    ],
)
def test_a_wrong_space_is_refused_before_the_data_is_read(make_run, options, what):
    spec = make_run({"all.csv": flowers(60)}, **options)
    assert run(str(spec), "local") == 2
    assert error_of(spec.parent)["what"] == what
    assert not [e for e in events_of(spec.parent) if e.get("phase") == "prepare"]


def test_a_search_uses_one_worker(make_run, schemas):
    spec = make_run({"all.csv": flowers(300)}, **{**OPTIONS, "num_workers": 3, "epochs": 2})
    result = search(spec, schemas)
    assert result["training"]["workers"] == 1
    assert "A search uses one worker instead of 3." in [e.get("why") for e in events_of(spec.parent)]
