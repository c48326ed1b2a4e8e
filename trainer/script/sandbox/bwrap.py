"""The sandbox of bubblewrap: namespaces of Linux, made without privileges, and a filter of system calls.

The script sees its tree, what it may read, Python and /usr; a loopback of its own and no other network; and no process but its own. It
shares the kernel with the machine.
"""

import contextlib
import json
import os
import resource
import select
import shutil
import signal
import subprocess
from collections.abc import Sequence
from pathlib import PurePosixPath

from trainer.config.jail import HOME, RUN, Jail
from trainer.errors import UserError
from trainer.script.sandbox import cgroup, machine, probe, seccomp, watch
from trainer.script.sandbox.supervise import Launch, Supervised

PROGRAM = "bwrap"
OLDEST = (0, 8)  # --size, --disable-userns
_NAMESPACES = ("--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try")
# As root there is no user namespace: in one, files would still be made as root. setpriv changes the user as the last step.
_CAPABILITIES = ("CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP")
_START_SECONDS = 60.0
_IN_MEMORY = ("/tmp", "/dev/shm")


class Bubblewrap:
    name = "bubblewrap"

    def __init__(self, network: bool = False):
        self.network = network
        self.version = machine.version(PROGRAM)

    def refused(self) -> str | None:
        if not self.version:
            return "bubblewrap is not installed."
        if machine.numbers(self.version) < OLDEST:
            return f"bubblewrap {self.version} is too old: 0.8 or newer is needed."
        if os.geteuid() == 0 and not os.path.exists(machine.SETPRIV):
            return "As root, bubblewrap needs the program setpriv (util-linux)."
        return probe.failure(self)

    def has_places(self) -> bool:
        return True

    def start(self, jail: Jail, argv: Sequence[str], stdout: int, stderr: int) -> Supervised:
        """Start ``argv``. As root, the tree and the home are given to a user without an account, who runs the script."""
        return Supervised(_Launch(jail, argv, stdout, stderr, self.network), jail)


class _Launch(Launch):
    in_memory = _IN_MEMORY

    def __init__(self, jail: Jail, argv: Sequence[str], stdout: int, stderr: int, network: bool):
        self._jail, self._argv, self._network = jail, list(argv), network
        self._output = (stdout, stderr)
        self._files: list[int] = []  # open until bubblewrap has read them
        self._first = 0  # process 1 of the sandbox, as this machine numbers it
        self._first_handle = self._status = -1
        self._said = b""

    def start(self, group: cgroup.Group | None) -> subprocess.Popen:
        self._status, status = os.pipe()
        blocked, go = os.pipe()
        try:
            command = self._command(status, blocked)
            keep = (status, blocked, *self._files)
            process = subprocess.Popen(
                command,
                env={},  # the script can read it in /proc/1
                stdin=subprocess.DEVNULL,
                stdout=self._output[0],
                stderr=self._output[1],
                pass_fds=keep,
                cwd="/",
                start_new_session=True,  # Ray ends a job by a signal to its group, and bubblewrap would not pass it on
            )
        except BaseException:
            os.close(go)
            raise
        finally:
            for handle in (status, blocked, *self._files):
                os.close(handle)
        try:
            self._first = self._read_first()
            self._first_handle = os.pidfd_open(self._first)
            self._restrict(group)
            os.write(go, b"g")
        except BaseException:
            process.kill()
            process.wait()
            raise
        finally:
            os.close(go)
        return process

    def members(self) -> list[int]:
        return watch.descendants(self._first)

    def signal(self, number: int) -> None:
        with open(f"/proc/{self._first}/task/{self._first}/children", encoding="ascii") as children:
            for child in children.read().split():
                with open(f"/proc/{child}/status", encoding="ascii", errors="replace") as lines:
                    inside = next((line for line in lines if line.startswith("NSpid:")), "").split()[-1:]
                if inside == ["2"]:  # process 1 is of bubblewrap, and 2 is the first that it starts
                    os.kill(int(child), number)

    def destroy(self) -> None:
        if self._first_handle >= 0:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._first_handle, signal.SIGKILL)  # the kernel ends the whole namespace with it

    def outcome(self, status: int, killed: bool) -> tuple[int | None, int | None, str]:
        while data := os.read(self._status, 4096):
            self._said += data
        ended = next((line["exit-code"] for line in self._lines() if "exit-code" in line), None)
        if ended is None:
            return (None, signal.SIGKILL, "") if killed else (status, None, "The sandbox of the script could not be started.")
        return (None, ended - 128, "") if 128 < ended <= 128 + signal.NSIG else (ended, None, "")

    def close(self) -> None:
        if self._first_handle >= 0:
            select.select([self._first_handle], [], [], _START_SECONDS)  # it ends after everything else in its namespace
            os.close(self._first_handle)
        if self._status >= 0:
            os.close(self._status)
        self._first_handle = self._status = -1

    def _lines(self) -> list[dict]:
        return [json.loads(line) for line in self._said.splitlines() if line.strip()]

    def _read_first(self) -> int:
        """The process that bubblewrap has made, from what it says. Raises UserError if it ends before."""
        while True:
            for line in self._lines() if self._said.endswith(b"\n") else []:
                if "child-pid" in line:
                    return int(line["child-pid"])
            ready, _, _ = select.select([self._status], [], [], _START_SECONDS)
            data = os.read(self._status, 4096) if ready else b""
            if not data:
                raise UserError(
                    "no_sandbox",
                    "The sandbox of the script could not be started.",
                    "Ask the administrator to run extractor doctor on the machines of Ray.",
                )
            self._said += data

    def _restrict(self, group: cgroup.Group | None) -> None:
        """Set the limits of process 1, which waits; all others inherit them."""
        limits = self._jail.limits
        if group is not None:
            group.add(self._first)
        resource.prlimit(self._first, resource.RLIMIT_CORE, (0, 0))
        if limits.file_bytes:
            resource.prlimit(self._first, resource.RLIMIT_FSIZE, (limits.file_bytes, limits.file_bytes))
        if limits.processes:  # counted for the user in the namespace; the other process is of bubblewrap
            resource.prlimit(self._first, resource.RLIMIT_NPROC, (limits.processes + 1, limits.processes + 1))
        with contextlib.suppress(OSError), open(f"/proc/{self._first}/oom_score_adj", "w") as score:
            score.write("1000")  # the kernel ends scripts before the services of the machine

    def _command(self, status: int, blocked: int) -> list[str]:
        root = os.geteuid() == 0
        uid = machine.own_uid(self._jail.tree) if root else machine.UID
        if root:
            machine.hand_over(self._jail, uid)
        options = [shutil.which(PROGRAM) or PROGRAM, *_NAMESPACES, "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--clearenv"]
        options += ["--hostname", machine.HOSTNAME, "--json-status-fd", str(status), "--block-fd", str(blocked)]
        if not self._network:
            options.append("--unshare-net")
        if root:
            options += [word for capability in _CAPABILITIES for word in ("--cap-add", capability)]
        else:
            options += ["--unshare-user", "--disable-userns", "--uid", str(uid), "--gid", str(uid)]
        if seccomp.supported():
            options += ["--seccomp", str(self._file(seccomp.program()))]
        options += self._mounts(uid)
        for name, value in self._jail.environment.items():
            options += ["--setenv", name, value]
        return [*options, "--chdir", RUN, "--", *(_become(uid) if root else ()), *self._argv]

    def _mounts(self, uid: int) -> list[str]:
        jail = self._jail
        mounts = _Mounts()
        mounts.read("/usr", "/usr")
        for name in machine.LINKS_OF_ROOT:
            here = f"/{name}"
            if os.path.islink(here):
                mounts.link(os.readlink(here), here)
            elif os.path.isdir(here):
                mounts.read(here, here)
        for path in (*machine.SHARED_OF_ETC, *machine.PROCESSORS):
            if os.path.exists(path):
                mounts.read(path, path)
        for folder in machine.python_folders():
            mounts.read(folder, folder)
        for path, content in machine.etc(uid, uid).items():
            mounts.add(path, "--perms", "0644", "--ro-bind-data", str(self._file(content.encode())), path)
        mounts.words += ["--proc", "/proc", "--dev", "/dev"]
        size = ["--size", str(max(jail.limits.memory_bytes // 2, 1 << 20))] if jail.limits.memory_bytes else []
        for folder in _IN_MEMORY:
            mounts.words += ["--perms", "1777", *size, "--tmpfs", folder]
        if jail.gpu:
            for device in machine.gpu_devices():
                mounts.words += ["--dev-bind", device, device]
            mounts.words += ["--ro-bind-try", "/sys/bus/pci", "/sys/bus/pci", "--ro-bind-try", "/sys/devices", "/sys/devices"]
        mounts.add(RUN, "--bind", str(jail.tree), RUN)
        mounts.add(HOME, "--bind", str(jail.home), HOME)
        for there, inside in jail.reads:
            mounts.read(str(there), inside)
        for inside, target in jail.links:
            mounts.link(target, inside)
        # Both are file systems in memory: a script could fill the memory with files there.
        return [*mounts.words, "--remount-ro", "/dev", "--remount-ro", "/"]

    def _file(self, content: bytes) -> int:
        """A file without a name for bubblewrap to read."""
        handle = os.memfd_create("sandbox", 0)
        self._files.append(handle)
        os.write(handle, content)
        os.lseek(handle, 0, os.SEEK_SET)
        return handle


class _Mounts:
    """Options of bubblewrap that make the file system, in order. Folders above a mount are made open to all users."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self._made = {"/"}
        self._mounted: list[str] = ["/proc", "/dev"]

    def read(self, there: str, inside: str) -> None:
        self.add(inside, "--ro-bind", there, inside)

    def link(self, target: str, inside: str) -> None:
        self.add(inside, "--symlink", target, inside, mounted=False)

    def add(self, inside: str, *words: str, mounted: bool = True) -> None:
        above = [str(folder) for folder in reversed(PurePosixPath(inside).parents)]
        for folder in above:
            if folder not in self._made and not any(PurePosixPath(folder).is_relative_to(mount) for mount in self._mounted):
                self.words += ["--perms", "0755", "--dir", folder]
                self._made.add(folder)
        self.words += words
        if mounted:
            self._mounted.append(inside)


def _become(uid: int) -> list[str]:
    """The command that changes from root to a user, with no way back."""
    user = ["--reuid", str(uid), "--regid", str(uid), "--clear-groups"]
    return [machine.SETPRIV, *user, "--inh-caps=-all", "--ambient-caps=-all", "--bounding-set=-all", "--no-new-privs", "--"]
