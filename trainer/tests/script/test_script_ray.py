"""Scripts on a real Ray, in an actor of their own."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from conftest import ROOT, events_of
from scripts import PRINTS, WRITES, log_of, spec_of

from trainer import run

pytestmark = [pytest.mark.ray, pytest.mark.xdist_group("ray")]
COUNTS = """
import os, time
at = int(open("at.pt").read()) if os.path.exists("at.pt") else 0
print("pid", os.getpid(), "at", at, flush=True)
while at < 60:
    at += 1
    open("at.tmp", "w").write(str(at))
    os.replace("at.tmp", "at.pt")
    time.sleep(0.05)
open("done.txt", "w").write(str(at))
"""


def start(spec) -> subprocess.Popen:
    return subprocess.Popen([sys.executable, "-m", "trainer", "run", str(spec)], cwd=ROOT)


def test_a_script_runs_in_an_actor(make_run):
    spec = spec_of(make_run, {"train.py": PRINTS + WRITES}, use_gpu="no")
    assert start(spec).wait(120) == run.OK
    result = json.loads((spec.parent / "result.json").read_text())
    assert [a["path"] for a in result["artifacts"]] == ["out/metrics.json", "out/model.txt"]
    assert "step 1: loss 0.5" in log_of(spec)
    assert [e["kind"] for e in events_of(spec.parent)].count("started") == 1


def test_a_script_starts_again_when_its_process_is_lost(make_run):
    spec = spec_of(make_run, {"train.py": COUNTS}, use_gpu="no")
    driver = start(spec)
    until = time.monotonic() + 60
    while time.monotonic() < until and not ((spec.parent / "log.txt").exists() and "pid" in log_of(spec)):
        time.sleep(0.1)
    os.kill(_actor(), signal.SIGKILL)
    assert driver.wait(120) == run.OK
    result = json.loads((spec.parent / "result.json").read_text())
    assert [s["exit"]["code"] for s in result["script"]["starts"]] == [None, 0]
    assert [w["code"] for w in result["warnings"]] == ["worker_lost"]


def _actor() -> int:
    """The process of the actor that holds the script."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            words = open(f"/proc/{pid}/cmdline", "rb").read()
        except OSError:
            continue
        if words.startswith(b"ray::Runner"):
            return int(pid)
    raise AssertionError("no actor")
