"""Runs on a real Ray that keeps a warm process, and what happens to them when it, or a copy of it, is lost or hangs."""

import os
import shutil
import signal
import tempfile
import time
from pathlib import Path

import pytest
from conftest import small_reviews
from ray_runs import LONG, TIMEOUT_SECONDS, a_checkpoint, plain_weights, some, start_on, until, worker  # noqa: F401 - three are fixtures
from ray_starts import on_a_busy_machine
from result_checks import check_success, codes, weights

from trainer.launch import connection
from trainer.warm import client, place

pytestmark = pytest.mark.ray


@pytest.fixture(scope="module")
def warm_address():
    """A Ray on two CPUs that keeps a warm process."""
    import ray

    folder = tempfile.mkdtemp(prefix="ray")
    patch = pytest.MonkeyPatch()
    on_a_busy_machine(ray.init, address="local", num_cpus=2, num_gpus=0, include_dashboard=False, log_to_driver=False, _temp_dir=folder)
    address = ray.get_runtime_context().gcs_address
    patch.setenv("RAY_ADDRESS", address)
    patch.setenv("WARM_WORKERS", "1")
    from trainer.warm import pool

    pool.renew(connection.environment())
    is_warm(address)
    assert ray.available_resources()["CPU"] == 2, "an idle process holds no CPU"
    yield address
    ray.shutdown()
    patch.undo()
    gone = time.monotonic() + 30
    while place.socket(address).exists():
        assert time.monotonic() < gone, "the warm process ends with its Ray"
        time.sleep(0.1)
    shutil.rmtree(folder, ignore_errors=True)


def is_warm(address: str) -> None:
    end = time.monotonic() + TIMEOUT_SECONDS
    while not client.answers(address, 5.0):
        assert time.monotonic() < end, "there is no warm process"
        time.sleep(0.1)


@pytest.fixture
def known():
    """Weights of runs, by their options."""
    return {}


def server(address: str) -> int:
    """The warm process."""
    command = str(place.socket(address)).encode()
    for found in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if command in found.read_bytes() and os.getsid(int(found.parts[2])) == int(found.parts[2]):
                parent = int((found.parent / "stat").read_text().rpartition(")")[2].split()[1])
                if command not in Path(f"/proc/{parent}/cmdline").read_bytes():
                    return int(found.parts[2])
        except OSError:
            continue
    raise AssertionError("there is no warm process")


@pytest.mark.parametrize("workers", [1, 2])
def test_a_killed_copy_is_replaced_by_another_one(make_run, start_on, warm_address, plain_weights, some, reviews, schemas, workers):  # noqa: F811
    spec = make_run(some if workers == 1 else reviews, model="bert-tiny", run=f"ft-copy-{workers}", num_workers=workers, **LONG)
    process = start_on(warm_address, spec)
    until(a_checkpoint(spec.parent), process)
    os.kill(worker(spec.parent, workers - 1), signal.SIGKILL)
    printed, _ = process.communicate(timeout=TIMEOUT_SECONDS)
    assert process.returncode == 0, printed
    assert "cold" not in printed
    result = check_success(spec.parent, schemas)
    assert codes(result).count("worker_lost") == 1
    assert (result["training"]["workers"], result["training"]["resumed"]) == (workers, 1)
    if workers == 1:
        assert weights(spec.parent) == plain_weights(some, **LONG), "the same bits as in one process without Ray"


# Before the next one: a keeper gives a process that has just started more time.
def test_a_warm_process_that_hangs_lets_a_run_start_cold(make_run, start_on, warm_address, schemas):  # noqa: F811
    is_warm(warm_address)
    hanging = server(warm_address)
    os.kill(hanging, signal.SIGSTOP)
    spec = make_run({"all.csv": small_reviews(200)}, model="bert-tiny", run="ft-cold", epochs=1)
    process = start_on(warm_address, spec)
    printed, _ = process.communicate(timeout=TIMEOUT_SECONDS)
    assert process.returncode == 0, printed
    assert printed.count("This program starts cold: the warm process of this machine does not answer") == 1
    check_success(spec.parent, schemas)
    is_warm(warm_address)
    assert server(warm_address) != hanging, "its keeper has ended it and started another one"


def test_a_warm_process_that_is_killed_costs_its_runs_nothing_and_is_replaced(make_run, start_on, warm_address, some, schemas):  # noqa: F811
    spec = make_run(some, model="bert-tiny", run="ft-server", **LONG)
    process = start_on(warm_address, spec)
    until(a_checkpoint(spec.parent), process)
    os.kill(server(warm_address), signal.SIGKILL)
    printed, _ = process.communicate(timeout=TIMEOUT_SECONDS)
    assert process.returncode == 0, printed
    assert codes(check_success(spec.parent, schemas)).count("worker_lost") == 0
    is_warm(warm_address)
