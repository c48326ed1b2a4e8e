"""What networks need is installed once, by the first run that needs it, and a failure says what to do."""

import fcntl
import json
import multiprocessing
import os
import threading
from pathlib import Path

import pytest

from trainer.errors import UserError
from trainer.launch import libraries
from trainer.run_folder.events import Events

# Stands in for uv: it notes its arguments, downloads a file into its cache, and does what the test wants.
_UV = """#!/bin/sh
echo "$*" >>"{folder}/calls"
mkdir -p "$UV_CACHE_DIR" && echo wheel >"$UV_CACHE_DIR/wheel"
{does}
"""


@pytest.fixture
def environment(tmp_path, monkeypatch):
    """An environment of the core libraries."""
    monkeypatch.setattr(libraries, "_LOOK_SECONDS", 0.01)
    folder = tmp_path / "environment"
    (folder / "bin").mkdir(parents=True)
    (folder / libraries.LIST).write_text("torch==1 --hash=sha256:0\n", encoding="utf-8")
    return folder


def _uv(environment: Path, does: str) -> None:
    uv = environment / "bin" / "uv"
    uv.write_text(_UV.format(folder=environment, does=does), encoding="utf-8")
    uv.chmod(0o755)


def _add(environment: Path, folder: Path) -> list[str]:
    """Add the libraries in a run in ``folder``, and return what it told."""
    folder.mkdir(exist_ok=True)
    libraries.add(folder, Events(folder / "events.jsonl", 1), environment)
    told = folder / "events.jsonl"
    return [json.loads(line)["text"] for line in told.read_text(encoding="utf-8").splitlines()] if told.exists() else []


def test_what_is_missing_is_installed_once_and_the_size_is_said_before(environment, tmp_path):
    _uv(environment, "true")
    assert libraries.lacking(environment)
    told = _add(environment, tmp_path / "first")
    assert "3.1 GB to download" in told[0]
    assert told[-1].startswith("What networks need is installed")
    assert not libraries.lacking(environment)
    assert _add(environment, tmp_path / "second") == []
    (install,) = (environment / "calls").read_text(encoding="utf-8").splitlines()
    assert "--require-hashes" in install and str(environment / libraries.LIST) in install
    assert not (environment / "networks-cache").exists()


def test_an_environment_without_a_list_is_left_alone(environment, tmp_path):
    (environment / libraries.LIST).unlink()
    assert _add(environment, tmp_path / "run") == []


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("error: Failed to fetch: connection refused", "the package index could not be used"),
        ("error: No space left on device (os error 28)", "the disk of the Python environment is full"),
        ("error: failed to create file: Permission denied (os error 13)", "this user cannot write into the Python environment"),
    ],
)
def test_a_failure_is_told_and_the_next_run_goes_on(environment, tmp_path, said, expected):
    _uv(environment, f'echo "{said}" >&2; exit 1')
    with pytest.raises(UserError, match=expected) as e:
        _add(environment, tmp_path / "run")
    assert (environment / "networks-cache" / "wheel").exists(), "what was downloaded serves the next run"
    assert e.value.code == "no_libraries" and said in e.value.why
    _uv(environment, "true")
    _add(environment, tmp_path / "run")
    assert not libraries.lacking(environment)


def test_an_environment_without_an_installer_is_told(environment, tmp_path):
    with pytest.raises(UserError, match="could not be installed"):
        _add(environment, tmp_path / "run")


def test_a_run_that_is_stopped_ends_the_installation(environment, tmp_path):
    started = tmp_path / "started"
    os.mkfifo(started)
    _uv(environment, f'echo >"{started}"; exec sleep 600')
    folder = tmp_path / "run"
    folder.mkdir()

    def stop() -> None:
        started.read_text(encoding="utf-8")  # returns when the installer runs
        (folder / "stop").write_text("keep", encoding="utf-8")

    stopping = threading.Thread(target=stop)
    stopping.start()
    with pytest.raises(UserError, match="stopped"):
        _add(environment, folder)
    stopping.join()
    assert libraries.lacking(environment)


def test_a_package_that_a_killed_installation_left_half_there_is_written_again(environment, tmp_path):
    half = environment / "lib" / "python3.11" / "site-packages" / "torch-1.dist-info"
    half.mkdir(parents=True)
    (half / "METADATA").write_text("Name: torch\n", encoding="utf-8")
    _uv(environment, f'[ ! -e "{half}" ]')
    _add(environment, tmp_path / "run")
    assert not libraries.lacking(environment)


def test_the_installer_of_a_killed_run_keeps_others_waiting_until_it_ends(environment, tmp_path):
    started, may_end = tmp_path / "started", tmp_path / "may-end"
    os.mkfifo(started)
    os.mkfifo(may_end)
    _uv(environment, f'echo >"{started}"; read line <"{may_end}"')
    run = multiprocessing.get_context("fork").Process(target=_add, args=(environment, tmp_path / "run"))
    run.start()
    started.read_text(encoding="utf-8")  # returns when the installer runs
    run.kill()
    run.join()
    with (environment / "networks.lock").open("w") as lock:
        with pytest.raises(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        may_end.write_text("end\n", encoding="utf-8")
        fcntl.flock(lock, fcntl.LOCK_EX)  # returns when the installer has ended
    assert libraries.lacking(environment)


def test_a_second_run_waits_for_the_first_and_installs_nothing(environment, tmp_path, monkeypatch):
    _uv(environment, "exit 1")
    monkeypatch.setattr(libraries, "_TELL_SECONDS", 0.0)
    lock = (environment / "networks.lock").open("w")
    fcntl.flock(lock, fcntl.LOCK_EX)
    folder = tmp_path / "run"
    folder.mkdir()
    told = folder / "events.jsonl"

    def finish() -> None:
        while not (told.exists() and "Another run" in told.read_text(encoding="utf-8")):
            threading.Event().wait(0.01)
        (environment / libraries.ADDED).touch()
        lock.close()

    first = threading.Thread(target=finish)
    first.start()
    assert "Another run is installing" in _add(environment, folder)[1]
    first.join()
    assert not (environment / "calls").exists()
