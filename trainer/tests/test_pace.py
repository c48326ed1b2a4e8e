"""What is told of the time that a training takes: before it begins, while it goes on, and where the time limit is shorter."""

import time
from types import SimpleNamespace

import numpy
import pytest
import torch
from conftest import events_of, small_reviews
from result_checks import result_of
from small_datasets import flowers, in_folders, squares

from trainer.run import run
from trainer.run_folder.events import Events
from trainer.train import estimate, progress
from trainer.train.position import Position
from trainer.train.progress import ProgressReporter


@pytest.fixture
def tell(tmp_path, monkeypatch):
    """tell(when, step, most) is the seconds left that are told after a step done at that time. 100 steps were said to take 40 s."""
    now = [1000.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(progress, "PROGRESS_SECONDS", 0.0)
    ctx = SimpleNamespace(rank=0, device=torch.device("cpu"), world=1)
    tells = ProgressReporter(ctx, tmp_path, Events(tmp_path / "events.jsonl", 1), epochs=10, steps=100, thing="row")
    tells.estimated(320, Position(), 40.0, most=1e9)

    def after(when: float, step: int, most: float = 1e9) -> float:
        now[0] = 1000.0 + when
        tells.stepped(Position(step=step, seconds=when), torch.zeros(()), 0.1, most)
        return events_of(tmp_path)[-1]["eta_seconds"]

    yield after
    tells.close()


def test_a_slow_first_step_does_not_distort_the_remaining_time(tell):
    assert tell(60.0, 1) == 40  # by the estimate, not an hour and a half
    assert tell(62.0, 2) == 2 * 98
    assert tell(160.0, 51) == 2 * 49


def test_after_a_restart_the_pace_is_that_of_this_start(tell):
    assert tell(5.0, 81) == 40
    assert tell(15.0, 91) == 9


def test_the_remaining_time_never_exceeds_the_time_limit(tell):
    assert tell(1.0, 1, most=30.0) == 30
    assert tell(11.0, 2, most=20.0) == 20
    assert tell(40.0, 3, most=-1.0) == 0


class _Rows(list):
    features = SimpleNamespace(lengths=numpy.ones(80))


@pytest.mark.parametrize(("step", "rehearsals", "whole"), [(0.1, 2, 11.06), (0.25, 4, 27.56)], ids=["short", "long"])
def test_a_short_training_is_estimated_from_one_timed_step(monkeypatch, step, rehearsals, whole):
    clock = [0.0]
    monkeypatch.setattr(estimate, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    calls = []

    def rehearse(_model, _data, batch):
        calls.append(batch)
        clock[0] += step * (3 if len(calls) == 1 else 1)  # the first one warms up

    stepper = SimpleNamespace(model=torch.nn.Linear(1, 1), computing=torch.nn.Linear(1, 1), rehearse=rehearse, is_spread=False)
    monkeypatch.setattr(estimate.batches, "epoch", lambda *_: list(numpy.arange(80).reshape(10, 8)))
    settings = SimpleNamespace(seed=1, epochs=10, evals_per_epoch=0)
    found = estimate.seconds(stepper, _Rows(range(80)), _Rows(), 8, settings, SimpleNamespace(world=1, device=torch.device("cpu")))
    assert (len(calls), round(found, 2)) == (rehearsals, whole)


@pytest.mark.parametrize("dry_run", [False, True])
def test_a_training_that_would_exceed_its_time_limit_is_warned_about(make_run, monkeypatch, dry_run, lone_network):
    monkeypatch.setattr(estimate, "seconds", lambda *_: 7800.0)
    spec = make_run({"all.csv": small_reviews(60)}, model="bert-tiny", epochs=1, dry_run=dry_run)
    assert run(str(spec), "local") == 0
    assert result_of(spec.parent)["estimate_seconds"] == 7800
    events = events_of(spec.parent)
    said = next(e["why"] for e in events if e.get("what") == "estimate")
    assert "about 2 h 10 min with 1 worker on CPU" in said
    warned = next(e["text"] for e in events if e.get("code") == "time_limit")
    assert "more than the 1 h that max_minutes leaves" in warned
    assert "a smaller model" in warned


@pytest.mark.parametrize(
    ("files", "network", "epochs"),
    [({"all.csv": small_reviews(600)}, "bert-tiny", 4), (in_folders(squares(240)), "small-cnn", 6), ({"t.csv": flowers(6000)}, "mlp", 8)],
    ids=["text", "images", "table"],
)
def test_the_estimate_is_about_right(make_run, monkeypatch, files, network, epochs, lone_network):
    # Both are measured in processor time, which other programs on the machine do not change much.
    monkeypatch.setattr(estimate, "time", SimpleNamespace(monotonic=time.process_time))
    at, publish = {}, Events.phase

    def phase(events, name, *rest, **more):
        at[name] = time.process_time()
        return publish(events, name, *rest, **more)

    monkeypatch.setattr(Events, "phase", phase)
    spec = make_run(files, epochs=epochs, model=network, more_options="early_stopping_patience: 0")
    assert run(str(spec), "local") == 0
    took = at["test"] - at["train"]
    assert took / 4 < result_of(spec.parent)["estimate_seconds"] < took * 4
