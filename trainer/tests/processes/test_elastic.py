"""A training whose number of workers follows the machines of a real Ray."""

import subprocess
import sys

import pytest
from conftest import ROOT, events_of
from ray_runs import TIMEOUT_SECONDS, a_checkpoint, until
from result_checks import check_success

from trainer.run_folder import stop

pytestmark = pytest.mark.ray

# A head and a machine. At a word from here another machine comes, and at the next one it is about to go.
_MACHINES = """
import sys, time
from ray.cluster_utils import Cluster
from ray._raylet import GcsClient
from ray.core.generated.autoscaler_pb2 import DrainNodeReason
from trainer.tests.ray_starts import on_a_busy_machine

cluster = on_a_busy_machine(Cluster, initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
on_a_busy_machine(cluster.add_node, num_cpus=1)
print(cluster.address, flush=True)
sys.stdin.readline()
other = cluster.add_node(num_cpus=1)
sys.stdin.readline()
reason, deadline = DrainNodeReason.DRAIN_NODE_REASON_PREEMPTION, int(1000 * (time.time() + 300))
GcsClient(address=cluster.address).drain_node(other.node_id, reason, "The pod is deleted.", deadline, timeout=60)
sys.stdin.read()
cluster.shutdown()
"""

# A run that lets others join soon.
_RUN = """
import sys
from trainer.launch import elastic_group
from trainer.run import run
elastic_group.JOIN_SECONDS, elastic_group.STEADY_SECONDS = 1.0, 2.0
sys.exit(run(sys.argv[1], "ray"))
"""


@pytest.fixture
def start(tmp_path, monkeypatch):
    """start(code, *arguments) runs Python code in a process of its own, which is gone when the test is."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("WARM_WORKERS", "0")
    started = []

    def of(code: str, *arguments: str) -> subprocess.Popen:
        command = [sys.executable, "-c", code, *arguments]
        started.append(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=tmp_path))
        return started[-1]

    yield of
    for process in reversed(started):
        process.communicate(timeout=TIMEOUT_SECONDS)


def test_the_number_of_workers_follows_the_machines(make_run, start, reviews, schemas, monkeypatch):
    spec = make_run(
        reviews, model="bert-tiny", run="ft-elastic", num_workers=2, epochs=200,
        more_options="early_stopping_patience: 0\ntraining.min_workers: 1\ncpus_per_worker: 1",
    )  # fmt: skip
    machines = start(_MACHINES)
    monkeypatch.setenv("RAY_ADDRESS", machines.stdout.readline().strip())
    process = start(_RUN, str(spec))

    def seen(kind: str, **fields) -> list[dict]:
        return [e for e in events_of(spec.parent) if e["kind"] == kind and fields.items() <= e.items()]

    def resumed_with(*workers: int):
        return lambda: [e["workers"] for e in seen("resource")] == list(workers) and len(seen("resume")) == len(workers) - 1

    until(a_checkpoint(spec.parent), process)
    print("come", file=machines.stdin, flush=True)
    until(resumed_with(1, 2), process)
    print("go", file=machines.stdin, flush=True)
    until(resumed_with(1, 2, 1), process)
    (spec.parent / stop.STOP).write_text(stop.KEEP)
    printed, _ = process.communicate(timeout=TIMEOUT_SECONDS)
    assert process.returncode == 0, printed
    result = check_success(spec.parent, schemas)
    assert (result["training"]["workers"], result["training"]["resumed"]) == (1, 2)
    assert result["metrics"]["test"]["accuracy"]["value"] >= 0.8
    assert [e["choice"] for e in seen("decision", what="workers")] == [1, 2, 1]
    assert next(e["step"] for e in seen("resume")) in [e["step"] for e in seen("checkpoint")]
    assert not seen("warning", code="worker_lost")
