"""The warm process of a machine and its copies, without Ray: what a copy has of its asker, and who ends with whom."""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy
import pytest
from conftest import small_reviews
from result_checks import check_success

from trainer.launch.worker_process import Copy
from trainer.run_folder.lease import LEASE_LOST
from trainer.standby import copies, driver
from trainer.warm import client, keeper, place, wire

ADDRESS = "127.0.0.1:1"
START_SECONDS = 600.0  # of a machine that many others use


def until(happened):
    end = time.monotonic() + START_SECONDS
    while not (found := happened()):
        assert time.monotonic() < end, "nothing happens"
        time.sleep(0.02)
    return found


def states(process: int) -> set[str]:
    """The states of the threads of a process; none of one that is gone."""
    found = set()
    for task in Path(f"/proc/{process}/task").glob("*/stat"):
        with contextlib.suppress(OSError):  # it has just ended
            found.add(task.read_text().rpartition(")")[2].split()[0])
    return found


def is_alive(process: int) -> bool:
    return bool(states(process) - {"Z"})


def stop(process: int) -> None:
    """Stop a process and wait for it: a thread of it may still answer for a moment after the signal is sent."""
    os.kill(process, signal.SIGSTOP)
    until(lambda: states(process) == {"T"})


@pytest.fixture(scope="module")
def sockets():
    """The folder of the sockets. The path of a socket may have 107 characters only: too few for pytest's own folders."""
    folder = Path(tempfile.mkdtemp(prefix="warm"))
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(autouse=True)
def own_folder(monkeypatch, sockets):
    monkeypatch.setattr(place, "folder", lambda: sockets)
    monkeypatch.setenv("RAY_ADDRESS", ADDRESS)
    monkeypatch.setenv("WARM_WORKERS", "1")


def start_server(folder: Path) -> subprocess.Popen:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(place, "folder", lambda: folder)
        held = keeper.Keeper.__new__(keeper.Keeper)
        held.address = ADDRESS
        held._start()
        until(lambda: client.answers(ADDRESS, 1.0) or held.process.poll() is not None)
    assert held.process.poll() is None
    return held.process


@pytest.fixture(scope="module")
def server(sockets):
    """A warm process, started as a keeper does."""
    process = start_server(sockets)
    yield process
    process.kill()
    process.wait()


@pytest.fixture
def worker(tmp_path, server):
    """worker(rank) asks for a copy that works as a worker; returns its connection and process."""
    asked = []

    def ask(rank: int = 0) -> tuple[socket.socket, int]:
        (tmp_path / "work").mkdir(exist_ok=True)
        arguments = {"folder": str(tmp_path), "work": str(tmp_path / "work"), "rank": rank, "kind": "text", "address": "127.0.0.1"}
        asked.append(client.start(ADDRESS, {"do": "work", "worker": arguments}, (1, 2)))
        return asked[-1]

    yield ask
    for to, _ in asked:
        to.close()


def call(to: socket.socket, name: str, *arguments, shared=None):
    wire.send(to, wire.CALL, [*wire.pack((name, *arguments))[:1], *([] if shared is None else wire.pack(shared))])
    kind, parts = wire.receive(to)
    found = wire.unpack(parts)
    if kind == wire.ERROR:
        raise found
    return found


def test_values_travel_in_parts_and_their_arrays_are_not_copied():
    value = {"a": numpy.arange(10_000.0), "b": numpy.zeros(0), "c": "text"}
    parts = wire.pack(value)
    assert len(parts) == 3
    assert len(parts[0]) < 1000
    found = wire.unpack(parts)
    assert numpy.array_equal(found["a"], value["a"]) and found["b"].size == 0 and found["c"] == "text"
    assert not found["a"].flags.writeable


def test_a_message_that_breaks_off_is_the_end_of_a_connection():
    one, other = socket.socketpair()
    wire.send(one, wire.CALL, [b"abc", bytearray(5), b""])
    assert wire.receive(other) == (wire.CALL, [bytearray(b"abc"), bytearray(5), bytearray()])
    one.sendall(b"c\x01\x00\x00\x00\x09")
    one.close()
    assert wire.receive(other) is None
    other.close()


def test_each_asker_gets_a_process_of_its_own_in_its_place(worker, tmp_path, server):
    (one, first), (other, second) = worker(0), worker(1)
    assert len({first, second, server.pid}) == 3
    for number, (to, process) in enumerate(((one, first), (other, second))):
        assert call(to, "__getattribute__", "rank") == number
        assert os.readlink(f"/proc/{process}/cwd") == os.getcwd()
        assert os.readlink(f"/proc/{process}/fd/1") == str(tmp_path / "logs" / f"rank-{number}.txt")
        assert os.getsid(process) == process, "a signal to the warm process is none to a copy"


@pytest.mark.parametrize(("text", "threads"), [("3", 3), ("", len(os.sched_getaffinity(0))), ("many", len(os.sched_getaffinity(0)))])
def test_a_copy_uses_as_many_threads_as_its_asker_would(monkeypatch, text, threads):
    monkeypatch.setenv("OMP_NUM_THREADS", text)
    assert copies._threads() == threads


def test_an_error_of_a_worker_is_that_of_its_call(worker):
    to, _ = worker()
    with pytest.raises(AttributeError, match="nothing"):
        call(to, "nothing")
    assert call(to, "__getattribute__", "rank") == 0, "it goes on"


def test_a_copy_ends_with_its_asker_also_while_it_sleeps(worker):
    for sleeps in (False, True):
        to, process = worker()
        if sleeps:
            stop(process)
        to.close()
        until(lambda process=process: not is_alive(process))


def test_an_actor_says_whether_its_copy_answers_and_ends_with_it(worker, monkeypatch):
    to, process = worker()
    ended = threading.Event()
    monkeypatch.setattr("trainer.launch.worker_process.os._exit", lambda _: ended.set())
    copy = Copy(to, process)
    assert copy.is_alive()
    assert wire.unpack(copy.call(wire.pack(("__getattribute__", "rank"))[:1])) == 0
    stop(process)
    answered = threading.Thread(target=copy.is_alive, daemon=True)
    answered.start()
    answered.join(0.3)
    assert answered.is_alive(), "one that sleeps does not answer"
    os.kill(process, signal.SIGKILL)
    assert ended.wait(START_SECONDS)


def test_a_run_is_carried_out_by_a_copy(make_run, server, schemas):
    spec = make_run({"all.csv": small_reviews(200)})
    assert run_apart(spec) == (0, "")
    check_success(spec.parent, schemas)
    assert run_apart(make_run({"a.csv": "text,label\n" + "some words here,same\n" * 50}, run="ft-bad"))[0] == 2


def run_apart(spec: Path) -> tuple[int, str]:
    """The exit code of the driver, and what it said about a cold start."""
    done = start_driver(spec)
    printed, _ = done.communicate(timeout=START_SECONDS)
    return done.returncode, "".join(line for line in printed.splitlines(keepends=True) if "cold" in line)


def start_driver(spec: Path) -> subprocess.Popen:
    """The program with the warm process of these tests. A Ray that it would need does not exist."""
    code = "import sys; from pathlib import Path; from trainer.warm import place; place.folder = lambda: Path(sys.argv[1]); "
    code += "from trainer.__main__ import main; raise SystemExit(main(['run', sys.argv[2]]))"
    command = [sys.executable, "-c", code, str(place.folder()), str(spec)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def test_a_driver_that_is_terminated_passes_it_on_and_one_that_is_killed_ends_its_copy(make_run, server):
    for sent, code in ((signal.SIGTERM, {143}), (signal.SIGKILL, {-signal.SIGKILL})):
        spec = make_run({"all.csv": small_reviews(1000)}, run=f"ft-{sent.name.lower()}")
        before = _copies(server)
        process = start_driver(spec)
        until(lambda spec=spec: (spec.parent / "events.jsonl").exists() and "as the label" in (spec.parent / "events.jsonl").read_text())
        (copy,) = _copies(server) - before
        process.send_signal(sent)
        printed, _ = process.communicate(timeout=START_SECONDS)
        assert process.returncode in code, printed
        until(lambda copy=copy: not is_alive(copy))
        assert not (spec.parent / "result.json").exists()


def _copies(server: subprocess.Popen) -> set[int]:
    return {int(p) for p in Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text().split() if is_alive(int(p))}


def test_the_code_of_a_process_that_ends_at_once_is_that_of_the_run(make_run, server):
    spec = make_run({"all.csv": small_reviews(1000)}, run="ft-lease")
    process = start_driver(spec)
    until(lambda: (spec.parent / "events.jsonl").exists())
    shutil.rmtree(spec.parent / "work")
    process.communicate(timeout=START_SECONDS)
    assert process.returncode == LEASE_LOST


def test_a_run_ends_whose_copy_is_killed_while_the_warm_process_hangs(monkeypatch, capfd):
    monkeypatch.setattr(driver, "END_SECONDS", 0.1)
    copy = subprocess.Popen(["sleep", "1000"])
    handle = os.pidfd_open(copy.pid)
    asker, warm = socket.socketpair()  # the other end stays open and says nothing
    with asker, warm:
        copy.kill()
        assert driver._code(asker, handle) == 1
    copy.wait()
    os.close(handle)
    assert "The warm process of this run was lost." in capfd.readouterr().err


@pytest.mark.parametrize("kind", ["script", "nothing that is known"])
def test_code_of_a_user_never_runs_in_a_copy(tmp_path, server, kind):
    (tmp_path / "spec.json").write_text(json.dumps({"kind": kind}))
    assert driver.run(str(tmp_path / "spec.json")) is None


@pytest.mark.parametrize(
    ("prepare", "why"),
    [
        pytest.param(lambda folder: None, "has no warm process", id="there is none"),
        pytest.param(lambda folder: listening(folder).close(), "does not answer", id="it has died"),
        pytest.param(lambda folder: HELD.append(listening(folder)), "does not answer", id="it hangs"),
        pytest.param(lambda folder: (listening(folder), folder.chmod(0o755)), "can enter", id="others can enter its folder"),
    ],
)
def test_a_run_starts_cold_without_a_warm_process(tmp_path, monkeypatch, capsys, prepare, why):
    folder = Path(tempfile.mkdtemp(prefix="warm"))
    monkeypatch.setattr(place, "folder", lambda: folder)
    monkeypatch.setattr(client, "ANSWER_SECONDS", 0.2)
    prepare(folder)
    (tmp_path / "spec.json").write_text(json.dumps({"kind": "train"}))
    assert driver.run(str(tmp_path / "spec.json")) is None
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith("This program starts cold: ") and why in line
    shutil.rmtree(folder)


def test_a_warm_process_that_hangs_does_not_hold_the_outputs_of_a_run_open(monkeypatch):
    folder = Path(tempfile.mkdtemp(prefix="warm"))
    monkeypatch.setattr(place, "folder", lambda: folder)
    monkeypatch.setattr(client, "ANSWER_SECONDS", 0.2)
    read, write = os.pipe()
    os.set_blocking(read, False)
    with listening(folder):
        with pytest.raises(client.Unavailable, match="does not answer"):
            client.start(ADDRESS, {"do": "drive"}, (write, write))
        os.close(write)
        assert os.read(read, 1) == b"", "the end, which a reader would wait for"
    os.close(read)
    shutil.rmtree(folder)


def test_a_run_that_started_cold_requests_a_warm_process_also_where_a_dead_one_has_left_its_socket(tmp_path, monkeypatch):
    from trainer.launch import connection

    folder, done = Path(tempfile.mkdtemp(prefix="warm")), []
    monkeypatch.setattr(place, "folder", lambda: folder)
    monkeypatch.setattr(connection, "open", lambda: done.append("open"))
    monkeypatch.setattr(connection, "close", lambda: done.append("close"))
    listening(folder).close()
    for kind in ("train", "script"):
        (tmp_path / "spec.json").write_text(json.dumps({"kind": kind}))
        driver.prepare_next(str(tmp_path / "spec.json"))
    assert done == ["open", "close"], "a script requests none"
    shutil.rmtree(folder)


HELD: list = []  # sockets that stay open


def listening(folder: Path) -> socket.socket:
    there = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    there.bind(str(place.socket(ADDRESS)))
    there.listen(1)
    return there


def test_the_process_of_another_version_is_not_used(tmp_path, monkeypatch, server):
    assert client.answers(ADDRESS, 5.0)
    assert not client.answers("127.0.0.1:2", 5.0), "of another Ray"
    (tmp_path / "replaced").mkdir()
    monkeypatch.setattr(place, "ROOT", tmp_path / "replaced")
    assert not client.answers(ADDRESS, 5.0), "of another folder"


# The last one: it ends the warm process of these tests.
def test_a_copy_outlives_the_warm_process_and_nobody_gets_a_new_one(worker, server, sockets):
    to, copy = worker()
    server.stdin.close()  # as when its keeper has died, alone or with its Ray
    assert server.wait(START_SECONDS) == 0
    assert list(sockets.iterdir()) == []
    assert call(to, "__getattribute__", "rank") == 0
    to.close()
    until(lambda: not is_alive(copy))
