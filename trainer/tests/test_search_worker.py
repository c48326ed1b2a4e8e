"""The search in its worker, with trainings whose losses a test says: who goes on, what is saved, and how a search ends."""

import json
import math
import time
from types import SimpleNamespace

import pytest
import torch
from small_searches import EPOCHS, Recorder, plan, searching, settings

from trainer.core.plan import CHECKPOINTS
from trainer.errors import UserError
from trainer.search import run as search_run, trials
from trainer.search.reporter import TrialReporter
from trainer.search.run import Runner
from trainer.search.trials import DIVERGED, DROPPED, KEPT, WAITING, Record
from trainer.train.loop import ALL_DONE, STOPPED, TIME_LIMIT, Context
from trainer.train.position import Position

PER_EPOCH = 9  # steps


class Script:
    """What every training of a search does: ``losses`` by the number of the trial, and ``raises`` or ``ends`` by it. ``saved`` are the
    positions that a training was saved at."""

    def __init__(self):
        self.losses: dict = {}
        self.raises: dict[int, Exception] = {}
        self.ends: dict[int, str] = {}
        self.saved: dict[str, Position] = {}
        self.begun: list[tuple[int, int | None]] = []
        self.seconds = 1.0

    def training(self, ctx, made, events, folder, reporter):
        return Training(self, made, folder, reporter)


class Training:
    """Stands for a training. Its loss at an evaluation is that of its trial over the number of evaluations."""

    def __init__(self, script: Script, made, folder: str, reporter: TrialReporter):
        self.script, self.plan, self.place, self.reporter = script, made, folder, reporter
        self.number, self.per_epoch = reporter.number, PER_EPOCH
        self.began, self.before, self.used = time.monotonic(), 0.0, 0.0
        self.at = Position()

    def resume(self) -> None:
        if self.place in self.script.saved:
            self.at = Position(**vars(self.script.saved[self.place]))
            self.at.resumed += 1
            self.reporter.resumes(self.at.step / self.per_epoch, self.at.step)

    def check_not_stopped(self) -> None: ...

    def estimated(self) -> float:
        return self.script.seconds

    def run(self, until: int | None = None) -> str:
        self.script.begun.append((self.number, until))
        if self.number in self.script.raises:
            raise self.script.raises[self.number]
        each = self.per_epoch / self.plan.settings.evals_per_epoch
        whole = math.floor((self.plan.settings.stop_after or self.plan.settings.epochs) * self.plan.settings.evals_per_epoch)
        while self.at.evaluations < min(whole, until or whole):
            self.at.evaluations += 1
            self.at.step = self.at.best_step = round(self.at.evaluations * each)
            self.at.best_loss = self.script.losses.get(self.number, 1.0) / self.at.evaluations
            self.at.best_value = 1 - self.at.best_loss
            self.reporter.measured(self.at.step / self.per_epoch, self.at.step, 0.5, {"loss": self.at.best_loss})
        return self.script.ends.get(self.number, ALL_DONE)

    def keep(self) -> None:
        self.reporter.saving()
        self.script.saved[self.place] = Position(**vars(self.at))

    def finish(self, stopped: str):
        return SimpleNamespace(number=self.number, stopped=stopped, position=self.at, estimate_seconds=0.0)


@pytest.fixture
def script(monkeypatch):
    found = Script()
    monkeypatch.setattr(search_run, "Training", found.training)
    return found


@pytest.fixture
def search(script, tmp_path):
    """search(plan) carries a search out, and gives what was found and what was told."""

    def carried_out(made=None):
        heard = Recorder()
        return search_run.run(context(), made or searching(tmp_path), heard), heard

    return carried_out


def context() -> Context:
    return Context(1, 1, torch.device("cpu"), 1)


def states(found) -> list[str]:
    return [row["state"] for row in found.table]


def test_a_third_of_the_trials_goes_on_at_each_rung_and_the_last_is_trained_to_its_end(search, script):
    script.losses = {0: 1.0, **{i: 10.0 - i for i in range(1, 10)}}
    found, heard = search()
    assert [row["rungs"] for row in found.table] == [1, 1, 1, 1, 1, 1, 1, 2, 2, 3]
    assert states(found) == [KEPT, *[DROPPED] * 8, KEPT]
    assert (found.trial.number, found.best.number, found.default.number, found.ended) == (9, 9, 0, "")
    assert heard.lease.removed == [f"trial-{i:02d}" for i in (1, 2, 3, 4, 5, 6, 7, 8)]
    assert found.histories.keys() == {0, 9} and len(found.histories[9]) == EPOCHS
    assert heard.phases == ["Searching with 10 trials: the default settings first."]


def test_the_winner_is_the_plan_that_was_trained(search, script, tmp_path):
    found, _ = search()
    assert found.plan.settings.learning_rate == found.trial.values["learning_rate"] and found.plan.search is None
    assert found.plan.digest != searching(tmp_path).digest


def test_of_equal_trials_the_lower_number_is_found(search):
    assert search()[0].trial.number == 1


def test_the_default_alone_is_a_search(search, tmp_path):
    found, heard = search(searching(tmp_path, others=0))
    assert (found.best, found.plan, found.trial) == (None, None, None) and found.default.number == 0
    assert found.trainings == 1 and heard.trials[-1]["fraction"] == 1


def test_without_validation_rows_nothing_is_chosen(search, tmp_path):
    made = searching(tmp_path)
    made.splits["validation"] = made.splits["validation"].chosen([])
    with pytest.raises(UserError, match="no validation rows") as e:
        search(made)
    assert e.value.do == "Set data.validation_fraction."


def diverged() -> UserError:
    return UserError("diverged", "The loss is not a number.", "Set a smaller learning_rate.")


@pytest.mark.parametrize(
    ("error", "said"),
    [(diverged(), "Trial 2 diverged and was dropped"), (torch.OutOfMemoryError("full"), "Trial 2 did not fit into the memory and was dropped")],
    ids=["diverged", "memory"],
)
def test_a_trial_that_fails_is_dropped_and_named(search, script, error, said):
    script.raises = {2: error}
    found, heard = search()
    assert states(found)[2] == DIVERGED and found.table[2]["rungs"] == 1 and "loss" not in found.table[2]
    assert heard.warnings["trial_dropped"] == f"{said}: learning_rate 0.002."
    assert heard.lease.removed[0] == "trial-02"


@pytest.mark.parametrize("error", [torch.OutOfMemoryError("full"), UserError("no_space", "The volume is full.", "Make room."), ValueError("a fault")])
def test_an_error_that_is_not_of_one_trial_ends_the_search(search, script, error):
    script.raises = {0: error}
    with pytest.raises(type(error)):
        search()


def test_an_error_of_a_trial_that_is_no_divergence_ends_the_search(search, script):
    script.raises = {3: UserError("no_space", "The volume is full.", "Make room.")}
    with pytest.raises(UserError, match="volume is full"):
        search()


def test_a_default_that_diverges_leaves_the_best_trial(search, script):
    script.raises = {0: diverged()}
    found, _ = search()
    assert found.default is None and found.best.number == 1 and states(found)[0] == DIVERGED
    assert found.histories.keys() == {0, 1}


def test_a_search_in_which_all_diverge_fails_with_the_last_reason(search, script):
    script.raises = {i: diverged() for i in range(10)}
    with pytest.raises(UserError, match="loss is not a number"):
        search()


@pytest.mark.parametrize("why", [STOPPED, TIME_LIMIT])
@pytest.mark.parametrize("number", [0, 2])
def test_a_search_that_is_stopped_keeps_the_best_so_far(search, script, why, number):
    script.ends = {number: why}
    script.losses = {2: 0.5}
    found, _ = search()
    assert found.ended == why and [n for n, _ in script.begun][: number + 1] == list(range(number + 1))
    assert states(found)[number + 1 :] == [WAITING] * (9 - number)
    assert (found.trial.number if found.trial else None) == (None if number == 0 else 2)


def test_what_was_done_before_a_restart_is_not_done_again(search, script, tmp_path):
    script.raises = {5: KeyboardInterrupt()}
    with pytest.raises(KeyboardInterrupt):
        search()
    again, script.raises = len(script.begun), {}
    found, _ = search()
    # Before the last two, which read the best weights back, the first one that goes on is the one that was interrupted.
    assert [n for n, _ in script.begun[again:]][:5] == [5, 6, 7, 8, 9]
    assert json.loads((tmp_path / trials.FILE).read_text())["resumed"] == 1 and found.default.position.resumed == 1


def test_a_finished_search_is_only_read_back(search, script):
    first, _ = search()
    before = len(script.begun)
    second, heard = search()
    assert [n for n, _ in script.begun[before:]] == [0, 1] and not heard.trials
    assert (second.table, second.histories, second.trainings) == (first.table, first.histories, first.trainings)


def test_a_search_of_other_data_begins_afresh(search, script, tmp_path):
    search()
    before = len(script.begun)
    search(searching(tmp_path, digest="other data"))
    assert [n for n, _ in script.begun[before:]][:3] == [0, 1, 2]


def test_no_trial_begins_when_most_of_the_time_is_over(search, script, tmp_path, monkeypatch):
    monkeypatch.setattr(Runner, "_spent", lambda self: 61.0 if self.state.records[2].losses else 0.0)
    found, heard = search(searching(tmp_path, minutes=1.6))
    assert states(found)[3:] == [WAITING] * 7 and found.ended == ""
    assert heard.warnings["search_time"] == "3 trials of 10 were begun in 60% of the time limit; no other is begun."


def test_a_search_of_coarse_evaluations_stays_within_its_budget_of_work(search, tmp_path):
    made = searching(tmp_path, settings=settings(epochs=1))
    made.splits["train"] = made.splits["train"].chosen(list(range(20)))
    found, heard = search(made)
    assert WAITING in states(found) and "longer than 3.45 trainings with the default settings" in heard.warnings["search_work"]
    (tmp_path / trials.FILE).unlink()
    repeated, heard = search(searching(tmp_path, repeats=True, settings=made.settings, splits=made.splits))
    assert WAITING not in states(repeated) and not heard.warnings


@pytest.mark.parametrize(
    ("seconds", "minutes", "said"),
    [
        (1.0, 60, None),
        (600.0, 60, "10 trials would take about 33 min; max_minutes is 20. 2 trials fit; "),
        (60.0, 1, "search.minutes is 1. 1 trial fits; the search stops there."),
    ],
)
def test_the_time_of_a_search_is_told_before_it_is_spent(search, script, tmp_path, seconds, minutes, said):
    script.seconds = seconds
    made = searching(tmp_path, minutes=minutes if minutes < 60 else 0, settings=settings(max_minutes=20))
    found, heard = search(made)
    assert "10 trials take about" in heard.sentences["estimate"] and "1 worker on CPU" in heard.sentences["estimate"]
    assert (said or "") in heard.warnings.get("search_time", "") and ("search_time" in heard.warnings) == (said is not None)
    assert found.default.estimate_seconds == pytest.approx(seconds * 10 / 3)


def test_the_events_of_trials_rise_to_the_whole_search_and_name_the_best(search, script):
    script.losses = {0: 2.0, 4: 0.5}
    _, heard = search()
    fractions = [t["fraction"] for t in heard.trials]
    assert fractions == sorted(fractions) and 0 < fractions[0] < 0.5 and fractions[-1] <= 1
    last = heard.trials[-1]
    assert (last["best_trial"], last["best_settings"], last["metric"]) == (4, "learning_rate 0.004", "accuracy")
    assert {t["state"] for t in heard.trials} == {"begun", KEPT, DROPPED} and all("eta_seconds" in t for t in heard.trials)


@pytest.fixture
def reporter(tmp_path):
    made = searching(tmp_path, others=1)
    (tmp_path / CHECKPOINTS).mkdir()
    runner = Runner(context(), made, Recorder())
    return TrialReporter(runner, 1, Record(), EPOCHS, EPOCHS * PER_EPOCH)


def test_evaluations_after_the_checkpoint_are_forgotten_when_a_trial_resumes(reporter):
    for step in (9, 18, 27):
        reporter.measured(step / 9, step, 0.5, {"loss": 1 / step})
    reporter.resumes(2.0, 18)
    assert [h["step"] for h in reporter.record.history] == [9, 18]
    assert reporter.record.history[0] == {"epoch": 1.0, "step": 9, "train_loss": 0.5, "metrics": {"loss": 1 / 9}}


def test_a_trial_reports_its_progress_as_part_of_the_search_alone(reporter, tmp_path):
    heard = reporter.events
    reporter.meter.add(torch.tensor(1.0))
    reporter.progress(Position(step=27), 0.001, 60.0)
    reporter.begins(90, 0.001, "It suits.")
    reporter.estimated(90, Position(), 100.0, 1.0)
    reporter.saved(1.0, 9, "step-9")
    reporter.best(Position(), "accuracy")
    assert [(t["number"], t["of"], t["state"]) for t in heard.trials] == [(1, 2, "running")]
    assert heard.trials[0]["fraction"] == pytest.approx(3 / 18)  # three epochs of the two times nine that two trials take
    assert not (heard.sentences or heard.warnings or heard.phases or (tmp_path / trials.FILE).exists())
    reporter.saving()
    assert (tmp_path / trials.FILE).exists()


def test_other_trials_or_other_data_are_another_search(tmp_path):
    one = Runner(context(), searching(tmp_path), Recorder())
    assert one.digest == Runner(context(), searching(tmp_path), Recorder()).digest
    assert one.digest != Runner(context(), searching(tmp_path, others=8), Recorder()).digest
    assert one.digest != Runner(context(), searching(tmp_path, digest=plan(name="x").digest), Recorder()).digest
