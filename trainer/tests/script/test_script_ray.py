"""Scripts on a real Ray of two machines, in actors of their own."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import ROOT, events_of
from scripts import WRITES, log_of, spec_of

from trainer import run

pytestmark = [pytest.mark.ray, pytest.mark.xdist_group("ray")]
SECONDS = 600  # of a machine that many others use
WAITS_ONCE = (
    """
import os, sys, time
first = os.environ["CLOWDER_START"] == "1"
print("start", os.environ["CLOWDER_START"], flush=True)
time.sleep(120 if first else 0)
"""
    + WRITES
)
JOINS = """
import os, torch
torch.distributed.init_process_group("gloo")
rank = torch.distributed.get_rank()
total = torch.tensor(float(rank + 1))
torch.distributed.all_reduce(total)
print("total", total.item(), "of rank", rank)
open(f"rank-{rank}.txt", "w").write(str(total.item()))
torch.distributed.destroy_process_group()
"""
# A file cannot start a cluster in the process of the tests, which has its own connection to another Ray.
CLUSTER = """
import sys
from ray.cluster_utils import Cluster
from trainer.tests.ray_starts import on_a_busy_machine
cluster = on_a_busy_machine(Cluster, initialize_head=True, head_node_args={"num_cpus": 2, "include_dashboard": False})
on_a_busy_machine(cluster.add_node, num_cpus=2)
print(cluster.address, flush=True)
sys.stdin.read()
cluster.shutdown()
"""


@pytest.fixture(scope="module")
def start():
    """start(spec) starts the program on the cluster."""
    # What a pod has; the network of this machine is that of the two "pods".
    pod = {"KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": "1", "POD_NETWORK": "open"}
    environment = {**os.environ, **pod, "PYTHONPATH": str(ROOT)}
    cluster = subprocess.Popen([sys.executable, "-c", CLUSTER], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    environment["RAY_ADDRESS"] = cluster.stdout.readline().strip()
    started = []

    def go(spec: Path) -> subprocess.Popen:
        started.append(subprocess.Popen([sys.executable, "-m", "trainer", "run", str(spec)], cwd=ROOT, env=environment))
        return started[-1]

    yield go
    for process in started:
        process.kill()
    cluster.communicate()


def test_a_script_starts_again_when_its_machine_is_lost(make_run, start, schemas):
    spec = spec_of(make_run, {"train.py": WAITS_ONCE}, use_gpu="no")
    driver = start(spec)
    until = time.monotonic() + SECONDS
    while "start 1" not in (log_of(spec) if (spec.parent / "log.txt").exists() else "") and time.monotonic() < until:
        time.sleep(0.1)
    os.kill(_actor(spec), signal.SIGKILL)
    assert driver.wait(SECONDS) == run.OK
    result = json.loads((spec.parent / "result.json").read_text())
    schemas["result"].validate(result)
    assert [s["exit"]["code"] for s in result["script"]["starts"]] == [None, 0]
    assert [w["code"] for w in result["warnings"]] == ["worker_lost"]
    assert [a["path"] for a in result["artifacts"]] == ["out/metrics.json", "out/model.txt"]
    assert [e["start"] for e in events_of(spec.parent) if e["kind"] == "started"] == [1, 2]


def test_several_machines_reach_each_other(make_run, start):
    spec = spec_of(make_run, {"train.py": JOINS}, sandbox="pod", nodes=2, use_gpu="no")
    assert start(spec).wait(SECONDS) == run.OK
    result = json.loads((spec.parent / "result.json").read_text())
    assert [a["path"] for a in result["artifacts"]] == ["out/rank-0.txt", "out/rank-1.txt"]
    assert (spec.parent / "out" / "rank-1.txt").read_text() == "3.0"
    assert "[0] total 3.0 of rank 0" in log_of(spec)
    assert "[1] total 3.0 of rank 1" in (spec.parent / "logs" / "node-1.txt").read_text()


def _actor(spec: Path) -> int:
    """The process of the actor that holds the script: above the process that works in the tree."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if not os.readlink(f"/proc/{pid}/cwd").startswith(f"{spec.parent}/work/"):
                continue
            while not Path(f"/proc/{pid}/cmdline").read_bytes().startswith(b"ray::Runner"):
                pid = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1]
            return int(pid)
        except OSError:
            continue
    raise AssertionError("no actor")
