"""Whole runs on a real Ray, with and without its warm process, and whose processes are killed or put to sleep."""

# ruff: noqa: F811 - tests take fixtures that are imported
import json
import os
import signal
from pathlib import Path

import pytest
from conftest import small_reviews
from ray_runs import (  # noqa: F401 - most are fixtures
    LONG,
    TIMEOUT_SECONDS,
    a_checkpoint,
    is_warm,
    known,
    plain_weights,
    ray_address,
    some,
    start_on,
    train_on_ray,
    until,
    worker,
)
from result_checks import artifact_hashes, check_success, codes, error_of, weights

from trainer.run import run
from trainer.run_folder.lease import LEASE_LOST
from trainer.warm import place

pytestmark = pytest.mark.ray


def test_one_worker_on_ray_equals_the_same_run_without(make_run, train_on_ray, schemas):
    spec = make_run({"all.csv": small_reviews(200)}, model="bert-tiny", run="ft-ray", epochs=2)
    code, printed = train_on_ray(spec, cold=True)
    assert code == 0, printed
    result = check_success(spec.parent, schemas)
    assert result["training"]["workers"] == 1
    assert "[rank 0] Epoch 2, validation" in (spec.parent / "logs" / "rank-0.txt").read_text()
    assert "Epoch 2, test" in (spec.parent / "log.txt").read_text()
    plain = make_run({"all.csv": small_reviews(200)}, model="bert-tiny", run="ft-plain", epochs=2)
    assert run(str(plain), "local") == 0
    on_ray, without = artifact_hashes(spec.parent), artifact_hashes(plain.parent)
    for name in ("out/model/model.safetensors", "out/predictions.csv", "out/metrics.json"):
        assert on_ray[name] == without[name], name


@pytest.mark.parametrize(("workers", "cold"), [(1, True), (2, False)])
def test_an_error_in_a_worker_reaches_the_user(make_run, train_on_ray, schemas, workers, cold):
    spec = make_run({"all.csv": small_reviews(600)}, model="org/odd", num_workers=workers)
    folder = spec.parent.parent.parent / "models" / "org" / "odd"
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps({"model_type": "no-such-type"}))
    (folder / "model.safetensors").write_bytes(b"")
    (folder / "vocab.txt").write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n")
    code, printed = train_on_ray(spec, cold)
    assert code == 2, printed
    error = error_of(spec.parent)
    schemas["error"].validate(error)
    assert (error["code"], error["user"]) == ("model_unusable", True)
    assert error["what"] in printed


def test_bad_data_ends_the_run_while_workers_are_starting(make_run, train_on_ray):
    spec = make_run({"a.csv": "text,label\n" + "some words here,same\n" * 50}, model="bert-tiny")
    code, printed = train_on_ray(spec)
    assert code == 2, printed
    assert error_of(spec.parent)["code"] == "one_class"


def test_a_killed_worker_is_replaced_and_the_weights_are_the_same(make_run, start_on, ray_address, plain_weights, some, schemas):
    spec = make_run(some, model="bert-tiny", run="ft-lost", **LONG)
    process = start_on(ray_address, spec, cold=True)
    until(a_checkpoint(spec.parent), process)
    os.kill(worker(spec.parent, 0), signal.SIGKILL)
    printed, _ = process.communicate(timeout=TIMEOUT_SECONDS)
    assert process.returncode == 0, printed
    result = check_success(spec.parent, schemas)
    assert codes(result).count("worker_lost") == 1
    assert result["training"]["resumed"] == 1
    assert weights(spec.parent) == plain_weights(some, **LONG)
    log = (spec.parent / "logs" / "rank-0.txt").read_text().splitlines()
    assert "[rank 0] Epoch 1, validation" in "\n".join(log)  # of the worker that was killed


@pytest.mark.parametrize("workers", [1, 2])
def test_a_killed_copy_is_replaced_by_another_one(make_run, start_on, ray_address, plain_weights, some, reviews, schemas, workers):
    spec = make_run(some if workers == 1 else reviews, model="bert-tiny", run=f"ft-copy-{workers}", num_workers=workers, **LONG)
    process = start_on(ray_address, spec)
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
def test_a_warm_process_that_hangs_lets_a_run_start_cold(make_run, start_on, ray_address, schemas):
    is_warm(ray_address)
    hanging = server(ray_address)
    os.kill(hanging, signal.SIGSTOP)
    spec = make_run({"all.csv": small_reviews(200)}, model="bert-tiny", run="ft-cold", epochs=1)
    process = start_on(ray_address, spec)
    printed, _ = process.communicate(timeout=TIMEOUT_SECONDS)
    assert process.returncode == 0, printed
    assert printed.count("This program starts cold: the warm process of this machine does not answer") == 1
    check_success(spec.parent, schemas)
    is_warm(ray_address)
    assert server(ray_address) != hanging, "its keeper has ended it and started another one"


def test_a_warm_process_that_is_killed_costs_its_runs_nothing_and_is_replaced(make_run, start_on, ray_address, some, schemas):
    spec = make_run(some, model="bert-tiny", run="ft-server", **LONG)
    process = start_on(ray_address, spec)
    until(a_checkpoint(spec.parent), process)
    os.kill(server(ray_address), signal.SIGKILL)
    printed, _ = process.communicate(timeout=TIMEOUT_SECONDS)
    assert process.returncode == 0, printed
    assert codes(check_success(spec.parent, schemas)).count("worker_lost") == 0
    is_warm(ray_address)


def test_a_killed_driver_is_started_again_and_ends_the_same(make_run, start_on, ray_address, train_on_ray, plain_weights, some, schemas):
    spec = make_run(some, model="bert-tiny", run="ft-driver", **LONG)
    process = start_on(ray_address, spec)
    until(a_checkpoint(spec.parent), process)
    process.kill()
    process.communicate()
    spec = make_run(some, model="bert-tiny", run="ft-driver", attempt=2, **LONG)
    code, printed = train_on_ray(spec)
    assert code == 0, printed
    result = check_success(spec.parent, schemas)
    assert (result["attempt"], result["training"]["resumed"]) == (2, 1)
    assert weights(spec.parent) == plain_weights(some, **LONG)


def test_a_terminated_driver_saves_the_training_and_ends_with_143(make_run, start_on, ray_address, train_on_ray, reviews, schemas):
    spec = make_run(reviews, model="bert-tiny", run="ft-term", **LONG)
    process = start_on(ray_address, spec)
    until(a_checkpoint(spec.parent), process)
    before = (spec.parent / "checkpoints" / "index.json").stat().st_mtime_ns
    process.send_signal(signal.SIGTERM)
    printed, _ = process.communicate(timeout=TIMEOUT_SECONDS)
    assert process.returncode == 143, printed
    assert not (spec.parent / "error.json").exists()
    assert (spec.parent / "checkpoints" / "index.json").stat().st_mtime_ns > before
    code, printed = train_on_ray(make_run(reviews, model="bert-tiny", run="ft-term", attempt=2, **LONG))
    assert code == 0, printed
    assert check_success(spec.parent, schemas)["training"]["resumed"] == 1


def test_a_driver_and_its_worker_that_wake_up_again_change_nothing(make_run, start_on, ray_address, train_on_ray, plain_weights, some, schemas):
    spec = make_run(some, model="bert-tiny", run="ft-sleep", **LONG)
    old = start_on(ray_address, spec, cold=True)
    until(a_checkpoint(spec.parent), old)
    asleep = [worker(spec.parent, 0), old.pid]
    for pid in asleep:
        os.kill(pid, signal.SIGSTOP)
    code, printed = train_on_ray(spec)  # as an operator does that has lost sight of the first one
    assert code == 0, printed
    result = (spec.parent / "result.json").read_bytes()
    for pid in asleep:
        os.kill(pid, signal.SIGCONT)
    old.communicate(timeout=TIMEOUT_SECONDS)
    assert old.returncode == LEASE_LOST
    assert (spec.parent / "result.json").read_bytes() == result
    assert check_success(spec.parent, schemas)["training"]["resumed"] == 1
    assert weights(spec.parent) == plain_weights(some, **LONG)


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
