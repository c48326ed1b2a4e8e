"""Hostile scripts in each sandbox that this machine has: what they do is contained, explained, and harms no other run."""

import errno
import json
import os
import select
import signal
import socket
import subprocess
import sys
import textwrap
import time
from dataclasses import dataclass, replace
from pathlib import Path

import hostile_scripts as scripts
import pytest

from trainer.config.jail import HOME, INPUTS, MIB, MODELS, RUN, Jail, Limits
from trainer.script.sandbox import Ended, bwrap, cgroup, gvisor, kinds, none, supervise

LIMITS = Limits(memory_bytes=256 * MIB, processes=40, disk_bytes=16 * MIB, files=500, file_bytes=8 * MIB, seconds=60, grace_seconds=1)
SECONDS = 300.0  # of a machine that many others use; no script of these tests takes as long
REFUSED = {kind.name: kind.refused() for kind in (bwrap.Bubblewrap(), gvisor.Gvisor(), none.NoSandbox())}


def here(*names: str):
    """The sandboxes of this machine with these names, as cases; the others are skipped with their reason."""
    marks = {name: [pytest.mark.skip(reason=REFUSED[name])] if REFUSED[name] else [] for name in names}
    return [pytest.param(name, marks=marks[name]) for name in names]


WALLS = here("bubblewrap", "gvisor")
ALL = here("bubblewrap", "gvisor", "none")


@dataclass
class Machine:
    """A jail, and what the machine around it has that no script may touch."""

    jail: Jail
    inputs: Path

    def start(self, name: str, script: str, *arguments: str, limits: Limits = LIMITS):
        """A running script and the pipe of its output."""
        (self.jail.tree / "train.py").write_text(script)
        read, write = os.pipe()
        try:
            argv = [sys.executable, "-I", "-S", f"{RUN}/train.py", *arguments]
            return kinds(name)[0].start(replace(self.jail, limits=limits), argv, write, write), read
        except BaseException:
            os.close(read)
            raise
        finally:
            os.close(write)

    def run(self, name: str, script: str, *arguments: str, limits: Limits = LIMITS, most: int = MIB) -> tuple[Ended, str]:
        """How a script ended and what it printed. All who could print have ended. Kills it after ``most`` bytes of output."""
        running, output = self.start(name, script, *arguments, limits=limits)
        said = b""
        with open(output, "rb", buffering=0) as pipe:
            while data := within(pipe):
                said += data
                if len(said) > most:
                    running.kill()
        return ended(running), said.decode(errors="replace")


def within(pipe) -> bytes:
    """What can be read from a pipe; empty when every process that held its other end has ended."""
    assert select.select([pipe], [], [], SECONDS)[0], "a process of the sandbox lives on"
    return pipe.read(65536)


def ended(running) -> Ended:
    end = running.wait(SECONDS)
    assert end is not None, "the script did not end"
    return end


@pytest.fixture
def machine(tmp_path):
    for name in ("tree", "home", "inputs", "models"):
        (tmp_path / name).mkdir()
    (tmp_path / "inputs" / "data.csv").write_text("text,label\n")
    reads = ((tmp_path / "inputs", INPUTS), (tmp_path / "models", MODELS))
    environment = {"PATH": "/usr/bin:/bin", "HOME": HOME, "CLOWDER_RUN": "ft-1"}
    return Machine(Jail(tmp_path / "tree", tmp_path / "home", reads, (), environment, LIMITS), tmp_path / "inputs")


@pytest.fixture
def unharmed(machine):
    """After the hostile script, another one runs in the same sandbox, and no control group is left."""
    yield machine
    assert not groups(os.getpid())
    (machine.jail.tree / "train.py").unlink(missing_ok=True)


def next_run(machine: Machine, name: str) -> None:
    end, said = machine.run(name, 'print("fine")')
    assert (end.code, end.exceeded, said) == (0, None, "fine\n")


def remove(group: Path) -> None:
    """Remove a control group without processes; wait for those that are about to end."""
    end = time.monotonic() + SECONDS
    while True:
        try:
            return group.rmdir()
        except OSError:
            assert time.monotonic() < end, "a process of the sandbox lives on"
            time.sleep(0.02)


def groups(process: int) -> set[Path]:
    """The control groups that a process has made."""
    return {group for pair in cgroup._parents() for parent in pair for group in parent.glob(f"{cgroup.PREFIX}{process}-*")}


@pytest.fixture(params=["as this machine can", "without control groups"])
def limited(request, monkeypatch):
    """Limits by the kernel where it lets this process make groups, and by the watchdog alone."""
    monkeypatch.setattr(supervise, "TICK_SECONDS", 0.02)
    monkeypatch.setattr(supervise, "DISK_SECONDS", 0.05)
    if request.param == "without control groups":
        monkeypatch.setattr(cgroup, "make", lambda *_: None)


# Attempt -> the classes of errors that a script may see. "done" is for what a script may do.
GONE = {"FileNotFoundError"}
DENIED = {"PermissionError", "OSError"}  # EROFS is an OSError of no class of its own
NOWHERE = {"OSError", "ConnectionRefusedError", "gaierror", "TimeoutError"}
CONTAINED = {
    "read a file of the machine": GONE,
    "list the folder of the run": GONE,
    "read the passwords": GONE,
    "write an input": DENIED,
    "write a model": DENIED,
    "link an input into the outputs": DENIED,
    "remove an input": DENIED,
    "write to the root": DENIED,
    "write a program": DENIED,
    "connect to a port of the machine": {"ConnectionRefusedError"},
    "connect to a socket of the machine": GONE,
    "connect to an abstract socket": {"ConnectionRefusedError"},
    "connect to a metadata address": NOWHERE,
    "connect to the internet": NOWHERE,
    "resolve a name": {"gaierror"},
    "open a raw socket": DENIED,
    "signal a process of the machine": {"ProcessLookupError"},
    "become root": DENIED,
    "make a setuid program": DENIED,
    "make a device": DENIED,
    "mount a folder": DENIED,
    "trace a process": DENIED,
    "make a user namespace": DENIED,
    "use io_uring": DENIED,
    "use a keyring": DENIED,
    "load a BPF program": DENIED,
    "reboot": DENIED,
    "extract an archive that escapes": DENIED,
    "reach another rank": {"done"},
    "start a process": {"done"},
    "write an output": {"done"},
    "write a temporary file": {"done"},
    "use shared memory": {"done"},
    "find its user": {"done"},
    "find its host": {"done"},
}
# The kernel of gVisor serves these itself, and they change nothing of the machine.
HARMLESS_IN_GVISOR = {"trace a process", "make a user namespace", "use io_uring", "use a keyring"}


@pytest.fixture(scope="module", params=WALLS)
def attempts(request, tmp_path_factory):
    """What one script said about all its attempts, and what of the machine it left behind."""
    folder = tmp_path_factory.mktemp("machine")
    made = Machine(Jail(folder / "tree", folder / "home"), folder / "inputs")
    for name in ("tree", "home", "inputs", "models"):
        (folder / name).mkdir()
    (folder / "inputs" / "data.csv").write_text("text,label\n")
    (folder / "secret").write_text("the key of the service")
    reads = ((folder / "inputs", INPUTS), (folder / "models", MODELS))
    made.jail = replace(made.jail, reads=reads, environment={"PATH": "/usr/bin:/bin", "HOME": HOME, "CLOWDER_RUN": "ft-1"})
    os.environ["RAY_AUTH_TOKEN"] = "the token of the cluster"
    abstract = f"clowder-ray-{os.getpid()}-{request.param}"
    try:
        with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as unix, socket.socket(socket.AF_UNIX) as hidden:
            unix.bind(str(folder / "socket"))
            hidden.bind("\0" + abstract)
            unix.listen()
            hidden.listen()
            port = str(server.getsockname()[1])
            end, said = made.run(request.param, scripts.ATTEMPTS, str(folder / "secret"), port, str(folder / "socket"), abstract, str(os.getpid()))
    finally:
        del os.environ["RAY_AUTH_TOKEN"]
    assert end.code == 0, said
    return request.param, json.loads(said), folder


@pytest.mark.parametrize("attempt", CONTAINED)
def test_attempts_are_contained(attempts, attempt):
    name, said, _ = attempts
    allowed = CONTAINED[attempt] | ({"done"} if name == "gvisor" and attempt in HARMLESS_IN_GVISOR else set())
    assert said[attempt] in allowed


def test_a_script_sees_only_its_own_environment_processes_and_files(attempts):
    _, said, folder = attempts
    names = {variable.split("=")[0] for variable in said["variables"]}
    assert names <= {"PATH", "HOME", "CLOWDER_RUN", "PWD", "SHLVL", "_", "LC_CTYPE"}
    assert "the token" not in str(said["variables"])
    assert said["processes"] <= 3
    assert said["open files"][:3] == [0, 1, 2] and len(said["open files"]) <= 4  # and the folder that it lists
    assert (folder / "inputs" / "data.csv").read_text() == "text,label\n"
    assert (folder / "inputs" / "data.csv").stat().st_nlink == 1
    assert os.listdir(folder / "models") == []
    assert not Path("/tmp/clowder-ray-escaped").exists() and not Path("/etc/clowder-ray-escaped").exists()


def test_no_file_of_a_script_is_a_device_or_runs_as_another_user(attempts):
    _, _, folder = attempts
    assert (folder / "tree" / "out.txt").read_text() == "result"
    for path in (folder / "tree").rglob("*"):
        assert path.lstat().st_mode & 0o4000 == 0, path.name
        assert path.is_file() or path.is_dir(), path.name


@pytest.mark.usefixtures("limited")
@pytest.mark.parametrize("name", ALL)
def test_a_fork_bomb_ends(unharmed, name):
    end, said = unharmed.run(name, scripts.FORK_BOMB)
    if "stopped after" in said:  # the script itself met the limit
        assert "BlockingIOError" in said and int(said.split()[2]) <= LIMITS.processes + 200
    else:  # so many processes can also take too much memory
        assert end.exceeded in ("processes", "memory") and end.text.startswith(
            ("The script started more than the 40 processes and threads that it may use.", "The script needed more memory than")
        )
    next_run(unharmed, name)


@pytest.mark.usefixtures("limited")
@pytest.mark.parametrize("name", ALL)
def test_a_memory_bomb_ends_with_the_limit_as_the_reason(unharmed, name):
    end, _ = unharmed.run(name, scripts.MEMORY_BOMB)
    assert (end.code, end.exceeded) != (0, None)
    assert end.exceeded == "memory" and end.text == "The script needed more memory than the 256 MiB that it may use."
    next_run(unharmed, name)


@pytest.mark.parametrize("name", WALLS)
def test_files_in_memory_are_limited(unharmed, name):
    end, said = unharmed.run(name, scripts.MEMORY_FILES, limits=replace(LIMITS, file_bytes=0))
    if end.code == 0:
        assert os.strerror(errno.ENOSPC) in said and int(said.split()[-1]) <= 130
    else:
        assert end.exceeded == "memory"
    next_run(unharmed, name)


# Measured from outside, in every sandbox alike: the slow start of gVisor adds nothing to these.
DISKS = {
    "files": (scripts.FULL_DISK, "disk", "The script wrote more than the 16 MiB that it may use, or the disk is full."),
    "files without a name": (scripts.FULL_DISK_WITHOUT_NAMES, "disk", "The script wrote more than the 16 MiB"),
    "many files": (scripts.MANY_FILES, "files", "The script made more than the 500 files that it may make"),
    "folders deeper than a path": (scripts.DEEP_FOLDERS, "files", "nested them too deeply to be read."),
}


@pytest.mark.parametrize("case", DISKS)
@pytest.mark.parametrize("name", here("bubblewrap", "none"))
def test_a_full_disk_ends_the_script(unharmed, monkeypatch, name, case):
    monkeypatch.setattr(supervise, "TICK_SECONDS", 0.02)
    monkeypatch.setattr(supervise, "DISK_SECONDS", 0.05)
    script, exceeded, text = DISKS[case]
    end, _ = unharmed.run(name, script)
    assert end.exceeded == exceeded and text in end.text
    subprocess.run(["rm", "-rf", *map(str, unharmed.jail.tree.glob("*"))], check=True)
    next_run(unharmed, name)


@pytest.mark.parametrize("name", here("bubblewrap", "none"))
@pytest.mark.skipif(os.geteuid() == 0, reason="root reads folders that their owner has closed")
def test_a_folder_that_hides_what_it_holds_ends_the_script(unharmed, monkeypatch, name):
    monkeypatch.setattr(supervise, "DISK_SECONDS", 0.05)
    assert unharmed.run(name, scripts.HIDDEN_FOLDER)[0].exceeded == "files"
    (unharmed.jail.tree / "hidden").chmod(0o700)


@pytest.mark.parametrize("name", ALL)
def test_a_single_file_stays_below_its_limit(unharmed, name):
    end, said = unharmed.run(name, scripts.LARGE_FILE, limits=replace(LIMITS, disk_bytes=0))
    assert (end.code, said.strip()) == (0, os.strerror(errno.EFBIG))
    assert (unharmed.jail.tree / "large").stat().st_size == LIMITS.file_bytes


@pytest.mark.parametrize("name", ALL)
def test_endless_output_can_be_ended_at_any_time(unharmed, name):
    end, said = unharmed.run(name, scripts.ENDLESS_OUTPUT, most=4 * MIB)
    if name == "gvisor" and "BlockingIOError" in said:
        pytest.xfail("gVisor of 2022 lets a write into a full pipe fail instead of waiting")
    assert (end.code, end.signal) == (None, signal.SIGKILL), said[-300:]
    assert len(said) < 64 * MIB
    next_run(unharmed, name)


@pytest.mark.parametrize("name", ALL)
def test_no_process_outlives_its_script(unharmed, name):
    end, said = unharmed.run(name, scripts.DAEMON)  # returns when no process holds the output any more
    assert (end.code, said) == (0, "the script ends\n")
    next_run(unharmed, name)


@pytest.mark.parametrize("name", WALLS)
def test_a_script_that_kills_everything_kills_only_itself(unharmed, name):
    unharmed.run(name, scripts.KILL_ALL)
    next_run(unharmed, name)


@pytest.mark.parametrize("name", ALL)
def test_a_signal_reaches_the_handler_of_the_script(unharmed, name):
    running, output = unharmed.start(name, scripts.SAVES_ON_TERM)
    with open(output, "rb", buffering=0) as pipe:
        assert within(pipe) == b"ready\n"
        assert running.poll() is None
        running.signal(signal.SIGTERM)
        assert within(pipe) == b"saved\n"
    end = ended(running)
    assert (end.code, end.signal, end.exceeded) == (5, None, None)
    running.signal(signal.SIGTERM)  # nothing happens
    running.kill()


@pytest.mark.parametrize("name", ALL)
def test_a_script_that_dies_by_a_signal_says_which(unharmed, name):
    end, _ = unharmed.run(name, "import os; os.abort()")
    assert (end.code, end.signal) == (None, signal.SIGABRT)


@pytest.mark.parametrize("name", ALL)
def test_the_time_limit_lets_a_script_save_and_then_ends_it(unharmed, name):
    end, said = unharmed.run(name, scripts.SAVES_ON_TERM, limits=replace(LIMITS, seconds=1.5, grace_seconds=30))
    assert (end.code, end.exceeded, said) == (5, "time", "ready\nsaved\n")
    assert end.text == "The script ran into its time limit of 1.5 seconds."
    end, said = unharmed.run(name, scripts.IGNORES_TERM, limits=replace(LIMITS, seconds=1.5, grace_seconds=0.2))
    assert (end.code, end.signal, end.exceeded, said) == (None, signal.SIGKILL, "time", "ready\n")


@pytest.mark.parametrize("name", ALL)
def test_a_sandbox_ends_with_the_process_that_made_it(machine, name):
    driver = textwrap.dedent(
        f"""
        import sys
        sys.path[:0] = {sys.path!r}
        from pathlib import Path
        from trainer.config.jail import Jail, RUN
        from trainer.script.sandbox import kinds
        jail = Jail(Path({str(machine.jail.tree)!r}), Path({str(machine.jail.home)!r}), environment={{"PATH": "/usr/bin:/bin"}})
        kinds({name!r})[0].start(jail, [sys.executable, "-I", "-S", RUN + "/train.py"], 1, 2).wait()
        """
    )
    (machine.jail.tree / "train.py").write_text(scripts.HOLDS_ON)
    environment = os.environ | {"TMPDIR": str(machine.inputs)}  # a driver that is killed leaves its temporary files
    with subprocess.Popen([sys.executable, "-c", driver], stdout=subprocess.PIPE, bufsize=0, env=environment) as process:
        assert within(process.stdout) == b"ready\n"
        process.kill()
        assert within(process.stdout) == b""
    for group in groups(process.pid):
        remove(group)
    next_run(machine, name)


def test_the_user_and_the_environment_of_a_script_without_a_sandbox_are_its_own(machine, monkeypatch):
    monkeypatch.setenv("RAY_AUTH_TOKEN", "the token of the cluster")
    script = "import os, sys; print(sorted(os.environ), os.getcwd(), *sys.argv[1:])"
    end, said = machine.run("none", script, f"--output_dir={RUN}/out", f"{INPUTS}/data.csv")
    tree = machine.jail.tree
    assert end.code == 0
    assert said.split("]")[1].split() == [str(tree), f"--output_dir={tree}/out", f"{machine.inputs}/data.csv"]
    assert "RAY" not in said and "CLOWDER_RUN" in said


def test_a_pod_is_refused_outside_of_kubernetes_with_a_token_and_with_an_open_network(monkeypatch, tmp_path):
    from trainer.script.sandbox import pod

    for name in ("KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"):
        monkeypatch.delenv(name, raising=False)
    assert pod.Pod().refused() == "This machine is no pod."
    with socket.create_server(("127.0.0.1", 0)) as server:
        monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "127.0.0.1")
        monkeypatch.setenv("KUBERNETES_SERVICE_PORT", str(server.getsockname()[1]))
        monkeypatch.setenv(pod.NETWORK, "closed")
        assert "does not enforce NetworkPolicies" in pod.Pod().refused()
        monkeypatch.setenv(pod.NETWORK, "open")
        assert pod.Pod().refused() is None and pod.Pod().network
    monkeypatch.setenv(pod.NETWORK, "closed")
    assert pod.Pod().refused() is None and not pod.Pod().network
    monkeypatch.setattr(pod, "TOKEN", tmp_path / "token")
    pod.TOKEN.write_text("token")
    assert "token of the Kubernetes API" in pod.Pod().refused()
