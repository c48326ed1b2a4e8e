"""Scripts that are killed: what the next start finds, and that the end is the same. The driver is a process of its own, as on Ray."""

import json
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import ROOT
from scripts import LIMIT_SECONDS, log_of, spec_of

from trainer import run

# Counts to TOTAL, and saves all that it needs to go on from there. The sum depends on every step, also through its random numbers.
COUNTS = """
import os, random, sys, time, zipfile, json
TOTAL, os_exit = 60, os._exit
os.makedirs("out", exist_ok=True)
state = {{"step": 0, "sum": 1, "random": None}}
if os.path.exists("out/ckpt.pt"):
    with zipfile.ZipFile("out/ckpt.pt") as z:
        assert z.testzip() is None
        state = json.loads(z.read("state"))
        state["random"] = [state["random"][0], tuple(state["random"][1]), state["random"][2]]
        random.setstate(tuple(state["random"]))
    print("goes on from", state["step"], flush=True)
else:
    random.seed(7)
while state["step"] < TOTAL:
    state["step"] += 1
    state["sum"] = (state["sum"] * 31 + random.randrange(1 << 30)) % 1000000007
    time.sleep({pause})
    if state["step"] % 3 == 0:
        state["random"] = random.getstate()
        {save}
    print("iter %d: loss %.4f" % (state["step"], 1 / state["step"]), flush=True)
json.dump({{"sum": state["sum"]}}, open("out/metrics.json", "w"))
"""
PADDING = "z.writestr('padding', os.urandom(1 << 20)); "
IN_PLACE = f"z = zipfile.ZipFile('out/ckpt.pt', 'w'); {PADDING}time.sleep(0.02); z.writestr('state', json.dumps(state)); z.close()"
BY_RENAME = "z = zipfile.ZipFile('out/ckpt.tmp', 'w'); z.writestr('state', json.dumps(state)); z.close(); os.replace('out/ckpt.tmp', 'out/ckpt.pt')"


def script(save: str, pause: float = 0.03) -> dict:
    return {"train.py": COUNTS.format(save=save, pause=pause)}


class Driver:
    """The driver of a run in a process that can be killed."""

    def __init__(self, spec: Path):
        self.spec = spec
        self.log = spec.parent / "log.txt"
        self.process = subprocess.Popen(
            [sys.executable, "-m", "trainer", "run", str(spec), "--launcher", "local"],
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def kill_after(self, seconds: float) -> bool:
        """Kill the driver so long after its script has printed something. False if it ended before."""
        size = self.log.stat().st_size if self.log.exists() else 0
        while self.process.poll() is None and not (self.log.exists() and b"iter" in self.log.read_bytes()[size:]):
            time.sleep(0.01)
        try:
            self.process.wait(seconds)
            return False
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return True

    def wait(self) -> int:
        return self.process.wait(LIMIT_SECONDS)


@pytest.fixture
def drivers():
    started = []

    def start(spec: Path) -> Driver:
        started.append(Driver(spec))
        return started[-1]

    yield start
    for one in started:
        one.process.kill()
        one.process.wait()


def spec_with(make_run, files: dict, name: str, **limits) -> Path:
    return spec_of(make_run, files, {"grace_seconds": 1, **limits}, run=name, checkpoint_seconds=0.2)


def undisturbed() -> int:
    state = random.Random(7)
    total = 1
    for _ in range(60):
        total = (total * 31 + state.randrange(1 << 30)) % 1000000007
    return total


@pytest.mark.parametrize(
    ("save", "kills"), [(BY_RENAME, 10), (IN_PLACE, 10)], ids=["a script that saves by renaming", "a script that saves in place"]
)
def test_a_script_killed_ten_times_ends_with_the_result_of_the_undisturbed_one(make_run, drivers, save, kills):
    spec = spec_with(make_run, script(save), "ft-kills")
    rng = random.Random(kills)
    killed = 0
    while killed < kills and drivers(spec).kill_after(rng.uniform(0.0, 0.25)):
        killed += 1
    assert killed == kills
    assert drivers(spec).wait() == run.OK
    result = json.loads((spec.parent / "result.json").read_text())
    assert result["script"]["numbers"]["sum"]["value"] == undisturbed()
    assert len(result["script"]["starts"]) == kills + 1
    assert sum(s["resumed_from"] == "out/ckpt.pt" for s in result["script"]["starts"]) >= 3
    assert "BadZipFile" not in log_of(spec) and "AssertionError" not in log_of(spec)
