"""Averages gradients through shared memory in real processes that are connected by gloo."""

import multiprocessing
import os

import numpy
import pytest
from process_faults import PRELOAD

_LIMIT_SECONDS = 600  # of a machine that many others use
_WORLD, _SLOT, _ROUNDS = 3, 4, 50


def _worker(rank: int, meeting: str, apart: bool, answer) -> None:
    import torch

    from trainer.train import shared_memory

    if apart and rank == 1:
        shared_memory._map = lambda *_: None
    torch.distributed.init_process_group("gloo", init_method=meeting, rank=rank, world_size=_WORLD)
    shared = shared_memory.connect(rank, _WORLD, _SLOT)
    means = []
    for turn in range(_ROUNDS if shared else 0):
        values = _values(rank, turn)
        shared.average(values)
        means.append(values.numpy().tobytes())
    torch.distributed.destroy_process_group()
    answer.send(means)


def _values(rank: int, turn: int):
    """Of other lengths each time: empty, shorter than a slot, and longer than several."""
    import torch

    random = numpy.random.default_rng([rank, turn])
    return torch.from_numpy(random.normal(size=turn % 11).astype(numpy.float32))


def _answers(tmp_path, apart: bool) -> list:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOAD)
    pipes = [context.Pipe(duplex=False) for _ in range(_WORLD)]
    workers = [context.Process(target=_worker, args=(rank, f"file://{tmp_path}/meeting", apart, pipes[rank][1])) for rank in range(_WORLD)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(_LIMIT_SECONDS)
        assert worker.exitcode == 0
    return [ours.recv() for ours, _ in pipes]


@pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="this system has no memfd_create: gloo is used instead")
def test_all_workers_get_the_same_mean(tmp_path):
    means, *others = _answers(tmp_path, apart=False)
    assert len(means) == _ROUNDS
    for turn, mean in enumerate(means):
        expected = sum(_values(rank, turn).double().numpy() for rank in range(_WORLD)) / _WORLD
        assert numpy.abs(numpy.frombuffer(mean, numpy.float32) - expected).max(initial=0) < 1e-6
    assert others == [means] * (_WORLD - 1)


def test_workers_that_are_not_on_one_machine_share_nothing(tmp_path):
    assert _answers(tmp_path, apart=True) == [[]] * _WORLD
