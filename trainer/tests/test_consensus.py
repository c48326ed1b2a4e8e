"""How several workers agree on the next signal: when they vote, and which signal wins."""

from types import SimpleNamespace

import pytest
import torch

from trainer.run_folder import stop
from trainer.train import consensus
from trainer.train.consensus import LOOK_SECONDS, MOST_STEPS, Consensus


@pytest.fixture
def votes(monkeypatch):
    """The votes of one of two workers. The other one never asks for anything."""
    cast = []
    monkeypatch.setattr(torch.distributed, "all_reduce", lambda tensor, **_: cast.append(tensor.tolist()))
    return cast


@pytest.fixture
def signals(tmp_path, monkeypatch, votes):
    """signals(seconds, steps) is the signal after each of its steps, of so many seconds each."""

    def of(seconds: float, steps: int, leaving=lambda: False, **wanted: bool) -> list[str]:
        now = 1000.0
        monkeypatch.setattr(consensus.time, "monotonic", lambda: now)
        ctx = SimpleNamespace(world=2, rank=0, device="cpu", leaving=leaving)
        workers = Consensus(ctx, SimpleNamespace(folder=tmp_path, work=tmp_path))
        found = []
        for step in range(1, steps + 1):
            now += seconds
            found.append(workers.signal(step, **{"time_over": False, "save_due": False, **wanted}))
        return found

    return of


@pytest.mark.parametrize(("seconds", "most"), [(0.001, 100 // MOST_STEPS + 1), (LOOK_SECONDS / 4, 27), (2 * LOOK_SECONDS, 100)])
def test_workers_vote_after_every_slow_step_and_after_some_fast_ones(signals, votes, seconds, most):
    assert set(signals(seconds, 100)) == {""}
    assert most - 2 <= len(votes) <= most


def test_the_most_urgent_signal_wins(signals, tmp_path):
    assert signals(1.0, 1, save_due=True) == ["save"]
    assert signals(1.0, 1, save_due=True, time_over=True) == ["time"]
    (tmp_path / "stop").write_text("keep\n")
    assert signals(1.0, 1, time_over=True) == ["stop"]
    assert signals(1.0, 1, leaving=lambda: True) == ["leave"]
    stop.pause(tmp_path, seconds=0)
    assert signals(1.0, 1, leaving=lambda: True) == ["pause"]


def test_a_machine_is_asked_from_time_to_time_whether_it_is_about_to_shut_down(signals, votes):
    asked = []
    assert set(signals(0.01, 200, leaving=lambda: asked.append(len(votes)) or False)) == {""}
    assert 3 <= len(asked) <= 5
