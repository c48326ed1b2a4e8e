"""Faults that are usual in training jobs which sync their results with a script, and that this program must not have.

Two more are in processes/test_resume.py: a terminated training saves its progress, and a half-written checkpoint is never listed.
"""

import json
import multiprocessing
import re
import threading

import pytest
from conftest import TRAINER, events_of, small_reviews
from result_checks import check_success

from trainer.errors import UserError
from trainer.launch import preflight
from trainer.run import run


@pytest.fixture
def seen(monkeypatch, lone_network):
    """What stands in the run folder when the first step is done: seen(spec) runs and gives the events and the log of that moment."""

    def during(spec) -> tuple[list[dict], str]:
        from trainer.train import loop

        found, real = [], loop.Training._step

        def step(training):
            result = real(training)
            if not found:
                found.append((events_of(spec.parent), (spec.parent / "log.txt").read_text()))
            return result

        monkeypatch.setattr(loop.Training, "_step", step)
        assert run(str(spec), "local") == 0
        return found[0]

    return during


def test_a_sign_of_life_is_there_long_before_the_training_ends_and_the_log_can_be_read(make_run, seen):
    events, log = seen(make_run({"all.csv": small_reviews()}, model="bert-tiny", max_length=16, epochs=1))
    assert events[0]["phase"] == "start"
    assert [e["phase"] for e in events if e["kind"] == "phase"] == ["start", "prepare", "train"]
    assert "Training on" in log


def test_no_shell_and_no_executable_file_is_needed():
    """Only scripts of users, readers of untrusted files, and the installer of libraries are started as programs of their own, and Python itself as
    the warm process."""
    programs = {TRAINER / name for name in ("warm/keeper.py", "bounded.py", "launch/libraries.py")}
    for file in TRAINER.rglob("*.py"):
        assert not file.stat().st_mode & 0o111, file
        if not {"tests", "script"} & set(file.parts) and file not in programs:
            assert not re.search(r"\b(subprocess|os\.system|popen)\b", file.read_text()), file


def test_results_are_complete_when_the_program_ends_and_nothing_is_left_to_be_killed(make_run, schemas):
    spec = make_run({"all.csv": small_reviews()}, model="bert-tiny", epochs=1)
    assert run(str(spec), "local") == 0
    check_success(spec.parent, schemas)
    assert multiprocessing.active_children() == []
    assert [t.name for t in threading.enumerate() if t.name.startswith("baseline")] == []


def test_paths_of_artifacts_have_no_empty_part(make_run):
    spec = make_run({"a b/all data.csv": small_reviews()}, model="bert-tiny", epochs=1, more_options="upload: everything")
    assert run(str(spec), "local") == 0
    for artifact in json.loads((spec.parent / "result.json").read_text())["artifacts"]:
        assert artifact["path"].startswith("out/")
        assert not {"", ".", ".."} & set(artifact["path"].split("/"))


def test_workers_on_other_machines_see_the_folder_of_the_driver_or_say_so(tmp_path):
    token = preflight.announce(tmp_path)
    preflight.shared(tmp_path, token)
    (tmp_path / "elsewhere").mkdir()
    for there, known in ((tmp_path / "elsewhere", token), (tmp_path, "the token of another run")):
        with pytest.raises(UserError) as refused:
            preflight.shared(there, known, timeout=0)
        assert refused.value.code == "not_shared"
        assert "not the same on all machines" in refused.value.what
        assert str(there) not in str(vars(refused.value)), "its user reads no path of the server"
        assert "ReadWriteMany" in refused.value.do
