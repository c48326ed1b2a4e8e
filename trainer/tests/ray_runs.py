"""Fixtures and helpers of whole runs on a real Ray."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from conftest import small_reviews
from process_faults import forking
from ray_starts import on_a_busy_machine
from result_checks import weights

from trainer.run import run

TIMEOUT_SECONDS = 600  # of a machine that many others use
LONG = {"epochs": 4, "more_options": "early_stopping_patience: 0"}


@pytest.fixture(scope="module")
def ray_address():
    """A Ray of this test's own on two CPUs, as the address that a driver connects to."""
    import ray

    # Ray's sockets lie in there, and the path of a socket may have 107 characters only: too few for pytest's own folders.
    folder = tempfile.mkdtemp(prefix="ray")
    on_a_busy_machine(ray.init, address="local", num_cpus=2, num_gpus=0, include_dashboard=False, log_to_driver=False, _temp_dir=folder)
    yield ray.get_runtime_context().gcs_address
    ray.shutdown()
    shutil.rmtree(folder, ignore_errors=True)


class Driver:
    """The program in a process of its own. It is forked from one that has done the slow imports, and then does what its command line does."""

    def __init__(self, address: str, spec: Path, folder: Path):
        self._printed = folder / f"printed-{time.monotonic_ns()}.txt"
        self._process = forking().Process(target=_drive, args=(str(spec), {**os.environ, "RAY_ADDRESS": address}, str(folder), str(self._printed)))
        self._process.start()
        self.pid = self._process.pid

    @property
    def returncode(self) -> int | None:
        return self._process.exitcode

    def communicate(self) -> str:
        """Wait until the process has ended, and return what it has printed."""
        self._process.join(TIMEOUT_SECONDS)
        assert self.returncode is not None, "the program hangs"
        return self._printed.read_text()

    def terminate(self) -> None:
        os.kill(self.pid, signal.SIGTERM)

    def kill(self) -> None:
        self._process.kill()
        self._process.join()


def _drive(spec: str, environment: dict[str, str], folder: str, printed: str) -> None:
    """In the new process: what ``python -m trainer run`` does in this environment and folder."""
    from trainer.__main__ import main

    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    to = os.open(printed, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(to, 1)
    os.dup2(to, 2)
    code = main(["run", spec])
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


@pytest.fixture
def start_on(tmp_path):
    """start_on(address, spec) starts the program in a process of its own; it is gone when the test is."""
    started = []

    def start(address: str, spec: Path) -> Driver:
        started.append(Driver(address, spec, tmp_path))
        return started[-1]

    yield start
    for process in started:
        process.kill()


@pytest.fixture
def train_on_ray(start_on, ray_address):
    """train_on_ray(spec) runs the program to its end; returns its exit code and what it printed."""

    def train(spec: Path) -> tuple[int, str]:
        process = start_on(ray_address, spec)
        printed = process.communicate()
        return process.returncode, printed

    return train


@pytest.fixture
def command_on_ray(ray_address, tmp_path):
    """command_on_ray(spec) does so by the command line, in a process that has imported nothing before."""

    def train(spec: Path) -> tuple[int, str]:
        command, environment = [sys.executable, "-m", "trainer", "run", str(spec)], {**os.environ, "RAY_ADDRESS": ray_address}
        done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=TIMEOUT_SECONDS)
        return done.returncode, done.stdout + done.stderr

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


def until(happened, process: Driver):
    """Wait until ``happened()`` is true, as long as ``process`` lives, and return what it gave."""
    end = time.monotonic() + TIMEOUT_SECONDS
    while not (found := happened()):
        assert process.returncode is None, process.communicate()
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
