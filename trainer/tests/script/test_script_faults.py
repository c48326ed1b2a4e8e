"""The faults of shell scripts that start a training and copy its files every few minutes, each as a test of what happens here instead."""

import json
import os
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest
from conftest import ROOT, events_of
from scripts import LIMIT_SECONDS, carry_out, log_of, spec_of

from trainer import run
from trainer.run_folder import lease as leases
from trainer.script.saved import restoring

SAVES_WHEN_ASKED = """
import os, signal, sys, time, zipfile
print("arguments", sys.argv[1:])
if os.path.exists("out/ckpt.pt"):
    print("found", zipfile.ZipFile("out/ckpt.pt").read("state").decode())
    sys.exit()
def save(*_):
    with zipfile.ZipFile("out/ckpt.pt", "w") as z:
        z.writestr("state", "of the moment")
    os._exit(1)
signal.signal(signal.SIGTERM, save)
print("ready", flush=True)
time.sleep(600)
"""


def wait_for(spec: Path, word: str, process: subprocess.Popen) -> None:
    until = time.monotonic() + LIMIT_SECONDS
    while time.monotonic() < until and process.poll() is None:
        if (spec.parent / "log.txt").exists() and word in log_of(spec):
            return
        time.sleep(0.02)
    raise AssertionError(f"the script did not print {word!r}")


def test_the_log_is_there_before_anything_and_whatever_the_script_does_with_its_folder(make_run):
    spec = spec_of(make_run, {"train.py": "import shutil\nshutil.rmtree('out')\nprint('printed')\nraise SystemExit(4)"})
    assert "exit code 4" in carry_out(spec, run.USER)["what"]
    assert "printed\n" in log_of(spec)


def test_a_training_that_succeeds_ends_at_once_although_snapshots_are_watched(make_run):
    spec = spec_of(make_run, {"train.py": "open('model.pt', 'wb').write(b'x')"}, checkpoint_seconds=600)
    began = time.monotonic()
    result = carry_out(spec)
    assert result["seconds"] < 300 and time.monotonic() - began < 300  # otherwise it waits for the next look, after 600
    assert [a["path"] for a in result["artifacts"]] == ["out/model.pt"]


@pytest.mark.parametrize("end", ["raise SystemExit(3)", "import os; os.kill(os.getpid(), 9)", "1 / 0"], ids=["exit code", "signal", "exception"])
def test_whatever_ends_a_training_what_it_saved_is_delivered(make_run, end):
    spec = spec_of(make_run, {"train.py": f"open('half.csv', 'w').write('1')\n{end}"})
    carry_out(spec, run.USER)
    partial = json.loads((spec.parent / "partial.json").read_text())
    assert [a["path"] for a in partial["artifacts"]] == ["out/half.csv"]


def test_sigterm_reaches_the_script_and_what_it_saves_then_is_found_by_the_next_start(make_run):
    spec = spec_of(make_run, {"train.py": SAVES_WHEN_ASKED}, resume_arguments="--from {checkpoint}")
    driver = subprocess.Popen([sys.executable, "-m", "trainer", "run", str(spec), "--launcher", "local"], cwd=ROOT, stdout=subprocess.DEVNULL)
    try:
        wait_for(spec, "ready", driver)
        driver.send_signal(signal.SIGTERM)
        assert driver.wait(LIMIT_SECONDS) == run.ENDED
    finally:
        driver.kill()
    result = carry_out(spec)
    assert "found of the moment\n" in log_of(spec)
    assert "arguments ['--from', 'out/ckpt.pt']" in log_of(spec)
    assert [s["resumed_from"] for s in result["script"]["starts"]] == [None, "out/ckpt.pt"]
    resumed = [e["why"] for e in events_of(spec.parent) if e["kind"] == "decision" and e["what"] == "resumed"]
    assert resumed == ["The script goes on from out/ckpt.pt: 1 file of it is there, as the start before left them."]


def test_a_change_that_keeps_size_and_time_is_seen_and_a_deleted_file_stays_deleted(tmp_path):
    def start(number: int):
        lease = leases.take(tmp_path / "work", keep="tree")
        tree = lease.folder / "tree"
        tree.mkdir()
        return lease, tree, restoring.restore(tmp_path, lease, tree, {})

    def save(place: Path, state: str):
        with zipfile.ZipFile(place, "w") as z:
            z.writestr(zipfile.ZipInfo("state"), state)
        os.utime(place, (1000, 1000))

    _, tree, _ = start(1)
    save(tree / "a.pt", "1")
    (tree / "gone.csv").touch()
    _, tree, _ = start(2)
    save(tree / "a.pt", "2")
    (tree / "gone.csv").unlink()
    _, tree, found = start(3)
    assert found.files == 1 and [p.name for p in tree.iterdir()] == ["a.pt"]
    assert zipfile.ZipFile(tree / "a.pt").read("state") == b"2"


def test_a_script_that_fails_is_not_started_again(make_run):
    spec = spec_of(make_run, {"train.py": "raise ValueError('always')"})
    assert carry_out(spec, run.USER)["user"] is True
    assert len(json.loads((spec.parent / "starts.json").read_text())) == 1
