"""Several workers that train together, as processes that talk over gloo: what Ray starts, without Ray."""

import itertools
import multiprocessing.connection
import os
import signal
from pathlib import Path

import pytest
from process_faults import PRELOAD, knows

from trainer.core.registry import MORE_KINDS
from trainer.launch import work
from trainer.launch.local import LocalLauncher
from trainer.run import run

_LIMIT_SECONDS = 600  # of a machine that many others use


@pytest.fixture
def together(monkeypatch, tmp_path):
    """together(spec, world, change) carries out a run with that many workers and returns its exit code; ``change`` names what is
    different in them: see ``_different``."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOAD)

    starts = itertools.count()

    def carry_out(spec: Path, world: int, change: str = "") -> int:
        meeting = f"file://{tmp_path}/meeting-{next(starts)}"  # each needs a new file

        def train(_, plan):
            ours, theirs = context.Pipe(duplex=False)
            workers = [
                context.Process(target=_worker, args=(plan, rank, world, meeting, change, theirs, os.environ.get(MORE_KINDS, "")))
                for rank in range(world)
            ]
            for worker in workers:
                worker.start()
            ready = multiprocessing.connection.wait([ours, workers[0].sentinel], _LIMIT_SECONDS)
            assert ours in ready, "the first worker died" if ready else "the workers hang"
            outcome = ours.recv()
            for worker in workers:
                worker.join(_LIMIT_SECONDS)
                assert worker.exitcode == 0
            if isinstance(outcome, Exception):
                raise outcome
            return outcome

        monkeypatch.setattr(LocalLauncher, "workers", world)
        monkeypatch.setattr(LocalLauncher, "train", train)
        return run(str(spec), "local")

    return carry_out


def _worker(plan, rank: int, world: int, meeting: str, change: str, answer, more_kinds: str) -> None:
    knows(more_kinds)
    import torch

    from trainer.errors import UserError

    _different(change, rank)
    torch.set_num_threads(1)
    if world > 1:
        torch.distributed.init_process_group("gloo", init_method=meeting, rank=rank, world_size=world)
    try:
        outcome = work.train(plan, rank, world, "cpu", 1)
    except UserError as e:
        outcome = e if rank == 0 else None
    if rank == 0:
        answer.send(outcome)
    if world > 1:
        torch.distributed.destroy_process_group()


def _different(change: str, rank: int) -> None:
    """Let a worker be other than it is: without what is drawn for each worker by itself (dropout, or by how much
    windows of a text are moved), also without memory that it shares with the
    others, with a clock that runs ahead, with a loss that is no number after the first evaluation, or killed after it."""
    from trainer.kinds.table import network as perceptron
    from trainer.train import loop, shared_memory

    if change in ("no dropout", "on two machines"):
        perceptron.DROPOUT = 0.0
    if change == "no moves":
        from trainer.kinds.language import streams

        real_batch = streams.Windows.batch
        streams.Windows.batch = lambda windows, rows, augment=None: real_batch(windows, rows)
    if change == "on two machines" and rank == 1:
        shared_memory._map = lambda *_: None
    elif change == "late" and rank == 1:
        loop.Training._spent = lambda training: 30.0 * training.at.step  # the first worker has all the time of the world
    elif change == "killed":
        whole_step = loop.Training._step

        def last_step(training):
            if training.at.evaluations:
                os.kill(os.getpid(), signal.SIGKILL)
            return whole_step(training)

        loop.Training._step = last_step
    elif change == "diverges" and rank == 1:
        real = loop.Training._step

        def step(training):
            loss = real(training)
            training.stepper.sum += float("nan") if training.at.evaluations else 0.0
            return loss

        loop.Training._step = step
