"""Whole runs of small scripts, without a sandbox."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from conftest import ROOT, events_of
from scripts import LIMIT_SECONDS, PRINTS, WRITES, carry_out, log_of, spec_of

from trainer import run
from trainer.script import process, sandbox


def test_a_dataset_with_one_script_needs_no_setting(make_run, schemas):
    spec = spec_of(make_run, {"train.py": PRINTS + WRITES + "print(open('data/a.csv').read())", "a.csv": "1,2"})
    result = carry_out(spec)
    schemas["result"].validate(result)
    script = result["script"]
    assert (script["entry"], script["exit"], script["stopped"]) == ("train.py", {"code": 0, "signal": None}, None)
    assert script["numbers"]["accuracy"] == {"value": 0.9, "source": "out/metrics.json"}
    assert script["metric"]["name"] == "accuracy"
    assert script["series"]["loss"] == [[1, 0.5]]
    assert [c["path"] for c in script["code"]] == ["train.py"]
    assert [a["path"] for a in result["artifacts"]] == ["out/metrics.json", "out/model.txt"]
    assert "step 1: loss 0.5\n1,2\n" in log_of(spec)
    for event in events_of(spec.parent):
        schemas["event"].validate(event)
    assert not (spec.parent / "work" / "1-1" / "tree").exists()
    assert run.run(str(spec), "local") == run.OK  # already done


def test_a_failed_script_leaves_what_it_had_saved(make_run, schemas):
    spec = spec_of(make_run, {"train.py": WRITES + "raise ValueError('no way')"})
    error = carry_out(spec, run.USER)
    assert (error["code"], error["user"]) == ("script_failed", True)
    assert error["what"] == "train.py failed with ValueError: no way (train.py, line 6)."
    partial = json.loads((spec.parent / "partial.json").read_text())
    schemas["result"].validate(partial)
    assert partial["partial"] is True
    assert [a["path"] for a in partial["artifacts"]] == ["out/metrics.json", "out/model.txt"]
    assert not (spec.parent / "result.json").exists()


@pytest.mark.parametrize(
    ("files", "given", "code", "says"),
    [
        pytest.param({"train.csv": "1"}, {}, "no_script", "no Python script", id="no script"),
        pytest.param({"a.py": "", "b.py": ""}, {}, "entry_ambiguous", "a.py and b.py", id="two candidates"),
        pytest.param({"train.py": "import sys; sys.exit(3)"}, {}, "script_failed", "exit code 3", id="exit code 3"),
        pytest.param({"train.py": "import nowhere_to_be_found"}, {}, "missing_module", "nowhere_to_be_found (train.py, line 1)", id="a module"),
        pytest.param({"train.py": "import os; os.kill(os.getpid(), 11)"}, {}, "script_failed", "SIGSEGV", id="a signal"),
        pytest.param({"train.py": "input('sure? ')"}, {}, "script_failed", "EOFError", id="a question that nobody answers"),
        pytest.param({"train.py": ""}, {"nodes": 2}, "wrong_setting", "several machines", id="several machines without a cluster"),
    ],
)
def test_bad_input_is_one_sentence(make_run, files, given, code, says):
    error = carry_out(spec_of(make_run, files, **given), run.USER)
    assert error["code"] == code
    assert says in error["what"]
    assert "/" not in error["what"].replace("and/or", "")


def test_the_script_sees_nothing_of_this_process(make_run, monkeypatch):
    monkeypatch.setenv("RAY_AUTH_TOKEN", "secret")
    spec = spec_of(make_run, {"train.py": "import os\nfor k in sorted(os.environ): print(k)"})
    carry_out(spec)
    assert "OUTPUT_DIR\n" in log_of(spec)
    assert "RAY_" not in log_of(spec)


@pytest.mark.parametrize("handles", [True, False])
def test_stop_and_keep_asks_the_script_and_delivers_what_is_there(make_run, handles):
    handler = (
        "signal.signal(signal.SIGTERM, lambda *_: (open('saved.txt', 'w').write('s'), os._exit(0)))"
        if handles
        else "signal.signal(15, signal.SIG_IGN)"
    )
    code = f"import os, signal, time\n{handler}\nopen('first.txt', 'w').write('1')\nprint('ready')\ntime.sleep(600)"
    spec = spec_of(make_run, {"train.py": code}, {"grace_seconds": 1})
    stopper = _when(spec, "ready", lambda: (spec.parent / "stop").write_text("keep"))
    result = carry_out(spec)
    stopper.join()
    assert result["script"]["stopped"] == "user"
    assert [a["path"] for a in result["artifacts"]] == ["out/first.txt", *(["out/saved.txt"] if handles else [])]


def test_a_run_that_is_stopped_before_it_begins_keeps_nothing(make_run):
    spec = spec_of(make_run, {"train.py": PRINTS})
    (spec.parent / "stop").write_text("keep")
    assert carry_out(spec, run.USER)["code"] == "stopped"


@pytest.mark.parametrize("look_seconds", [0.05, 60.0], ids=["the driver sees its end first", "the sandbox sees its end first"])
def test_the_time_limit_counts_all_starts(make_run, monkeypatch, look_seconds):
    monkeypatch.setattr(process, "LOOK_SECONDS", look_seconds)
    spec = spec_of(make_run, {"train.py": "import time\nopen('x', 'w').write('1')\ntime.sleep(20)"}, {"grace_seconds": 1}, max_minutes=1)
    earlier = {"attempt": 1, "start": 1, "resumed_from": None, "seconds": 56, "exit": {"code": None, "signal": None}}
    (spec.parent / "starts.json").write_text(json.dumps([earlier]))
    result = carry_out(spec)
    assert result["script"]["stopped"] == "time"
    assert [s["start"] for s in result["script"]["starts"]] == [1, 2]
    assert [w["code"] for w in result["warnings"]] == ["time_limit"]
    assert [a["path"] for a in result["artifacts"]] == ["out/x"]


@pytest.mark.parametrize("box", ["none", "bubblewrap"])
def test_sigterm_to_the_group_reaches_the_script_once_and_the_run_can_be_started_again(make_run, box):
    if refused := sandbox.kinds(box)[0].refused():
        pytest.skip(refused)
    code = """
import os, signal, sys, time
def save(*_):
    print("asked to end", flush=True)
    sys.exit(3)
signal.signal(signal.SIGTERM, save)
print("ready", flush=True)
time.sleep(600)
"""
    spec = spec_of(make_run, {"train.py": code}, {"grace_seconds": 1}, box)
    command = [sys.executable, "-m", "trainer", "run", str(spec), "--launcher", "local"]
    driver = subprocess.Popen(command, cwd=ROOT, start_new_session=True)
    _when(spec, "ready", lambda: os.killpg(driver.pid, signal.SIGTERM)).join()
    assert driver.wait(LIMIT_SECONDS) == run.ENDED
    assert not (spec.parent / "result.json").exists()
    assert log_of(spec).count("asked to end") == 1
    assert json.loads((spec.parent / "starts.json").read_text())[0]["exit"] == {"code": 3, "signal": None}


def test_several_ranks_have_prefixes_and_the_failing_one_is_named(make_run):
    code = """import os, sys, time
print("rank", os.environ["RANK"], "of", os.environ["WORLD_SIZE"], *sys.argv[1:])
open("printed-" + os.environ["RANK"], "w").close()
while not (os.path.exists("printed-0") and os.path.exists("printed-1")):
    time.sleep(0.01)
assert os.environ["RANK"] == "0", "not me"
time.sleep(600)
"""
    spec = spec_of(make_run, {"train.py": code}, processes=2, arguments="-x")
    error = carry_out(spec, run.USER)
    assert error["what"] == "train.py failed with AssertionError: not me (train.py, line 6)."
    lines = log_of(spec).splitlines()
    assert {"[0] rank 0 of 2 -x", "[1] rank 1 of 2 -x"} <= set(lines)
    assert not [line for line in lines if line.startswith("[launcher]")]


def _when(spec: Path, text: str, do) -> threading.Thread:
    """Call ``do`` as soon as the log has ``text``."""

    def wait() -> None:
        until = time.monotonic() + LIMIT_SECONDS
        while not (os.path.exists(spec.parent / "log.txt") and text in log_of(spec)):
            if time.monotonic() > until:
                return
            time.sleep(0.05)
        do()

    thread = threading.Thread(target=wait)
    thread.start()
    return thread
