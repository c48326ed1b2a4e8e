"""Fixtures and helpers of whole runs on a real Ray."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from conftest import ROOT, small_reviews
from ray_starts import on_a_busy_machine
from result_checks import weights

from trainer.launch import connection
from trainer.run import run
from trainer.warm import client, place

TIMEOUT_SECONDS = 600  # of a machine that many others use
LONG = {"epochs": 4, "more_options": "early_stopping_patience: 0"}


@pytest.fixture(scope="module")
def ray_address():
    """A Ray of this test's own on two CPUs, which keeps a warm process, as the address that a driver connects to."""
    import ray

    from trainer.warm import pool

    # Ray's sockets lie in there, and the path of a socket may have 107 characters only: too few for pytest's own folders.
    folder = tempfile.mkdtemp(prefix="ray")
    on_a_busy_machine(ray.init, address="local", num_cpus=2, num_gpus=0, include_dashboard=False, log_to_driver=False, _temp_dir=folder)
    address = ray.get_runtime_context().gcs_address
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_ADDRESS", address)
        patch.setenv("WARM_WORKERS", "1")
        pool.renew(connection.environment())
    is_warm(address)
    assert ray.available_resources()["CPU"] == 2, "an idle process holds no CPU"
    yield address
    ray.shutdown()
    gone = time.monotonic() + TIMEOUT_SECONDS
    while place.socket(address).exists():
        assert time.monotonic() < gone, "the warm process ends with its Ray"
        time.sleep(0.1)
    shutil.rmtree(folder, ignore_errors=True)


def is_warm(address: str) -> None:
    """Wait until the warm process of the Ray answers."""
    end = time.monotonic() + TIMEOUT_SECONDS
    while not client.answers(address, 5.0):
        assert time.monotonic() < end, "there is no warm process"
        time.sleep(0.1)


@pytest.fixture
def start_on(tmp_path):
    """start_on(address, spec) starts the program in a process of its own; it is gone when the test is.

    Like the service, it asks for warm processes, which save seconds of imports, unless the run is to be ``cold``.
    """
    started = []

    def start(address: str, spec: Path, cold: bool = False) -> subprocess.Popen:
        env = {**os.environ, "RAY_ADDRESS": address, "WARM_WORKERS": "0" if cold else "1", "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-m", "trainer", "run", str(spec)]
        started.append(subprocess.Popen(command, env=env, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.fixture
def train_on_ray(start_on, ray_address):
    """train_on_ray(spec) runs the program to its end; returns its exit code and what it printed."""

    def train(spec: Path, cold: bool = False) -> tuple[int, str]:
        process = start_on(ray_address, spec, cold)
        printed, _ = process.communicate(timeout=TIMEOUT_SECONDS)
        assert cold or "cold" not in printed
        return process.returncode, printed

    return train


@pytest.fixture
def some():
    """The files of a training of some seconds, whose processes are killed after its first epoch."""
    return {"all.csv": small_reviews(600)}


@pytest.fixture(scope="module")
def known():
    """Weights of runs, by their options."""
    return {}


@pytest.fixture
def plain_weights(make_run, known):
    """plain_weights(**parameters) are those of the same run in this process, to which nothing happens."""

    def of(files: dict, **parameters) -> str:
        key = json.dumps([str(files), parameters])
        if key not in known:
            spec = make_run(files, model="bert-tiny", run="ft-plain", **parameters)
            assert run(str(spec), "local") == 0
            known[key] = weights(spec.parent)
        return known[key]

    return of


def until(happened, process: subprocess.Popen):
    """Wait until ``happened()`` is true, as long as ``process`` lives, and return what it gave."""
    end = time.monotonic() + TIMEOUT_SECONDS
    while not (found := happened()):
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < end, "nothing happens"
        time.sleep(0.01)
    return found


def a_checkpoint(folder: Path):
    """For ``until``: whether a checkpoint of the run is there."""
    return lambda: (folder / "checkpoints" / "index.json").exists()


def newest_checkpoint(folder: Path) -> int:
    """The step of the newest checkpoint that the index lists. A newer folder may exist already: it counts only when it is listed."""
    listed = json.loads((folder / "checkpoints" / "index.json").read_text())["checkpoints"]
    return max(int(name.removeprefix("step-")) for name in listed)


def worker(folder: Path, rank: int) -> int:
    """The process of a worker: the one that prints into its log."""
    log = str(folder / "logs" / f"rank-{rank}.txt")
    for output in Path("/proc").glob("[0-9]*/fd/1"):
        try:
            if os.readlink(output) == log:
                return int(output.parts[2])
        except OSError:
            continue
    raise AssertionError(f"no process prints into {log}")
