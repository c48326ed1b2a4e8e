"""Whole runs on a real Ray, which the tests start and stop, and kill in part or altogether."""

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
from conftest import ROOT, events_of, small_reviews
from ray_starts import on_a_busy_machine
from result_checks import artifact_hashes, check_files, check_success, codes, error_of, predictions, weights

from trainer.run import run
from trainer.run_folder.lease import LEASE_LOST

pytestmark = pytest.mark.ray
TIMEOUT_SECONDS = 300
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


@pytest.fixture
def start_on(tmp_path):
    """start_on(address, spec) starts the program in a process of its own; it is gone when the test is."""
    started = []

    def start(address: str, spec: Path) -> subprocess.Popen:
        env = {**os.environ, "RAY_ADDRESS": address, "PYTHONPATH": str(ROOT)}
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

    def train(spec: Path) -> tuple[int, str]:
        process = start_on(ray_address, spec)
        printed, _ = process.communicate(timeout=TIMEOUT_SECONDS)
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


def test_one_worker_on_ray_equals_the_same_run_without(make_run, train_on_ray, schemas):
    spec = make_run({"all.csv": small_reviews(200)}, model="bert-tiny", run="ft-ray", epochs=2)
    code, printed = train_on_ray(spec)
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


def test_two_workers_share_the_work(make_run, train_on_ray, reviews, schemas):
    spec = make_run(reviews, model="bert-tiny", run="ft-two", num_workers=2)
    code, printed = train_on_ray(spec)
    assert code == 0, printed
    result = check_success(spec.parent, schemas)
    assert result["training"]["workers"] == 2
    assert result["metrics"]["test"]["accuracy"]["value"] >= 0.85
    assert [e["split"] for e in events_of(spec.parent) if e["kind"] == "eval"].count("validation") == result["training"]["epochs"]
    log = (spec.parent / "logs" / "rank-0.txt").read_text().splitlines()
    assert [line.startswith("[rank 0] Epoch 1, validation") for line in log].count(True) == 1
    assert all(0 <= w["waiting_share"] <= 1 for w in result["training"]["per_worker"])


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_in_a_worker_reaches_the_user(make_run, train_on_ray, schemas, workers):
    spec = make_run({"all.csv": small_reviews(600)}, model="org/odd", num_workers=workers)
    folder = spec.parent.parent.parent / "models" / "org" / "odd"
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps({"model_type": "no-such-type"}))
    (folder / "model.safetensors").write_bytes(b"")
    (folder / "vocab.txt").write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n")
    code, printed = train_on_ray(spec)
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


def test_two_workers_predict_what_one_does(make_run, train_on_ray, schemas):
    spec = make_run({"all.csv": small_reviews(200)}, model="bert-tiny", run="ft-model", epochs=1)
    assert run(str(spec), "local") == 0
    more, answers = {"model": {"path": "../ft-model/out/model"}}, []
    for name, workers in (("pr-one", 1), ("pr-two", 2)):
        spec = make_run({"new.csv": small_reviews(300)}, run=name, kind="predict", more=more, num_workers=workers)
        code, printed = train_on_ray(spec)
        assert code == 0, printed
        check_files(spec.parent, schemas)
        answers.append([(r["row"], r["predicted"], r["confidence"]) for r in predictions(spec.parent)])
        assert len(list((spec.parent / "logs").iterdir())) == workers
    assert answers[0] == answers[1]


def test_a_killed_worker_is_replaced_and_the_weights_are_the_same(make_run, start_on, ray_address, plain_weights, some, schemas):
    spec = make_run(some, model="bert-tiny", run="ft-lost", **LONG)
    process = start_on(ray_address, spec)
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


def test_a_model_is_as_good_after_one_of_two_workers_is_killed(make_run, start_on, ray_address, reviews, schemas):
    spec = make_run(reviews, model="bert-tiny", run="ft-lost-two", num_workers=2, **LONG)
    process = start_on(ray_address, spec)
    until(a_checkpoint(spec.parent), process)
    os.kill(worker(spec.parent, 1), signal.SIGKILL)
    printed, _ = process.communicate(timeout=TIMEOUT_SECONDS)
    assert process.returncode == 0, printed
    result = check_success(spec.parent, schemas)
    assert (result["training"]["workers"], result["training"]["resumed"]) == (2, 1)
    assert result["metrics"]["test"]["accuracy"]["value"] >= 0.85


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
    old = start_on(ray_address, spec)
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


def test_workers_leave_a_machine_that_is_shutting_down_and_lose_no_step(make_run, start_on, machines, reviews, schemas):
    spec = make_run(reviews, model="bert-tiny", run="ft-leave", num_workers=2, **LONG)
    process = start_on(machines.stdout.readline().strip(), spec)
    until(a_checkpoint(spec.parent), process)
    print("go", file=machines.stdin, flush=True)
    printed, _ = process.communicate(timeout=TIMEOUT_SECONDS)
    assert process.returncode == 0, printed
    check_success(spec.parent, schemas)
    events = events_of(spec.parent)
    left = next(i for i, e in enumerate(events) if e.get("code") == "machine_leaves")
    saved = [e["step"] for e in events[:left] if e["kind"] == "checkpoint"]
    assert [e["step"] for e in events if e["kind"] == "resume"] == [saved[-1]]


@pytest.fixture
def machines(tmp_path):
    """A Ray of a head and two machines, which prints its address. At a word from here, one is about to go and another one comes."""
    process = subprocess.Popen([sys.executable, "-c", _MACHINES], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=tmp_path)
    yield process
    process.communicate(timeout=TIMEOUT_SECONDS)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_whole_ray_that_dies_costs_one_interval_at_most(make_run, start_on, train_on_ray, plain_weights, some, reviews, schemas, tmp_path, workers):
    data = some if workers == 1 else reviews
    spec = make_run(data, model="bert-tiny", run="ft-all", num_workers=workers, **LONG)
    temporary = tempfile.mkdtemp(prefix="ray")
    head = subprocess.Popen(
        [sys.executable, "-c", _HEAD, temporary], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True, cwd=tmp_path
    )
    try:
        process = start_on(head.stdout.readline().strip(), spec)
        until(a_checkpoint(spec.parent), process)
        saved = newest_checkpoint(spec.parent)
        for pid in _below(head.pid):
            os.kill(pid, signal.SIGKILL)
        process.kill()  # the pod of the driver goes with its Ray
        process.communicate()
    finally:
        head.kill()
        head.communicate()
        shutil.rmtree(temporary, ignore_errors=True)
    code, printed = train_on_ray(spec)  # as KubeRay does: the same attempt, under the same name, on a new Ray
    assert code == 0, printed
    result = check_success(spec.parent, schemas)
    assert result["training"]["resumed"] == 1
    assert next(e["step"] for e in events_of(spec.parent) if e["kind"] == "resume") >= saved
    if workers == 1:  # the sums of several depend on the order in which they arrive
        assert weights(spec.parent) == plain_weights(some, **LONG)
    else:
        assert result["metrics"]["test"]["accuracy"]["value"] >= 0.85


_HEAD = """
import sys, ray
from trainer.tests.ray_starts import on_a_busy_machine
on_a_busy_machine(ray.init, address="local", num_cpus=2, num_gpus=0, include_dashboard=False, log_to_driver=False, _temp_dir=sys.argv[1])
print(ray.get_runtime_context().gcs_address, flush=True)
sys.stdin.read()
"""


# What Ray does when Kubernetes deletes a pod: it announces that its machine will go.
_MACHINES = """
import sys, time
from ray.cluster_utils import Cluster
from ray._raylet import GcsClient
from ray.core.generated.autoscaler_pb2 import DrainNodeReason
from trainer.tests.ray_starts import on_a_busy_machine

cluster = on_a_busy_machine(Cluster, initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
leaving, _ = (on_a_busy_machine(cluster.add_node, num_cpus=1) for _ in range(2))
print(cluster.address, flush=True)
sys.stdin.readline()
reason, deadline = DrainNodeReason.DRAIN_NODE_REASON_PREEMPTION, int(1000 * (time.time() + 30))
GcsClient(address=cluster.address).drain_node(leaving.node_id, reason, "The pod is deleted.", deadline, timeout=10)
cluster.add_node(num_cpus=1)
sys.stdin.read()
cluster.shutdown()
"""


def _below(pid: int) -> list[int]:
    """All processes that ``pid`` started, and those that they did."""
    children = [int(c) for task in Path(f"/proc/{pid}/task").glob("*/children") for c in task.read_text().split()]
    return children + [below for child in children for below in _below(child)]
