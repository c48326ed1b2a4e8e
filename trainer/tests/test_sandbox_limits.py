"""How a script is held to its limits, without a script: what a look at it decides, control groups as files, and how an end is told."""

import os
import signal
from pathlib import Path

import pytest

from trainer.config.jail import GIB, MIB, Jail, Limits
from trainer.errors import UserError
from trainer.script.sandbox import bwrap, cgroup, gvisor, none, supervise, watch
from trainer.script.sandbox.supervise import Launch, Supervised

NO_LIMITS = Limits(0, 0, 0, 0, 0, 0, 0, 0.0, 0.0)


class FakeLaunch(Launch):
    """Notes what is asked of it. ``error`` is raised at the start."""

    own_processes = 3

    def __init__(self, error: Exception | None = None):
        self.error, self.asked = error, []

    def start(self, group):
        if self.error:
            raise self.error
        raise AssertionError("no test starts a script")

    def members(self) -> list[int]:
        return [7, 8]

    def signal(self, number: int) -> None:
        self.asked.append(number)
        if number == signal.SIGUSR1:
            raise ProcessLookupError

    def destroy(self) -> None:
        self.asked.append("destroy")

    def outcome(self, status, killed):
        raise AssertionError("nothing ends")

    def close(self) -> None:
        self.asked.append("close")


class Watched(Supervised):
    """A script that is not there: what it uses is what a test says."""

    def _keep(self) -> None:
        self._began, self._tree_device = 0.0, 0
        self._started.set()


class Usage:
    """What the functions of ``watch`` find."""

    def __init__(self) -> None:
        self.now, self.cpu, self.own, self.shared, self.in_memory, self.threads = 0.0, 0.0, 0, 0, 0, 0
        self.size, self.files, self.seen, self.deleted, self.free = 0, 0, True, 0, 1 << 40

    def install(self, monkeypatch) -> None:
        monkeypatch.setattr(supervise.time, "monotonic", lambda: self.now)
        for name, found in {
            "cpu_seconds": lambda pids: self.cpu,
            "memory": lambda pids, enough: (self.own, self.shared),
            "in_memory_files": lambda pid, folders: self.in_memory,
            "threads": lambda pids: self.threads,
            "disk": lambda folders, most: (self.size, self.files, self.seen),
            "deleted_files": lambda pids, device: self.deleted,
            "free_bytes": lambda folder: self.free,
        }.items():
            monkeypatch.setattr(watch, name, found)


@pytest.fixture
def look(tmp_path, monkeypatch):
    """look(limits, had=, group=, **usage) looks once at a script that uses so much. Returns the script and what its launch was asked."""

    def at(limits: Limits, had=(0, 0), group=None, **found):
        usage, launch = Usage(), FakeLaunch()
        vars(usage).update(found)
        script = Watched(launch, Jail(tmp_path, tmp_path, limits=limits))
        script._had = had
        usage.install(monkeypatch)
        script._look(group)
        return script, launch.asked

    return at


USED = {
    "memory of its own": (Limits(memory_bytes=100), {"own": 101}, "memory"),
    "as much memory as it may use": (Limits(memory_bytes=100), {"own": 100}, None),
    "own and shared memory": (Limits(memory_bytes=100), {"own": 60, "shared": 41}, "memory"),
    "own memory and files in memory": (Limits(memory_bytes=100), {"own": 60, "in_memory": 41}, "memory"),
    "shared memory that is files in memory": (Limits(memory_bytes=100), {"own": 60, "shared": 40, "in_memory": 40}, None),
    "memory without a limit": (NO_LIMITS, {"own": 1 << 50, "threads": 10**6, "size": 1 << 50, "files": 10**8}, None),
    "threads": (Limits(processes=10), {"threads": 14}, "processes"),
    "threads of which three are not its own": (Limits(processes=10), {"threads": 13}, None),
    "the disk": (Limits(disk_bytes=100), {"size": 101}, "disk"),
    "the disk with what was there before": (Limits(disk_bytes=100), {"size": 601, "had": (500, 0)}, "disk"),
    "what was there before": (Limits(disk_bytes=100), {"size": 600, "had": (500, 0)}, None),
    "deleted files": (Limits(disk_bytes=100), {"size": 60, "deleted": 41}, "disk"),
    "a disk that is nearly full": (NO_LIMITS, {"free": watch.FREE_BYTES - 1}, "disk"),
    "files": (Limits(files=10), {"files": 16, "had": (0, 5)}, "files"),
    "as many files as it may make": (Limits(files=10), {"files": 15, "had": (0, 5)}, None),
    "folders that cannot be seen": (NO_LIMITS, {"seen": False}, "files"),
}


@pytest.mark.parametrize(("limits", "found", "exceeded"), USED.values(), ids=USED)
def test_a_script_that_uses_more_than_it_may_is_ended(look, limits, found, exceeded):
    script, asked = look(limits, **found)
    assert script._exceeded == exceeded
    assert asked == (["destroy"] if exceeded else [])


def test_the_first_limit_that_a_script_exceeds_is_the_reason(look):
    script, asked = look(Limits(memory_bytes=100, processes=5, files=5), own=200, threads=100, files=100)
    assert script._exceeded == "memory"
    assert set(asked) == {"destroy"}


def test_the_disk_is_looked_at_less_often_than_the_memory(look, monkeypatch):
    usage = Usage()
    script, asked = look(Limits(disk_bytes=100))
    usage.size = 101
    usage.install(monkeypatch)
    usage.now = supervise.DISK_SECONDS - 0.01
    script._look(None)
    assert asked == []
    usage.now = supervise.DISK_SECONDS
    script._look(None)
    assert asked == ["destroy"]


def test_a_script_at_its_time_limit_is_asked_to_end_and_ended_after_its_grace(look, monkeypatch):
    script, asked = look(Limits(seconds=10, grace_seconds=5), now=9.9)
    assert asked == []
    usage = Usage()
    usage.install(monkeypatch)
    for usage.now, wanted in [(10.0, [signal.SIGTERM]), (14.9, [signal.SIGTERM]), (15.0, [signal.SIGTERM, "destroy"])]:
        script._look(None)
        assert asked == wanted
    assert script._exceeded == "time"


class FakeGroup:
    def __init__(self, full: bool):
        self.full = full

    def out_of_memory(self) -> bool:
        return self.full


@pytest.mark.parametrize("full", [True, False])
def test_a_control_group_says_alone_whether_memory_and_processes_suffice(look, full):
    script, asked = look(Limits(memory_bytes=100, processes=5), group=FakeGroup(full), own=1000, threads=1000)
    assert script._exceeded == ("memory" if full else None)
    assert asked == (["destroy"] if full else [])


def test_the_most_memory_and_processor_time_are_remembered(look, monkeypatch):
    script, _ = look(NO_LIMITS, own=300, shared=20, in_memory=50, cpu=2.5)
    Usage().install(monkeypatch)
    script._look(None)
    assert (script._peak, script._cpu) == (350, 2.5)


def test_a_signal_to_a_script_that_has_just_ended_is_no_error(look):
    script, asked = look(NO_LIMITS)
    script.signal(signal.SIGUSR1)
    script._over.set()
    script.signal(signal.SIGTERM)
    script.kill()
    assert asked == [signal.SIGUSR1]
    assert script.poll() is script.wait(0) is None


@pytest.mark.parametrize("error", [OSError("no such program"), UserError("no_sandbox", "It could not be started.", "Ask.")])
def test_a_script_that_cannot_be_started_leaves_nothing_behind(tmp_path, monkeypatch, error):
    launch, removed = FakeLaunch(error), []

    class Group:
        def remove(self):
            removed.append(True)

    monkeypatch.setattr(cgroup, "make", lambda limits, own: Group())
    with pytest.raises(type(error)) as refused:
        Supervised(launch, Jail(tmp_path, tmp_path))
    assert refused.value is error
    assert (launch.asked, removed) == (["close"], [True])


@pytest.mark.parametrize(
    ("exceeded", "limits", "words"),
    [
        ("memory", Limits(memory_bytes=1536 * MIB), "more memory than the 1.5 GiB that it may use"),
        ("memory", Limits(memory_bytes=256 * MIB), "more memory than the 256 MiB that it may use"),
        ("processes", Limits(processes=12_345), "more than the 12,345 processes and threads"),
        ("disk", Limits(disk_bytes=20 * GIB), "more than the 20 GiB that it may use, or the disk is full"),
        ("files", Limits(files=100_000), "more than the 100,000 files that it may make"),
        ("time", Limits(seconds=119), "its time limit of 119 seconds"),
        ("time", Limits(seconds=5400), "its time limit of 90 minutes"),
    ],
)
def test_a_limit_is_told_with_its_size(exceeded, limits, words):
    text = supervise.sentence(exceeded, limits)
    assert words in text and text.startswith("The script ") and text.endswith(".")
    assert supervise.sentence(None, limits) == ""


def launches() -> dict[str, Launch]:
    jail = Jail(Path("/tree"), Path("/home"))
    return {"bubblewrap": bwrap._Launch(jail, [], 1, 2, False), "none": none.Child(jail, [], 1, 2), "gvisor": gvisor._Launch(jail, [], 1, 2)}


COULD_NOT = "The sandbox of the script could not be started."
WATCHER = "The script ended the process that watches it."


@pytest.mark.parametrize(
    ("name", "said", "status", "killed", "wanted"),
    [
        ("bubblewrap", b'{"child-pid": 5}\n{"exit-code": 3}\n', 3, False, (3, None, "")),
        ("bubblewrap", b'{ "exit-code": 0 }\n', 0, True, (0, None, "")),
        ("bubblewrap", b'{"exit-code": 139}\n', 139, False, (None, signal.SIGSEGV, "")),
        ("bubblewrap", b'{"exit-code": 255}\n', 255, False, (255, None, "")),
        ("bubblewrap", b'{"child-pid": 5}\n\n', -9, True, (None, signal.SIGKILL, "")),
        ("bubblewrap", b"", 1, False, (1, None, COULD_NOT)),
        ("none", b"0\n", 0, False, (0, None, "")),
        ("none", b"-15\n", 0, True, (None, signal.SIGTERM, "")),
        ("none", b"127\n", 0, False, (127, None, "")),
        ("none", b"", -9, False, (None, signal.SIGKILL, WATCHER)),
        ("gvisor", b"", 0, False, (0, None, "")),
        ("gvisor", b"", 1, False, (1, None, "")),
        ("gvisor", b"", 137, False, (None, signal.SIGKILL, "")),
        ("gvisor", b"", 0, True, (None, signal.SIGKILL, "")),
        ("gvisor", b"", -9, False, (None, signal.SIGKILL, "")),
        ("gvisor", b"", 255, False, (255, None, "")),
    ],
)
def test_how_a_script_ended_is_read_from_its_sandbox(name, said, status, killed, wanted):
    launch = launches()[name]
    launch._status, write = os.pipe()
    os.write(write, said)
    os.close(write)
    try:
        assert launch.outcome(status, killed) == wanted
    finally:
        os.close(launch._status)


FILES_OF_2 = ("memory.max", "memory.swap.max", "memory.oom.group", "pids.max")
FILES_OF_1 = ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes")


@pytest.fixture
def group(tmp_path):
    """group(version) is a control group in ordinary files, with its folders for memory and processes."""

    def of(version: int):
        memory, processes = (tmp_path, tmp_path) if version == 2 else (tmp_path / "memory", tmp_path / "pids")
        for folder in (memory, processes):
            folder.mkdir(exist_ok=True)
        for name in FILES_OF_2 if version == 2 else FILES_OF_1:
            (memory / name).write_text("")
        (processes / "pids.max").write_text("")
        return cgroup.Group(memory, processes), memory, processes

    return of


@pytest.mark.parametrize(
    ("version", "memory_bytes", "most", "wanted"),
    [
        (2, 1000, 50, {"memory.max": "1000", "memory.swap.max": "0", "memory.oom.group": "1", "pids.max": "50"}),
        (2, 0, 0, {"memory.max": "", "memory.swap.max": "0", "memory.oom.group": "1", "pids.max": ""}),
        (1, 1000, 50, {"memory.limit_in_bytes": "1000", "memory.memsw.limit_in_bytes": "1000", "pids.max": "50"}),
        (1, 0, 0, {"memory.limit_in_bytes": "", "memory.memsw.limit_in_bytes": "", "pids.max": ""}),
    ],
)
def test_the_limits_are_written_as_each_version_calls_them(group, version, memory_bytes, most, wanted):
    _, memory, processes = group(version)
    cgroup._limit(memory, processes, memory_bytes, most)
    assert {f.name: f.read_text() for folder in {memory, processes} for f in folder.iterdir()} == wanted


@pytest.mark.parametrize(("gone", "fails"), [("memory.max", True), ("pids.max", True), ("memory.swap.max", False), ("memory.oom.group", False)])
@pytest.mark.parametrize("size", [0, 1000])
def test_a_limit_that_the_kernel_lacks_fails_unless_the_group_holds_without_it(group, gone, fails, size):
    _, memory, processes = group(2)
    (memory / gone).unlink()
    if fails:
        with pytest.raises(FileNotFoundError):
            cgroup._limit(memory, processes, size, size)
    else:
        cgroup._limit(memory, processes, size, size)
    assert not (memory / gone).exists()


@pytest.mark.parametrize(
    ("version", "events", "full"),
    [
        (2, "low 0\nhigh 0\nmax 3\noom 1\noom_kill 2\n", True),
        (2, "oom 5\noom_kill 0\n", False),
        (1, "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n", True),
        (1, "oom_kill_disable 1\nunder_oom 0\n", False),
        (2, "", False),
        (2, "oom_kill\n", False),
        (2, "oom_kill many\n", False),
    ],
)
def test_a_group_knows_whether_the_kernel_has_ended_a_process(group, version, events, full):
    found, memory, _ = group(version)
    assert found.out_of_memory() is False
    (memory / ("memory.events" if version == 2 else "memory.oom_control")).write_text(events)
    assert found.out_of_memory() is full


@pytest.mark.parametrize(("events", "full"), [("max 0\n", False), ("max 12\n", True), ("", False)])
@pytest.mark.parametrize("version", [1, 2])
def test_a_group_knows_whether_a_process_was_refused(group, version, events, full):
    found, _, processes = group(version)
    assert found.out_of_processes() is False
    (processes / "pids.events").write_text(events)
    assert found.out_of_processes() is full


@pytest.mark.parametrize(("version", "name"), [(1, "memory.max_usage_in_bytes"), (2, "memory.peak")])
@pytest.mark.parametrize(("text", "peak"), [("12345\n", 12345), ("", None), ("max\n", None)])
def test_the_most_memory_of_a_group_is_a_number_or_not_known(group, version, name, text, peak):
    found, memory, _ = group(version)
    assert found.peak_memory() is None
    (memory / name).write_text(text)
    assert found.peak_memory() == peak


@pytest.mark.parametrize("version", [1, 2])
def test_a_process_is_put_into_the_groups_for_memory_and_for_processes(group, version):
    found, memory, processes = group(version)
    assert found.members() == []
    found.add(4321)
    assert {(folder / "cgroup.procs").read_text() for folder in (memory, processes)} == {"4321"}
    (processes / "cgroup.procs").write_text("12\n34\n")
    assert found.members() == [12, 34]


def test_only_old_empty_groups_of_drivers_that_are_gone_are_removed(tmp_path):
    names = [f"{cgroup.PREFIX}old", f"{cgroup.PREFIX}new", f"{cgroup.PREFIX}used", "another"]
    for name in names:
        (tmp_path / name).mkdir()
    (tmp_path / names[2] / "inner").mkdir()
    for name in (names[0], names[2], names[3]):
        os.utime(tmp_path / name, (1, 1))
    cgroup._sweep({tmp_path, tmp_path / "gone"})
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(names[1:])


@pytest.mark.parametrize(
    ("lines", "wanted"),
    [
        ("5:memory:/a/b\n4:cpu,pids:/c\n0::/\n", [("memory/a/b", "pids/c")]),
        ("0::/x/y\n", []),
        ("", []),
        ("5:memory:/a\n0::/\n", []),
    ],
)
def test_the_folders_for_groups_are_read_from_the_own_group(tmp_path, monkeypatch, lines, wanted):
    (tmp_path / "self").write_text(lines)
    monkeypatch.setattr(cgroup, "ROOT", tmp_path)
    monkeypatch.setattr(cgroup, "OWN", tmp_path / "self")
    assert list(cgroup._parents()) == [(tmp_path / memory, tmp_path / processes) for memory, processes in wanted]
    monkeypatch.setattr(cgroup, "OWN", tmp_path / "gone")
    assert list(cgroup._parents()) == []
