"""Runs of two workers on a real Ray, and runs of which the whole Ray, a worker or a machine is lost."""

# ruff: noqa: F811 - tests take fixtures that are imported
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from conftest import events_of, small_reviews
from ray_runs import (  # noqa: F401 - most are fixtures
    LONG,
    TIMEOUT_SECONDS,
    a_checkpoint,
    known,
    newest_checkpoint,
    plain_weights,
    ray_address,
    some,
    start_on,
    train_on_ray,
    until,
    worker,
)
from result_checks import artifact_hashes, check_files, check_success, codes, predictions, weights
from small_datasets import flowers

from trainer.parted import rows
from trainer.run import run

pytestmark = pytest.mark.ray


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


def test_a_worker_that_is_killed_in_a_large_prediction_costs_one_part(make_run, start_on, ray_address, schemas):
    """A model without a network: the driver answers alone, or lets two workers answer, of which one is lost. The bytes are the same."""
    earlier = make_run({"flowers.csv": flowers()}, run="ft-flowers", model="linear")
    assert run(str(earlier), "local") == 0
    more = {"model": {"path": "../ft-flowers/out/model", "run": "ft-flowers", "name": "flowers", "version": 1}}
    files = {"new.csv": flowers(rows.LEAST)}
    alone, spread = (make_run(files, run=run, kind="predict", more=more, num_workers=workers) for run, workers in (("pr-alone", 1), ("pr-two", 2)))
    assert run(str(alone), "local") == 0
    process = start_on(ray_address, spread)
    until(lambda: list((spread.parent / rows.FOLDER).glob("*.outputs")) and (spread.parent / "logs" / "rank-1.txt").exists(), process)
    os.kill(worker(spread.parent, 1), signal.SIGKILL)
    printed, _ = process.communicate(timeout=TIMEOUT_SECONDS)
    assert process.returncode == 0, printed
    assert codes(check_files(spread.parent, schemas)).count("worker_lost") == 1
    assert artifact_hashes(spread.parent) == artifact_hashes(alone.parent)
    assert not (spread.parent / rows.FOLDER).exists()


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


def test_a_model_is_as_good_after_one_of_two_workers_is_killed(make_run, start_on, ray_address, reviews, schemas):
    spec = make_run(reviews, model="bert-tiny", run="ft-lost-two", num_workers=2, **LONG)
    process = start_on(ray_address, spec, cold=True)
    until(a_checkpoint(spec.parent), process)
    os.kill(worker(spec.parent, 1), signal.SIGKILL)
    printed, _ = process.communicate(timeout=TIMEOUT_SECONDS)
    assert process.returncode == 0, printed
    result = check_success(spec.parent, schemas)
    assert (result["training"]["workers"], result["training"]["resumed"]) == (2, 1)
    assert result["metrics"]["test"]["accuracy"]["value"] >= 0.85


def test_workers_leave_a_machine_that_is_shutting_down_and_lose_no_step(make_run, start_on, machines, reviews, schemas):
    spec = make_run(reviews, model="bert-tiny", run="ft-leave", num_workers=2, **LONG)
    process = start_on(machines.stdout.readline().strip(), spec, cold=True)
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
    """A Ray of a head and another machine, which prints its address. At a word from here, the other one is about to go and a new one comes."""
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
        process = start_on(head.stdout.readline().strip(), spec, cold=True)
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

cluster = on_a_busy_machine(Cluster, initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
leaving = on_a_busy_machine(cluster.add_node, num_cpus=1)
print(cluster.address, flush=True)
sys.stdin.readline()
reason, deadline = DrainNodeReason.DRAIN_NODE_REASON_PREEMPTION, int(1000 * (time.time() + 300))
GcsClient(address=cluster.address).drain_node(leaving.node_id, reason, "The pod is deleted.", deadline, timeout=60)
cluster.add_node(num_cpus=1)
sys.stdin.read()
cluster.shutdown()
"""


def _below(pid: int) -> list[int]:
    """All processes that ``pid`` started, and those that they did."""
    children = [int(c) for task in Path(f"/proc/{pid}/task").glob("*/children") for c in task.read_text().split()]
    return children + [below for child in children for below in _below(child)]
