"""What a worker says that it used."""

import os
import time
from types import SimpleNamespace

import numpy
import pytest
import torch

from trainer.launch import usage
from trainer.train.position import Position

SIZE = 64_000_000


def trained(**more) -> SimpleNamespace:
    return SimpleNamespace(position=Position(seconds=10.0), rate=100.0, waiting_seconds=2.0, **more)


def context(rank: int = 0, world: int = 1) -> SimpleNamespace:
    return SimpleNamespace(rank=rank, world=world, device=torch.device("cpu"))


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="this system does not say it")
def test_memory_of_mapped_files_is_told_apart(tmp_path):
    numpy.save(tmp_path / "x.npy", numpy.zeros(SIZE, numpy.uint8))
    before, peak = usage.file_memory(), usage.peak_memory()
    mapped = numpy.load(tmp_path / "x.npy", mmap_mode="c")
    assert int(mapped.sum()) == 0
    assert usage.file_memory() - before == pytest.approx(SIZE, rel=0.1)
    own = numpy.ones(4 * SIZE, numpy.uint8)
    assert usage.file_memory() - before == pytest.approx(SIZE, rel=0.1)
    assert usage.peak_memory() >= max(peak, 5 * SIZE)
    assert own.all()


def test_seconds_of_cpu_are_those_of_a_known_load():
    began, cpu = time.monotonic(), time.process_time()
    while time.process_time() - cpu < 0.2:
        pass
    found = usage.of_worker(context(), trained(), time.monotonic() - began, time.process_time() - cpu)
    assert found["cpu_seconds"] == pytest.approx(0.2, abs=0.05)
    assert found["seconds"] >= 0.2
    assert "waiting_share" not in found


def test_several_workers_say_how_long_they_waited():
    found = usage.of_worker(context(1, 2), trained(), 12.0, 9.0)
    assert (found["rank"], found["waiting_share"], found["samples_per_second"]) == (1, 0.2, 50.0)
