"""The warm process of a pod whose cluster belongs to one run, without Kubernetes: who waits for it, and who starts cold without it."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from conftest import small_reviews
from result_checks import check_success
from test_warm import START_SECONDS, until

from trainer.launch import worker_process
from trainer.standby import driver, pod, server
from trainer.warm import client, place

RUN = "ft-pod-a1"


@pytest.fixture
def sockets(monkeypatch):
    """The folder of the sockets of a pod. Their paths may have 107 characters only."""
    folder = Path(tempfile.mkdtemp(prefix="pod"))
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setenv(place.POD, RUN)
    monkeypatch.delenv(place.LIMIT, raising=False)
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setattr(client, "ANSWER_SECONDS", 0.2)
    place.folder().mkdir(mode=0o700)
    yield folder
    monkeypatch.undo()
    shutil.rmtree(folder)


@pytest.fixture
def spec(tmp_path):
    (tmp_path / "spec.json").write_text(json.dumps({"kind": "train"}))
    return str(tmp_path / "spec.json")


def at_its_imports() -> socket.socket:
    """The socket of a warm process that nobody can connect to yet."""
    there = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    there.bind(str(place.socket("")))
    return there


def start_pod(role: str) -> subprocess.Popen:
    """A warm process, started as a pod does, at its imports."""
    environment = {**os.environ, "PYTHONPATH": str(place.ROOT)}
    process = subprocess.Popen([sys.executable, "-B", "-m", "trainer.standby.pod", role], stdin=subprocess.DEVNULL, env=environment, cwd="/")
    until(lambda: place.holder(place.socket("")) == process.pid)
    return process


def test_a_driver_waits_for_the_imports_of_its_pod_which_has_no_torch(make_run, sockets, schemas):
    run, process = make_run({"all.csv": small_reviews(200)}), start_pod("driver")
    try:
        command = [sys.executable, "-m", "trainer", "run", str(run)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=START_SECONDS, cwd=place.ROOT)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "cold" not in done.stdout
        check_success(run.parent, schemas)
        assert "libtorch" not in Path(f"/proc/{process.pid}/maps").read_text()
        client.dismiss("")
        assert process.wait(START_SECONDS) == -signal.SIGTERM
    finally:
        process.kill()
        process.wait()


def test_a_head_does_its_imports_once_ray_listens_there(monkeypatch):
    looks = []
    monkeypatch.setattr(pod.time, "sleep", looks.append)
    monkeypatch.setattr(pod, "HEAD_SECONDS", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as there:
        address = f"127.0.0.1:{there.getsockname()[1]}"
        pod.await_head(address)
        pod.await_head("")
        assert looks == []
    pod.await_head(address)
    assert looks, "it waits, and not without end"


def test_a_role_is_one_of_a_process_and_together_they_are_all():
    assert set(server.DRIVER) & set(server.WORKER) == set()
    assert set(server.MODULES[""]) == set(server.DRIVER) | set(server.WORKER)
    assert not [name for name in server.DRIVER if name.split(".")[0] in ("torch", "transformers")]


@pytest.mark.parametrize(
    ("prepare", "patience"),
    [
        pytest.param(lambda: None, 60.0, id="it never began"),
        pytest.param(lambda: [at_its_imports()], 60.0, id="it died at its imports: nobody waits"),
        pytest.param(lambda: [at_its_imports(), place.hold(place.socket(""))], 0.1, id="it hangs at its imports"),
    ],
)
def test_a_run_starts_cold_if_the_warm_process_of_its_pod_is_dead_or_hangs(sockets, spec, monkeypatch, capsys, prepare, patience):
    monkeypatch.setattr(client, "IMPORT_SECONDS", patience)
    kept = prepare() or []
    assert driver.run(spec) is None
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith("This program starts cold: ")
    for one in kept:
        one.close() if isinstance(one, socket.socket) else os.close(one)


def test_a_run_starts_cold_if_the_warm_process_of_its_pod_is_of_another_version(sockets, spec, monkeypatch, capsys):
    listening = at_its_imports()
    listening.listen(1)
    monkeypatch.setattr(place, "ROOT", sockets)
    assert driver.run(spec) is None
    assert capsys.readouterr().out == "This program starts cold: this machine has no warm process.\n"
    listening.close()


def test_a_worker_whose_run_uses_no_copies_ends_the_warm_process_of_its_pod(sockets, monkeypatch):
    """Its memory is the run's. Elsewhere others use it."""
    monkeypatch.setattr(worker_process, "Own", lambda worker: worker)
    waiting = subprocess.Popen([sys.executable, "-S", "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
    held = place.hold(place.socket(""))
    place.socket("").with_suffix(".pid").write_text(str(waiting.pid))
    name = place.socket("")
    monkeypatch.delenv(place.POD)
    monkeypatch.setattr(place, "socket", lambda _: name)
    assert worker_process.create("", False, {"rank": 0}) == {"rank": 0}
    assert waiting.poll() is None, "that of a standing Ray stays"
    monkeypatch.setenv(place.POD, RUN)
    worker_process.create("", False, {"rank": 0})
    assert waiting.wait(START_SECONDS) == -signal.SIGTERM
    os.close(held)
    worker_process.create("", False, {"rank": 0})  # nobody holds it: nobody is ended
    waiting.stdin.close()
